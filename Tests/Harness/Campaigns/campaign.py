"""The parts that all campaigns share: a seed, a directory, processes, and counts with floors.

A campaign fails when a property does not hold (`Failed`), when a count stays below its floor, when a log
contains a token or the content of a row, or when something of it is left behind: a process, a mount, a
namespace, a file. The processes that it starts die with it, however it ends. Mounts and networks are in
namespaces of its own, which the kernel removes with the last process in them.
"""

import argparse
import ctypes
import json
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
MARK = "TANDEM_CAMPAIGN"
LIBC = ctypes.CDLL(None, use_errno=True)


# The exit statuses of `syncd verify` when all compared rows are equal. 3: something else is held or local.
EQUAL = (0, 3)


class Failed(Exception):
    """A property does not hold."""


def die_with_parent():
    PR_SET_PDEATHSIG = 1
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def default_program(name):
    """Returns the program of that name: a release build if there is one, else a debug build."""
    for kind in ("release", "debug"):
        path = os.path.join(ROOT, ".build", kind, name)
        if os.access(path, os.X_OK):
            return path
    return os.path.join(ROOT, ".build", "release", name)


class Campaign:
    """The base of all campaigns. A subclass has `name`, `about`, `arguments`, `prepare`, `run`, and possibly
    `finish`."""

    name = ""
    about = ""
    programs = ("syncd",)
    # True for a file system in memory: for campaigns whose faults need no disk, and which sync very often.
    in_memory = False

    def __init__(self, options):
        self.options = options
        self.seed = options.seed
        self.rng = random.Random(options.seed)
        self.counts = {}
        self.floors = {}
        self.notes = []
        self.interrupted = False
        self.began = time.monotonic()
        self.directory = tempfile.mkdtemp(prefix=f"tandem-{self.name}-", dir="/dev/shm" if self.in_memory and os.access("/dev/shm", os.W_OK) else None)
        # Neither may ever appear in a log.
        self.token = "token" + secrets.token_hex(16)
        self.canary = "canary" + secrets.token_hex(6)
        self.secrets = [self.token, self.canary]
        self.token_file = os.path.join(self.directory, "token")
        with open(os.open(self.token_file, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(self.token + "\n")
        self.environment = {**os.environ, MARK: self.directory}
        # A proxy of the machine is no part of the campaign.
        for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            self.environment.pop(name, None)
        self.syncd = options.syncd

    # --- What a campaign does -------------------------------------------------------------------------------------

    @classmethod
    def arguments(cls, parser):
        pass

    @classmethod
    def refusal(cls, options):
        """Returns why the campaign cannot run here, or None."""
        return None

    def prepare(self):
        pass

    def run(self):
        raise NotImplementedError

    def finish(self):
        """Stops all processes in good order; only after a run without failure."""

    def reproduce(self):
        return f"make campaign NAME={self.name} SEED={self.seed}"

    def interrupt(self, number, frame):
        """The handler of signals that end the campaign."""
        self.interrupted = True
        raise KeyboardInterrupt

    def check_interrupted(self):
        """Ends the campaign when its interruption was lost: Python ignores what a handler raises while it runs a
        finalizer, a callback of the collector, or a hook of a fork."""
        if self.interrupted:
            raise KeyboardInterrupt

    def shim(self, name):
        """Compiles `name`.c beside this file into a library for LD_PRELOAD, and returns its path."""
        library = os.path.join(self.directory, f"{name}.so")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.c")
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        return library

    # --- Counts ---------------------------------------------------------------------------------------------------

    def count(self, what, number=1):
        self.check_interrupted()
        self.counts[what] = self.counts.get(what, 0) + number

    def note(self, text):
        """Prints progress for people."""
        print(f"  {time.monotonic() - self.began:6.1f} s  {text}", file=sys.stderr, flush=True)

    def expect(self, condition, what):
        if not condition:
            raise Failed(what)

    # --- Processes ------------------------------------------------------------------------------------------------

    def start(self, arguments, environment=None, before=None, **options):
        """Starts a process that dies with this one, and that `leftovers` finds. Only the main thread may call
        it: the kernel ends the process together with the thread that started it."""
        self.check_interrupted()

        def prepare():
            die_with_parent()
            if before:
                before()

        return subprocess.Popen(
            arguments, env={**self.environment, **(environment or {})}, preexec_fn=prepare, **options)

    def command(self, *arguments, status=0, timeout=300, environment=None, before=None, log="commands.log", relief=None):
        """Runs `syncd` to its end. Its errors go to a log, which may contain no secret.

        - status: The exit status that it must have, or a tuple of them; None for any.
        - relief: Seconds, and the action on the process when it has not ended by then.
        """
        process = self.start(
            [self.syncd, *arguments], environment=environment, before=before, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        try:
            try:
                output, errors = process.communicate(timeout=relief[0] if relief else timeout)
            except subprocess.TimeoutExpired:
                if not relief:
                    raise
                relief[1](process)
                output, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Failed(f"syncd {' '.join(arguments[:2])} does not end within {timeout} s")
        with open(os.path.join(self.directory, log), "a") as file:
            file.write(errors)
        if status is not None and process.returncode not in (status if isinstance(status, tuple) else (status,)):
            raise Failed(
                f"syncd {' '.join(arguments)} ends with {process.returncode} instead of {status}: {output}{errors}")
        return subprocess.CompletedProcess(arguments, process.returncode, output, errors)

    # --- The end --------------------------------------------------------------------------------------------------

    def scan_logs(self):
        """Checks that no log contains a secret: a token, a key or the content of a row."""
        found = [secret.encode() for secret in self.secrets]
        for folder, _, names in os.walk(self.directory):
            for name in names:
                if not name.endswith(".log"):
                    continue
                self.count("logs")
                with open(os.path.join(folder, name), "rb") as file:
                    for line in file:
                        if any(secret in line for secret in found):
                            raise Failed(f"{name} holds a token or the content of a row: {line[:200]!r}")

    def marked_processes(self):
        """The processes of this campaign that still run, without this one."""
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) == os.getpid():
                continue
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if f"{MARK}={self.directory}".encode() not in file.read().split(b"\0"):
                        continue
                with open(f"/proc/{entry}/stat") as file:
                    if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                        continue
            except OSError:
                continue
            found.append(int(entry))
        return found

    def end_processes(self):
        for process in self.marked_processes():
            try:
                os.kill(process, signal.SIGCONT)
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        deadline = time.monotonic() + 20
        while self.marked_processes() and time.monotonic() < deadline:
            try:
                while os.waitpid(-1, os.WNOHANG) != (0, 0):
                    pass
            except ChildProcessError:
                pass
            time.sleep(0.02)

    def mounts(self):
        with open("/proc/self/mountinfo") as file:
            return [line.split()[4] for line in file if self.directory in line.split()[4]]

    def leftovers(self):
        """What still exists although the campaign is over."""
        found = [f"process {number}" for number in self.marked_processes()]
        found += [f"mount {path}" for path in self.mounts()]
        if os.path.exists(self.directory):
            found.append(f"directory {self.directory}")
        return found

    def clean_up(self, keep):
        self.end_processes()
        for path in reversed(self.mounts()):
            LIBC.umount2(path.encode(), 2)
        if keep:
            print(f"The files are kept in {self.directory}", file=sys.stderr)
        else:
            shutil.rmtree(self.directory, ignore_errors=True)

    def tails(self):
        for name in sorted(os.listdir(self.directory)):
            if name.endswith(".log"):
                with open(os.path.join(self.directory, name), errors="replace") as file:
                    for line in file.readlines()[-12:]:
                        print(f"  {name}: {line.rstrip()}", file=sys.stderr)


def run(kind):
    """The main program of a campaign. Returns 0 when all properties hold, 1 when one does not, 2 when it cannot
    run here."""
    parser = argparse.ArgumentParser(prog=f"scripts/campaign {kind.name}", description=kind.about)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED") or secrets.randbelow(1 << 31)))
    parser.add_argument("--json", action="store_true", help="one JSON object with all counts on standard output")
    parser.add_argument("--keep", action="store_true", help="keep the files")
    for name in kind.programs:
        parser.add_argument(f"--{name}", default=default_program(name), metavar="FILE")
    kind.arguments(parser)
    options = parser.parse_args(sys.argv[2:])
    for name in kind.programs:
        path = os.path.abspath(getattr(options, name.replace("-", "_")))
        setattr(options, name.replace("-", "_"), path)
        if not os.access(path, os.X_OK):
            print(f"There is no program at {path}. Build it: swift build -c release --product {name}", file=sys.stderr)
            return 2

    refusal = kind.refusal(options)
    if refusal:
        print(refusal, file=sys.stderr)
        return 2

    campaign = kind(options)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, campaign.interrupt)
    failure = None
    print(f"{kind.name}: seed {campaign.seed}, {options.syncd}", file=sys.stderr, flush=True)
    try:
        campaign.prepare()
        campaign.run()
        campaign.finish()
        campaign.scan_logs()
        campaign.check_interrupted()
        for what, least in campaign.floors.items():
            campaign.expect(campaign.counts.get(what, 0) >= least,
                            f"only {campaign.counts.get(what, 0)} {what}, and at least {least} must be")
    except KeyboardInterrupt:
        failure = "interrupted"
    except (Failed, subprocess.TimeoutExpired, OSError) as error:
        failure = f"{error}"
    except Exception as error:
        traceback.print_exc()
        failure = f"{type(error).__name__}: {error}"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if failure and failure != "interrupted":
        campaign.tails()
    keep = options.keep or (failure is not None and failure != "interrupted")
    campaign.clean_up(keep)
    left = [what for what in campaign.leftovers() if not (keep and what.startswith("directory"))]
    if left and not failure:
        failure = f"left behind: {', '.join(left)}"
    seconds = time.monotonic() - campaign.began
    if options.json:
        print(json.dumps({"campaign": kind.name, "seed": campaign.seed, "seconds": round(seconds, 1),
                          "failure": failure, **campaign.counts}, sort_keys=True))
    if failure:
        print(f"FAILED: {failure}", file=sys.stderr)
        print(f"Reproduce with: {campaign.reproduce()}", file=sys.stderr)
        return 1
    text = ", ".join(f"{number} {what}" for what, number in campaign.counts.items())
    print(f"{kind.name}: {text}; {seconds:.0f} s. Seed {campaign.seed}.", file=sys.stderr if options.json else sys.stdout)
    return 0
