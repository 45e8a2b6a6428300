"""auto_fit() in the background: a run makes the search, and does at its end what comes behind it."""

import re

import psycopg2
import pytest
from digits import GREENPLUM, connect, create_database, drop_database, outputs, query, value, wait_until
from called_runs import in_thread, state, wait_for_lock

DATABASE = "hopper_auto_fit_runs"
CALL = "SELECT * FROM hopper.auto_fit('points', 'y', '{}', {}{})"
STEPS = ["split", "pack", "network", "search", "ensemble", "test", "next"]


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    query(connection, "CREATE TABLE points AS SELECT i AS id, sin(i) AS a, cos(i) AS b, i % 7 AS c, sin(i) * cos(i) > 0 AS y FROM generate_series(1, 800) AS i")
    query(connection, "ALTER TABLE points ADD PRIMARY KEY (id)")
    yield connection
    connection.close()
    drop_database(DATABASE)


def submit(connection, name, seconds=4, more="", function="submit"):
    if GREENPLUM and function == "submit":
        pytest.skip("on segments nothing trains in the background")
    return value(connection, f"SELECT hopper.{function}(%s)", CALL.format(name, seconds, more))


def steps(connection, name):
    return query(connection, f"SELECT step, what, result, statement FROM {name}_steps ORDER BY step")


def relations(connection, pattern):
    return [row[0] for row in query(connection, "SELECT relname FROM pg_class WHERE relkind IN ('r', 'v') AND relname LIKE %s ORDER BY 1", pattern)]


def expect_whole(connection, name, models=None):
    told = steps(connection, name)
    assert [row[1] for row in told] == STEPS and [row[0] for row in told] == list(range(1, 8))
    assert re.match(r"accuracy \S+ ± \S+, auc \S+ ± \S+; the best model alone .*; a linear model .*; a constant", told[5][2]), told[5]
    best, alone = re.match(r"predict\(\) takes model (\d+)(?: where mst_key := \1 is given, else model (\d+))?; ", told[6][2]).groups()
    assert value(connection, f"SELECT best_mst_key FROM {models or name}_summary") == int(alone or best)
    metrics = value(connection, f"SELECT metrics FROM hopper.evaluate('{models or name}', '{name}_test_packed', mst_key => {best})")
    assert f"accuracy {round(metrics[0], 4):g}" in told[5][2]
    assert not relations(connection, f"{name}\\_linear%") and not relations(connection, f"{name}\\_probe%")
    # What was trained on the way is in no record.
    assert not query(connection, "SELECT run, model_table FROM hopper.runs WHERE model_table LIKE %s", f"{name}\\_%")


def test_the_session_ends_and_the_run_goes_on(database):
    session = connect(DATABASE)
    run = submit(session, "behind")
    # Mistakes would have been errors; what trains next is known.
    assert [row[1] for row in steps(session, "behind")] == STEPS[:3]
    session.close()
    assert not query(database, "SELECT 1 FROM pg_class WHERE relname = 'behind'")
    assert value(database, "SELECT hopper.wait(%s, 120)", run) == "done"
    expect_whole(database, "behind")
    assert not outputs(database, f"hopper_run_{run}%")
    assert query(database, "SELECT function, model_table FROM hopper.runs WHERE run = %s", run) == [("automl", "behind")]
    assert value(database, "SELECT hopper.predict('behind', 'points', 'id', output_table => 'guessed', pred_type => 'response')") is not None


def test_in_steps_of_several_sessions(database):
    run = submit(database, "stepped", 3, function="create_run")
    done = ""
    while done != "done":
        session = connect(DATABASE)
        done = value(session, "SELECT hopper.step(%s, 1)", run)
        session.close()
        wait_until(lambda: state(database, run) != "running")
    expect_whole(database, "stepped")


