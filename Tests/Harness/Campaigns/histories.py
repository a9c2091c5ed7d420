"""The history of two machines that exchanged after each write, as their relay pushes it to a replica.

A row of the one, a row of the other, and so on: each was written by someone who had seen all before it, so each is a
run with a causal context of its own. A receiver cannot tell it from what real machines wrote, and has it in seconds.
docs/PROTOCOL.md and docs/tandem.proto explain the bytes.
"""

import struct
import time
import zlib

WIRE_VERSION = 2
# The values of docs/tandem.proto.
ENCODING_NONE, INSERT, INTEGER, TEXT = 1, 1, 1, 3


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def zigzag(number):
    return number << 1 if number >= 0 else (-number << 1) - 1


def field(number, content):
    """A field of a message: a number, or bytes."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def packed(number, values):
    return field(number, b"".join(map(varint, values)))


def frame(header, payload=b""):
    header = field(1, WIRE_VERSION) + header
    text = b"TDM1" + struct.pack(">II", len(header), len(payload)) + header + payload
    return text + struct.pack(">I", zlib.crc32(text))


class Alternation:
    """Two machines that write by turns, each a row of `item(id, n, body)` at a time.

    - cluster: Of the replica that gets their history.
    """

    def __init__(self, rng, cluster="main"):
        self.cluster = cluster.encode()
        self.relay = rng.randbytes(16)
        self.origins = sorted(rng.randbytes(16) for _ in range(2))
        self.rounds = 0
        # Some hours ago, so that no stamp is ahead of a clock.
        self.stamp = int((time.time() - 6 * 3600) * 1000) << 16

    def push(self, rounds):
        """Returns the body of a push of so many further rounds, with one row of each machine."""
        first, last = self.rounds + 1, self.rounds + rounds
        payload = self.batch(first, last)
        covers = b"".join(
            field(1, field(1, origin) + field(2, first) + field(3, last)) for origin in self.origins)
        vector = b"".join(field(1, field(1, origin) + field(2, last)) for origin in self.origins)
        self.rounds = last
        return b"".join((
            frame(field(2, field(1, self.cluster) + field(2, self.relay))),
            frame(field(3, covers + field(2, ENCODING_NONE) + field(3, len(payload))), payload),
            frame(field(4, field(1, vector)))))

    def batch(self, first, last):
        # The machine and the version of each change. The second machine has seen the change before its own, and so
        # has the first, but for the very first change.
        changes = [(machine, version) for version in range(first, last + 1) for machine in (0, 1)]
        seen = [version if machine else version - 1 for machine, version in changes]
        texts = [text for machine, version in changes for text in (f"{'xy'[machine]}{version}", "text")]
        deltas = [zigzag(self.stamp + 65536)] + [zigzag(65536)] * (len(changes) - 1)
        self.stamp += 65536 * len(changes)
        content = [text.encode() for text in texts]
        return b"".join((
            field(1, field(1, b"item") + field(2, b"id") + field(2, b"n") + field(2, b"body") + field(3, 1)),
            field(2, field(1, 0) + field(2, INSERT) + packed(3, [0b110])),
            *(field(3, origin) for origin in self.origins),
            packed(4, [machine for machine, _ in changes]),
            packed(5, [version for _, version in changes]),
            packed(6, [1] * len(changes)),
            packed(7, [0] * len(changes)),
            packed(8, [int(known > 0) for known in seen]),
            packed(9, [1 - machine for (machine, _), known in zip(changes, seen) if known]),
            packed(10, [known for known in seen if known]),
            packed(11, [0] * len(changes)),
            packed(12, deltas),
            packed(15, [1] * len(changes)),
            field(16, bytes([TEXT, INTEGER, TEXT]) * len(changes)),
            packed(17, [zigzag(version) for _, version in changes]),
            packed(19, map(len, content)),
            field(20, b"".join(content))))
