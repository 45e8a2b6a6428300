"""What an administrator does while the segments work does not cost their results."""

import threading
import time

import psycopg2
import pytest

from cluster import held
from conftest import connect
from digits import query, value, wait_until
from runs import digests

DATABASE = "hopper_administrator"
ROLE = "hopper_administrator_user"
MODEL = """{"class_name": "Sequential", "config": {"name": "s", "layers": [
  {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2], "name": "in"}},
  {"class_name": "Dense", "config": {"name": "out", "units": 2, "activation": "softmax"}}]}}"""
COMPILE = "loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']"
GRID = ("{''loss'': [''categorical_crossentropy''], ''metrics'': [[''accuracy'']],"
        " ''optimizer_params_list'': [{''optimizer'': [''SGD''], ''lr'': [0.01, 0.1, ''log'']}]}")
FIT = ("SELECT hopper.fit_multiple_model('packed', 'run', 'configs', 3, validation_table := 'packed_validation',"
       " seed := 1%s)")
SEARCH = (f"SELECT hopper.automl('packed', 'run', 'models', 'best', ARRAY[1], '{GRID}', '{{''batch_size'': [8, 16]}}',"
          " 'asha', 'num_configs=3, R=4, eta=2', 1, validation_table := 'packed_validation', objective := 'accuracy')")
# What is done to the extension, what makes it undone, and where its functions are meanwhile.
OTHER_NAME = ("ALTER SCHEMA hopper RENAME TO x", "ALTER SCHEMA x RENAME TO hopper", "x")
NO_RIGHT = ("REVOKE USAGE ON SCHEMA hopper FROM PUBLIC", "GRANT USAGE ON SCHEMA hopper TO PUBLIC", "hopper")
# The statement, the session's setting, and the hop in which it is held.
TRAININGS = {
    "training": (FIT % "", None, 2),
    "replacing": (FIT % ", replace := true", None, 2),
    "data that get lost": (FIT % "", "SET hopper.debug_drop_cache = 2", 2),
    "first hop": (FIT % "", None, 1),
    "search": (SEARCH, None, 2),
}


@pytest.fixture(scope="module")
def administrator(greenplum):
    for statement in (f"DROP DATABASE IF EXISTS {DATABASE}", f"DROP ROLE IF EXISTS {ROLE}", f"CREATE ROLE {ROLE}",
                      f"CREATE DATABASE {DATABASE}"):
        query(greenplum, statement)
    connection = connect("HOPPER_GREENPLUM", DATABASE)
    query(connection, "SET client_min_messages = warning; CREATE EXTENSION model_hopper")
    query(connection, f"CREATE SCHEMA w AUTHORIZATION {ROLE}; SET search_path = w; SET ROLE {ROLE}")
    query(connection, "CREATE TABLE points AS SELECT i AS id, ARRAY[i % 2, i % 3]::real[] AS x, i % 2 AS y"
          " FROM generate_series(1, 60) i DISTRIBUTED BY (id)")
    query(connection, "CREATE VIEW slow AS SELECT * FROM points WHERE pg_sleep(0.1) IS NOT NULL")
    query(connection, "SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', partitions := 3,"
          " validation_fraction := 0.3)")
    query(connection, "SELECT hopper.load_model('models', %s)", MODEL)
    query(connection, "SELECT hopper.load_model_selection_table('models', 'configs', '{1}', ARRAY[%s],"
          " ARRAY['batch_size=8', 'batch_size=16', 'batch_size=4'])", COMPILE)
    query(connection, "RESET ROLE")
    yield connection
    connection.close()
    query(greenplum, f"DROP DATABASE {DATABASE}")
    query(greenplum, f"DROP ROLE {ROLE}")


@pytest.fixture
def session(administrator):
    connection = connect("HOPPER_GREENPLUM", DATABASE)
    query(connection, f"SET SESSION AUTHORIZATION {ROLE}; SET search_path = w; SET client_min_messages = warning")
    yield connection
    connection.close()


@pytest.mark.parametrize("change, training", [
    *((OTHER_NAME, training) for training in TRAININGS), (NO_RIGHT, "training"), (NO_RIGHT, "search")],
    ids=lambda one: one if isinstance(one, str) else one[0].split()[0])
def test_what_trains_goes_on(administrator, session, change, training):
    """The segments' functions are found without the schema's name, and without a right on it."""
    statement, setting, hop = TRAININGS[training]
    done, undone, schema = change
    query(session, statement)
    expected = digests(session, "run")
    if "replace" not in statement:
        query(session, "SELECT hopper.drop_model('run')")
        query(session, "DROP TABLE IF EXISTS best, best_summary")
    if setting:  # a superuser's
        query(session, f"RESET SESSION AUTHORIZATION; {setting}; SET SESSION AUTHORIZATION {ROLE}")
    try:
        held(administrator, session, statement, hop, lambda: query(administrator, done))
        assert digests(session, "run") == expected and len(expected) == 3
        assert value(administrator, f"SELECT count(*) > 0 FROM {schema}.run_timeline('w.run')")
    finally:
        query(administrator, undone)
        query(administrator, "SELECT hopper.drop_model('w.run')")
        query(administrator, "DROP TABLE IF EXISTS w.best, w.best_summary")


def test_what_packs_goes_on(administrator, session):
    """Rows are still read when it happens, and moved behind it."""
    done, undone, _ = OTHER_NAME
    errors = []

    def pack():
        try:
            query(session, "SELECT hopper.training_preprocessor('slow', 'other', 'y', 'x', partitions := 3,"
                           " validation_fraction := 0.3)")
        except psycopg2.Error as error:
            errors.append(error)

    process = value(session, "SELECT pg_backend_pid()")
    thread = threading.Thread(target=pack)
    thread.start()
    try:
        wait_until(lambda: not thread.is_alive() or value(
            administrator, "SELECT count(*) FROM pg_locks WHERE pid = %s AND relation = 'w.slow'::regclass", process) > 0)
        time.sleep(0.7)
        query(administrator, done)
        assert thread.is_alive(), errors
        thread.join(60)
        assert errors == []
        checksums = "SELECT partition_id, buffer_id, checksum FROM w.%s ORDER BY 1, 2"
        assert query(administrator, checksums % "other") == query(administrator, checksums % "packed")
    finally:
        query(administrator, undone)
        query(administrator, "SELECT hopper.drop_packed('w.other')")
