"""Replicas that share an archive on a real object store, while everything is killed and every answer may fail.

Half of the replicas know the archive alone. The others know one address, behind which two hubs serve the archive. The
seed picks what is killed and when: daemons, hubs, the gateway that speaks S3, and the store behind it. Everything reaches the
store through proxies, by which answers come late or slowly, are cut, reset, changed or lost, or are a 503. The clocks of
two replicas are a minute wrong, where libfaketime is installed.

At times all faults end, and these must hold: the vectors become equal; rows are equal on all replicas; everything that
was acknowledged is there, and nothing else. At the end the archive is whole and has its changes two and a half times at
most; a replica that is made from it has all rows; and a collection that is cut off removes what it may and nothing else.

With the engine `dir` the archive is a directory, and only daemons and hubs are killed. With `ceph` the store is one of three
OSDs.
"""

import json
import os
import random
import subprocess
import threading
import time

from campaign import EQUAL, Campaign, Failed
from engines import ENGINES
from proxy import Proxies
from replicas import Daemon, Replica, check_equal, content, free_port, wait_until_equal, with_clock
from stores import CREDENTIALS, SECRET_KEY, StoreError
from writers import PythonWriter, written_rows

# Of the faults of one connection, by how often they come.
FAULTS = {"delay": 4, "slow": 1, "cut": 3, "reset": 3, "flip": 2, "swallow": 1, "half-open": 1, "unavailable": 6}
SETTLE_SECONDS = 480
KILLS_A_ROUND = 25
CLOCKS = {1: "+60s", 6: "-60s"}


class Hub(Daemon):
    """A hub, which has no file."""

    def __init__(self, campaign, name, address, others):
        self.campaign, self.name, self.host, self.port = campaign, name, "127.0.0.1", free_port()
        self.url = f"http://{self.host}:{self.port}"
        self.address, self.others = address, others
        self.path_of_log = os.path.join(campaign.directory, f"{name}.log")
        # Further ones of its command line.
        self.arguments = ()

    def start(self):
        line = [self.campaign.syncd, "hub", "--store", self.address, "--listen", f"{self.host}:{self.port}",
                "--token-file", self.campaign.token_file, "--log-level", "warning", *self.campaign.authority, *self.arguments]
        for other in self.others():
            line += ["--peer", other.url]
        self.replica = self
        self.log = open(self.path_of_log, "ab")
        self.is_listening = False
        self.process = self.campaign.start(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log)
        return self


