"""Trials of a run are stopped, trained longer, added and cloned while it trains, and its models are used before it ends."""

import json

import psycopg2
import pytest
from digits import ADAM, connect, create_database, drop_database, query, select, value, wait_until

from search_runs_test import call, expect_same

DATABASE = "hopper_steering"
CONFIGS = [(1, 1, ADAM, "batch_size=32"), (2, 2, ADAM, "batch_size=50"), (3, 1, ADAM, "batch_size=16")]
FIT = ("SELECT hopper.fit_multiple_model('packed', '{}', '{}', {}, validation_table => 'packed_validation', seed => 5,"
       " threads => 3)")


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    query(connection, f"ALTER DATABASE {DATABASE} SET hopper.checkpoint_interval = 0")
    connection.close()
    connection = connect(DATABASE)
    query(connection, "SET client_min_messages = warning")
    yield connection
    connection.close()
    drop_database(DATABASE)


# So many that a step of no time does not train them all, however late its session looks.
MANY = 60


def create(connection, name, iterations, function="create_run"):
    select(connection, name + "_configs", CONFIGS)
    return value(connection, f"SELECT hopper.{function}(%s)", FIT.format(name, name + "_configs", iterations))


def digests(connection, table):
    return dict(query(connection, f"SELECT mst_key, state_digest FROM {table}_info"))


def iterations(connection, table):
    return dict(query(connection, f"SELECT mst_key, iterations FROM {table}_info"))


def expect_straight(connection, name, lengths):
    """Each model has the bits of one that was asked for so many iterations at once."""
    assert iterations(connection, name) == lengths
    found = digests(connection, name)
    for key, length in lengths.items():
        query(connection, "DROP TABLE IF EXISTS straight, straight_info, straight_summary, straight_state")
        query(connection, FIT.format("straight", name + "_configs", length)[:-1] + f", mst_keys => {key})")
        assert digests(connection, "straight")[key] == found[key], key


def steered(connection, run):
    return query(connection, "SELECT trial, detail FROM hopper.run_events WHERE run = %s AND event = 'steered'", run)


def test_a_trial_is_stopped(database):
    run = create(database, "stopped", 100000, "submit")
    wait_until(lambda: value(database, "SELECT min(iterations) > 1 FROM hopper.trials WHERE run = %s", run))
    query(database, "SELECT hopper.stop_trial(%s, 2)", run)
    wait_until(lambda: value(database, "SELECT status FROM hopper.trials WHERE run = %s AND trial = 2", run) == "done")
    assert value(database, "SELECT state FROM hopper.runs WHERE run = %s", run) == "running"
    query(database, "SELECT hopper.set_iterations(%s, 1)", run)
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "done"
    told = dict(steered(database, run))
    lengths = iterations(database, "stopped")
    for trial in (1, 3):
        assert told[trial] == f"after iteration {lengths[trial] - 1}, to iteration {lengths[trial]}"
    expect_straight(database, "stopped", lengths)
    assert query(database, "SELECT event, trial, role FROM hopper.run_events WHERE run = %s AND event IN"
                 " ('stop trial', 'set iterations') ORDER BY at", run) == [
                     ("stop trial", 2, "postgres"), ("set iterations", None, "postgres")]


def test_progress_is_of_the_iterations_that_are_wanted(database):
    run = create(database, "measured", 100000, "submit")
    total = "SELECT iterations_total FROM hopper.progress WHERE run = %s"
    wait_until(lambda: query(database, total, run) == [(300000,)])
    query(database, "SELECT hopper.set_iterations(%s, 200000), hopper.set_iterations(%s, 300000, trial => 2)", run, run)
    wait_until(lambda: query(database, total, run) == [(700000,)])
    query(database, "SELECT hopper.cancel(%s)", run)
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "cancelled"


def test_trials_train_longer_also_those_that_have_ended(database):
    run = create(database, "longer", MANY)
    query(database, "SELECT hopper.set_iterations(%s, 2, 1)", run)
    query(database, "SELECT hopper.step(%s, 0)", run)
    query(database, "SELECT hopper.set_iterations(%s, %s, 3)", run, MANY + 3)
    query(database, "SELECT hopper.set_iterations(%s, %s, 1)", run, MANY + 1)
    query(database, "CALL hopper.train(%s)", run)
    expect_straight(database, "longer", {1: MANY + 1, 2: MANY, 3: MANY + 3})
    with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState, match="is done"):
        query(database, "SELECT hopper.set_iterations(%s, %s)", run, MANY + 5)


