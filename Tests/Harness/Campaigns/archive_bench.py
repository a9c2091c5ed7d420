"""What an archive costs: pushes, clones, packs, the time until others have a change, and a hub. A replica over HTTP and
`cp` are beside it.

  push     A replica sends all of its changes: changes a second of processor time.
  bytes    What packs of 1 000 changes take in the archive.
  clone    A clone of the newest snapshot, against copying a file of that size, and against fetching the stored bytes.
  latency  From the commit of a row until a program of the other machine sees it. Both know the archive alone.
  hub      Many followers of two hubs, one of which is killed every few seconds, while writers commit: from the time
           before a commit until a follower has the change.

Archives are a directory and, with the engine `seaweedfs`, a bucket of SeaweedFS. A figure may miss its goal. The campaign
fails at four times the goal, or when a follower of hubs does not get everything.
"""

import glob
import hashlib
import json
import os
import re
import shutil
import statistics
import subprocess
import time

from archives import Hub
from bench import PERSON, Bench, Commits
from campaign import Failed
from proxy import Proxies
from replicas import Replica
from seaweedfs import SeaweedFS
from stores import ACCESS_KEY, BUCKET, CREDENTIALS, SECRET_KEY, StoreError

PARTS = ("push", "bytes", "clone", "latency", "hub")
# Rows of a pack.
PACK = 1_000
PACKS = 20


