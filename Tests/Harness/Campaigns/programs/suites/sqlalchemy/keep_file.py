"""A plugin of pytest: SQLAlchemy's suite keeps its file, which may be a replica with a daemon.

The suite removes its file after each class of tests, to begin with an empty one. Here it drops what it finds in it
instead. Tests that list all tables do not see those of the journal: docs/PROGRAMS.md tells users to do the same.
"""

import os
import sqlite3

from sqlalchemy.dialects.sqlite.base import SQLiteDialect

MAIN = "_pysqlite.db"
remove = os.remove
table_names = SQLiteDialect.get_table_names


def empty(path):
    db = sqlite3.connect(path, timeout=30, isolation_level=None)
    for kind in ("view", "trigger", "table"):
        names = db.execute(
            "SELECT name FROM sqlite_master WHERE type = ? AND name NOT LIKE '\\_journal%' ESCAPE '\\' "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'", (kind,)).fetchall()
        for (name,) in names:
            quoted = name.replace('"', '""')
            db.execute(f'DROP {kind} "{quoted}"')
    db.close()


def remove_or_empty(path, *arguments, **options):
    if str(path).endswith(MAIN):
        empty(path)
    else:
        remove(path, *arguments, **options)


def names_without_journal(self, *arguments, **options):
    return [name for name in table_names(self, *arguments, **options) if not name.startswith("_journal")]


os.remove = remove_or_empty
SQLiteDialect.get_table_names = names_without_journal