def test_its_worker_is_killed(database):
    """The server starts it again; what it has done goes on from the last checkpoint, and its end is one transaction."""
    run = submit(database, "killed", 6)
    wait_until(lambda: state(database, run) == "running")
    wait_until(lambda: query(database, "SELECT 1 FROM hopper.progress WHERE run = %s AND iterations > 0", run))
    worker = value(database, "SELECT pid FROM hopper.runs WHERE run = %s", run)
    query(database, "SELECT pg_terminate_backend(%s)", worker)
    wait_until(lambda: value(database, "SELECT count(*) FROM hopper.run_events WHERE run = %s AND event = 'started'", run) == 2)
    assert value(database, "SELECT hopper.wait(%s, 120)", run) == "done"
    expect_whole(database, "killed")


def test_its_worker_is_killed_behind_the_search(database):
    """What it has done by then is taken back, and done once."""
    run = submit(database, "held", 1)
    other = connect(DATABASE)
    query(other, "BEGIN; LOCK TABLE held_steps")
    waits = "SELECT 1 FROM pg_stat_activity JOIN hopper.runs USING (pid) WHERE run = %s AND wait_event_type = 'Lock'"
    wait_until(lambda: query(database, waits, run))
    query(database, "SELECT pg_terminate_backend(pid) FROM hopper.runs WHERE run = %s", run)
    wait_until(lambda: not query(database, waits, run))
    query(other, "COMMIT")
    other.close()
    assert value(database, "SELECT hopper.wait(%s, 120)", run) == "done"
    expect_whole(database, "held")


def test_a_cancel_behind_the_search_waits_for_the_end_and_says_so(database):
    run = submit(database, "ending", 1)
    other = connect(DATABASE)
    query(other, "BEGIN; LOCK TABLE ending_steps")
    wait_until(lambda: query(database, "SELECT 1 FROM pg_stat_activity JOIN hopper.runs USING (pid) WHERE run = %s AND wait_event_type = 'Lock'", run))
    late = connect(DATABASE)
    thread, found = in_thread(late, "SELECT hopper.cancel(%s)", run)
    wait_for_lock(database, late)
    query(other, "COMMIT")
    thread.join()
    other.close()
    assert f"run {run} is done" in str(found[0])
    assert any(f"waiting for the end of run {run}" in notice for notice in late.notices)
    late.close()
    expect_whole(database, "ending")


def test_what_fails_behind_the_search_is_tried_again(database):
    run = submit(database, "failing", 2)
    query(database, "ALTER TABLE failing_test_packed RENAME TO moved")
    assert value(database, "SELECT hopper.wait(%s, 120)", run) == "failed"
    assert "failing_test_packed" in value(database, "SELECT error FROM hopper.runs WHERE run = %s", run)
    assert [row[1] for row in steps(database, "failing")] == STEPS[:3] and not relations(database, "failing")
    query(database, "ALTER TABLE moved RENAME TO failing_test_packed")
    query(database, "SELECT hopper.resume(%s)", run)
    assert value(database, "SELECT hopper.wait(%s, 120)", run) == "done"
    expect_whole(database, "failing")


def test_a_cancel_leaves_nothing(database):
    for function in ("cancel", "drop_run"):
        run = submit(database, "unwanted", 600, function="submit" if function == "cancel" else "create_run")
        if function == "cancel":
            wait_until(lambda: state(database, run) == "running")
        query(database, f"SELECT hopper.{function}(%s)", run)
        if function == "cancel":
            assert value(database, "SELECT hopper.wait(%s, 60)", run) == "cancelled"
        assert not relations(database, "unwanted%") and not relations(database, f"hopper_run_{run}%")


