"""Which tests belong to files of this repository: for scripts/test --for.

  python3 scripts/tests_for.py PATH...    lines "PART TEST", of which `unit`, `sql` and `pgtap` name a test, the
                                          folders of clients' tests a file, and other parts are run whole
  python3 scripts/tests_for.py --self-test    each test that belongs to a file is there, and no room of the sources has none

A source of the core belongs to the test program that has the name of the innermost of its folders that there is
one of; a file of the glue, or of an SQL function, to the tests that call its functions most, of each folder.
"""

import collections
import functools
import pathlib
import re
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
UNIT = {path.name for path in (ROOT / "test/unit").iterdir() if list(path.glob("*_test.cpp"))}
# Folders of src whose tests have another name.
ELSEWHERE = {"metrics": "loss", "planned": "network", "predict": "capi_torch", "autograd": "train"}
# What of the glue has no functions of its own: rooms that use it most.
USERS = {"backend.h": ("pack", "train"), "codec": ("pack", "predict"), "local": ("pack", "train")}
CLIENTS = ("e2e", "hostile", "python", "viewers")
# What no test has for its own: hosts of a cluster need it.
UNTESTED = {"src/portable"}
# Tests that call each function, or that take minutes to see what holds for all of them.
OF_ALL = {"control_group_memory_test", "disk_full_test", "every_function_test", "kill_test", "memory_fails_test", "memory_peak_test",
          "names_test"}
# How many files of a folder, and which of those: the ones that come near the first.
MOST, NEAR = 3, 0.5


@functools.lru_cache(maxsize=None)
def called(path):
    """How often a test calls which of our functions."""
    return collections.Counter(re.findall(r"\bhopper\.(\w+)\(", path.read_text(encoding="utf-8")))


@functools.lru_cache(maxsize=None)
def words(path):
    return collections.Counter(re.findall(r"\b(\w+)\(", path.read_text(encoding="utf-8")))


@functools.lru_cache(maxsize=None)
def defined(path):
    return {f"hopper_sql_{name}" for name in
            re.findall(r"^HOPPER_\w*FUNCTION\(hopper_sql_(\w+)\)", path.read_text(encoding="utf-8"), re.M)}


@functools.lru_cache(maxsize=None)
def sql_functions():
    return {path.stem: set(re.findall(r"'(hopper_sql_\w+)'", path.read_text(encoding="utf-8")))
            for path in (ROOT / "sql/functions").glob("*.sql")}


def functions_of(files):
    """SQL functions that are defined in files of the glue."""
    names = set().union(*map(defined, files))
    return {name for name, symbols in sql_functions().items() if names & symbols}


def most_about(functions, called=called):
    """The tests in which the largest part of all calls is of these functions; `called`: how calls are written."""
    for folder, pattern in (("sql", "*.sql"), *((name, "*_test.py") for name in CLIENTS)):
        shares = {}
        for path in (ROOT / "test" / folder).glob(pattern):
            calls = called(path)
            of_these = sum(calls[name] for name in functions)
            if of_these and path.stem not in OF_ALL:
                shares[path.stem] = of_these / sum(calls.values())
        names = sorted(shares, key=lambda name: (-shares[name], name))[:MOST]
        yield from ((folder, name) for name in names if shares[name] >= NEAR * shares[names[0]])


def about_sql(functions):
    """The tests of SQL functions, or, of parts of others, those of the functions that call them."""
    found, seen = [], set()
    while functions and not (found := list(most_about(functions)) or list(most_about(functions, words))):
        files = {path for path in (ROOT / "sql/functions").glob("*.sql") if functions & set(words(path))}
        seen |= functions
        functions = {path.stem for path in files} - seen
    return found


def programs(path):
    """Of a file of the core."""
    if "cuda" in path.parts:
        return ["cuda", "gpu"]
    if path.parts[0] == "include" or path.parts[1] == "capi":
        return ["capi", "capi_torch"]
    if path.parts[1] == "activation":
        return ["network"]
    name = next((ELSEWHERE.get(part, part) for part in reversed(path.parts) if ELSEWHERE.get(part, part) in UNIT), None)
    # A layer is in a folder of `model`; what it computes is tested with the networks.
    computes = name == "model" and re.match(r"torch|planned", path.name)
    return [name, "network"] if computes else [name] if name else []


