"""Selection tables written by hand with as many mistakes as rows."""

import psycopg2
import pytest

from digits import connect, cpu_seconds, drop_database, query, value

DATABASE = "hopper_many_problems"
MODEL = """{"class_name": "Sequential", "config": {"name": "s", "layers": [
  {"class_name": "Dense", "config": {"name": "out", "units": 2, "activation": "softmax",
   "batch_input_shape": [null, 2]}}]}}"""


@pytest.fixture(scope="module")
def database():
    drop_database(DATABASE)
    admin = connect("postgres")
    query(admin, f"CREATE DATABASE {DATABASE}")
    admin.close()
    connection = connect(DATABASE)
    query(connection, "CREATE EXTENSION model_hopper")
    query(connection, "CREATE TABLE points AS SELECT i AS id, ARRAY[i % 2, i % 3]::real[] AS x,"
          " i % 2 AS y FROM generate_series(1, 40) i")
    query(connection, "SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x')")
    query(connection, "SELECT hopper.load_model('models', %s)", MODEL)
    query(connection, "CREATE TABLE configs_summary AS SELECT 'models'::text AS model_arch_table,"
          " NULL::text AS object_table")
    query(connection, "CREATE TABLE configs AS SELECT i AS mst_key, 1 AS model_id,"
          " $c$loss='mse', optimizer='SGD()', metrics=['nope$c$ || i || $c$']$c$ AS compile_params,"
          " 'batch_size=8'::text AS fit_params FROM generate_series(1, 40000) i")
    yield connection
    connection.close()
    drop_database(DATABASE)


def fit(connection):
    query(connection, "SET hopper.max_configs = 40000")
    query(connection, "SELECT hopper.fit_multiple_model('packed', 'run', 'configs', 1)")


def refuse(connection, rows):
    query(connection, "BEGIN")
    query(connection, "DELETE FROM configs WHERE mst_key > %s", rows)
    with pytest.raises(psycopg2.Error, match=f"{rows} of {rows} configurations have problems") as error:
        fit(connection)
    query(connection, "ROLLBACK")
    return error.value


def test_all_are_counted_and_few_are_shown(database):
    message = str(refuse(database, 1000))
    assert "Configuration 1: metric \"nope1\"" in message
    assert "There are 950 more." in message


def test_cancel_is_heard(database):
    query(database, "SET statement_timeout = '300ms'")
    process = value(database, "SELECT pg_backend_pid()")
    began = cpu_seconds(process)
    with pytest.raises(psycopg2.errors.QueryCanceled):
        fit(database)
    # Comparing each with each takes 16 s.
    assert cpu_seconds(process) - began < 5
    query(database, "RESET statement_timeout")

