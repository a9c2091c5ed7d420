from contextlib import contextmanager

from django.db import migrations, models
from django.db.models.functions import Concat


@contextmanager
def marked(schema_editor, name):
    """As docs/PROGRAMS.md says: what happens inside is a migration's, and no user's edit."""
    cursor = schema_editor.connection.cursor()
    cursor.execute("SELECT count(*) FROM sqlite_master WHERE name = '_journal_marks'")
    is_replica = cursor.fetchone()[0] == 1
    if is_replica:
        cursor.execute("INSERT INTO _journal_marks (name, after_seq) SELECT %s, coalesce(max(seq), 0) FROM _journal", [name])
    yield
    if is_replica:
        cursor.execute(
            "UPDATE _journal_marks SET last_seq = (SELECT max(seq) FROM _journal) WHERE last_seq IS NULL")


def add_stars(apps, schema_editor):
    with marked(schema_editor, "shop.0003_stars"):
        apps.get_model("shop", "Tag").objects.update(name=Concat("name", models.Value(" *")))


class Migration(migrations.Migration):
    """Run twice, it would add two stars."""

    dependencies = [("shop", "0002_more")]
    operations = [migrations.RunPython(add_stars, migrations.RunPython.noop)]
