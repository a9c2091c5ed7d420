"""Real programs on two replicas with daemons: Django, SQLAlchemy with Alembic, peewee, sqlite-utils with Datasette,
and Python's sqlite3.

The programs come from PyPI, in the versions of programs/requirements.txt, into an environment of the campaign.
Each has a file of programs/, and writes only through its own API. For each one:

  1. It makes its schema and some rows on the first machine. `syncd init` makes the file a replica, and `syncd
     clone` makes the second machine from it. How much slower its writes have become is measured beside this.
  2. Both machines write while no daemon of the second one runs, so that they meet with conflicts.
  3. Both write at once, with daemons.
  4. The first machine is upgraded (the program's own migration) while the second one writes on the old schema;
     then the second one is upgraded while the first one writes on the new schema; then both write again.

Then these must hold: every write of every program has succeeded; SQLite finds no damage, and no broken foreign
key where the program enforces them; all tables that replicate have equal rows, compared here by SQL and by
`syncd verify`; both hold equally many rows, and have equally many conflicts; the program reads everything by its
own API and finds its rows in its full-text index; it reads the same on both.

The suite of SQLAlchemy's dialects and Django's suite of models and queries, which come with their sources, run on a
plain file and on a replica with a daemon: each of their tests must end in the same way.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys

from campaign import EQUAL, Campaign, Failed
from replicas import Replica, wait_until_equal
from suites import SUITES

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
MEASUREMENTS = 3
# Each with its rule for foreign keys, and what `init` needs to know besides.
KINDS = {
    "django_shop": ("enforce", ()),
    "sqlalchemy_records": ("keep", ()),
    "peewee_notes": ("keep", ()),
    "datasette_documents": ("keep", ()),
    "sqlite_inventory": ("enforce", ()),
}


class Apps(Campaign):
    name = "apps"
    about = "Real programs from PyPI on two replicas: conflicts, deletes and an upgrade in the middle."

    @classmethod
    def arguments(cls, parser):
        parser.add_argument("--only", choices=sorted([*KINDS, *(suite.name for suite in SUITES)]), help="one program only")
        parser.add_argument("--writes", type=int, default=int(os.environ.get("WRITES") or 40),
                            help="transactions of a machine in a round")
        parser.add_argument("--environment", metavar="DIR", help="a virtual environment to use, or to make and keep")

    def reproduce(self):
        only = f" OPTIONS='--only {self.options.only}'" if self.options.only else ""
        return f"make apps SEED={self.seed} WRITES={self.options.writes}{only}"

    def prepare(self):
        self.turns = 0
        self.kinds = [kind for kind in KINDS if self.options.only in (None, kind)]
        self.floors = {"programs": len(self.kinds), "transactions": 3 * len(self.kinds) * self.options.writes}
        place = os.path.abspath(self.options.environment or os.path.join(self.directory, "environment"))
        self.python = os.path.join(place, "bin", "python")
        if self.kinds and not os.path.exists(self.python):
            self.note("installing the programs")
            self.external([sys.executable, "-m", "venv", place])
            self.external([
                self.python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile",
                "--disable-pip-version-check", "--requirement", os.path.join(PROGRAMS, "requirements.txt")])
        self.suites = [suite for suite in SUITES if self.options.only in (None, suite.name)]
        for suite in self.suites:
            self.floors[f"tests of {suite.name}"] = suite.fewest

    def external(self, line):
        process = self.start(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        output, _ = process.communicate(timeout=600)
        self.expect(process.returncode == 0, f"{' '.join(line[:5])} ends with {process.returncode}: {output[-2000:]}")

    def run(self):
        for kind in self.kinds:
            self.program = kind
            self.try_program()
            self.count("programs")
        for suite in self.suites:
            self.program = suite.name
            self.try_suite(suite)

    # --- One program ----------------------------------------------------------------------------------------------

    def try_program(self):
        first, second = Replica(self, f"{self.program}-a"), Replica(self, f"{self.program}-b")
        rule, flags = KINDS[self.program]
        self.step(first, "create")
        self.slowdown(first, rule, flags)
        self.command("init", first.path, "--foreign-keys", rule, *flags)
        first.peers, second.peers = [second], [first]
        first.start().wait_until_listening()
        self.command("clone", first.url, second.path, "--token-file", self.token_file)
        both = [first, second]
        second.start().wait_until_listening()

        second.daemon.stop()
        for replica in both:
            self.step(replica, "write")
        second.start().wait_until_listening()
        self.meet(both, "apart")
        self.together(both, (1, 1))
        self.meet(both, "together")

        upgrade = self.begin(first, "upgrade", 1)
        self.step(second, "write")
        self.end(upgrade)
        self.together(both, (2, 1))
        wait_until_equal(both)
        upgrade = self.begin(second, "upgrade", 1)
        self.step(first, "write", 2)
        self.end(upgrade)
        self.together(both, (2, 2))
        self.meet(both, "after the upgrade", version=2)
        for replica in both:
            replica.daemon.stop()

    # --- A suite of another project -------------------------------------------------------------------------------

    def try_suite(self, suite):
        place = os.path.join(self.directory, suite.name)
        python = os.path.join(place, "bin", "python")
        self.note(f"installing {suite.name}")
        self.external([sys.executable, "-m", "venv", place])
        pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        self.external([*pip, "install", "--no-deps", "--requirement", os.path.join(suite.directory, "requirements.txt")])
        self.external([*pip, "download", "--no-deps", "--no-binary", ":all:", "--dest", place, suite.source])
        archive = next(name for name in os.listdir(place) if name.endswith(".tar.gz"))
        self.external(["tar", "-xf", os.path.join(place, archive), "-C", place])
        source = os.path.join(place, archive.removesuffix(".tar.gz"))

        plain = self.endings(suite, python, source, suite.path(self.directory, "plain"))
        replica = Replica(self, suite.name)
        replica.path = suite.path(self.directory, "replica")
        sqlite3.connect(replica.path).execute("CREATE TABLE kept (id TEXT PRIMARY KEY)").connection.close()
        self.command("init", replica.path, "--foreign-keys", suite.foreign_keys)
        replica.start().wait_until_listening()
        captured = self.endings(suite, python, source, replica.path)
        replica.daemon.check()
        different = {name: (ending, captured.get(name)) for name, ending in plain.items() if captured.get(name) != ending}
        self.expect(not different and len(captured) == len(plain),
                    f"{len(different)} tests end otherwise on a replica: {dict(list(different.items())[:5])}")
        entries = sqlite3.connect(replica.path).execute("SELECT max(seq) FROM _journal").fetchone()[0]
        self.expect(entries and entries > 50, f"the journal has {entries} entries, so nothing was captured")
        replica.daemon.stop()
        self.count(f"tests of {suite.name}", sum(ending == "PASSED" for ending in captured.values()))

    def endings(self, suite, python, source, path):
        """Runs the suite on a file, and returns how each test ended."""
        process = self.start(
            suite.command(python, path), environment={**suite.environment(source, path), "PYTHONDONTWRITEBYTECODE": "1"},
            cwd=suite.working_directory(source), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        output, _ = process.communicate(timeout=900)
        found = suite.endings(output)
        self.expect(found, f"the suite did not run: {output[-2000:]}")
        self.note(f"{suite.name}, {os.path.basename(path)}: {len(found)} tests, "
                  f"{sum(ending == 'PASSED' for ending in found.values())} passed")
        return found

    # --- What it costs --------------------------------------------------------------------------------------------

    def slowdown(self, replica, rule, flags):
        """Measures the same transactions on copies without a journal and with it: the processor time of the
        program, the least of several runs, because other processes disturb every run."""
        least = {}
        for number in range(MEASUREMENTS):
            for kind in ("plain", "captured"):
                copy = Replica(self, f"{self.program}-{number}-{kind}")
                shutil.copy(replica.path, copy.path)
                if kind == "captured":
                    self.command("init", copy.path, "--foreign-keys", rule, *flags)
                else:
                    # A replica has a write-ahead log, so the other one gets one, too.
                    sqlite3.connect(copy.path).execute("PRAGMA journal_mode = WAL").connection.close()
                report = self.step(copy, "write", count=5 * self.options.writes)
                least[kind] = min(least.get(kind, report["processor"]), report["processor"])
        milliseconds = [1000 * least[kind] / (5 * self.options.writes) for kind in ("plain", "captured")]
        self.note(f"{self.program}: a transaction takes {milliseconds[0]:.2f} ms of the processor without a journal, "
                  f"{milliseconds[1]:.2f} ms with it ({milliseconds[1] / milliseconds[0]:.2f} times)")

    def together(self, replicas, versions):
        for process in [self.begin(replica, "write", version) for replica, version in zip(replicas, versions)]:
            self.end(process)

    def meet(self, replicas, when, version=1):
        """Waits until both know the same, and checks everything."""
        wait_until_equal(replicas)
        found = []
        for replica in replicas:
            status = json.loads(self.command("status", replica.path, "--json").stdout)
            found.append((self.rows(replica.path, [table["name"] for table in status["tables"]]), status))
        (rows, status), (other_rows, other_status) = found
        self.expect(rows.keys() == other_rows.keys(), f"{self.program} {when}: different tables replicate")
        for table in rows:
            only = set(rows[table]) ^ set(other_rows[table])
            self.expect(rows[table] == other_rows[table], f"{self.program} {when}: {table} differs: {sorted(map(repr, only))[:4]}")
        for field in ("held_by_reason", "conflicts"):
            self.expect(status[field] == other_status[field],
                        f"{self.program} {when}: {field} is {status[field]} and {other_status[field]}")
        self.command("verify", replicas[0].path, replicas[1].path, status=EQUAL)
        reports = [self.step(replica, "check", version) for replica in replicas]
        self.expect(reports[0] == reports[1], f"{self.program} {when}: the program reads different rows")
        self.count("rows compared", sum(map(len, rows.values())))
        self.counts["conflicts"] = self.counts.get("conflicts", 0) + (status["conflicts"] if version == 2 else 0)
        self.note(f"{self.program}, {when}: {sum(map(len, rows.values()))} rows in {len(rows)} tables are equal, "
                  f"{status['conflicts']} conflicts, {status['held']} held")

    def rows(self, path, names):
        """The rows of tables, sorted, after SQLite's own checks."""
        db = sqlite3.connect(path, timeout=60)
        try:
            db.text_factory = bytes
            pragmas = ["integrity_check"] + (["foreign_key_check"] if KINDS[self.program][0] == "enforce" else [])
            for pragma in pragmas:
                problems = [row for row in db.execute(f"PRAGMA {pragma}") if row != (b"ok",)]
                self.expect(not problems, f"{pragma} of {os.path.basename(path)}: {problems[:5]}")
            found = {}
            for name in names:
                columns = sorted(row[1].decode() for row in db.execute(f'PRAGMA table_info("{name}")'))
                listed = ", ".join(f'typeof("{column}"), "{column}"' for column in columns)
                found[name] = sorted(db.execute(f'SELECT {listed} FROM "{name}"').fetchall(), key=repr)
            return found
        finally:
            db.close()

    # --- Steps of a program ---------------------------------------------------------------------------------------

    def begin(self, replica, step, version=1, count=None):
        side = replica.name.rsplit("-", 1)[1]
        self.turns += 1
        # The measurement compares the same transactions.
        seed = f"{self.seed} {side} {self.turns}" if side in ("a", "b") else f"{self.seed} x"
        line = [self.python, "-B", os.path.join(PROGRAMS, f"{self.program}.py"), step, replica.path, seed, side,
                str(2 if step == "upgrade" else version), str(count or self.options.writes)]
        process = self.start(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.what = f"{step} of {replica.name}"
        return process

    def end(self, process):
        output, errors = process.communicate(timeout=300)
        if process.returncode != 0:
            raise Failed(f"{process.what} fails: {errors[-3000:]}")
        report = json.loads(output.splitlines()[-1])
        for what, number in report.get("done", {}).items():
            self.count("transactions", number)
            self.count(what, number)
        return report

    def step(self, replica, step, version=1, count=None):
        return self.end(self.begin(replica, step, version, count))
