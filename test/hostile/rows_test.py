"""Rows of another type than the one that was looked up: by-value numbers would be addresses.

Whoever is asked for a table by name looks up its columns first and reads its rows later. What the
name stands for can change between the two: by functions of the relation itself, which run in the
middle, and by other sessions.
"""

import threading

import psycopg2
import pytest

from digits import connect, drop_database, query, value, wait_until

DATABASE = "hopper_rows"
ROLE = "hopper_rows_attacker"
CHANGED = "55000"

MODEL = """{"class_name": "Sequential", "config": {"name": "s", "layers": [
  {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2], "name": "in"}},
  {"class_name": "Dense", "config": {"name": "out", "units": 2, "activation": "softmax"}}]}}"""
COMPILE = "loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']"


def session():
    """Of a role without rights of its own."""
    connection = connect(DATABASE)
    query(connection, f"SET SESSION AUTHORIZATION {ROLE}")
    query(connection, "SET search_path = attacker")
    query(connection, "SET client_min_messages = warning")
    return connection


@pytest.fixture(scope="module", autouse=True)
def database():
    drop_database(DATABASE)
    admin = connect("postgres")
    query(admin, f"DROP ROLE IF EXISTS {ROLE}")
    query(admin, f"CREATE ROLE {ROLE}")
    query(admin, f"CREATE DATABASE {DATABASE}")
    owner = connect(DATABASE)
    query(owner, "CREATE EXTENSION model_hopper")
    for schema in ("attacker", "first", "target"):
        query(owner, f"CREATE SCHEMA {schema} AUTHORIZATION {ROLE}")
    connection = session()
    query(connection, "CREATE TABLE base AS SELECT i AS id, ARRAY[i, i]::float8[] AS x, i % 2 AS y"
          " FROM generate_series(1, 8) i")
    query(connection, "CREATE TABLE points AS SELECT i AS id, ARRAY[i % 2, i % 3]::real[] AS x,"
          " i % 2 AS y FROM generate_series(1, 40) i")
    query(connection, "SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x')")
    query(connection, "SELECT hopper.load_model('models', %s)", MODEL)
    query(connection, "SELECT hopper.load_model_selection_table('models', 'configs', '{1}',"
          " ARRAY[%s], ARRAY['batch_size=8'])", COMPILE)
    query(connection, "SELECT hopper.fit_multiple_model('packed', 'run', 'configs', 1)")
    connection.close()
    yield
    owner.close()
    drop_database(DATABASE)
    query(admin, f"DROP ROLE {ROLE}")
    admin.close()


# What is looked up, what the rows hold then, and more arguments of the call.
CHANGES = {
    "an address for an array": ("x", "4096::bigint", ""),
    "an address for bytea": ("decode('0102030405', 'hex')", "4096::bigint",
                             ", image_shape => ARRAY[5]"),
    "a text for a number": ("id::bigint", "'a text that is longer than a datum'::text", ""),
    "an integer's array for a float's": ("x", "ARRAY[1, 2]::int[]", ""),
    "a number for a number": ("id::bigint", "id::float8", ""),
}

