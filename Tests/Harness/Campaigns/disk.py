"""No space, no room in a file, no descriptors, no memory (F6, F7, F18).

  space        A tmpfs of 512 KiB to 4 MiB is filled by a program or by another file. Commits fail with a
               sentence and leave nothing half done, reads work, and the daemon confirms nothing to its peer.
               When there is room again, it continues by itself. When the write-ahead log holds the room, the
               daemon shortens the log, and needs no other room.
  size         The same with RLIMIT_FSIZE on a running daemon; the signal of that limit must not end it.
  descriptors  With few of them, the daemon refuses to start with a sentence, or serves. Idle connections do
               not end it.
  memory       With RLIMIT_AS in steps, nothing acknowledged is lost and no file is damaged, whatever ends a
               program. A program that waits for memory continues when there is some.

The tmpfs is mounted in a namespace of this process, so it ends with it. That needs root.
"""

import http.client
import json
import os
import resource
import socket
import sqlite3
import subprocess
import time

from campaign import LIBC, Campaign, Failed
from replicas import Replica, check_equal, content, wait_until_equal
from writers import written_rows

PARTS = ("space", "size", "descriptors", "memory")
FLOORS = {
    "space": {"disks": 4, "resumed": 8, "refused by full disks": 8, "room found in the log": 4}, "size": {"file-size limits": 3},
    "descriptors": {"refused for descriptors": 3, "served with few descriptors": 3},
    "memory": {"exchanges with enough memory": 2, "exchanges without": 2},
}
CLONE_NEWNS = 0x20000
MS_REC, MS_PRIVATE = 0x4000, 0x40000


