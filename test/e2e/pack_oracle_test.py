"""Packed tables, byte by byte, against a second implementation of the rules in Python.

The rules (docs/reference/packing.md): a row's rank key is XXH3-128 of its features and labels under
the seed, and of the k-th row after the first of those that are equal XXH3-128 of that key under seed k; rows are ordered by
(key, features, labels); partitions take equal shares of the ranks, the first ones one row more; buffers divide a partition
alike; the first round(fraction * n) rows of each class in rank order are for validation. A buffer's checksum is XXH3-128 of its place, sizes and bytes.
"""

import math
import struct

import numpy as np
import psycopg2
import pytest
import xxhash

DATABASE = "hopper_pack_oracle"
BUFFER_BYTES = 4 * 1024 * 1024
PARTITION_BYTES = 256 * 1024 * 1024


@pytest.fixture(scope="module")
def connection():
    admin = psycopg2.connect("dbname=postgres")
    admin.autocommit = True
    with admin.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        cursor.execute(f"CREATE DATABASE {DATABASE}")
    session = psycopg2.connect(f"dbname={DATABASE}")
    session.autocommit = True
    with session.cursor() as cursor:
        cursor.execute("CREATE EXTENSION model_hopper")
        cursor.execute("SET search_path = public")
    yield session
    session.close()
    with admin.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {DATABASE}")
    admin.close()


# --- the rules ---


