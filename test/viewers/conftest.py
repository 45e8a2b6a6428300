"""A database with a grid, a search and a run that goes on, and tools that read it through views."""

import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import psycopg2
import pytest

DATABASE = "hopper_viewers"
NAME = "<b>\"Peter's\"</b> & 'co'"  # of the search
COMPILE = """{'loss': ['binary_crossentropy'], 'metrics': [['accuracy']],
    'optimizer_params_list': [{'optimizer': %s, 'lr': %s}]}"""
SET_UP = ["""CREATE TABLE points AS
    SELECT i AS id, sin(i)::real AS a, cos(i)::real AS b, CASE WHEN sin(i) * cos(i) > 0 THEN 'up' ELSE 'down' END AS y
    FROM generate_series(1, 500) AS i""",
          "SELECT hopper.training_preprocessor('points', 'packed', 'y', 'a, b', validation_fraction => 0.2)",
          "SELECT hopper.mlp('networks', 'packed', hidden => 8)",
          "SELECT hopper.generate_model_configs('networks', 'configs', ARRAY[1], $$%s$$, $${'batch_size': [16]}$$)"
          % (COMPILE % ("['Adam']", "[0.01, 0.003]")),
          "SELECT hopper.fit_multiple_model('packed', 'models', 'configs', 6, validation_table => 'packed_validation')",
          """SELECT hopper.automl('packed', 'searched', 'networks', 'searched_best', ARRAY[1], $$%s$$,
              $${'batch_size': [16, 64]}$$, automl_method => 'hyperband', automl_params => 'R=9', objective => 'accuracy',
              validation_table => 'packed_validation', name => $name$%s$name$)"""
          % (COMPILE % ("['Adam', 'SGD']", "[0.0001, 0.3, 'log']"), NAME),
          "SELECT hopper.optuna_views()", "SELECT hopper.mlflow_views()",
          "GRANT USAGE ON SCHEMA hopper_optuna, hopper_mlflow TO viewer, stranger",
          "GRANT SELECT ON ALL TABLES IN SCHEMA hopper_optuna, hopper_mlflow TO viewer, stranger"]


def query(connection, text, *arguments):
    with connection.cursor() as cursor:
        cursor.execute(text, arguments or None)
        return cursor.fetchall() if cursor.description else None


def connect(database, role=None):
    connection = psycopg2.connect(dbname=database, **({"user": role} if role else {}))
    connection.autocommit = True
    return connection


@pytest.fixture(scope="session")
def connection():
    """A session of "trainer", whose runs "viewer" may see and "stranger" not."""
    roles = ("viewer", "stranger", "trainer")
    admin = connect("postgres")

    def clear():
        query(admin, f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        for role in roles:
            query(admin, f"DROP ROLE IF EXISTS {role}")

    clear()
    query(admin, f"CREATE DATABASE {DATABASE}")
    query(admin, f"ALTER DATABASE {DATABASE} SET hopper.checkpoint_interval = '1s'")
    for role in roles:
        query(admin, f"CREATE ROLE {role} LOGIN")
    query(admin, "GRANT trainer TO viewer")
    with contextlib.closing(connect(DATABASE)) as owner:
        query(owner, "CREATE EXTENSION model_hopper")
        query(owner, f"GRANT CREATE ON DATABASE {DATABASE} TO trainer; GRANT CREATE ON SCHEMA public TO trainer")
    connection = connect(DATABASE, "trainer")
    for statement in SET_UP:
        query(connection, statement)
    yield connection
    connection.close()
    clear()
    admin.close()


@pytest.fixture(scope="session")
def run_of(connection):
    return {table: run for run, table in query(connection, "SELECT run, model_table FROM hopper.runs")}


def address(schema, role="viewer"):
    """What optuna_views() and mlflow_views() return, for another role and the server's socket."""
    host = urllib.parse.quote(os.environ["PGHOST"], safe="")
    return (f"postgresql+psycopg2://{role}@/{DATABASE}?host={host}&port={os.environ['PGPORT']}"
            f"&options=-csearch_path%3D{schema}")


def ask(url, body=None):
    request = urllib.request.Request(url, json.dumps(body).encode() if body is not None else None,
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def until_it_moves(value):
    """Until value() is a number above 0, and then another one."""
    deadline, first = time.monotonic() + 60, None
    while not first or value() == first:
        assert time.monotonic() < deadline
        time.sleep(0.3)
        first = first or value()


@contextlib.contextmanager
def serving(path, *command):
    """A program of this environment that serves `path` on a port of its own; gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    program = pathlib.Path(sys.executable).parent / command[0]
    with subprocess.Popen([program, *command[1:], "--port", port], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, start_new_session=True,
                          env={**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}) as process:
        try:
            deadline = time.monotonic() + 300
            while True:
                assert process.poll() is None, process.stdout.read()
                assert time.monotonic() < deadline
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60).close()
                    break
                except urllib.error.HTTPError as error:
                    raise AssertionError(error.read()) from error
                except OSError:
                    time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            os.killpg(process.pid, 15)


@pytest.fixture
def going_on(connection):
    """A run that trains in the background, with a checkpoint every second."""
    run, = query(connection, """SELECT hopper.submit($$ SELECT hopper.fit_multiple_model('packed', 'endless', 'configs',
        100000000, validation_table => 'packed_validation', metrics_compute_frequency => 1000) $$)""")[0]
    yield run
    query(connection, "SELECT hopper.cancel(%s)", run)
    query(connection, "SELECT hopper.wait(%s)", run)
