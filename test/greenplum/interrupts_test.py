"""Cancelled and terminated runs inside transaction blocks: what the segments do ends with the error,
not with the client's ROLLBACK."""

import os
import threading
import time

import psycopg2
import pytest

from cluster import of_each, seconds, segment_processes, spent
from conftest import connect
from digits import outputs, query, value, wait_until
from runs import digests, fit

FIT = ("hopper.fit_multiple_model('packed_7', 'stopped', 'configs_8', 1000000,"
       " validation_table := 'packed_7_validation', threads := 2)")
STATEMENTS = {
    "block": f"SELECT * FROM {FIT}",
    "savepoint": f"SELECT * FROM {FIT}",
    "do": f"DO $do$ BEGIN PERFORM {FIT}; END $do$",
    "handler": f"DO $do$ BEGIN PERFORM {FIT}; EXCEPTION WHEN query_canceled THEN NULL; END $do$",
    "outer handler": f"DO $do$ BEGIN BEGIN PERFORM {FIT}; EXCEPTION WHEN division_by_zero THEN NULL;"
                     " END; EXCEPTION WHEN query_canceled THEN NULL; END $do$",
}
HANDLED = ("handler", "outer handler")


def threads(processes):
    return of_each(processes, lambda one: len(os.listdir(f"/proc/{one}/task")))


class Session:
    """A session that has trained, so that its processes have what they keep: libraries, threads."""

    def __init__(self, on_segments):
        self.other = on_segments
        self.connection = connect("HOPPER_GREENPLUM")
        fit(self.connection, "packed_7", "woken", "configs_2", 1)
        query(self.connection, "DROP TABLE woken, woken_info, woken_state, woken_summary")
        self.pid = value(self.connection, "SELECT pg_backend_pid()")
        self.processes = segment_processes(self.pid)
        assert sorted(self.processes) == [0, 1, 2]
        self.idle = threads(self.processes)
        self.error = None

    def call(self, statement):
        try:
            query(self.connection, statement)
        except psycopg2.Error as error:
            self.error = error

    def interrupt(self, place, function):
        """Begins the statement, waits until segments train, and calls `function` for the session."""
        query(self.connection, "BEGIN")
        if place == "savepoint":
            query(self.connection, "SAVEPOINT here")
        thread = threading.Thread(target=self.call, args=(STATEMENTS[place],))
        thread.start()
        before = seconds(self.processes)
        wait_until(lambda: spent(before, seconds(self.processes)) > 0.5 or not thread.is_alive())
        time.sleep(0.2)
        assert thread.is_alive(), self.error
        query(self.other, f"SELECT {function}(%s)", self.pid)
        began = time.monotonic()
        thread.join(60)
        assert not thread.is_alive()
        return time.monotonic() - began

    def require_rest(self):
        """The segments have stopped: their threads are gone, and they compute nothing."""
        wait_until(lambda: all(n <= self.idle[one] for one, n in threads(self.processes).items()), 20)
        before = seconds(self.processes)
        time.sleep(1)
        assert spent(before, seconds(self.processes)) < 0.3


@pytest.mark.parametrize("place", STATEMENTS)
def test_a_cancel_stops_the_segments_at_once(on_segments, place):
    session = Session(on_segments)
    connection = session.connection
    assert session.interrupt(place, "pg_cancel_backend") < 20
    assert (session.error is None) == (place in HANDLED)
    # The transaction goes on, or waits for its ROLLBACK.
    session.require_rest()
    if place not in HANDLED:
        assert session.error.pgcode == "57014"
        with pytest.raises(psycopg2.Error) as error:
            query(connection, "SELECT 1")
        assert error.value.pgcode == "25P02"
    if place == "savepoint":
        query(connection, "ROLLBACK TO here")
    if place == "savepoint" or place in HANDLED:
        assert value(connection, "SELECT count(*) FROM packed_7") > 0
        fit(connection, "packed_7", "went_on", "configs_2", 1)
        query(connection, "COMMIT")
    else:
        query(connection, "ROLLBACK")
        fit(connection, "packed_7", "went_on", "configs_2", 1)
    assert outputs(on_segments, "stopped%") == []
    fit(on_segments, "packed_7", "never_stopped", "configs_2", 1)
    assert digests(connection, "went_on") == digests(on_segments, "never_stopped")
    for table in ("went_on", "never_stopped"):
        query(on_segments, f"DROP TABLE {table}, {table}_info, {table}_state, {table}_summary")
    connection.close()


@pytest.mark.parametrize("place", ["block", "handler"])
def test_a_terminated_session_leaves_nothing_on_the_segments(on_segments, place):
    """No handler catches it."""
    session = Session(on_segments)
    session.interrupt(place, "pg_terminate_backend")
    assert session.connection.closed or session.error.pgcode == "57P01"
    everyone = [one for found in session.processes.values() for one in found]
    wait_until(lambda: not any(os.path.exists(f"/proc/{one}") for one in everyone), 30)
    assert outputs(on_segments, "stopped%") == []
    fit(on_segments, "packed_7", "after_all", "configs_2", 1)
    assert len(digests(on_segments, "after_all")) == 2
    query(on_segments, "DROP TABLE after_all, after_all_info, after_all_state, after_all_summary")
