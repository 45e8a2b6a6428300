"""A run and several sessions: others see it, pause, cancel and remove it, also roles that are not its own."""

import threading

import psycopg2
import pytest

from digits import connect, outputs, pid, query, select, value, wait_until
from called_runs import CONFIGS, FIT, SEARCH, create, in_thread, runs_database, state, wait_for_lock

DATABASE = "hopper_run_sessions"


@pytest.fixture(scope="module")
def database():
    yield from runs_database(DATABASE)


def test_what_a_cancel_interrupts(database):
    run = create(database, "given_up")
    query(database, "SELECT hopper.step(%s, 0)", run)
    assert set(query(database, "SELECT status FROM hopper.trials WHERE run = %s", run)) == {("training",)}
    query(database, "SELECT hopper.cancel(%s)", run)
    assert query(database, "SELECT trial, status FROM hopper.trials WHERE run = %s ORDER BY 1",
                 run) == [(trial, "interrupted") for trial in range(1, 5)]


def test_others_see_the_end_with_its_commit(database):
    """Until the transaction ends it is its driver's: not interrupted, not for others to resume."""
    select(database, "few", CONFIGS[:1])
    for event, ending in (("done", "COMMIT"), ("paused", "COMMIT"), ("done", "ROLLBACK")):
        run = create(database, "committed", "few", 2)
        session = connect(DATABASE)
        if event == "paused":
            query(session, "SET hopper.checkpoint_interval = 0")
            query(database, "SELECT hopper.set_iterations(%s, 1000000)", run)
            assert value(session, "SELECT hopper.step(%s, 0)", run) == "running"
            query(database, "SELECT hopper.pause(%s)", run)
        query(session, "BEGIN")
        assert value(session, "SELECT hopper.step(%s, 600)", run) == event
        assert state(database, run) == value(database, "SELECT hopper.wait(%s, 0)", run) == "running"
        with pytest.raises(psycopg2.errors.ObjectInUse, match=f"driven by process {pid(session)}"):
            query(database, "SELECT hopper.resume(%s)", run)
        if event == "paused":
            query(session, "SELECT hopper.resume(%s)", run)
        query(session, ending)
        session.close()
        if event == "paused":
            wait_until(lambda: state(database, run) == "running")
            query(database, "SELECT hopper.cancel(%s)", run)
            assert value(database, "SELECT hopper.wait(%s, 60)", run) == "cancelled"
        else:
            assert state(database, run) == ("done" if ending == "COMMIT" else "created")
        query(database, "SELECT hopper.drop_run(%s), hopper.drop_model('committed')", run)
    query(database, "DROP TABLE few, few_summary")


def test_between_two_steps_nobody_drives_a_run(database):
    """The session that has stepped it goes on without reading its data again, where no other one has driven it since."""
    run = create(database, "handed_on", "endless", 1000000)
    session, other = connect(DATABASE), connect(DATABASE)
    trained = "SELECT sum(iterations) FROM hopper.trials WHERE run = %s"
    started = "SELECT count(*) FROM hopper.run_events WHERE run = %s AND event = 'started'"
    n = before = 0
    for driver, opens in ((session, True), (session, False), (other, True), (other, False), (session, True), (session, False)):
        assert value(driver, "SELECT hopper.step(%s, 0.5)", run) == "running"
        n += opens
        assert value(database, started, run) == n
        assert value(database, trained, run) > before
        before = value(database, trained, run)
        assert query(database, "SELECT state, pid FROM hopper.runs WHERE run = %s", run) == [("interrupted", None)]
    # As by a pool, between two of its users.
    query(session, "DISCARD ALL")
    assert value(session, "SELECT hopper.step(%s, 0)", run) == "running" and value(database, started, run) == n + 1
    query(database, "SELECT hopper.resume(%s)", run)
    wait_until(lambda: state(database, run) == "running")
    with pytest.raises(psycopg2.errors.ObjectInUse, match="is driven by process") as error:
        query(session, "SELECT hopper.step(%s, 0)", run)
    assert "hopper.pause()" in error.value.diag.message_hint
    query(database, "SELECT hopper.cancel(%s)", run)
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "cancelled"
    for connection in (session, other):
        connection.close()


