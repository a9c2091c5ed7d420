"""A TCP proxy that has the faults of a bad network, by a seed, and records them.

One proxy stands before one daemon. `plan` decides for each new connection; without a plan the proxy passes
everything on.
"""

import asyncio
import random
import socket
import struct
import threading

UNAVAILABLE = b"<Error><Code>SlowDown</Code></Error>"
KINDS = ("delay", "slow", "cut", "reset", "flip", "replay", "swallow", "half-open", "crumbs")


class Proxy:
    """Runs on the event loop of `Proxies`."""

    def __init__(self, targets, plan, host, limit=1 << 22):
        """targets: Addresses; a connection goes to the first one that takes it, from a random one on."""
        self.targets, self.plan, self.host, self.limit = targets, plan, host, limit
        self.port = None
        self.decisions = []
        # The bytes that the last connections sent up and down, for a test that repeats them.
        self.recorded = []
        self.is_recording = False
        # The event loop itself holds tasks weakly.
        self.tasks = set()
        # Bytes from this position on do not reach the daemon; they are recorded.
        self.hold, self.is_held = None, False
        # The bytes that all connections have passed on, in both directions.
        self.passed = 0

    async def serve(self):
        self.server = await asyncio.start_server(self.connection, self.host, 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def connection(self, reader, writer):
        fault = (self.plan() if self.plan else None) or {}
        if fault:
            self.decisions.append(fault)
        if fault.get("kind") == "unavailable":
            return await self.refuse(reader, writer)
        up_reader = None
        for target in random.sample(self.targets, len(self.targets)):
            try:
                up_reader, up_writer = await asyncio.open_connection(*target)
                break
            except OSError:
                continue
        if not up_reader:
            return writer.close()
        record = {"up": bytearray(), "down": bytearray()}
        self.tasks.add(asyncio.current_task())
        asyncio.current_task().add_done_callback(self.tasks.discard)
        ends = (writer, up_writer)
        tasks = [asyncio.ensure_future(self.pipe(*pair, fault if fault.get("way", way) == way else {}, record[way], ends))
                 for way, pair in (("up", (reader, up_writer)), ("down", (up_reader, writer)))]
        for task in tasks:
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED if fault.get("kind") in ("cut", "reset") else asyncio.ALL_COMPLETED)
        except asyncio.CancelledError:
            pass
        for task in tasks:
            task.cancel()
        for end in ends:
            end.close()
        if self.is_recording:
            self.recorded.append((bytes(record["up"]), bytes(record["down"])))
        if fault.get("kind") == "replay" and record["up"]:
            await self.replay(bytes(record["up"]))

    async def refuse(self, reader, writer):
        """Answers as a server that is overloaded."""
        try:
            await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            writer.write(b"HTTP/1.1 503 Slow Down\r\nContent-Type: application/xml\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
                         % (len(UNAVAILABLE), UNAVAILABLE))
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.TimeoutError):
            pass
        writer.close()

    async def pipe(self, reader, writer, fault, record, ends):
        kind, at, seen = fault.get("kind"), fault.get("at", 0), 0
        try:
            while True:
                data = await reader.read(65536)
                if not data:
                    break
                if len(record) < self.limit:
                    record += data
                if self.hold and record.find(self.hold) >= 0:
                    self.is_held = True
                    continue
                if kind == "delay":
                    await asyncio.sleep(fault["seconds"])
                elif kind == "swallow":
                    continue
                elif kind == "half-open" and seen + len(data) > at:
                    # Nothing more comes and nothing is closed, until the other side times out.
                    await asyncio.sleep(fault["seconds"])
                    break
                elif kind == "flip" and seen <= at < seen + len(data):
                    data = bytearray(data)
                    data[at - seen] ^= 1 << fault["bit"]
                elif kind in ("cut", "reset") and seen + len(data) > at:
                    writer.write(data[:at - seen])
                    await writer.drain()
                    if kind == "reset":
                        for end in ends:
                            end.get_extra_info("socket").setsockopt(
                                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                            end.transport.abort()
                    return
                if kind in ("slow", "crumbs"):
                    step = 1 if kind == "crumbs" else max(1, fault["rate"] // 20)
                    for offset in range(0, len(data), step):
                        writer.write(data[offset:offset + step])
                        await writer.drain()
                        await asyncio.sleep(0.05 if kind == "slow" else 0)
                else:
                    writer.write(data)
                    await writer.drain()
                seen += len(data)
                self.passed += len(data)
            if writer.can_write_eof():
                writer.write_eof()
        except (OSError, RuntimeError):
            # One side is gone, which the other one has to learn: it would wait until it times out.
            for end in ends:
                end.transport.abort()

    async def replay(self, request):
        """Sends the same bytes once more and drops the answer."""
        try:
            reader, writer = await asyncio.open_connection(*random.choice(self.targets))
            writer.write(request)
            await writer.drain()
            await asyncio.wait_for(reader.read(65536), 2)
            writer.close()
        except (OSError, asyncio.TimeoutError):
            pass


class Proxies:
    """The event loop of all proxies, on a thread of its own."""

    def __init__(self, host="127.0.0.1"):
        self.host = host
        self.loop = asyncio.new_event_loop()
        self.all = []
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def add(self, *targets, plan=None):
        """Adds a proxy before one address, or one that spreads its connections over several."""
        proxy = Proxy(targets, plan, self.host)
        asyncio.run_coroutine_threadsafe(proxy.serve(), self.loop).result(10)
        self.all.append(proxy)
        return proxy

    def close(self):
        async def end():
            for proxy in self.all:
                proxy.server.close()
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)


def fault_of(rng):
    """A random fault for one connection."""
    kind = rng.choice(KINDS)
    fault = {"kind": kind, "way": rng.choice(("up", "down")), "at": rng.choice((rng.randrange(64), rng.randrange(4096)))}
    if kind == "delay":
        fault.update(seconds=rng.uniform(0.05, 0.6), way="up")
    elif kind == "slow":
        fault.update(rate=rng.choice((1000, 8000)))
    elif kind == "half-open":
        fault.update(seconds=rng.uniform(0.5, 3))
    elif kind == "flip":
        fault.update(bit=rng.randrange(8))
    elif kind == "swallow":
        fault.update(way="down")
    return fault
