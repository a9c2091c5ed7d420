"""Fails or kills each write, sync, truncation, rename, send and receive of a canonical script, one at a time
(F1 to F3, F6, F8).

The script is a list of steps. Each step has one victim: a process with faultshim.c preloaded, which counts
its calls. A dry run gives their number. Then, for each step, each call and each mode, both replicas are
reset to their state before the step, in place, so that the files keep their inodes. The victim runs with the
fault, and then these must hold:

  1. The victim ended with 0, with 1 and a sentence, or by the SIGKILL of the shim. It neither hung nor died
     by a signal of its own.
  2. integrity_check and foreign_key_check find nothing in either file.
  3. The step can be done again without the fault, and the replicas then exchange what they lack, with exit
     status 0.
  4. Everything that was acknowledged, by the victim or before, is on both replicas, and both are equal by
     `syncd verify` and by a comparison in Python.
  5. A daemon continues by itself after a fault that passes, and stops on SIGTERM after any fault.
"""

import mmap
import multiprocessing
import os
import random
import signal
import sqlite3
import struct
import subprocess
import sys
import time

from campaign import EQUAL, Campaign, Failed, die_with_parent
from replicas import Replica, check_equal

MODES = ("kill-before", "kill-after", "eio", "eio-ever", "enospc", "short")
FILES, NETWORK = set("wstru"), set("nvc")
# The calls that a mode applies to: ENOSPC to files, half a transfer to calls that move bytes.
APPLIES = {
    "enospc": set("wst"), "short": set("wnv"),
    "eio": FILES | NETWORK | {"p"}, "eio-ever": FILES | NETWORK, "kill-before": FILES | NETWORK | {"p"},
    "kill-after": FILES | NETWORK | {"p"},
}
SHARED_BYTES = 16 + 60000
VICTIM_SECONDS = 60
# The run ends after this many failures.
MOST_FAILURES = 30
# The page size keeps the number of calls small where much is written.
SCHEMA = """
PRAGMA page_size = 32768;
CREATE TABLE account (id TEXT PRIMARY KEY NOT NULL, n INTEGER NOT NULL, body TEXT NOT NULL);
CREATE TABLE entry (
  account TEXT NOT NULL REFERENCES account(id) ON DELETE CASCADE, no INTEGER NOT NULL, amount INTEGER NOT NULL,
  PRIMARY KEY (account, no)) WITHOUT ROWID;
CREATE TABLE shared (id INTEGER PRIMARY KEY, a TEXT, b TEXT);
CREATE TABLE code (id INTEGER PRIMARY KEY, code TEXT UNIQUE);
"""