class ArchiveBench(Bench):
    name = "archive-bench"
    about = "Measure archives: pushes, packs, clones, the time until others have a change, hubs."
    programs = ("syncd", "hub-followers")
    parts = PARTS
    title = "archives"
    # Of the servers of archives and hubs, as `Hub` asks for it: these have no TLS.
    authority = ()

    @classmethod
    def arguments(cls, parser):
        quick = bool(os.environ.get("QUICK"))
        parser.add_argument("--part", choices=PARTS, default=os.environ.get("PART") or None)
        parser.add_argument("--engine", choices=("seaweedfs", "dir"), default=os.environ.get("ENGINE") or "seaweedfs")
        parser.add_argument("--rows", type=int, default=100_000 if quick else 1_000_000, help="of push")
        parser.add_argument("--clone-rows", type=int, default=400_000 if quick else 1_000_000)
        parser.add_argument("--clones", type=int, default=1 if quick else 3, help="of each kind")
        parser.add_argument("--samples", type=int, default=10 if quick else 40, help="of latency, for each way")
        parser.add_argument("--followers", type=int, default=100 if quick else 300)
        parser.add_argument("--writers", type=int, default=2)
        parser.add_argument("--writes", type=int, default=400 if quick else 1_000, help="transactions a second in all")
        parser.add_argument("--seconds", type=float, default=15 if quick else 60, help="of hub")
        parser.add_argument("--kill-every", type=float, default=5, help="seconds between kills of a hub; 0 for none")

    def reproduce(self):
        return "make bench ONLY=archive"

    def prepare(self):
        self.server = None
        if self.options.engine == "dir" or self.options.part in ("bytes", "hub"):
            return
        self.environment.update(CREDENTIALS)
        self.secrets.append(SECRET_KEY)
        directory = os.path.join(self.directory, "store")
        os.makedirs(directory)
        try:
            self.server = SeaweedFS(directory, self.start)
            self.server.start()
        except StoreError as error:
            raise Failed(f"{error} (--engine dir needs no server)")
        self.server.make_bucket()

    def finish(self):
        if self.server:
            self.server.end()

    def archives(self, name):
        """Addresses of new archives, by what they are."""
        found = {"a directory": self.folder(name)}
        if self.server:
            found[self.server.name] = self.server.address(name)
        return found

    def folder(self, name):
        """Makes a directory for an archive, and returns the archive's address."""
        path = os.path.join(self.directory, name)
        os.mkdir(path)
        return f"file://{path}"

    # --- The parts ------------------------------------------------------------------------------------------------

    def push(self):
        source, rows = self.replica("push"), self.options.rows
        db = self.writer(source)
        self.fill(db, "item", ((f"{row * 2654435761 % (1 << 32):08x}-{row}", row, "some text") for row in range(rows)))
        db.close()
        self.bring_up_to_date(source)
        peer = self.replica("push-peer")
        peer.start().wait_until_listening()
        ways = {what: (address,) for what, address in self.archives("pushed").items()}
        ways["a replica over HTTP"] = (peer.url, "--token-file", self.token_file)
        for what, arguments in ways.items():
            began = time.monotonic()
            used = self.measured("sync", source.path, *arguments)[1]
            seconds = used.ru_utime + used.ru_stime
            self.note(f"{what}: {time.monotonic() - began:.1f} s, {seconds:.1f} s of processor time")
            self.figure(f"push of {rows} changes to {what}: changes a second of processor time", rows / seconds,
                        None if arguments[0] == peer.url else 100_000, "", is_least=True)
        peer.daemon.stop()

    def bytes(self):
        for kind in ("TEXT", "INTEGER"):
            replica, address = Replica(self, f"bytes-{kind.lower()}"), self.folder(f"packs-{kind.lower()}")
            self.make(replica, PERSON.format(key=kind))
            self.command("init", replica.path)
            db, number = self.writer(replica), 0
            before = 0
            for statement in ("INSERT", "UPDATE"):
                for _ in range(PACKS):
                    if statement == "INSERT":
                        keys = range(number + 1, number + PACK + 1) if kind == "INTEGER" else [
                            f"{self.rng.getrandbits(128):032x}" for _ in range(PACK)]
                        self.fill(db, "person", (self.person(key, self.rng) for key in keys))
                    else:
                        db.execute("UPDATE person SET age = age + 1 WHERE rowid > ? AND rowid <= ?",
                                   (number % (PACKS * PACK), number % (PACKS * PACK) + PACK))
                    number += PACK
                    self.command("sync", replica.path, address)
                stored = self.packs(address)
                self.expect(stored[1] == (1 if before == 0 else 2) * PACKS, f"{stored[1]} packs")
                what = "inserts of 6 columns" if statement == "INSERT" else "updates of a column"
                self.figure(f"packs of {PACK} {what}, {kind.lower()} keys: bytes a change",
                            (stored[0] - before) / (PACKS * PACK), 45, "")
                before = stored[0]
            db.close()

    def clone(self):
        source = self.wide(self.options.clone_rows)
        addresses, copies = self.archives("cloned"), {what: [] for what in ("cp", "fetch")}
        clones = {what: [] for what in addresses}
        for address in addresses.values():
            self.command("store", "snapshot", source.path, address)
        # In turns, so that other work on the machine slows all of them down.
        for _ in range(self.options.clones):
            copies["cp"].append(self.copy(source.path))
            for what, address in addresses.items():
                clones[what].append(self.cloned(address))
            if self.server:
                copies["fetch"].append(self.fetch("cloned"))
        plain = statistics.median(copies["cp"])
        self.note(f"cp and sync of {os.path.getsize(source.path)} bytes: {plain:.2f} s")
        for what, found in clones.items():
            seconds = statistics.median(one[0] for one in found)
            self.note(f"clone from {what}: {seconds:.2f} s")
            name = f"clone of {self.options.clone_rows} rows of 10 columns from {what}"
            self.figure(f"{name}, against cp and sync of the file: wall time", seconds / plain, 2, "")
            if what != "a directory":
                fetched = statistics.median(copies["fetch"])
                self.note(f"curl fetches the stored bytes in {fetched:.2f} s")
                self.figure(f"{name}, against fetching the stored bytes: wall time", seconds / fetched, 2, "", fails=False)
            self.figure(f"{name}: most memory resident", max(one[1] for one in found), 64, "MiB")

    def latency(self):
        ways = self.archives("shared")
        ways["a replica over HTTP"] = None
        for number, (what, address) in enumerate(ways.items()):
            first, second = self.replica(f"latency{number}-1"), self.replica(f"latency{number}-2")
            first.peers, second.peers = ([address], [address]) if address else ([], [first])
            for replica in (first, second):
                replica.start().wait_until_listening()
            waits = self.waits(first, second)
            for replica in (second, first):
                replica.daemon.stop()
            self.note(f"{what}: {self.percentile(waits, 0):.0f} to {self.percentile(waits, 1):.0f} ms")
            self.figure(f"from a commit until a program of another machine sees it, through {what}: p50",
                        self.percentile(waits, 0.5), 2_000 if address else None, "ms")

    def hub(self):
        address, hubs = self.folder("hubs"), []
        for name in ("hub0", "hub1"):
            hubs.append(Hub(self, name, address, lambda name=name: [hub for hub in hubs if hub.name != name]))
        # All followers have one address here.
        for hub in hubs:
            hub.arguments = ("--requests-per-second", "1000000")
            hub.start()
        for hub in hubs:
            hub.wait_until_listening()
        proxies = Proxies()
        balancer = f"http://127.0.0.1:{proxies.add(*((hub.host, hub.port) for hub in hubs)).port}"
        replicas = []
        for number in range(self.options.writers):
            replicas.append(self.replica(f"writer{number}", balancer))
            # The first one makes the archive, whose cluster the others take.
            replicas[-1].start().wait_until_listening()
            self.until(lambda: replicas[-1].status()["peers"][0]["last_contact"], 60, "a writer does not reach a hub")
        cluster = replicas[0].status()["cluster"]
        followers = self.start(
            [self.options.hub_followers, str(self.options.followers), cluster, self.token_file, *(hub.url for hub in hubs)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.expect(followers.stdout.readline() == "ready\n", "the followers do not begin")
        before = [self.used(process.pid)[0] for process in [followers, *(r.daemon.process for r in replicas)]]
        writers = [
            Commits(replica.path, self.options.writes / len(replicas), "INSERT INTO item VALUES (?, ?, 'some text')",
                    lambda row, name=replica.name: (f"{name}-{row}", time.time_ns() // 1_000_000))
            for replica in replicas]
        for writer in writers:
            writer.start()
        began, kills = time.monotonic(), 0
        while (left := began + self.options.seconds - time.monotonic()) > 0:
            time.sleep(min(left, self.options.kill_every or left))
            if self.options.kill_every and time.monotonic() < began + self.options.seconds:
                hubs[kills % 2].kill()
                hubs[kills % 2].start()
                kills += 1
        for writer in writers:
            writer.stop()
        seconds = time.monotonic() - began
        written = sum(writer.written for writer in writers)
        hubs_used = [self.used(hub.process.pid)[0] for hub in hubs]
        used = [self.used(process.pid)[0] for process in [followers, *(r.daemon.process for r in replicas)]]
        followers.stdin.write(f"{written}\n")
        followers.stdin.flush()
        figures = json.loads(followers.stdout.readline() or "{}")
        self.expect(followers.wait() == 0, f"a follower has {figures.get('least')} of {written} changes")
        self.count("kills of a hub", kills)
        self.count("changes", written)
        spent = [after - once for once, after in zip(before, used)]
        self.note(f"{written / seconds:.0f} transactions a second, {kills} kills; {figures}; processor time of the followers "
                  f"{spent[0] / seconds:.2f}, of the writers' daemons {sum(spent[1:]) / seconds:.2f}, of the hubs since their last start {hubs_used} s")
        what = (f"{self.options.followers} followers of two hubs, {written / seconds:.0f} transactions a second in all, "
                f"{kills} kills in {seconds:.0f} s")
        self.figure(f"{what}: p50", figures["p50"], 300, "ms")
        self.figure(f"{what}: p99", figures["p99"], None, "ms")
        for replica in replicas:
            replica.daemon.stop()
        for hub in hubs:
            hub.stop()
        proxies.close()

    # --- Measuring ------------------------------------------------------------------------------------------------

    def until(self, condition, seconds, failure):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise Failed(f"{failure} within {seconds} s")
            time.sleep(0.02)

    @staticmethod
    def packs(address):
        """Returns the bytes of all packs of an archive in a directory, and how many there are."""
        files = [path for path in glob.glob(address.removeprefix("file://") + "/1/w/**", recursive=True) if os.path.isfile(path)]
        return sum(os.path.getsize(path) for path in files), len(files)

    def copy(self, path):
        """Returns the seconds that a copy of the file takes until it is on the disk."""
        copied, began = os.path.join(self.directory, "copied.sqlite"), time.monotonic()
        shutil.copyfile(path, copied)
        file = os.open(copied, os.O_RDONLY)
        os.fsync(file)
        os.close(file)
        seconds = time.monotonic() - began
        os.unlink(copied)
        return seconds

    def fetch(self, name):
        """Returns the seconds that curl needs for all parts of a bucket's snapshots."""
        listing = self.curl(f"{BUCKET}?list-type=2&prefix={name}%2F1%2Fs%2F")
        keys = re.findall("<Key>(.*?)</Key>", listing.decode())
        self.expect(keys, "the bucket has no parts of a snapshot")
        began = time.monotonic()
        self.curl(*(f"{BUCKET}/{key}" for key in keys))
        return time.monotonic() - began

    def curl(self, *paths):
        """Returns what the server answers, one after the other."""
        return subprocess.run(
            ["curl", "--silent", "--show-error", "--fail", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"{ACCESS_KEY}:{SECRET_KEY}",
             "--header", f"x-amz-content-sha256: {hashlib.sha256(b'').hexdigest()}",
             *(f"{self.server.url()}/{path}" for path in paths)], check=True, capture_output=True).stdout

    def waits(self, first, second):
        """Returns, for each sample, the seconds from a commit until the other file has it."""
        writer, reader, waits = self.writer(first), second.connect(), []
        for number in range(self.options.samples + 1):
            key = f"sample{number}"
            writer.execute("INSERT INTO item VALUES (?, 1, 'some text')", (key,))
            began = time.monotonic()
            self.until(lambda: reader.execute("SELECT 1 FROM item WHERE id = ?", (key,)).fetchone(), 60,
                       "a change does not arrive")
            waits.append(time.monotonic() - began)
            # Apart from the rhythm of packs and looks.
            time.sleep(self.rng.uniform(0.2, 1.7))
        writer.close()
        reader.close()
        # The first one waits for the connection.
        return waits[1:]