def tests_of(path):
    top, below = path.parts[0], path.parts[1] if len(path.parts) > 1 else ""
    whole = ROOT / path
    if path.parts[:2] == ("src", "pg"):
        if "greenplum" in path.parts:
            return [("greenplum", "")]
        files = [whole] if whole.is_file() else list(whole.rglob("*.c"))
        users = [file for room in USERS.get(path.parts[2], ()) for file in (ROOT / "src/pg" / room).glob("*.c")]
        return most_about(functions_of(files) or functions_of(whole.parent.glob("*.c")) or functions_of(users))
    if top in ("src", "include"):
        return [("unit", name) for name in programs(path)]
    if path.parts[:2] == ("sql", "functions"):
        made = re.findall(r"^CREATE FUNCTION hopper\.(\w+)\(", whole.read_text(encoding="utf-8"), re.M)
        return [("pgtap", "catalog"), *about_sql({path.stem, *made})]
    if top == "sql":
        return [("pgtap", file.stem) for file in (ROOT / "test/pgtap").glob("*.sql")] + [("e2e", "update_test")]
    if top == "expected":
        return [("sql", path.stem)]
    if top == "clients":
        return [("python", file.stem) for file in (ROOT / "test/python").glob("*_test.py")]
    if top == "test" and below == "unit":
        return [("unit", path.parts[2])] if path.parts[2] in UNIT else []
    if top == "test" and below in ("sql", "pgtap"):
        return [(below, path.stem)]
    if top == "test" and below in CLIENTS:
        return [(file.parent.name, file.stem) for folder in CLIENTS for file in (ROOT / "test" / folder).glob("*_test.py")
                if file == whole or re.search(rf"^(from|import) {path.stem}\b", file.read_text(encoding="utf-8"), re.M)]
    if top == "test" and below in ("isolation", "fuzz", "greenplum"):
        return [(below, "")]
    if path.suffix == ".md" or top in ("docs", "examples"):
        return [("docs", "")]
    return []


# Of some files what must be among their tests: one of each kind.
SURE = {"src/loss/rows/hinges.h": "unit loss", "src/metrics/rows/auc.h": "unit loss", "src/capi/lists.cpp": "unit capi",
        "src/model/layers/activation/leaky_relu.h": "unit model", "src/pg/run/lease.c": "e2e run_sessions_test",
        "src/pg/greenplum/kernel.h": "greenplum", "sql/functions/auto_fit.sql": "e2e auto_fit_test", "sql/functions/report_axes.sql": "e2e report_test",
        "sql/tables.sql": "e2e update_test",
        "expected/search.out": "sql search", "test/unit/state": "unit state", "test/pgtap/catalog.sql": "pgtap catalog",
        "test/e2e/digits.py": "e2e runs_test", "clients/python/pyproject.toml": "python runs_test", "README.md": "docs"}


def is_there(part, test):
    if not test:
        return (ROOT / "test" / part).is_dir() or part == "docs"
    names = {"unit": "unit/{}", "sql": "sql/{}.sql", "pgtap": "pgtap/{}.sql"}
    return (ROOT / "test" / names.get(part, part + "/{}.py").format(test)).exists()


def self_test():
    for name, sure in SURE.items():
        if sure not in {f"{part} {test}".strip() for part, test in tests_of(pathlib.Path(name))}:
            yield f"{sure} is not among the tests of {name}"
    rooms = {path.parent for top in ("src", "sql") for path in (ROOT / top).rglob("*.*") if path.suffix in (".c", ".cpp", ".sql", ".h")}
    for room in sorted(room.relative_to(ROOT) for room in rooms):
        found = {each for path in (ROOT / room).iterdir() if path.is_file() for each in tests_of(path.relative_to(ROOT))}
        yield from (f"{part} {test} of {room} is not there" for part, test in found if not is_there(part, test))
        if not found and room.as_posix() not in UNTESTED:
            yield f"no test belongs to any file of {room}"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1:] == ["--self-test"]:
        problems = list(self_test())
        sys.exit("\n".join(problems) or None)
    found = {}
    for word in sys.argv[1:]:
        path = pathlib.Path(word).resolve()
        if not path.exists() or ROOT not in path.parents:
            sys.exit(f"tests_for: {word} is no file of {ROOT.name}")
        found.update(dict.fromkeys(tests_of(path.relative_to(ROOT))))
    for part, test in found:
        print(part, test)


if __name__ == "__main__":
    main()