@pytest.mark.parametrize("end, message", [("cancel", "is cancelled"), ("drop_run", "there is no run")])
def test_a_run_ends_between_two_steps_of_a_session(database, end, message):
    run = create(database, "ended_between", "endless", 1000000)
    session = connect(DATABASE)
    query(session, "SELECT hopper.step(%s, 0)", run)
    query(database, f"SELECT hopper.{end}(%s)", run)
    assert not outputs(database, f"hopper_run_{run}%")
    with pytest.raises(psycopg2.Error, match=message):
        query(session, "SELECT hopper.step(%s, 0)", run)
    session.close()


def test_a_transaction_that_has_stepped_a_run_drives_it_until_it_ends(database):
    run = create(database, "kept", "endless", 1000000)
    session = connect(DATABASE)
    query(session, "BEGIN")
    query(session, "SELECT hopper.step(%s, 0)", run)
    for call in "step(%s, 0)", "resume(%s)", "drop_run(%s)":
        with pytest.raises(psycopg2.errors.ObjectInUse, match=f"driven by process {pid(session)}") as error:
            query(database, f"SELECT hopper.{call}", run)
        assert "A transaction that has called hopper.step() drives it until it ends." in error.value.diag.message_hint
    assert value(session, "SELECT hopper.step(%s, 0)", run) == "running"
    query(session, "COMMIT")
    assert value(database, "SELECT hopper.step(%s, 0)", run) == "running"
    # A step that opens the run notifies others, which cannot be prepared either.
    query(session, "SELECT hopper.step(%s, 0)", run)
    query(session, "BEGIN")
    query(session, "SELECT hopper.step(%s, 0)", run)
    with pytest.raises(psycopg2.errors.FeatureNotSupported, match="a transaction that steps a run cannot be prepared"):
        query(session, "PREPARE TRANSACTION 'stepped'")
    assert state(database, run) == "interrupted"
    query(database, "SELECT hopper.cancel(%s)", run)
    session.close()


def test_a_run_whose_tables_were_given_to_another_role_says_how_it_goes_on(database):
    """As by REASSIGN OWNED, before a role is dropped."""
    query(database, "DROP ROLE IF EXISTS hopper_runs_leaving; CREATE ROLE hopper_runs_leaving LOGIN; GRANT ALL ON SCHEMA public TO"
          " hopper_runs_leaving; GRANT SELECT ON ALL TABLES IN SCHEMA public TO hopper_runs_leaving; SET ROLE hopper_runs_leaving")
    run = create(database, "leaving", "endless", 1000000)
    query(database, "SELECT hopper.step(%s, 0)", run)
    query(database, "RESET ROLE; REASSIGN OWNED BY hopper_runs_leaving TO postgres; SET ROLE hopper_runs_leaving")
    for step in "of this session", "of another driver":
        for table in "", "_info", "_state", "_summary":
            with pytest.raises(psycopg2.errors.InsufficientPrivilege) as error:
                query(database, "SELECT hopper.step(%s, 0)", run)
            assert f'of run {run} belongs to role "postgres" now' in error.value.diag.message_primary, step
            query(database, "RESET ROLE; " + error.value.diag.message_hint.split(";")[0] + "; SET ROLE hopper_runs_leaving")
        assert value(database, "SELECT hopper.step(%s, 0)", run) == "running"
        query(database, f"RESET ROLE; REASSIGN OWNED BY hopper_runs_leaving TO postgres; SET ROLE hopper_runs_leaving")
    query(database, f"RESET ROLE; ALTER TABLE hopper_run_{run} OWNER TO hopper_runs_leaving; SELECT hopper.cancel({run})")
    query(database, f"DROP OWNED BY hopper_runs_leaving; DROP ROLE hopper_runs_leaving; DROP TABLE IF EXISTS hopper_run_{run}_info,"
          f" hopper_run_{run}_state, hopper_run_{run}_summary; SELECT hopper.drop_run({run})")


def test_others_see_it_before_it_commits(database):
    trainer = connect(DATABASE)
    process = pid(trainer)
    with trainer.cursor() as cursor:
        failed = []

        def train():
            try:
                cursor.execute(FIT.format("seen", "endless", 1000000).replace(" => ", " := "))
            except psycopg2.errors.QueryCanceled as error:
                failed.append(error)
        call = threading.Thread(target=train)
        call.start()
        found = lambda: query(database, "SELECT iterations, iterations_total, trials, best_trial, packed_table::text,"
                              " percent IS NOT NULL, trials_training FROM hopper.progress WHERE pid = %s", process)
        wait_until(lambda: found() and found()[0][0] > 0 and found()[0][3])
        before = found()[0]
        assert before[1:3] == (2000000, 2) and before[4:] == ("packed", True, 2)
        wait_until(lambda: found()[0][0] > before[0])
        query(database, "SELECT pg_cancel_backend(%s)", process)
        call.join(60)
    assert failed
    assert not found()
    trainer.close()


