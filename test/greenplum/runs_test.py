"""Runs as rows on a cluster: one committed slice a step, with the bits of a run in one piece."""

import os
import signal
import threading

import psycopg2
import pytest

from cluster import answer, broken_into, kill, reconnected
from conftest import connect
from digits import outputs, query, select, value, wait_until
from kernels import has_12
from runs import CONFIGS, LOSS, fit, working_tables
from search_test import call, found, search

WATCHED = ("{}, callbacks=[EarlyStopping(monitor='val_loss', patience=2, min_delta=0.01, restore_best_weights=True),"
           " ReduceLROnPlateau(monitor='val_loss', patience=1)]")
ITERATIONS = 6
TRAINED = [CONFIGS[0], CONFIGS[1],
           (3, 1, LOSS + "'Adam(lr=0.01)'", WATCHED.format("batch_size=16")),
           (4, 2, LOSS + "'Adam(lr=0.01)'", WATCHED.format("batch_size=64"))]
FIT = ("SELECT hopper.fit_multiple_model('{}', '{}', '{}', {}, validation_table := '{}_validation', seed := 7,"
       " metrics_compute_frequency := 2)")


@pytest.fixture(scope="module")
def cluster(on_segments):
    select(on_segments, "run_configs", TRAINED)
    fit(on_segments, "packed_7", "straight", "run_configs", ITERATIONS, ", metrics_compute_frequency := 2")
    return on_segments


def create(connection, table, iterations=ITERATIONS, configs="run_configs"):
    return value(connection, "SELECT hopper.create_run(%s)",
                 FIT.format("packed_7", table, configs, iterations, "packed_7"))


def state(connection, run):
    return value(connection, "SELECT state FROM hopper.runs WHERE run = %s", run)


def trials(connection, run):
    return query(connection, "SELECT trial, iterations FROM hopper.trials WHERE run = %s ORDER BY 1", run)


def results(connection, table):
    return query(connection, "SELECT mst_key, state_digest, status, iterations, metrics_iters, training_metrics_all,"
                 f" validation_metrics_all, validation_loss, best_iteration FROM {table}_info ORDER BY 1")


def weights(connection, table):
    return query(connection, f"SELECT mst_key, md5(encode(model_weights, 'hex')) FROM {table} ORDER BY 1")


def expect_as_straight(connection, table):
    assert results(connection, table) == results(connection, "straight")
    assert weights(connection, table) == weights(connection, "straight")


def go_on_after(table, kill_one):
    """A run loses the slice that was killed, and ends as if it had not been."""
    connection = connect("HOPPER_GREENPLUM")
    run = create(connection, table)
    assert value(connection, "SELECT hopper.step(%s, 0)", run) == "running"
    query(connection, "SELECT hopper.set_iterations(%s, 100000)", run)
    committed = trials(connection, run)
    broken_into(connection, f"SELECT hopper.step({run}, 3600)", 0.5, kill_one)
    connection.close()
    other = reconnected()
    assert state(other, run) == "interrupted"
    assert working_tables(other) == []
    assert trials(other, run) == committed
    query(other, "SELECT hopper.set_iterations(%s, %s)", run, ITERATIONS)
    assert value(other, "SELECT hopper.step(%s, 600)", run) == "done"
    expect_as_straight(other, table)
    other.close()


def test_step_by_step(cluster):
    """Each step trains an iteration or a little more, and commits; in whichever session."""
    run = create(cluster, "stepped")
    assert state(cluster, run) == "created"
    first = connect("HOPPER_GREENPLUM")
    assert value(first, "SELECT hopper.step(%s, 0)", run) == "running"
    first.close()
    steps = 1
    while value(cluster, "SELECT hopper.step(%s, 0)", run) == "running":
        steps += 1
        assert working_tables(cluster) == []
        assert all(iterations >= min(steps, 3) for _, iterations in trials(cluster, run))
        assert state(cluster, run) == "interrupted"
    assert steps > 2
    assert state(cluster, run) == "done"
    expect_as_straight(cluster, "stepped")
    assert not outputs(cluster, f"hopper_run_{run}%")
    told = query(cluster, "SELECT trial, iteration, value FROM hopper.trial_metrics WHERE run = %s"
                 " AND split = 'validation' AND metric = 'loss' ORDER BY 1, 2", run)
    assert told == query(cluster, "SELECT mst_key, unnest(metrics_iters), unnest(validation_loss)"
                         " FROM stepped_info ORDER BY 1, 2")
    assert query(cluster, "SELECT checkpoints > 0, best_trial FROM hopper.runs WHERE run = %s", run) == \
        query(cluster, "SELECT true, mst_key FROM hopper.leaderboard('straight') LIMIT 1")


def test_a_killed_segment_process_loses_a_slice(cluster):
    go_on_after("killed_segment", kill(1))
    answer(cluster)


