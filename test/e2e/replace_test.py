"""replace => true: others use the old tables until the new ones are ready."""

import itertools
import re
import threading
import time

import psycopg2
import pytest

from digits import (ADAM, connect, create_database, drop_database, pid, query, select, threads,
                    value, wait_until)

DATABASE = "hopper_replace"
FIT = ("SELECT models_trained FROM hopper.fit_multiple_model('packed', 'm', 'configs', %s,"
       " validation_table => 'packed_validation', threads => 2, replace => %s)")
PREDICT = "SELECT count(*) FROM hopper.predict_row('m', 1, (SELECT pixels FROM digits WHERE id = 1))"


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    select(connection, "configs", [(1, 1, ADAM, "batch_size=32"), (2, 1, ADAM, "batch_size=64")])
    query(connection, FIT, 1, False)
    yield connection
    connection.close()
    drop_database(DATABASE)


@pytest.fixture
def training(database):
    """A session that trains until it is cancelled, in the place of "m"."""
    connection = connect(DATABASE)
    errors = []

    def run():
        try:
            query(connection, FIT, 1000000, True)
        except psycopg2.Error as error:
            errors.append(error)

    process = pid(connection)
    others = threads(process)
    thread = threading.Thread(target=run)
    thread.start()
    wait_until(lambda: threads(process) > others)
    yield connection
    connection.cancel()
    thread.join()
    connection.close()
    assert errors and errors[0].pgcode == "57014"


def test_the_old_models_are_used_meanwhile(database, training):
    before = query(database, "SELECT mst_key, md5(model_weights) FROM m ORDER BY 1")
    query(database, "SET statement_timeout = '20s'")
    assert value(database, PREDICT) == 10
    assert value(database, "SELECT count(*) FROM hopper.leaderboard('m')") == 2
    query(database, "SELECT hopper.predict('m', 'digits', 'id', 'pixels', 'p', mst_key => 1, replace => true)")
    with pytest.raises(psycopg2.errors.ObjectInUse, match="another session is making the table"):
        query(database, FIT, 1, True)
    query(database, "RESET statement_timeout")
    training.cancel()
    assert query(database, "SELECT mst_key, md5(model_weights) FROM m ORDER BY 1") == before


# --- at the end of the training nothing that others do costs it ---

class Run:
    """A training in the place of "m" that ends by itself, and has begun."""

    iterations = itertools.count(500)  # other ones are other models

    def __init__(self, settings=""):
        self.connection = connect(DATABASE)
        if settings:
            query(self.connection, settings)
        self.error = self.rows = None
        self.process = pid(self.connection)
        others = threads(self.process)
        self.thread = threading.Thread(target=self.train, args=(next(self.iterations),))
        self.thread.start()
        wait_until(lambda: threads(self.process) > others)

    def train(self, iterations):
        try:
            self.rows = query(self.connection, FIT.replace("models_trained", "model_table, models_trained"),
                              iterations, True)
        except psycopg2.Error as error:
            self.error = error

    def waits(self, watcher):
        """For somebody else's lock, that is: it has trained."""
        wait_until(lambda: not self.thread.is_alive() or value(
            watcher, "SELECT count(*) FROM pg_locks WHERE pid = %s AND NOT granted", self.process) > 0)
        assert self.thread.is_alive(), self.error or self.rows

    def end(self):
        self.thread.join(60)
        assert not self.thread.is_alive()
        notices = "".join(self.connection.notices)
        self.connection.close()
        return notices


@pytest.fixture
def reader(database):
    connection = connect(DATABASE)
    yield connection
    connection.close()


def seeds(connection, table="m"):
    return value(connection, f"SELECT md5(string_agg(model_weights, '' ORDER BY mst_key)) FROM {table}")


