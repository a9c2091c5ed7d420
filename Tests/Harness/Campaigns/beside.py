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

from bench import MEBIBYTE, Bench
from campaign import Failed
from replicas import wait_until_equal

MARK = "UPDATE _journal SET tx = 1 WHERE seq = (SELECT max(seq) FROM _journal)"
VALUE_BYTES = 15_000_000
PARTS = ("log", "backlog", "marked", "values")


class BesideBench(Bench):
    name = "beside-bench"
    about = "Measure what programs notice of a daemon: log, speed, waits beside a backlog, large values."
    parts = PARTS
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
