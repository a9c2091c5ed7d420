"""Bad networks that cut, delay, lose, repeat and change bytes between real daemons (F23 to F26).

  bytes   A connection is reset (SO_LINGER 0) after every byte of one push, at the server, and after every
          byte of one pull, at the client. Nothing is applied in part, and the next exchange brings
          everything.
  faults  Three to five daemons and their writers, each daemon in a network namespace of its own. One fault
          follows another: partitions, one-way partitions, slow and lossy links by nftables and tbf; delays,
          cuts, resets, flipped bits, replays, lost answers and half-open connections by a proxy; daemons that
          are killed or stopped for a while. Writers are never refused. After every few faults all faults end,
          and the replicas become equal within a bound.

Namespaces are made by unshare(2) and have no names, so the kernel removes them with the processes in them.
That needs root.

`soak` runs the second part for any time. It runs in stretches, each with a seed of its own, and keeps their
sums in a file, so that it can be interrupted and continues with the next stretch.
"""

import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time

from campaign import EQUAL, LIBC, ROOT, Campaign, Failed
from proxy import Proxies, fault_of
from replicas import Replica, check_equal, content, wait_until_equal
from writers import PythonWriter, written_rows

CLONE_NEWNET = 0x40000000
HUB = "10.77.0.254"
HEAL_SECONDS = 120