def test_a_reader_is_waited_for_whatever_the_lock_timeout_says(database, reader):
    before = seeds(database)
    run = Run(settings="SET lock_timeout = '200ms'")
    query(reader, "BEGIN")
    query(reader, "SELECT count(*) FROM m_info")
    run.waits(database)
    time.sleep(0.6)
    query(reader, "COMMIT")
    notices = run.end()
    assert run.error is None
    assert run.rows == [("m", 2)]
    assert 'waiting for other sessions that use "m_info"' in notices
    assert seeds(database) != before
    assert value(database, "SELECT max(array_length(metrics_iters, 1)) FROM m_info") > 1


def test_a_view_that_was_made_meanwhile_keeps_the_old_tables(database):
    before = seeds(database)
    run = Run()
    query(database, "CREATE VIEW on_m AS SELECT mst_key, model_weights FROM m")
    query(database, "GRANT SELECT ON m TO PUBLIC")
    notices = run.end()
    assert run.error is None
    assert run.rows == [("m", 2)]
    kept = re.search('the old "m" could not be dropped, it is named "(hopper_old_[0-9]+)" now', notices).group(1)
    assert re.search(r"view (public\.)?on_m depends on table (public\.)?m", notices)
    assert seeds(database) != before
    assert seeds(database, "on_m") == seeds(database, kept) == before
    assert value(database, "SELECT relacl::text ~ '=r/' FROM pg_class WHERE oid = 'm'::regclass")
    # It is a model like any other.
    assert value(database, "SELECT count(*) FROM hopper.leaderboard(%s)", kept) == 2
    query(database, "DROP VIEW on_m")
    assert value(database, "SELECT hopper.drop_model(%s)", kept) == 4
    assert value(database, "SELECT count(*) FROM pg_class WHERE relname LIKE 'hopper\\_%%'") == 0


def test_a_deadlock_does_not_cost_the_models(database, reader):
    """Who reads the old models and then waits for the packed table, which the run has read."""
    before = seeds(database)
    run = Run(settings="SET deadlock_timeout = '300ms'")
    # It looks at once, and sees none yet.
    query(reader, "SET deadlock_timeout = '10ms'")
    query(reader, "BEGIN")
    query(reader, "SELECT count(*) FROM m")
    locker = threading.Thread(target=query, args=(reader, "LOCK TABLE packed"))
    locker.start()
    notices = run.end()
    assert run.error is None
    made = re.search('"m" could not be replaced, what was computed is in "(hopper_new_[0-9]+)"', notices).group(1)
    assert "deadlock detected" in notices
    assert run.rows == [(made, 2)]
    locker.join()
    query(reader, "COMMIT")
    assert seeds(database) == before
    assert value(database, "SELECT model FROM " + made + "_summary").endswith(made)
    # As the hint says.
    query(database, "SELECT hopper.rename_model(%s, 'm', replace => true)", made)
    assert seeds(database) != before


def test_a_cancel_is_heard_while_it_waits(database, reader):
    before = seeds(database)
    run = Run()
    query(reader, "BEGIN")
    query(reader, "SELECT count(*) FROM m")
    run.waits(database)
    run.connection.cancel()
    run.end()
    assert run.error.pgcode == "57014"
    query(reader, "COMMIT")
    assert seeds(database) == before


def test_what_the_end_needs_is_tried_before(database):
    """Nobody may give rights, or other names, to tables: it is found out before the training."""
    for command in ("GRANT", "ALTER TABLE"):
        query(database, "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN"
              " IF EXISTS (SELECT FROM pg_class WHERE relname ~ 'hopper_new_[0-9]+_state')"
              "  AND (TG_TAG = 'GRANT' OR to_regclass('public.m') IS NULL) THEN RAISE 'not today'; END IF; END $$")
        query(database, f"CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('{command}')"
              " EXECUTE FUNCTION refuse()")
        query(database, "GRANT SELECT ON m TO PUBLIC")
        del database.notices[:]
        with pytest.raises(psycopg2.Error, match="not today"):
            query(database, FIT, 1, True)
        assert not any(" over 1,438 rows" in line for line in database.notices)
        query(database, "DROP EVENT TRIGGER refuse")
        query(database, "DROP FUNCTION refuse")
