"""docker/start, with programs in the place of the server's that write down what they are asked."""

import os
import stat
import subprocess

import pytest

from digits import SOURCE

PROGRAMS = {
    "initdb": 'mkdir -p "$2/base" && echo 15 >"$2/PG_VERSION" && echo "# made" >"$2/postgresql.conf"',
    "pg_ctl": "true",
    "psql": '[ ! -e "$FAILING" ]',
    "postgres": 'test "$(cat "$2/postgresql.conf" | head -1)" = "# made" && test -d "$2/base"',
}


@pytest.fixture
def start(tmp_path):
    programs, data, failing = tmp_path / "bin", tmp_path / "data", tmp_path / "failing"
    programs.mkdir()
    data.mkdir(mode=0o700)
    for name, body in PROGRAMS.items():
        program = programs / name
        program.write_text(f'#!/bin/sh\necho "{name} $*" >>"$CALLS"\n{body}\n', encoding="ascii")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    calls = tmp_path / "calls"

    def run(fails, password="secret"):
        failing.unlink(missing_ok=True)
        if fails:
            failing.touch()
        calls.write_text("", encoding="ascii")
        status = subprocess.run(
            ["sh", SOURCE / "docker" / "start"], check=False, stdin=subprocess.DEVNULL,
            capture_output=True, env={"PATH": f"{programs}:{os.environ['PATH']}", "CALLS": str(calls),
                                      "PGDATA": str(data), "FAILING": str(failing),
                                      "POSTGRES_PASSWORD": password}).returncode
        return status, calls.read_text(encoding="ascii")

    run.data = data
    return run


def test_a_first_start_that_fails_is_begun_anew(start):
    status, calls = start(fails=True)
    assert status != 0 and "initdb" in calls
    assert not (start.data / "PG_VERSION").exists()
    status, calls = start(fails=False)
    assert status == 0
    assert "initdb" in calls and "CREATE EXTENSION model_hopper" in calls
    assert sorted(path.name for path in start.data.iterdir()) == ["PG_VERSION", "base", "pg_hba.conf",
                                                                  "postgresql.conf"]
    status, calls = start(fails=False, password="")
    assert status == 0
    assert "initdb" not in calls and calls.count("postgres -D") == 1


def test_no_password_no_server(start):
    status, calls = start(fails=False, password="")
    assert status != 0 and calls == ""
