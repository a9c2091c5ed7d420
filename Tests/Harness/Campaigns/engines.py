"""The object stores that tests can use, by name."""

from ceph import Ceph
from moto import Moto
from seaweedfs import SeaweedFS

# None is an archive in a directory, without a server.
ENGINES = {"seaweedfs": SeaweedFS, "ceph": Ceph, "moto": Moto, "dir": None}
