"""Cancel, timeouts and termination while models train: quick, and nothing is left."""

import pathlib
import random
import threading
import time

import psycopg
import psycopg2
import pytest

from digits import (ADAM, connect, create_database, drop_database, outputs, pid, query, select,
                    threads, value, wait_until)

pytestmark = pytest.mark.chance
DATABASE = "hopper_interrupt"
# Batches of these take well below 0.1 s each, so that 0.2 s is the limit.
LIMIT = 0.2
DICE = random.Random(1)
LONG = ("SELECT * FROM hopper.fit_multiple_model('packed', 'never', 'configs', 1000000,"
        " validation_table => 'packed_validation', threads => 2)")
SHORT = ("SELECT * FROM hopper.fit_multiple_model('packed', 'short', 'configs', 1,"
         " validation_table => 'packed_validation', threads => 2)")


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    select(connection, "configs", [(key, 1 + key % 2, ADAM, "batch_size=32") for key in range(1, 7)])
    yield connection
    connection.close()
    drop_database(DATABASE)


class Session:
    """A session that runs one statement in a thread of its own."""

    def __init__(self, driver=psycopg2):
        self.connection = connect(DATABASE, driver)
        self.pid = pid(self.connection)
        self.error = None
        self.ended = None

    def start(self, statement):
        def run():
            try:
                query(self.connection, statement)
            except (psycopg2.Error, psycopg.Error) as error:
                self.error = error
            self.ended = time.monotonic()
        self.thread = threading.Thread(target=run)
        self.thread.start()

    def is_training(self, others):
        return threads(self.pid) > others


def sqlstate(error):
    return getattr(error, "pgcode", None) or getattr(error, "sqlstate", None)


def interrupted(driver, interrupt):
    """Seconds from `interrupt(session)` to the end of the statement, after checking the rest."""
    session = Session(driver)
    query(session.connection, "DROP TABLE IF EXISTS short, short_info, short_state, short_summary")
    query(session.connection, SHORT)
    others = threads(session.pid)
    session.start(LONG)
    wait_until(lambda: session.is_training(others))
    time.sleep(DICE.uniform(0.05, 0.3))
    asked = time.monotonic()
    interrupt(session)
    session.thread.join(30)
    assert not session.thread.is_alive()
    assert threads(session.pid) == others
    assert outputs(session.connection, "never%") == []
    # The session goes on as if nothing had happened.
    assert value(session.connection, "SELECT 6 * 7") == 42
    query(session.connection, "DROP TABLE short, short_info, short_state, short_summary")
    query(session.connection, SHORT)
    assert threads(session.pid) == others
    session.connection.close()
    assert sqlstate(session.error) == "57014"
    assert "before its first iteration" in str(session.error) or " after " in str(session.error)
    return session.ended - asked


@pytest.mark.parametrize("driver", [psycopg2, psycopg])
def test_cancel(database, driver):
    def cancel(session):
        assert value(database, "SELECT pg_cancel_backend(%s)", session.pid) is True
    # The machine may be busy with something else; what waits for an iteration is slow every time.
    assert min(interrupted(driver, cancel) for _ in range(3)) < LIMIT


def test_statement_timeout(database):
    took = []
    for _ in range(3):
        connection = connect(DATABASE)
        query(connection, "DROP TABLE IF EXISTS short, short_info, short_state, short_summary")
        query(connection, SHORT)
        others = threads(pid(connection))
        query(connection, "SET statement_timeout = '1s'")
        started = time.monotonic()
        with pytest.raises(psycopg2.errors.QueryCanceled, match="statement timeout"):
            query(connection, LONG)
        took.append(time.monotonic() - started - 1.0)
        assert threads(pid(connection)) == others
        assert outputs(connection, "never%") == []
        connection.close()
    assert min(took) < LIMIT


def gone(process):
    """Dead, also where nobody has taken note of it yet."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_terminate(database):
    took = []
    for _ in range(3):
        session = Session()
        query(session.connection, "DROP TABLE IF EXISTS short, short_info, short_state, short_summary")
        query(session.connection, SHORT)
        others = threads(session.pid)
        session.start(LONG)
        wait_until(lambda: session.is_training(others))
        time.sleep(DICE.uniform(0.05, 0.3))
        asked = time.monotonic()
        assert value(database, "SELECT pg_terminate_backend(%s)", session.pid) is True
        wait_until(lambda: gone(session.pid))
        took.append(time.monotonic() - asked)
        session.thread.join(30)
        assert session.error is not None
        assert outputs(database, "never%") == []
    assert min(took) < LIMIT


def test_fifty_terminations_at_any_moment(database):
    """`database` would lose its connection if a backend had crashed and the server restarted."""
    before = pid(database)
    for _ in range(50):
        session = Session()
        session.start(LONG)
        # While the libraries load, the data are read, or the models train.
        time.sleep(DICE.uniform(0.0, 0.5))
        query(database, "SELECT pg_terminate_backend(%s)", session.pid)
        wait_until(lambda: gone(session.pid))
        session.thread.join(30)
        assert session.error is not None
    assert pid(database) == before
    assert outputs(database, "never%") == []
    assert value(database, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%never%'"
                 " AND pid <> pg_backend_pid()") == 0


def anonymous_kb(process):
    for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1])
    raise AssertionError("no RssAnon")


def test_memory_stays(database):
    connection = connect(DATABASE)
    process = pid(connection)
    sizes = []
    for _ in range(25):
        query(connection, "DROP TABLE IF EXISTS short, short_info, short_state, short_summary")
        query(connection, SHORT)
        sizes.append(anonymous_kb(process))
    connection.close()
    # The first runs fill caches of the server and of libtorch.
    assert sizes[-1] - sizes[5] < 4096, sizes


def test_memory_stays_over_errors(database):
    connection = connect(DATABASE)
    process = pid(connection)
    # What a first training fills is there, whatever the machine does in 300 ms.
    query(connection, "DROP TABLE IF EXISTS short, short_info, short_state, short_summary")
    query(connection, SHORT)
    query(connection, "DROP TABLE short, short_info, short_state, short_summary")
    others = threads(process)
    query(connection, "SET statement_timeout = '300ms'")
    sizes = []
    for _ in range(25):
        with pytest.raises(psycopg2.errors.QueryCanceled):
            query(connection, LONG)
        sizes.append(anonymous_kb(process))
    assert sizes[-1] - sizes[5] < 4096, sizes
    assert threads(process) == others
    connection.close()


def test_savepoints(database):
    connection = connect(DATABASE)
    query(connection, "DROP TABLE IF EXISTS short, short_info, short_state, short_summary")
    query(connection, "BEGIN")
    query(connection, "SAVEPOINT before")
    query(connection, "SET LOCAL statement_timeout = '500ms'")
    with pytest.raises(psycopg2.errors.QueryCanceled):
        query(connection, LONG)
    query(connection, "ROLLBACK TO before")
    query(connection, SHORT)
    query(connection, "COMMIT")
    assert len(outputs(connection, "short%")) == 4
    query(connection, "DROP TABLE short, short_info, short_state, short_summary")
    # Caught within a function, as a subtransaction.
    assert query(connection, """DO $$ BEGIN
        PERFORM set_config('statement_timeout', '0', false);
        BEGIN
            PERFORM hopper.fit_multiple_model('packed', 'short', 'configs', 0);
        EXCEPTION WHEN invalid_parameter_value THEN NULL; END;
        PERFORM hopper.fit_multiple_model('packed', 'short', 'configs', 1); END $$""") is None
    assert len(outputs(connection, "short%")) == 4
    connection.close()
