"""Checkpoints of runs: damaged ones, and what a thousand of them take."""

import pytest

from digits import ADAM, connect, create_database, drop_database, query, select, value

DATABASE = "hopper_checkpoints"
WATCHED = ("batch_size=16, callbacks=[EarlyStopping(monitor='val_loss', patience=3, min_delta=0.01,"
           " restore_best_weights=True), ReduceLROnPlateau(monitor='val_loss', patience=1)]")
FIT = ("SELECT hopper.fit_multiple_model('packed', '{}', '{}', {}, validation_table => 'packed_validation',"
       " seed => 5, threads => 1)")
ITERATIONS = 40


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    select(connection, "configs", [(1, 1, ADAM, "batch_size=32"), (2, 2, ADAM, WATCHED), (3, 2, ADAM, "batch_size=50")])
    select(connection, "tiny", [(1, 1, ADAM, "batch_size=1000"), (2, 1, ADAM, "batch_size=1000")])
    query(connection, FIT.format("straight", "configs", ITERATIONS))
    yield connection
    connection.close()
    drop_database(DATABASE)


def trained_a_little(database, table):
    """Until each trial has two checkpoints."""
    connection = connect(DATABASE)
    run = value(connection, "SELECT hopper.create_run(%s)", FIT.format(table, "configs", ITERATIONS))
    earlier = f"SELECT count(DISTINCT mst_key) FROM hopper_run_{run}_state WHERE part < 0"
    while value(connection, earlier) < 3:
        assert value(connection, "SELECT hopper.step(%s, 0.001)", run) == "running"
    connection.close()
    return run


def as_straight(database, table):
    info = "SELECT mst_key, state_digest, status, iterations, metrics_iters, validation_loss, training_loss FROM {}_info"
    weights = "SELECT mst_key, md5(model_weights) FROM {} ORDER BY 1"
    metrics = ("SELECT trial, iteration, split, metric, value FROM hopper.trial_metrics WHERE run ="
               " (SELECT max(run) FROM hopper.runs WHERE model_table = %s) ORDER BY 1, 2, 3, 4")
    return all(query(database, text.format(table)) == query(database, text.format("straight"))
               for text in (info + " ORDER BY 1", weights)) and (
        query(database, metrics, table) == query(database, metrics, "straight"))


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
    query(connection, "SELECT hopper.step(%s, 0.001)", run)
    warnings = [notice for notice in connection.notices if notice.startswith("WARNING")]
    assert [warning.splitlines()[0] for warning in warnings] == [
        "WARNING:  the newest checkpoint of configuration 2 is damaged, the one before is used"]
    query(connection, "CALL hopper.train(%s)", run)
    connection.close()
    assert as_straight(database, "damaged")
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
    assert as_straight(database, "anew")


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
        assert value(connection, "SELECT hopper.step(%s, 0.001)", run) == "running"
        checkpoints = value(connection, "SELECT checkpoints FROM hopper.runs WHERE run = %s", run)
        if checkpoints // 100 > len(seen):
            seen.append(sizes(connection, run))
    own, shared = zip(*seen)
    state = value(connection, f"SELECT sum(octet_length(state)) FROM hopper_run_{run}_state")
    assert state * 500 > 20e6, "it writes too little to tell"
    assert max(own) < 20e6, seen
    assert shared[-1] <= shared[0] + 65536, seen
    query(connection, "SELECT hopper.drop_run(%s)", run)
    connection.close()
