"""peewee: notes with text keys in notebooks, and a full-text index (FTS5) that triggers keep."""

import program
from peewee import CharField, ForeignKeyField, IntegerField, Model, Proxy, SqliteDatabase, TextField
from playhouse.migrate import SqliteMigrator, migrate

PROXY = Proxy()


class Base(Model):
    class Meta:
        database = PROXY
        legacy_table_names = False


class Notebook(Base):
    id = CharField(primary_key=True)
    name = CharField(unique=True)


class Note(Base):
    id = CharField(primary_key=True)
    notebook = ForeignKeyField(Notebook, backref="notes")
    title = CharField()
    body = TextField()
    stars = IntegerField(default=0)


INDEX = """
    CREATE VIRTUAL TABLE note_index USING fts5 (title, body, content = 'note', content_rowid = 'rowid');
    CREATE TRIGGER note_index_insert AFTER INSERT ON note BEGIN
      INSERT INTO note_index (rowid, title, body) VALUES (new.rowid, new.title, new.body);
    END;
    CREATE TRIGGER note_index_delete AFTER DELETE ON note BEGIN
      INSERT INTO note_index (note_index, rowid, title, body) VALUES ('delete', old.rowid, old.title, old.body);
    END;
    CREATE TRIGGER note_index_update AFTER UPDATE ON note BEGIN
      INSERT INTO note_index (note_index, rowid, title, body) VALUES ('delete', old.rowid, old.title, old.body);
      INSERT INTO note_index (rowid, title, body) VALUES (new.rowid, new.title, new.body);
    END;
"""


def connect(step):
    PROXY.initialize(SqliteDatabase(step.path, timeout=20))
    return PROXY


def create(step):
    db = connect(step)
    db.create_tables([Notebook, Note])
    db.connection().executescript(INDEX)
    with db.atomic("IMMEDIATE"):
        for number in range(5):
            book = Notebook.create(id=step.key(), name=f"book {number}")
            for _ in range(6):
                Note.create(id=step.key(), notebook=book, title=step.words(4), body=step.words(30))


def upgrade(step):
    db = connect(step)
    migrator = SqliteMigrator(db)
    with db.atomic("IMMEDIATE"):
        migrate(
            migrator.add_column("note", "colour", CharField(null=True)),
            migrator.add_column("notebook", "position", IntegerField(null=True)))
        db.execute_sql("UPDATE note SET colour = 'red' WHERE stars > 3")


def write(step):
    db = connect(step)

    def add():
        book = step.some(Notebook.select())
        if book is None:
            return False
        Note.create(id=step.key(), notebook=book, title=step.words(4), body=step.words(30))

    def notebook():
        # Both machines use the same names, and names are unique.
        name = f"book {step.rng.randint(0, 30)}"
        if Notebook.select().where(Notebook.name == name).exists():
            return False
        Notebook.create(id=step.key(), name=name)

    def edit():
        note = step.some(Note.select())
        if note is None:
            return False
        note.body, note.stars = step.words(30), step.rng.randint(0, 5)
        note.save(only=[Note.body, Note.stars])

    def title():
        note = step.some(Note.select())
        return note is not None and bool(Note.update(title=step.words(4)).where(Note.id == note.id).execute())

    def delete():
        note = step.some(Note.select())
        return note is not None and bool(note.delete_instance())

    def delete_notebook():
        book = step.some(Notebook.select())
        return book is not None and bool(book.delete_instance(recursive=True))

    def search():
        rows = db.execute_sql("SELECT rowid FROM note_index WHERE note_index MATCH ?", (step.word()[:2] + "*",))
        rows.fetchall()

    def atomic(action):
        def run():
            with db.atomic("IMMEDIATE"):
                return action()

        return run

    return step.repeat({
        "notes added": (5, atomic(add)), "notebooks added": (2, atomic(notebook)), "notes edited": (6, atomic(edit)),
        "titles changed": (3, atomic(title)), "notes deleted": (2, atomic(delete)),
        "notebooks deleted": (1, atomic(delete_notebook)), "searches": (2, atomic(search)),
    })


def check(step):
    db = connect(step)
    db.execute_sql("INSERT INTO note_index (note_index, rank) VALUES ('integrity-check', 1)")
    notes = list(Note.select())
    for note in notes[:20]:
        word = note.body.split()[0]
        found = db.execute_sql(
            "SELECT count(*) FROM note JOIN note_index ON note.rowid = note_index.rowid "
            "WHERE note_index MATCH ? AND note.id = ?", (f'"{word}"', note.id)).fetchone()
        assert found[0] == 1, f"{word} of {note.id} is not found"
    return {"rows": len(notes) + Notebook.select().count(), "titles": sorted(note.title for note in notes)}


if __name__ == "__main__":
    program.main(globals())
