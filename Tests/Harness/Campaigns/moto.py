"""The server of moto from PyPI."""

import os
import subprocess

from stores import Process, Server, free_ports, programs_of


class Moto(Server):
    """The server of moto, over TLS. It keeps objects in memory, checks no signatures, and shakes hands with one caller at
    a time."""

    name = "moto 5.2"

    @classmethod
    def install(cls):
        return programs_of("moto-5.2", "moto[server]==5.2.*")

    def __init__(self, directory, launch):
        moto = os.path.join(self.install(), "moto_server")
        (self.port,) = free_ports(1)
        self.authority = os.path.join(directory, "certificate.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=store-test", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem",
                        "-out", "certificate.pem"], cwd=directory, check=True, stderr=subprocess.DEVNULL)
        self.stores = [Process(
            "store", [moto, "-H", "127.0.0.1", "-p", str(self.port), "-c", "certificate.pem", "-k", "key.pem"],
            directory, launch, lambda: self.status(self.port, "/moto-api/") == 200)]
        self.processes = self.stores
