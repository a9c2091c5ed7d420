"""Clones and backups that are killed, of a replica under load whose daemon is killed too.

One replica has a daemon, a writer, and some megabytes of rows. In each round `syncd clone` makes a further
replica of it and is killed at random moments; so is the daemon, and what has arrived is damaged. A clone that
is let run to its end then gets a daemon and a writer of its own. `syncd backup` is killed in the same way.

Then these must hold: no file with the new name appears before it is complete; a complete one is equal to the
original, with everything that was acknowledged; each has an identity of its own; no (origin, version) names
two contents in the whole run (P14); what a clone is given, it does not send again; no unfinished copy is left
by a daemon that has started again.
"""

import json
import os
import signal
import sqlite3
import subprocess
import threading
import time

from campaign import Failed
from copies import CopyTest
from replicas import Replica
from writers import PythonWriter

MEGABYTES = 6


class CloneTest(CopyTest):
    name = "clone-test"
    about = "Clone and back up a replica while clones, backups and its daemon are killed."

    @classmethod
    def arguments(cls, parser):
        parser.add_argument("--rounds", type=int, default=int(os.environ.get("ROUNDS") or 12))

    def reproduce(self):
        return f"make campaign NAME=clone-test SEED={self.seed} ROUNDS={self.options.rounds}"

    def prepare(self):
        rounds = self.options.rounds
        self.floors = {"clones": rounds, "killed clones": rounds, "killed backups": 1, "backups": rounds}
        self.progress = threading.Condition()
        self.names, self.authors, self.origins = {}, [], set()
        self.original = Replica(self, "a")
        self.original.make(rows=20)
        db = sqlite3.connect(self.original.path)
        db.execute("CREATE TABLE bulk (id INTEGER PRIMARY KEY, data BLOB NOT NULL)")
        db.executemany("INSERT INTO bulk VALUES (?, ?)", [(n, os.urandom(1000)) for n in range(MEGABYTES * 500)])
        db.commit()
        db.close()
        self.command("init", self.original.path, "--foreign-keys", "enforce")
        self.replicas = [self.original]
        self.original.peers = []
        self.begin(self.original)

    def run(self):
        for number in range(self.options.rounds):
            self.write([self.original])
            self.back_up_and_kill(number)
            clone = self.clone_and_kill(number)
            clone.peers = [self.original]
            self.begin(clone, write_first=self.rng.random() < 0.5)
            self.write([self.original, clone])
            self.quiet([self.original, clone])
            clone.writer.stop()
            clone.daemon.stop()
            self.names_of(clone)
            self.count("clones")
            self.note(f"{self.counts['clones']} clones, {self.counts.get('killed clones', 0)} killed")

    def killed(self, arguments, most=0.4):
        """Runs `syncd` for a random part of `most` seconds, and kills it. Returns true when it had ended by itself."""
        process = self.start(
            [self.syncd, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(self.rng.random() ** 2 * most)
            return True
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return False

    def clone_and_kill(self, number):
        clone = Replica(self, f"c{number}")
        arguments = ["clone", self.original.url, clone.path, "--token-file", self.token_file]
        kills = 0
        while kills < self.rng.randint(1, 4) and not os.path.exists(clone.path):
            self.killed(arguments)
            kills += 1
            self.count("killed clones")
            if self.rng.random() < 0.3:
                self.restart()
            partial = clone.path + "-partial"
            if self.rng.random() < 0.3 and os.path.exists(partial) and os.path.getsize(partial):
                with open(partial, "r+b") as file:
                    file.seek(self.rng.randrange(os.path.getsize(partial)))
                    file.write(b"damaged")
                self.count("damaged")
        if not os.path.exists(clone.path):
            report = json.loads(self.command(*arguments, "--json").stdout)
            self.expect(report["origin"] not in self.origins, "two clones have one identity")
            if report["fetched_bytes"] < report["bytes"]:
                self.count("resumed")
        identity = json.loads(self.command("status", clone.path, "--json").stdout)
        self.origins.add(identity["origin"])
        self.expect(not os.path.exists(clone.path + "-partial"), "an unfinished file is left beside a clone")
        self.expect(identity["origin"] not in identity["vector"], "a clone sends what it was given a second time")
        self.whole(clone.path)
        return clone

    def back_up_and_kill(self, number):
        usual = None
        for attempt in range(3):
            path = os.path.join(self.directory, f"backup{number}.{attempt}")
            if usual is None:
                # One runs to its end: how long the others may run depends on the machine.
                began = time.monotonic()
                self.command("backup", self.original.path, path)
                usual = time.monotonic() - began
                ended = True
            else:
                ended = self.killed(["backup", self.original.path, path], most=usual * 1.5)
            self.count("backups" if ended else "killed backups")
            if os.path.exists(path):
                self.whole(path)
                os.unlink(path)
            elif ended:
                raise Failed("a backup that ended has left no file")
            for suffix in ("-partial", "-partial-journal"):
                if os.path.exists(path + suffix):
                    os.unlink(path + suffix)

    def restart(self):
        self.original.daemon.kill()
        self.count("kills")
        self.original.start().wait_until_listening()
        deadline = time.monotonic() + 10
        while any("-snapshot-" in name for name in os.listdir(self.directory)):
            self.expect(time.monotonic() < deadline, "an unfinished copy of a killed daemon is left")
            time.sleep(0.05)

    def whole(self, path):
        db = sqlite3.connect(path)
        try:
            self.expect(db.execute("PRAGMA integrity_check").fetchall() == [("ok",)], f"{path} is damaged")
            self.expect(db.execute("SELECT count(*) FROM bulk").fetchone() == (MEGABYTES * 500,), f"{path} lacks rows")
        finally:
            db.close()
