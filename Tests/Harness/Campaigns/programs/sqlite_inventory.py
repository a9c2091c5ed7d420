"""Python's sqlite3 alone: integer keys that SQLite chooses, children three levels deep, foreign keys on."""

import sqlite3
from contextlib import closing

import program

SCHEMA = """
    CREATE TABLE site (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE room (id INTEGER PRIMARY KEY, site INTEGER NOT NULL REFERENCES site ON DELETE CASCADE, name TEXT);
    CREATE TABLE box (id INTEGER PRIMARY KEY AUTOINCREMENT, room INTEGER REFERENCES room ON DELETE CASCADE, code TEXT UNIQUE);
    CREATE TABLE item (id INTEGER PRIMARY KEY, box INTEGER NOT NULL REFERENCES box ON DELETE CASCADE,
      name TEXT NOT NULL CHECK (length(name) > 0), amount INTEGER NOT NULL DEFAULT 1 CHECK (amount >= 0));
    CREATE INDEX room_by_site ON room (site); CREATE INDEX box_by_room ON box (room); CREATE INDEX item_by_box ON item (box);
"""


def connect(step):
    db = sqlite3.connect(step.path, timeout=20, isolation_level=None)
    db.execute("PRAGMA foreign_keys = ON")
    return closing(db)


def code(step):
    """The name of a column that the upgrade renames."""
    return "code" if step.version == 1 else "label"


def add_site(step, db):
    site = db.execute("INSERT INTO site (name) VALUES (?)", (step.words(3),)).lastrowid
    for _ in range(2):
        room = db.execute("INSERT INTO room (site, name) VALUES (?, ?)", (site, step.word())).lastrowid
        for _ in range(2):
            box = db.execute(f"INSERT INTO box (room, {code(step)}) VALUES (?, ?)", (room, step.key())).lastrowid
            for _ in range(3):
                db.execute("INSERT INTO item (box, name) VALUES (?, ?)", (box, step.words(3)))


def create(step):
    with connect(step) as db:
        db.executescript(SCHEMA)
        db.execute("BEGIN IMMEDIATE")
        for _ in range(5):
            add_site(step, db)
        db.execute("COMMIT")


def upgrade(step):
    """ALTER TABLE, and SQLite's recipe to rebuild a table (https://sqlite.org/lang_altertable.html#otheralter)."""
    with connect(step) as db:
        # As docs/JOURNAL.md says. Run twice, this would add two stars.
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO _journal_marks (name, after_seq) SELECT 'stars', coalesce(max(seq), 0) FROM _journal")
        db.execute("UPDATE site SET name = name || ' *'")
        db.execute("UPDATE room SET name = name || ' *'")
        db.execute("UPDATE _journal_marks SET last_seq = (SELECT max(seq) FROM _journal) WHERE last_seq IS NULL")
        db.execute("COMMIT")
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute("BEGIN IMMEDIATE")
        db.execute("ALTER TABLE site ADD COLUMN city TEXT DEFAULT 'Oslo'")
        db.execute(
            "CREATE TABLE new_item (id INTEGER PRIMARY KEY, box INTEGER NOT NULL REFERENCES box ON DELETE CASCADE, "
            "name TEXT NOT NULL CHECK (length(name) > 0), amount INTEGER NOT NULL DEFAULT 1 CHECK (amount >= 0), "
            "weight REAL NOT NULL DEFAULT 0.5)")
        db.execute("INSERT INTO new_item (id, box, name, amount) SELECT id, box, name, amount FROM item")
        db.execute("DROP TABLE item")
        db.execute("ALTER TABLE new_item RENAME TO item")
        db.execute("CREATE INDEX item_by_box ON item (box)")
        db.execute("ALTER TABLE box RENAME COLUMN code TO label")
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        db.execute("COMMIT")


def write(step):
    with connect(step) as db:

        def key(table):
            return step.some(row[0] for row in db.execute(f"SELECT id FROM {table} ORDER BY id"))

        def add(table, column, parent, value):
            def run():
                target = key(parent)
                if target is None:
                    return False
                db.execute(f"INSERT INTO {table} ({parent}, {column}) VALUES (?, ?)", (target, value()))

            return run

        def site():
            add_site(step, db)

        def count():
            db.execute("UPDATE item SET amount = amount + 1 WHERE id = ?", (key("item"),))

        def rename():
            db.execute("UPDATE site SET name = ? WHERE id = ?", (step.words(3), key("site")))

        def move():
            db.execute("UPDATE box SET room = ? WHERE id = ?", (key("room"), key("box")))

        def delete(table):
            return lambda: bool(db.execute(f"DELETE FROM {table} WHERE id = ?", (key(table),)).rowcount)

        def immediate(action):
            def run():
                db.execute("BEGIN IMMEDIATE")
                outcome = action()
                db.execute("COMMIT")
                return outcome

            return run

        return step.repeat({
            "items added": (5, immediate(add("item", "name", "box", lambda: step.words(3)))),
            "boxes added": (3, immediate(add("box", code(step), "room", step.key))),
            "rooms added": (2, immediate(add("room", "name", "site", step.word))), "sites added": (1, immediate(site)),
            "items counted": (6, immediate(count)), "sites renamed": (2, immediate(rename)),
            "boxes moved": (3, immediate(move)), "items deleted": (2, immediate(delete("item"))),
            "boxes deleted": (1, immediate(delete("box"))), "rooms deleted": (1, immediate(delete("room"))),
        })


def check(step):
    with connect(step) as db:
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        names = [
            " ".join(map(str, row)) for row in db.execute(
                "SELECT site.name, room.name, item.name, amount FROM item JOIN box ON box.id = box JOIN room ON room.id = room "
                "JOIN site ON site.id = site")
        ]
        starred = "SELECT count(*) FROM site, room WHERE instr(site.name || room.name, '* *')"
        assert db.execute(starred).fetchone()[0] == 0, "a migration ran twice"
        rows = sum(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("site", "room", "box", "item"))
        return {"rows": rows, "titles": sorted(names)}


if __name__ == "__main__":
    program.main(globals())