def test_a_warm_start(cluster):
    configs = "SELECT hopper.{}($$ SELECT hopper.fit_multiple_model('packed_7', 'warm_{}', 'configs_2', 2," \
        " validation_table := 'packed_7_validation', warm_start := true) $$)"
    for table in ("run", "straight"):
        fit(cluster, "packed_7", f"warm_{table}", "configs_2", 2)
    fit(cluster, "packed_7", "warm_straight", "configs_2", 2, ", warm_start := true")
    run = value(cluster, configs.format("create_run", "run"))
    while value(cluster, "SELECT hopper.step(%s, 0)", run) != "done":
        pass
    assert results(cluster, "warm_run") == results(cluster, "warm_straight")
    assert weights(cluster, "warm_run") == weights(cluster, "warm_straight")


@pytest.mark.parametrize("method", ["asha", "pbt"])
def test_a_search(cluster, method):
    """A slice ends in the middle of what trials are to train."""
    expected = search(cluster, "packed_7", f"found_{method}", method)[1:]
    run = value(cluster, "SELECT hopper.create_run(%s)", "SELECT " + call("packed_7", f"sliced_{method}", method))
    steps = 0
    while value(cluster, "SELECT hopper.step(%s, 0)", run) == "running":
        steps += 1
    assert steps > 3
    assert found(cluster, f"sliced_{method}") == expected
    assert working_tables(cluster) == []


def test_a_search_is_steered(cluster):
    """Each step opens the run anew: what others wish is heeded there once."""
    run = value(cluster, "SELECT hopper.create_run(%s)", "SELECT " + call("packed_7", "steered_search", "median"))
    while not dict(trials(cluster, run)).get(1):
        assert value(cluster, "SELECT hopper.step(%s, 0)", run) == "running"
    at = dict(trials(cluster, run))
    assert at[1] < 3
    query(cluster, "SELECT hopper.stop_trial(%s, 1)", run)
    for trial in at:
        if trial > 1:
            query(cluster, "SELECT hopper.pin_trial(%s, %s)", run, trial)
    while value(cluster, "SELECT hopper.step(%s, 0)", run) == "running":
        pass
    reached = {trial: iterations for trial, iterations in query(cluster, "SELECT mst_key, iterations FROM steered_search_trials")}
    assert reached[1] in (at[1], at[1] + 1)
    assert {reached[trial] for trial in at if trial > 1} == {3}
    told = query(cluster, "SELECT mst_key, decision, reason FROM steered_search_decisions WHERE reason LIKE 'by %%' ORDER BY number")
    assert [row[:2] for row in told] == [(1, "stopped")] + [(trial, "pinned") for trial in sorted(at) if trial > 1]
    assert len({row[2] for row in told}) == 1
    assert query(cluster, "SELECT status FROM steered_search_trials WHERE mst_key = 1") == [("stopped",)]


class Step:
    """A step of hours in a session of its own; result() is what it says."""

    def __init__(self, run):
        self.connection = connect("HOPPER_GREENPLUM")
        self.said = None
        self.thread = threading.Thread(target=self.step, args=(run,))
        self.thread.start()

    def step(self, run):
        self.said = value(self.connection, "SELECT hopper.step(%s, 3600)", run)

    def result(self):
        self.thread.join(120)
        assert not self.thread.is_alive()
        self.connection.close()
        return self.said


def test_others_steer_a_step(cluster):
    run = create(cluster, "steered", 1000000, "configs_3")
    step = Step(run)
    wait_until(lambda: state(cluster, run) == "running")
    with pytest.raises(psycopg2.errors.ObjectInUse, match=r"run \d+ is driven by process \d+"):
        query(cluster, "SELECT hopper.step(%s, 0)", run)
    with pytest.raises(psycopg2.errors.ObjectInUse, match="is driven by process"):
        query(cluster, "SELECT hopper.drop_run(%s)", run)
    query(cluster, "SELECT hopper.stop_trial(%s, 2)", run)
    query(cluster, "SELECT hopper.set_iterations(%s, 999999, 3)", run)
    query(cluster, "SELECT hopper.pause(%s)", run)
    assert step.result() == "paused"
    assert state(cluster, run) == "paused"
    del cluster.notices[:]
    query(cluster, "SET client_min_messages = notice")
    query(cluster, "SELECT hopper.resume(%s)", run)
    query(cluster, "SET client_min_messages = warning")
    assert "goes on with the next hopper.step(" in cluster.notices[-1]
    # What was wanted in the last moment is at the latest found by the next step.
    assert value(cluster, "SELECT hopper.step(%s, 0)", run) == "running"
    assert query(cluster, "SELECT trial, status FROM hopper.trials WHERE run = %s ORDER BY 1", run) == \
        [(1, "training"), (2, "done"), (3, "training")]
    step = Step(run)
    wait_until(lambda: state(cluster, run) == "running")
    query(cluster, "SELECT hopper.cancel(%s)", run)
    assert step.result() == "cancelled"
    assert not outputs(cluster, f"hopper_run_{run}%")
    with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState, match="is cancelled"):
        query(cluster, "SELECT hopper.step(%s, 0)", run)
    query(cluster, "SELECT hopper.drop_run(%s)", run)
    assert not query(cluster, "SELECT 1 FROM hopper.runs WHERE run = %s", run)


