"""Runs survive their server: stopped, killed, started again with and without the library preloaded."""

import os
import threading
import time

import psycopg2
import pytest

from digits import ADAM, connect, create_database, pid, query, select, value, wait_until
from own_server import own_server

DATABASE = "hopper_restart"
PORT = "5434"
WATCHED = ("batch_size=16, callbacks=[EarlyStopping(monitor='val_loss', patience=3, min_delta=0.01,"
           " restore_best_weights=True), ReduceLROnPlateau(monitor='val_loss', patience=1)]")
FIT = ("SELECT hopper.fit_multiple_model('packed', '{}', 'configs', {}, validation_table => 'packed_validation',"
       " seed => 5, threads => 1)")
# So many that a run goes on when its server is stopped after its first checkpoint.
ITERATIONS = 200
PRELOADED = {"shared_preload_libraries": "model_hopper"}


@pytest.fixture(scope="module")
def server():
    before = os.environ["PGPORT"]
    with own_server("restart", PORT) as server:
        os.environ["PGPORT"] = PORT
        try:
            server.start(**PRELOADED)
            connection = create_database(DATABASE)
            select(connection, "configs", [(1, 1, ADAM, "batch_size=32"), (2, 2, ADAM, WATCHED)])
            query(connection, FIT.format("straight", ITERATIONS))
            query(connection, f"ALTER DATABASE {DATABASE} SET hopper.checkpoint_interval = 0")
            connection.close()
            yield server
        finally:
            os.environ["PGPORT"] = before


def ask(text, *arguments):
    connection = connect(DATABASE)
    try:
        return query(connection, text, *arguments)
    finally:
        connection.close()


def submitted(table, iterations=ITERATIONS):
    run = ask("SELECT hopper.submit(%s)", FIT.format(table, iterations))[0][0]
    wait_until(lambda: ask("SELECT checkpoints FROM hopper.runs WHERE run = %s", run)[0][0] > 0)
    return run


def taken_up(run):
    """The server looks for such runs after it has begun to take connections."""
    wait_until(lambda: ask("SELECT state FROM hopper.runs WHERE run = %s", run)[0][0] in ("running", "done"), 30)


def as_straight(table):
    compared = "SELECT mst_key, state_digest, status, iterations, metrics_iters, validation_loss FROM {}_info ORDER BY 1"
    return ask(compared.format(table)) == ask(compared.format("straight"))


@pytest.mark.parametrize("how", ["immediate", "fast", "postmaster"])
def test_what_went_on_in_the_background_is_taken_up(server, how):
    run = submitted(how)
    if how == "postmaster":
        server.kill()
        server.start_again(**PRELOADED)
    else:
        server.stop(how)
        server.start(**PRELOADED)
    # Also where the server has not yet looked for such runs.
    assert ask("SELECT hopper.wait(%s, 120)", run) == [("done",)]
    events = [row[0] for row in ask("SELECT event FROM hopper.run_events WHERE run = %s ORDER BY at", run)]
    assert events == ["created", "submitted", "started", "restarted", "started", "done"]
    assert as_straight(how)


def test_a_run_without_its_role_keeps_none_back(server):
    left = submitted("left", 1000000)
    other = submitted("other")
    ask("UPDATE hopper.all_runs SET role = 4000000000::oid WHERE run = %s", left)
    server.stop()
    server.start(**PRELOADED)
    taken_up(other)
    assert ask("SELECT hopper.wait(%s, 120)", other) == [("done",)]
    assert ask("SELECT state, owner FROM hopper.runs WHERE run = %s", left) == [("interrupted", "unknown (OID=4000000000)")]
    for statement in "SELECT hopper.resume(%s)", "SELECT hopper.step(%s, 1)":
        with pytest.raises(psycopg2.Error, match="the role of run .* was dropped"):
            ask(statement, left)
    ask("SELECT hopper.drop_run(%s)", left)