class Stage:
    """Two replicas in a directory of their own, and the script on them."""

    def __init__(self, campaign, number):
        self.campaign = campaign
        self.directory = os.path.join(campaign.directory, f"stage{number}")
        os.mkdir(self.directory)
        self.a = Replica(campaign, "a", self.directory)
        self.b = Replica(campaign, "b", self.directory)
        for replica in (self.a, self.b):
            replica.log = os.path.join(self.directory, f"{replica.name}.log")
        self.log = os.path.join("stage%d" % number, "commands.log")
        self.fault_file = os.path.join(self.directory, "fault")
        with open(self.fault_file, "wb") as file:
            file.truncate((SHARED_BYTES + 4095) // 4096 * 4096)
        with open(self.fault_file, "r+b") as file:
            self.shared = mmap.mmap(file.fileno(), 0)
        self.acknowledged = {}
        self.serial = 0

    # --- Files ----------------------------------------------------------------------------------------------------

    def files(self):
        return [name for name in os.listdir(self.directory) if ".sqlite" in name]

    def snapshot(self):
        found = {}
        for name in self.files():
            # SQLite builds the shared memory again from the log.
            if not name.endswith("-shm"):
                with open(os.path.join(self.directory, name), "rb") as file:
                    found[name] = file.read()
        return found, dict(self.acknowledged), self.serial

    def restore(self, snapshot):
        files, acknowledged, self.serial = snapshot
        for name in self.files():
            if name not in files:
                os.unlink(os.path.join(self.directory, name))
        for name, data in files.items():
            with open(os.open(os.path.join(self.directory, name), os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
                file.write(data)
                file.truncate()
        self.acknowledged = dict(acknowledged)

    # --- Statements -----------------------------------------------------------------------------------------------

    def write(self, replica, *statements):
        db = replica.connect()
        db.execute("BEGIN IMMEDIATE")
        for sql, *values in statements:
            db.execute(sql, values)
        db.execute("COMMIT")
        db.close()

    def account(self, replica, size=20):
        self.serial += 1
        key = f"{self.campaign.canary}.{replica.name}.{self.serial}"
        self.write(replica, ("INSERT INTO account (id, n, body) VALUES (?, ?, ?)", key, self.serial, self.campaign.canary * size))
        self.acknowledged[key] = self.serial

    def conflicts(self):
        """On both replicas: changes the same row and inserts the same UNIQUE value; one deletes the parent of
        the other's child."""
        n = self.serial = self.serial + 1
        self.write(self.a, ("UPDATE shared SET a = ? WHERE id = 1", f"a{n}"), ("INSERT INTO code VALUES (?, ?)", 2 * n, f"c{n}"),
                   ("DELETE FROM account WHERE id = (SELECT min(id) FROM account WHERE id LIKE 'parent%')",))
        self.write(self.b, ("UPDATE shared SET a = ?, b = 'x' WHERE id = 1", f"b{n}"), ("INSERT INTO code VALUES (?, ?)", 2 * n + 1, f"c{n}"),
                   ("INSERT INTO entry SELECT min(id), ?, 1 FROM account WHERE id LIKE 'parent%'", n))

    # --- Victims --------------------------------------------------------------------------------------------------

    def environment(self, at, mode, heal):
        self.shared[:16] = bytes(16)
        return {"LD_PRELOAD": self.campaign.library, "FAULT_FILE": self.fault_file, "FAULT_AT": str(at), "FAULT_MODE": mode,
                "FAULT_HEAL": str(heal)}

    def counted(self):
        count, fired = struct.unpack("QQ", self.shared[:16])
        return count, fired, self.shared[16:16 + min(count, 60000)].decode("ascii", "replace")

    def victim(self, arguments, at, mode, heal=1 << 40, input=None, acknowledge=None):
        process = self.campaign.start(
            arguments, environment=self.environment(at, mode, heal), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        try:
            output, errors = process.communicate(input, timeout=VICTIM_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Failed(f"the victim {' '.join(arguments[:2])} does not end within {VICTIM_SECONDS} s")
        self.judge(process.returncode, mode, errors, arguments)
        if acknowledge:
            acknowledge(output.decode())

    def judge(self, status, mode, errors, arguments):
        with open(os.path.join(self.campaign.directory, self.log), "ab") as file:
            # The Python program and the shell may print anything; the output of Tandem is a log.
            if arguments[0] == self.campaign.syncd:
                file.write(errors)
        if status == 0 or status == -signal.SIGKILL and mode.startswith("kill"):
            return
        # The shell exits with SQLite's code.
        if (status == 1 or 0 < status < 64 and arguments[0] == "sqlite3") and errors.strip():
            return
        raise Failed(f"the victim {' '.join(arguments[:2])} ends with {status}: {errors.decode(errors='replace')[-600:]}")

    # --- Steps: the preparation and the victim --------------------------------------------------------------------

    def make(self):
        for replica in (self.a, self.b):
            replica.make(rows=0, schema=SCHEMA)
        self.write(self.a, *[("INSERT INTO shared (id) VALUES (?)", n) for n in range(1, 4)],
                   *[("INSERT INTO account VALUES (?, 0, '')", f"parent{n}") for n in range(8)])
        self.campaign.command("init", self.b.path, "--foreign-keys", "enforce", log=self.log)

    def step_init(self, at, mode):
        self.victim([self.campaign.syncd, "init", self.a.path, "--foreign-keys", "enforce"], at, mode)

    def before_write(self):
        self.account(self.a)

    def step_write(self, at, mode):
        """Runs three transactions of a Python program, which acknowledges each by a line."""
        keys = {f"{self.campaign.canary}.w.{n}": n for n in range(3)}

        def acknowledge(output):
            for n in output.split():
                self.acknowledged[f"{self.campaign.canary}.w.{n}"] = int(n)

        program = (
            "import sqlite3, sys, os\n"
            "db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "db.execute('PRAGMA synchronous = FULL')\n"
            "for key in sys.argv[2:]:\n"
            "    n = int(key.rsplit('.')[-1])\n"
            "    db.execute('BEGIN IMMEDIATE')\n"
            "    db.execute('INSERT INTO account (id, n, body) VALUES (?, ?, ?)', (key, n, 'w' * 100))\n"
            "    db.execute('INSERT INTO entry VALUES (?, 1, 1)', (key,))\n"
            "    db.execute('COMMIT')\n"
            "    os.write(1, b'%d\\n' % n)\n")
        self.victim([sys.executable, "-E", "-S", "-c", program, self.a.path, *keys], at, mode, acknowledge=acknowledge)

    def before_sync(self):
        self.account(self.a)
        self.account(self.b)
        self.conflicts()

    def step_sync(self, at, mode):
        """Pulls, merges with conflicts, pushes; the victim is the caller."""
        self.serve(lambda: self.victim(
            [self.campaign.syncd, "sync", self.a.path, self.b.url, "--token-file", self.campaign.token_file], at, mode))

    before_serve = before_sync

    def step_serve(self, at, mode):
        """Does the same; the victim is the answering daemon."""
        daemon = self.b.start(environment=self.environment(at, mode, 8))
        try:
            self.wait_listening(daemon, mode)
            self.campaign.command(
                "sync", self.a.path, self.b.url, "--token-file", self.campaign.token_file, status=None, log=self.log)
        finally:
            self.end_daemon(daemon, mode)

    def before_send_large(self):
        self.account(self.a, size=36_000)
        self.serial += 1
        self.write(self.a, *[
            ("INSERT INTO account (id, n, body) VALUES (?, 1, ?)", f"{self.campaign.canary}.large.{self.serial}.{n}", self.campaign.canary * 9_000)
            for n in range(7)])

    step_send_large = step_sync

    def before_receive_large(self):
        """Sends a transaction larger than a batch's 1 MiB, so that the receiver stages its first part."""
        self.serial += 1
        self.write(self.b, *[
            ("INSERT INTO account (id, n, body) VALUES (?, 1, ?)", f"{self.campaign.canary}.large.{self.serial}.{n}", self.campaign.canary * 9_000)
            for n in range(7)])

    step_receive_large = step_sync

    def before_checkpoint(self):
        self.account(self.a)

    def step_checkpoint(self, at, mode):
        self.victim(["sqlite3", "-batch", "-bail", self.a.path, "PRAGMA wal_checkpoint(TRUNCATE);"], at, mode)

    def before_schema(self):
        self.account(self.a)

    def step_schema(self, at, mode):
        """Migrates by the shell, and writes rows that use the new column and table."""
        self.victim(["sqlite3", "-batch", "-bail", self.a.path, self.migration + "INSERT INTO later VALUES (1, 'x');"
                     "UPDATE account SET extra = 'e' WHERE n > 0;"], at, mode)

    migration = "BEGIN IMMEDIATE; ALTER TABLE account ADD COLUMN extra TEXT; CREATE TABLE later (id INTEGER PRIMARY KEY, t TEXT); COMMIT;"

    def before_refresh(self):
        """The migration is complete on both replicas; capture on the first is not."""
        self.migrate()
        self.write(self.a, ("CREATE TABLE newest (id INTEGER PRIMARY KEY, t TEXT)",), ("INSERT INTO newest VALUES (1, 'y')",))
        self.write(self.b, ("CREATE TABLE newest (id INTEGER PRIMARY KEY, t TEXT)",))
        self.campaign.command("init", self.b.path, "--foreign-keys", "enforce", log=self.log)

    step_refresh = step_init

    def before_rekey(self):
        self.account(self.a)

    def step_rekey(self, at, mode):
        self.victim([self.campaign.syncd, "rekey", self.a.path], at, mode)

    def before_follow(self):
        self.before_sync()
        self.before_receive_large()

    def step_follow(self, at, mode):
        """Runs a daemon that starts, follows, pulls, pushes, and stops."""
        def follow():
            self.a.peers = [self.b]
            daemon = self.a.start(environment=self.environment(at, mode, 8))
            try:
                if not self.wait_listening(daemon, mode):
                    return
                self.wait_converged(daemon, mode)
            finally:
                self.end_daemon(daemon, mode)

        self.serve(follow)

    def churn(self, replica):
        """Overwrites rows again and again, so that compaction has something to remove."""
        for _ in range(6):
            n = self.serial = self.serial + 1
            self.write(replica, ("UPDATE shared SET b = ? WHERE id = 2", f"b{n}"),
                       ("INSERT INTO code VALUES (?, ?)", 1000 + n, f"d{n}"), ("DELETE FROM code WHERE id = ?", 1000 + n))

    def before_compact(self):
        self.churn(self.a)
        self.account(self.a)
        # The second exchange tells what came of the first.
        for _ in range(2):
            self.campaign.command("sync", self.a.path, self.b.path, log=self.log)

    def step_compact(self, at, mode):
        self.victim([self.campaign.syncd, "compact", self.a.path, "--keep", "0s"], at, mode)

    def before_clone(self):
        self.account(self.b)

    def step_clone(self, at, mode):
        """Makes a third replica from the daemon of b."""
        self.serve(lambda: self.victim(
            [self.campaign.syncd, "clone", self.b.url, self.third, "--token-file", self.campaign.token_file], at, mode))

    def before_return(self):
        """The second replica compacts what the first has not seen, as after the end of its lease."""
        self.churn(self.b)
        self.campaign.command("compact", self.b.path, "--keep", "0s", "--lease", "0s", log=self.log)
        self.account(self.a)
        self.write(self.a, ("UPDATE shared SET a = 'unseen' WHERE id = 2",))

    def step_return(self, at, mode):
        self.victim([self.campaign.syncd, "return", self.a.path, self.b.path], at, mode)

    # --- Pieces ---------------------------------------------------------------------------------------------------

    @property
    def third(self):
        return os.path.join(self.directory, "c.sqlite")

    def recover_clone(self):
        """Goes on with the parts that have arrived, and compares."""
        if not os.path.exists(self.third):
            self.campaign.command("clone", self.b.path, self.third, log=self.log)
        self.campaign.command("sync", self.third, self.b.path, log=self.log)
        self.campaign.command("verify", self.third, self.b.path, status=EQUAL, log=self.log)
        if account_values(self.third) != account_values(self.b.path):
            raise Failed("the clone has other rows")
        for name in self.files():
            if name.startswith("c.sqlite"):
                os.unlink(os.path.join(self.directory, name))

    def recover_return(self):
        """Comes back, if it had not. The copies of the file as it was are of no use here."""
        synced = self.campaign.command("sync", self.a.path, self.b.path, status=None, log=self.log)
        if synced.returncode != 0:
            self.campaign.command("return", self.a.path, self.b.path, log=self.log)
        for name in self.files():
            if "-before-return-" in name:
                os.unlink(os.path.join(self.directory, name))

    def serve(self, body):
        """Runs `body` while a daemon without faults serves b."""
        daemon = self.b.start()
        try:
            daemon.wait_until_listening()
            body()
            daemon.check()
        finally:
            if daemon.process.poll() is None:
                daemon.process.kill()
                daemon.process.wait()
            daemon.close()

    def wait_listening(self, daemon, mode):
        try:
            daemon.wait_until_listening(VICTIM_SECONDS)
            return True
        except Failed:
            if daemon.process.poll() is None:
                raise
            return False

    def wait_converged(self, daemon, mode):
        """Checks that the daemon continues by itself after a fault that passes."""
        deadline = time.monotonic() + (30 if mode != "eio-ever" else 1.5)
        while daemon.process.poll() is None:
            try:
                if self.a.vector() == self.b.vector():
                    return
            except (OSError, ValueError):
                pass
            if time.monotonic() > deadline:
                if mode == "eio-ever":
                    return
                raise Failed("the daemon does not go on by itself after the fault has passed")
            time.sleep(0.02)

    def end_daemon(self, daemon, mode):
        if daemon.process.poll() is None:
            daemon.process.send_signal(signal.SIGTERM)
        try:
            status = daemon.process.wait(30)
        except subprocess.TimeoutExpired:
            daemon.process.kill()
            daemon.process.wait()
            raise Failed("the daemon does not stop on SIGTERM within 30 s")
        finally:
            daemon.close()
        if status not in (0, 1) and not (status == -signal.SIGKILL and mode.startswith("kill")):
            raise Failed(f"the daemon ends with {status}")

    def migrate(self):
        """Applies the migration of `step_schema` where it is missing."""
        for replica in (self.a, self.b):
            db = replica.connect()
            if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'later'").fetchone():
                db.executescript(self.migration)
            db.close()

    def recover(self, step):
        """Does the step again where it is needed, and exchanges."""
        campaign = self.campaign
        if step in ("init", "refresh"):
            campaign.command("init", self.a.path, "--foreign-keys", "enforce", log=self.log)
        if step == "schema":
            self.migrate()
        if step == "compact":
            campaign.command("compact", self.a.path, "--keep", "0s", log=self.log)
        if step == "clone":
            self.recover_clone()
        if step == "return":
            self.recover_return()
        campaign.command("sync", self.a.path, self.b.path, log=self.log)
        check_equal([self.a, self.b], verify=False)
        campaign.command("verify", self.a.path, self.b.path, status=EQUAL, log=self.log)
        keys = account_values(self.a.path)
        lost = [key for key, n in self.acknowledged.items() if keys.get(key) != n]
        if lost:
            raise Failed(f"acknowledged rows are lost: {[key.split('.', 1)[1] for key in lost[:5]]}")


def account_values(path):
    db = sqlite3.connect(path, timeout=60)
    try:
        return dict(db.execute("SELECT id, n FROM account"))
    finally:
        db.close()


STEPS = ("init", "write", "sync", "serve", "send_large", "receive_large", "checkpoint", "schema", "refresh", "rekey", "follow",
         "compact", "clone", "return")


class CrashPoints(Campaign):
    name = "crash-points"
    about = "Fail or kill each call of a canonical script that reaches a file or a peer."
    in_memory = True

    @classmethod
    def arguments(cls, parser):
        environment = os.environ
        parser.add_argument("--cases", type=int, default=int(environment.get("CASES") or 0),
                            help="a sample of this many cases, by the seed (0: all of them)")
        parser.add_argument("--step", choices=STEPS, default=environment.get("STEP") or None)
        parser.add_argument("--at", type=int, default=int(environment.get("AT") or 0))
        parser.add_argument("--mode", choices=MODES, default=environment.get("MODE") or None)
        parser.add_argument("--jobs", type=int, default=int(environment.get("JOBS") or os.cpu_count() or 1))

    def prepare(self):
        self.library = self.shim("faultshim")

    def run(self):
        """Divides the cases among processes, each with a stage of its own."""
        results = multiprocessing.get_context("fork").SimpleQueue()
        jobs = 1 if self.options.at else self.options.jobs
        workers = [multiprocessing.get_context("fork").Process(target=self.work, args=(n, jobs, results)) for n in range(jobs)]
        for worker in workers:
            worker.start()
        failures, running, points = [], jobs, {}
        while running:
            kind, *fields = results.get()
            if kind == "end":
                running -= 1
            elif kind == "points":
                points.setdefault(*fields)
            elif kind == "note":
                self.note(fields[0])
            elif kind == "count":
                self.count(*fields)
            elif kind == "failed case":
                self.note(fields[0])
                failures.append(fields[0])
                if len(failures) == MOST_FAILURES:
                    break
            else:
                failures.append(fields[0])
                break
        for worker in workers:
            if running:
                worker.terminate()
            worker.join()
        if failures:
            raise Failed(f"{len(failures)} cases, the first: {failures[0]}")
        self.counts["points"] = sum(points.values())
        wanted = self.counts.get("wanted", 0)
        self.floors = {"points": 200 if not self.options.step else 1, "reached": wanted * 9 // 10}

    def work(self, number, jobs, results):
        die_with_parent()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        case = ""
        try:
            stage = Stage(self, number)
            stage.make()
            # The plan is the same in each process: all stages have about the same calls.
            for step in STEPS:
                case = f"step {step}, without a fault"
                getattr(stage, f"before_{step}", lambda: None)()
                snapshot = stage.snapshot()
                getattr(stage, f"step_{step}")(0, "none")
                count, _, trace = stage.counted()
                stage.recover(step)
                after = stage.snapshot()
                if self.options.step in (None, step):
                    results.put(("points", step, count))
                    cases = [(at, mode) for at in range(1, count + 1) for mode in MODES
                             if trace[at - 1:at] in APPLIES[mode]]
                    if number == 0:
                        results.put(("note", f"{step}: {count} calls, {len(cases)} cases: "
                                     + ", ".join(f"{trace.count(letter)} {letter}" for letter in sorted(set(trace)))))
                    for at, mode in self.chosen(step, cases, number, jobs):
                        case = f"STEP={step} AT={at} MODE={mode}"
                        stage.restore(snapshot)
                        results.put(("count", "wanted"))
                        try:
                            getattr(stage, f"step_{step}")(at, mode)
                            if stage.counted()[1]:
                                results.put(("count", "reached"))
                                results.put(("count", mode))
                            stage.recover(step)
                        except Failed as error:
                            # The next case starts from the snapshot again.
                            results.put(("failed case", f"{case}: {error}"))
                    stage.restore(after)
            results.put(("end",))
        except BaseException as error:
            results.put(("failed", f"{case}: {type(error).__name__ if not isinstance(error, Failed) else ''} {error}"))
            time.sleep(5)
            os._exit(1)

    def chosen(self, step, cases, number, jobs):
        options = self.options
        if options.at:
            return [(options.at, options.mode or MODES[0])]
        if options.mode:
            cases = [case for case in cases if case[1] == options.mode]
        if options.cases:
            # An even share of each step, drawn by the seed.
            rng = random.Random(f"{self.seed} {step} {number}")
            share = max(1, options.cases // len(STEPS) // jobs)
            return rng.sample(cases, min(share, len(cases)))
        return cases[number::jobs]

    def reproduce(self):
        return f"make campaign NAME=crash-points SEED={self.seed} CASES={self.options.cases}, or with the STEP, AT and MODE above"