def test_while_a_worker_trains(database):
    """The first trial has ended when it is to go on: the run is opened again for it."""
    run = create(database, "revived", 100000)
    query(database, "SELECT hopper.set_iterations(%s, 3, 1)", run)
    query(database, "SELECT hopper.resume(%s)", run)
    wait_until(lambda: value(database, "SELECT status FROM hopper.trials WHERE run = %s AND trial = 1", run) == "done")
    query(database, "SELECT hopper.set_iterations(%s, 6, 1)", run)
    wait_until(lambda: value(database, "SELECT iterations FROM hopper.trials WHERE run = %s AND trial = 1", run) == 6)
    query(database, "SELECT hopper.stop_trial(%s, trial) FROM hopper.trials WHERE run = %s AND trial > 1", run, run)
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "done"
    lengths = iterations(database, "revived")
    assert lengths[1] == 6
    expect_straight(database, "revived", lengths)


def test_trials_are_added_and_cloned(database):
    run = create(database, "grown", MANY)
    assert value(database, "SELECT hopper.add_trials(%s)", run) == 0
    while not value(database, "SELECT iterations FROM hopper.trials WHERE run = %s AND trial = 1", run):
        query(database, "SELECT hopper.step(%s, 0)", run)
    query(database, "INSERT INTO grown_configs VALUES (7, 2, %s, 'batch_size=64')", ADAM)
    assert value(database, "SELECT hopper.add_trials(%s)", run) == 1
    at = value(database, "SELECT iterations FROM hopper.trials WHERE run = %s AND trial = 1", run)
    clone = value(database, "SELECT hopper.clone_trial(%s, 1, fit_params => 'batch_size=8')", run)
    assert clone == 8 and 0 < at < MANY
    query(database, "CALL hopper.train(%s)", run)
    assert iterations(database, "grown") == dict.fromkeys((1, 2, 3, 7, 8), MANY)
    # The clone is what a warm start with other parameters is.
    query(database, FIT.format("warm", "grown_configs", at)[:-1] + ", mst_keys => 1)")
    for table in ("warm", "warm_info", "warm_state"):
        query(database, f"UPDATE {table} SET mst_key = 8")
    query(database, FIT.format("warm", "grown_configs", MANY - at)[:-1] + ", warm_start => true, mst_keys => 8)")
    assert query(database, "SELECT md5(model_weights) FROM warm") == query(
        database, "SELECT md5(model_weights) FROM grown WHERE mst_key = 8")
    lengths = dict.fromkeys((1, 2, 3, 7), MANY)
    query(database, "DELETE FROM grown_info WHERE mst_key = 8")
    expect_straight(database, "grown", lengths)


def test_models_are_used_before_the_end(database):
    waiting = create(database, "waiting", 2)
    with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState, match="has no checkpoint yet"):
        query(database, "SELECT hopper.publish(%s, 'so_far')", waiting)
    query(database, "SELECT hopper.drop_run(%s)", waiting)
    run = create(database, "early", 100000, "submit")
    other = connect(DATABASE)
    wait_until(lambda: value(database, "SELECT min(iterations) > 2 FROM hopper.trials WHERE run = %s", run))
    own = value(database, "SELECT tables FROM hopper.runs WHERE run = %s", run)
    assert value(database, "SELECT count(*) FROM hopper.leaderboard(%s)", own) == 3
    assert value(database, "SELECT hopper.publish(%s, 'so_far')", run) == 3
    query(other, "BEGIN")
    for key, told in query(other, "SELECT mst_key, validation_loss_final FROM so_far_info"):
        found = value(other, "SELECT loss FROM hopper.evaluate('so_far', 'packed_validation', mst_key => %s)", key)
        assert found == pytest.approx(told, abs=1e-6)
    query(other, "COMMIT")
    with pytest.raises(psycopg2.errors.DuplicateTable):
        query(database, "SELECT hopper.publish(%s, 'so_far')", run)
    before = iterations(database, "so_far")
    wait_until(lambda: value(database, "SELECT min(iterations) FROM hopper.trials WHERE run = %s", run) > max(before.values()))
    query(database, "SELECT hopper.publish(%s, 'so_far', replace => true)", run)
    assert min(iterations(database, "so_far").values()) > max(before.values())
    assert value(database, "SELECT hopper.predict(model_table => 'so_far', source_table => 'digits', id_col => 'id',"
                           " output_table => 'so_far_predicted', pred_type => 'response')") == 1797
    query(database, "SELECT hopper.cancel(%s)", run)
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "cancelled"
    with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState, match="has no models"):
        query(database, "SELECT hopper.publish(%s, 'late')", run)
    other.close()


