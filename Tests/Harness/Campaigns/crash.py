"""Kills daemons and writers in the middle of their work, and checks that nothing acknowledged is lost (F1 to
F3).

Three replicas of one database each have a daemon on loopback and three writers: a Python program, the
sqlite3 shell and the example service in Swift. In each round the writers get some transactions to do. When a
random part of them is acknowledged, random processes are killed with SIGKILL and started again: one, several
at once, or the same one again within 1 to 20 ms, while it recovers, up to five times. From time to time, and
at the end, the writers stop, and then these must hold:

  1. The daemons reach the same vector within the deadline.
  2. Each acknowledged write is on each replica. Of a transaction that was begun and not acknowledged, all or
     nothing is there, and the same on all replicas. No row is there that nobody wrote.
  3. `syncd verify` finds the replicas equal, and so does a comparison of their rows in Python.
  4. integrity_check and foreign_key_check find nothing.
  5. A daemon that gets SIGTERM exits with 0.

The same seed gives the same plan of kills. The interleaving by the kernel differs.
"""

import os
import threading
import time

from campaign import Campaign, Failed
from replicas import Replica, check_equal, free_port, wait_until_equal
from writers import PythonWriter, ShellWriter, SwiftWriter, written_rows

ROUND_SECONDS = 240
KILLS_BETWEEN_CHECKS = 250


class CrashTest(Campaign):
    name = "crash-test"
    about = "Kill daemons and writers; nothing acknowledged may be lost."
    programs = ("syncd", "todo-service")

    @classmethod
    def arguments(cls, parser):
        parser.add_argument("--kills", type=int, default=int(os.environ.get("KILLS") or 2000))

    def reproduce(self):
        return f"make campaign NAME=crash-test SEED={self.seed} KILLS={self.options.kills}"

    def prepare(self):
        self.progress = threading.Condition()
        self.replicas = [Replica(self, name) for name in "abc"]
        self.writers = {}  # (replica, kind) -> the current incarnation
        self.authors = []
        kills = self.options.kills
        self.floors = {"kills": kills, "acknowledged": kills, "checks": kills // 500, "compound kills": kills // 10}
        first, second, third = self.replicas
        for replica in self.replicas:
            replica.make(rows=20 if replica is first else 0)
            self.command("init", replica.path, "--foreign-keys", "enforce")
            # The service creates its table.
            service = self.start(
                [self.options.todo_service, replica.path, "--port", str(free_port())], stdin=-3, stdout=-1,
                stderr=open(os.path.join(self.directory, "service.log"), "ab"))
            service.stdout.readline()
            service.terminate()
            if service.wait(60) != 0:
                raise Failed(f"the service exits with {service.returncode} on SIGTERM")
        if self.rng.random() < 0.5:
            self.note("a chain of 3 replicas")
            second.peers, third.peers = [first], [second]
        else:
            self.note("a mesh of 3 replicas")
            for replica in self.replicas:
                replica.peers = [other for other in self.replicas if other is not replica]
        for replica in self.replicas:
            replica.start()
        for replica in self.replicas:
            replica.daemon.wait_until_listening()
            for kind in (PythonWriter, ShellWriter, SwiftWriter):
                self.start_writer(replica, kind)

    def start_writer(self, replica, kind):
        name = f"{replica.name}{kind.kind[:2]}{len(self.authors)}"
        writer = kind(replica, name, self.rng.getrandbits(32), self.progress)
        self.writers[replica, kind] = writer
        self.authors.append(writer.author)
        return writer

    def acknowledged(self):
        return sum(author.acknowledged for author in self.authors)

    def run(self):
        next_check = KILLS_BETWEEN_CHECKS
        while self.counts.get("kills", 0) < self.options.kills:
            self.round()
            if self.counts["kills"] >= min(next_check, self.options.kills):
                self.quiet()
                next_check += KILLS_BETWEEN_CHECKS
        self.counts["acknowledged"] = self.acknowledged()
        self.counts["lost"] = 0

    def round(self):
        rng = self.rng
        due = 0
        for writer in self.writers.values():
            count = rng.randint(2, 12)
            due += count
            writer.order(count)
        goal = self.acknowledged() + due // 2 - rng.randint(0, due // 2)
        self.wait(lambda: self.acknowledged() >= goal, "the writers make no progress")
        for _ in range(rng.choice([1, 2, 3, 4])):
            self.strike()
        if rng.random() < 0.5:
            for replica in self.replicas:
                replica.daemon.wait_until_listening()

    def strike(self):
        """Kills one process, or several at once, and possibly again while they recover."""
        rng = self.rng
        victims = []
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            replica = rng.choice(self.replicas)
            kind = rng.choice([None, None, PythonWriter, ShellWriter, ShellWriter, SwiftWriter])
            if (replica, kind) not in victims:
                victims.append((replica, kind))
        depth = rng.choice([1, 1, 2, 3, 4, 5])
        for blow in range(depth):
            if blow:
                time.sleep(rng.uniform(0.001, 0.020))
                self.count("compound kills", len(victims))
            for replica, kind in victims:
                (self.writers[replica, kind] if kind else replica.daemon).kill()
                self.count("kills")
                self.count(f"of {kind.kind} writers" if kind else "of daemons")
            for replica, kind in victims:
                if kind:
                    writer = self.start_writer(replica, kind)
                    if blow + 1 < depth:
                        # The writer has work when the next kill comes.
                        writer.order(rng.randint(1, 5))
                else:
                    replica.start()

    def wait(self, condition, what):
        deadline = time.monotonic() + ROUND_SECONDS
        with self.progress:
            while not condition():
                for writer in self.writers.values():
                    if writer.finished.is_set():
                        raise Failed(f"{writer.kind} writer {writer.author.name} ended by itself: "
                                     f"{getattr(writer, 'failure', writer.process.poll())}")
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    raise Failed(f"{what}: {ROUND_SECONDS} s have passed")
                self.progress.wait(min(remaining, 1))

    def quiet(self):
        """Waits until all replicas know the same, then compares them."""
        self.wait(lambda: all(w.owed == 0 for w in self.writers.values()), "the writers do not finish")
        for replica in self.replicas:
            replica.daemon.wait_until_listening()
        wait_until_equal(self.replicas)
        rows = written_rows(check_equal(self.replicas))
        expected = sum(author.check(rows) for author in self.authors)
        if len(rows) != expected:
            raise Failed(f"{len(rows) - expected} rows are there that nobody wrote")
        self.count("checks")
        self.note(f"{self.counts['kills']} kills, {self.acknowledged()} transactions acknowledged, none lost, replicas equal")

    def finish(self):
        for writer in self.writers.values():
            writer.stop()
        for replica in self.replicas:
            replica.daemon.stop()
