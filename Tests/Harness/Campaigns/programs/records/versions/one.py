import sqlalchemy as sa
from alembic import op

revision, down_revision = "1", None


def upgrade():
    op.create_table("artist", sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.String(100), nullable=False))
    op.create_table(
        "album", sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("artist_id", sa.Integer, sa.ForeignKey("artist.id"), nullable=False),
        sa.Column("title", sa.String(200), nullable=False), sa.Column("info", sa.JSON, nullable=False),
        sa.Column("fax", sa.String(20)))
    op.create_table(
        "track", sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("album_id", sa.Integer, sa.ForeignKey("album.id"), nullable=False),
        sa.Column("title", sa.String(200), nullable=False), sa.Column("seconds", sa.Integer, nullable=False))