class Node:
    """A network namespace with one address, held by a process that does nothing."""

    def __init__(self, campaign, number):
        self.campaign, self.number = campaign, number
        self.address = f"10.77.0.{number + 1}"
        self.holder = campaign.start(["unshare", "--net", "sleep", "infinity"], stdin=subprocess.DEVNULL)
        own = os.stat("/proc/self/ns/net").st_ino
        deadline = time.monotonic() + 20
        while os.stat(f"/proc/{self.holder.pid}/ns/net").st_ino == own:
            if time.monotonic() > deadline:
                raise Failed("a network namespace cannot be made")
            time.sleep(0.01)
        self.file = os.open(f"/proc/{self.holder.pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        outer, inner = f"hub{number}", f"node{number}"
        campaign.tool("ip", "link", "add", outer, "type", "veth", "peer", "name", inner)
        campaign.tool("ip", "link", "set", inner, "netns", str(self.holder.pid))
        campaign.tool("ip", "link", "set", outer, "master", "hub", "up")
        self.tool("ip", "link", "set", "lo", "up")
        self.tool("ip", "addr", "add", f"{self.address}/24", "dev", inner)
        self.tool("ip", "link", "set", inner, "up")
        self.device = inner

    def tool(self, *arguments, text=None):
        return self.campaign.tool("nsenter", "-t", str(self.holder.pid), "-n", *arguments, text=text)

    def enter(self):
        """Runs in a child, before its program."""
        if LIBC.setns(self.file, CLONE_NEWNET):
            os._exit(126)

    def drop_from(self, others, percent=100):
        """Drops packets that come from others."""
        rules = [f"ip saddr {other.address} " + ("" if percent == 100 else f"numgen random mod 100 < {percent} ") + "drop"
                 for other in others]
        self.tool("nft", "-f", "-", text="table inet faults {\n chain input {\n type filter hook input priority 0;\n "
                  + "\n ".join(rules) + "\n }\n}\n")

    def slow(self, rate):
        # One slow link may follow another before all faults end.
        self.tool("tc", "qdisc", "replace", "dev", self.device, "root", "tbf", "rate", rate, "burst", "4kb", "latency", "2s")

    def heal(self):
        self.tool("nft", "flush", "ruleset")
        self.campaign.tool("nsenter", "-t", str(self.holder.pid), "-n", "tc", "qdisc", "del", "dev", self.device, "root", status=None)


class Network(Campaign):
    """The common part of `network-test` and `soak`: daemons in namespaces, and faults."""

    @classmethod
    def refusal(cls, options):
        if getattr(options, "part", None) == "bytes":
            return None
        if os.geteuid() != 0:
            return "Network namespaces need root. As another user, run the part that does not need them: PART=bytes."
        missing = [name for name in ("ip", "tc", "nft", "nsenter", "unshare") if not shutil.which(name)]
        if missing:
            return f"These programs are missing: {' '.join(missing)}. On Debian: apt-get install nftables iproute2 util-linux"
        return None

    def tool(self, *arguments, text=None, status=0):
        process = self.start(list(arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        output, errors = process.communicate(text, timeout=60)
        if status is not None and process.returncode != status:
            raise Failed(f"{' '.join(arguments)} fails: {errors}")
        return output

    # --- Faults on a cluster --------------------------------------------------------------------------------------

    def build(self, rng):
        """Makes three to five replicas in namespaces around a hub, half of their links through proxies."""
        if LIBC.unshare(CLONE_NEWNET):
            raise Failed("a network namespace cannot be made")
        self.tool("ip", "link", "set", "lo", "up")
        self.tool("ip", "link", "add", "hub", "type", "bridge")
        self.tool("ip", "addr", "add", f"{HUB}/24", "dev", "hub")
        self.tool("ip", "link", "set", "hub", "up")
        self.progress = threading.Condition()
        number = self.options.replicas or rng.randint(3, 5)
        self.nodes = [Node(self, n) for n in range(number)]
        self.replicas = []
        for node in self.nodes:
            replica = Replica(self, f"n{node.number}", host=node.address, port=7707)
            replica.node = node
            replica.make(rows=20 if node.number == 0 else 0)
            self.command("init", replica.path, "--foreign-keys", "enforce")
            self.replicas.append(replica)
        self.proxies = Proxies(HUB)
        self.fault_rate = 0.0
        shape = rng.choice(("chain", "star", "ring", "mesh"))
        self.note(f"{shape} of {number}")
        for a, b in self.links(shape, number):
            # When a follows b, changes go both ways.
            if rng.random() < 0.5:
                proxy = self.proxies.add((self.replicas[b].host, 7707), plan=self.plan)
                self.replicas[a].peers.append(f"http://{HUB}:{proxy.port}")
            else:
                self.replicas[a].peers.append(self.replicas[b])
        self.stopped = set()
        self.writers = []
        for replica in self.replicas:
            self.start_daemon(replica)
        for replica in self.replicas:
            replica.daemon.wait_until_listening()
            self.writers.append(PythonWriter(replica, replica.name, rng.getrandbits(32), self.progress))

    @staticmethod
    def links(shape, number):
        if shape == "mesh":
            return [(a, b) for a in range(number) for b in range(number) if a != b]
        if shape == "star":
            return [(a, 0) for a in range(1, number)]
        chain = [(a, a - 1) for a in range(1, number)]
        return chain + [(0, number - 1)] if shape == "ring" else chain

    def start_daemon(self, replica):
        replica.start(before=replica.node.enter)

    def plan(self):
        """Decides on a new connection through a proxy; called on the proxies' thread."""
        if self.proxy_rng.random() >= self.fault_rate:
            return None
        fault = fault_of(self.proxy_rng)
        with self.progress:
            self.count("faults")
            self.count(f"{fault['kind']} (proxy)")
        return fault

    def count_fault(self, kind):
        with self.progress:
            self.count("faults")
            self.count(kind)

    def disturb(self, rng):
        """Starts one fault, which lasts for a while."""
        nodes = list(self.nodes)
        rng.shuffle(nodes)
        kind = rng.choice(("partition", "one-way partition", "isolated node", "slow link", "lossy link", "kill", "pause",
                           "bad connections", "bad connections"))
        self.count_fault(kind)
        half = max(1, len(nodes) // 2)
        if kind == "partition":
            for node in nodes[:half]:
                node.drop_from(nodes[half:])
            for node in nodes[half:]:
                node.drop_from(nodes[:half])
        elif kind == "one-way partition":
            for node in nodes[:half]:
                node.drop_from(nodes[half:])
        elif kind == "isolated node":
            nodes[0].drop_from([*nodes[1:], self])
        elif kind == "slow link":
            nodes[0].slow(rng.choice(("8kbit", "64kbit")))
        elif kind == "lossy link":
            for node in nodes[:2]:
                node.drop_from([*(other for other in nodes if other is not node), self], rng.choice((1, 10, 30)))
        elif kind == "kill":
            replica = rng.choice(self.replicas)
            if replica not in self.stopped:
                for _ in range(rng.choice((1, 2, 3))):
                    replica.daemon.kill()
                    self.count("kills")
                    self.start_daemon(replica)
                    time.sleep(rng.uniform(0.001, 0.02))
        elif kind == "pause":
            replica = rng.choice(self.replicas)
            os.kill(replica.daemon.process.pid, signal.SIGSTOP)
            self.stopped.add(replica)
        else:
            self.fault_rate = 0.5
            # Long polls must end before there are new connections. A kill ends them fastest.
            replica = rng.choice(self.replicas)
            if replica not in self.stopped:
                replica.daemon.kill()
                self.count("kills")
                self.start_daemon(replica)

    # The address of the hub, behind which the proxies are.
    address = HUB

    def heal(self):
        self.fault_rate = 0.0
        for node in self.nodes:
            node.heal()
        self.go_on()

    def go_on(self):
        for replica in self.stopped:
            os.kill(replica.daemon.process.pid, signal.SIGCONT)
        self.stopped.clear()

    def stretch(self, rng, seconds, faults):
        """Runs faults until the time is over and there were enough of them; then all faults end."""
        began = time.monotonic()
        longest = 0
        number = 0
        while time.monotonic() - began < seconds or self.counts.get("faults", 0) < faults:
            for _ in range(rng.randint(1, 3)):
                self.disturb(rng)
            for writer in self.writers:
                writer.order(rng.randint(5, 40))
            time.sleep(rng.uniform(0.5, 4))
            # A daemon that is stopped inside a commit holds SQLite's lock, so writers wait for it.
            self.go_on()
            # The network itself never makes a writer wait.
            self.wait_for_writers()
            number += 1
            if number % 4 == 0:
                longest = max(longest, self.settle())
                self.note(f"{self.counts['faults']} faults, {self.acknowledged()} transactions acknowledged, replicas equal")
            elif rng.random() < 0.5:
                self.heal()
        longest = max(longest, self.settle())
        self.counts["longest way back in ms"] = max(self.counts.get("longest way back in ms", 0), int(longest * 1000))

    def wait_for_writers(self):
        deadline = time.monotonic() + 60
        with self.progress:
            while any(writer.owed for writer in self.writers):
                for writer in self.writers:
                    if writer.finished.is_set():
                        raise Failed(f"writer {writer.author.name} ended by itself")
                if time.monotonic() > deadline:
                    raise Failed("a writer is kept waiting for the network")
                self.progress.wait(1)

    def acknowledged(self):
        return sum(writer.author.acknowledged for writer in self.writers)

    def settle(self):
        self.heal()
        for replica in self.replicas:
            replica.daemon.wait_until_listening()
        took = self.wait_until_equal()
        rows = written_rows(check_equal(self.replicas, verify=False))
        self.command("verify", self.replicas[0].path, self.replicas[-1].path, status=EQUAL)
        expected = sum(writer.author.check(rows) for writer in self.writers)
        self.expect(len(rows) == expected, "rows are there that nobody wrote")
        self.count("checks")
        return took

    def wait_until_equal(self):
        """Waits longer than usual: a daemon notices half-open connections late, so its answers may be late."""
        began = time.monotonic()
        while True:
            try:
                return wait_until_equal(self.replicas, HEAL_SECONDS)
            except Failed as error:
                if "does not answer" not in str(error) or time.monotonic() - began > HEAL_SECONDS:
                    raise
                time.sleep(0.5)

    def take_down(self):
        for writer in self.writers:
            writer.stop()
        for replica in self.replicas:
            replica.daemon.stop()
        self.proxies.close()
        for node in self.nodes:
            os.close(node.file)
            node.holder.kill()
            node.holder.wait()


class NetworkTest(Network):
    name = "network-test"
    about = "Partitions, slow, lossy and falsifying networks between real daemons."

    @classmethod
    def arguments(cls, parser):
        parser.add_argument("--part", choices=("bytes", "faults"), default=os.environ.get("PART") or None)
        parser.add_argument("--seconds", type=float, default=float(os.environ.get("DURATION") or 600))
        parser.add_argument("--faults", type=int, default=int(os.environ.get("FAULTS") or 120))
        parser.add_argument("--replicas", type=int, default=int(os.environ.get("REPLICAS") or 0))
        parser.add_argument("--stride", type=int, default=int(os.environ.get("STRIDE") or 1), help="every so many bytes of a pull")

    def reproduce(self):
        return (f"make campaign NAME=network-test SEED={self.seed} DURATION={self.options.seconds:.0f} FAULTS={self.options.faults}"
                + (f" PART={self.options.part}" if self.options.part else ""))

    def run(self):
        self.proxy_rng = random.Random(f"{self.seed} proxies")
        if self.options.part in (None, "bytes"):
            self.bytes_of_push()
            self.bytes_of_pull()
        if self.options.part in (None, "faults"):
            self.build(self.rng)
            self.stretch(self.rng, self.options.seconds, self.options.faults)
            self.counts["acknowledged"] = self.acknowledged()
            self.take_down()
            self.floors["faults"] = self.options.faults

    def pair(self, name):
        first, second = Replica(self, f"{name}1"), Replica(self, f"{name}2")
        first.make(rows=5)
        second.make(rows=0)
        for replica in (first, second):
            self.command("init", replica.path, "--foreign-keys", "enforce")
        second.start().wait_until_listening()
        return first, second

    def insert(self, replica, key):
        db = replica.connect()
        db.execute("BEGIN IMMEDIATE")
        for n in range(3):
            db.execute("INSERT INTO account VALUES (?, 1, ?, NULL, 1)", (f"{self.canary}.{key}.{n}", self.canary))
        db.execute("COMMIT")
        db.close()

    def sync(self, first, url, status=0):
        return self.command("sync", first.path, url, "--token-file", self.token_file, status=status)

    def bytes_of_push(self):
        """Resets a real push to the daemon after each of its bytes."""
        first, second = self.pair("push")
        self.sync(first, second.url)
        self.insert(first, "pushed")
        request = self.recorded_push(first, second)
        vector, whole = second.vector(), None
        for k in range(len(request)):
            with socket.create_connection((second.host, second.port), timeout=10) as connection:
                connection.sendall(request[:k])
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.count("resets in a push")
            if k % 100 == 0 or k > len(request) - 20:
                time.sleep(0.05)
                second.daemon.check()
                # A frame that arrived whole is applied before the body ends; its transaction is then there,
                # and known.
                rows = sum(b"pushed" in row[2] for row in content(second.path, check=False)["account"])
                self.expect(rows in (0, 3), f"a push that ended after {k} bytes is applied in part")
                if rows and whole is None:
                    whole = k
                    self.expect(k > len(request) // 2, f"a push is applied although it ended after {k} of {len(request)} bytes")
        for _ in range(3):
            # The whole push, three times: only the first one counts.
            with socket.create_connection((second.host, second.port), timeout=10) as connection:
                connection.sendall(request)
                self.expect(connection.recv(64).startswith(b"HTTP/1.1 200"), "a whole push is refused")
        self.expect(second.vector() != vector, "the whole push is applied")
        self.sync(first, second.url)
        check_equal([first, second])
        second.daemon.stop()
        self.floors["resets in a push"] = 200
        self.note(f"push: reset after each of {len(request)} bytes; its frame is whole after {whole}")

    def recorded_push(self, first, second):
        """Returns the bytes of the request with which `first` would push; they never reach `second`."""
        proxies = Proxies()
        proxy = proxies.add((second.host, second.port))
        proxy.is_recording = True
        proxy.hold = b"POST /v1/push"
        client = self.start(
            [self.syncd, "sync", first.path, f"http://{proxy.host}:{proxy.port}", "--token-file", self.token_file],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not proxy.is_held and time.monotonic() < deadline:
            time.sleep(0.02)
        # The body is small and follows its head at once.
        time.sleep(2)
        client.kill()
        client.wait()
        while not any(proxy.hold in up for up, _ in proxy.recorded) and time.monotonic() < deadline:
            time.sleep(0.02)
        proxies.close()
        for up, _ in proxy.recorded:
            at = up.find(proxy.hold)
            if at >= 0:
                return up[at:]
        raise Failed("the exchange did not push")

    def bytes_of_pull(self):
        """Resets the answer to a pull after each of its bytes on the way to the client."""
        first, second = self.pair("pull")
        self.sync(first, second.url)
        proxies = Proxies()
        proxy = proxies.add((second.host, second.port))
        self.insert(second, "pulled")
        # Measures the length of the whole conversation with a copy of the asking file, which is thrown away.
        proxy.is_recording = True
        probe = Replica(self, "probe")
        probe.make(rows=0)
        self.command("init", probe.path, "--foreign-keys", "enforce")
        self.command("sync", probe.path, first.path)
        self.sync(probe, f"http://{proxy.host}:{proxy.port}")
        time.sleep(0.2)
        length = sum(len(down) for _, down in proxy.recorded)
        proxy.is_recording = False
        for k in range(self.rng.randrange(self.options.stride), length, self.options.stride):
            proxy.plan = lambda: {"kind": "reset", "way": "down", "at": k}
            result = self.sync(first, f"http://{proxy.host}:{proxy.port}", status=None)
            self.expect(result.returncode in (0, 1), f"a client whose answer is reset after {k} bytes ends with {result.returncode}")
            rows = sum(b"pulled" in row[2] for row in content(first.path, check=False)["account"])
            self.expect(rows in (0, 3), f"a pull that ended after {k} bytes is applied in part")
            if rows:
                # Something new to pull.
                self.insert_more(second, k)
                self.sync(first, second.url)
                self.insert_more(second, f"{k}again")
            self.count("resets in a pull")
        proxy.plan = None
        self.sync(first, f"http://{proxy.host}:{proxy.port}")
        check_equal([first, second])
        second.daemon.stop()
        proxies.close()
        self.floors["resets in a pull"] = max(20, 500 // self.options.stride)
        self.note(f"pull: reset after each of {length} bytes, every {self.options.stride}")

    def insert_more(self, replica, key):
        db = replica.connect()
        db.execute("DELETE FROM account WHERE id LIKE '%pulled%'")
        db.close()
        self.insert(replica, f"pulled{key}")


class Soak(Network):
    name = "soak"
    about = "Bad networks and dying daemons for hours; goes on where it was interrupted."

    @classmethod
    def arguments(cls, parser):
        parser.add_argument("--hours", type=float, default=float(os.environ.get("HOURS") or 8))
        parser.add_argument("--stretch", type=float, default=600, metavar="SECONDS", help="the length of a stretch")
        parser.add_argument("--replicas", type=int, default=int(os.environ.get("REPLICAS") or 5))
        parser.add_argument("--state", default=os.environ.get("STATE") or os.path.join(ROOT, ".build", "soak.json"), metavar="FILE",
                            help="where the sums are kept; remove it to begin again")

    def reproduce(self):
        return f"make campaign NAME=network-test PART=faults SEED={self.present} DURATION={self.options.stretch:.0f} REPLICAS={self.options.replicas}"

    def run(self):
        """Runs each stretch in a process of its own, at whose end leftovers show."""
        try:
            with open(self.options.state) as file:
                state = json.load(file)
        except FileNotFoundError:
            state = {"seed": self.seed, "stretches": 0, "seconds": 0, "counts": {}}
        self.seed = state["seed"]
        while state["seconds"] < self.options.hours * 3600:
            self.present = self.seed + state["stretches"]
            began = time.monotonic()
            program = self.start(
                [os.path.join(ROOT, "scripts", "campaign"), "network-test", "--part", "faults", "--json", "--seed", str(self.present),
                 "--seconds", str(self.options.stretch), "--faults", "1", "--replicas", str(self.options.replicas), "--syncd", self.syncd],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
            output = program.communicate()[0]
            if program.returncode != 0:
                raise Failed(f"the stretch with seed {self.present} fails")
            result = json.loads(output)
            for what, number in result.items():
                if isinstance(number, int) and what != "seed":
                    both = (state["counts"].get(what, 0), number)
                    state["counts"][what] = max(both) if what.startswith("longest") else sum(both)
            state["stretches"] += 1
            state["seconds"] += time.monotonic() - began
            with open(self.options.state + ".new", "w") as file:
                json.dump(state, file, indent=1)
            os.rename(self.options.state + ".new", self.options.state)
            self.note(f"{state['seconds'] / 3600:.2f} h, {state['stretches']} stretches: "
                      + ", ".join(f"{number} {what}" for what, number in state["counts"].items()))
        self.counts = {"stretches": state["stretches"], **state["counts"]}
