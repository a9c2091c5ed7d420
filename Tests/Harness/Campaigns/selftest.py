"""Gives the checks of the campaigns what they must find: lost and torn writes, rows that nobody wrote, replicas
that differ, secrets in logs, counts below their floors, and leftovers of an interrupted campaign."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

from campaign import MARK, ROOT, Campaign, Failed
from replicas import Replica, check_equal, content
from writers import Author, spelled, written_rows


class SelfTest(Campaign):
    name = "campaign-test"
    about = "Show that the checks of the campaigns can fail."

    def run(self):
        self.authors()
        self.replicas()
        self.logs()
        self.leftover_processes()
        self.lost_interruption()
        self.interruptions()
        self.floors = {"planted": 15}

    def finds(self, what, body):
        try:
            body()
        except Failed:
            self.count("planted")
            return
        raise Failed(f"not found: {what}")

    def authors(self):
        def author():
            one = Author("w")
            for effects in ({"a": 1, "b": 1}, {"a": 2, "b": None}, {"c": 3, "a": 4}):
                one.begun(effects)
            one.done()
            one.done()
            return one

        self.expect(author().check({"a": 2}) == 1 and author().check({"a": 4, "c": 3}) == 2, "a correct state is reported as wrong")
        self.finds("a lost transaction", lambda: author().check({"a": 1, "b": 1}))
        self.finds("a lost row", lambda: author().check({}))
        self.finds("a deleted row that is there again", lambda: author().check({"a": 2, "b": 1}))
        self.finds("half a transaction", lambda: author().check({"a": 4}))
        self.finds("the other half", lambda: author().check({"a": 2, "c": 3}))
        restored = author()
        restored.settle({"a": 2})
        restored.begun({"d": 1})
        restored.done()
        restored.doubt()
        self.expect(restored.check({"a": 2}) == 1 and restored.check({"a": 2, "d": 1}) == 2, "a correct restored file is reported as wrong")
        self.finds("a lost write that every replica had", lambda: restored.check({"d": 1}))
        quoted = list(spelled([("INSERT INTO t VALUES (?, ?)", ("a?b", 1))]))
        self.expect(quoted == ["INSERT INTO t VALUES ('a?b', 1);"], f"a statement is spelled wrong: {quoted}")

    def replicas(self):
        first, second = Replica(self, "first"), Replica(self, "second")
        for replica in (first, second):
            replica.make()
        check_equal([first, second], verify=False)

        def change(sql):
            db = sqlite3.connect(second.path)
            db.execute(sql)
            db.commit()
            db.close()

        change("UPDATE shared SET a = 'x' WHERE id = 3")
        self.finds("a row that differs", lambda: check_equal([first, second], verify=False))
        change("UPDATE shared SET a = NULL WHERE id = 3")
        change("UPDATE shared SET id = 99 WHERE id = 20")
        self.finds("another row", lambda: check_equal([first, second], verify=False))
        change("INSERT INTO entry VALUES ('nobody', 1, 1)")
        self.finds("an orphan", lambda: content(second.path))
        with open(second.path, "r+b") as file:
            file.seek(4096 * 3)
            file.write(os.urandom(4096))

        def read():
            try:
                content(second.path)
            except sqlite3.DatabaseError as error:
                raise Failed(str(error))

        self.finds("a damaged page", read)
        self.finds("a key that is there twice", lambda: written_rows(
            {"account": [(b"", None, b"k", 1, 1)], "todo": [(1, 0, "id", b"c.k:1"), (1, 0, "id", b"c.k:1")]}))

    def logs(self):
        path = os.path.join(self.directory, "planted.log")
        for secret in (self.token, self.canary):
            with open(path, "w") as file:
                file.write(f"a line\nthe value {secret} of a row\n")
            self.finds("a secret in a log", self.scan_logs)
        os.unlink(path)

    def leftover_processes(self):
        child = self.start(["sleep", "600"])
        self.expect(self.leftovers(), "a process that is left behind is not found")
        self.end_processes()
        child.wait()
        self.expect(not self.marked_processes(), "a process is not ended")
        self.count("planted")

    def lost_interruption(self):
        """An interruption that comes while Python runs a finalizer is not lost."""
        class Finalized:
            def __del__(_):
                self.interrupt(signal.SIGTERM, None)

        ignored, sys.unraisablehook = sys.unraisablehook, lambda _: None
        Finalized()
        sys.unraisablehook = ignored
        try:
            self.start(["true"])
        except KeyboardInterrupt:
            self.interrupted = False
            self.count("planted")
            return
        raise Failed("an interruption in a finalizer is lost")

    def interruptions(self):
        """A campaign that is interrupted or killed leaves no process behind."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            place = os.path.join(self.directory, f"interrupted{int(number)}")
            os.mkdir(place)
            program = subprocess.Popen(
                [os.path.join(ROOT, "scripts", "campaign"), "copy-test", "--syncd", self.syncd],
                env={**self.environment, "TMPDIR": place}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 120
            while len(self.of(place)) < 4 and time.monotonic() < deadline:
                time.sleep(0.05)
            self.expect(len(self.of(place)) >= 4, "the campaign does not start")
            program.send_signal(number)
            status = program.wait(120)
            deadline = time.monotonic() + 20
            while self.of(place) and time.monotonic() < deadline:
                time.sleep(0.05)
            self.expect(not self.of(place), f"a campaign that got signal {number} leaves processes behind")
            if number == signal.SIGTERM:
                self.expect(status == 1 and not os.listdir(place), f"an interrupted campaign ends with {status} and leaves {os.listdir(place)}")
            self.count("interrupted")

    @staticmethod
    def of(place):
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    with open(f"/proc/{entry}/environ", "rb") as file:
                        if f"{MARK}={place}/".encode() in file.read():
                            found.append(entry)
                except OSError:
                    pass
        return found
