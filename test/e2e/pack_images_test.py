"""Packing as many images as CIFAR-10 has: memory, cancelling, and what is said about it; bench/pack_cifar.py
times it."""

import pathlib
import re
import sys
import threading

import psycopg2
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import pack_cifar  # noqa: E402

from digits import cpu_seconds, wait_until  # noqa: E402

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
def test_cancel(connection, table, milliseconds):
    """Packing stops wherever it is before it has computed 0.2 s more, leaves nothing behind, and the session lives."""
    process = connection.info.backend_pid
    asked = []

    def cancel():
        # What it has computed says where it is, whatever else the machine does.
        wait_until(lambda: cpu_seconds(process) - before >= milliseconds / 1000)
        asked.append(cpu_seconds(process))
        connection.cancel()

    with connection.cursor() as cursor:
        # no more memory than a few hundred rows: the sort goes to disk
        cursor.execute("SET maintenance_work_mem = '1MB'")
        before = cpu_seconds(process)
        thread = threading.Thread(target=cancel)
        thread.start()
        with pytest.raises(psycopg2.errors.QueryCanceled):
            cursor.execute(
                f"SELECT hopper.training_preprocessor('{table}', 'public.late', 'y', 'x', "
                "image_shape => ARRAY[32, 32, 3]), pg_sleep(60)"
            )
        thread.join()
        late = cpu_seconds(process) - asked[0]
        cursor.execute("SELECT to_regclass('public.late'), (SELECT count(*) FROM pg_ls_tmpdir())")
        assert cursor.fetchone() == (None, 0)
    print(f"computed {late * 1000:.0f} ms more when it was cancelled after {milliseconds} ms")
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
