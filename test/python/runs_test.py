"""Runs in the background from Python: submit, watch, come back in another session."""

import time

import pytest

import model_hopper
from conftest import DATABASE, LONG
from model_hopper._watch import live_figure


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_run_is_submitted_and_found_again(each):
    run = each.submit("fit_multiple_model", "packed", "behind", "configs", 3, seed=4)
    assert each.attach(run.id).wait(120) == "done"
    assert run.info["model_table"] == "behind" and run.progress() is None
    each.fit_multiple_model("packed", "before", "configs", 3, seed=4)
    digests = "SELECT mst_key, state_digest FROM {}_info ORDER BY 1"
    assert list(each.sql(digests.format("behind")).state_digest) == list(each.sql(digests.format("before")).state_digest)
    assert len(run.metrics()) > 0
    assert run.id in set(each.runs().run)
    each.drop_model("behind")
    each.drop_model("before")


def test_another_session_watches_and_ends_it(each):
    run = each.submit("fit_multiple_model", packed_table="packed", model_table="long", num_iterations=LONG,
                      model_selection_table="configs")
    other = model_hopper.connect(f"dbname={DATABASE}")
    found = other.attach(run.id)
    until(lambda: (found.progress() or {}).get("iterations", 0) > 0)
    assert found.state == "running" and repr(found) == f"<Run {run.id}: long, running>"
    found.pause()
    assert run.wait(60) == "paused"
    found.resume()
    until(lambda: run.state == "running")
    found.cancel()
    assert run.wait(60) == "cancelled"
    other.close()


def test_a_table_is_fitted_in_the_background(one):
    one.sql("CREATE TABLE waves AS SELECT i AS id, sin(i) AS a, cos(i) AS b, sin(i) * cos(i) > 0 AS up FROM generate_series(1, 400) AS i")
    run = one.submit("auto_fit", "waves", "up", "in_the_back", seconds=2, treatments={"id": "drop"})
    assert run.wait(120) == "done"
    steps = one.sql("SELECT * FROM in_the_back_steps ORDER BY step")
    assert list(steps.what) == ["split", "pack", "network", "search", "ensemble", "test", "next"]
    assert steps.result[5].startswith("accuracy ")
    one.sql("DROP VIEW in_the_back_rows, in_the_back_test_rows")


def test_no_such_run(each):
    with pytest.raises(LookupError, match="there is no run 123456789"):
        each.attach(123456789)


def test_a_run_is_watched(one, capsys):
    run = one.submit("fit_multiple_model", "packed", "watched", "configs", 3, validation_table="packed_validation")
    with pytest.raises(ValueError, match="'leave', 'pause', 'cancel'"):
        run.watch(interrupt="stop")
    assert run.watch(every=0.1) == "done"  # no notebook: lines of text
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"run {run.id}: watched, done, best validation accuracy 0.")
    figure = live_figure(run, None, 10)
    axes, = figure.axes
    assert axes.get_title() == last and len(axes.lines) == 4
    board = one.leaderboard("watched")
    assert [row["mst_key"] for row in run.board(10)] == list(board.mst_key)
    one.drop_model("watched")


def test_an_interrupt_pauses_what_is_watched(one, monkeypatch):
    run = one.submit("fit_multiple_model", packed_table="packed", model_table="long", num_iterations=LONG,
                     model_selection_table="configs")
    until(lambda: run.state == "running")
    wait = run.wait

    def interrupted(seconds=None):
        if seconds is not None:
            raise KeyboardInterrupt
        return wait(60)

    monkeypatch.setattr(run, "wait", interrupted)
    assert run.watch(interrupt="leave") == "running"
    assert run.watch(interrupt="pause") == "paused"
    assert live_figure(run, "loss", 10).axes[0].get_title().startswith(f"run {run.id}: long, paused")
    run.cancel()
