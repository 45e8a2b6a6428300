"""A test during which the server crashed has failed, whatever else it saw."""

import os
import pathlib
import sys
import time

import psycopg2
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))


LOG = {"read": 0, "crashes": 0}  # of the server: tens of megabytes


def crashes():
    """How often a process of the server has been ended by a signal, since the log begins."""
    with open(os.environ["HOPPER_SERVER_LOG"], "rb") as log:
        log.seek(LOG["read"])
        lines = log.read().rpartition(b"\n")[0]
    LOG["read"] += len(lines)
    LOG["crashes"] += lines.count(b"was terminated by signal")
    return LOG["crashes"]


def wait_for_server(seconds=60):
    deadline = time.monotonic() + seconds
    while True:
        try:
            return psycopg2.connect(dbname="postgres").close()
        except psycopg2.OperationalError:
            assert time.monotonic() < deadline, "the server does not come back"
            time.sleep(0.1)


@pytest.fixture(autouse=True)
def no_crash(request):
    before = crashes()
    yield
    wait_for_server()
    expected = 1 if request.node.get_closest_marker("crash") else 0
    assert crashes() == before + expected, "the server crashed"