def test_it_pauses_and_goes_on(database):
    run = create(database, "paused", "endless", 1000000, "submit")
    wait_until(lambda: state(database, run) == "running")
    training = lambda: query(database, "SELECT trials_training FROM hopper.progress WHERE run = %s AND iterations > 0", run)
    wait_until(training)
    assert training() == [(2,)]
    with pytest.raises(psycopg2.errors.ObjectInUse, match=r"run \d+ is driven by process \d+"):
        query(database, "SELECT hopper.step(%s, 0)", run)
    with pytest.raises(psycopg2.errors.ObjectInUse, match="is driven by process"):
        query(database, "SELECT hopper.resume(%s)", run)
    with pytest.raises(psycopg2.errors.ObjectInUse, match="is driven by process"):
        query(database, "SELECT hopper.drop_run(%s)", run)
    query(database, "SELECT hopper.pause(%s)", run)
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "paused"
    query(database, "SELECT hopper.pause(%s)", run)  # a NOTICE
    query(database, "SELECT hopper.resume(%s)", run)
    wait_until(lambda: state(database, run) == "running")
    query(database, "SELECT hopper.cancel(%s)", run)
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "cancelled"
    events = [row[0] for row in query(database, "SELECT event FROM hopper.run_events WHERE run = %s ORDER BY at", run)]
    # The wish may come before the worker has begun.
    assert events[:2] == ["created", "submitted"] and sorted(events[2:4]) == ["pause", "started"]
    assert events[4:6] == ["paused", "resumed"]
    # a wish may come before its driver has told that it starts
    assert sorted(events[6:]) == ["cancel", "cancelled", "started"]
    with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState, match="is cancelled"):
        query(database, "SELECT hopper.resume(%s)", run)
    query(database, "SELECT hopper.drop_run(%s)", run)
    assert not query(database, "SELECT 1 FROM hopper.runs WHERE run = %s", run)


def test_a_cancel_that_commits_while_its_run_pauses(database):
    """The driver has seen the pause alone, and waits for what else is wished."""
    run = create(database, "both", "endless", 1000000, "submit")
    wait_until(lambda: state(database, run) == "running")
    pausing, cancelling = connect(DATABASE), connect(DATABASE)
    for session, wish in ((pausing, "pause"), (cancelling, "cancel")):
        query(session, "BEGIN")
        query(session, f"SELECT hopper.{wish}(%s)", run)
    query(pausing, "COMMIT")
    assert value(database, "SELECT hopper.wait(%s, 5)", run) == "running"
    query(cancelling, "COMMIT")
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "cancelled"
    for session in (pausing, cancelling):
        session.close()


def test_wishes_do_not_wait_for_a_step(database):
    """A statement that steps holds the run's row until it ends."""
    for wish, seen in (("pause", "paused"), ("cancel", "cancelled")):
        run = create(database, "wished", "endless", 1000000)
        trainer = connect(DATABASE)
        found = []
        call = threading.Thread(target=lambda: found.append(value(trainer, "SELECT hopper.step(%s, 60)", run)))
        call.start()
        wait_until(lambda: state(database, run) == "running")
        query(database, "SET statement_timeout = '5s'")
        with pytest.raises(psycopg2.errors.ObjectInUse, match="is driven by process"):
            query(database, "SELECT hopper.step(%s, 0)", run)
        with pytest.raises(psycopg2.errors.ObjectInUse, match="is driven by process"):
            query(database, "SELECT hopper.drop_run(%s)", run)
        query(database, f"SELECT hopper.{wish}(%s)", run)
        query(database, "RESET statement_timeout")
        call.join(30)
        assert found == [seen] and state(database, run) == seen
        query(database, "SELECT hopper.drop_run(%s)", run)
        trainer.close()


