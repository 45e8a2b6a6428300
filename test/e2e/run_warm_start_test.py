"""Warm starts and mst_keys as runs: interrupted and resumed, they have the bits of one call in the foreground."""

import psycopg2
import pytest

from digits import ADAM, connect, create_database, drop_database, outputs, query, select, value, wait_until

DATABASE = "hopper_run_warm_start"
WATCHED = ("{}, callbacks=[EarlyStopping(monitor='val_loss', patience=2, min_delta=0.01, restore_best_weights=True),"
           " ReduceLROnPlateau(monitor='val_loss', patience=1)]")
CONFIGS = [(1, 1, ADAM, "batch_size=32"), (2, 2, ADAM, "batch_size=50"), (3, 1, ADAM, WATCHED.format("batch_size=16")),
           (4, 2, ADAM, "batch_size=64")]
FIT = ("SELECT hopper.fit_multiple_model('packed', '{}', '{}', {}, validation_table => 'packed_validation',"
       " metrics_compute_frequency => 2{})")
WARM = ", warm_start => true"
# So many that a step of no time does not train them all, however late its session looks.
MANY = 40


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    select(connection, "configs", CONFIGS)
    select(connection, "more", [*CONFIGS[:3], (4, 2, ADAM.replace("['accuracy']", "['mse', 'accuracy']"), "batch_size=64"),
                                (5, 1, ADAM, "batch_size=40")])
    query(connection, FIT.format("base", "configs", 3, ", seed => 5, name => 'first'"))
    yield connection
    connection.close()
    drop_database(DATABASE)


def state(connection, run):
    return value(connection, "SELECT state FROM hopper.runs WHERE run = %s", run)


def copied(connection, table):
    query(connection, f"SELECT hopper.copy_model('base', '{table}')")
    return table


def trained_by_sessions(connection, statement):
    """Each session trains a little and leaves; the last one says that the run is done."""
    run = value(connection, "SELECT hopper.create_run(%s)", statement)
    sessions, now = 0, "running"
    while now == "running":
        session = connect(DATABASE)
        query(session, "SET hopper.checkpoint_interval = 0; SET hopper.notice_interval = 0")
        for _ in range(1 + sessions):
            now = now if now != "running" else value(session, "SELECT hopper.step(%s, 0)", run)
        session.close()
        sessions += 1
        wait_until(lambda: state(connection, run) != "running")
    assert (now, sessions > 1) == ("done", True)
    return run


def expect_alike(connection, table, straight):
    for text in ("SELECT mst_key, state_digest, status, iterations, metrics_type, metrics_iters, training_loss, validation_loss,"
                 " training_metrics_all, validation_metrics_all, best_iteration, compile_params FROM {}_info ORDER BY 1",
                 "SELECT mst_key, md5(model_weights), model_arch::text FROM {} ORDER BY 1",
                 "SELECT mst_key, md5(string_agg(state, '' ORDER BY part)) FROM {}_state GROUP BY 1 ORDER BY 1",
                 "SELECT mst_key, validation_metric FROM hopper.leaderboard('{}')",
                 "SELECT seed, name, num_iterations, warm_start, best_mst_key, best_metric, best_value FROM {}_summary",
                 "SELECT trial, iteration, split, metric, value FROM hopper.trial_metrics WHERE run = (SELECT max(run)"
                 " FROM hopper.runs WHERE model_table = '{}') ORDER BY 1, 2, 3, 4"):
        assert query(connection, text.format(table)) == query(connection, text.format(straight)), text


