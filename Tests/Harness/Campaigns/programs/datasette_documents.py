"""sqlite-utils writes documents with a full-text index; Datasette serves and searches them."""

import asyncio
import sqlite3

import program
import sqlite_utils
from datasette.app import Datasette

TEXT = ["title", "body"]


def connect(step):
    return sqlite_utils.Database(sqlite3.connect(step.path, timeout=20, isolation_level="IMMEDIATE"))


def document(step):
    return {
        "id": step.key(), "title": step.words(4), "body": step.words(40), "tags": [step.word(), step.word()],
        "size": step.rng.random(),
    }


def create(step):
    db = connect(step)
    db["document"].insert_all([document(step) for _ in range(30)], pk="id", not_null={"title"})
    db["document"].enable_fts(TEXT, create_triggers=True, tokenize="porter")
    db["source"].insert({"id": 1, "name": "first"}, pk="id")
    db.conn.commit()


def upgrade(step):
    db = connect(step)
    db["document"].add_column("language", str, not_null_default="en")
    # A transformation makes the table anew, without its triggers.
    db["source"].transform(rename={"name": "label"}, defaults={"label": "none"})
    db["document"].create_index(["size"])
    db.conn.commit()


def write(step):
    def keys(db):
        return [row["id"] for row in db.query("SELECT id FROM document")]

    def add(db):
        db["document"].insert_all([document(step) for _ in range(step.rng.randint(1, 4))], pk="id")

    def upsert(db):
        key = step.some(keys(db))
        if key is None:
            return False
        db["document"].upsert({**document(step), "id": key}, pk="id")

    def update(db):
        key = step.some(keys(db))
        if key is None:
            return False
        db["document"].update(key, {"body": step.words(40)})

    def replace(db):
        key = step.some(keys(db))
        if key is None:
            return False
        db["document"].insert({**document(step), "id": key}, pk="id", replace=True)

    def delete(db):
        key = step.some(keys(db))
        if key is None:
            return False
        db["document"].delete(key)

    def source(db):
        db["source"].insert({"name" if step.version == 1 else "label": step.word()})

    db = connect(step)

    def inside(action):
        # Each method of sqlite-utils that writes is a transaction of its own.
        return lambda: action(db)

    return step.repeat({
        "inserts": (4, inside(add)), "upserts": (3, inside(upsert)), "updates": (5, inside(update)),
        "replacements": (2, inside(replace)), "deletes": (2, inside(delete)), "sources added": (1, inside(source)),
    })


async def searched(step, word):
    served = Datasette([step.path], settings={"num_sql_threads": 1})
    name = next(name for name in served.databases if name != "_internal")
    answer = await served.client.get(f"/{name}/document.json", params={"_search": word, "_shape": "array"})
    assert answer.status_code == 200, answer.text
    return {row["id"] for row in answer.json()}


def check(step):
    db = connect(step)
    with db.conn:
        db.execute("INSERT INTO document_fts (document_fts, rank) VALUES ('integrity-check', 1)")
    rows = list(db.query("SELECT id, title, body FROM document ORDER BY id"))
    for row in rows[:5]:
        assert row["id"] in asyncio.run(searched(step, row["body"].split()[0])), f"{row['id']} is not found"
    return {"rows": len(rows) + db["source"].count, "titles": sorted(row["title"] for row in rows)}


if __name__ == "__main__":
    program.main(globals())