class DiskFull(Campaign):
    name = "disk-full"
    about = "Full disks, file-size limits, few descriptors and little memory."

    @classmethod
    def arguments(cls, parser):
        parser.add_argument("--part", choices=PARTS, default=os.environ.get("PART") or None)

    @classmethod
    def refusal(cls, options):
        if os.geteuid() != 0 and options.part in (None, "space"):
            return "Mounting a tmpfs needs root. As another user, run the parts that do not: PART=size, descriptors or memory."
        return None

    def reproduce(self):
        return f"make campaign NAME=disk-full SEED={self.seed}" + (f" PART={self.options.part}" if self.options.part else "")

    def run(self):
        self.serial, self.acknowledged = 0, {}
        for part in PARTS:
            if self.options.part in (None, part):
                began = time.monotonic()
                getattr(self, part)()
                self.note(f"{part}: {time.monotonic() - began:.1f} s")
                self.floors.update(FLOORS[part])
        self.counts["acknowledged"] = len(self.acknowledged)

    # --- Pieces -----------------------------------------------------------------------------------------------------

    def pair(self, name, directory):
        first, second = Replica(self, f"{name}1", directory), Replica(self, f"{name}2")
        first.make(rows=5)
        second.make(rows=0)
        for replica in (first, second):
            self.command("init", replica.path, "--foreign-keys", "enforce")
        # Each asks the other, so that both ways of applying run.
        first.peers, second.peers = [second], [first]
        self.acknowledged = {}
        return first, second

    def insert(self, replica, size=2000):
        """Inserts one row and notes it as acknowledged. Raises SQLite's error."""
        self.serial += 1
        key = f"{self.canary}.{replica.name}.{self.serial}"
        db = replica.connect()
        try:
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT INTO account VALUES (?, ?, ?, NULL, 1)", (key, self.serial, self.canary + "x" * size))
            db.execute("INSERT INTO entry VALUES (?, 1, 1)", (key,))
            db.execute("COMMIT")
            self.acknowledged[key] = self.serial
            self.count("commits")
            return key
        except sqlite3.OperationalError:
            self.count("commits refused")
            raise
        finally:
            db.close()

    def fill(self, replica, most=20_000):
        """Inserts until SQLite refuses."""
        for number in range(most):
            try:
                self.insert(replica)
            except sqlite3.OperationalError as error:
                self.expect("full" in str(error) or "disk I/O" in str(error), f"a full disk is reported as {error}")
                return number
        raise Failed("the disk is never full")

    def lag(self, replica):
        return [peer["lag"] for peer in replica.status()["peers"]]

    def check_all(self, replicas):
        rows = written_rows(check_equal(replicas))
        lost = [key for key, value in self.acknowledged.items() if rows.get(key) != value]
        self.expect(not lost, f"acknowledged rows are lost: {len(lost)} of {len(self.acknowledged)}")
        self.expect(set(rows) <= set(self.acknowledged) | self.maybe, "a refused commit is there")

    # --- Space ------------------------------------------------------------------------------------------------------

    def space(self):
        if LIBC.unshare(CLONE_NEWNS) or LIBC.mount(None, b"/", None, MS_REC | MS_PRIVATE, None):
            raise Failed("a mount namespace cannot be made")
        for kib in (512, 1024, 2048, 4096):
            place = os.path.join(self.directory, f"disk{kib}")
            os.mkdir(place)
            if LIBC.mount(b"tmpfs", place.encode(), b"tmpfs", 0, f"size={kib}k".encode()):
                raise Failed("a tmpfs cannot be mounted")
            self.maybe = set()
            self.no_room_for_a_journal(place)
            self.one_disk(place, kib)
            if LIBC.umount2(place.encode(), 0):
                raise Failed(f"{place} is still in use")
            self.count("disks")

    def one_disk(self, place, kib):
        first, second = self.pair(f"disk{kib}", place)
        ballast = os.path.join(place, "ballast")
        for replica in (first, second):
            replica.start().wait_until_listening()
        self.insert(first, 10)
        self.insert(second, 10)
        wait_until_equal([first, second])
        self.room_in_the_log(first, second, ballast)
        # Another file takes the room, and the log has none to give back.
        self.shorten_log(first)
        self.take_room(ballast)
        self.try_all(first, second)
        os.unlink(ballast)
        self.resumed(first, second)
        # A program takes the room in the database itself. A quarter of the disk is ballast, which can be
        # freed.
        self.shorten_log(first)
        self.take_room(ballast, kib * 256)
        self.fill(first)
        self.take_room(ballast + "2")
        self.try_all(first, second)
        os.unlink(ballast)
        os.unlink(ballast + "2")
        self.resumed(first, second)
        for replica in (first, second):
            replica.daemon.stop()

    def room_in_the_log(self, first, second, ballast):
        """Checks that the daemon finds the room that the write-ahead log holds."""
        self.shorten_log(first)
        db = first.connect()
        for _ in range(8):
            db.execute("UPDATE shared SET hits = hits + 1 WHERE id = 1")
        db.close()
        self.take_room(ballast)
        # The database itself may need some new pages for the log's content.
        os.truncate(ballast, max(0, os.path.getsize(ballast) - 4 * 4096))
        self.insert(second, 10)
        wait_until_equal([first, second], 90)
        self.count("room found in the log")
        os.unlink(ballast)

    def shorten_log(self, replica):
        """Copies the log to the database and truncates it, so that the daemon cannot find room there."""
        db = replica.connect()
        busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        db.close()
        self.expect(not busy, "a checkpoint cannot run")

    def no_room_for_a_journal(self, place):
        # A file that is not a replica yet, and no room to make it one.
        ballast = os.path.join(place, "ballast")
        plain = Replica(self, "plain", place)
        db = sqlite3.connect(plain.path)
        db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, x)")
        db.commit()
        db.close()
        self.take_room(ballast)
        with open(plain.path, "rb") as file:
            before = file.read()
        result = self.command("init", plain.path, "--foreign-keys", "enforce", status=1)
        self.expect(result.stderr.startswith("Error: ") and "full" in result.stderr, f"init says {result.stderr}")
        with open(plain.path, "rb") as file:
            self.expect(file.read() == before, "a refused init changed the file")
        os.unlink(ballast)
        self.command("init", plain.path, "--foreign-keys", "enforce")
        for name in os.listdir(place):
            os.unlink(os.path.join(place, name))

    @staticmethod
    def take_room(path, most=1 << 30):
        with open(path, "wb", buffering=0) as file:
            try:
                for _ in range(most // 4096):
                    file.write(bytes(4096))
            except OSError:
                pass

    def try_all(self, first, second):
        """Checks that nothing can be written on the first replica."""
        for _ in range(3):
            try:
                self.insert(first, 5000)
                raise Failed("a commit goes through although the disk is full")
            except sqlite3.OperationalError as error:
                self.expect("full" in str(error) or "disk I/O" in str(error), f"a full disk is reported as {error}")
        content(first.path)
        self.insert(second, 5000)
        deadline = time.monotonic() + 2
        while time.monotonic() < deadline:
            first.daemon.check()
            self.expect(first.ask("/healthz") == b"ok\n", "the daemon is not healthy")
            self.expect(all(lag != 0 for lag in self.lag(second)), "the daemon confirmed what it could not keep")
            time.sleep(0.2)
        self.expect(first.status()["tables"], "the daemon cannot read")
        self.count("refused by full disks")

    def resumed(self, first, second):
        """Checks that everything continues by itself when there is room again."""
        self.insert(first, 10)
        took = wait_until_equal([first, second], 90)
        self.counts["longest way back in ms"] = max(self.counts.get("longest way back in ms", 0), int(took * 1000))
        self.check_all([first, second])
        self.count("resumed")

    # --- The size of a file -----------------------------------------------------------------------------------------

    def size(self):
        self.maybe = set()
        first, second = self.pair("size", self.directory)
        for replica in (first, second):
            replica.start().wait_until_listening()
        self.insert(first, 10)
        wait_until_equal([first, second])
        process = first.daemon.process.pid
        most = resource.prlimit(process, resource.RLIMIT_FSIZE)[1]
        for _ in range(3):
            resource.prlimit(process, resource.RLIMIT_FSIZE, (os.path.getsize(first.path + "-wal"), most))
            for _ in range(5):
                self.insert(second, 8000)
            time.sleep(1.5)
            first.daemon.check()
            self.expect(all(lag != 0 for lag in self.lag(second)), "the daemon confirmed what it could not keep")
            self.expect(first.status()["tables"], "the daemon cannot read")
            resource.prlimit(process, resource.RLIMIT_FSIZE, (most, most))
            took = wait_until_equal([first, second], 90)
            self.counts["longest way back in ms"] = max(self.counts.get("longest way back in ms", 0), int(took * 1000))
            self.count("file-size limits")
        self.check_all([first, second])
        for replica in (first, second):
            replica.daemon.stop()

    # --- Descriptors ------------------------------------------------------------------------------------------------

    def descriptors(self):
        self.maybe = set()
        first, second = self.pair("few", self.directory)
        second.start().wait_until_listening()
        # Below 7, libdispatch ends the process before its first line.
        for number in (8, 12, 16, 24, 32, 40, 48, 64, 96, 112, 128, 256):
            def limit():
                resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))

            daemon = first.start(before=limit)
            try:
                daemon.wait_until_listening(30)
            except Failed:
                self.expect(daemon.process.poll() is not None, f"with {number} descriptors the daemon hangs")
            if daemon.process.poll() is not None:
                self.expect(daemon.process.returncode == 1,
                            f"with {number} descriptors the daemon ends with {daemon.process.returncode}")
                daemon.close()
                self.count("refused for descriptors")
                continue
            self.insert(first, 10)
            self.insert(second, 10)
            idle = []
            for _ in range(2 * number):
                try:
                    idle.append(socket.create_connection((first.host, first.port), timeout=0.2))
                except OSError:
                    break
            self.insert(second, 10)
            time.sleep(0.5)
            daemon.check()
            for connection in idle:
                connection.close()
            if number >= 112:
                # Until the daemon has seen that they are closed, this address has used all its connections.
                wait_until_equal([first, second], 90, may_refuse=True)
                daemon.stop()
            else:
                # They may be too few to serve, but not too few to stop.
                daemon.stop(status=None)
                self.expect(daemon.process.returncode in (0, 1), f"the daemon ends with {daemon.process.returncode}")
            self.count("served with few descriptors")
        first.start().wait_until_listening()
        wait_until_equal([first, second])
        self.check_all([first, second])
        for replica in (first, second):
            replica.daemon.stop()

    # --- Memory -----------------------------------------------------------------------------------------------------

    def memory(self):
        self.maybe = set()
        first, second = self.pair("memory", self.directory)
        sizes = [*range(110, 230, 10), *range(240, 480, 40)]
        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        for mib in sizes:
            def limit():
                resource.setrlimit(resource.RLIMIT_AS, (mib << 20, most))

            def lift(process):
                # With too little for a second thread, libdispatch waits for memory before any line of the
                # program runs.
                resource.prlimit(process.pid, resource.RLIMIT_AS, (most, most))
                self.count("waited for memory")

            self.insert(first, 200_000)
            self.insert(second, 200_000)
            # A trace of each failed allocation would take longer than everything else.
            result = self.command(
                "sync", first.path, second.path, status=None, before=limit, relief=(10, lift),
                environment={"SWIFT_BACKTRACE": "enable=no"})
            self.count("exchanges with enough memory" if result.returncode == 0 else "exchanges without")
            for replica in (first, second):
                content(replica.path)
        self.command("sync", first.path, second.path)
        self.check_all([first, second])
