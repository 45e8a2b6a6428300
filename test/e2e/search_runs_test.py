"""Searches that outlive their sessions: ended at random places they decide, train and leave what an unbroken search does."""

import random

import pytest
from digits import connect, create_database, drop_database, outputs, query, value, wait_until

from automl_test import ALGORITHMS, GRID, everything

DATABASE = "hopper_search_runs"
# Written as text: a run keeps the call, not the parameters of a client.
CALL = ("SELECT * FROM hopper.automl(packed_table => 'packed', model_table => '{0}', model_arch_table => 'architectures',"
        " model_selection_table => '{0}_best', model_id_list => ARRAY[1, 2], compile_params_grid => $${1}$$,"
        " fit_params_grid => $${{'batch_size': [32, 64], 'patience': [1, 3]}}$$, validation_table => 'packed_validation',"
        " seed => 7, automl_method => '{2}', automl_params => '{3}', objective => 'accuracy', parallel => 4{4})")


@pytest.fixture(scope="module")
def connection():
    connection = create_database(DATABASE)
    query(connection, "SET client_min_messages = warning")
    yield connection
    connection.close()
    drop_database(DATABASE)


def call(name, method, more="", params=None):
    grid = GRID.replace("[0.0003, 0.3, 'log']", "[0.001, 0.01]") if method == "grid" else GRID
    return CALL.format(name, grid, method, params or ALGORITHMS[method], more)


def state(connection, run):
    return value(connection, "SELECT state FROM hopper.runs WHERE run = %s", run)


def found(connection, name, row):
    return everything(connection, name, row)[1:]


def expect_same(connection, name, other):
    for ours, theirs in zip(found(connection, name, ()), found(connection, other, ())):
        assert ours == theirs


def session_by_session(connection, run, chance):
    """Each session trains a little and leaves; what it had not written it loses."""
    sessions = 0
    done = False
    while not done:
        session = connect(DATABASE)
        query(session, "SET client_min_messages = warning")
        query(session, "SET hopper.checkpoint_interval = 0")
        for _ in range(chance.randint(1, 2)):
            done = value(session, "SELECT hopper.step(%s, 0)", run) == "done"
            if done:
                break
        session.close()
        sessions += 1
        wait_until(lambda: state(connection, run) != "running")
    return sessions


@pytest.mark.parametrize("method", list(ALGORITHMS))
def test_session_by_session(connection, method):
    # A step is an iteration of each trial: generations of one would follow one another within it.
    params = "population=5, interval=2, generations=3" if method == "pbt" else None
    straight = query(connection, call("straight_" + method, method, params=params))[0]
    run = value(connection, "SELECT hopper.create_run(%s)", call("stepped_" + method, method, params=params))
    assert state(connection, run) == "created"
    sessions = session_by_session(connection, run, random.Random(method))
    # The other ones are small, and may end within a session.
    assert sessions > 1 or method not in ("hyperband", "bohb", "pbt")
    expect_same(connection, "straight_" + method, "stepped_" + method)
    row = query(connection, "SELECT function, model_table, best_trial, best_metric, best_value, failed FROM hopper.runs"
                " WHERE run = %s", run)[0]
    assert row == ("automl", "stepped_" + method, straight[1], straight[2], straight[3], straight[5])
    assert not outputs(connection, f"hopper_run_{run}%")
    # What its trials have reached is there for others to see.
    assert query(connection, "SELECT trial, digest FROM hopper.trials WHERE run = %s ORDER BY 1", run) == query(
        connection, f"SELECT mst_key, state_digest FROM stepped_{method}_info WHERE state_digest IS NOT NULL ORDER BY 1")


def test_a_trial_that_is_stopped_leaves_its_state_at_once(connection):
    """Not with the end of the search: states are most of what a run takes of the disk."""
    run = value(connection, "SELECT hopper.create_run(%s)", call("thrifty", "hyperband"))
    session = connect(DATABASE)
    query(session, "SET client_min_messages = warning; SET hopper.checkpoint_interval = 0")
    without = 0
    while value(session, "SELECT hopper.step(%s, 0)", run) == "running":
        without = max(without, value(connection, f"SELECT count(*) FROM hopper_run_{run}_info WHERE status = 'done' AND mst_key NOT IN"
                                     f" (SELECT mst_key FROM hopper_run_{run}_state)"))
    session.close()
    assert without > 0


@pytest.fixture(scope="module")
def wide(connection):
    for hidden in (2000, 3000, 100):
        query(connection, f"SELECT hopper.mlp(model_arch_table => 'wide', packed_table => 'packed', hidden => ARRAY[{hidden}])")


@pytest.mark.parametrize("models, limit, more", [("1, 2", "12MB", ""), ("3, 2", "9.9MB", ", parallel => 1")])
def test_where_memory_is_short(connection, wide, models, limit, more):
    """Trials rest in the tables, and what does not fit beside the others trains after them."""
    text = call("{}", "hyperband", more).replace("'architectures'", "'wide'").replace("ARRAY[1, 2]", f"ARRAY[{models}]")
    if more:
        text = text.replace(", parallel => 4", "", 1)
    name = "short_" + models[0]
    query(connection, text.replace("{}", name + "_roomy"))
    query(connection, f"SET hopper.memory_limit = '{limit}'")
    try:
        run = value(connection, "SELECT hopper.create_run(%s)", text.replace("{}", name))
        query(connection, "CALL hopper.train(%s)", run)
    finally:
        query(connection, "RESET hopper.memory_limit")
    expect_same(connection, name + "_roomy", name)
    if more:
        assert value(connection, "SELECT count(*) FROM hopper.run_events WHERE run = %s AND event = 'started'", run) > 1


