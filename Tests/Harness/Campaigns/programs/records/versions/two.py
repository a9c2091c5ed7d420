import sqlalchemy as sa
from alembic import op

revision, down_revision = "2", "1"


def upgrade():
    # As docs/PROGRAMS.md says. Run twice, this would add two stars.
    op.execute("INSERT INTO _journal_marks (name, after_seq) SELECT 'two', coalesce(max(seq), 0) FROM _journal")
    op.execute("UPDATE artist SET name = name || ' *'")
    op.execute("UPDATE _journal_marks SET last_seq = (SELECT max(seq) FROM _journal) WHERE last_seq IS NULL")
    with op.batch_alter_table("album", recreate="always") as batch:
        batch.add_column(sa.Column("label", sa.String(100), server_default="none"))
        batch.alter_column("title", type_=sa.String(400))
        batch.drop_column("fax")
        batch.create_index("album_by_title", ["title"])
    with op.batch_alter_table("track") as batch:
        batch.add_column(sa.Column("rating", sa.Integer))
    op.execute("UPDATE track SET rating = seconds % 5")
    op.create_table("genre", sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.String(50), unique=True))
    op.execute("INSERT INTO genre (id, name) VALUES (1, 'jazz'), (2, 'folk')")