def test_a_cancel_knows_what_was_made_by_what_is_left_of_it(database):
    for gone, left in (("TABLE {}_steps", []), ("VIEW {}_rows, {}_test_rows", [])):
        run = submit(database, "dropped", 600, function="create_run")
        query(database, "DROP " + gone.replace("{}", "dropped"))
        query(database, "SELECT hopper.cancel(%s)", run)
        assert relations(database, "dropped%") == left
    # A table of the user's own stays.
    run = submit(database, "dropped", 600, function="create_run")
    query(database, "DROP TABLE dropped_steps; CREATE TABLE dropped_steps (mine integer)")
    query(database, "SELECT hopper.cancel(%s)", run)
    assert relations(database, "dropped%") == ["dropped_steps"]
    run = submit(database, "unknown", 600, function="create_run")
    query(database, "DROP TABLE unknown_steps; DROP VIEW unknown_rows, unknown_test_rows")
    database.notices.clear()
    query(database, "SELECT hopper.cancel(%s)", run)
    assert any('begin with "unknown_" are not dropped' in notice for notice in database.notices)
    query(database, "SELECT hopper.drop_packed('unknown_packed'); SELECT hopper.drop_packed('unknown_test_packed'); DROP TABLE unknown_networks, dropped_steps")


@pytest.mark.skipif(GREENPLUM, reason="Greenplum 6 has no policies")
def test_the_test_is_of_the_rows_that_were_there(database):
    """The run ends in another session, whose settings the policy of its table does not know; and rows have changed by then."""
    query(database, "DROP ROLE IF EXISTS hopper_auto_tenant")
    query(database, "CREATE ROLE hopper_auto_tenant LOGIN; GRANT ALL ON SCHEMA public TO hopper_auto_tenant; CREATE TABLE shared AS SELECT *, id % 2 AS tenant FROM points;"
                    " CREATE POLICY own ON shared USING (tenant = current_setting('app.tenant')::integer); ALTER TABLE shared ENABLE ROW LEVEL SECURITY;"
                    " GRANT SELECT ON shared TO hopper_auto_tenant")
    tenant = connect(DATABASE)
    query(tenant, "SET SESSION AUTHORIZATION hopper_auto_tenant; SET app.tenant = 1")
    run = value(tenant, "SELECT hopper.submit(%s)", CALL.format("tenants", 1, ", treatments => '{\"tenant\": \"drop\"}'").replace("points", "shared"))
    told = int(steps(tenant, "tenants")[0][2].split()[0])
    query(database, "DELETE FROM shared WHERE id % 3 = 0")
    assert value(tenant, "SELECT hopper.wait(%s, 60)", run) == "done"
    assert value(tenant, "SELECT sum(rows) FROM (SELECT count(*) AS rows FROM hopper.predict_packed('tenants', 'tenants_test_packed')) AS s") == told
    expect_whole(tenant, "tenants")
    tenant.close()
    query(database, "DROP TABLE shared CASCADE; DROP OWNED BY hopper_auto_tenant; DROP ROLE hopper_auto_tenant")


@pytest.mark.skipif(GREENPLUM, reason="no worker of the owner's role drops it")
def test_a_cancel_by_another_role_is_done_with_the_owners_rights(database):
    """The closing statement is text that the owner may have written."""
    query(database, "DROP ROLE IF EXISTS hopper_auto_other")
    query(database, "CREATE ROLE hopper_auto_other LOGIN; GRANT ALL ON SCHEMA public TO hopper_auto_other; GRANT SELECT ON points TO hopper_auto_other")
    other = connect(DATABASE)
    query(other, "SET SESSION AUTHORIZATION hopper_auto_other")
    run = submit(other, "others", 600, function="create_run")
    query(database, "UPDATE hopper.all_runs SET closing = 'SELECT lo_create(4711) WHERE $1 IS NULL'"
                    " WHERE run = %s", run)
    query(database, "SELECT hopper.cancel(%s)", run)
    wait_until(lambda: state(database, run) == "cancelled")
    assert value(database, "SELECT pg_get_userbyid(lomowner) FROM pg_largeobject_metadata WHERE oid = 4711") == "hopper_auto_other"
    # It is done once.
    database.notices.clear()
    query(database, "SELECT hopper.drop_run(%s)", run)
    assert not any(f"run {run}" in notice for notice in database.notices), database.notices
    # What cannot be done keeps no run from its end.
    for function in ("cancel", "drop_run"):
        run = submit(other, f"others_{function}", 600, function="create_run")
        query(database, "UPDATE hopper.all_runs SET closing = 'SELECT 1 / 0' WHERE run = %s", run)
        query(other, f"SELECT hopper.{function}(%s)", run)
        assert not relations(database, f"hopper_run_{run}%")
    assert any(f"not all that run {run} had made is dropped" in notice for notice in other.notices)
    other.close()
    query(database, "DROP OWNED BY hopper_auto_other; DROP ROLE hopper_auto_other")


