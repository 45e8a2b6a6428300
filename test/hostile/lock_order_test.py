"""Sessions that use the same models and packed tables at once wait for each other, and none loses by it.

Each test holds one session where the order of its locks would cross another's, if they had different ones. A
session's locks stay until its transaction ends: who reads a companion first and the models then would wait
for who has locked the models and waits for the companion.
"""

import threading

import psycopg2
import pytest

from beside import Statement
from digits import ADAM, connect, create_database, drop_database, query, select, value

DATABASE = "hopper_lock_order"
ROUNDS = 20
FIT = ("SELECT models_trained FROM hopper.fit_multiple_model('packed', '%s', 'configs', 1,"
       " validation_table => 'packed_validation', threads => 1)")

PACK = ("SELECT hopper.training_preprocessor('digits', 'packed', 'label', 'pixels', normalizing_const => 16,"
        " validation_fraction => 0.2, replace => true)")


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    select(connection, "configs", [(1, 1, ADAM, "batch_size=64")])
    yield connection
    connection.close()
    drop_database(DATABASE)


@pytest.fixture
def models(database):
    for name in ("a", "b"):
        query(database, FIT % name)
    yield
    for name in ("a", "b"):
        query(database, "SELECT hopper.drop_model(%s)", name)


@pytest.fixture
def hold(database):
    """Gives sessions that hold tables for themselves until they commit."""
    sessions = []

    def begin(tables):
        session = connect(DATABASE)
        sessions.append(session)
        query(session, "BEGIN")
        query(session, f"LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE")
        return session

    yield begin
    for session in sessions:
        session.close()


class Waiting(Statement):
    """One that has to wait."""

    def __init__(self, watcher, statement):
        super().__init__(DATABASE, statement, "SET deadlock_timeout = '50ms'")
        self.waits(watcher)

    def end(self):
        super().end()
        assert self.error is None
        return self.rows


@pytest.mark.parametrize("reads", [
    "SELECT count(*) FROM hopper.leaderboard('a')",
    "SELECT count(*) FROM hopper.predict_row('a', 1, (SELECT pixels FROM digits WHERE id = 1))",
    "SELECT hopper.predict('a', 'digits', 'id', 'pixels', 'predicted', mst_key => 1, replace => true) IS NULL"])
def test_who_reads_models_and_who_renames_them(database, models, hold, reads):
    holder = hold("a_summary")
    reader = Waiting(database, reads)
    renamer = Waiting(database, "SELECT hopper.rename_model('a', 'c')")
    query(holder, "COMMIT")
    reader.end()
    renamer.end()
    query(database, "SELECT hopper.rename_model('c', 'a')")


class Rounds:
    """A session that calls one after the other, many times; a model may have another name by then."""

    def __init__(self, *calls):
        self.connection = connect(DATABASE)
        query(self.connection, "SET deadlock_timeout = '10ms'")
        self.errors = []
        self.done = 0
        self.thread = threading.Thread(target=self.run, args=calls)
        self.thread.start()

    def run(self, *calls):
        for _ in range(ROUNDS):
            for call in calls:
                try:
                    query(self.connection, call)
                    self.done += 1
                except psycopg2.errors.UndefinedTable:
                    pass
                except psycopg2.Error as error:
                    self.errors.append(error)

    def end(self):
        self.thread.join(120)
        assert not self.thread.is_alive()
        self.connection.close()


def copies(one, other):
    return f"SELECT hopper.copy_model('{one}', '{other}', replace => true)"


def renames(one, other):
    return f"SELECT hopper.rename_model('{one}', '{other}', replace => true)"


