"""A cluster trains in the foreground; its trainings are runs all the same, which are seen and kept."""

import psycopg2
import pytest

from digits import query, value
from runs import pack

FIT = "SELECT hopper.fit('{data}', '{model}', 'architectures', 1, $$loss='categorical_crossentropy', optimizer='adam'," \
      " metrics=['accuracy']$$, 'batch_size=64', 2)"


@pytest.fixture(scope="module")
def connection(greenplum):
    pack(greenplum, "foreground", 3)
    return greenplum


def test_the_background_is_refused(connection):
    """Before anything is made of it."""
    with pytest.raises(psycopg2.Error) as refused:
        query(connection, "SELECT hopper.submit(%s)", FIT.format(data="foreground", model="backgrounded"))
    assert refused.value.pgcode == "0A000"
    assert "does not train in the background" in str(refused.value) and "hopper.step(run, seconds)" in refused.value.diag.message_hint
    assert query(connection, "SELECT * FROM hopper.all_runs WHERE model_table LIKE '%%backgrounded%%'") == []
    assert value(connection, "SELECT count(*) FROM pg_class WHERE relname LIKE 'backgrounded%%'") == 0


@pytest.fixture(scope="module")
def run(connection):
    query(connection, FIT.format(data="foreground", model="ended"))
    return value(connection, "SELECT run FROM hopper.runs WHERE model_table LIKE '%%ended'")


@pytest.mark.parametrize("call", ["step({})", "resume({})", "pause({})", "cancel({})", "stop_trial({}, 1)", "set_iterations({}, 5)",
                                  "add_trials({})", "clone_trial({}, 1)", "publish({}, 'published')"])
def test_one_in_the_foreground_is_over(connection, run, call):
    with pytest.raises(psycopg2.Error) as refused:
        query(connection, f"SELECT hopper.{call.format(run)}")
    assert refused.value.pgcode in ("55000", "0A000") and f"run {run} " in refused.value.diag.message_primary


def test_one_in_the_foreground_is_kept(connection):
    query(connection, FIT.format(data="foreground", model="kept_run"))
    state, trials, iterations = query(connection, "SELECT state, trials, iterations FROM hopper.runs"
                                                  " WHERE model_table LIKE '%%kept_run'")[0]
    assert (state, trials, iterations) == ("done", 1, 2)
    assert query(connection, "SELECT t.digest FROM hopper.trials t JOIN hopper.runs r USING (run)"
                             " WHERE r.model_table LIKE '%%kept_run'") == \
        query(connection, "SELECT state_digest FROM kept_run_info")
