"""What has passed, and of what: shared by scripts/unit-tests and scripts/unchanged."""

import hashlib
import os
import pathlib
import platform
import re


def cpu():
    """The processor, whose instructions decide on bits."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.machine()
    return "\n".join(sorted(set(re.findall(r"^(?:model name|flags)\s*:.*$", text, re.M))))


def files_of(paths):
    for path in map(pathlib.Path, paths):
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
        else:
            yield path


# Where things are and how many run at once: which lane of scripts/test a part runs in decides on some.
PLACES = ("HOPPER_AGAIN", "HOPPER_BUILD", "HOPPER_CACHE", "HOPPER_JOBS", "HOPPER_SERVER_LOG")


def variables():
    """What tests are told by the environment: seeds, numbers of rounds."""
    return [f"{name}={text}" for name, text in sorted(os.environ.items())
            if name.startswith("HOPPER_") and name not in PLACES]


def digest(paths, words):
    """Of the content of files, of folders with all that is in them, of words and of the environment."""
    total = hashlib.sha256(cpu().encode())
    for word in [*words, *variables()]:
        total.update(word.encode() + b"\0")
    for path in files_of(paths):
        total.update(str(path).encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


class Stamp:
    """What a success leaves in a build folder: the digest, how many tests it were, and the names of skipped ones."""

    def __init__(self, build, name):
        self.path = pathlib.Path(build) / "passed" / name

    def read(self, wanted):
        """How many tests passed with this digest, and which were skipped; None where it has not passed."""
        try:
            first, *skipped = self.path.read_text(encoding="utf-8").splitlines()
            seen, tests = first.split()
        except (OSError, ValueError):
            return None
        return (int(tests), skipped) if seen == wanted else None

    def tests(self, wanted):
        known = self.read(wanted)
        return known and known[0]

    def forget(self):
        self.path.unlink(missing_ok=True)

    def keep(self, wanted, tests, skipped=()):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("\n".join([f"{wanted} {tests}", *skipped, ""]), encoding="utf-8")


def passed_tests(output):
    """What programs of GoogleTest, pytest, pg_regress and TAP say that passed."""
    sums = re.findall(r"\[  PASSED  \] (\d+) test", output) + re.findall(r"\b(\d+) passed\b.* in [0-9.]+s", output)
    lines = re.findall(r"^(?:ok \d+ |(?:test|ok|    |parallel).*\.\.\. +ok)", output, re.M)
    return sum(map(int, sums)) + len(lines)
