"""models() lists what everybody may read, whatever one of them puts on his tables."""

import pytest

from digits import connect, drop_database, query, value

DATABASE = "hopper_listed"
MALLORY, READER = "hopper_listed_mallory", "hopper_listed_reader"
MODEL = """{"class_name": "Sequential", "config": {"name": "s", "layers": [
  {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2], "name": "in"}},
  {"class_name": "Dense", "config": {"name": "out", "units": 2, "activation": "softmax"}}]}}"""
COMPILE = "loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']"
LISTED = "SELECT array_agg(model_table ORDER BY 1) FROM hopper.models()"


@pytest.fixture(scope="module")
def database():
    drop_database(DATABASE)
    admin = connect("postgres")
    for role in (MALLORY, READER):
        query(admin, f"DROP ROLE IF EXISTS {role}")
        query(admin, f"CREATE ROLE {role}")
    query(admin, f"CREATE DATABASE {DATABASE}")
    connection = connect(DATABASE)
    query(connection, "SET client_min_messages = warning")
    query(connection, f"CREATE EXTENSION model_hopper; CREATE SCHEMA mal AUTHORIZATION {MALLORY}")
    query(connection, f"SET SESSION AUTHORIZATION {MALLORY}; SET search_path = mal")
    query(connection, "CREATE TABLE points AS SELECT i AS id, ARRAY[i % 2, i % 3]::real[] AS x,"
          " i % 2 AS y FROM generate_series(1, 40) i")
    query(connection, "SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x')")
    query(connection, "SELECT hopper.load_model('models', %s)", MODEL)
    for model in ("first", "second"):
        query(connection, "SELECT hopper.fit('packed', %s, 'models', 1, %s, 'batch_size=8', 1)", model, COMPILE)
    query(connection, "GRANT USAGE ON SCHEMA mal TO PUBLIC; GRANT SELECT ON ALL TABLES IN SCHEMA mal TO PUBLIC;"
          " RESET SESSION AUTHORIZATION")
    yield connection
    connection.close()
    drop_database(DATABASE)
    for role in (MALLORY, READER):
        query(admin, f"DROP ROLE {role}")
    admin.close()


@pytest.fixture
def block(database):
    query(database, "BEGIN")
    yield database
    query(database, "ROLLBACK")


@pytest.mark.parametrize("trap", [
    "CREATE INDEX ON first_summary (start_training_time) WHERE mal.trap('x')",
    "CREATE INDEX ON first (mst_key) WHERE mal.trap('x')",
    "CREATE STATISTICS trap ON ((model IS NULL) = mal.trap('x')) FROM first_summary",
])
@pytest.mark.parametrize("reader", [READER, None])
def test_functions_of_another_role(block, trap, reader):
    query(block, f"""
        SET LOCAL SESSION AUTHORIZATION {MALLORY}; SET LOCAL search_path = mal;
        CREATE FUNCTION trap(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
            IF session_user = '{MALLORY}' THEN RETURN true; END IF; RAISE EXCEPTION 'boom'; END $$; {trap}""")
    assert value(block, LISTED) == ["first", "second"]  # they are one's own
    query(block, "RESET SESSION AUTHORIZATION" + (f"; SET LOCAL SESSION AUTHORIZATION {reader}" if reader else ""))
    assert value(block, LISTED) == ["second"]


def test_it_keeps_no_locks(block):
    value(block, LISTED)
    assert value(block, "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND relation IN"
                 " (SELECT oid FROM pg_class WHERE relnamespace = 'mal'::regnamespace)") == 0


def looks(connection):
    """How often models() searches the catalog of columns, all of which other calls have cached."""
    scans = "SELECT pg_stat_get_xact_numscans('pg_attribute_relid_attnum_index'::regclass)"
    value(connection, LISTED)
    before = value(connection, scans)
    value(connection, LISTED)
    return value(connection, scans) - before


def test_it_grows_with_the_tables_not_with_their_square(block):
    query(block, "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off")
    few = looks(block)
    query(block, """DO $$ BEGIN FOR i IN 1..60 LOOP
        EXECUTE format('CREATE TABLE mal.m%s (LIKE mal.first)', i);
        EXECUTE format('CREATE TABLE mal.m%s_summary (LIKE mal.first_summary)', i); END LOOP; END $$""")
    many = looks(block)
    assert 60 < many - few < 60 * 10
