"""Writers under test: a Python program, the sqlite3 shell, and a Swift service. Each reports its commits
through a pipe or a socket, so that the record of acknowledged transactions is outside of the process that is
killed.

Each incarnation takes keys of its own, so each key has one author, whose transactions have an order. The
rows at the end must be the effect of all acknowledged transactions, and possibly of the next ones that were
begun, none in part.
"""

import collections
import http.client
import json
import os
import random
import select
import signal
import subprocess
import sys
import threading

from campaign import Failed
from replicas import SHARED_ROWS


class Author:
    """What one incarnation of a writer reported."""

    def __init__(self, name):
        self.name = name
        self.state = {}
        # The effects of transactions that were begun and not acknowledged: {key: value}, None for a deleted
        # row.
        self.open = collections.deque()
        self.acknowledged = 0
        # The state when all peers were last known to have everything, and the effects of each transaction
        # since.
        self.settled, self.since = {}, []

    def settle(self, rows):
        """Every row that is here is on every replica; an effect that is missing here never comes."""
        keys = set(self.state).union(*self.open) if self.open else set(self.state)
        self.state = {key: rows.get(key) for key in keys}
        self.open.clear()
        self.settled, self.since = dict(self.state), []

    def doubt(self):
        """Acknowledged transactions since the last settled state may be lost, from some transaction on."""
        self.open = collections.deque([*self.since, *self.open])
        self.state, self.since = dict(self.settled), []

    def begun(self, effects):
        self.open.append(effects)

    def done(self):
        effects = self.open.popleft()
        self.state.update(effects)
        self.since.append(effects)
        self.acknowledged += 1

    def check(self, rows):
        """Returns how many rows of the author are there. `rows` maps keys to values."""
        state = dict(self.state)
        keys = set(state).union(*self.open) if self.open else set(state)
        found = {key: rows.get(key) for key in keys}
        for effects in [{}, *self.open]:
            state.update(effects)
            if all(found[key] == state.get(key) for key in keys):
                return sum(value is not None for value in found.values())
        doubtful = set().union(*self.open) if self.open else set()
        wrong = sorted(key for key in keys if found[key] != self.state.get(key) and key not in doubtful)
        raise Failed(
            f"writes of {self.name} are lost or torn: {wrong[:5] or 'part of an unacknowledged transaction'}")


def plan(rng, name, alive, canary, number):
    """Makes a random transaction on the tables of `replicas.SCHEMA`: statements with values, and effects on
    `account`."""
    steps, effects = [], {}
    for step in range(rng.randint(1, 4)):
        kind = rng.random()
        if kind < 0.5 or not alive:
            key, value = f"{canary}.{name}.{number}.{step}", rng.randint(0, 1 << 40)
            steps.append(("INSERT INTO account VALUES (?, ?, ?, ?, ?)",
                          (key, value, canary + "x" * rng.randint(0, 200), rng.randbytes(rng.randint(0, 64)), rng.random())))
            for no in range(rng.randint(0, 2)):
                steps.append(("INSERT INTO entry VALUES (?, ?, ?)", (key, no, value)))
            alive.append(key)
            effects[key] = value
        elif kind < 0.75:
            key, value = rng.choice(alive), rng.randint(0, 1 << 40)
            steps.append(("UPDATE account SET n = ?, body = body || 'y' WHERE id = ?", (value, key)))
            effects[key] = value
        elif kind < 0.85:
            key = alive.pop(rng.randrange(len(alive)))
            steps.append(("DELETE FROM account WHERE id = ?", (key,)))
            effects[key] = None
        else:
            column = rng.choice("ab")
            steps.append((f"UPDATE shared SET {column} = ?, hits = hits + 1 WHERE id = ?",
                          (f"{canary}.{name}.{number}", rng.randint(1, SHARED_ROWS))))
    return steps, effects


def literal(value):
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return f"'{value}'" if isinstance(value, str) else repr(value)


def spelled(steps):
    """Returns statements for the shell, with their values in the text."""
    for sql, values in steps:
        first, *rest = sql.split("?")
        yield first + "".join(literal(value) + piece for value, piece in zip(values, rest)) + ";"


def python_writer(path, name, seed, canary):
    """The Python program: does as many transactions as each line of standard input says."""
    import sqlite3

    rng = random.Random(seed)
    db = sqlite3.connect(path, timeout=60, isolation_level=None)
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("PRAGMA synchronous = FULL")
    alive, number = [], 0

    def say(record):
        os.write(1, (json.dumps(record, separators=(",", ":")) + "\n").encode())

    for line in sys.stdin:
        for _ in range(int(line)):
            number += 1
            steps, effects = plan(rng, name, alive, canary, number)
            say({"begin": effects})
            db.execute("BEGIN IMMEDIATE")
            for sql, values in steps:
                db.execute(sql, values)
            db.execute("COMMIT")
            say({"done": number})


