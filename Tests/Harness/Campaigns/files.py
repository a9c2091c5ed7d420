"""Other daemons and other programs on a daemon's file, and files that are moved or removed.

  holders    Two to ten daemons start on one file at once: one serves it, the others are refused. The holder
             is killed, and another daemon takes over within 5 s (F15).
  displaced  The file is renamed, replaced or unlinked, or its log or directory is removed, while the daemon
             has it open. The daemon raises an alarm, writes nothing more into the orphan, and confirms
             nothing to peers (F14, B79).
  storm      Ten writers, and a reader that holds each snapshot for seconds: writers wait for a bounded time,
             the log stays bounded, and nothing acknowledged is lost (F9, F11).
  busy       A program writes without a pause, beside a daemon and without one: its log stays small and is
             shortened afterwards, and it is not much slower. Transactions that read before they write do not
             fail beside a daemon with a quiet peer.
  backlog    What a program wrote while no daemon ran, rows and large values, arrives in parts: a writer of the
             receiver waits for one of them, and not for all. Large values need bounded memory.
  pragmas    Programs write with journal_mode=DELETE, recursive_triggers, foreign_keys off, mmap and other
             page caches, and are killed in the middle. Everything is captured, or refused with a sentence
             (F16, F17).
  frozen     A daemon is stopped (SIGSTOP) and continued later: its peers wait and keep running, and all
             converge (F19).
  refused    A file that is not a database is refused and stays unchanged (B77), and so are configurations
             that make no sense (B81).
"""

import json
import hashlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time

from campaign import EQUAL, Campaign, Failed
from replicas import Daemon, Replica, check_equal, content, wait_until_equal
from writers import PythonWriter, written_rows

PARTS = ("holders", "displaced", "storm", "busy", "backlog", "pragmas", "frozen", "refused")
TAKEOVER_SECONDS = 5
FLOORS = {
    "holders": {"takeovers": 2}, "displaced": {"ways to displace": 7}, "storm": {"acknowledged": 500},
    "busy": {"transactions of 100 rows": 500, "transactions that read first": 400},
    "backlog": {"writes beside a backlog": 20},
    "pragmas": {"settings of foreign programs": 24}, "frozen": {"pauses": 2}, "refused": {"refusals": 20},
}


