"""What the measurements on real processes share: parts, figures with goals, and small programs that write."""

import itertools
import json
import os
import sqlite3
import subprocess
import threading
import time

from campaign import Campaign, Failed
from replicas import Replica

SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE item (id TEXT PRIMARY KEY NOT NULL, n INTEGER NOT NULL, body);
CREATE TABLE local (id TEXT PRIMARY KEY NOT NULL, n INTEGER NOT NULL);
"""
PERSON = """
PRAGMA journal_mode = WAL;
CREATE TABLE person (
  id {key} PRIMARY KEY NOT NULL, name TEXT NOT NULL, email TEXT, age INTEGER, score REAL, created REAL);
"""
WIDE = """
PRAGMA journal_mode = WAL;
CREATE TABLE wide (
  id TEXT PRIMARY KEY NOT NULL, a INTEGER, b INTEGER, c REAL, d TEXT, e TEXT, f TEXT, g INTEGER, h INTEGER, i TEXT);
"""
WIDE_ROWS = """
WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < ?)
INSERT INTO wide SELECT 'k' || i, i, random(), i / 3.0, 'd' || (i % 5000), 'text ' || i, hex(randomblob(4)), i % 10,
  i % 100, 'last ' || (i % 77) FROM n
"""
MEBIBYTE = 1 << 20
# Rows of a program's transaction.
TRANSACTION = 1_000
# At four times a goal, or at a quarter of it for what should be large, the campaign fails.
SLACK = 4


class Bench(Campaign):
    """A campaign that measures. Each of its `parts` is a method; `--part` runs one of them."""

    parts = ()
    # The head of the table of figures.
    title = ""

    def run(self):
        self.figures = []
        for part in self.parts:
            if self.options.part in (None, part):
                began = time.monotonic()
                getattr(self, part)()
                self.note(f"{part}: {time.monotonic() - began:.1f} s")
        self.count("figures", len(self.figures))
        print(f"| {self.title} | measured | goal |\n|---|---|---|")
        for what, measured, goal, unit, *_ in self.figures:
            aim = "-" if goal is None else f"{goal} {unit}".rstrip()
            print(f"| {what} | {f'{measured:.4g} {unit}'.rstrip()} | {aim} |")
        for what, measured, goal, unit, is_least, fails in self.figures:
            if not fails:
                continue
            limit = float(goal) / SLACK if is_least else float(goal) * SLACK
            self.expect(measured >= limit if is_least else measured <= limit, f"{what}: {measured:.4g} {unit}")

    def figure(self, what, measured, goal, unit, is_least=False, fails=True):
        """Notes a figure. Without a goal (None), or with `fails` false, the campaign does not fail by it."""
        self.figures.append((what, measured, goal, unit, is_least, fails and goal is not None))

    # --- Files and programs ---------------------------------------------------------------------------------------

    def replica(self, name, *peers):
        """Makes a replica of empty tables that follows `peers`. It has no daemon yet."""
        replica = Replica(self, name)
        replica.make(rows=0, schema=SCHEMA + "CREATE TABLE shared (id INTEGER PRIMARY KEY);")
        self.command("init", replica.path)
        replica.peers = list(peers)
        return replica

    @staticmethod
    def writer(replica):
        db = replica.connect()
        db.execute("PRAGMA synchronous = NORMAL")
        return db

    @staticmethod
    def make(replica, schema):
        """Makes a file with the tables of `schema`, which is no replica yet."""
        db = sqlite3.connect(replica.path)
        db.executescript(schema)
        db.close()

    @staticmethod
    def fill(db, table, rows):
        """Inserts the rows, some in a transaction."""
        rows = iter(rows)
        while chunk := list(itertools.islice(rows, TRANSACTION)):
            db.execute("BEGIN IMMEDIATE")
            db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(chunk[0]))})", chunk)
            db.execute("COMMIT")

    @staticmethod
    def person(key, rng):
        """Returns a row."""
        number = rng.randrange(10 ** 9)
        return key, f"name {number}", f"{number * 7}@example.org", rng.randrange(90), rng.random(), 1.7e9

    def wide(self, rows):
        """Makes a replica of a wide table."""
        replica = Replica(self, "wide")
        self.make(replica, WIDE)
        db = replica.connect()
        db.execute(WIDE_ROWS, (rows,))
        db.close()
        self.command("init", replica.path)
        self.bring_up_to_date(replica)
        return replica

    @staticmethod
    def remove(path):
        """Removes the file, and those beside it whose names begin with its name."""
        for name in os.listdir(os.path.dirname(path)):
            if name.startswith(os.path.basename(path)):
                os.unlink(os.path.join(os.path.dirname(path), name))

    def bring_up_to_date(self, replica):
        """Lets a daemon do what is due after `init` of a table with rows, so that no later step does it."""
        replica.start().wait_until_listening()
        db, deadline = replica.connect(), time.monotonic() + 120
        while db.execute(
                "SELECT sealed_seq < (SELECT max(seq) FROM _journal) FROM _journal_replica").fetchone()[0]:
            if time.monotonic() > deadline:
                raise Failed("a daemon does not bring its file up to date within 120 s")
            time.sleep(0.05)
        db.close()
        replica.daemon.stop()

    # --- Measuring ------------------------------------------------------------------------------------------------

    def measured(self, *arguments):
        """Runs `syncd … --json` to its end. Returns its object, and what it used of the machine."""
        with open(os.path.join(self.directory, "commands.log"), "ab") as log:
            process = self.start(
                [self.syncd, *arguments, "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        output = process.stdout.read()
        process.stdout.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.expect(process.returncode == 0, f"syncd {' '.join(arguments)} ends with {process.returncode}")
        return json.loads(output), used

    def cloned(self, peer, *flags):
        """Clones a replica. Returns the seconds that it takes, and the most memory resident in MiB."""
        path, began = os.path.join(self.directory, "cloned.sqlite"), time.monotonic()
        used = self.measured("clone", peer, path, *flags)[1]
        seconds = time.monotonic() - began
        self.remove(path)
        return seconds, used.ru_maxrss / 1024

    @staticmethod
    def used(pid):
        """Returns the seconds of processor time of a process so far, and its most memory resident in MiB."""
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        with open(f"/proc/{pid}/status") as file:
            memory = next(int(line.split()[1]) for line in file if line.startswith("VmHWM:"))
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), memory / 1024

    @staticmethod
    def percentile(waits, part):
        """Returns milliseconds; `waits` are seconds, and `part` is from 0 to 1."""
        return sorted(waits)[min(len(waits) - 1, int(len(waits) * part))] * 1000


class Commits(threading.Thread):
    """A program that commits one row after the other, so many a second, until it is told to stop.

    - row: Returns the arguments of the statement, from the number of the row.
    """

    def __init__(self, path, rate, statement, row):
        super().__init__(daemon=True)
        self.path, self.rate, self.statement, self.row = path, rate, statement, row
        self.written, self.is_over = 0, threading.Event()

    def run(self):
        db, began = sqlite3.connect(self.path, isolation_level=None, timeout=60), time.monotonic()
        db.execute("PRAGMA synchronous = NORMAL")
        while not self.is_over.wait(max(0, began + self.written / self.rate - time.monotonic())):
            db.execute(self.statement, self.row(self.written))
            self.written += 1
        db.close()

    def stop(self):
        self.is_over.set()
        self.join()