class ArchiveTest(Campaign):
    name = "archive-test"
    about = "Kill replicas, hubs, an object store and its gateway, while answers of the store fail."

    @classmethod
    def arguments(cls, parser):
        parser.add_argument("--engine", choices=sorted(ENGINES), default=os.environ.get("ENGINE") or "seaweedfs")
        parser.add_argument("--replicas", type=int, default=int(os.environ.get("REPLICAS") or 8))
        parser.add_argument("--kills", type=int, default=int(os.environ.get("KILLS") or 50))
        parser.add_argument("--store-kills", type=int, default=3, help="of them, kills of the store; each costs 20 seconds")

    def reproduce(self):
        return f"make campaign NAME={self.name} ENGINE={self.options.engine} SEED={self.seed} KILLS={self.options.kills}"

    # --- The parts ------------------------------------------------------------------------------------------------

    def prepare(self):
        self.progress = threading.Condition()
        self.environment.update(CREDENTIALS)
        self.secrets.append(SECRET_KEY)
        self.proxies, self.fault_rate = Proxies(), 0.0
        # Drawn by the thread of the proxies, apart from everything else.
        self.random, self.faults = random.Random(self.seed + 1), {}
        self.server = self.start_server()
        self.hubs = []
        for name in ("hub0", "hub1"):
            self.hubs.append(Hub(self, name, self.address(), lambda name=name: [hub for hub in self.hubs if hub.name != name]))
        for hub in self.hubs:
            hub.start()
        for hub in self.hubs:
            hub.wait_until_listening()
        # A replica that names two hubs sends its changes to both, and they are stored twice.
        balancer = f"http://127.0.0.1:{self.proxies.add(*((hub.host, hub.port) for hub in self.hubs)).port}"
        self.replicas = [Replica(self, f"r{number}") for number in range(self.options.replicas)]
        for number, replica in enumerate(self.replicas):
            replica.make(rows=20 if number == 0 else 0)
            self.command("init", replica.path, "--cluster", "archive-test", "--foreign-keys", "enforce")
            replica.peers = [balancer] if number % 2 else [self.address()]
            if number in CLOCKS:
                replica.wrapper = with_clock(CLOCKS[number], self)
                self.count("wrong clocks", bool(replica.wrapper))
        for replica in self.replicas:
            replica.start(arguments=self.authority)
        for replica in self.replicas:
            replica.daemon.wait_until_listening()
            replica.writer = PythonWriter(replica, replica.name, self.rng.getrandbits(32), self.progress)
        self.settle()

    def start_server(self):
        """Starts the server; None for an archive in a directory."""
        directory = os.path.join(self.directory, "store")
        os.makedirs(directory)
        if not ENGINES[self.options.engine]:
            return None
        try:
            server = ENGINES[self.options.engine](directory, self.start)
            server.start()
        except StoreError as error:
            raise Failed(str(error))
        server.make_bucket()
        return server

    def address(self):
        """The archive, for one caller: through a proxy of its own."""
        if not self.server:
            return f"file://{self.directory}/store"
        proxy = self.proxies.add(("127.0.0.1", self.server.port), plan=self.plan)
        return self.server.address("fleet", proxy.port)

    @property
    def authority(self):
        return ["--tls-ca", self.server.authority] if self.server and self.server.authority else []

    def plan(self):
        """What a new connection to the store suffers. Called by the thread of the proxies."""
        if not self.server.bears_faults or self.random.random() >= self.fault_rate:
            return None
        kind = self.random.choices(list(FAULTS), FAULTS.values())[0]
        fault = {"kind": kind, "way": self.random.choice(("up", "down")), "at": self.random.randrange(4096)}
        fault |= {"delay": {"seconds": self.random.uniform(0.05, 1), "way": "up"}, "slow": {"rate": 8000}, "swallow": {"way": "down"},
                  "half-open": {"seconds": self.random.uniform(0.5, 3)}, "flip": {"bit": self.random.randrange(8), "way": "down"}}.get(kind, {})
        self.faults[kind] = self.faults.get(kind, 0) + 1
        return fault

    # --- Rounds ---------------------------------------------------------------------------------------------------

    def run(self):
        number = 0
        while number < self.options.kills:
            self.fault_rate = self.rng.choice((0.05, 0.2, 0.4))
            for _ in range(min(KILLS_A_ROUND, self.options.kills - number)):
                self.write()
                number += 1
                self.kill(number)
            self.settle()
            self.note(f"{number} kills, {self.counts['acknowledged']} transactions, {sum(self.faults.values())} faults of connections")

    def write(self):
        for replica in self.replicas:
            replica.writer.order(self.rng.randint(1, 6))
        # A part of the transactions is under way when something is killed.
        with self.progress:
            self.progress.wait(self.rng.uniform(0, 0.5))

    def kill(self, number):
        every = max(1, self.options.kills // max(1, self.options.store_kills))
        if self.can_kill_server and number % every == every // 2:
            self.kill_store()
            return
        gateway = self.server.gateway if self.can_kill_server else None
        kind = self.rng.choices(("replica", "hub", "gateway"), (5, 2, 2 if gateway else 0))[0]
        if kind == "gateway":
            return self.kill_server(gateway, kind)
        daemon = self.rng.choice(self.hubs if kind == "hub" else [replica.daemon for replica in self.replicas])
        daemon.kill()
        self.count(f"kills of a {kind}")
        again = daemon.start() if kind == "hub" else daemon.replica.start(arguments=self.authority)
        again.wait_until_listening()

    @property
    def can_kill_server(self):
        return bool(self.server) and self.server.is_durable

    def kill_store(self):
        self.kill_server(self.rng.choice(self.server.stores), "store")

    def kill_server(self, process, kind):
        """Kills a part of the server. Programs go on writing while it is away."""
        process.kill()
        self.count(f"kills of the {kind}")

    def settle(self):
        """Ends all faults, and checks that nothing is lost."""
        self.fault_rate = 0.0
        self.wait_until_serving()
        with self.progress:
            while any(replica.writer.owed for replica in self.replicas):
                for replica in self.replicas:
                    self.expect(not replica.writer.finished.is_set(), f"writer {replica.writer.author.name} ended by itself")
                self.progress.wait(1)
        # What the archive lacks because its writer is gone is written by another replica after one to two minutes.
        wait_until_equal(self.replicas, SETTLE_SECONDS)
        self.check_rows()

    def wait_until_serving(self):
        # A server that is never killed serves, and may be too busy to say so.
        if self.can_kill_server:
            try:
                self.server.wait_until_serving()
            except StoreError as error:
                raise Failed(str(error))

    def check_rows(self):
        rows = written_rows(check_equal(self.replicas, verify=False))
        self.command("verify", self.replicas[0].path, self.rng.choice(self.replicas[1:]).path, status=EQUAL)
        expected = sum(replica.writer.author.check(rows) for replica in self.replicas)
        self.expect(len(rows) == expected, "rows are there that nobody wrote")
        self.counts["acknowledged"] = sum(replica.writer.author.acknowledged for replica in self.replicas)
        self.count("checks")

    # --- The archive at the end -----------------------------------------------------------------------------------

    def finish(self):
        for replica in self.replicas:
            replica.writer.stop()
            replica.daemon.stop()
        for hub in self.hubs:
            hub.stop()
        self.counts["faults of connections"] = sum(self.faults.values())
        self.direct = self.server.address("fleet") if self.server else f"file://{self.directory}/store"
        for _ in range(2):
            for replica in self.replicas:
                self.archive("sync", replica.path, self.direct)
        self.check_stored()
        self.check_clone("new")
        self.collect()
        self.check_clone("newer")

    def archive(self, *arguments):
        return self.command(*arguments, *self.authority).stdout

    def check_stored(self):
        """The archive has each change, and few of them twice: those that took the way of two hubs, those that a hub or a
        replica had written when it was killed before it knew, and those that were missing for a minute."""
        status = json.loads(self.archive("store", "status", self.direct, "--json"))
        distinct = sum(status["vector"].values())
        stored = sum(stream["changes"] for stream in status["streams"])
        self.counts["changes stored"], self.counts["stored twice"] = distinct, stored - distinct
        self.counts["streams"] = len(status["streams"])
        self.expect(stored <= 2.5 * distinct, f"the archive stores {stored} changes for {distinct}")

    def check_clone(self, name):
        """A snapshot makes a new replica, which has all rows and is heard by the others."""
        self.archive("store", "snapshot", self.replicas[0].path, self.direct)
        report = json.loads(self.archive("store", "verify", self.direct, "--json"))
        self.expect(report["problems"] == [], f"the archive is not whole: {report['problems'][:3]}")
        new = Replica(self, name)
        self.archive("clone", self.direct, new.path)
        db = new.connect()
        db.execute("UPDATE shared SET a = ? WHERE id = 1", (name,))
        db.close()
        for replica in (new, self.replicas[0]):
            self.archive("sync", replica.path, self.direct)
        self.expect(content(new.path) == content(self.replicas[0].path), "a replica that was made from the archive has other rows")
        self.count("clones")

    def collect(self):
        """Removes all packs, because a snapshot and every replica has their changes. It is cut off once: by the death of
        a store and of its gateway, or of the collector."""
        for replica in self.replicas * 2:
            self.archive("sync", replica.path, self.direct)
        self.archive("store", "snapshot", self.replicas[0].path, self.direct)
        collect = ["store", "collect", self.direct, "--keep", "0s", "--apply", "--json", *self.authority]
        marked = json.loads(self.command(*collect).stdout)["marked"]["packs"]
        self.expect(marked > 0, "nothing can be collected")
        removing = self.start([self.syncd, *collect, "--grace", "0s"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(self.rng.uniform(0, 0.3))
        if self.can_kill_server:
            self.kill_store()
            if self.server.gateway:
                self.kill_server(self.server.gateway, "gateway")
            self.wait_until_serving()
        else:
            removing.kill()
        removing.wait()
        report = json.loads(self.command(*collect, "--grace", "0s").stdout)
        self.expect(not report["stays"], f"packs that were marked stay: {report}")
        left = json.loads(self.command(*collect, "--grace", "0s").stdout)
        self.expect(not left["removed"]["packs"] and not left["waiting"], f"a collection removed packs twice: {left}")
        self.count("packs collected", marked)
