"""A plugin of pytest: leaves out test files that are unchanged since they passed.

  PYTHONPATH=scripts pytest -p pytest_passed --passed-in BUILD [--depends PATH]... FOLDER

A test file is unchanged where it is, with the test files that it imports and what else lies in the test
folders, and so are the files and folders named by --depends, BUILD's libraries and SQL, the server's
program and the processor. Tests of it that were skipped are tried again. BUILD/passed holds what
passed. Where HOPPER_AGAIN is set everything runs.
"""

import collections
import os
import pathlib
import re
import shutil
import sys

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from passed import Stamp, digest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("test/e2e", "test/hostile", "test/python")
IMPORTED = re.compile(r"^(?:from|import) (\w+_test)\b", re.M)


def pytest_addoption(parser):
    parser.addoption("--passed-in", metavar="BUILD", help="leave out test files that are unchanged since they passed")
    parser.addoption("--depends", action="append", default=[], metavar="PATH", help="what the tests depend on besides")


def pytest_configure(config):
    if config.getoption("--passed-in"):
        config.pluginmanager.register(Passed(config), "passed files")


def with_imports(file):
    """A test file, and those that it takes something from."""
    found, new = [], [file]
    while new:
        found.append(new.pop())
        for name in IMPORTED.findall(found[-1].read_text(encoding="utf-8")):
            new += [path for folder in FOLDERS for path in [ROOT / folder / f"{name}.py"]
                    if path.exists() and path not in found]
    return sorted(found)


class Passed:
    def __init__(self, config):
        self.build = pathlib.Path(config.getoption("--passed-in")).resolve()
        self.files = {}  # of a test, by its node's id
        self.now = {}  # the digest of a file when it was collected
        self.tests = collections.Counter()  # of a file, that passed
        self.skipped = collections.defaultdict(set)
        self.bad = set()  # files with failures
        self.unchanged = {}
        helpers = [path for folder in FOLDERS for path in sorted((ROOT / folder).iterdir())
                   if path.is_file() and not path.name.endswith("_test.py")]
        libraries = sorted(self.build.glob("*.so")) + sorted(self.build.glob("*.sql"))
        postgres = shutil.which("postgres")  # of the private server, which is first in PATH
        depends = [pathlib.Path(path).resolve() for path in config.getoption("--depends")]
        self.common = digest([*helpers, *libraries, *([postgres] if postgres else []), *depends], [sys.version])

    def stamp(self, file):
        return Stamp(self.build, f"{file.parent.name}-{file.stem}")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        files = collections.defaultdict(list)
        for item in items:
            files[item.path].append(item)
            self.files[item.nodeid] = item.path
        for file, tests in files.items():
            self.now[file] = digest(with_imports(file), [self.common])
            known = self.stamp(file).read(self.now[file])
            if known and known[0] + len(known[1]) == len(tests) and not os.environ.get("HOPPER_AGAIN"):
                self.unchanged[file] = [test for test in tests if test.nodeid not in known[1]]
                self.tests[file] = known[0]
                self.skipped[file].update(known[1])
            else:
                self.stamp(file).forget()
        unchanged = {item for tests in self.unchanged.values() for item in tests}
        items[:] = [item for item in items if item not in unchanged]
        config.hook.pytest_deselected(items=list(unchanged))

    def pytest_runtest_logreport(self, report):
        file = self.files[report.nodeid]
        if report.failed:
            self.bad.add(file)
            self.stamp(file).forget()
        elif report.skipped:
            self.skipped[file].add(report.nodeid)
        elif report.when == "call":
            self.skipped[file].discard(report.nodeid)
            self.tests[file] += 1

    def pytest_sessionfinish(self, session, exitstatus):
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            for file, tests in self.tests.items():
                if file not in self.bad:
                    self.stamp(file).keep(self.now[file], tests, sorted(self.skipped[file]))
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.unchanged:
            session.exitstatus = pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter):
        for file, tests in sorted(self.unchanged.items()):
            terminalreporter.write_line(f"unchanged since it passed: {file.parent.name}/{file.stem}, {len(tests)} tests")