def test_the_last_step_says_what_predict_takes_where_the_ensemble_is_not_the_best(database):
    run = submit(database, "luckier", 2, function="create_run")
    closing = value(database, "SELECT closing FROM hopper.all_runs WHERE run = %s", run)
    while value(database, "SELECT hopper.step(%s, 60)", run) != "done":
        pass
    # As if a model were right on all rows of validation.
    query(database, "UPDATE luckier_info SET validation_loss[array_upper(validation_loss, 1)] = 0, validation_loss_final = 0 WHERE mst_key = 1")
    query(database, "DELETE FROM luckier_steps WHERE step > 3")
    query(database, closing.replace("$1", "'luckier'"))
    told = steps(database, "luckier")[6][2]
    assert re.match(r"predict\(\) takes model (\d+) where mst_key := \1 is given, else model 1; ", told), told
    database.notices.clear()
    query(database, "SELECT hopper.predict('luckier', 'points', 'id', output_table => 'luckier_guessed')")
    assert any("uses configuration 1," in notice for notice in database.notices)


def test_the_closing_statement_does_not_leave_its_role(database):
    """Whoever steps or cancels a run of another role as that role has its rights, and no others."""
    query(database, "DROP ROLE IF EXISTS hopper_auto_other")
    query(database, "CREATE ROLE hopper_auto_other LOGIN; GRANT ALL ON SCHEMA public TO hopper_auto_other; GRANT SELECT ON points TO hopper_auto_other")
    administrator = connect(DATABASE)
    query(administrator, "SET ROLE hopper_auto_other")
    for name, end in (("stepping", "step"), ("cancelling", "cancel")):
        run = submit(administrator, name, 1, function="create_run")
        query(database, "UPDATE hopper.all_runs SET closing = 'SELECT set_config(''role'', ''none'', false) WHERE $1 IS NULL OR true' WHERE run = %s", run)
        if end == "step":
            with pytest.raises(psycopg2.errors.InsufficientPrivilege, match='cannot set parameter "role"'):
                while True:
                    query(administrator, "SELECT hopper.step(%s)", run)
        query(administrator, "SELECT hopper.cancel(%s)", run)
        assert value(administrator, "SELECT current_user") == "hopper_auto_other"
        assert state(database, run) == "cancelled"
    administrator.close()
    query(database, "DROP OWNED BY hopper_auto_other; DROP ROLE hopper_auto_other")


def test_a_run_of_a_role_without_login_is_cancelled_by_its_members(database):
    """No worker starts that would drop what its role had made before: it is told where that is."""
    query(database, "DROP ROLE IF EXISTS hopper_auto_group")
    query(database, "CREATE ROLE hopper_auto_group NOLOGIN; GRANT ALL ON SCHEMA public TO hopper_auto_group; GRANT SELECT ON points TO hopper_auto_group")
    for function in ("cancel", "drop_run"):
        other = connect(DATABASE)
        query(other, "SET SESSION AUTHORIZATION hopper_auto_group")
        run = submit(other, f"groups_{function}", 600, function="create_run")
        query(other, "RESET SESSION AUTHORIZATION")
        query(other, f"SELECT hopper.{function}(%s)", run)
        assert function == "drop_run" or state(database, run) == "cancelled"
        assert not relations(database, f"hopper_run_{run}%")
        assert any(f"what was made before run {run} began is not dropped" in notice and f'begin with "groups_{function}_"' in notice
                   for notice in other.notices)
        other.close()
    query(database, "DROP OWNED BY hopper_auto_group; DROP ROLE hopper_auto_group")


