"""What programs notice of a daemon on their file: measured, with the goals beside the figures.

  log      A program writes transactions of 100 rows as fast as it can, in turns beside a daemon without a peer and
           without one: the largest log, the log after a pause, and the program's speed.
  backlog  The rows of 3 000 transactions that mark nothing arrive at once: how long a program of the receiver waits
           for the write lock.
  marked   The same for one marked transaction of 100 000 rows.
  values   Values of 15 MB, each a transaction of its own: memory of both daemons, and the bytes a second of
           processor time.

A figure may miss its goal on a busy machine. The campaign fails at four times the goal: what is meant to be bounded
is not, then.
"""

import os
import threading
import time

from campaign import Campaign, Failed
from replicas import Replica, wait_until_equal

SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE item (id TEXT PRIMARY KEY NOT NULL, n INTEGER NOT NULL, body);
CREATE TABLE local (id TEXT PRIMARY KEY NOT NULL, n INTEGER NOT NULL);
"""
MARK = "UPDATE _journal SET tx = 1 WHERE seq = (SELECT max(seq) FROM _journal)"
MEBIBYTE = 1 << 20
VALUE_BYTES = 15_000_000
# At four times a goal, or at a quarter of it for what should be large, the campaign fails.
SLACK = 4
PARTS = ("log", "backlog", "marked", "values")


class BesideBench(Campaign):
    name = "beside-bench"
    about = "Measure what programs notice of a daemon: log, speed, waits beside a backlog, large values."
    parts = PARTS
    # The head of the table of figures.
    title = "beside a daemon"

    @classmethod
    def arguments(cls, parser):
        quick = bool(os.environ.get("QUICK"))
        parser.add_argument("--part", choices=PARTS, default=os.environ.get("PART") or None)
        parser.add_argument("--log-seconds", type=float, default=8 if quick else 20)
        parser.add_argument("--rows", type=int, default=60_000 if quick else 300_000, help="of the backlog")
        parser.add_argument("--marked-rows", type=int, default=30_000 if quick else 100_000)
        parser.add_argument("--values", type=int, default=10 if quick else 40)

    def reproduce(self):
        return "make bench ONLY=beside"

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

    def replica(self, name, *peers):
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

    # --- The parts ------------------------------------------------------------------------------------------------

    def log(self):
        alone, beside = self.replica("alone"), self.replica("log")
        beside.start().wait_until_listening()
        largest, written, slices = 0, {alone: 0, beside: 0}, 20
        writers = {replica: self.writer(replica) for replica in written}
        # In turns, so that other work on the machine slows both down.
        for number in range(slices):
            for replica, db in writers.items():
                end = time.monotonic() + self.options.log_seconds / slices
                while time.monotonic() < end:
                    db.execute("BEGIN IMMEDIATE")
                    db.executemany("INSERT INTO item VALUES (?, ?, 'some text')", [
                        (f"{number}.{written[replica]}.{row}", row) for row in range(100)])
                    db.execute("COMMIT")
                    written[replica] += 1
                    if replica is beside:
                        largest = max(largest, os.path.getsize(beside.path + "-wal"))
        self.figure("largest log", largest / MEBIBYTE, 16, "MiB")
        self.figure("speed of transactions of 100 rows", written[beside] / written[alone] * 100, 90, "%", is_least=True)
        deadline = time.monotonic() + 30
        while os.path.getsize(beside.path + "-wal") > 8 * MEBIBYTE:
            if time.monotonic() > deadline:
                raise Failed("the log is not shortened in a pause")
            time.sleep(0.1)
        for db in writers.values():
            db.close()
        beside.daemon.stop()

    def backlog(self):
        def write(db):
            for first in range(0, self.options.rows, 100):
                db.execute("BEGIN")
                db.executemany("INSERT INTO item VALUES (?, ?, 'some text')", [
                    (f"{row * 2654435761 % self.options.rows:09}.{row}", row) for row in range(first, first + 100)])
                db.execute("COMMIT")

        waits, _, _ = self.receive("backlog", write)
        what = f"waits of a program beside a backlog of {self.options.rows} rows in transactions of 100"
        self.figure(what + ": p99", self.percentile(waits, 0.99), 250, "ms")

    def marked(self):
        def write(db):
            db.execute("BEGIN")
            db.executemany("INSERT INTO item VALUES (?, ?, 'some text')", [
                (f"{row * 2654435761 % self.options.marked_rows:09}.{row}", row)
                for row in range(self.options.marked_rows)])
            db.execute(MARK)
            db.execute("COMMIT")

        waits, _, _ = self.receive("marked", write)
        what = f"waits beside one marked transaction of {self.options.marked_rows} rows"
        self.figure(what + ": p99", self.percentile(waits, 0.99), 250, "ms")
        self.note(f"longest wait {max(waits) * 1000:.0f} ms")

    def values(self):
        count = self.options.values

        def write(db):
            for number in range(count):
                db.execute("INSERT INTO item VALUES (?, 1, ?)", (f"value{number}", self.rng.randbytes(VALUE_BYTES)))

        waits, sender, receiver = self.receive("values", write)
        allowed = 128 + VALUE_BYTES // MEBIBYTE
        for name, (seconds, memory) in (("sender", sender), ("receiver", receiver)):
            what = f"{count} values of 15 MB, {name}"
            self.figure(what + ": most memory resident", memory, allowed, "MiB")
            self.figure(what + ": of processor time", count * VALUE_BYTES / 1e6 / seconds, 100, "MB/s", is_least=True)
        self.figure("waits of a program beside them: longest", max(waits) * 1000, 500, "ms")

    # --- Measuring ------------------------------------------------------------------------------------------------

    def receive(self, name, write):
        """Writes to a file without a daemon, and lets another machine's daemon get it.

        Returns the waits of a program that writes to the receiver's file all the time, in seconds; for the sender and
        the receiver, seconds of processor time and the most memory in MiB.
        """
        first = self.replica(name + "1")
        second = self.replica(name + "2", first)
        db = self.writer(first)
        write(db)
        rows = db.execute("SELECT count(*) FROM item").fetchone()[0]
        db.close()
        first.start().wait_until_listening()
        waits, stop = [], threading.Event()

        def program():
            local, number = self.writer(second), 0
            while not stop.is_set():
                began = time.monotonic()
                local.execute("INSERT INTO local VALUES (?, 1)", (f"{name}{number}",))
                waits.append(time.monotonic() - began)
                number += 1
                time.sleep(0.01)
            local.close()

        thread = threading.Thread(target=program)
        second.start().wait_until_listening()
        thread.start()
        try:
            db = second.connect()
            deadline = time.monotonic() + 300
            while db.execute("SELECT count(*) FROM item").fetchone()[0] < rows:
                if time.monotonic() > deadline:
                    raise Failed("the backlog does not arrive within 300 s")
                time.sleep(0.05)
            db.close()
        finally:
            stop.set()
            thread.join()
        used = [self.used(replica.daemon.process.pid) for replica in (first, second)]
        wait_until_equal([first, second])
        for replica in (first, second):
            replica.daemon.stop()
        return waits, *used

    @staticmethod
    def used(pid):
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        with open(f"/proc/{pid}/status") as file:
            memory = next(int(line.split()[1]) for line in file if line.startswith("VmHWM:"))
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), memory / 1024

    @staticmethod
    def percentile(waits, part):
        return sorted(waits)[min(len(waits) - 1, int(len(waits) * part))] * 1000
