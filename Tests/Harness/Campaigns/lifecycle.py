"""The life of a file: what compaction, clones and a long past cost, with the goals beside the figures.

  size       A round of work that a peer has got, after compaction, against the same work on a plain SQLite file; and
             the speed of compaction.
  churn      Simulated days, each with rows that come and rows that go: the size of the file in the last days against
             that in the first ones. Once each day's keys are new, once they are those of two days before.
  clone      A clone from a file and from a daemon against VACUUM INTO and `cp`, and the memory of both sides.
  exchanges  One more exchange after a short and after a long past of exchanges: processor time, bytes.
  pause      Waits of a program beside a compaction against those without it, and how long its steps hold the lock.

A day of the simulation is as long as its work takes: `--keep` gets the seconds since the beginning of the oldest day
whose history is to stay. The daemon begins a compaction every quarter of an hour; `pause` runs the same steps at once,
by `syncd compact` beside the daemon.

A figure may miss its goal. The campaign fails at four times the goal: what is meant to be bounded is not, then.
"""

import json
import os
import random
import sqlite3
import statistics
import subprocess
import threading
import time
import urllib.request

from bench import MEBIBYTE, PERSON, SCHEMA, TRANSACTION, Bench
from campaign import Failed
from histories import Alternation
from proxy import Proxies
from replicas import Replica, wait_until_equal

PARTS = ("size", "churn", "clone", "exchanges", "pause")
# Rounds of updates before the speed of compaction is measured.
ROUNDS = 5
# Days whose history stays.
HISTORY = 2
# Exchanges of a push that brings a past.
PUSHED = 2_000


