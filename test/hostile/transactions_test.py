"""Errors and cancels inside transaction blocks: threads and memory go before the client goes on."""

import psycopg2
import pytest

from digits import (ADAM, connect, create_database, drop_database, outputs, pid, query, select,
                    threads, value)

DATABASE = "hopper_transactions"
LONG = ("hopper.fit_multiple_model('packed', 'never', 'configs', 100000000,"
        " validation_table => 'packed_validation', threads => 2)")
# How many threads the process has, seen from within its own statement; one that has ended may stand there a
# moment longer.
COUNT_THREADS = """
            FOR look IN 1..1000 LOOP
                SELECT count(*) INTO STRICT found FROM pg_ls_dir('/proc/self/task');
                EXIT WHEN found = {};
                PERFORM pg_sleep(0.01);
            END LOOP;
            INSERT INTO seen VALUES (found);"""


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    select(connection, "configs", [(key, 1 + key % 2, ADAM, "batch_size=32") for key in range(1, 5)])
    query(connection, "SELECT hopper.fit('packed', 'trained', 'architectures', 1, %s, 'batch_size=32', 1)",
          ADAM)
    yield connection
    connection.close()
    drop_database(DATABASE)


@pytest.fixture
def session(database):
    """A session inside a transaction block, as most clients' are."""
    connection = connect(DATABASE)
    # What a session keeps for itself, libtorch's threads say, is there after a first run.
    query(connection, "SELECT hopper.evaluate('trained', 'packed')")
    query(connection, "SET client_min_messages = warning")
    connection.autocommit = False
    yield connection
    connection.close()


@pytest.mark.parametrize("statement", [
    f"SELECT {LONG}",
    f"DECLARE cursor CURSOR FOR SELECT {LONG}; FETCH cursor",
    f"DO $$ BEGIN PERFORM {LONG}; END $$",
    f"SELECT warm.* FROM trained_info, LATERAL (SELECT {LONG}) warm",
], ids=["select", "cursor", "do", "lateral"])
def test_error_in_a_block_stops_the_threads(session, statement):
    process = pid(session)
    idle = threads(process)
    query(session, "SET LOCAL statement_timeout = '700ms'")
    with pytest.raises(psycopg2.errors.QueryCanceled):
        query(session, statement)
    # Here the block still waits for its ROLLBACK.
    assert threads(process) == idle
    with pytest.raises(psycopg2.errors.InFailedSqlTransaction):
        query(session, "SELECT 1")
    session.rollback()
    assert outputs(session, "never%") == []


@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_two_phases(database, end):
    """What trained can be prepared: threads and memory go, and somebody else decides."""
    if value(database, "SHOW max_prepared_transactions") == "0":
        pytest.skip("the server prepares no transactions")
    session = connect(DATABASE)
    query(session, "SELECT hopper.evaluate('trained', 'packed'); SET client_min_messages = warning; BEGIN")
    process = pid(session)
    idle = threads(process)
    query(session, "SELECT hopper.fit_multiple_model('packed', 'prepared', 'configs', 1,"
          " validation_table => 'packed_validation', threads => 2)")
    query(session, "SELECT hopper.fit_multiple_model('packed', 'prepared', 'configs', 1,"
          " validation_table => 'packed_validation', warm_start => true)")
    query(session, """SELECT hopper.automl('packed', 'prepared_search', 'architectures', 'prepared_best', 1,
        '{''loss'': [''categorical_crossentropy''], ''optimizer_params_list'':
          [{''optimizer'': [''SGD''], ''lr'': [0.01, 0.1, ''log'']}]}', '{''batch_size'': [64]}', 'random',
        'num_configs=2, num_iterations=1', 1)""")
    query(session, f"PREPARE TRANSACTION '{DATABASE}'")
    assert threads(process) == idle
    # The session is free meanwhile.
    assert value(session, "SELECT count(*) FROM hopper.leaderboard('trained')") == 1
    other = connect(DATABASE)
    query(other, f"{end} PREPARED '{DATABASE}'")
    assert (outputs(other, "prepared%") == []) == (end == "ROLLBACK")
    if end == "COMMIT":
        assert query(other, "SELECT models_trained FROM hopper.fit_multiple_model('packed', 'prepared', 'configs', 1,"
                     " validation_table => 'packed_validation', warm_start => true)") == [(4,)]
        assert value(other, "SELECT count(*) FROM hopper.run_timeline('prepared')") > 0
        for table in outputs(other, "prepared%"):
            query(other, f"DROP TABLE {table}")
    other.close()
    session.close()


