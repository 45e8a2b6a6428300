"""Checkpoints of runs: damaged ones, and what a thousand of them take."""

import psycopg2
import pytest

from digits import ADAM, connect, create_database, drop_database, query, select, value, wait_until
from small_disk import small_tablespace

DATABASE = "hopper_checkpoints"
WATCHED = ("batch_size=16, callbacks=[EarlyStopping(monitor='val_loss', patience=8, min_delta=0.01,"
           " restore_best_weights=True), ReduceLROnPlateau(monitor='val_loss', patience=1)]")
FIT = ("SELECT hopper.fit_multiple_model('packed', '{}', '{}', {}, validation_table => 'packed_validation',"
       " seed => 5, threads => 1)")
# More than the steps of no time, an iteration each, that write two checkpoints.
ITERATIONS = 80


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    select(connection, "configs", [(1, 1, ADAM, "batch_size=32"), (2, 2, ADAM, WATCHED), (3, 2, ADAM, "batch_size=50")])
    select(connection, "tiny", [(1, 1, ADAM, "batch_size=1000"), (2, 1, ADAM, "batch_size=1000")])
    query(connection, FIT.format("straight", "configs", ITERATIONS))
    yield connection
    connection.close()
    drop_database(DATABASE)


def trained_a_little(database, table, more="", setting="SET hopper.notice_interval = 0"):
    """Until each trial has two checkpoints."""
    connection = connect(DATABASE)
    query(connection, setting)
    run = value(connection, "SELECT hopper.create_run(%s)",
                FIT.format(table, "configs", ITERATIONS).replace("threads => 1", "threads => 1" + more))
    earlier = f"SELECT count(DISTINCT mst_key) FROM hopper_run_{run}_state WHERE part < 0"
    while value(connection, earlier) < 3:
        assert value(connection, "SELECT hopper.step(%s, 0)", run) == "running"
    connection.close()
    wait_until(lambda: value(database, "SELECT state FROM hopper.runs WHERE run = %s", run) == "interrupted")
    return run


def expect_as_straight(database, table):
    info = ("SELECT mst_key, state_digest, status, iterations, metrics_iters, validation_loss, training_loss FROM {}_info"
            " ORDER BY 1")
    assert query(database, info.format(table)) == query(database, info.format("straight"))
    weights = "SELECT mst_key, md5(model_weights) FROM {} ORDER BY 1"
    assert query(database, weights.format(table)) == query(database, weights.format("straight"))
    metrics = ("SELECT trial, iteration, split, metric, value FROM hopper.trial_metrics WHERE run ="
               " (SELECT max(run) FROM hopper.runs WHERE model_table = %s) ORDER BY 1, 2, 3, 4")
    assert query(database, metrics, table) == query(database, metrics, "straight")