# The other relation hides the first one, or takes its place.
WAYS = {
    "hidden": "IF to_regclass('pg_temp.seen') IS NULL THEN CREATE TEMP VIEW seen AS {};END IF;",
    "replaced": "IF NOT EXISTS (SELECT 1 FROM pg_class WHERE relname = 'done') THEN"
                " CREATE TEMP TABLE done (); DROP VIEW seen; CREATE VIEW seen AS {}; END IF;",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("way", WAYS)
def test_packing_while_a_function_of_the_view_changes_it(way, change):
    first, then, more = CHANGES[change]
    connection = session()
    query(connection, "DROP VIEW IF EXISTS seen; DROP FUNCTION IF EXISTS swap; DROP TABLE IF EXISTS"
          " honest, seen_packed, seen_packed_summary, true_packed, true_packed_summary")
    other = f"SELECT id, {then} AS x, y FROM attacker.base"
    query(connection, "CREATE FUNCTION swap(v int) RETURNS int LANGUAGE plpgsql VOLATILE AS $$"
          f" BEGIN {WAYS[way].format(other)} RETURN v; END $$")
    query(connection, f"CREATE VIEW seen AS SELECT id, {first} AS x, swap(y) AS y FROM base")
    query(connection, f"CREATE TABLE honest AS SELECT {first} AS x, y FROM base")
    try:
        query(connection, f"SELECT hopper.training_preprocessor('seen', 'seen_packed', 'y', 'x'{more})")
        # Where names are looked up once, what hides the view is not read at all.
        assert way == "hidden"
        query(connection, f"SELECT hopper.training_preprocessor('honest', 'true_packed', 'y', 'x'{more})")
        assert (value(connection, "SELECT checksum FROM seen_packed_summary") ==
                value(connection, "SELECT checksum FROM true_packed_summary"))
    except psycopg2.Error as error:
        assert error.pgcode == CHANGED, str(error)
    connection.close()


def held_up(statement, change):
    """Runs `statement`, which makes a table in schema target, and `change` while it waits to do so."""
    predicting, holding, changing, watching = session(), session(), session(), connect(DATABASE)
    outcome = []
    query(holding, "DROP TABLE IF EXISTS target.pred")

    def run():
        try:
            outcome.append(query(predicting, statement))
        except psycopg2.Error as error:
            outcome.append(error)

    try:
        query(predicting, "SET search_path = first, attacker")
        process = predicting.get_backend_pid()
        query(holding, "BEGIN")
        query(holding, "DROP SCHEMA target")
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        wait_until(lambda: outcome or value(
            watching, "SELECT wait_event_type IS NOT DISTINCT FROM 'Lock' FROM pg_stat_activity"
            " WHERE pid = %s", process), 30)
        assert not outcome, outcome
        query(changing, change)
        query(holding, "ROLLBACK")
        thread.join(60)
        return outcome[0]
    finally:
        for connection in (predicting, holding, changing, watching):
            connection.close()


def check_prediction(outcome, id_type):
    if isinstance(outcome, Exception):
        assert outcome.pgcode == CHANGED, str(outcome)
        return
    connection = session()
    rows = query(connection, "SELECT id::bigint, pg_typeof(id)::text FROM target.pred ORDER BY 1")
    assert rows == [(i, id_type) for i in range(1, 41)]
    connection.close()


@pytest.mark.parametrize("columns", ["4096::bigint AS x, 1 AS id", "x, 4096::bigint AS id",
                                     "x, 'a text'::text AS id"])
def test_predicting_while_a_session_hides_the_source(columns):
    query(session(), "DROP VIEW IF EXISTS first.points")
    outcome = held_up("SELECT hopper.predict('attacker.run', 'points', 'id', 'x', 'target.pred',"
                      " 'response', mst_key => 1)",
                      f"CREATE VIEW first.points AS SELECT {columns} FROM attacker.points")
    query(session(), "DROP VIEW first.points")
    check_prediction(outcome, "integer")


def test_predicting_while_a_session_hides_the_type_of_the_id():
    connection = session()
    query(connection, "CREATE DOMAIN idt AS bigint")
    query(connection, "CREATE TABLE typed AS SELECT id::idt, x FROM points")
    outcome = held_up("SELECT hopper.predict('attacker.run', 'attacker.typed', 'id', 'x',"
                      " 'target.pred', 'response', mst_key => 1)", "CREATE DOMAIN first.idt AS text")
    query(connection, "DROP DOMAIN first.idt")
    check_prediction(outcome, "idt")
    connection.close()


def test_predictions_go_into_no_table_that_was_there():
    """A function of the source makes a table of the output's name, which hides the new one."""
    connection = session()
    query(connection, """CREATE FUNCTION shadow(v int) RETURNS int LANGUAGE plpgsql VOLATILE AS $$
        BEGIN
            IF to_regclass('pg_temp.shaded') IS NULL THEN
                CREATE TEMP TABLE shaded (id int PRIMARY KEY, class_name text, class_value text,
                    prob float8, predicted_y text CHECK (predicted_y = 'none'));
            END IF;
            RETURN v;
        END $$""")
    query(connection, "CREATE VIEW shadowing AS SELECT shadow(id) AS id, x FROM points")
    query(connection, "SELECT hopper.load_model('open', %s, decode(repeat('00', 24), 'hex'))",
          MODEL.replace('{"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2],'
                        ' "name": "in"}},', ""))
    try:
        query(connection, "SELECT hopper.predict_byom('open', 1, 'shadowing', 'id', 'x', 'shaded',"
              " 'response')")
        assert value(connection, "SELECT count(*) FROM attacker.shaded") == 40
    except psycopg2.Error as error:
        assert error.pgcode == CHANGED, str(error)
    if value(connection, "SELECT to_regclass('pg_temp.shaded') IS NOT NULL"):
        assert value(connection, "SELECT count(*) FROM pg_temp.shaded") == 0
    connection.close()
