"""What run_timeline() and explain_fit() tell of runs on the segments."""

import os
from collections import defaultdict

import pytest

from digits import query, select, value
from runs import CONFIGS, fit, pack

ITERATIONS = 3
MODELS = 5


@pytest.fixture(scope="module")
def run(greenplum):
    pack(greenplum, "timed", 6)
    select(greenplum, "timed_configs", CONFIGS[:MODELS])
    query(greenplum, "SET client_min_messages = notice")
    del greenplum.notices[:]
    fit(greenplum, "timed", "timed_out", "timed_configs", ITERATIONS)
    query(greenplum, "SET client_min_messages = warning")
    return greenplum


def timeline(connection, table, columns):
    return query(connection, f"SELECT {columns} FROM hopper.run_timeline('{table}')")


def test_each_model_trains_once_on_each_segment_and_iteration(run):
    rows = timeline(run, "timed_out", "iteration, segment, mst_key, partitions, kind")
    trained = [row[:3] for row in rows if row[4] == "training"]
    assert sorted(trained) == sorted((iteration, segment, key) for iteration in range(1, ITERATIONS + 1)
                                     for segment in range(3) for key in range(1, MODELS + 1))
    visited = defaultdict(list)
    for iteration, segment, key, partitions, kind in rows:
        if kind == "training":
            visited[iteration, key] += partitions
            for partition in partitions:
                assert segment == value(run, "SELECT DISTINCT gp_segment_id FROM timed"
                                        f" WHERE partition_id = {partition}")
    assert all(sorted(partitions) == list(range(6)) for partitions in visited.values())


def test_each_model_is_evaluated_once_on_each_segment(run):
    rows = timeline(run, "timed_out", "iteration, segment, mst_key, kind, split")
    validated = [row[:3] for row in rows if row[3:] == ("evaluation", "validation")]
    assert sorted(validated) == sorted((iteration, segment, key) for iteration in range(1, ITERATIONS + 1)
                                       for segment in range(3) for key in range(1, MODELS + 1))
    trained = [row[:3] for row in rows if row[3:] == ("evaluation", "training")]
    assert sorted(trained) == sorted((ITERATIONS, segment, key) for segment in range(3)
                                     for key in range(1, MODELS + 1))


def test_seconds_add_up(run):
    spent = {row[0]: row[1:] for row in query(
        run, "SELECT mst_key, sum(seconds_train), sum(seconds_evaluate), sum(seconds_read + seconds_wait"
        " + seconds_hop + seconds_train + seconds_evaluate), min(seconds_wait), min(seconds_hop)"
        " FROM hopper.run_timeline('timed_out') GROUP BY 1")}
    seconds = value(run, "SELECT seconds FROM timed_out_summary")
    for key, training, evaluating in query(
            run, "SELECT mst_key, seconds_training, seconds_evaluating FROM timed_out_info"):
        assert spent[key][0] == pytest.approx(training, abs=1e-3)
        assert spent[key][1] == pytest.approx(evaluating, abs=1e-3)
        # What is missing are the first and the last statements of the run.
        assert 0 < spent[key][2] <= seconds * 1.001
        assert spent[key][3] >= 0 and spent[key][4] >= 0


def test_the_last_notice_tells_of_models(run):
    assert any("finished: best configuration" in notice and "idle" not in notice for notice in run.notices)


def test_explain_fit_beside_a_run(run):
    rows = query(run, "SELECT item, predicted, measured FROM"
                 " hopper.explain_fit(model_table := 'timed_out', measure := true)"
                 " WHERE mst_key IS NULL")
    found = {item: (predicted, measured) for item, predicted, measured in rows}
    assert found["configurations"][0] == MODELS
    assert found["workers"][0] == found["workers"][1]
    duration, workers = found["duration"][1], found["workers"][1]
    causes = [found[item][1] for item in ("wait", "hop", "train", "evaluate", "other")]
    assert sum(causes) == pytest.approx(duration * workers, rel=0.01)
    assert found["duration"][0] > 0


def test_a_forecast_has_the_threads_and_the_memory_of_the_segments(run):
    """hopper.threads and hopper.memory_limit are of each segment, as where it trains."""
    def found():
        rows = query(run, "SELECT item, predicted FROM hopper.explain_fit('timed', NULL, 'timed_configs', 1)"
                     " WHERE item IN ('workers', 'memory limit')")
        return dict(rows)

    select(run, "timed_two", CONFIGS[:MODELS])
    query(run, "SET hopper.threads = 2")
    query(run, "SET hopper.memory_limit = '200MB'")
    assert found() == {"workers": 3 * 2, "memory limit": 200 << 20}
    fit(run, "timed", "timed_two_out", "timed_two", 1)
    rows = query(run, "SELECT predicted, measured FROM hopper.explain_fit(model_table := 'timed_two_out',"
                 " measure := true) WHERE item = 'workers'")
    assert rows == [(3 * 2, 3 * 2)]
    query(run, "RESET hopper.threads")
    query(run, "RESET hopper.memory_limit")
    of_host = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert found()["memory limit"] <= of_host / 4 * 3 / 3 + 1


def test_unequal_models_are_predicted_to_wait(run):
    """One model of eight passes a visit among three: the others' segments idle."""
    loss = "loss='categorical_crossentropy', optimizer='SGD(lr=0.01)'"
    for name, epochs in (("even", 1), ("uneven", 8)):
        select(run, f"{name}_configs", [(1, 1, loss, f"batch_size=32, epochs={epochs}"),
                                        (2, 1, loss, "batch_size=32"), (3, 1, loss, "batch_size=32")])
    share = {name: value(run, "SELECT sum(CASE item WHEN 'wait' THEN predicted END) / sum(CASE item WHEN 'train' THEN predicted END)"
                         f" FROM hopper.explain_fit('timed', NULL, '{name}_configs', 10, threads := 1,"
                         " training_metrics := 'running') WHERE mst_key IS NULL") for name in ("even", "uneven")}
    # Whatever a step takes: all models take the same in the one, and none waits there.
    assert share["even"] == pytest.approx(0, abs=1e-6)
    assert share["uneven"] > share["even"]
