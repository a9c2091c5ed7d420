"""Files that are restored from backups or copied under daemons that are killed (F27, F28).

Three replicas have daemons and writers. In each round the seed picks one of them:

  restored  The replica is killed and gets back the files that it had some rounds ago: over its own files or
            as new ones, with the record of what was published or without. A program writes to it before its
            daemon starts or only afterwards. It then runs on.
  cloned    The replica is copied to a second file, which gets a daemon and a writer of its own. Both run on,
            with the same origin.

Then the writers stop, and these must hold: the vectors become equal; rows are equal on all replicas;
everything that was acknowledged and had reached a peer is there, also from the time after the backup; a
write afterwards reaches every replica; and no (origin, version) names two contents in the whole run (P14,
P15).
"""

import hashlib
import json
import os
import shutil
import threading

from campaign import EQUAL, Campaign, Failed
from replicas import Replica, check_equal, wait_until_equal
from writers import PythonWriter, written_rows

SUFFIXES = ("", "-wal")


class CopyTest(Campaign):
    name = "copy-test"
    about = "Restore and copy files under daemons that are killed."

    @classmethod
    def arguments(cls, parser):
        parser.add_argument("--rounds", type=int, default=int(os.environ.get("ROUNDS") or 20))

    def reproduce(self):
        return f"make campaign NAME=copy-test SEED={self.seed} ROUNDS={self.options.rounds}"

    def prepare(self):
        self.floors = {"rounds": self.options.rounds, "named versions": 100}
        self.progress = threading.Condition()
        self.names, self.authors, self.backups = {}, [], []
        self.replicas = [Replica(self, name) for name in "abc"]
        for replica in self.replicas:
            replica.make(rows=20 if replica.name == "a" else 0)
            self.command("init", replica.path, "--foreign-keys", "enforce")
        for replica in self.replicas:
            replica.peers = [other for other in self.replicas if other is not replica]
        for replica in self.replicas:
            self.begin(replica)
        self.quiet(self.replicas)

    def begin(self, replica, write_first=False):
        if write_first:
            self.start_writer(replica)
            self.write([replica])
        replica.start().wait_until_listening()
        if not write_first:
            self.start_writer(replica)

    def start_writer(self, replica):
        replica.writer = PythonWriter(
            replica, f"{replica.name}{len(self.authors)}", self.rng.getrandbits(32), self.progress)
        self.authors.append(replica.writer.author)

    def write(self, replicas):
        for replica in replicas:
            replica.writer.order(self.rng.randint(2, 10))
        with self.progress:
            for replica in replicas:
                while replica.writer.owed:
                    if replica.writer.finished.is_set():
                        raise Failed(f"writer {replica.writer.author.name} ended by itself")
                    self.progress.wait(1)

    def run(self):
        for _ in range(self.options.rounds):
            self.write(self.replicas)
            if self.rng.random() < 0.5 or not self.backups:
                self.back_up(self.rng.choice(self.replicas))
            if self.rng.random() < 0.5:
                self.quiet(self.replicas)
            if self.rng.random() < 0.6:
                self.restore()
            else:
                self.clone()
            self.count("rounds")
            self.note(f"{self.counts['rounds']} rounds, {len(self.names)} versions, {sum(a.acknowledged for a in self.authors)} transactions")
        self.counts["named versions"] = len(self.names)
        self.counts["acknowledged"] = sum(author.acknowledged for author in self.authors)

    def files(self, replica, suffixes):
        return [replica.path + suffix for suffix in suffixes if os.path.exists(replica.path + suffix)]

    def stop_all_of(self, replica):
        """Kills daemon and writer, so that nobody has the file open."""
        replica.writer.kill()
        replica.daemon.kill()
        self.count("kills", 2)

    def back_up(self, replica):
        """Copies the files, as an operator does while nobody has them open."""
        self.stop_all_of(replica)
        record = self.rng.random() < 0.3
        content = {}
        for suffix in SUFFIXES + (("-identity",) if record else ()):
            if os.path.exists(replica.path + suffix):
                with open(replica.path + suffix, "rb") as file:
                    content[suffix] = file.read()
        self.backups.append((replica, content))
        self.begin(replica)

    def restore(self):
        replica, content = self.rng.choice(self.backups[-4:])
        self.stop_all_of(replica)
        # What no peer has is lost with the file.
        replica.writer.author.doubt()
        for author in self.authors:
            if author.name.startswith(replica.name):
                author.doubt()
        anew = self.rng.random() < 0.5
        for path in self.files(replica, ("-wal", "-shm")) + (self.files(replica, ("",)) if anew else []):
            os.unlink(path)
        for suffix, data in content.items():
            with open(os.open(replica.path + suffix, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
                file.write(data)
                file.truncate()
        self.count("restores")
        self.begin(replica, write_first=self.rng.random() < 0.5)
        self.write(self.replicas)
        self.quiet(self.replicas)

    def clone(self):
        original = self.rng.choice(self.replicas)
        self.stop_all_of(original)
        copy = Replica(self, f"d{self.counts.get('clones', 0)}")
        for path in self.files(original, SUFFIXES + (("-identity",) if self.rng.random() < 0.5 else ())):
            shutil.copy(path, copy.path + path[len(original.path):])
        copy.peers = [self.rng.choice(self.replicas)]
        self.count("clones")
        both = [original, copy]
        self.rng.shuffle(both)
        for replica in both:
            self.begin(replica, write_first=self.rng.random() < 0.5)
        self.write([*self.replicas, copy])
        self.quiet([*self.replicas, copy])
        copy.writer.stop()
        copy.daemon.stop()
        self.names_of(copy)

    def quiet(self, replicas):
        wait_until_equal(replicas)
        rows = written_rows(check_equal(replicas, verify=False))
        self.command("verify", replicas[0].path, replicas[-1].path, status=EQUAL)
        expected = sum(author.check(rows) for author in self.authors)
        self.expect(len(rows) == expected, "rows are there that nobody wrote")
        for author in self.authors:
            author.settle(rows)
        for replica in replicas:
            self.names_of(replica)
        self.count("checks")

    def names_of(self, replica):
        """Checks that no name has two contents."""
        for line in self.command("log", replica.path, "--json").stdout.splitlines():
            entry = json.loads(line)
            name = (entry["origin"], entry["version"])
            content = json.dumps([entry[field] for field in ("table", "op", "key", "columns", "stamp", "life")], sort_keys=True)
            digest = hashlib.sha256(content.encode()).digest()
            if self.names.setdefault(name, digest) != digest:
                raise Failed(f"version {name[1]} of {name[0]} has two contents")

    def finish(self):
        for replica in self.replicas:
            replica.writer.stop()
            replica.daemon.stop()
