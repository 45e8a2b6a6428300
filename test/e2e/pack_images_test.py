"""Packing as many images as CIFAR-10 has: memory, cancelling, and what is said about it; bench/pack_cifar.py
times it."""

import pathlib
import re
import sys

import psycopg2
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import pack_cifar  # noqa: E402

from digits import cpu_seconds  # noqa: E402

DATABASE = "hopper_pack_images"
ROWS = 50000
MEGABYTES = ROWS * 32 * 32 * 3 / 2**20


@pytest.fixture(scope="module")
def table():
    admin = psycopg2.connect("dbname=postgres")
    admin.autocommit = True
    with admin.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        cursor.execute(f"CREATE DATABASE {DATABASE}")
    loader = psycopg2.connect(f"dbname={DATABASE}")
    loader.autocommit = True
    with loader.cursor() as cursor:
        cursor.execute("CREATE EXTENSION model_hopper")
    x, y, names, _ = pack_cifar.images(None, ROWS)
    pack_cifar.load_table(loader, "public.images", x, y, names)
    loader.close()
    yield "public.images"
    with admin.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")
    admin.close()


@pytest.fixture
def connection(table):
    session = psycopg2.connect(f"dbname={DATABASE}")
    session.autocommit = True
    yield session
    session.close()


def test_memory(connection, table):
    """Sorting keeps to maintenance_work_mem; beside it there are a few buffers of 4 MB."""
    with connection.cursor() as cursor:
        cursor.execute("SET maintenance_work_mem = '8MB'")
    _, rise = pack_cifar.pack(connection, table, "public.lean", validation_fraction=0.1)
    print(f"private memory rose by {rise:.0f} MB for {MEGABYTES:.0f} MB of images")
    assert rise < 8 + 8 * 4 < MEGABYTES / 3


@pytest.mark.parametrize("milliseconds", [20, 200, 400, 600])
def test_timeout(connection, table, milliseconds):
    """Packing stops within 0.2 s wherever it is, leaves nothing behind, and the session lives."""
    with connection.cursor() as cursor:
        # no more memory than a few hundred rows: the sort goes to disk
        cursor.execute(f"SET maintenance_work_mem = '1MB'; SET statement_timeout = {milliseconds}")
        before = cpu_seconds(connection.info.backend_pid)
        with pytest.raises(psycopg2.errors.QueryCanceled):
            cursor.execute(
                f"SELECT hopper.training_preprocessor('{table}', 'public.late', 'y', 'x', "
                "image_shape => ARRAY[32, 32, 3]), pg_sleep(60)"
            )
        # Packing is one thread, which computed no longer than this before it was stopped.
        late = cpu_seconds(connection.info.backend_pid) - before - milliseconds / 1000
        cursor.execute("SET statement_timeout = 0")
        cursor.execute("SELECT to_regclass('public.late'), (SELECT count(*) FROM pg_ls_tmpdir())")
        assert cursor.fetchone() == (None, 0)
    print(f"stopped {late * 1000:.0f} ms after {milliseconds} ms")
    assert late < 0.2


def test_notice(connection, table):
    pack_cifar.pack(connection, table, "public.told", partitions=5, validation_fraction=0.1)
    line = connection.notices[-1]
    assert re.fullmatch(
        r'NOTICE:  packed 45,00\d rows of "public.images" into 5 partitions, [45],\d\d\d for validation, '
        r"39 buffers, 147 MB in \d+\.\d s\n"
        r"DETAIL:  The labels are 10 classes: .*\.\n",
        line,
    ), line