def test_what_cannot_be_steered(database):
    run = create(database, "refused", 2)
    for call in ("stop_trial({}, 9)", "set_iterations({}, 3, 9)",  "clone_trial({}, 9, fit_params => 'batch_size=8')"):
        with pytest.raises(psycopg2.errors.UndefinedObject, match=f"run {run} has no trial 9"):
            query(database, "SELECT hopper." + call.format(run))
    with pytest.raises(psycopg2.errors.InvalidParameterValue):
        query(database, "SELECT hopper.set_iterations(%s, 0)", run)
    query(database, "INSERT INTO refused_configs VALUES (9, 1, 'loss=''nonsense''', 'batch_size=1')")
    with pytest.raises(psycopg2.Error, match="nonsense"):
        query(database, "SELECT hopper.add_trials(%s)", run)
    query(database, "DELETE FROM refused_configs WHERE mst_key = 9")
    one = value(database, "SELECT hopper.create_run(%s)", "SELECT hopper.fit('packed', 'single', 'architectures', 1,"
                f" $${ADAM}$$, 'batch_size=32', 2)")
    with pytest.raises(psycopg2.errors.InvalidParameterValue, match="a clone needs other parameters than trial 1"):
        query(database, "SELECT hopper.clone_trial(%s, 1)", run)
    with pytest.raises(psycopg2.errors.FeatureNotSupported, match="has no table of configurations"):
        query(database, "SELECT hopper.clone_trial(%s, 1)", one)

# --- searches ---

SEARCHES = {"successive_halving": "num_configs=6, r=3, R=9", "pbt": "population=4, interval=3, generations=3"}


def search(name, method):
    """One trial trains at a time, so that a step of no time is its next iteration and nothing else."""
    return call(name, method, ", threads => 1", SEARCHES[method]).replace("parallel => 4", "parallel => 1")


def at(connection, run, trial):
    return value(connection, "SELECT coalesce(max(iterations), 0) FROM hopper.trials WHERE run = %s AND trial = %s", run, trial)


def steer(connection, run, plan, leaves):
    """The run is trained to its end; each wish is uttered once its trial has had so many iterations."""
    driver = connect_quietly()
    for trial, iterations, wish in plan:
        while at(connection, run, trial) < iterations:
            assert value(driver, "SELECT hopper.step(%s, 0)", run) == "running"
        assert at(connection, run, trial) == iterations
        if leaves:
            driver.close()
            driver = connect_quietly()
        query(connection, "SELECT hopper." + wish.format(run))
    assert value(driver, "SELECT hopper.step(%s, 600)", run) == "done"
    driver.close()


def connect_quietly():
    connection = connect(DATABASE)
    query(connection, "SET client_min_messages = warning")
    return connection