class FileTest(Campaign):
    name = "file-test"
    about = "Other daemons and programs on a daemon's file, and files that are moved, replaced and removed."

    @classmethod
    def arguments(cls, parser):
        parser.add_argument("--part", choices=PARTS, default=os.environ.get("PART") or None)
        parser.add_argument("--rounds", type=int, default=int(os.environ.get("ROUNDS") or 3))
        parser.add_argument("--frozen-seconds", type=float, default=float(os.environ.get("FROZEN_SECONDS") or 5))
        parser.add_argument("--busy-seconds", type=float, default=float(os.environ.get("BUSY_SECONDS") or 6))
        parser.add_argument("--storm-seconds", type=float, default=float(os.environ.get("STORM_SECONDS") or 20))

    def reproduce(self):
        return f"make campaign NAME=file-test SEED={self.seed} ROUNDS={self.options.rounds}" + (
            f" PART={self.options.part}" if self.options.part else "")

    def run(self):
        for part in PARTS:
            if self.options.part in (None, part):
                began = time.monotonic()
                getattr(self, part)()
                self.note(f"{part}: {time.monotonic() - began:.1f} s")
                self.floors.update(FLOORS[part])

    def pair(self, name, rows=20):
        """Makes two replicas that know the same, with daemons. The second follows the first, which exchanges
        both ways."""
        directory = os.path.join(self.directory, name)
        os.mkdir(directory)
        first, second = Replica(self, f"{name}1", directory), Replica(self, f"{name}2")
        first.make(rows=rows)
        second.make(rows=0)
        for replica in (first, second):
            self.command("init", replica.path, "--foreign-keys", "enforce")
        second.peers = [first]
        return first, second

    def insert(self, replica, key, timeout=60):
        db = replica.connect(timeout)
        try:
            db.execute("INSERT INTO account VALUES (?, 1, ?, NULL, 1)", (f"{self.canary}.{key}", self.canary))
        finally:
            db.close()

    def has(self, replica, key):
        db = replica.connect()
        try:
            return db.execute("SELECT 1 FROM account WHERE id = ?", (f"{self.canary}.{key}",)).fetchone() is not None
        finally:
            db.close()

    def until(self, condition, what, seconds=60):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise Failed(f"{what}: not within {seconds} s")
            time.sleep(0.05)

    def log_of(self, replica):
        with open(replica.log, errors="replace") as file:
            return file.read()

    # --- Many daemons on one file -----------------------------------------------------------------------------------

    def holders(self):
        first, second = self.pair("holders")
        second.start().wait_until_listening()
        progress = threading.Condition()
        writer = PythonWriter(first, "h", self.rng.getrandbits(32), progress)
        port = first.port
        longest = 0
        for number in range(self.options.rounds + 1):
            writer.order(20)
            crowd = []
            for _ in range(self.rng.randint(2, 10)):
                # The same port, as two daemons of one service file have.
                first.port = port
                crowd.append(Daemon(first))
            began = time.monotonic()
            self.until(lambda: sum(d.process.poll() is None for d in crowd) == 1, "one daemon is left", 60)
            holder = next(d for d in crowd if d.process.poll() is None)
            holder.wait_until_listening()
            longest = max(longest, time.monotonic() - began)
            for daemon in crowd:
                if daemon is not holder:
                    self.expect(daemon.process.returncode == 1, f"a second daemon ends with {daemon.process.returncode}")
                    daemon.close()
                    self.count("daemons refused")
            self.expect("Another daemon already serves" in self.log_of(first), "the refusal names its reason")
            self.expect(longest < TAKEOVER_SECONDS, f"the takeover took {longest:.1f} s")
            self.count("takeovers")
            first.daemon = holder
            if number < self.options.rounds:
                holder.kill()
                self.count("kills")
        self.until(lambda: writer.owed == 0, "the writer gets on")
        writer.stop()
        wait_until_equal([first, second])
        rows = written_rows(check_equal([first, second]))
        writer.author.check(rows)
        self.counts["acknowledged"] = self.counts.get("acknowledged", 0) + writer.author.acknowledged
        for replica in (first, second):
            replica.daemon.stop()
        self.counts["longest takeover in ms"] = int(longest * 1000)

    # --- A file that is taken away ----------------------------------------------------------------------------------

    def displaced(self):
        for way in ("rename", "unlink", "replace by a copy", "replace by another", "unlink the log", "replace the log",
                    "rename the directory"):
            self.displace(way)
            self.count("ways to displace")

    def displace(self, way):
        name = way.replace(" ", "_")
        first, second = self.pair(name)
        first.start().wait_until_listening()
        second.start().wait_until_listening()
        self.insert(first, "before")
        self.insert(second, "there")
        wait_until_equal([first, second])
        # Without these descriptors the kernel would free the orphans.
        orphans = [os.open(first.path + suffix, os.O_RDONLY) for suffix in ("", "-wal")]
        aside = first.path + ".aside"
        if way == "rename":
            os.rename(first.path, aside)
        elif way == "unlink":
            os.unlink(first.path)
        elif way == "replace by a copy":
            shutil.copy(first.path, aside)
            os.rename(aside, first.path)
        elif way == "replace by another":
            other = sqlite3.connect(aside)
            other.execute("CREATE TABLE other (id INTEGER PRIMARY KEY)")
            other.commit()
            other.close()
            os.rename(aside, first.path)
        elif way == "unlink the log":
            os.unlink(first.path + "-wal")
        elif way == "replace the log":
            shutil.copy(first.path + "-wal", aside)
            os.rename(aside, first.path + "-wal")
        else:
            os.rename(first.directory, first.directory + ".aside")
        before = [hashlib.sha256(self.read(fd)).hexdigest() for fd in orphans]
        daemon = first.daemon
        # A peer that has changes to push from time to time. A displaced file may confirm none of them.
        for number in range(3):
            self.insert(second, f"after{number}")
            time.sleep(0.3)
        self.until(lambda: daemon.process.poll() is not None or "moved away or replaced" in self.log_of(first)
                   or "taken away" in self.log_of(first), f"{way}: the daemon's alarm", 20)
        time.sleep(1)
        if daemon.process.poll() is None:
            try:
                peers = second.status()["peers"]
                self.expect(all(peer["lag"] != 0 for peer in peers), f"{way}: the daemon confirmed what it has not kept")
            except OSError as error:
                raise Failed(f"{way}: the other daemon does not answer: {error}")
            daemon.process.send_signal(signal.SIGTERM)
        try:
            status = daemon.process.wait(60)
        except subprocess.TimeoutExpired:
            raise Failed(f"{way}: the daemon does not end")
        daemon.close()
        self.expect(status in (0, 1), f"{way}: the daemon ends with {status}")
        after = [hashlib.sha256(self.read(fd)).hexdigest() for fd in orphans]
        for fd in orphans:
            os.close(fd)
        self.expect(before[0] == after[0] or way.endswith("log"), f"{way}: the daemon wrote into the orphaned database")
        self.expect(before[1] == after[1], f"{way}: the daemon wrote into the orphaned log")
        second.daemon.stop()
        # With another database beside the old log, SQLite itself sees one damaged file.
        if os.path.exists(first.path) and way != "replace by another":
            content(first.path)
        content(second.path)

    @staticmethod
    def read(descriptor):
        pieces, at = [], 0
        while piece := os.pread(descriptor, 1 << 20, at):
            pieces.append(piece)
            at += len(piece)
        return b"".join(pieces)

    # --- Many writers -----------------------------------------------------------------------------------------------

    def storm(self):
        first, second = self.pair("storm")
        first.start().wait_until_listening()
        second.start().wait_until_listening()
        progress = threading.Condition()
        writers = [PythonWriter(first, f"s{n}", self.rng.getrandbits(32), progress) for n in range(10)]
        reader = first.connect()
        reads, turn = False, 0
        deadline = time.monotonic() + self.options.storm_seconds
        log, longest = 0, 0
        last = {}
        stamps = {writer: time.monotonic() for writer in writers}
        while time.monotonic() < deadline:
            for writer in writers:
                with progress:
                    done, owed = writer.author.acknowledged, writer.owed
                if owed < 5:
                    writer.order(20)
                if last.get(writer) != done:
                    stamps[writer] = time.monotonic()
                    last[writer] = done
                longest = max(longest, time.monotonic() - stamps[writer])
                self.expect(not writer.finished.is_set(), f"writer {writer.author.name} ended by itself")
            log = max(log, os.path.getsize(first.path + "-wal"))
            # A report that takes seconds, and rests before it begins again. No log can start again while one
            # snapshot follows the other without a pause.
            if time.monotonic() >= turn:
                reads = not reads
                reader.execute("BEGIN" if reads else "COMMIT")
                if reads:
                    reader.execute("SELECT count(*) FROM account").fetchone()
                turn = time.monotonic() + self.rng.uniform(*((0.5, 2) if reads else (0.2, 0.5)))
            time.sleep(0.02)
        reader.close()
        self.until(lambda: all(writer.owed == 0 for writer in writers), "the writers finish", 240)
        for writer in writers:
            writer.stop()
        wait_until_equal([first, second])
        rows = written_rows(check_equal([first, second]))
        for writer in writers:
            writer.author.check(rows)
        acknowledged = sum(writer.author.acknowledged for writer in writers)
        self.count("acknowledged", acknowledged)
        self.counts["largest log in KiB"] = log >> 10
        self.counts["longest wait of a writer in ms"] = int(longest * 1000)
        self.expect(log < 256 << 20, f"the log grew to {log >> 20} MiB")
        self.expect(longest < 60, f"a writer waited for {longest:.1f} s")
        for replica in (first, second):
            replica.daemon.stop()

    # --- A writer without a pause -----------------------------------------------------------------------------------

    def busy(self):
        alone, _ = self.pair("alone")
        first, second = self.pair("busy")
        first.start().wait_until_listening()
        second.start().wait_until_listening()
        wait_until_equal([first, second])
        second.daemon.stop()

        # In turns, so that other work on the machine slows both down. No peer takes what is written.
        slices, rates, log = 12, {alone: [], first: []}, 0
        writers = {replica: self.unsynced(replica) for replica in rates}
        for number in range(slices):
            for replica, db in writers.items():
                end, done = time.monotonic() + self.options.busy_seconds / slices, 0
                began = time.monotonic()
                while time.monotonic() < end:
                    db.execute("BEGIN IMMEDIATE")
                    db.executemany("INSERT INTO account VALUES (?, 1, ?, NULL, 1)", [
                        (f"{self.canary}.{number}.{done}.{row}", self.canary) for row in range(100)])
                    db.execute("COMMIT")
                    done += 1
                rates[replica].append(done / (time.monotonic() - began))
                self.count("transactions of 100 rows", done)
                if replica is first:
                    log = max(log, os.path.getsize(first.path + "-wal"))
        self.counts["largest log beside a daemon in KiB"] = log >> 10
        # The log grows while the daemon's checkpoint waits for the disk, and the program waits for no disk. A log
        # that does not start again would hold all that was written.
        pages = first.connect().execute("PRAGMA page_count").fetchone()[0]
        in_half_a_second = pages * 4096 // int(self.options.busy_seconds)
        limit = max(16 << 20, in_half_a_second)
        self.expect(log <= limit, f"the log grew to {log >> 20} MiB beside a daemon, and may reach {limit >> 20}")
        speed = sorted(rates[first])[slices // 2] / sorted(rates[alone])[slices // 2]
        self.counts["speed beside a daemon in percent"] = round(speed * 100)
        # 90 percent and more on an idle machine.
        self.expect(speed > 0.6, f"the program has {speed:.0%} of its speed beside a daemon")
        for db in writers.values():
            db.close()
        self.until(lambda: os.path.getsize(first.path + "-wal") < 8 << 20, "the log is shortened", 30)

        first.daemon.stop()
        self.read_first()

    def read_first(self):
        first, second = self.pair("quiet")
        second.start().wait_until_listening()
        first.peers = [second]
        first.start().wait_until_listening()
        db = first.connect(5)
        db.executemany("INSERT INTO account VALUES (?, 1, ?, NULL, 1)",
                       [(f"{self.canary}.{row}", self.canary) for row in range(100)])
        wait_until_equal([first, second])
        for number in range(400):
            account = f"{self.canary}.{number % 100}"
            try:
                db.execute("BEGIN")
                db.execute("SELECT max(n) FROM account").fetchone()
                time.sleep(self.rng.random() * 0.01)
                db.execute("INSERT INTO entry VALUES (?, ?, 1)", (account, number))
                db.execute("UPDATE account SET n = n + 1 WHERE id = ?", (account,))
                db.execute("COMMIT")
            except sqlite3.OperationalError as error:
                raise Failed(f"transaction {number}, which reads before it writes: {error}")
            self.count("transactions that read first")
        db.close()
        wait_until_equal([first, second])
        check_equal([first, second])
        for replica in (first, second):
            replica.daemon.stop()

    def unsynced(self, replica):
        db = replica.connect()
        db.execute("PRAGMA synchronous = OFF")
        return db

    # --- A backlog ----------------------------------------------------------------------------------------------------

    def backlog(self):
        first, second = self.pair("backlog")
        values, size = 20, 10 << 20
        db = first.connect()
        for number in range(200):
            db.execute("BEGIN")
            db.executemany(
                "INSERT INTO account VALUES (?, ?, ?, NULL, 1)",
                [(f"{self.canary}.{number}.{row}", row, self.canary) for row in range(100)])
            db.execute("COMMIT")
        for number in range(values):
            db.execute("INSERT INTO account VALUES (?, 1, ?, ?, 1)",
                       (f"{self.canary}.large{number}", self.canary, self.rng.randbytes(size)))
        db.close()
        # The changes of another machine come behind the backlog.
        third = Replica(self, "backlog3", first.directory)
        third.make(rows=0)
        self.command("init", third.path, "--foreign-keys", "enforce")
        self.insert(third, "third")
        self.command("sync", third.path, first.path)
        first.start().wait_until_listening()
        waits, stop = [], threading.Event()

        def write():
            local, number = second.connect(), 0
            while not stop.is_set():
                began = time.monotonic()
                local.execute("INSERT INTO account VALUES (?, 1, ?, NULL, 1)",
                              (f"{self.canary}.local{number}", self.canary))
                waits.append(time.monotonic() - began)
                number += 1
                time.sleep(0.01)
            local.close()

        began = time.monotonic()
        second.start().wait_until_listening()
        writer = threading.Thread(target=write)
        writer.start()
        try:
            self.until(lambda: self.has(second, f"large{values - 1}"), "the backlog arrives", 240)
        finally:
            seconds = time.monotonic() - began
            stop.set()
            writer.join()
        self.expect(max(waits) < max(0.7, seconds * 0.3),
                    f"a writer waited for {max(waits):.1f} of the {seconds:.1f} s that a backlog took")
        with open(f"/proc/{second.daemon.process.pid}/status") as file:
            memory = next(int(line.split()[1]) for line in file if line.startswith("VmHWM:")) >> 10
        # A value travels at three to four times its size (decision 0044); the rest is the program.
        self.expect(memory < 220, f"the receiver of values of {size >> 20} MiB had {memory} MiB resident")
        wait_until_equal([first, second])
        check_equal([first, second])
        self.count("writes beside a backlog", len(waits))
        self.counts["longest wait beside a backlog in ms"] = int(max(waits) * 1000)
        for replica in (first, second):
            replica.daemon.stop()

    # --- Programs with settings of their own ------------------------------------------------------------------------

    def pragmas(self):
        first, second = self.pair("pragmas")
        second.start().wait_until_listening()
        settings = [
            ("journal_mode = DELETE", False), ("journal_mode = DELETE", True), ("journal_mode = TRUNCATE", True),
            ("journal_mode = PERSIST", True), ("recursive_triggers = OFF", True), ("foreign_keys = OFF", True),
            ("mmap_size = 268435456", True), ("cache_size = 1", True), ("synchronous = OFF", True),
            ("locking_mode = EXCLUSIVE", False), ("secure_delete = ON", True), ("auto_vacuum = FULL", True),
        ]
        for number, (setting, killed) in enumerate(settings):
            for running in (False, True):
                if running:
                    first.start().wait_until_listening()
                self.foreign(first, f"p{number}{'r' if running else ''}", setting, killed, running)
                if not running:
                    # Also where the program left a rollback journal that is hot.
                    first.start().wait_until_listening()
                rows = content(first.path)
                self.expect(not any(b".never." in row[2] for row in rows["account"]), f"{setting}: half a transaction is there")
                wait_until_equal([first, second])
                check_equal([first, second], verify=False)
                first.daemon.stop()
                self.count("settings of foreign programs")
        self.command("verify", first.path, second.path, status=EQUAL)
        second.daemon.stop()

    def foreign(self, first, key, setting, killed, running):
        """A program with its own settings does the writes that triggers find hardest, and is killed in its next
        transaction."""
        program = f"""
import sqlite3, sys, time
db = sqlite3.connect({first.path!r}, timeout={2 if "EXCLUSIVE" in setting else 20}, isolation_level=None)
try:
    print(db.execute("PRAGMA {setting}").fetchone(), flush=True)
except sqlite3.OperationalError as error:
    print(error, flush=True)
key = {self.canary!r} + '.{key}'
db.execute("BEGIN IMMEDIATE")
for n in range(20):
    db.execute("INSERT INTO account VALUES (? || '.' || ?, ?, ?, NULL, 1)", (key, n, n, {self.canary!r}))
    db.execute("INSERT INTO entry VALUES (? || '.' || ?, 1, ?)", (key, n, n))
db.execute("COMMIT")
db.execute("INSERT OR REPLACE INTO account VALUES (? || '.1', 100, 'replaced', NULL, 2)", (key,))
db.execute("INSERT INTO account VALUES (? || '.2', 1, '', NULL, 1) ON CONFLICT (id) DO UPDATE SET n = n + 1000", (key,))
db.execute("UPDATE account SET id = id || '.moved' WHERE id = ? || '.3' AND NOT EXISTS (SELECT 1 FROM entry WHERE account = account.id)", (key,))
db.execute("DELETE FROM entry WHERE account = ? || '.4'", (key,))
db.execute("DELETE FROM account WHERE id = ? || '.4'", (key,))
db.execute("ATTACH ':memory:' AS side")
db.execute("CREATE TABLE side.t AS SELECT * FROM account")
db.execute("UPDATE account SET n = n + 1 WHERE id IN (SELECT id FROM side.t) AND id LIKE ? || '%'", (key,))
db.execute("DETACH side")
print("done", flush=True)
if {killed}:
    db.execute("PRAGMA cache_size = 2")
    db.execute("BEGIN IMMEDIATE")
    for n in range(2000):
        db.execute("INSERT INTO account VALUES (? || '.never.' || ?, ?, ?, NULL, 1)", (key, n, n, 'x' * 500))
    print("inside", flush=True)
    time.sleep(600)
"""
        process = self.start([sys.executable, "-E", "-S", "-c", program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        word = b"inside" if killed else b"done"
        for line in process.stdout:
            if line.strip() == word:
                break
        else:
            errors = process.stderr.read().decode()
            if not (running and "EXCLUSIVE" in setting and "locked" in errors):
                raise Failed(f"a program with {setting} fails: {errors[-300:]}")
            self.count("settings refused")
        if killed:
            process.kill()
            self.count("kills")
        process.wait()
        process.stdout.close()
        process.stderr.close()

    # --- A daemon that is stopped
    # ----------------------------------------------------------------------------------

    def frozen(self):
        first, second = self.pair("frozen")
        first.start().wait_until_listening()
        second.start().wait_until_listening()
        for replica in (first, second):
            other = second if replica is first else first
            os.kill(replica.daemon.process.pid, signal.SIGSTOP)
            for number in range(20):
                self.insert(first, f"{replica.name}.{number}")
                self.insert(second, f"{replica.name}.{number}.second")
            time.sleep(self.options.frozen_seconds)
            other.daemon.check()
            os.kill(replica.daemon.process.pid, signal.SIGCONT)
            took = wait_until_equal([first, second], 60)
            check_equal([first, second])
            self.count("pauses")
            self.counts["longest way back in ms"] = max(self.counts.get("longest way back in ms", 0), int(took * 1000))
        for replica in (first, second):
            replica.daemon.stop()

    # --- What is refused --------------------------------------------------------------------------------------------

    def refused(self):
        directory = os.path.join(self.directory, "refused")
        os.mkdir(directory)

        def path(name):
            return os.path.join(directory, name)

        os.mkfifo(path("fifo"))
        os.mkdir(path("directory"))
        open(path("empty"), "wb").close()
        with open(path("text"), "w") as file:
            file.write("no database\n" * 1000)
        db = sqlite3.connect(path("plain"))
        db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        db.commit()
        db.close()
        os.symlink("plain", path("link"))
        os.symlink("nowhere", path("dangling"))
        with open(path("random"), "wb") as file:
            file.write(self.rng.randbytes(8192))
        shutil.copy(path("plain"), path("future"))
        self.command("init", path("future"))
        db = sqlite3.connect(path("future"))
        db.execute("UPDATE _journal_replica SET format = 999")
        db.commit()
        db.close()
        for name in ("fifo", "directory", "empty", "text", "plain", "link", "dangling", "random", "future", "missing"):
            self.refuse(["run", path(name)], path(name))
        self.refuse(["run", "/dev/zero"], None)
        self.refuse(["run", "/dev/full"], None)
        good = Replica(self, "good", directory)
        good.make()
        self.command("init", good.path, "--foreign-keys", "enforce")
        configurations = {
            "unknown key": {"peerz": []}, "negative": {"conflict-days": -1}, "huge": {"conflict-days": 1 << 40},
            "wrong kind": {"peer": "http://a"}, "list": [], "twice": {"peer": ["http://127.0.0.1:9/", "http://127.0.0.1:9"]},
            "open to all": {"listen": "0.0.0.0:0"}, "no scheme": {"peer": ["ftp://127.0.0.1/"]},
            "password": {"peer": ["http://user:" + self.canary + "@127.0.0.1:9"]},
        }
        for number, (name, value) in enumerate(configurations.items()):
            with open(path(f"c{number}.json"), "w") as file:
                json.dump(value, file)
            self.refuse(["run", good.path, "--config", path(f"c{number}.json")], good.path)
        with open(path("long.json"), "w") as file:
            json.dump({"peer": [f"http://127.0.0.1:{n % 60000 + 1}/{n}" for n in range(100_000)]}, file)
        self.refuse(["run", good.path, "--config", path("long.json")], good.path)
        with open(path("token"), "w") as file:
            file.write(self.token)
        os.chmod(path("token"), 0o644)
        self.refuse(["run", good.path, "--token-file", path("token")], good.path)
        os.chmod(path("token"), 0o600)
        # A replica with itself as a peer does no harm: its identity shows it.
        first = Replica(self, "itself", directory)
        first.make()
        self.command("init", first.path, "--foreign-keys", "enforce")
        first.peers = [first]
        first.start().wait_until_listening()
        self.insert(first, "self")
        time.sleep(1)
        first.daemon.stop()

    def refuse(self, arguments, path):
        before = self.fingerprint(path)
        result = self.command(*arguments, status=None, timeout=60)
        self.expect(result.returncode in (1, 64), f"syncd {' '.join(arguments)} ends with {result.returncode}")
        self.expect(result.stderr.startswith("Error: "), f"syncd {' '.join(arguments)} gives no sentence: {result.stderr}")
        self.expect(before == self.fingerprint(path), f"syncd {' '.join(arguments)} changed the file")
        self.count("refusals")

    @staticmethod
    def fingerprint(path):
        if path is None or not os.path.isfile(path):
            return path and (os.path.lexists(path), os.path.isdir(path))
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