class LifecycleBench(Bench):
    name = "lifecycle-bench"
    about = "Measure the life of a file: compaction, churn, clones, a long past of exchanges."
    parts = PARTS
    title = "the life of a file"

    @classmethod
    def arguments(cls, parser):
        quick = bool(os.environ.get("QUICK"))
        parser.add_argument("--part", choices=PARTS, default=os.environ.get("PART") or None)
        parser.add_argument("--rows", type=int, default=20_000 if quick else 100_000, help="of size")
        parser.add_argument("--days", type=int, default=15 if quick else 30)
        parser.add_argument("--day-rows", type=int, default=10_000 if quick else 100_000,
                            help="inserted each day; of keys that come again, a tenth")
        parser.add_argument("--clone-rows", type=int, default=200_000 if quick else 1_000_000)
        parser.add_argument("--clones", type=int, default=1 if quick else 3, help="of each kind")
        parser.add_argument("--past", type=int, default=10_000 if quick else 100_000, help="exchanges in the long past")
        parser.add_argument("--exchanges", type=int, default=30 if quick else 100, help="that are measured")
        parser.add_argument("--pause-rows", type=int, default=20_000 if quick else 100_000)

    def reproduce(self):
        return "make bench ONLY=lifecycle"

    # --- The parts ------------------------------------------------------------------------------------------------

    def size(self):
        for kind in ("TEXT", "INTEGER"):
            name, keys = kind.lower(), f"{kind.lower()} keys"
            plain = Replica(self, f"{name}-plain")
            first, second = self.pair(name, PERSON.format(key=kind))
            self.make(plain, PERSON.format(key=kind))
            seed = self.rng.random()
            for replica in (plain, first):
                self.work(replica, kind, self.options.rows, random.Random(seed))
            full, before = self.bytes_of(plain), self.bytes_of(first)
            self.settle(first, second)
            report = self.compact(first)[0]
            compacted = report["bytes_after"]
            self.note(f"{keys}: {report['removed']} of {report['entries']} entries gone, "
                      f"{report['free_bytes']} bytes free")
            vacuumed = self.compact(first, "--vacuum")[0]["bytes_after"]
            self.figure(f"{keys}: file after a round of work, against plain", before / full, None, "")
            self.figure(f"{keys}: the same after compaction", compacted / full, 1.02, "")
            self.figure(f"{keys}: after compaction with --vacuum, against VACUUM INTO of plain",
                        vacuumed / self.vacuum_into(plain), 1.02, "")
            self.figure(f"{keys}: entries that compaction drops a second of processor time",
                        self.speed(first, second), 300_000, "", is_least=True)

    def churn(self):
        self.days("churn-new", "new keys each day", self.options.day_rows, again=None)
        self.days("churn-again", "the keys of two days before again", self.options.day_rows // 10, again=2)

    def days(self, name, what, rows, again):
        first, second = self.pair(name, PERSON.format(key="TEXT"))
        sizes, begins, went = [], [], 0
        for day in range(self.options.days):
            begins.append(time.time())
            self.day(first, day, rows, again)
            self.settle(first, second)
            keep = time.time() - begins[max(0, day - HISTORY + 1)]
            went += self.compact(first, keep=f"{int(keep) + 1}s")[0]["removed"]
            sizes.append(self.bytes_of(first))
        self.expect(went > 0, "compaction drops nothing of the days")
        self.note(f"{name}: {went} entries gone; " + ", ".join(f"{size / MEBIBYTE:.1f}" for size in sizes) + " MiB")
        third = max(1, self.options.days // 3)
        self.figure(f"{self.options.days} days of {rows} rows in and out, {what}: largest file of the last {third} "
                    f"days, against that of the first {third}", max(sizes[-third:]) / max(sizes[:third]), 1.3, "")

    def clone(self):
        source = self.wide(self.options.clone_rows)
        copy, file, daemon = [], [], []
        # In turns, so that other work on the machine slows all of them down.
        for _ in range(self.options.clones):
            copy.append(self.vacuum_and_copy(source))
            file.append(self.cloned(source.path))
            daemon.append(self.cloned_from_daemon(source))
        plain, from_file, from_daemon = (
            statistics.median(seconds) for seconds in (copy, [one[0] for one in file], [one[0] for one in daemon]))
        self.note(f"copy {plain:.2f} s, from a file {from_file:.2f} s, from a daemon {from_daemon:.2f} s")
        what = f"clone of {self.options.clone_rows} rows of 10 columns"
        self.figure(f"{what} from a file, against VACUUM INTO and cp: wall time", from_file / plain, 2, "")
        self.figure(f"{what} from a daemon: wall time", from_daemon / plain, 2, "")
        self.figure(f"{what} from a file: most memory resident", max(one[1] for one in file), 64, "MiB")
        what += " from a daemon: most memory resident"
        self.figure(f"{what}, of the clone", max(one[1] for one in daemon), 64, "MiB")
        self.figure(f"{what}, of the daemon", max(one[2] for one in daemon), 64, "MiB")

    def exchanges(self):
        figures = [self.after(length) for length in (1_000, self.options.past)]
        (short, small), (long, large) = figures
        what = f"one more exchange after {self.options.past} exchanges, against one after 1000"
        self.figure(f"{what}: processor time of both daemons", long / short, 1.5, "")
        self.figure(f"{what}: bytes between them", large / small, 1.5, "")

    def after(self, length):
        """Returns what one more exchange costs two daemons whose files have a past of so many exchanges."""
        source, second = self.replica(f"past{length}-1"), self.replica(f"past{length}-2")
        source.start().wait_until_listening()
        # Nothing is written here before the past is complete: who exchanged it would not have seen that.
        past = Alternation(self.rng)
        while past.rounds < length:
            self.push(source, past.push(min(PUSHED, length - past.rounds)))
        proxies = Proxies()
        link = proxies.add((source.host, source.port))
        second.peers = [f"http://{source.host}:{link.port}"]
        second.start().wait_until_listening()
        wait_until_equal([source, second])
        self.expect(min(self.runs(source), self.runs(second)) >= 2 * length, "the past has fewer runs")
        # A few first ones that bring what daemons keep up to date.
        self.alternate(source, second, link, 5)
        seconds, count = self.alternate(source, second, link, self.options.exchanges)
        self.note(f"after {length}: {seconds * 1000:.1f} ms of processor time, {count:.0f} bytes")
        for replica in (second, source):
            replica.daemon.stop()
        proxies.close()
        return seconds, count

    def pause(self):
        for synchronous in ("FULL", "NORMAL"):
            first, second = self.backlog_of_entries(synchronous.lower())
            waits = Waits(first, synchronous)
            waits.start()
            try:
                waits.wait(500)
                alone = waits.take()
                began = time.monotonic()
                self.compacting(first)
                seconds = time.monotonic() - began
                beside = waits.take()
                waits.wait(len(beside))
                alone += waits.take()
            finally:
                waits.stop()
            self.note(f"{synchronous}: {seconds:.1f} s of compaction, {len(beside)} writes beside it, "
                      f"{len(alone)} without")
            what = f"waits of a program beside a compaction, synchronous = {synchronous}"
            with_it, without = (self.percentile(waits, 0.99) for waits in (beside, alone))
            # A write without an fsync takes less time than any step, so the ratio bounds nothing there.
            self.figure(f"{what}: p99 against that without one", with_it / without, 2, "",
                        fails=synchronous == "FULL")
            self.figure(f"{what}: p99", with_it, 20, "ms")
            if synchronous == "NORMAL":
                held = self.held(second)
                self.note(f"{len(held)} times the lock was held")
                self.figure("the lock in a step of compaction: median", statistics.median(held) * 1000, 20, "ms")
            for replica in (second, first):
                replica.daemon.stop()

    def backlog_of_entries(self, name):
        """Returns two replicas with daemons whose journals hold much that can go."""
        first, second = self.pair(f"pause-{name}", SCHEMA)
        db = self.writer(first)
        self.fill(db, "item", ((f"k{row}", 0, "some text") for row in range(self.options.pause_rows)))
        for number in range(ROUNDS):
            db.execute("UPDATE item SET n = ?", (number,))
        db.close()
        self.settle(first, second)
        second.peers = [first]
        for replica in (first, second):
            replica.start().wait_until_listening()
        wait_until_equal([first, second])
        return first, second

    # --- Files ----------------------------------------------------------------------------------------------------

    def pair(self, name, schema):
        """Makes two replicas with the tables, and without rows."""
        replicas = [Replica(self, f"{name}{number}") for number in (1, 2)]
        for replica in replicas:
            self.make(replica, schema)
            self.command("init", replica.path)
        return replicas

    def work(self, replica, kind, count, rng):
        """Inserts the rows, updates two columns of each, and deletes a tenth of them."""
        db = self.writer(replica)
        keys = range(1, count + 1) if kind == "INTEGER" else (f"{rng.getrandbits(128):032x}" for _ in range(count))
        self.fill(db, "person", (self.person(key, rng) for key in keys))
        db.execute("UPDATE person SET age = age + 1, score = score / 3")
        db.execute("DELETE FROM person WHERE age % 10 = 0")
        db.close()

    def day(self, replica, day, rows, again):
        """Inserts the rows of a day, and deletes those of the day before."""
        def key(day, row):
            return f"{row * 2654435761 % (1 << 32):08x}-{day % again if again else day}"

        rng = random.Random(day)
        db = self.writer(replica)
        self.fill(db, "person", (self.person(key(day, row), rng) for row in range(rows)))
        for first in range(0, rows if day else 0, TRANSACTION):
            db.execute("BEGIN IMMEDIATE")
            db.executemany("DELETE FROM person WHERE id = ?", [
                (key(day - 1, row),) for row in range(first, min(first + TRANSACTION, rows))])
            db.execute("COMMIT")
        db.close()

    @staticmethod
    def bytes_of(replica):
        """Returns the size of the file, with everything in it."""
        db = replica.connect()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close()
        return os.path.getsize(replica.path)

    def vacuum_into(self, replica):
        path = replica.path + "-vacuumed"
        db = replica.connect()
        db.execute("VACUUM INTO ?", (path,))
        db.close()
        size = os.path.getsize(path)
        os.unlink(path)
        return size

    def vacuum_and_copy(self, replica):
        """Returns the seconds that it takes."""
        path, began = replica.path + "-vacuumed", time.monotonic()
        db = replica.connect()
        db.execute("VACUUM INTO ?", (path,))
        db.close()
        self.expect(self.start(["cp", path, path + "-copy"]).wait() == 0, "cp fails")
        seconds = time.monotonic() - began
        self.remove(path)
        return seconds

    def cloned_from_daemon(self, source):
        """Returns what `cloned` does, and the most memory of the daemon."""
        source.start().wait_until_listening()
        self.note(f"daemon at its start: {self.used(source.daemon.process.pid)[1]:.0f} MiB")
        seconds, memory = self.cloned(source.url, "--token-file", self.token_file)
        daemon = self.used(source.daemon.process.pid)[1]
        source.daemon.stop()
        return seconds, memory, daemon

    # --- Replication ----------------------------------------------------------------------------------------------

    def settle(self, first, second):
        """Exchanges until each knows that the other has everything, so that all of it is stable."""
        # The first exchange brings the changes, and the hello of the second one says that they are there.
        for _ in range(2):
            self.command("sync", first.path, second.path)

    def compact(self, replica, *flags, keep="0s"):
        return self.measured("compact", replica.path, "--keep", keep, *flags)

    def speed(self, first, second):
        """Returns how many entries compaction drops in a second of processor time, after rounds of updates."""
        db = self.writer(first)
        for _ in range(ROUNDS):
            db.execute("UPDATE person SET age = age + 1, score = score / 3")
        db.close()
        self.settle(first, second)
        report, used = self.compact(first)
        self.expect(report["removed"] > 0, f"compaction drops nothing: {report}")
        seconds = used.ru_utime + used.ru_stime
        self.note(f"{report['removed']} of {report['entries']} entries gone in {seconds:.2f} s of processor time, "
                  f"{report['milliseconds'] / 1000:.2f} s in all")
        return report["removed"] / seconds

    def push(self, replica, body):
        request = urllib.request.Request(f"{replica.url}/v1/push", data=body, headers={
            "Authorization": f"Bearer {self.token}", "Content-Type": "application/vnd.tandem.frames"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            answer.read()

    @staticmethod
    def runs(replica):
        db = replica.connect()
        count = db.execute("SELECT count(*) FROM _journal_runs").fetchone()[0]
        db.close()
        return count

    def alternate(self, first, second, link, count):
        """Writes a row here and, when it is there, one there, and so on. Returns seconds of processor time of both
        daemons and bytes between them, for each exchange."""
        writers = [self.writer(replica) for replica in (first, second)]
        before, bytes_before, done = self.spent(first, second), link.passed, self.counts.get("exchanges", 0)
        for number in range(count):
            for place, (one, other) in enumerate((writers, writers[::-1])):
                key = f"{done}.{number}.{place}"
                one.execute("INSERT INTO item VALUES (?, 1, 'some text')", (key,))
                deadline = time.monotonic() + 60
                while not other.execute("SELECT 1 FROM item WHERE id = ?", (key,)).fetchone():
                    if time.monotonic() > deadline:
                        raise Failed("a row does not arrive within 60 s")
                    time.sleep(0.001)
        for db in writers:
            db.close()
        self.count("exchanges", 2 * count)
        return ((self.spent(first, second) - before) / (2 * count), (link.passed - bytes_before) / (2 * count))

    def spent(self, *replicas):
        return sum(self.used(replica.daemon.process.pid)[0] for replica in replicas)

    # --- Compaction beside programs -------------------------------------------------------------------------------

    def compacting(self, replica, look=lambda: time.sleep(0.01)):
        """Compacts the file of a running daemon, and calls `look` all the time meanwhile."""
        with open(os.path.join(self.directory, "commands.log"), "ab") as log:
            process = self.start(
                [self.syncd, "compact", replica.path, "--keep", "0s", "--json"], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=log)
        while process.poll() is None:
            look()
        report = json.loads(process.stdout.read())
        process.stdout.close()
        self.expect(process.returncode == 0 and report["removed"] >= self.options.pause_rows,
                    f"compaction drops too little: {report}")

    def held(self, replica):
        """Compacts the file, and returns for how long each step holds the write lock: for how long another program
        that tries all the time does not get it."""
        db = replica.connect(timeout=0)
        held, since = [], None

        def look():
            nonlocal since
            try:
                db.execute("BEGIN IMMEDIATE")
                db.execute("ROLLBACK")
                if since is not None:
                    held.append(time.monotonic() - since)
                since = None
            except sqlite3.OperationalError:
                since = since or time.monotonic()
            time.sleep(0.0002)

        self.compacting(replica, look)
        db.close()
        return held


class Waits:
    """A program that writes a row every few milliseconds, and notes how long each write takes."""

    def __init__(self, replica, synchronous):
        self.replica, self.synchronous, self.waits, self.is_over = replica, synchronous, [], False
        self.progress = threading.Condition()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def start(self):
        self.thread.start()

    def run(self):
        db, number = self.replica.connect(), 0
        db.execute(f"PRAGMA synchronous = {self.synchronous}")
        while not self.is_over:
            began = time.monotonic()
            db.execute("INSERT INTO local VALUES (?, 1)", (f"w{number}",))
            with self.progress:
                self.waits.append(time.monotonic() - began)
                self.progress.notify_all()
            number += 1
            time.sleep(0.002)
        db.close()

    def wait(self, count, seconds=120):
        """Waits until there are so many waits."""
        with self.progress:
            if not self.progress.wait_for(lambda: len(self.waits) >= count, seconds):
                raise Failed(f"a program does not write {count} rows within {seconds} s")

    def take(self):
        """Returns the waits since the last call."""
        with self.progress:
            waits, self.waits = self.waits, []
        return waits

    def stop(self):
        self.is_over = True
        self.thread.join()