def step_until_it_ends(connection, run):
    said = "running"
    while said == "running":
        said = value(connection, "SELECT hopper.step(%s, 0)", run)
    return said


FAILED = "SELECT state, trials, failed, error, error_code FROM hopper.runs WHERE run = %s"


def test_why_all_trials_have_failed_stays(cluster):
    select(cluster, "hopeless", [(key, 1, LOSS + "SGD(lr=1e30)", "batch_size=32") for key in (1, 2)])
    run = create(cluster, "nothing", configs="hopeless")
    reason = 'no configuration of "nothing" finished. 2 failed: loss became NaN.'
    for _ in range(2):
        assert step_until_it_ends(cluster, run) == "failed"
        assert query(cluster, FAILED, run) == [("failed", 2, 2, reason, "22000")]
        assert query(cluster, "SELECT trial, status, error LIKE 'loss became NaN%%' FROM hopper.trials WHERE run = %s"
                     " ORDER BY 1", run) == [(1, "failed", True), (2, "failed", True)]
        with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState, match=f"run {run} has failed") as error:
            query(cluster, "SELECT hopper.step(%s, 0)", run)
        assert error.value.diag.message_detail == reason
        query(cluster, "SELECT hopper.resume(%s)", run)  # it is tried again
        assert state(cluster, run) == "interrupted"
    query(cluster, "SELECT hopper.cancel(%s)", run)
    assert working_tables(cluster) == []


def test_why_a_search_has_failed_stays(cluster):
    statement = call("packed_7", "no_search", "random").replace("0.0003, 0.1, 'log'", "1e30, 1e31, 'log'")
    run = value(cluster, "SELECT hopper.create_run(%s)", "SELECT " + statement.replace("'Adam', ", ""))
    assert step_until_it_ends(cluster, run) == "failed"
    assert query(cluster, FAILED, run) == [("failed", 6, 6, "every configuration of the search failed", "22000")]
    assert query(cluster, "SELECT DISTINCT status FROM hopper.trials WHERE run = %s", run) == [("failed",)]
    query(cluster, "SELECT hopper.cancel(%s)", run)


def test_nothing_trains_in_the_background(cluster):
    with pytest.raises(psycopg2.errors.FeatureNotSupported, match="does not train in the background") as error:
        query(cluster, "SELECT hopper.submit(%s)", FIT.format("packed_7", "behind", "configs_2", 1, "packed_7"))
    assert "hopper.step(run, seconds) again and again until it says done or failed" in error.value.diag.message_hint
    assert not query(cluster, "SELECT 1 FROM hopper.runs WHERE model_table = 'behind'")


def test_trainings_do_not_wait_for_each_other(cluster):
    """A server that locks a whole table to change a row has long ones beside short ones all the same."""
    run = create(cluster, "long", 1000000, "configs_2")
    step = Step(run)
    wait_until(lambda: state(cluster, run) == "running")
    long = connect("HOPPER_GREENPLUM")
    process = value(long, "SELECT pg_backend_pid()")
    ended = []

    def train():
        try:
            fit(long, "packed_7", "long_foreground", "configs_2", 1000000)
        except psycopg2.Error as error:
            ended.append(error.pgcode)

    thread = threading.Thread(target=train)
    thread.start()
    # Beside both, which have not committed anything.
    told = "hopper.progress WHERE" if has_12(cluster) else "pg_stat_activity WHERE query LIKE 'fit \"%%' || 'iterations%%' AND"
    wait_until(lambda: value(cluster, f"SELECT count(*) FROM {told} pid = %s", process) > 0)
    query(cluster, "SET statement_timeout = '120s'")
    fit(cluster, "packed_7", "short", "configs_2", 1)
    short = create(cluster, "short_run", 1, "configs_2")
    assert value(cluster, "SELECT hopper.step(%s, 0)", short) == "done"
    query(cluster, "SELECT hopper.drop_run(%s)", create(cluster, "never", 1, "configs_2"))
    assert thread.is_alive() and step.thread.is_alive()
    query(cluster, "SELECT hopper.cancel(%s)", run)
    assert step.result() == "cancelled"
    query(cluster, "SELECT pg_cancel_backend(%s)", process)
    thread.join(60)
    query(cluster, "RESET statement_timeout")
    assert ended == ["57014"]
    long.close()


def test_a_killed_session_loses_a_slice(cluster):
    """The coordinator starts anew, and no session survives: the last of the tests."""
    go_on_after("killed_session", lambda process, _: os.kill(process, signal.SIGKILL))