def test_runs_of_other_roles(database):
    query(database, "DROP ROLE IF EXISTS hopper_runs_other")
    query(database, "CREATE ROLE hopper_runs_other LOGIN")
    run = create(database, "mine", "endless", 2)
    stranger = connect(DATABASE)
    query(stranger, "SET SESSION AUTHORIZATION hopper_runs_other")
    for view in ("runs", "trials", "trial_metrics", "run_events", "progress"):
        assert value(stranger, f"SELECT count(*) FROM hopper.{view}") == 0
    for table in ("all_runs", "all_trials", "all_trial_metrics", "all_run_events", "all_run_grants", "all_search_results"):
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            query(stranger, f"SELECT count(*) FROM hopper.{table}")
    for function in ("step", "pause", "resume", "cancel", "drop_run"):
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            query(stranger, f"SELECT hopper.{function}(%s)", run)
    with pytest.raises(psycopg2.errors.UndefinedObject):
        query(stranger, "SELECT hopper.wait(%s)", run)
    stranger.close()
    query(database, "SELECT hopper.drop_run(%s)", run)
    query(database, "DROP ROLE hopper_runs_other")


def test_a_run_is_shown_to_others_and_steered_by_them(database):
    query(database, "DROP ROLE IF EXISTS hopper_runs_group, hopper_runs_member")
    query(database, "CREATE ROLE hopper_runs_group")
    query(database, "CREATE ROLE hopper_runs_member LOGIN IN ROLE hopper_runs_group")
    run = create(database, "shown", "endless", 1000000, "submit")
    wait_until(lambda: state(database, run) == "running")
    member = connect(DATABASE)
    query(member, "SET SESSION AUTHORIZATION hopper_runs_member")
    seen = ("SELECT (SELECT count(*) FROM hopper.runs), (SELECT count(*) FROM hopper.trials) > 0,"
            " (SELECT count(*) FROM hopper.run_events) > 0, (SELECT count(*) FROM hopper.progress)")
    assert query(member, seen) == [(0, False, False, 0)]
    with pytest.raises(psycopg2.errors.InsufficientPrivilege):
        query(member, "SELECT hopper.grant_run(%s, 'hopper_runs_member', 'steer')", run)
    query(database, "SELECT hopper.grant_run(%s, 'hopper_runs_group')", run)
    wait_until(lambda: query(member, seen) == [(1, True, True, 1)])
    for function in ("pause", "cancel", "resume", "drop_run", "step"):
        with pytest.raises(psycopg2.errors.InsufficientPrivilege) as refused:
            query(member, f"SELECT hopper.{function}(%s)", run)
        hint = refused.value.diag.message_hint or ""
        # The others are the owner's alone.
        assert (f"grant_run({run}, 'ROLE', 'steer')" in hint) == (function in ("pause", "cancel", "resume"))
    query(database, "SELECT hopper.grant_run(%s, 'hopper_runs_group', 'steer')", run)
    query(member, "SELECT hopper.pause(%s)", run)
    assert value(member, "SELECT hopper.wait(%s, 60)", run) == "paused"
    for function in ("drop_run", "step"):
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            query(member, f"SELECT hopper.{function}(%s)", run)
    query(member, "SELECT hopper.resume(%s)", run)
    wait_until(lambda: state(member, run) == "running")
    query(member, "SELECT hopper.pause(%s)", run)
    assert value(member, "SELECT hopper.wait(%s, 60)", run) == "paused"
    # nobody drives it: a worker with its owner's rights drops its tables
    query(member, "SELECT hopper.cancel(%s)", run)
    wait_until(lambda: state(member, run) == "cancelled")
    assert not outputs(database, f"hopper_run_{run}%")
    assert "hopper_runs_member" in [row[0] for row in query(
        database, "SELECT role FROM hopper.run_events WHERE run = %s AND event = 'pause'", run)]
    query(database, "SELECT hopper.revoke_run(%s, 'hopper_runs_group')", run)
    assert query(member, seen) == [(0, False, False, 0)]
    query(database, "SELECT hopper.grant_run(%s, 'public')", run)
    assert query(member, seen)[0][0] == 1
    assert value(member, "SELECT hopper.expire_runs('0 days')") == 0
    with pytest.raises(psycopg2.errors.InvalidParameterValue, match='privilege "own" is not known'):
        query(database, "SELECT hopper.grant_run(%s, 'public', 'own')", run)
    with pytest.raises(psycopg2.errors.UndefinedObject):
        query(database, "SELECT hopper.grant_run(%s, 'nobody_of_this_name')", run)
    member.close()
    query(database, "SELECT hopper.drop_run(%s)", run)
    assert value(database, "SELECT count(*) FROM hopper.all_run_grants") == 0
    query(database, "DROP ROLE hopper_runs_member, hopper_runs_group")


