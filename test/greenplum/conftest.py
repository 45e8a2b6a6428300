"""Connections to a Greenplum cluster and to a PostgreSQL server with the same libraries.

HOPPER_GREENPLUM and HOPPER_POSTGRES are libpq connection strings; scripts/test-greenplum sets them.
"""

import os
import pathlib
import sys

import psycopg2
import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "test" / "e2e"))

from digits import CSV, LIVELY, PLAIN, query, select  # noqa: E402
from runs import CONFIGS, pack, starts  # noqa: E402

DATABASE = "hopper_segments"


def pytest_addoption(parser):
    parser.addoption("--large", action="store_true", help="also what takes minutes and gigabytes")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--large"):
        large = [item for item in items if item.get_closest_marker("large")]
        config.hook.pytest_deselected(items=large)
        items[:] = [item for item in items if item not in large]
    # They restart the cluster, some of them all of it, under the connections that others share.
    last = ["runs_test.py", "wrong_cluster_test.py", "package_test.py"]
    items.sort(key=lambda item: last.index(item.path.name) + 1 if item.path.name in last else 0)


def connect(server, database=DATABASE, broadcast=False, **more):
    """Packed data stay where they lie, as large ones do, unless `broadcast`."""
    connection = psycopg2.connect(os.environ[server], dbname=database, **more)
    connection.autocommit = True
    query(connection, "SET extra_float_digits = 3")  # or 9.4 rounds
    if not broadcast and server == "HOPPER_GREENPLUM":
        query(connection, "SET hopper.broadcast_limit = 0")
    return connection


def prepare(server):
    """Tables digits, digits_reversed (other order, other distribution) and architectures."""
    admin = connect(server, "postgres")
    query(admin, "SET client_min_messages = warning")
    query(admin, f"DROP DATABASE IF EXISTS {DATABASE}")
    query(admin, f"CREATE DATABASE {DATABASE}")
    admin.close()
    connection = connect(server)
    query(connection, "SET client_min_messages = warning")
    query(connection, "CREATE EXTENSION model_hopper")
    query(connection, "CREATE TABLE digits (id integer PRIMARY KEY, label integer, pixels smallint[])")
    with connection.cursor() as cursor, open(CSV, encoding="ascii") as file:
        cursor.copy_expert("COPY digits FROM STDIN CSV HEADER", file)
    for model in (PLAIN, LIVELY):
        query(connection, "SELECT hopper.load_model('architectures', %s)", model)
    return connection


@pytest.fixture(scope="session")
def greenplum():
    connection = prepare("HOPPER_GREENPLUM")
    query(connection, "CREATE TABLE digits_reversed AS SELECT * FROM digits ORDER BY id DESC"
          " DISTRIBUTED BY (label)")
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def postgres():
    connection = prepare("HOPPER_POSTGRES")
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def both(greenplum, postgres):
    return greenplum, postgres


PARTITIONS = (3, 6, 7)


def select_configs(connection):
    for n in (1, 2, 3, 5, 8):
        select(connection, f"configs_{n}", CONFIGS[:n])


@pytest.fixture(scope="session")
def on_segments(greenplum):
    """Packed data and configurations on the cluster alone."""
    for partitions in PARTITIONS:
        pack(greenplum, f"packed_{partitions}", partitions)
    select_configs(greenplum)
    return greenplum


@pytest.fixture(scope="session")
def packed(on_segments, postgres):
    """Packed independently on both servers; PostgreSQL with the starts of the segments' runs."""
    for partitions in PARTITIONS:
        table = f"packed_{partitions}"
        first = ",".join(map(str, starts(on_segments, table)))
        pack(postgres, table, partitions, extra=f", starts := '{{{first}}}'")
    select_configs(postgres)
    return on_segments, postgres