def test_what_is_paused_or_was_in_the_foreground_is_left_alone(server):
    paused = submitted("paused", 1000000)
    ask("SELECT hopper.pause(%s)", paused)
    assert ask("SELECT hopper.wait(%s, 60)", paused) == [("paused",)]
    stepped = ask("SELECT hopper.create_run(%s)", FIT.format("stepped", 1000000))[0][0]
    assert ask("SELECT hopper.step(%s, 0)", stepped) == [("running",)]
    server.stop()
    server.start(**PRELOADED)
    wait_until(lambda: not ask("SELECT 1 FROM pg_stat_activity WHERE backend_type LIKE 'model_hopper %%'"))
    assert ask("SELECT state FROM hopper.runs WHERE run = ANY (%s) ORDER BY run", [paused, stepped]) == [
        ("paused",), ("interrupted",)]
    ask("SELECT hopper.cancel(run) FROM unnest(%s) AS run", [paused, stepped])


def test_without_preloading_resume_goes_on(server):
    run = submitted("resumed")
    server.stop("immediate")
    server.start()
    assert ask("SELECT state FROM hopper.runs WHERE run = %s", run) == [("interrupted",)]
    assert ask("SELECT hopper.wait(%s, 60)", run) == [("interrupted",)]
    ask("SELECT hopper.resume(%s)", run)
    assert ask("SELECT hopper.wait(%s, 120)", run) == [("done",)]
    assert as_straight("resumed")


def test_a_worker_finds_the_run_free_however_slow_the_commit_is(server):
    """It waits for the transaction that resumes the run and has driven it, whose commit waits for a standby."""
    server.stop()
    server.start(synchronous_standby_names="nobody", synchronous_commit="off", max_locks_per_transaction=2000)
    run = ask("SELECT hopper.create_run(%s)", FIT.format("freed", 1000000))[0][0]
    connection = connect(DATABASE)
    process = pid(connection)
    assert query(connection, "SELECT hopper.step(%s, 0)", run) == [("running",)]
    ask("SELECT hopper.pause(%s)", run)
    query(connection, "BEGIN; SET LOCAL synchronous_commit = on")
    # To end so many takes the server a while.
    query(connection, "SELECT count(pg_advisory_xact_lock(i)) FROM generate_series(1, 100000) AS i")
    assert query(connection, "SELECT hopper.step(%s, 600)", run) == [("paused",)]
    query(connection, "SELECT hopper.resume(%s)", run)
    assert not [notice for notice in connection.notices if notice.startswith("WARNING")]
    commit = threading.Thread(target=query, args=(connection, "COMMIT"))
    commit.start()
    wait_until(lambda: ask("SELECT 1 FROM pg_stat_activity WHERE backend_type = 'model_hopper run' AND wait_event = 'transactionid'"))
    ask("SELECT pg_cancel_backend(%s)", process)
    commit.join(60)
    wait_until(lambda: ask("SELECT state FROM hopper.runs WHERE run = %s", run) == [("running",)])
    connection.close()
    ask("SELECT hopper.cancel(%s)", run)
    assert ask("SELECT hopper.wait(%s, 60)", run) == [("cancelled",)]
    server.stop()
    server.start()


def test_no_worker_is_free(server):
    """The server's own worker for logical replication has the only place."""
    server.stop()
    server.start(max_worker_processes=1)
    start = time.monotonic()
    with pytest.raises(psycopg2.errors.InsufficientResources, match="no background worker is free") as error:
        ask("SELECT hopper.submit(%s)", FIT.format("none", 1))
    assert time.monotonic() - start < 10
    assert error.value.diag.message_detail == "max_worker_processes is 1."
    assert ask("SELECT count(*) FROM hopper.runs WHERE model_table = 'none'") == [(0,)]
    assert ask("SELECT count(*) FROM pg_class WHERE relname LIKE 'hopper_run_%%'") == [(0,)]
    run = ask("SELECT hopper.create_run(%s)", FIT.format("none", 1))[0][0]
    assert ask("SELECT hopper.step(%s, 60)", run) == [("done",)]
    server.stop()
    server.start()


def test_a_role_that_cannot_log_in(server):
    if int(ask("SHOW server_version_num")[0][0]) >= 170000:
        pytest.skip("workers of this server may log in as any role")
    ask("CREATE ROLE silent NOLOGIN")
    ask("GRANT CREATE ON SCHEMA public TO silent")
    ask("GRANT SELECT ON ALL TABLES IN SCHEMA public TO silent")
    connection = connect(DATABASE)
    query(connection, "SET SESSION AUTHORIZATION silent")
    with pytest.raises(psycopg2.errors.InvalidAuthorizationSpecification, match='"silent" cannot train'):
        query(connection, "SELECT hopper.submit(%s)", FIT.format("silent", 1))
    connection.close()