def test_a_cancel_that_is_interrupted_cancels_nothing(database):
    run = submit(database, "kept", 600, function="create_run")
    before = relations(database, "kept%") + relations(database, f"hopper_run_{run}%")
    other = connect(DATABASE)
    query(other, "BEGIN; LOCK TABLE kept_steps")
    query(database, "SET statement_timeout = '1s'")
    for function in ("cancel", "drop_run"):
        with pytest.raises(psycopg2.errors.QueryCanceled):
            query(database, f"SELECT hopper.{function}(%s)", run)
    query(database, "RESET statement_timeout")
    other.close()
    assert relations(database, "kept%") + relations(database, f"hopper_run_{run}%") == before
    query(database, "SELECT hopper.cancel(%s)", run)
    assert not relations(database, "kept%") and not relations(database, f"hopper_run_{run}%")


def test_of_a_temporary_table_no_run_is_made(database):
    """At its end the run reads the rows for the test, in another session perhaps."""
    query(database, "CREATE TEMPORARY TABLE passing AS SELECT * FROM points")
    query(database, "CREATE VIEW passing_rows AS SELECT * FROM passing")
    for source in ("passing", "passing_rows"):
        with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState, match=f'"{source}" is temporary'):
            value(database, "SELECT hopper.submit(%s)", CALL.format("of_passing", 1, "").replace("points", source))
    assert not relations(database, "of\\_passing%")
    query(database, CALL.format("of_passing", 1, "").replace("points", "passing"))
    query(database, "DROP TABLE passing CASCADE")


def test_it_takes_the_place_of_an_earlier_one_at_its_end(database):
    query(database, CALL.format("replaced", 1, ""))
    first = value(database, "SELECT obj_description('replaced_steps'::regclass)")
    models = value(database, "SELECT 'replaced'::regclass::oid")
    run = submit(database, "replaced", 600, ", replace => true")
    assert value(database, "SELECT obj_description('replaced_steps'::regclass)") != first
    query(database, "SELECT hopper.cancel(%s)", run)
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "cancelled"
    # The models are the earlier ones, and predict.
    assert value(database, "SELECT 'replaced'::regclass::oid") == models
    query(database, "SELECT hopper.drop_run(%s)", run)
    assert len(steps(database, "replaced")) == 4
    assert steps(database, "replaced")[3][1:3] == ("search", "cancelled: the models are those of an earlier call")
    run = submit(database, "replaced", 2, ", replace => true")
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "done"
    expect_whole(database, "replaced")
    assert value(database, "SELECT 'replaced'::regclass::oid") != models


def test_a_second_call_with_its_name_is_refused_at_once(database):
    run = submit(database, "wanted", 600)
    for again in ("", ", replace => true"):
        with pytest.raises(psycopg2.errors.ObjectInUse, match=f'run {run} is making "wanted"') as error:
            submit(database, "wanted", 1, again)
        assert f"hopper.cancel({run})" in error.value.diag.message_hint
    query(database, "SELECT hopper.cancel(%s)", run)
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "cancelled"
    submit(database, "wanted", 600, function="create_run")  # the name is free again


def test_of_a_failed_run_that_another_call_has_replaced_nothing_is_dropped(database):
    run = submit(database, "old", 600, function="create_run")
    query(database, "UPDATE hopper.all_runs SET outcome = 'failed', ended = now() WHERE run = %s", run)
    query(database, CALL.format("old", 1, ", replace => true"))
    query(database, "SELECT hopper.cancel(%s)", run)
    assert state(database, run) == "cancelled"
    expect_whole(database, "old")
