"""Predictions on a hot standby: a copy of the private server that follows it, where nothing can be written."""

import os
import pathlib

import psycopg2
import pytest

from digits import ADAM, create_database, drop_database, query, value, wait_until
from own_server import as_server

DATABASE = "hopper_standby"
PORT = "5433"


@pytest.fixture(scope="module")
def primary():
    connection = create_database(DATABASE)
    query(connection, "SELECT * FROM hopper.fit('packed', 'model', 'architectures', 1, %s, 'batch_size=32', 3)", ADAM)
    query(connection, "CREATE VIEW predicted AS SELECT (source).*, class_value, prob FROM hopper.predict_rows("
          " model_table => 'model', source_rows => NULL::digits, mst_key => 1)")
    query(connection, "SELECT hopper.create_predict_function('model', 'guess')")
    yield connection
    connection.close()
    drop_database(DATABASE)


@pytest.fixture(scope="module")
def standby(primary):
    # Here the server's user may make a folder, and the way to the socket is short.
    data = pathlib.Path(os.environ["PGHOST"]) / "standby"
    as_server("rm", "-rf", data)
    as_server("pg_basebackup", "-D", data, "-R", "-c", "fast", "-X", "stream", "--no-sync")
    as_server("pg_ctl", "-w", "-t", "60", "-D", data, "-l", data / "log", "-o", f"-p {PORT} -c shared_preload_libraries=model_hopper", "start")
    connection = psycopg2.connect(dbname=DATABASE, port=PORT)
    connection.autocommit = True
    yield connection
    connection.close()
    as_server("pg_ctl", "-w", "-D", data, "-m", "immediate", "stop")
    as_server("rm", "-rf", data)


def test_a_standby_predicts_what_the_primary_does(primary, standby):
    assert value(standby, "SELECT pg_is_in_recovery()")
    rows = "SELECT id, class_value, prob FROM predicted ORDER BY id"
    there = query(standby, rows)
    assert there == query(primary, rows)
    assert len(there) == 1797
    one = ("SELECT id, class_value FROM digits, LATERAL (SELECT * FROM hopper.predict_row('model', pixels) LIMIT 1) best"
           " WHERE id < 50 ORDER BY id")
    assert query(standby, one) == query(primary, one) == [row[:2] for row in there if row[0] < 50]
    some = ("SELECT (source).id FROM hopper.predict_rows('model', NULL::digits, on_null => 'null',"
            " source_query => 'SELECT * FROM digits WHERE label = 3') WHERE class_value = '3'")
    assert query(standby, some) == query(primary, some)
    made = "SELECT id, guess(pixels) FROM digits ORDER BY id"
    assert query(standby, made) == query(primary, made) == [(row[0], int(row[1])) for row in there]


def test_what_writes_says_so(standby):
    with pytest.raises(psycopg2.errors.ReadOnlySqlTransaction):
        query(standby, "SELECT hopper.predict('model', 'digits', 'id', output_table => 'made')")
    # Comparing needs no writing either.
    assert value(standby, "SELECT count(*) FROM hopper.leaderboard('model')") == 1
    assert value(standby, "SELECT loss FROM hopper.evaluate('model', 'packed_validation')") > 0
    assert value(standby, "SELECT length(hopper.to_onnx('model'))") > 0
    assert [row[0] for row in query(standby, "SELECT model_table FROM hopper.models()")] == ["model"]


def test_a_run_goes_on_where_the_standby_takes_over(primary, standby):
    """With the bits of one that nothing has interrupted."""
    fit = ("SELECT hopper.fit('packed', '{}', 'architectures', 2, $$" + ADAM + "$$, 'batch_size=32', {},"
           " validation_table => 'packed_validation', seed => 3)")
    query(primary, f"ALTER DATABASE {DATABASE} SET hopper.checkpoint_interval = 0")
    run = value(primary, "SELECT hopper.submit(%s)", fit.format("taken_over", 1000000))
    state = "SELECT state FROM hopper.runs WHERE run = %s"
    wait_until(lambda: query(standby, "SELECT 1 FROM hopper.runs WHERE run = %s AND checkpoints > 0", run))
    # Its lock is the primary's, and the launcher waits for the end of recovery: nobody waits for it.
    assert value(standby, state, run) == "unknown"
    assert value(standby, "SET statement_timeout = '10s'; SELECT hopper.wait(%s)", run) == "unknown"
    query(standby, "RESET statement_timeout")
    assert not query(standby, "SELECT 1 FROM pg_stat_activity WHERE backend_type LIKE 'model_hopper%%'")
    assert value(standby, "SELECT pg_promote()")
    query(primary, "SELECT hopper.cancel(%s)", run)
    wait_until(lambda: value(standby, state, run) == "running")
    query(standby, "SELECT hopper.pause(%s)", run)
    assert value(standby, "SELECT hopper.wait(%s, 60)", run) == "paused"
    last = value(standby, "SELECT iterations + 2 FROM hopper.trials WHERE run = %s", run)
    query(standby, "SELECT hopper.set_iterations(%s, %s)", run, last)
    query(standby, "SELECT hopper.resume(%s)", run)
    assert value(standby, "SELECT hopper.wait(%s, 120)", run) == "done"
    query(standby, fit.format("straight", last))
    digest = "SELECT state_digest, validation_loss FROM {}_info"
    assert query(standby, digest.format("taken_over")) == query(standby, digest.format("straight"))
