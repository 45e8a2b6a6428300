"""Runs that are killed go on from their checkpoints, with the bits of a run that nobody killed."""

import os
import random
import signal

import psycopg2
import pytest

from conftest import crashes, wait_for_server
from digits import ADAM, connect, create_database, drop_database, query, select, value, wait_until

pytestmark = pytest.mark.chance
DATABASE = "hopper_run_kill"
WATCHED = ("batch_size=16, callbacks=[EarlyStopping(monitor='val_loss', patience=3, min_delta=0.01,"
           " restore_best_weights=True), ReduceLROnPlateau(monitor='val_loss', patience=1)]")
FIT = ("SELECT hopper.fit_multiple_model('packed', '{}', 'configs', 200, validation_table => 'packed_validation',"
       " seed => 5, threads => 1)")
KILLS = 4


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    select(connection, "configs", [(1, 1, ADAM, "batch_size=32"), (2, 2, ADAM, "batch_size=16"), (3, 1, ADAM, WATCHED),
                                   (4, 2, ADAM, WATCHED)])
    query(connection, FIT.format("straight"))
    connection.close()
    query(admin := connect("postgres"), f"ALTER DATABASE {DATABASE} SET hopper.checkpoint_interval = 0")
    admin.close()
    yield
    drop_database(DATABASE)


def state(run):
    connection = connect(DATABASE)
    try:
        return query(connection, "SELECT state, pid, checkpoints FROM hopper.runs WHERE run = %s", run)[0]
    finally:
        connection.close()


@pytest.mark.crash
def test_a_worker_is_killed(database):
    connection = connect(DATABASE)
    run = value(connection, "SELECT hopper.submit(%s)", FIT.format("killed"))
    connection.close()
    wait_until(lambda: state(run)[0] == "running" and state(run)[2] > 0)
    before = crashes()
    os.kill(state(run)[1], signal.SIGKILL)
    wait_until(lambda: crashes() > before)
    wait_for_server()
    connection = connect(DATABASE)
    assert value(connection, "SELECT hopper.wait(%s, 120)", run) == "done"
    assert value(connection, "SELECT count(*) FROM hopper.run_events WHERE run = %s AND event = 'started'", run) > 1
    expect_as_straight(connection, "killed")
    connection.close()


@pytest.mark.crash
def test_workers_are_killed_in_what_their_runs_close_with(database):
    """It is taken back, and done once: behind a search, and between two folds."""
    connection = connect(DATABASE)
    query(connection, "CREATE TABLE points AS SELECT i AS id, sin(i) AS a, cos(i) AS b, sin(i) * cos(i) > 0 AS y FROM generate_series(1, 800) AS i")
    runs = [value(connection, "SELECT hopper.submit(%s)", f"SELECT * FROM hopper.{call}") for call in (
        "auto_fit('points', 'y', 'found', 1, treatments => '{\"id\": \"drop\"}')",
        "cross_validate('points', 'crossed', 'y', 'a, b', 2, 2, recipe => 'realmlp_small')")]
    query(connection, "BEGIN; LOCK TABLE found_steps, crossed")
    waiting = "SELECT pid FROM hopper.runs JOIN pg_stat_activity USING (pid) WHERE run = ANY (%s) AND wait_event_type = 'Lock'"
    watcher = connect(DATABASE)
    wait_until(lambda: len(query(watcher, waiting, runs)) == 2)
    before = crashes()
    os.kill(query(watcher, waiting, runs)[0][0], signal.SIGKILL)
    wait_until(lambda: crashes() > before)
    wait_for_server()
    connection = connect(DATABASE)
    assert [value(connection, "SELECT hopper.wait(%s, 120)", run) for run in runs] == ["done", "done"]
    assert query(connection, "SELECT array_agg(step ORDER BY step) FROM found_steps") == [([1, 2, 3, 4, 5, 6, 7],)]
    assert query(connection, "SELECT fold, count(*) FROM crossed GROUP BY 1 ORDER BY 1") == [(1, 2), (2, 2)]
    assert query(connection, "SELECT relname FROM pg_class WHERE relname ~ '^(crossed_fold._|found_(linear|probe)|hopper_run_)'") == []
    connection.close()


def test_a_session_is_terminated_again_and_again(database):
    random.seed(5)
    connection = connect(DATABASE)
    run = value(connection, "SELECT hopper.create_run(%s)", FIT.format("ended"))
    for _ in range(KILLS):
        trainer = connect(DATABASE)
        query(trainer, "SELECT hopper.step(%s, %s)", run, random.random() / 4)
        process = value(trainer, "SELECT pg_backend_pid()")
        query(connection, "SELECT pg_terminate_backend(%s)", process)
        wait_until(lambda: state(run)[0] != "running")
        with pytest.raises(psycopg2.Error):
            query(trainer, "SELECT 1")
    query(connection, "CALL hopper.train(%s)", run)
    assert state(run)[0] == "done"
    expect_as_straight(connection, "ended")
    connection.close()


def expect_as_straight(connection, table):
    compared = "SELECT mst_key, state_digest, status, iterations, metrics_iters, validation_loss FROM {}_info ORDER BY 1"
    assert query(connection, compared.format(table)) == query(connection, compared.format("straight"))