def shares(n, parts):
    """Sizes of `parts` shares of n that differ by at most one, larger ones first."""
    return [n // parts + (1 if i < n % parts else 0) for i in range(parts)]


def key_of(row, seed):
    """Rows are (x bytes, y bytes)."""
    return xxhash.xxh3_128(row[0] + row[1], seed=seed % 2**64).digest()


def rank(rows, seed):
    seen, keyed = {}, []
    for row in rows:
        key, copy = key_of(row, seed), seen.get(row, 0)
        keyed.append((xxhash.xxh3_128(key, seed=copy).digest() if copy else key, row))
        seen[row] = copy + 1
    return [row for _, row in sorted(keyed)]


def split(ranked, fraction, by_class):
    groups = {}
    for _, y in ranked:
        group = y if by_class else b""
        groups[group] = groups.get(group, 0) + 1
    quota = {group: math.floor(fraction * n + 0.5) for group, n in groups.items()}
    training, validation = [], []
    for row in ranked:
        group = row[1] if by_class else b""
        (validation if quota[group] > 0 else training).append(row)
        quota[group] -= 1
    return training, validation


def buffers(ranked, partitions, buffer_size):
    """[(partition_id, buffer_id, n, x, y, checksum)]"""
    row_bytes = len(ranked[0][0]) + len(ranked[0][1])
    if partitions is None:
        partitions = min(max(4, math.ceil(row_bytes * len(ranked) / PARTITION_BYTES)), len(ranked))
    if buffer_size is None:
        buffer_size = max(1, BUFFER_BYTES // row_bytes)
    result, at = [], 0
    for partition, rows in enumerate(shares(len(ranked), partitions)):
        for n in shares(rows, math.ceil(rows / buffer_size)):
            x = b"".join(row[0] for row in ranked[at:at + n])
            y = b"".join(row[1] for row in ranked[at:at + n])
            head = struct.pack("<iiiiQQ", partition, len(result), n, 0, len(x), len(y))
            result.append((partition, len(result), n, x, y, xxhash.xxh3_128(head + x + y).digest()))
            at += n
    return result


def table_checksum(expected):
    return xxhash.xxh3_128(b"".join(buffer[5] for buffer in expected)).hexdigest()


# --- what the server made ---


def check(connection, table, expected):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT partition_id, buffer_id, n, x, y, checksum FROM {table} ORDER BY buffer_id")
        found = [tuple(bytes(v) if isinstance(v, memoryview) else v for v in row) for row in cursor]
        cursor.execute(f"SELECT n_rows, partitions, buffer_size, packed_bytes, checksum FROM {table}_summary")
        summary = cursor.fetchone()
    assert found == expected
    assert summary == (
        sum(buffer[2] for buffer in expected),
        expected[-1][0] + 1,
        max(buffer[2] for buffer in expected),
        sum(len(buffer[3]) + len(buffer[4]) for buffer in expected),
        table_checksum(expected),
    )


def load(connection, columns, rows):
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS source, p, p_summary, p_validation, p_validation_summary")
        cursor.execute(f"CREATE TABLE source ({columns})")
        marks = ", ".join(["%s"] * len(rows[0]))
        cursor.executemany(f"INSERT INTO source VALUES ({marks})", rows)


def pack(connection, **arguments):
    names = {name: value for name, value in arguments.items() if value is not None}
    extra = "".join(f", {name} => %({name})s" for name in names)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT hopper.training_preprocessor('source', 'p', 'y', 'x'{extra})", names)
        return cursor.fetchone()[0]


SETTINGS = [
    {},
    {"seed": 42, "partitions": 3, "buffer_size": 10},
    {"seed": -1, "partitions": 1, "buffer_size": 7},
    {"seed": 2**63 - 1, "partitions": 13},
    {"seed": -(2**63), "validation_fraction": 0.2, "partitions": 2, "buffer_size": 16},
    {"seed": 5, "validation_fraction": 0.5},
]


def check_all(connection, rows, settings, by_class):
    assert pack(connection, **settings) == len(rows)
    seed, fraction, buffer_size = (settings.get(name) for name in ("seed", "validation_fraction", "buffer_size"))
    ranked = rank(rows, seed or 0)
    training, validation = split(ranked, fraction, by_class) if fraction else (ranked, None)
    check(connection, "p", buffers(training, settings.get("partitions"), buffer_size))
    if validation:
        check(connection, "p_validation", buffers(validation, None, buffer_size))


@pytest.mark.parametrize("settings", SETTINGS)
def test_images_with_classes(connection, settings):
    random = np.random.default_rng(1)
    names = [None, "B", "a", "b", "ä", "\U0001f600"]  # NULL, then by UTF-8 bytes
    assert names[1:] == sorted(names[1:], key=lambda name: name.encode())
    # one byte of two values, so that many rows are equal or differ in the label alone
    images = [random.integers(0, 256, 12, np.uint8).tobytes() if i % 2 else bytes([i % 4] * 12)
              for i in range(157)]
    labels = random.integers(0, len(names), len(images))
    # an order that is not theirs, where the server was built with ICU
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_collation WHERE collname = 'und-x-icu'")
        collation = 'COLLATE "und-x-icu"' if cursor.fetchone() is not None else ""
    load(connection, f"x bytea, y text {collation}", [(x, names[y]) for x, y in zip(images, labels)])
    check_all(connection, [(x, bytes([y])) for x, y in zip(images, labels)],
              settings | {"image_shape": [2, 2, 3], "null_labels": "class"}, True)


@pytest.mark.parametrize("settings", SETTINGS)
def test_many_classes(connection, settings):
    random = np.random.default_rng(2)
    labels = random.integers(-1000, 1000, 400)
    classes = sorted(set(labels))
    assert len(classes) > 256
    x = random.integers(-(2**15), 2**15, (len(labels), 2, 2), np.int16)
    load(connection, "x int2[], y int4", [(a.tolist(), int(b)) for a, b in zip(x, labels)])
    check_all(connection, [(a.tobytes(), struct.pack("<h", classes.index(b))) for a, b in zip(x, labels)],
              settings, True)


@pytest.mark.parametrize("settings", SETTINGS)
def test_regression(connection, settings):
    random = np.random.default_rng(3)
    x = random.standard_normal((100, 5))
    y = random.standard_normal(100)
    load(connection, "x float8[], y float8", [(a.tolist(), float(b)) for a, b in zip(x, y)])
    check_all(connection, [(a.tobytes(), np.float32(b).tobytes()) for a, b in zip(x, y)], settings, False)


@pytest.mark.parametrize("settings", SETTINGS)
def test_label_arrays(connection, settings):
    random = np.random.default_rng(4)
    x = random.standard_normal((90, 3)).astype(np.float32)
    y = random.integers(0, 2, (90, 4))
    load(connection, "x float4[], y int8[]", [(a.tolist(), b.tolist()) for a, b in zip(x, y)])
    check_all(connection, [(a.tobytes(), b.tobytes()) for a, b in zip(x, y)], settings, False)


@pytest.mark.parametrize("memory", ["64MB", "1MB"])
@pytest.mark.parametrize("settings", SETTINGS)
def test_few_different_rows(connection, settings, memory):
    """Each of sixty rows many times, some once; with 1 MB the rows go through temporary files."""
    random = np.random.default_rng(6)
    wide = random.integers(0, 256, (60, 1000), np.uint8)
    chosen = random.integers(0, len(wide), 3000)
    x = np.concatenate([wide[chosen], random.integers(0, 256, (30, 1000), np.uint8)])
    y = np.concatenate([chosen % 3 > 0, np.arange(30) % 2 > 0])
    load(connection, "x bytea, y bool", [(a.tobytes(), bool(b)) for a, b in zip(x, y)])
    with connection.cursor() as cursor:
        cursor.execute(f"SET maintenance_work_mem = '{memory}'")
        try:
            check_all(connection, [(a.tobytes(), bytes([int(b)])) for a, b in zip(x, y)],
                      settings | {"image_shape": [1000]}, True)
        finally:
            cursor.execute("RESET maintenance_work_mem")


@pytest.mark.parametrize("fraction", [None, 0.2])
def test_more_different_rows_than_are_remembered(connection, fraction):
    """Rows that are equal to one of the first are known by it, others by the order."""
    x = np.concatenate([np.arange(200_000, dtype=np.int32), np.arange(0, 200_000, 1000, dtype=np.int32), np.full(50, 199_999, np.int32)])
    with connection.cursor() as cursor:
        load(connection, "x int[], y bool", [([0], True)])
        cursor.execute("TRUNCATE source; INSERT INTO source SELECT ARRAY[i], i %% 2 = 0 FROM unnest(%s) i; SET maintenance_work_mem = '1MB'", (x.tolist(),))
        check_all(connection, [(a.tobytes(), bytes([1 - int(a) % 2])) for a in x], {"partitions": 3, "validation_fraction": fraction}, True)
        cursor.execute("RESET maintenance_work_mem")


def test_default_buffers(connection):
    """Above 4 MB a partition takes several buffers of almost equal size."""
    random = np.random.default_rng(5)
    x = random.integers(0, 256, (90, 300_000), np.uint8)
    load(connection, "x bytea, y bool", [(a.tobytes(), i % 3 == 0) for i, a in enumerate(x)])
    rows = [(a.tobytes(), bytes([i % 3 == 0])) for i, a in enumerate(x)]
    settings = {"image_shape": [300_000], "partitions": 4}
    check_all(connection, rows, settings, True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), min(n), max(n) FROM p")
        assert cursor.fetchone() == (8, 11, 12)