def test_savepoint_in_a_block(session):
    process = pid(session)
    idle = threads(process)
    query(session, "SAVEPOINT before")
    query(session, "SET LOCAL statement_timeout = '700ms'")
    with pytest.raises(psycopg2.errors.QueryCanceled):
        query(session, f"SELECT {LONG}")
    assert threads(process) == idle
    query(session, "ROLLBACK TO before")
    assert value(session, "SELECT loss > 0 FROM hopper.evaluate('trained', 'packed')")


def test_handler_of_an_exception(session):
    """The handler may run for hours, in the same transaction."""
    idle = threads(pid(session))
    query(session, "CREATE TEMP TABLE seen (threads bigint)")
    query(session, "SET LOCAL statement_timeout = '700ms'")
    query(session, f"""DO $$ DECLARE found bigint; BEGIN
        BEGIN
            PERFORM {LONG};
        EXCEPTION WHEN query_canceled THEN {COUNT_THREADS.format(idle)}
        END;
        END $$""")
    assert value(session, "SELECT threads FROM seen") == idle


def test_cursor_of_an_outer_block(session):
    """The cursor is older than the block that fetches from it, and fails with it."""
    idle = threads(pid(session))
    query(session, "CREATE TEMP TABLE seen (threads bigint)")
    query(session, "SET LOCAL statement_timeout = '700ms'")
    query(session, f"""DO $$ DECLARE
            slow CURSOR FOR SELECT {LONG};
            fetched record;
            found bigint;
        BEGIN
        OPEN slow;
        BEGIN
            FETCH slow INTO fetched;
        EXCEPTION WHEN query_canceled THEN {COUNT_THREADS.format(idle)}
        END;
        END $$""")
    assert value(session, "SELECT threads FROM seen") == idle


# --- delete_model() drops the table with its last model, never with somebody's ---

def load(connection, table):
    return value(connection, "SELECT hopper.load_model(%s, model_arch::text) FROM architectures"
                 " WHERE model_id = 1", table)


def test_delete_model_waits_for_nobody_who_adds_one(database):
    load(database, "shared")
    adding = connect(DATABASE)
    adding.autocommit = False
    load(adding, "shared")
    query(database, "SELECT hopper.delete_model('shared', 1)")
    assert "Another session uses it." in database.notices[-1]
    adding.commit()
    assert value(database, "SELECT array_agg(model_id) FROM shared") == [2]
    query(database, "SELECT hopper.delete_model('shared', 2)")
    assert outputs(database, "shared") == []
    adding.close()


def test_delete_model_in_an_old_snapshot(database):
    load(database, "shared")
    old = connect(DATABASE)
    query(old, "BEGIN ISOLATION LEVEL REPEATABLE READ")
    query(old, "SELECT 1 FROM shared")
    load(database, "shared")
    query(old, "SELECT hopper.delete_model('shared', 1)")
    query(old, "COMMIT")
    old.close()
    assert value(database, "SELECT array_agg(model_id) FROM shared") == [2]
    query(database, "DROP TABLE shared")


def test_delete_model_under_row_level_security(database):
    load(database, "shared")
    load(database, "shared")
    query(database, "DROP ROLE IF EXISTS hopper_shared_owner")
    query(database, "CREATE ROLE hopper_shared_owner")
    query(database, "ALTER TABLE shared OWNER TO hopper_shared_owner")
    query(database, "ALTER TABLE shared ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    query(database, "CREATE POLICY first ON shared USING (model_id = 1)")
    query(database, "GRANT USAGE ON SCHEMA hopper TO hopper_shared_owner")
    query(database, "SET ROLE hopper_shared_owner")
    try:
        query(database, "SELECT hopper.delete_model('shared', 1)")
    finally:
        query(database, "RESET ROLE")
    assert value(database, "SELECT array_agg(model_id) FROM shared") == [2]
    query(database, "DROP TABLE shared")
    query(database, "REVOKE ALL ON SCHEMA hopper FROM hopper_shared_owner")
    query(database, "DROP ROLE hopper_shared_owner")


def test_delete_model_of_a_table_with_a_view(database):
    load(database, "shared")
    query(database, "CREATE VIEW shared_view AS SELECT * FROM shared")
    query(database, "SELECT hopper.delete_model('shared', 1)")
    assert "depend" in database.notices[-1]
    assert value(database, "SELECT count(*) FROM shared_view") == 0
    query(database, "DROP TABLE shared CASCADE")