def test_a_change_of_state_is_told(database):
    """A client that listens need not ask; psycopg2 takes notifications in with answers."""
    listener = connect(DATABASE)
    query(listener, "LISTEN hopper_runs")
    run = create(database, "told", "endless", 2, "submit")
    told = []

    def ended():
        listener.poll()
        told.extend(notify.payload.split() for notify in listener.notifies)
        del listener.notifies[:]
        return [str(run), "done"] in told
    wait_until(ended)
    assert [event for number, event in told if number == str(run)] == ["created", "submitted", "started", "done"]
    query(database, FIT.format("untold", "endless", 1))
    query(listener, "SELECT 1")
    listener.poll()
    assert not listener.notifies
    listener.close()


def test_a_worker_says_what_it_does(database):
    run = create(database, "active", "endless", 1000000, "submit")
    text = "SELECT query FROM pg_stat_activity JOIN hopper.runs USING (pid) WHERE run = %s"
    wait_until(lambda: "best configuration" in (query(database, text, run) or [("",)])[0][0])
    assert value(database, text, run).startswith('fit "active": ')
    query(database, "SELECT hopper.cancel(%s)", run)
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "cancelled"


def test_old_runs_are_removed(database):
    run = create(database, "old", "endless", 1)
    assert value(database, "SELECT hopper.step(%s, 60)", run) == "done"
    assert value(database, "SELECT hopper.expire_runs('1 day')") == 0
    assert value(database, "SELECT hopper.expire_runs('0 days')") > 0
    assert not query(database, "SELECT 1 FROM hopper.runs WHERE run = %s", run)
    assert value(database, "SELECT count(*) FROM old") == 2


def test_runs_are_removed_by_several_sessions_at_once(database):
    """Each is dropped once, and nobody is told of what another session has dropped meanwhile."""
    query(database, "SELECT hopper.expire_runs('0 days')")
    runs = [create(database, f"removed{number}", "endless", 1) for number in range(4)]
    for run in runs[:3]:
        assert value(database, "SELECT hopper.step(%s, 60)", run) == "done"
    query(database, "SELECT hopper.cancel(%s)", runs[3])
    one, other, third = connect(DATABASE), connect(DATABASE), connect(DATABASE)
    query(one, "BEGIN")
    query(one, "SELECT hopper.drop_run(%s)", runs[1])
    thread, found = in_thread(other, "SELECT hopper.expire_runs('0 days')")
    wait_for_lock(database, other)
    dropping, dropped = in_thread(third, "SELECT hopper.drop_run(%s)", runs[1])
    wait_for_lock(database, third)
    query(one, "COMMIT")
    thread.join(60)
    dropping.join(60)
    assert found == [[(3,)]]
    assert f"there is no run {runs[1]}" in str(dropped[0])
    assert not query(database, "SELECT 1 FROM hopper.runs WHERE run = ANY (%s)", runs)
    for connection in (one, other, third):
        connection.close()


def test_a_run_that_goes_on_is_not_removed(database):
    """It had failed; the session that removes old runs has seen it before it was resumed."""
    query(database, "SELECT hopper.expire_runs('0 days')")
    run = create(database, "failing", "endless", 1000000)
    query(database, f"ALTER TABLE hopper_run_{run}_state RENAME TO away")
    query(database, "SELECT hopper.resume(%s)", run)
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "failed"
    query(database, f"ALTER TABLE away RENAME TO hopper_run_{run}_state")
    one, other = connect(DATABASE), connect(DATABASE)
    query(one, "BEGIN")
    query(one, "SELECT hopper.resume(%s)", run)
    thread, found = in_thread(other, "SELECT hopper.expire_runs('0 days')")
    wait_for_lock(database, other)
    # With the lease it would keep the run's worker away, which starts with the commit.
    assert not query(database, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid::bigint = 1213156434"
                     " AND objsubid = 5 AND objid::bigint = %s", run)
    query(one, "COMMIT")
    thread.join(60)
    assert found == [[(0,)]]
    wait_until(lambda: state(database, run) == "running")
    query(database, "SELECT hopper.cancel(%s)", run)
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "cancelled"
    one.close()
    other.close()