# configurations, arguments
CALLS = {
    "more": ("more", WARM),
    "some": ("more", WARM + ", mst_keys => ARRAY[2, 4]"),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_warm_start_goes_on_in_other_sessions(database, call):
    configs, more = CALLS[call]
    straight, table = copied(database, f"straight_{call}"), copied(database, f"stepped_{call}")
    query(database, FIT.format(straight, configs, MANY, more))
    before = query(database, f"SELECT mst_key, state_digest FROM {table}_info ORDER BY 1")
    run = trained_by_sessions(database, FIT.format(table, configs, MANY, more))
    expect_alike(database, table, straight)
    assert query(database, f"SELECT mst_key, state_digest FROM {table}_info ORDER BY 1") != before
    assert not outputs(database, f"hopper_run_{run}%")


def test_a_warm_start_in_the_background(database):
    straight, table = copied(database, "straight_behind"), copied(database, "behind")
    query(database, FIT.format(straight, "configs", 7, WARM))
    run = value(database, "SELECT hopper.submit(%s)", FIT.format(table, "configs", 7, WARM))
    assert value(database, "SELECT hopper.wait(%s, 120)", run) == "done"
    expect_alike(database, table, straight)


@pytest.mark.parametrize("change, what", [
    ("CREATE INDEX looked ON {}_info (status)", 'index "looked" of "{}_info"'),
    ("ALTER TABLE {} ADD CONSTRAINT positive CHECK (mst_key > 0)", 'constraint "positive" of "{}"'),
    ("CREATE TRIGGER told AFTER INSERT ON {}_state FOR EACH ROW EXECUTE FUNCTION nothing()", 'trigger "told" of "{}_state"')])
def test_what_the_models_would_lose_is_refused_before_it_trains(database, change, what):
    table = copied(database, "kept")
    query(database, "CREATE OR REPLACE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
    query(database, change.format(table))
    with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState, match=f"{what.format(table)} stands in the way of a warm start"):
        query(database, "SELECT hopper.submit(%s)", FIT.format(table, "configs", 2, WARM))
    query(database, f"SELECT hopper.drop_model('{table}'); DROP FUNCTION nothing()")


def test_cancelled_it_leaves_the_models_as_they_were(database):
    table = copied(database, "cancelled")
    run = value(database, "SELECT hopper.create_run(%s)", FIT.format(table, "configs", 1000, WARM))
    assert value(database, "SELECT hopper.step(%s, 0)", run) == "running"
    query(database, "SELECT hopper.cancel(%s)", run)
    weights = "SELECT mst_key, md5(model_weights) FROM {} ORDER BY 1"
    assert query(database, weights.format(table)) == query(database, weights.format("base"))
    assert not outputs(database, f"hopper_run_{run}%")


def test_models_that_others_have_trained_meanwhile_stay(database):
    table = copied(database, "meanwhile")
    run = value(database, "SELECT hopper.create_run(%s)", FIT.format(table, "configs", 4, WARM))
    query(database, FIT.format(table, "configs", 1, WARM))
    digests = f"SELECT mst_key, state_digest FROM {table}_info ORDER BY 1"
    others = query(database, digests)
    connection = connect(DATABASE)
    query(connection, "CALL hopper.train(%s)", run)
    assert any(f'"{table}" is there already, what the run has made is in "public.hopper_run_{run}"' in notice
               for notice in connection.notices)
    assert any(f'models of "{table}" have been trained by others' in notice for notice in connection.notices)
    connection.close()
    assert query(database, digests) == others
    assert value(database, f"SELECT max(iterations) FROM hopper_run_{run}_info") == 7
    assert value(database, "SELECT model_table FROM hopper.runs WHERE run = %s", run) == f"public.hopper_run_{run}"
    assert f'"{table}" is there already' in value(database, "SELECT detail FROM hopper.run_events WHERE run = %s AND event = 'not published'", run)
    query(database, f"SELECT hopper.rename_model('hopper_run_{run}', '{table}', replace => true)")
    assert query(database, digests) != others


def test_some_keys_into_new_tables(database):
    keys = ", seed => 5, mst_keys => ARRAY[2, 3]"
    query(database, FIT.format("straight_keys", "configs", MANY, keys))
    trained_by_sessions(database, FIT.format("stepped_keys", "configs", MANY, keys))
    expect_alike(database, "stepped_keys", "straight_keys")


def test_a_warm_start_is_steered(database):
    """Iterations are counted from where it began; a clone has its parent's."""
    table = copied(database, "steered")
    select(database, "steered_configs", CONFIGS)
    run = value(database, "SELECT hopper.create_run(%s)",
                FIT.format(table, "steered_configs", MANY, WARM + ", mst_keys => ARRAY[1, 2]"))
    query(database, "SET hopper.checkpoint_interval = 0; SET hopper.notice_interval = 0")
    assert value(database, "SELECT hopper.step(%s, 0)", run) == "running"
    clone = value(database, "SELECT hopper.clone_trial(%s, 1, fit_params => 'batch_size=20')", run)
    query(database, "SELECT hopper.set_iterations(%s, %s, trial => 2)", run, MANY + 2)
    assert value(database, "SELECT hopper.step(%s, 120)", run) == "done"
    query(database, "RESET hopper.checkpoint_interval; RESET hopper.notice_interval")
    # Rows of the selection table that are no trials yet become some with the clone; the third stops early.
    assert query(database, f"SELECT mst_key, iterations FROM {table}_info WHERE mst_key <> 3 ORDER BY 1") == [
        (1, MANY + 3), (2, MANY + 5), (4, MANY), (clone, MANY + 3)]


def test_what_cannot_be_continued_is_refused(database):
    with pytest.raises(psycopg2.errors.UndefinedTable, match='"nowhere" does not exist'):
        query(database, "SELECT hopper.create_run(%s)", FIT.format("nowhere", "configs", 2, WARM))
    table = copied(database, "damaged")
    query(database, f"UPDATE {table}_state SET state = set_byte(state, 5000, 255 - get_byte(state, 5000)) WHERE mst_key = 2")
    run = value(database, "SELECT hopper.create_run(%s)", FIT.format(table, "configs", 2, WARM))
    with pytest.raises(psycopg2.errors.DataCorrupted, match="the state of configuration 2 .* is damaged"):
        query(database, "CALL hopper.train(%s)", run)
    query(database, "SELECT hopper.drop_run(%s)", run)
    query(database, f"DROP ROLE IF EXISTS trains; CREATE ROLE trains; GRANT CREATE ON SCHEMA public TO trains;"
          f" GRANT SELECT ON ALL TABLES IN SCHEMA public TO trains; SELECT hopper.grant_model('{table}', 'trains', 'train')")
    query(database, "SET ROLE trains")
    with pytest.raises(psycopg2.errors.InsufficientPrivilege, match=f'must be owner of table {table}'):
        query(database, "SELECT hopper.create_run(%s)", FIT.format(table, "configs", 2, WARM))
    query(database, "RESET ROLE; DROP OWNED BY trains; DROP ROLE trains")
