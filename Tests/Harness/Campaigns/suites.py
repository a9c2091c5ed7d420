"""The own suites of programs, from their source distributions, on a file of their choice.

Each has a directory of programs/suites with what it needs. `command` and `environment` run it on a file, and `endings`
reads how each test ended.
"""

import os
import re

PLACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "suites")


class SQLAlchemySuite:
    name = "sqlalchemy_suite"
    source = "SQLAlchemy==2.0.36"
    directory = os.path.join(PLACE, "sqlalchemy")
    foreign_keys = "keep"
    fewest = 1400
    tests = ("test/dialect/test_suite.py", "test/dialect/test_sqlite.py")

    @staticmethod
    def path(directory, kind):
        # The suite makes its own name of the file's.
        return os.path.join(directory, f"{kind}_pysqlite.db")

    def command(self, python, path):
        return [python, "-m", "pytest", "-p", "keep_file", *self.tests, "--dburi",
                f"sqlite:///{path.replace('_pysqlite.db', '.db')}", "-p", "no:warnings", "-p", "no:cacheprovider", "-q",
                "-rA", "--tb=no"]

    def environment(self, source, path):
        return {"PYTHONPATH": self.directory + os.pathsep + os.path.join(source, "lib")}

    @staticmethod
    def working_directory(source):
        return source

    @staticmethod
    def endings(output):
        found = {}
        for line in output.splitlines():
            words = line.split(" ", 1)
            if len(words) == 2 and words[0] in ("PASSED", "FAILED", "ERROR"):
                found[words[1].split(" - ")[0]] = words[0]
        return found


class DjangoSuite:
    """The part about models and queries. The suites of the schema editor and of migrations make and drop tables all the
    time, which takes minutes."""

    name = "django_suite"
    source = "Django==5.1.4"
    directory = os.path.join(PLACE, "django")
    foreign_keys = "enforce"
    fewest = 1700
    tests = (
        "basic", "lookup", "queries", "ordering", "many_to_many", "many_to_one", "one_to_one", "transactions",
        "bulk_create", "update", "delete", "select_related", "expressions", "aggregation", "model_fields",
    )
    WORDS = {"ok": "PASSED", "FAIL": "FAILED", "ERROR": "ERROR", "expected failure": "EXPECTED"}

    @staticmethod
    def path(directory, kind):
        return os.path.join(directory, f"django-{kind}.sqlite")

    def command(self, python, path):
        return [python, "runtests.py", "--settings=file_sqlite", "--parallel=1", "--keepdb", "--verbosity=2", *self.tests]

    def environment(self, source, path):
        return {"PYTHONPATH": self.directory + os.pathsep + source, "SUITE_FILE": path}

    @staticmethod
    def working_directory(source):
        return os.path.join(source, "tests")

    @classmethod
    def endings(cls, output):
        found, test = {}, None
        for line in output.splitlines():
            # `test_name (module.Class.test_name)`, perhaps with a description in a line of its own.
            named = re.match(r"(test\w* \([\w.]+\))", line)
            test = named.group(1) if named else test
            ending = cls.WORDS.get(line.rpartition(" ... ")[2]) if " ... " in line else None
            if test and ending:
                found[test] = ending
        return found


SUITES = (SQLAlchemySuite(), DjangoSuite())