def test_time_is_up_for_a_search_of_several_sessions(connection):
    run = value(connection, "SELECT hopper.create_run(%s)", call("timed", "random", ", max_seconds => 0.5",
                                                                 "num_configs=100000, num_iterations=1"))
    session_by_session(connection, run, random.Random(1))
    tried = value(connection, "SELECT count(*) FROM timed_trials")
    assert 1 < tried < 2000
    assert query(connection, "SELECT decision, reason FROM timed_decisions WHERE reason LIKE '%%its time %% up%%'") != []
    assert value(connection, "SELECT trials FROM hopper.runs WHERE run = %s", run) == value(
        connection, "SELECT count(*) FROM timed_info")


def test_time_cuts_the_trials_of_a_run(connection):
    """Its journal tells it again: the search has its end in another session."""
    run = value(connection, "SELECT hopper.create_run(%s)", call("cutting", "random", ", max_seconds => 0.5, cut => true",
                                                                 "num_configs=500, num_iterations=100000000").replace(", 'patience': [1, 3]", ""))
    session_by_session(connection, run, random.Random(1))
    assert value(connection, "SELECT count(*) FROM cutting") == 4
    assert value(connection, "SELECT max(iterations) FROM cutting_info") < 100000000


def test_the_time_of_earlier_sessions_counts(connection):
    run = value(connection, "SELECT hopper.create_run(%s)", call("earlier", "random", ", max_seconds => 500",
                                                                 "num_configs=100000, num_iterations=1"))
    session = connect(DATABASE)
    query(session, "SET client_min_messages = warning")
    query(session, "SET hopper.checkpoint_interval = 0")
    while value(connection, "SELECT count(*) FROM hopper.all_search_results WHERE run = %s", run) == 0:
        assert value(session, "SELECT hopper.step(%s, 0)", run) != "done"
    session.close()
    wait_until(lambda: state(connection, run) != "running")
    query(connection, "UPDATE hopper.all_search_results SET elapsed = elapsed + 1000 WHERE run = %s", run)
    assert value(connection, "SELECT hopper.step(%s, 60)", run) == "done"
    assert query(connection, "SELECT 1 FROM earlier_decisions WHERE reason LIKE '%%its time %% up%%'") != []


def test_a_search_is_paused_resumed_and_cancelled(connection):
    run = value(connection, "SELECT hopper.submit(%s)", call("endless", "random", "", "num_configs=100000, num_iterations=1"))
    other = value(connection, "SELECT count(*) FROM hopper.runs WHERE state = 'done'")
    wait_until(lambda: state(connection, run) == "running" and value(
        connection, "SELECT count(*) > 3 FROM hopper.trials WHERE run = %s AND digest IS NOT NULL", run))
    query(connection, "SELECT hopper.pause(%s)", run)
    wait_until(lambda: state(connection, run) == "paused")
    known = value(connection, "SELECT count(*) FROM hopper.trials WHERE run = %s", run)
    query(connection, "SELECT hopper.resume(%s)", run)
    wait_until(lambda: value(connection, "SELECT count(*) > %s FROM hopper.trials WHERE run = %s", known + 3, run))
    query(connection, "SELECT hopper.cancel(%s)", run)
    wait_until(lambda: state(connection, run) == "cancelled")
    assert not outputs(connection, f"hopper_run_{run}%") and not outputs(connection, "endless%")
    assert value(connection, "SELECT count(*) FROM hopper.runs WHERE state = 'done'") == other


def test_a_search_replaces_another_or_keeps_its_own_names(connection):
    first = call("named", "random")
    query(connection, first)
    with pytest.raises(Exception, match='"named" is there already|already exists'):
        value(connection, "SELECT hopper.create_run(%s)", first)
    before = value(connection, "SELECT 'named'::regclass::oid")
    run = value(connection, "SELECT hopper.create_run(%s)", call("named", "random", ", replace => true"))
    query(connection, "CALL hopper.train(%s)", run)
    assert value(connection, "SELECT 'named'::regclass::oid") != before
    run = value(connection, "SELECT hopper.create_run(%s)", call("meanwhile", "random"))
    query(connection, "CREATE TABLE meanwhile (i integer)")
    del connection.notices[:]
    query(connection, "CALL hopper.train(%s)", run)
    assert any('"meanwhile" is there already' in notice for notice in connection.notices)
    assert value(connection, f"SELECT count(*) > 0 FROM hopper.leaderboard('hopper_run_{run}')")
    assert query(connection, "SELECT state, model_table FROM hopper.runs WHERE run = %s", run) == [("done", f"public.hopper_run_{run}")]
    query(connection, f"SELECT hopper.drop_model('hopper_run_{run}')")


def test_what_a_search_was_given_has_changed(connection):
    query(connection, "CREATE TABLE changed AS SELECT * FROM architectures")
    run = value(connection, "SELECT hopper.create_run(%s)", call("changed_models", "random", "", "num_configs=1000, num_iterations=2").replace("'architectures'", "'changed'"))
    session = connect(DATABASE)
    query(session, "SELECT hopper.step(%s, 0)", run)
    session.close()
    wait_until(lambda: state(connection, run) == "interrupted")
    session = connect(DATABASE)
    query(connection, "DELETE FROM changed WHERE model_id = 1")
    with pytest.raises(Exception, match="model_id|model 1"):
        query(session, "CALL hopper.train(%s)", run)
    session.close()
