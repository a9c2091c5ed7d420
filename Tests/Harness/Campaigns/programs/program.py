"""What the programs of the campaign `apps` share: one step of a program, run as a process of its own.

`PYTHON NAME.py STEP DATABASE SEED SIDE VERSION COUNT` runs the function of that name: `create` makes the schema
of version 1 and some rows, `write` makes COUNT transactions on the schema of VERSION, `upgrade` brings the
schema from version 1 to 2, `check` reads everything through the program's own API. It prints one JSON object.
"""

import json
import random
import sys
import time
import uuid


class Step:
    """The arguments of one step."""

    def __init__(self, words):
        self.name, self.path, seed, self.side, version, count = words
        self.version, self.count = int(version), int(count)
        self.rng = random.Random(f"{seed} {self.name} {version} {count}")

    def word(self):
        return "".join(self.rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(self.rng.randint(3, 9)))

    def words(self, most=12):
        return " ".join(self.word() for _ in range(self.rng.randint(2, most)))

    def key(self):
        """A key that no other machine makes."""
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def some(self, things):
        """One of them, or None when there is none."""
        things = list(things)
        return self.rng.choice(things) if things else None

    def repeat(self, actions):
        """Runs actions, each by its weight, and returns how often each one was run, and the processor time in seconds."""
        counts = {}
        names = [name for name, weight in actions.items() for _ in range(weight[0])]
        began = time.process_time()
        for _ in range(self.count):
            name = self.rng.choice(names)
            if actions[name][1]() is not False:
                counts[name] = counts.get(name, 0) + 1
        return {"done": counts, "processor": time.process_time() - began}


def main(program):
    step = Step(sys.argv[1:7])
    print(json.dumps(program[step.name](step) or {}))
