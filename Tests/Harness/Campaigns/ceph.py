"""A Ceph cluster from Debian's packages: a monitor, a manager, three OSDs with two copies of each object, and radosgw.

Everything listens on the loopback interface and lies in one directory. The processes run as the caller.
"""

import os
import subprocess
import uuid

from stores import ACCESS_KEY, SECRET_KEY, Process, Server, StoreError, free_ports

PACKAGES = ["radosgw", "ceph-mon", "ceph-mgr", "ceph-osd", "ceph-common"]
OSDS = 3
# A command asks the monitor, and Ceph's own tools need a second to start.
COMMAND_SECONDS = 60

# An OSD's file is sparse. Without the two "update on start" an OSD that is made by hand ends with "wrong fsid". Each start
# of a process has an admin socket of its own, because a killed one leaves its socket behind.
CONFIGURATION = """
[global]
fsid = {fsid}
mon host = [v1:127.0.0.1:{mon}]
mon initial members = a
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv4 = true
ms bind ipv6 = false
ms bind msgr2 = false
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 2
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd crush chooseleaf type = 0
osd heartbeat grace = 5
osd heartbeat interval = 1
mon osd min down reporters = 1
mon osd adjust heartbeat grace = false
mon osd reporter subtree level = osd
mon data avail warn = 5
mon data avail crit = 2
run dir = {directory}
log file = {directory}/$name.ceph.log
admin socket = {directory}/$name.$pid.asok
pid file =
keyring = {directory}/keyring
mon data = {directory}/mon.$id
osd data = {directory}/osd.$id
mgr data = {directory}/mgr.$id
[osd]
osd objectstore = bluestore
bluestore block size = 4294967296
bluestore fsck on mount = false
osd class update on start = false
osd crush update on start = false
osd memory target = 939524096
osd memory target autotune = false
bluestore cache size = 134217728
[mgr]
mgr modules =
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:{gateway}
rgw enable usage log = false
rgw dynamic resharding = false
rgw gc processor period = 60
"""


class Ceph(Server):
    """A Ceph cluster on one machine, and its gateway."""

    name = "Ceph of Debian"
    is_durable = True
    checks_signatures = True
    bears_faults = True

    @classmethod
    def install(cls):
        scripts = os.path.join(os.path.dirname(__file__), "..", "..", "..", "scripts")
        try:
            subprocess.run([os.path.join(scripts, "system-packages"), *PACKAGES], check=True)
        except subprocess.CalledProcessError as error:
            raise StoreError(f"Ceph cannot be installed: {error}") from error

    def __init__(self, directory, launch):
        self.install()
        self.directory, self.fsid = directory, str(uuid.uuid4())
        self.mon_port, self.port = free_ports(2)
        with open(os.path.join(directory, "ceph.conf"), "w") as file:
            file.write(CONFIGURATION.format(fsid=self.fsid, mon=self.mon_port, gateway=self.port, directory=directory))
        open(os.path.join(directory, "keyring"), "w").close()

        def process(name, arguments, is_ready):
            return Process(name, [arguments[0], "-c", "ceph.conf", "-f", *arguments[1:]], directory, launch, is_ready)

        self.monitor = process("monitor", ["ceph-mon", "-i", "a"], lambda: self.answer("ceph", "-s") is not None)
        self.manager = process("manager", ["ceph-mgr", "-i", "x"], lambda: True)
        self.stores = [process(f"OSD {number}", ["ceph-osd", "-i", str(number)], lambda number=number: self.is_up(number))
                       for number in range(OSDS)]
        self.gateway = process("gateway", ["radosgw", "-n", "client.rgw"], lambda: self.status(self.port, "/") == 200)
        self.processes = [self.monitor, self.manager, *self.stores, self.gateway]

    def start(self):
        self.tool("monmaptool", "--create", "--clobber", "--fsid", self.fsid, "--addv", "a", f"[v1:127.0.0.1:{self.mon_port}]", "monmap")
        for folder in ("mon.a", "mgr.x", *(f"osd.{number}" for number in range(OSDS))):
            os.makedirs(os.path.join(self.directory, folder))
        self.tool("ceph-mon", "-i", "a", "--mkfs", "--monmap", "monmap", "--keyring", "keyring")
        for process in (self.monitor, self.manager):
            process.start()
            process.wait_until_ready()
        for number, process in enumerate(self.stores):
            identity = str(uuid.uuid4())
            self.tool("ceph", "osd", "new", identity)
            self.tool("ceph-osd", "-i", str(number), "--mkfs", "--osd-uuid", identity)
            self.tool("ceph", "osd", "crush", "add", f"osd.{number}", "1.0", "root=default", "host=h")
            process.start()
        for process in self.stores:
            process.wait_until_ready()
        self.gateway.start()
        self.gateway.wait_until_ready()
        self.tool("radosgw-admin", "-n", "client.rgw", "user", "create", "--uid=tandem", "--display-name=tandem",
                  f"--access-key={ACCESS_KEY}", f"--secret-key={SECRET_KEY}")

    # --- Ceph's own tools -------------------------------------------------------------------------------------------

    def run(self, tool, *arguments):
        return subprocess.run([tool, "-c", "ceph.conf", *arguments], cwd=self.directory, timeout=COMMAND_SECONDS,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")

    def tool(self, name, *arguments):
        """Runs a tool, which must succeed."""
        try:
            result = self.run(name, *arguments)
        except subprocess.TimeoutExpired as error:
            raise StoreError(f"{name} does not end: {error}") from error
        if result.returncode != 0:
            raise StoreError(f"{' '.join((name, *arguments))} failed:\n{result.stderr}")

    def answer(self, name, *arguments):
        """What a tool prints; None when it fails."""
        try:
            result = self.run(name, *arguments)
        except subprocess.TimeoutExpired:
            return None
        return result.stdout if result.returncode == 0 else None

    def is_up(self, number):
        """Whether the monitor counts an OSD as up. It needs seconds to notice that one was killed."""
        dump = self.answer("ceph", "osd", "dump") or ""
        return any(line.startswith(f"osd.{number} up") for line in dump.splitlines())