DAMAGES = {
    "a byte": "UPDATE hopper_run_{}_state SET state = set_byte(state, 5000, 255 - get_byte(state, 5000))"
              " WHERE mst_key = 2 AND part >= 0",
    "a part": "DELETE FROM hopper_run_{}_state WHERE mst_key = 2 AND part >= 0",
    "its end": "UPDATE hopper_run_{}_state SET state = substr(state, 1, 4000) WHERE mst_key = 2 AND part >= 0",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_one_before_is_used_where_the_newest_is_damaged(database, damage):
    run = trained_a_little(database, "damaged")
    query(database, DAMAGES[damage].format(run))
    connection = connect(DATABASE)
    query(connection, "SELECT hopper.step(%s, 0)", run)
    warnings = [notice for notice in connection.notices if notice.startswith("WARNING")]
    assert [warning.splitlines()[0] for warning in warnings] == [
        "WARNING:  the newest checkpoint of configuration 2 is damaged, the one before is used"]
    query(connection, "CALL hopper.train(%s)", run)
    connection.close()
    expect_as_straight(database, "damaged")
    assert value(database, "SELECT min(part) FROM damaged_state") == 0
    query(database, "SELECT hopper.drop_model('damaged')")


def test_a_trial_begins_anew_where_all_its_checkpoints_are_damaged(database):
    run = trained_a_little(database, "anew")
    query(database, f"UPDATE hopper_run_{run}_state SET state = set_byte(state, 5000, 255 - get_byte(state, 5000))"
          " WHERE mst_key = 3")
    connection = connect(DATABASE)
    query(connection, "CALL hopper.train(%s)", run)
    warnings = [notice.splitlines()[0] for notice in connection.notices if notice.startswith("WARNING")]
    assert warnings == ["WARNING:  the newest checkpoint of configuration 3 is damaged, the one before is used",
                        "WARNING:  no checkpoint of configuration 3 is sound, it begins anew"]
    connection.close()
    expect_as_straight(database, "anew")


def sizes(connection, run):
    own = query(connection, "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'"
                " AND relname LIKE %s", f"hopper_run_{run}%")[0][0]
    shared = query(connection, "SELECT sum(pg_table_size('hopper.' || t)) FROM unnest(ARRAY['all_runs',"
                   " 'all_trials']) AS t")[0][0]
    return int(own), int(shared)


def test_a_thousand_checkpoints_take_no_room(database):
    """Without VACUUM: the driver makes its tables small, and rows of runs are written in their places."""
    for table in ("all_runs", "all_trials"):
        query(database, f"ALTER TABLE hopper.{table} SET (autovacuum_enabled = off)")
    connection = connect(DATABASE)
    query(connection, "SET hopper.notice_interval = 0")
    run = value(connection, "SELECT hopper.create_run(%s)", FIT.format("thousand", "tiny", 100000))
    query(database, f"ALTER TABLE hopper_run_{run}_state SET (autovacuum_enabled = off, toast.autovacuum_enabled = off)")
    seen, checkpoints = [], 0
    while checkpoints < 1000:
        assert value(connection, "SELECT hopper.step(%s, 0)", run) == "running"
        checkpoints = value(connection, "SELECT checkpoints FROM hopper.runs WHERE run = %s", run)
        if checkpoints // 100 > len(seen):
            seen.append(sizes(connection, run))
    own, shared = zip(*seen)
    state = value(connection, f"SELECT sum(octet_length(state)) FROM hopper_run_{run}_state")
    assert state * 500 > 20e6, "it writes too little to tell"
    # While another session has a snapshot, ANALYZE say, old rows stay: so much for single sizes.
    assert sorted(own)[len(own) // 2] < 20e6, seen
    assert min(after - before for before, after in zip(shared, shared[1:])) <= 0, seen
    query(connection, "SELECT hopper.drop_run(%s)", run)
    connection.close()


def grown(database, table):
    """A run, in a session that steps it, and a table of states with dead rows as of many checkpoints."""
    connection = connect(DATABASE)
    query(connection, "SET hopper.notice_interval = 0; SET statement_timeout = '60s'")
    run = value(connection, "SELECT hopper.create_run(%s)", FIT.format(table, "tiny", 100000))
    query(database, f"ALTER TABLE hopper_run_{run}_state SET (autovacuum_enabled = off, toast.autovacuum_enabled = off)")
    return connection, run


def add_dead_rows(connection, database, run):
    """One step finds the table grown, the next one is to make it small."""
    while not value(database, f"SELECT count(*) FROM hopper_run_{run}_state"):
        query(connection, "SELECT hopper.step(%s, 0)", run)
    query(database, f"""DO $$ BEGIN
        WHILE pg_total_relation_size('hopper_run_{run}_state') < 30e6 LOOP
            UPDATE hopper_run_{run}_state SET state = state || ''::bytea;
        END LOOP; END $$""")
    query(connection, "SELECT hopper.step(%s, 0)", run)
    query(connection, "SELECT hopper.step(%s, 0)", run)
    return value(database, f"SELECT relfilenode FROM pg_class WHERE oid = 'hopper_run_{run}_state'::regclass")


def test_tables_that_a_snapshot_keeps_large_are_not_copied_with_each_checkpoint(database):
    connection, run = grown(database, "kept")
    other = connect(DATABASE)
    query(other, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
    first = value(database, f"SELECT relfilenode FROM pg_class WHERE oid = 'hopper_run_{run}_state'::regclass")
    copied = add_dead_rows(connection, database, run)
    assert copied != first
    assert value(database, f"SELECT pg_total_relation_size('hopper_run_{run}_state')") > 30e6
    assert add_dead_rows(connection, database, run) == copied
    query(other, "COMMIT")
    connection.close()
    other.close()
    query(database, "SELECT hopper.cancel(%s)", run)


def test_who_reads_its_tables_is_not_waited_for(database):
    """Others would wait behind the run; the workers of a parallel dump give up at once then."""
    connection, run = grown(database, "read")
    other = connect(DATABASE)
    query(other, f"BEGIN; LOCK TABLE hopper_run_{run}_state IN ACCESS SHARE MODE")
    first = value(database, f"SELECT relfilenode FROM pg_class WHERE oid = 'hopper_run_{run}_state'::regclass")
    assert add_dead_rows(connection, database, run) == first
    query(other, "COMMIT")
    assert add_dead_rows(connection, database, run) != first
    assert value(database, f"SELECT pg_total_relation_size('hopper_run_{run}_state')") < 20e6
    connection.close()
    other.close()
    query(database, "SELECT hopper.cancel(%s)", run)


def test_a_state_of_another_numerics_class_is_refused_unless_asked_for(database):
    """As if the run went on on another CPU, or with another build."""
    other = trained_a_little(database, "other", ", dtype => 'bf16'")
    run = trained_a_little(database, "mixed")
    query(database, f"DELETE FROM hopper_run_{run}_state")
    query(database, f"INSERT INTO hopper_run_{run}_state SELECT * FROM hopper_run_{other}_state WHERE part >= 0")
    with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState, match="is of another numerics class"):
        query(database, "CALL hopper.train(%s)", run)
    query(database, "SELECT hopper.resume(%s)", run)
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "failed"
    assert query(database, "SELECT error_code FROM hopper.runs WHERE run = %s", run) == [("55000",)]
    query(database, "SET hopper.mix_numerics = on")
    query(database, "SELECT hopper.resume(%s)", run)
    query(database, "RESET hopper.mix_numerics")
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "done"
    assert value(database, "SELECT numerics_class LIKE '%%, mixed' FROM mixed_summary")
    query(database, "SELECT hopper.cancel(%s)", other)


def test_a_full_disk_costs_what_is_behind_the_last_checkpoint(database):
    with small_tablespace(database, 8, value(database, "SHOW data_directory")):
        run = trained_a_little(database, "filled", setting="SET default_tablespace = small")
        query(database, "CREATE TABLE filler (bytes text) TABLESPACE small")
        query(database, "ALTER TABLE filler ALTER COLUMN bytes SET STORAGE PLAIN")
        with pytest.raises(psycopg2.errors.DiskFull):
            while True:
                query(database, "INSERT INTO filler SELECT repeat('x', 7000) FROM generate_series(1, 20)")
        connection = connect(DATABASE)
        query(connection, "SET hopper.checkpoint_interval = 0")
        with pytest.raises(psycopg2.errors.DiskFull):
            query(connection, "CALL hopper.train(%s)", run)
        connection.close()
        wait_until(lambda: value(database, "SELECT state FROM hopper.runs WHERE run = %s", run) == "interrupted")
        query(database, "SELECT hopper.resume(%s)", run)
        assert value(database, "SELECT hopper.wait(%s, 60)", run) == "failed"
        assert value(database, "SELECT error_code FROM hopper.runs WHERE run = %s", run) == "53100"
        query(database, "DROP TABLE filler")
        query(database, "SELECT hopper.resume(%s)", run)
        assert value(database, "SELECT hopper.wait(%s, 60)", run) == "done"
        expect_as_straight(database, "filled")
        query(database, "SELECT hopper.drop_model('filled')")