def test_the_role_of_a_run_was_dropped(database):
    query(database, "DROP ROLE IF EXISTS hopper_runs_gone")
    query(database, "CREATE ROLE hopper_runs_gone SUPERUSER LOGIN")
    gone = connect(DATABASE)
    query(gone, "SET SESSION AUTHORIZATION hopper_runs_gone")
    runs = [create(gone, f"orphan{number}", "endless", 3) for number in range(2)]
    gone.close()
    query(database, "REASSIGN OWNED BY hopper_runs_gone TO postgres; DROP ROLE hopper_runs_gone")
    for call in ("stop_trial({}, 1)", "set_iterations({}, 9)", "add_trials({})", "step({})", "resume({})"):
        with pytest.raises(psycopg2.errors.UndefinedObject, match=f"role of run {runs[0]} was dropped") as error:
            query(database, "SELECT hopper." + call.format(runs[0]))
        assert error.value.diag.message_hint == f"hopper.drop_run({runs[0]}) removes it."
    query(database, "SELECT hopper.cancel(%s)", runs[0])
    assert state(database, runs[0]) == "cancelled"
    query(database, "SELECT hopper.drop_run(%s)", runs[1])
    assert value(database, "SELECT hopper.expire_runs('0 days')") > 0
    assert not query(database, "SELECT 1 FROM hopper.runs WHERE run = ANY (%s)", runs)
    assert not outputs(database, f"hopper_run_{runs[0]}%")


def test_runs_that_end_at_once_and_make_the_same_table(database):
    """RENAME waits for the transaction of the first; then its name is taken, and the second keeps its models."""
    first, second = connect(DATABASE), connect(DATABASE)
    runs = [value(database, "SELECT hopper.create_run(%s)", FIT.format("met", "endless", 2)) for _ in range(2)]
    query(first, "BEGIN")
    assert value(first, "SELECT hopper.step(%s, 600)", runs[0]) == "done"
    thread, found = in_thread(second, "SELECT hopper.step(%s, 600)", runs[1])
    wait_until(lambda: found or query(database, "SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"))
    assert not found, found
    query(first, "COMMIT")
    thread.join(60)
    assert found == [[("done",)]]
    assert query(database, "SELECT model_table FROM hopper.runs WHERE run = ANY (%s) ORDER BY run", runs) == [
        ("met",), (f"public.hopper_run_{runs[1]}",)]
    assert value(database, "SELECT detail FROM hopper.run_events WHERE run = %s AND event = 'not published'",
                 runs[1]) == f'"met" is there already, the models are in "public.hopper_run_{runs[1]}"'
    first.close()
    second.close()


def test_who_wishes_while_a_run_ends_is_told(database):
    """Before the last look for wishes: in an event. After it: by an error, once the end has committed."""
    driver, wisher = connect(DATABASE), connect(DATABASE)
    for statement in (FIT.format("ending", "endless", 2), SEARCH.format("ended", 2)):
        run = value(database, "SELECT hopper.create_run(%s)", statement)
        query(wisher, "BEGIN")
        query(wisher, "SELECT hopper.stop_trial(%s, 1)", run)
        thread, found = in_thread(driver, "SELECT hopper.step(%s, 600)", run)
        # It has been opened without the wish; its end waits for it.
        wait_until(lambda: found or query(database, "SELECT 1 FROM hopper.progress WHERE run = %s", run))
        assert not found, found
        query(wisher, "COMMIT")
        thread.join(60)
        assert found == [[("done",)]]
        told = query(database, "SELECT trial, detail FROM hopper.run_events WHERE run = %s AND event = 'steered'", run)
        assert len(told) == 1 and told[0][0] == 1, told
    for wish in ("stop_trial({}, 1)", "cancel({})", "pause({})"):
        query(database, "SELECT hopper.drop_model('ending')")
        run = create(database, "ending", "endless", 2)
        query(driver, "BEGIN")
        assert value(driver, "SELECT hopper.step(%s, 600)", run) == "done"
        thread, found = in_thread(wisher, "SELECT hopper." + wish.format(run))
        wait_for_lock(database, wisher)
        query(driver, "COMMIT")
        thread.join(60)
        assert f"run {run} is done" in str(found[0])
    driver.close()
    wisher.close()


def test_a_run_that_is_to_make_the_same_table_is_told(database):
    first = create(database, "twice_made", "endless", 2)
    del database.notices[:]
    second = create(database, "twice_made", "endless", 2)
    assert f'NOTICE:  run {first} is to make "twice_made", too\n' in "".join(database.notices)
    query(database, "SELECT hopper.cancel(%s), hopper.cancel(%s)", first, second)
    del database.notices[:]
    query(database, "CREATE SCHEMA apart")
    create(database, "twice_made", "endless", 2)
    create(database, "apart.twice_made", "endless", 2)
    assert not any("is to make" in notice for notice in database.notices)
