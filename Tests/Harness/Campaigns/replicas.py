"""Replicas under test: a file, with or without a daemon, and queries of them."""

import glob
import http.client
import json
import os
import select
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.request

from campaign import EQUAL, Failed

SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE account (id TEXT PRIMARY KEY NOT NULL, n INTEGER NOT NULL, body TEXT NOT NULL, data BLOB, rate REAL);
CREATE TABLE entry (
  account TEXT NOT NULL REFERENCES account(id) ON DELETE CASCADE, no INTEGER NOT NULL, amount INTEGER NOT NULL,
  PRIMARY KEY (account, no)
) WITHOUT ROWID;
CREATE TABLE shared (id INTEGER PRIMARY KEY, a TEXT, b TEXT, hits INTEGER NOT NULL DEFAULT 0);
"""
SHARED_ROWS = 20
START_SECONDS = 120
QUIET_SECONDS = 240


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def with_clock(offset, campaign):
    """The beginning of a command line whose program sees a clock that is `offset` wrong, such as "+60s"; empty without
    libfaketime. Clocks that only go on stay right: timers run by them, and timeouts are measured with them."""
    libraries = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")[:1]
    if not libraries:
        return []
    preloaded = ":".join([campaign.shim("timershim"), *libraries])
    # libfaketime adds a variable to the environment of the first program that it is in, and Swift then does not find
    # its arguments. So that program is another one.
    return ["env", f"LD_PRELOAD={preloaded}", f"FAKETIME={offset}", "FAKETIME_DONT_FAKE_MONOTONIC=1", "env"]


class Daemon:
    """One incarnation of a daemon."""

    def __init__(self, replica, environment=None, before=None, arguments=(), program=None):
        self.replica = replica
        campaign = replica.campaign
        line = [*(program or [campaign.syncd]), "run", replica.path, "--listen", f"{replica.host}:{replica.port}",
                "--token-file", campaign.token_file, "--log-level", "warning", *arguments]
        for peer in replica.peers:
            line += ["--peer", peer if isinstance(peer, str) else peer.url]
        self.log = open(replica.log, "ab")
        self.is_listening = False
        self.process = campaign.start(
            [*replica.wrapper, *line], environment=environment, before=before, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=self.log)

    def wait_until_listening(self, seconds=START_SECONDS):
        if self.is_listening:
            return
        deadline = time.monotonic() + seconds
        text = b""
        while b"\n" not in text:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise Failed(f"daemon {self.replica.name} does not listen after {seconds} s")
            piece = os.read(self.process.stdout.fileno(), 4096)
            if not piece:
                raise Failed(f"daemon {self.replica.name} ended at its start with status {self.process.wait()}")
            text += piece
        self.is_listening = True

    def check(self):
        if self.process.poll() is not None:
            raise Failed(f"daemon {self.replica.name} ended by itself with status {self.process.returncode}")

    def kill(self):
        self.check()
        self.process.kill()
        self.process.wait()
        self.close()

    def stop(self, status=0):
        self.process.send_signal(signal.SIGTERM)
        try:
            found = self.process.wait(60)
        except subprocess.TimeoutExpired:
            raise Failed(f"daemon {self.replica.name} does not stop on SIGTERM")
        self.close()
        if status is not None and found != status:
            raise Failed(f"daemon {self.replica.name} exits with {found} on SIGTERM")

    def close(self):
        self.process.stdout.close()
        self.log.close()


class Replica:
    def __init__(self, campaign, name, directory=None, host="127.0.0.1", port=None):
        self.campaign, self.name, self.host = campaign, name, host
        self.directory = directory or campaign.directory
        self.path = os.path.join(self.directory, f"{name}.sqlite")
        self.log = os.path.join(campaign.directory, f"{name}.log")
        self.peers, self.daemon = [], None
        # The beginning of the command lines of its programs: `with_clock` for a machine with a wrong clock.
        self.wrapper = []
        self.port = port or free_port()
        self.url = f"http://{host}:{self.port}"

    def make(self, rows=SHARED_ROWS, schema=SCHEMA):
        db = sqlite3.connect(self.path)
        db.executescript(schema)
        db.executemany("INSERT INTO shared (id) VALUES (?)", [(n,) for n in range(1, rows + 1)])
        db.commit()
        db.close()

    def start(self, **options):
        self.daemon = Daemon(self, **options)
        return self.daemon

    def connect(self, timeout=60):
        db = sqlite3.connect(self.path, timeout=timeout, isolation_level=None)
        db.execute("PRAGMA foreign_keys = ON")
        return db

    def ask(self, path="/v1/status", timeout=20):
        """Returns the answer's body. OSError when there is none, or a part of one: a daemon that dies may have
        begun to answer."""
        request = urllib.request.Request(
            f"{self.url}{path}", headers={"Authorization": f"Bearer {self.campaign.token}"})
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.read()
        except http.client.HTTPException as error:
            raise ConnectionError(f"the answer is cut: {error}") from error

    def status(self, timeout=20):
        return json.loads(self.ask(timeout=timeout))

    def vector(self):
        return self.status()["vector"]


def wait_until_equal(replicas, seconds=QUIET_SECONDS, may_refuse=False):
    """Waits until all daemons have the same vector, and returns the seconds. A daemon must answer each time;
    one that `may_refuse` must answer once within the time."""
    began = time.monotonic()
    while True:
        vectors, refusal = [], None
        for replica in replicas:
            replica.daemon.check()
            try:
                vectors.append(replica.vector())
            except OSError as error:
                refusal = f"daemon {replica.name} does not answer: {error}"
                if not may_refuse:
                    raise Failed(refusal)
        if refusal is None and all(vector == vectors[0] for vector in vectors):
            return time.monotonic() - began
        if time.monotonic() - began > seconds:
            raise Failed(refusal or f"the vectors differ after {seconds} s: {json.dumps(vectors)}")
        time.sleep(0.1)


def tables(db):
    names = db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_journal%' ESCAPE '\\' "
        "AND name NOT LIKE '\\_tandem%' ESCAPE '\\' AND name NOT LIKE 'sqlite%' ORDER BY name").fetchall()
    return [name for (name,) in names]


def content(path, check=True):
    """All rows of all tables, after integrity_check and foreign_key_check."""
    db = sqlite3.connect(path, timeout=60)
    try:
        db.text_factory = bytes
        db.execute("BEGIN")
        if check:
            for pragma, good in (("integrity_check", [(b"ok",)]), ("foreign_key_check", [])):
                problems = db.execute(f"PRAGMA {pragma}").fetchall()
                if problems != good:
                    raise Failed(f"{pragma} of {os.path.basename(path)}: {problems[:5]}")
        found = {}
        for name in tables(db):
            name = name.decode()
            columns = sorted(row[1].decode() for row in db.execute(f'PRAGMA table_info("{name}")'))
            found[name] = sorted(
                db.execute(f"SELECT {', '.join(chr(34) + c + chr(34) for c in columns)} FROM \"{name}\"").fetchall(), key=repr)
        return found
    finally:
        db.close()


def check_equal(replicas, verify=True):
    """Checks integrity, equal rows by a comparison here, and equal content by `syncd verify`. Returns the rows."""
    contents = [content(replica.path) for replica in replicas]
    for replica, other in zip(replicas[1:], contents[1:]):
        for table in sorted(set(contents[0]) | set(other)):
            if contents[0].get(table) != other.get(table):
                only = set(contents[0].get(table) or []) ^ set(other.get(table) or [])
                raise Failed(
                    f"{table} differs between {replicas[0].name} and {replica.name}: {sorted(map(repr, only))[:4]}")
        if verify:
            replica.campaign.command("verify", replicas[0].path, replica.path, status=EQUAL)
    return contents[0]
