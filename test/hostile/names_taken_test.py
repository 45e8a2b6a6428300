"""Somebody who may make tables in the schema takes names that a call needs, while the call works.

What took a night must not end in "already exists": all names are taken before a row is read, those of tables
that will replace others, too. Who wants one of them waits for the end of the call's transaction.
"""

import threading

import psycopg2
import pytest

import stage
from stage import COMPILE, GRID, OWNER, STRANGER, execute

LOCK = 77
PACKED = ["", "_summary", "_validation", "_validation_summary"]
MODELS = ["", "_info", "_summary", "_state"]
SEARCHED = MODELS + ["_trials", "_decisions", "_rungs", "_best", "_best_summary"]


@pytest.fixture(scope="module")
def gate():
    """A superuser's session; who reads "slow" waits while it has the lock."""
    connection = stage.create()
    execute(connection, f"GRANT CREATE ON SCHEMA {OWNER} TO {STRANGER}")
    execute(connection, f"CREATE FUNCTION {OWNER}.pause() RETURNS boolean LANGUAGE plpgsql AS"
            f" $$ BEGIN PERFORM pg_advisory_xact_lock_shared({LOCK}); RETURN true; END $$")
    execute(connection, f"CREATE VIEW {OWNER}.slow AS SELECT * FROM {OWNER}.points WHERE {OWNER}.pause()")
    execute(connection, f"ALTER VIEW {OWNER}.slow OWNER TO {OWNER}")
    yield connection
    connection.close()
    stage.destroy()


@pytest.fixture(autouse=True)
def tidy(gate):
    yield
    for name, in execute(gate, f"SELECT relname::text FROM pg_class WHERE relnamespace = '{OWNER}'::regnamespace"
                         " AND relkind = 'r' AND relname ~ '^(made|hopper_)'"):
        execute(gate, f"DROP TABLE {OWNER}.{name}")


class Call:
    """A statement in the owner's session."""

    def __init__(self, statement):
        self.connection = stage.connect()
        stage.become(self.connection, OWNER)
        self.pid = stage.process(self.connection)
        self.threads = stage.threads(self.pid)
        self.error = None
        self.thread = threading.Thread(target=self.run, args=(statement,))
        self.thread.start()

    def run(self, statement):
        try:
            execute(self.connection, statement)
        except psycopg2.Error as error:
            self.error = error

    def until(self, condition):
        while self.thread.is_alive() and not condition():
            self.thread.join(0.01)
        assert self.thread.is_alive(), self.error

    def end(self):
        self.thread.join()
        self.connection.close()
        return self.error


def waits(gate, call):
    return execute(gate, "SELECT 1 FROM pg_locks WHERE pid = %s AND NOT granted", (call.pid,)) != []


def take(names):
    """The names that the stranger gets."""
    connection = stage.connect()
    stage.become(connection, STRANGER)
    execute(connection, "SET lock_timeout = '200ms'")
    taken = []
    for name in names:
        try:
            execute(connection, f"CREATE TABLE {OWNER}.{name} ()")
            taken.append(name)
        except (psycopg2.errors.LockNotAvailable, psycopg2.errors.DuplicateTable):
            pass
    connection.close()
    return taken


@pytest.mark.parametrize("statement, ends", [
    ("training_preprocessor('slow', 'made', 'y', 'x', validation_fraction := 0.25)", PACKED),
    ("training_preprocessor('slow', 'made', 'number', 'x', validation_fraction := 0.25)", PACKED),
    ("""training_preprocessor('slow', 'made', '{"a": "y", "b": "number"}', 'x', weight_varname := 'id')""", PACKED[:2]),
    ("validation_preprocessor('slow', 'made', 'y', 'x', 'packed')", PACKED[:2]),
    ("predict('run', 'slow', 'id', 'x', 'made', mst_key := 1)", [""]),
], ids=["classes", "values", "outputs", "validation", "predictions"])
@pytest.mark.parametrize("replace", [False, True], ids=["new", "replaced"])
def test_while_rows_are_read(gate, statement, ends, replace):
    statement = f"SELECT hopper.{statement[:-1]}, replace := true)"
    if replace:
        session = stage.connect()
        stage.become(session, OWNER)
        execute(session, statement)
        session.close()
    execute(gate, f"SELECT pg_advisory_lock({LOCK})")
    call = Call(statement)
    try:
        call.until(lambda: waits(gate, call))
        taken = take([(f"hopper_new_{call.pid}" if replace else "made") + end for end in ends])
    finally:
        execute(gate, f"SELECT pg_advisory_unlock({LOCK})")
        error = call.end()
    assert taken == []
    assert error is None
    for end in ends:
        assert execute(gate, f"SELECT count(*) > 0 FROM {OWNER}.made{end}") == [(True,)]


@pytest.mark.parametrize("statement, ends", [
    ("fit_multiple_model('packed', 'made', 'configs', 100000000)", MODELS),
    (f"fit('packed', 'made', 'models', 1, $${COMPILE}$$, 'batch_size=8', 100000000)", MODELS),
    (f"automl('packed', 'made', 'models', 'made_best', '{{1}}', $${GRID}$$, $${{'batch_size': [8]}}$$, 'random',"
     " 'num_configs=2, num_iterations=100000000')", SEARCHED),
], ids=["fit_multiple_model", "fit", "automl"])
def test_while_models_are_trained(statement, ends):
    call = Call(f"SELECT hopper.{statement}")
    try:
        call.until(lambda: stage.threads(call.pid) > call.threads)
        taken = take(["made" + end for end in ends])
    finally:
        call.connection.cancel()
        error = call.end()
    assert taken == []
    assert error.pgcode == "57014"
