"""Numbers that a model file may have: any role can hand one in."""

import struct
import threading
import time

import psycopg2
import pytest

from digits import connect, cpu_seconds, dense, drop_database, layer, query, sequential, value

DATABASE = "hopper_model_numbers"


@pytest.fixture(scope="module")
def database():
    drop_database(DATABASE)
    admin = connect("postgres")
    query(admin, f"CREATE DATABASE {DATABASE}")
    admin.close()
    connection = connect(DATABASE)
    query(connection, "CREATE EXTENSION model_hopper")
    query(connection, "CREATE TABLE cell AS SELECT i AS id, ARRAY[[[(i % 2)::real]]]::real[] AS x,"
          " i % 2 AS y FROM generate_series(1, 40) i")
    query(connection, "SELECT hopper.training_preprocessor('cell', 'packed', 'y', 'x')")
    query(connection, "CREATE TABLE flat AS SELECT i AS id, ARRAY[(i % 2)::real] AS x,"
          " i % 2 AS y FROM generate_series(1, 40) i")
    query(connection, "SELECT hopper.training_preprocessor('flat', 'packed_flat', 'y', 'x')")
    yield connection
    connection.close()
    drop_database(DATABASE)


def fit(connection, name, *layers, packed="packed", shape=(1, 1, 1)):
    query(connection, f"DROP TABLE IF EXISTS {name}_models, {name}, {name}_info, {name}_summary, {name}_state")
    query(connection, f"SELECT hopper.load_model('{name}_models', %s)", sequential(*layers, shape=shape))
    query(connection, f"SELECT hopper.fit('{packed}', '{name}', '{name}_models', 1,"
          " $$loss='binary_crossentropy', optimizer='SGD(0.1)'$$, 'batch_size=8', 1)")
    return value(connection, f"SELECT training_loss_final FROM {name}_info")


# Sizes that wrap in 64 bits (until 0.1: a crash), and windows that took minutes for one cell.
@pytest.mark.parametrize("kernel, dilation", [(16, 286331153), (3, 2**30), (4, 7), (9, 3000)])
def test_dilated_windows(database, kernel, dilation):
    start = time.monotonic()
    loss = fit(database, "dilated", layer("Conv2D", "c", filters=1, kernel_size=[kernel, kernel],
                                          padding="same", dilation_rate=dilation),
               layer("Flatten", "f"), dense("d", 1, "sigmoid"))
    assert 0 < loss < 2
    assert time.monotonic() - start < 30


@pytest.mark.parametrize("kind", ["MaxPooling2D", "AveragePooling2D"])
def test_pooling_windows(database, kind):
    start = time.monotonic()
    fit(database, "pooled", layer(kind, "p", pool_size=2**30, strides=2**30, padding="same"),
        layer("Flatten", "f"), dense("d", 1, "sigmoid"))
    assert time.monotonic() - start < 30


def test_weights_that_are_not_finite(database):
    model = sequential(dense("d", 1, "sigmoid"), shape=(1,))
    for bad in (float("nan"), float("inf")):
        with pytest.raises(psycopg2.Error, match='weight "d/kernel" holds values that are not finite'):
            query(database, "SELECT hopper.load_model('weighted', %s, %s)", model,
                  psycopg2.Binary(struct.pack("<2f", bad, 0.0)))
    # And where a table was filled by hand.
    query(database, "SELECT hopper.load_model('weighted', %s, %s)", model,
          psycopg2.Binary(struct.pack("<2f", 1.0, 0.0)))
    query(database, "UPDATE weighted SET model_weights = %s",
          psycopg2.Binary(struct.pack("<2f", 1.0, float("-inf"))))
    with pytest.raises(psycopg2.Error, match='weight "d/bias" holds values that are not finite'):
        query(database, "SELECT hopper.predict_byom('weighted', 1, 'flat', 'id', 'x', 'predicted')")


def test_initial_weights_are_cancelled(database):
    """Orthogonal takes the cube of the units: half a minute here."""
    query(database, "DROP TABLE IF EXISTS slow_models")
    query(database, "SELECT hopper.load_model('slow_models', %s)",
          sequential(dense("a", 4000, "relu"),
                     dense("b", 4000, "relu", kernel_initializer={"class_name": "Orthogonal", "config": {}}),
                     dense("c", 1, "sigmoid"), shape=(1,)))
    other = connect(DATABASE)
    backend = value(database, "SELECT pg_backend_pid()")
    asked = []

    def cancel():
        query(other, "SELECT pg_cancel_backend(%s)", backend)
        asked.append(cpu_seconds(backend))

    timer = threading.Timer(2.0, cancel)
    timer.start()
    with pytest.raises(psycopg2.Error, match="canceling statement"):
        query(database, "SELECT hopper.fit('packed_flat', 'slow', 'slow_models', 1,"
              " $$loss='binary_crossentropy', optimizer='SGD(0.1)'$$, 'batch_size=8', 1)")
    timer.join()
    ended = cpu_seconds(backend)
    other.close()
    print(f"{ended - asked[0]:.2f} s after the cancel")
    assert ended - asked[0] < 0.5


def test_many_layers_are_refused_soon(database):
    layers = ",".join('{"class_name":"Dense","config":{"name":"d%d","units":1}}' % i for i in range(150000))
    text = '{"class_name":"Sequential","config":{"name":"s","layers":[%s]}}' % layers
    start = time.monotonic()
    with pytest.raises(psycopg2.Error, match="model has too many layers"):
        query(database, "SELECT hopper.load_model('deep', %s)", text)
    assert time.monotonic() - start < 30  # until 0.1 more than a minute, whatever the timeout