@pytest.mark.parametrize("call", [copies, renames])
def test_sessions_that_put_models_in_each_others_place(database, models, call):
    sessions = [Rounds(call("a", "b"), copies("b", "a")), Rounds(call("b", "a"), copies("a", "b")),
                Rounds("SELECT count(*) FROM hopper.leaderboard('a')",
                       "SELECT count(*) FROM hopper.leaderboard('b')")]
    for session in sessions:
        session.end()
    errors = [error for session in sessions for error in session.errors
              # A session that makes a table has its name for itself, and says so at once.
              if not isinstance(error, psycopg2.errors.ObjectInUse)]
    assert not errors, f"{len(errors)} errors: {errors[0]}"
    assert min(session.done for session in sessions) > 0
    for name in ("a", "b"):
        # Either way there is one model left at least.
        if value(database, "SELECT to_regclass(%s) IS NULL", name):
            query(database, FIT % name)


def test_who_trains_and_who_packs_anew(database, hold):
    holder = hold("packed_validation")
    training = Waiting(database, FIT % "c")
    packing = Waiting(database, PACK)
    query(holder, "COMMIT")
    assert training.end() == [(1,)]
    assert packing.end()[0][0] > 0
    query(database, "SELECT hopper.drop_model('c')")


def test_sessions_that_pack_the_same_one_after_the_other(database, hold):
    first = hold("packed_validation")
    query(first, PACK)
    second = Waiting(database, PACK)
    query(first, "COMMIT")
    assert second.end()[0][0] > 0


def test_a_model_that_is_left_out_is_not_locked(database, models, hold):
    """models() does not wait for others; what it does not list it leaves to them."""
    holder = hold("a_summary")
    query(database, "BEGIN")
    listed = query(database, "SELECT model_table FROM hopper.models()")
    locked = query(database, "SELECT relation::regclass::text FROM pg_locks WHERE pid = pg_backend_pid()"
                   " AND relation IN ('a'::regclass, 'b'::regclass)")
    query(database, "COMMIT")
    query(holder, "COMMIT")
    assert listed == [("b",)] and locked == []


@pytest.mark.parametrize("held, first, call", [
    ("a_info", "a", "SELECT count(*) FROM hopper.leaderboard('a')"),
    ("a_info", "a", "SELECT count(*) FROM hopper.run_timeline('a')"),
    ("a_info", "a", "SELECT count(*) FROM hopper.predict_row('a', 1, (SELECT pixels FROM digits WHERE id = 1))"),
    ("a_info", "a", "SELECT count(*) FROM hopper.calibrate('a', 'packed_validation')"),
    ("packed_validation_summary", "packed_validation",
     "SELECT count(*) FROM hopper.evaluate('a', 'packed_validation', mst_key => 1)"),
])
def test_models_are_locked_before_their_companions_are_looked_up(database, models, hold, held, first, call):
    """Between one look-up and the next, another session would rename or drop them all."""
    holder = hold(held)
    waiting = Waiting(database, call)
    locked = query(database, "SELECT DISTINCT pid FROM pg_locks WHERE relation = %s::regclass AND granted", first)
    query(holder, "COMMIT")
    waiting.end()
    assert locked == [(waiting.process,)]


@pytest.fixture
def viewer(database):
    """A role that may read metrics, not models, and so cannot lock these."""
    query(database, "CREATE ROLE hopper_viewer")
    query(database, "GRANT USAGE ON SCHEMA hopper TO hopper_viewer")
    query(database, "GRANT SELECT ON a_info, a_summary TO hopper_viewer")
    yield "hopper_viewer"
    query(database, "DROP OWNED BY hopper_viewer")
    query(database, "DROP ROLE hopper_viewer")


def test_models_that_went_while_their_companions_were_waited_for(database, models, viewer, hold):
    holder = hold("a_info")
    waiting = Statement(DATABASE, "SELECT count(*) FROM hopper.leaderboard('a')", f"SET ROLE {viewer}")
    waiting.waits(database)
    query(holder, "SELECT hopper.rename_model('a', 'c')")
    query(holder, "COMMIT")
    waiting.end()
    assert isinstance(waiting.error, psycopg2.errors.UndefinedTable) and '"a" does not exist' in str(waiting.error)
    query(database, "SELECT hopper.rename_model('c', 'a')")