class Writer:
    """The base of the three kinds: a process, an author, and the number of transactions still to do."""

    kind = ""

    def __init__(self, replica, name, seed, progress):
        self.replica, self.progress = replica, progress
        self.author = Author(name)
        self.rng = random.Random(seed)
        self.owed = 0
        self.finished = threading.Event()
        self.is_killed = False
        self.log = open(os.path.join(replica.campaign.directory, f"{replica.name}-{self.kind}.log"), "ab")
        self.process = self.launch(seed)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        try:
            self.listen()
        finally:
            with self.progress:
                self.finished.set()
                self.progress.notify_all()

    def acknowledged(self):
        with self.progress:
            self.author.done()
            self.owed -= 1
            self.progress.notify_all()

    def order(self, count):
        with self.progress:
            self.owed += count
        self.give(count)

    def kill(self):
        self.is_killed = True
        self.process.kill()
        self.process.wait()
        self.release()
        if self.process.returncode != -signal.SIGKILL:
            raise Failed(f"{self.kind} writer {self.author.name} ended by itself with status {self.process.returncode}")

    def stop(self):
        self.is_killed = True
        self.end()
        self.process.wait(60)
        self.release()
        if self.process.returncode != 0:
            raise Failed(f"{self.kind} writer {self.author.name} failed with status {self.process.returncode}")

    def release(self):
        self.finished.wait(60)
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass
        self.log.close()

    def end(self):
        self.process.stdin.close()

    def send(self, data):
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass


class PythonWriter(Writer):
    kind = "python"

    def launch(self, seed):
        return self.replica.campaign.start(
            [*self.replica.wrapper, sys.executable, "-E", "-S", os.path.abspath(__file__), self.replica.path, self.author.name, str(seed),
             self.replica.campaign.canary],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)

    def give(self, count):
        self.send(b"%d\n" % count)

    def listen(self):
        for line in self.process.stdout:
            if not line.endswith(b"\n"):
                break  # cut off by the kill
            record = json.loads(line)
            if "begin" in record:
                with self.progress:
                    self.author.begun(record["begin"])
            else:
                self.acknowledged()


class ShellWriter(Writer):
    """The sqlite3 shell. It gets its transactions as text, and prints a line after each."""

    kind = "shell"

    def launch(self, seed):
        self.alive, self.number = [], 0
        process = self.replica.campaign.start(
            ["sqlite3", "-batch", "-bail", self.replica.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.log)
        self.process = process
        self.send(b".timeout 60000\nPRAGMA foreign_keys = ON;\nPRAGMA synchronous = FULL;\n")
        return process

    def give(self, count):
        for _ in range(count):
            self.number += 1
            steps, effects = plan(self.rng, self.author.name, self.alive, self.replica.campaign.canary, self.number)
            with self.progress:
                self.author.begun(effects)
            lines = ["BEGIN IMMEDIATE;", *spelled(steps), "COMMIT;", f"SELECT 'done {self.number}';"]
            self.send(("\n".join(lines) + "\n").encode())

    def listen(self):
        for line in self.process.stdout:
            if line.startswith(b"done ") and line.endswith(b"\n"):
                self.acknowledged()


class SwiftWriter(Writer):
    """The example service. A todo is acknowledged when the answer to its request arrives."""

    kind = "swift"

    def launch(self, seed):
        self.orders, self.wake = 0, threading.Event()
        self.is_ending = False
        return self.replica.campaign.start(
            [self.replica.campaign.options.todo_service, self.replica.path, "--port", "0"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=self.log)

    def give(self, count):
        with self.progress:
            self.orders += count
        self.wake.set()

    def end(self):
        self.is_ending = True
        self.wake.set()
        self.process.terminate()

    def listen(self):
        line = self.process.stdout.readline()
        if not line.endswith(b"\n"):
            return
        connection = http.client.HTTPConnection("127.0.0.1", int(line.rsplit(b":", 1)[1]), timeout=120)
        alive, number = [], 0
        try:
            while True:
                self.wake.wait()
                self.wake.clear()
                while True:
                    with self.progress:
                        if self.is_ending or self.is_killed and self.process.poll() is not None:
                            return
                        if self.orders == 0:
                            break
                        self.orders -= 1
                    number += 1
                    self.one(connection, alive, number)
        except (OSError, http.client.HTTPException) as error:
            if not self.is_killed:
                # The main thread sees it, and compares it with its own kills.
                self.failure = error

    def one(self, connection, alive, number):
        canary = self.replica.campaign.canary
        kind = self.rng.random()
        headers = {"Content-Type": "application/json"}
        if kind < 0.6 or not alive:
            key, value = f"{canary}.{self.author.name}.{number}", self.rng.randint(0, 1 << 40)
            request, effects = ("POST", "/todos", json.dumps({"title": f"{key}:{value}"})), {key: value}
        else:
            key, number_ = self.rng.choice(alive)
            if kind < 0.85:
                value = self.rng.randint(0, 1 << 40)
                request, effects = ("PATCH", f"/todos/{number_}", json.dumps({"title": f"{key}:{value}"})), {key: value}
            else:
                alive.remove((key, number_))
                request, effects = ("DELETE", f"/todos/{number_}", ""), {key: None}
        with self.progress:
            self.author.begun(effects)
        connection.request(*request[:2], request[2].encode(), headers)
        answer = connection.getresponse()
        body = answer.read()
        if answer.status not in (200, 201, 204):
            raise http.client.HTTPException(f"{request[0]} gives {answer.status}")
        if request[0] == "POST":
            alive.append((key, json.loads(body)["id"]))
        self.acknowledged()

    def kill(self):
        self.is_killed = True
        self.wake.set()
        super().kill()

    def release(self):
        self.wake.set()
        super().release()


def written_rows(rows):
    """Maps keys to values, of `account` and `todo`, from what `replicas.content` returns."""
    found = {row[2].decode(): row[3] for row in rows["account"]}  # body, data, id, n, rate
    for row in rows.get("todo", []):  # created_at, done, id, title
        key, value = row[3].decode().rsplit(":", 1)
        if key in found:
            raise Failed(f"the row {key.split('.', 1)[1]} is there twice")
        found[key] = int(value)
    return found


if __name__ == "__main__":
    python_writer(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
