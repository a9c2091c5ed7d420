import sqlalchemy as sa
from alembic import op

revision, down_revision = "2", "1"


def upgrade():
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