@pytest.mark.parametrize("method", list(SEARCHES))
def test_a_search_is_steered(database, method):
    """What others wish is told to the search once, in whichever session it goes on."""
    name = "steered_" + method
    wanted = {"model_id": 1, "loss": "categorical_crossentropy", "metrics": ["accuracy"], "optimizer": "SGD", "lr": 0.1, "batch_size": 64,
              "patience": 3}
    plan = [(1, 1, "stop_trial({}, 1)"), (2, 1, "pin_trial({}, 2)"),
            (3, 1, f"enqueue_trial({{}}, '{json.dumps(wanted)}')".replace('{"', '{{"').replace("}'", "}}'")),
            (3, 2, "pin_trial({}, 3)"), (4, 1, "unpin_trial({}, 3)")]
    for kept in ("_kept", "_left"):
        run = value(database, "SELECT hopper.create_run(%s)", search(name + kept, method))
        steer(database, run, plan, kept == "_left")
        told = dict(query(database, "SELECT trial, string_agg(detail, '; ' ORDER BY at) FROM hopper.run_events"
                          " WHERE run = %s AND event = 'steered' AND trial > 0 GROUP BY trial", run))
        assert told == {1: "after iteration 1, to iteration 2", 2: "goes on whatever its results are",
                        3: "goes on whatever its results are; goes on as far as the search wants"}
    expect_same(database, name + "_kept", name + "_left")
    reached = dict(query(database, f"SELECT mst_key, iterations FROM {name}_kept_trials"))
    assert reached[1] == 2 and reached[2] == max(reached.values()) > 3
    assert value(database, f"SELECT status FROM {name}_kept_trials WHERE mst_key = 1") == "stopped"
    assert value(database, f"SELECT count(*) FROM {name}_kept WHERE mst_key = 1") == 1
    assert [reason for reason, in query(database, f"SELECT reason FROM {name}_kept_decisions WHERE decision IN ('stopped', 'pinned',"
                                        " 'unpinned') AND reason LIKE 'by %%' ORDER BY number")] == 4 * ["by postgres"]
    tried = [parameters["lr"] for parameters, in query(database, f"SELECT parameters FROM {name}_kept_trials ORDER BY mst_key")]
    # A population begins all at once.
    assert (tried[3] == wanted["lr"]) == (method != "pbt"), tried


def test_what_trains_no_more_is_told_at_once(database):
    """A trial of a search that rests between two rungs ends there; one of fit() has ended already."""
    run = value(database, "SELECT hopper.create_run(%s)", search("resting", "successive_halving"))
    steer(database, run, [(2, 1, "stop_trial({}, 1)")], False)
    assert steered(database, run) == [(1, "has ended: it rested")]
    assert value(database, "SELECT iterations FROM resting_trials WHERE mst_key = 1") == 3
    run = create(database, "ended", 100000)
    query(database, "SELECT hopper.set_iterations(%s, 1, 1)", run)
    driver = connect(DATABASE)
    while value(database, "SELECT status FROM hopper.trials WHERE run = %s AND trial = 1", run) != "done":
        query(driver, "SELECT hopper.step(%s, 0)", run)
    del driver.notices[:]
    query(driver, "SELECT hopper.stop_trial(%s, 1)", run)
    assert driver.notices == [f"NOTICE:  trial 1 of run {run} has ended already\n"]
    query(driver, "SELECT hopper.step(%s, 2)", run)
    assert (1, "too late: it has ended") in steered(database, run)
    query(driver, "SELECT hopper.cancel(%s)", run)
    driver.close()


def test_what_cannot_be_steered_of_a_search(database):
    run = value(database, "SELECT hopper.create_run(%s)", search("unsteered", "successive_halving"))
    for function, more in (("set_iterations", ", 9"), ("add_trials", ""), ("clone_trial", ", 1, fit_params => 'batch_size=8'")):
        with pytest.raises(psycopg2.errors.FeatureNotSupported, match="is a search") as refused:
            query(database, f"SELECT hopper.{function}(%s{more})", run)
        assert "hopper.enqueue_trial()" in refused.value.diag.message_hint
    for function in ("stop_trial", "pin_trial", "unpin_trial"):
        with pytest.raises(psycopg2.errors.UndefinedObject, match="has no trial 99"):
            query(database, f"SELECT hopper.{function}(%s, 99)", run)
    with pytest.raises(psycopg2.errors.InvalidTextRepresentation):
        query(database, "SELECT hopper.enqueue_trial(%s, 'nonsense')", run)
    query(database, """SELECT hopper.enqueue_trial(%s, '{"nonsense": 1}')""", run)
    query(database, "CALL hopper.train(%s)", run)
    assert value(database, "SELECT detail LIKE 'refused: %%nonsense%%' FROM hopper.run_events WHERE run = %s AND event = 'steered'", run)
    fit = create(database, "unpinned", 2)
    for call_of_search in ("pin_trial({}, 1)", "unpin_trial({}, 1)", """enqueue_trial({}, '{{"lr": 1}}')"""):
        with pytest.raises(psycopg2.errors.FeatureNotSupported, match="is not a search"):
            query(database, "SELECT hopper." + call_of_search.format(fit))
