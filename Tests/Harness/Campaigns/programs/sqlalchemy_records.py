"""SQLAlchemy with Alembic in batch mode, which rebuilds tables: artists, albums and tracks with integer keys.

As most programs on SQLite, it does not turn foreign keys on.
"""

from pathlib import Path

import program
from alembic import command
from alembic.config import Config
from sqlalchemy import JSON, ForeignKey, Integer, String, create_engine, event, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship


class Base(DeclarativeBase):
    pass


class Artist(Base):
    __tablename__ = "artist"
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    albums: Mapped[list["Album"]] = relationship(back_populates="artist", cascade="all, delete-orphan")


class Album(Base):
    __tablename__ = "album"
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    artist_id: Mapped[int] = mapped_column(ForeignKey("artist.id"))
    title: Mapped[str] = mapped_column(String(200))
    info: Mapped[dict] = mapped_column(JSON)
    artist: Mapped[Artist] = relationship(back_populates="albums")
    tracks: Mapped[list["Track"]] = relationship(back_populates="album", cascade="all, delete-orphan")


class Track(Base):
    __tablename__ = "track"
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    album_id: Mapped[int] = mapped_column(ForeignKey("album.id"))
    title: Mapped[str] = mapped_column(String(200))
    seconds: Mapped[int] = mapped_column(Integer)
    album: Mapped[Album] = relationship(back_populates="tracks")


def engine(path):
    """As docs/PROGRAMS.md says: transactions begin with BEGIN IMMEDIATE."""
    made = create_engine(f"sqlite:///{path}", connect_args={"timeout": 20})

    @event.listens_for(made, "connect")
    def no_implicit_begin(connection, record):
        connection.isolation_level = None

    @event.listens_for(made, "begin")
    def begin_immediate(connection):
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return made


def migrate(step, revision):
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "records"))
    with engine(step.path).connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def create(step):
    migrate(step, "1")
    with Session(engine(step.path)) as session:
        for number in range(8):
            artist = Artist(name=f"artist {number}")
            for _ in range(2):
                tracks = [Track(title=step.words(), seconds=step.rng.randint(60, 600)) for _ in range(3)]
                artist.albums.append(Album(title=step.words(), info={"year": 1990 + number}, tracks=tracks))
            session.add(artist)
        session.commit()


def upgrade(step):
    migrate(step, "2")


def write(step):
    made = engine(step.path)

    def one(session, kind):
        return step.some(session.scalars(select(kind)))

    def album(session):
        artist = one(session, Artist)
        if artist is None:
            return False
        tracks = [Track(title=step.words(), seconds=step.rng.randint(60, 600)) for _ in range(3)]
        artist.albums.append(Album(title=step.words(), info={"side": step.side}, tracks=tracks))

    def artist(session):
        session.add(Artist(name=step.words(3)))

    def edit(session):
        found = one(session, Album)
        if found is None:
            return False
        found.title, found.info = step.words(), {**found.info, step.side: step.rng.random()}

    def move(session):
        track, target = one(session, Track), one(session, Album)
        if track is None or target is None:
            return False
        track.album = target

    def rename(session):
        found = one(session, Artist)
        if found is None:
            return False
        found.name = step.words(3)

    def delete(kind):
        def run(session):
            found = one(session, kind)
            if found is None:
                return False
            session.delete(found)

        return run

    def committed(action):
        def run():
            with Session(made) as session, session.begin():
                return action(session)

        return run

    return step.repeat({
        "albums added": (4, committed(album)), "artists added": (2, committed(artist)),
        "albums edited": (6, committed(edit)), "tracks moved": (3, committed(move)),
        "artists renamed": (3, committed(rename)), "tracks deleted": (2, committed(delete(Track))),
        "albums deleted": (1, committed(delete(Album))), "artists deleted": (1, committed(delete(Artist))),
    })


def check(step):
    with Session(engine(step.path)) as session:
        albums, tracks = list(session.scalars(select(Album))), list(session.scalars(select(Track)))
        assert all(isinstance(album.info, dict) for album in albums)
        assert not any("* *" in name for name in session.scalars(select(Artist.name))), "a migration ran twice"
        return {
            "rows": len(albums) + len(tracks) + len(list(session.scalars(select(Artist)))),
            "titles": sorted(f"{track.title} {track.album.title if track.album else None}" for track in tracks),
        }


if __name__ == "__main__":
    program.main(globals())
