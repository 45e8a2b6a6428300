"""Runs as rows: they outlive sessions, and they have the bits of a run in one piece."""

import os
import pathlib
import signal
import threading
import time

import psycopg2
import pytest

from digits import ADAM, connect, create_database, drop_database, outputs, pid, query, select, value, wait_until
from called_runs import CONFIGS, FIT, ITERATIONS, SEARCH, create, runs_database, state

DATABASE = "hopper_runs"


@pytest.fixture(scope="module")
def database():
    for connection in runs_database(DATABASE):
        query(connection, FIT.format("straight", "configs", ITERATIONS))
        yield connection


def results(connection, table):
    return query(connection, "SELECT mst_key, state_digest, status, iterations, metrics_iters, training_metrics_all,"
                 f" validation_metrics_all, validation_loss, best_iteration FROM {table}_info ORDER BY 1")


def weights(connection, table):
    return query(connection, f"SELECT mst_key, md5(model_weights) FROM {table} ORDER BY 1")


def expect_as_straight(connection, table):
    assert results(connection, table) == results(connection, "straight")
    assert weights(connection, table) == weights(connection, "straight")


def test_in_the_background(database):
    run = create(database, "behind", function="submit")
    assert value(database, "SELECT hopper.wait(%s, 120)", run) == "done"
    expect_as_straight(database, "behind")
    row = query(database, "SELECT function, model_table, trials, failed, best_trial, best_metric, owner, seconds > 0"
                " FROM hopper.runs WHERE run = %s", run)[0]
    best = value(database, "SELECT mst_key FROM hopper.leaderboard('straight') LIMIT 1")
    assert row == ("fit", "behind", 4, 0, best, "validation accuracy", "postgres", True)
    assert not outputs(database, f"hopper_run_{run}%")
    assert value(database, "SELECT count(*) FROM hopper.run_timeline('behind')") > 0


def test_where_a_publication_has_all_tables(database):
    """The end of a run writes metrics of its checkpoints anew, and drop_run() deletes rows of every table of runs."""
    query(database, "SET client_min_messages = error; CREATE PUBLICATION everything FOR ALL TABLES; RESET client_min_messages")
    try:
        run = create(database, "told")
        while not value(database, "SELECT count(*) FROM hopper.trial_metrics WHERE run = %s", run):
            assert value(database, "SELECT hopper.step(%s, 0)", run) == "running"
        assert value(database, "SELECT hopper.step(%s, 60)", run) == "done"
        query(database, "SELECT hopper.drop_run(%s)", run)
        assert value(database, "SELECT count(*) FROM hopper.all_trial_metrics WHERE run = %s", run) == 0
    finally:
        query(database, "DROP PUBLICATION everything")
    expect_as_straight(database, "told")


def test_a_run_whose_worker_will_not_come(database):
    """Of a copy of the database, or of another server: nobody waits for ever."""
    run = create(database, "copied")
    queued = "UPDATE hopper.all_runs SET queued = pg_postmaster_start_time(), queued_in = %s WHERE run = %s"
    query(database, queued, value(database, "SELECT oid FROM pg_database WHERE datname = current_database()"), run)
    assert state(database, run) == "waiting"
    query(database, "SET statement_timeout = '60s'")
    query(database, "UPDATE hopper.all_runs SET queued = queued - interval '1 second' WHERE run = %s", run)
    assert value(database, "SELECT hopper.wait(%s)", run) == "interrupted"
    query(database, queued, 1, run)
    assert value(database, "SELECT hopper.wait(%s)", run) == "interrupted"
    query(database, "RESET statement_timeout; SELECT hopper.resume(%s)", run)
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "done"
    expect_as_straight(database, "copied")


def test_a_worker_that_is_refused_its_connection_tries_again(database):
    administrator = connect("postgres")
    try:
        query(database, "BEGIN")
        run = create(database, "refused", "endless", 2, function="submit")
        query(administrator, f"ALTER DATABASE {DATABASE} ALLOW_CONNECTIONS false")
        query(database, "COMMIT")
        time.sleep(1)
        assert state(database, run) == "waiting"
        query(administrator, f"ALTER DATABASE {DATABASE} ALLOW_CONNECTIONS true")
        assert value(database, "SELECT hopper.wait(%s, 30)", run) == "done"
    finally:
        query(administrator, f"ALTER DATABASE {DATABASE} ALLOW_CONNECTIONS true")
        administrator.close()


def test_a_role_that_may_not_connect(database):
    query(database, f"DROP ROLE IF EXISTS hopper_runs_kept_out; CREATE ROLE hopper_runs_kept_out LOGIN;"
          f" GRANT ALL ON SCHEMA public TO hopper_runs_kept_out; GRANT SELECT ON ALL TABLES IN SCHEMA public TO hopper_runs_kept_out;"
          f" REVOKE CONNECT ON DATABASE {DATABASE} FROM PUBLIC")
    try:
        query(database, "SET ROLE hopper_runs_kept_out")
        with pytest.raises(psycopg2.errors.InsufficientPrivilege, match='"hopper_runs_kept_out" cannot train in the background') as error:
            create(database, "kept_out", function="submit")
        query(database, "RESET ROLE")
        query(database, error.value.diag.message_hint.split(";")[0])
        query(database, "SET ROLE hopper_runs_kept_out")
        run = create(database, "let_in", function="submit")
        assert value(database, "SELECT hopper.wait(%s, 60)", run) == "done"
    finally:
        query(database, "RESET ROLE; DROP OWNED BY hopper_runs_kept_out; DROP ROLE hopper_runs_kept_out;"
              f" GRANT CONNECT ON DATABASE {DATABASE} TO PUBLIC")


@pytest.mark.parametrize("takes, gives", [
    ("REVOKE CONNECT ON DATABASE {} FROM PUBLIC", "GRANT CONNECT ON DATABASE {} TO PUBLIC"),
    ("ALTER ROLE hopper_runs_refused NOLOGIN", "ALTER ROLE hopper_runs_refused LOGIN")])
def test_a_role_that_may_not_connect_for_a_while(database, takes, gives):
    """Its worker, which has died, is not started again for ever; nor is a run said to wait for one that does not come."""
    if "LOGIN" in takes and value(database, "SHOW server_version_num") >= "170000":
        pytest.skip("workers log in as any role")
    query(database, "DROP ROLE IF EXISTS hopper_runs_refused; CREATE ROLE hopper_runs_refused LOGIN; GRANT ALL ON SCHEMA public TO"
          " hopper_runs_refused; GRANT SELECT ON ALL TABLES IN SCHEMA public TO hopper_runs_refused; SET ROLE hopper_runs_refused")
    run = create(database, "let_in_again", "endless", 1000000, "submit")
    process = "SELECT pid FROM hopper.runs WHERE run = %s"
    query(database, "RESET ROLE")
    wait_until(lambda: state(database, run) == "running")
    died = value(database, process, run)
    try:
        query(database, takes.format(DATABASE))
        query(database, "SELECT pg_terminate_backend(%s)", died)
        wait_until(lambda: state(database, run) == "interrupted")
    finally:
        query(database, gives.format(DATABASE))
    assert value(database, "SELECT detail FROM hopper.run_events WHERE run = %s AND event = 'interrupted'", run).startswith(
        'role "hopper_runs_refused" cannot train in the background. ')
    time.sleep(6)
    assert state(database, run) == "interrupted"
    query(database, "SELECT hopper.resume(%s)", run)
    wait_until(lambda: state(database, run) == "running")
    # It is back before its worker is started again.
    died = value(database, process, run)
    query(database, takes.format(DATABASE))
    query(database, "SELECT pg_terminate_backend(%s)", died)
    query(database, gives.format(DATABASE))
    wait_until(lambda: value(database, process, run) not in (None, died))
    query(database, "SELECT hopper.cancel(%s)", run)
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "cancelled"
    query(database, "DROP OWNED BY hopper_runs_refused; DROP ROLE hopper_runs_refused")


def test_a_role_whose_transactions_only_read(database):
    """What a role's sessions begin with is not for the worker, which would fail and begin anew for ever."""
    query(database, "ALTER ROLE postgres SET default_transaction_read_only = on")
    try:
        run = create(database, "written", function="submit")
        assert value(database, "SELECT hopper.wait(%s, 30)", run) == "done"
    finally:
        query(database, "ALTER ROLE postgres RESET default_transaction_read_only")


@pytest.fixture(scope="module")
def hopeless(database):
    select(database, "hopeless", [(1, 1, "loss='categorical_crossentropy', optimizer=SGD(lr=1e30), metrics=['accuracy']", "batch_size=32")])


def expect_failed_trial(connection, run):
    assert query(connection, "SELECT trial, status, iterations, error LIKE 'loss became NaN%%' FROM hopper.trials WHERE run = %s",
                 run) == [(1, "failed", 0, True)]


def test_it_says_why_all_its_trials_have_failed(database, hopeless):
    run = create(database, "nothing", "hopeless", function="submit")
    assert value(database, "SELECT hopper.wait(%s, 120)", run) == "failed"
    reason = value(database, "SELECT error FROM hopper.runs WHERE run = %s", run)
    assert reason == 'no configuration of "nothing" finished. 1 failed: loss became NaN.'
    assert value(database, "SELECT detail FROM hopper.run_events WHERE run = %s AND event = 'failed'", run) == reason
    expect_failed_trial(database, run)
    assert query(database, "SELECT trials, failed FROM hopper.runs WHERE run = %s", run) == [(1, 1)]
    query(database, "SELECT hopper.resume(%s)", run)  # it is tried again
    assert value(database, "SELECT hopper.wait(%s, 120)", run) == "failed"
    assert value(database, "SELECT error FROM hopper.runs WHERE run = %s", run) == reason
    expect_failed_trial(database, run)


@pytest.mark.parametrize("call", ["SELECT hopper.step(%s, 1)", "SELECT hopper.step(%s, 0)", "CALL hopper.train(%s)"])
def test_a_session_too_keeps_why_all_trials_have_failed(database, hopeless, call):
    run = create(database, "nothing", "hopeless")
    with pytest.raises(psycopg2.Error) as raised:
        for _ in range(10):
            query(database, call, run)
    assert raised.value.pgcode == "22000"
    assert raised.value.diag.message_primary == 'no configuration of "nothing" finished'
    expect_failed_trial(database, run)
    query(database, "SELECT hopper.cancel(%s)", run)


def test_what_has_ended_is_in_progress_no_more(database):
    shown = "SELECT count(*) FROM hopper.progress WHERE pid = pg_backend_pid()"
    # A table that is made has an index built for its long values, of which the server tells in the same place.
    query(database, "DO $$ BEGIN PERFORM " + FIT.format("ended", "configs", 2).partition(" ")[2] + ";"
                    " CREATE TABLE made (long text);"
                    f" IF ({shown}) <> 0 THEN RAISE EXCEPTION 'it is shown'; END IF; END $$")
    assert value(database, shown) == 0
    query(database, "SELECT hopper.drop_model('ended'); DROP TABLE made")


def test_nobody_waits_for_his_own_transaction(database):
    with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState, match="waits for the end of this transaction"):
        query(database, "SELECT hopper.wait(hopper.submit(%s))", FIT.format("unseen", "configs", 2))


def test_a_run_in_the_foreground_is_a_row(database):
    run = value(database, "SELECT max(run) FROM hopper.runs WHERE model_table = 'straight'")
    assert state(database, run) == "done"
    for split, column in (("training", "training_loss"), ("validation", "validation_loss")):
        expected = query(database, f"SELECT mst_key, unnest(metrics_iters), unnest({column}) FROM straight_info")
        found = query(database, "SELECT trial, iteration, value FROM hopper.trial_metrics WHERE run = %s"
                      " AND split = %s AND metric = 'loss'", run, split)
        assert sorted(found) == sorted(row for row in expected if row[2] is not None)
    assert value(database, "SELECT count(*) FROM hopper.trials WHERE run = %s AND digest IN"
                 " (SELECT state_digest FROM straight_info)", run) == 4


def test_session_by_session(database):
    """Each session trains a little and leaves; what it had not written it loses."""
    run = create(database, "stepped")
    sessions = 0
    done = False
    while not done:
        connection = connect(DATABASE)
        query(connection, "SET hopper.checkpoint_interval = 0")
        query(connection, "SET hopper.notice_interval = 0")
        for _ in range(1 + sessions % 2):
            done = value(connection, "SELECT hopper.step(%s, %s)", run, sessions // 4) == "done"
            if done:
                break
        connection.close()
        sessions += 1
        wait_until(lambda: state(database, run) != "running")
    assert sessions > 1
    expect_as_straight(database, "stepped")
    checkpoints = query(database, "SELECT checkpoints, seconds_checkpoints FROM hopper.runs WHERE run = %s", run)[0]
    assert checkpoints[0] > 0 and checkpoints[1] > 0


def test_a_step_of_no_time_trains_an_iteration_of_each_trial(database):
    """Iterations of a small network take less time than the session needs to look."""
    query(database, "CREATE TABLE few_digits AS SELECT * FROM digits ORDER BY id LIMIT 20")
    query(database, "SELECT hopper.training_preprocessor('few_digits', 'packed_few', 'label', 'pixels',"
          " normalizing_const => 16)")
    run = value(database, "SELECT hopper.create_run(%s)",
                FIT.format("seldom", "configs", 1000).replace("'packed'", "'packed_few'"))
    trained = "SELECT trial, iterations FROM hopper.trials WHERE run = %s ORDER BY trial"
    for session in range(2):
        connection = connect(DATABASE)
        for step in range(2):
            before = dict(query(database, trained, run))
            assert value(connection, "SELECT hopper.step(%s, 0)", run) == "running"
            assert all(n - before[trial] <= 1 for trial, n in query(database, trained, run))
        connection.close()
        wait_until(lambda: state(database, run) != "running")
    assert sum(n for _, n in query(database, trained, run)) > 0
    query(database, "SELECT hopper.drop_run(%s)", run)
    query(database, "DROP TABLE few_digits, packed_few, packed_few_summary")


def test_sessions_compare_trials_alike(database):
    """Also those that train some of them alone: by what all have in common."""
    select(database, "unlike", [CONFIGS[0], (2, 2, ADAM.replace("['accuracy']", "['mse']"), "batch_size=50")])
    run = create(database, "compared", "unlike", 100)
    query(database, "SELECT hopper.set_iterations(%s, 1, trial => 1)", run)
    while value(database, "SELECT status FROM hopper.trials WHERE run = %s AND trial = 1", run) != "done":
        connection = connect(DATABASE)
        assert value(connection, "SELECT hopper.step(%s, 0)", run) == "running"
        connection.close()
        wait_until(lambda: state(database, run) != "running")
    assert value(database, "SELECT hopper.step(%s, 60)", run) == "done"
    assert query(database, "SELECT best_metric FROM compared_summary") == [("validation loss",)]


def test_a_procedure_holds_no_snapshot(database):
    """VACUUM of other tables removes their dead rows while a run goes on."""
    run = create(database, "procedure", "endless", 1000000)
    trainer = connect(DATABASE)
    process = pid(trainer)
    query(trainer, "SET hopper.checkpoint_interval = 1")
    other = connect(DATABASE)
    call = threading.Thread(target=lambda: query(trainer, "CALL hopper.train(%s)", run))
    call.start()
    wait_until(lambda: value(other, "SELECT checkpoints FROM hopper.runs WHERE run = %s", run) > 0)
    # but for moments in which it writes
    held = "SELECT backend_xmin IS NOT NULL OR backend_xid IS NOT NULL FROM pg_stat_activity WHERE pid = %s"
    for _ in range(30):
        wait_until(lambda: not value(other, held, process))
    query(other, "CREATE TABLE busy AS SELECT generate_series(1, 1000) AS i")
    query(other, "DELETE FROM busy")

    def is_empty():
        query(other, "VACUUM busy")
        return value(other, "SELECT pg_relation_size('busy')") == 0

    wait_until(is_empty)
    query(other, "DROP TABLE busy")
    query(other, "SELECT hopper.cancel(%s)", run)
    call.join(60)
    assert not call.is_alive()
    assert state(other, run) == "cancelled"
    other.close()
    trainer.close()
    assert not outputs(database, f"hopper_run_{run}%")


@pytest.mark.parametrize("timeout", ["statement_timeout", "transaction_timeout"])
def test_a_timeout_before_the_first_checkpoint_is_due(database, timeout):
    """As of a job whose calls get no further than their role's statement_timeout: each of them keeps what it has trained."""
    trainer = connect(DATABASE)
    if timeout == "transaction_timeout" and value(database, "SHOW server_version_num") < "170000":
        pytest.skip("there is none before PostgreSQL 17")
    run = create(database, timeout, "endless", 1000000)
    query(trainer, f"SET hopper.checkpoint_interval = 3600; SET {timeout} = '4s'")
    trained = "SELECT coalesce(sum(iterations), 0) FROM hopper.trials WHERE run = %s"
    before = 0
    for call in ["CALL hopper.train(%s)"] * 2 * (timeout == "statement_timeout") + ["SELECT hopper.step(%s, 60)"]:
        if call.startswith("CALL"):
            with pytest.raises(psycopg2.errors.QueryCanceled):
                query(trainer, call, run)
        else:
            assert value(trainer, call, run) == "running"
        now = value(database, trained, run)
        assert now > before, call
        before = now
    trainer.close()
    query(database, "SELECT hopper.cancel(%s)", run)


def test_a_session_leaves_the_run_that_it_steps_for_another(database):
    connection = connect(DATABASE)
    first = create(connection, "first", "endless", 1000000)
    assert value(connection, "SELECT hopper.step(%s, 0)", first) == "running"
    second = create(connection, "second", "endless", 1)
    assert state(database, first) == "interrupted"
    assert value(connection, "SELECT hopper.step(%s, 0)", first) == "running"
    assert value(connection, "SELECT hopper.step(%s, 60)", second) == "done"
    assert value(connection, "SELECT hopper.step(%s, 0)", first) == "running"
    query(connection, "SELECT hopper.cancel(%s)", first)
    assert state(connection, first) == "cancelled"
    assert not outputs(connection, f"hopper_run_{first}%")
    connection.close()


def test_a_worker_that_comes_late_leaves_the_run_alone(database):
    """Two workers of a run that was resumed twice: one trains, the other is gone without a trace."""
    run = create(database, "twice", "endless", 1000000)
    query(database, "SELECT hopper.resume(%s), hopper.resume(%s)", run, run)
    wait_until(lambda: state(database, run) == "running")
    time.sleep(1)
    assert state(database, run) == "running"
    query(database, "SELECT hopper.cancel(%s)", run)
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "cancelled"


def test_a_search_in_the_background(database):
    run = value(database, "SELECT hopper.submit(%s)", SEARCH.format("found", 2))
    assert value(database, "SELECT hopper.wait(%s, 120)", run) == "done"
    assert query(database, "SELECT function, model_table, trials FROM hopper.runs WHERE run = %s", run) == [
        ("automl", "found", 3)]
    assert value(database, "SELECT count(*) FROM found") == 3


@pytest.mark.parametrize("method, params", [("hyperband", "R=9, eta=3"), ("pbt", "population=5, generations=4")])
def test_a_search_goes_on_in_other_sessions(database, method, params):
    """The values of metrics are those of a search in the foreground; others see its progress meanwhile."""
    search = ("SELECT hopper.automl('packed', '{0}', 'architectures', '{0}_configs', ARRAY[1, 2], $g${{'loss':"
              " ['categorical_crossentropy'], 'metrics': [['accuracy']], 'optimizer_params_list': [{{'optimizer':"
              " ['Adam'], 'lr': [0.001, 0.1, 'log']}}]}}$g$, $g${{'batch_size': [16, 32]}}$g$, '{1}',"
              " '{2}', seed => 3, validation_table => 'packed_validation')")
    one, other = f"{method}_at_once", f"{method}_later"
    query(database, search.format(one, method, params))
    run = value(database, "SELECT hopper.create_run(%s)", search.format(other, method, params))
    done = False
    while not done:
        session = connect(DATABASE)
        done = value(session, "SELECT hopper.step(%s, 0.01)", run) == "done"
        query(database, "SELECT * FROM hopper.progress")
        session.close()
        wait_until(lambda: state(database, run) != "running")
    metrics = ("SELECT trial, iteration, split, metric, value FROM hopper.trial_metrics WHERE run = (SELECT max(run)"
               " FROM hopper.runs WHERE model_table = %s) ORDER BY 1, 2, 3, 4")
    assert query(database, metrics, other) == query(database, metrics, one)


def test_what_has_changed_is_refused(database):
    run = create(database, "changed", "endless", 3)
    query(database, "UPDATE endless SET fit_params = 'batch_size=64' WHERE mst_key = 2")
    with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState, match="configurations of run") as error:
        query(database, "SELECT hopper.step(%s)", run)
    assert error.value.diag.message_detail == "Configuration 2 has another fit_params."
    query(database, "UPDATE endless SET fit_params = 'batch_size=50' WHERE mst_key = 2")
    query(database, "ALTER TABLE packed_validation RENAME TO kept")
    query(database, "ALTER TABLE packed_validation_summary RENAME TO kept_summary")
    query(database, "SELECT hopper.validation_preprocessor('digits', 'packed_validation', 'label', 'pixels', 'packed')")
    with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState, match="data of run"):
        query(database, "SELECT hopper.step(%s)", run)
    query(database, "SELECT hopper.drop_packed('packed_validation')")
    query(database, "ALTER TABLE kept RENAME TO packed_validation")
    query(database, "ALTER TABLE kept_summary RENAME TO packed_validation_summary")
    assert value(database, "SELECT hopper.step(%s, 60)", run) == "done"


def test_a_name_that_is_taken_meanwhile(database):
    run = create(database, "taken", "endless", 2)
    query(database, "CREATE TABLE taken (a integer)")
    assert value(database, "SELECT hopper.step(%s, 60)", run) == "done"
    own = f"hopper_run_{run}"
    assert value(database, f"SELECT count(*) FROM hopper.leaderboard('{own}')") == 2
    query(database, "DROP TABLE taken")
    query(database, f"SELECT hopper.rename_model('{own}', 'taken')")


def test_it_takes_the_place_of_another(database):
    query(database, FIT.format("replaced", "endless", 1))
    statement = FIT.format("replaced", "endless", 2).replace("seed => 5", "seed => 5, replace => true")
    run = value(database, "SELECT hopper.create_run(%s)", statement)
    assert value(database, "SELECT max(iterations) FROM replaced_info") == 1
    assert value(database, "SELECT hopper.step(%s, 60)", run) == "done"
    assert value(database, "SELECT max(iterations) FROM replaced_info") == 2
    with pytest.raises(psycopg2.errors.DuplicateTable):
        create(database, "replaced", "endless", 2)


def test_a_statement_that_is_rolled_back_leaves_the_run_as_it_was(database):
    run = create(database, "rolled", "endless", 2)
    connection = connect(DATABASE)
    query(connection, "BEGIN")
    assert value(connection, "SELECT hopper.step(%s, 60)", run) == "done"
    query(connection, "ROLLBACK")
    assert state(database, run) == "created"
    assert value(connection, "SELECT hopper.step(%s, 60)", run) == "done"
    connection.close()
    assert value(database, "SELECT count(*) FROM rolled") == 2


def test_bad_input(database):
    for statement, message in [
            ("SELECT 1", "the statement trains nothing"),
            ("DELETE FROM digits", "a run is made of one SELECT"),
            ("SELECT 1; SELECT 2", "a run is made of one SELECT"),
            (FIT.format("a", "endless", 1) + ", " + FIT.format("b", "endless", 1)[7:], "trains more than once"),
            (FIT.format("straight", "endless", 1), "already exists"),
            (FIT.format("a", "endless", 0), "num_iterations")]:
        with pytest.raises(psycopg2.Error, match=message):
            query(database, "SELECT hopper.create_run(%s)", statement)
    for function in ("step", "wait", "pause", "resume", "cancel", "drop_run"):
        with pytest.raises(psycopg2.errors.UndefinedObject, match="there is no run 987654"):
            query(database, f"SELECT hopper.{function}(987654)")
    for call, message in [("step(987654, 'NaN')", "seconds must be a number"), ("wait(987654, 'NaN')", "seconds must be a number"),
                          ("expire_runs('-1 day')", "older_than must not be negative")]:
        with pytest.raises(psycopg2.errors.InvalidParameterValue, match=message):
            query(database, f"SELECT hopper.{call}")
    with pytest.raises(psycopg2.errors.InvalidTransactionTermination):
        query(database, "DO $$ BEGIN CALL hopper.train(1); EXCEPTION WHEN others THEN RAISE; END $$")


def test_a_run_within_the_creation_of_another(database):
    with pytest.raises(psycopg2.errors.ObjectInUse, match="^this session creates another run at this moment"):
        query(database, "SELECT hopper.create_run(%s)", "SELECT hopper.create_run($$" + FIT.format("inner", "endless", 1) + "$$)")


def test_a_new_run_meets_no_table_and_no_driver_of_another(database):
    """Tables and drivers of an extension that was dropped stay, and the numbers of runs begin anew."""
    left = create(database, "left", "endless", 2)
    tables = outputs(database, f"hopper_run_{left}%")
    driven = create(database, "driven", "endless", 1000000, "submit")
    wait_until(lambda: value(database, "SELECT started FROM hopper.runs WHERE run = %s", driven))
    driver = value(database, "SELECT pid FROM hopper.runs WHERE run = %s", driven)
    os.kill(driver, signal.SIGSTOP)
    try:
        query(database, f"SET lock_timeout = '10s'; DROP TABLE {', '.join(outputs(database, f'hopper_run_{driven}%'))}; RESET lock_timeout")
        query(database, "DELETE FROM hopper.all_runs WHERE run >= %s", left)
        query(database, f"ALTER SEQUENCE hopper.journal_run_seq RESTART {left}")
        run = create(database, "anew", "endless", 2)
        assert run not in (left, driven)
    finally:
        os.kill(driver, signal.SIGCONT)
    assert value(database, "SELECT hopper.step(%s, 60)", run) == "done"
    assert value(database, "SELECT count(*) FROM anew") == 2
    assert outputs(database, f"hopper_run_{left}%") == tables
    query(database, f"DROP TABLE {', '.join(tables)}")


def test_a_new_run_is_not_the_one_that_a_session_has_stepped(database):
    """Of an extension that was dropped and made anew, say: its session goes on with another one of that number."""
    driver = connect(DATABASE)
    run = create(database, "of_this_number", "endless", 1000000)
    assert value(driver, "SELECT hopper.step(%s, 0)", run) == "running"
    query(database, "SELECT hopper.drop_run(%s)", run)
    query(database, f"ALTER SEQUENCE hopper.journal_run_seq RESTART {run}")
    assert create(database, "not_stepped", "endless", 2) == run
    assert value(driver, "SELECT hopper.step(%s, 60)", run) == "done"
    assert query(database, "SELECT DISTINCT iterations FROM hopper.trials WHERE run = %s", run) == [(2,)]
    driver.close()

def test_what_runs_leave_behind_an_extension_that_is_dropped():
    """The statement of docs/install.md lists it, and the next extension's runs have other numbers."""
    statement = (pathlib.Path(__file__).parent / "../../docs/install.md").read_text(encoding="utf-8").rpartition("```sql\n")[2].partition(";")[0]
    connection = create_database("hopper_runs_dropped")
    select(connection, "endless", CONFIGS[:2])
    left = create(connection, "left", "endless", 2)
    tables = outputs(connection, f"hopper_run_{left}%")
    query(connection, "DROP EXTENSION model_hopper CASCADE; CREATE EXTENSION model_hopper")
    assert create(connection, "anew", "endless", 2) != left
    query(connection, "SELECT hopper.cancel(run) FROM hopper.runs")
    dropping = [row[0] for row in query(connection, statement)]
    assert sorted(dropping) == [f"DROP TABLE {table}" for table in sorted(tables)]
    query(connection, "; ".join(dropping))
    assert not outputs(connection, "hopper_run_%")
    connection.close()
    drop_database("hopper_runs_dropped")


@pytest.mark.parametrize("change", ["ALTER TABLE {}_state RENAME TO moved", "ALTER TABLE {}_info RENAME TO moved",
                                    "ALTER TABLE {}_summary RENAME TO moved", "ALTER TABLE {} RENAME TO moved",
                                    "DROP TABLE {}_state"])
def test_a_run_whose_table_is_not_found_says_so_and_ends(database, change):
    run = create(database, "without", "endless", 3)
    query(database, change.format(f"hopper_run_{run}"))
    for call in ("step({}, 0)", "publish({}, 'published')"):
        with pytest.raises(psycopg2.errors.UndefinedTable, match=rf'run {run} does not find its table "public.hopper_run_{run}'):
            query(database, f"SELECT hopper.{call.format(run)}")
    del database.notices[:]
    query(database, "SELECT hopper.cancel(%s)", run)
    assert ["was not found" in notice for notice in database.notices] == [True]
    assert state(database, run) == "cancelled"
    assert not outputs(database, f"hopper_run_{run}%")
    query(database, "SELECT hopper.drop_run(%s)", run)
    query(database, "DROP TABLE IF EXISTS moved")


def test_a_run_whose_table_is_dropped_while_it_trains_names_it(database):
    """Not as the table that it is to make, by whose name other messages call it."""
    query(database, f"ALTER DATABASE {DATABASE} SET hopper.checkpoint_interval = 0")
    run = value(database, "SELECT hopper.submit(%s)", FIT.format("without", "endless", "100000, replace => true"))
    wait_until(lambda: query(database, "SELECT 1 FROM hopper.progress WHERE run = %s AND iterations > 0", run))
    query(database, f"DROP TABLE hopper_run_{run}")
    assert value(database, "SELECT hopper.wait(%s, 60)", run) == "failed"
    assert f'"public.hopper_run_{run}"' in value(database, "SELECT error FROM hopper.runs WHERE run = %s", run)
    query(database, f"SELECT hopper.cancel(%s); ALTER DATABASE {DATABASE} RESET hopper.checkpoint_interval", run)


def test_a_run_whose_schema_has_another_name(database):
    """It does not go on, but is cancelled with all of its tables, also by its worker."""
    session = connect(DATABASE)
    query(session, "CREATE SCHEMA shop; SET search_path = shop, public")
    search = SEARCH.format("shop.found", 100000)
    fit = FIT.format("shop.models", "endless", 100000)
    runs = [value(session, "SELECT hopper.create_run(%s)", statement) for statement in (fit, search)]
    worked = value(session, "SELECT hopper.submit(%s)", fit)
    wait_until(lambda: state(session, worked) == "running")
    query(session, "ALTER SCHEMA shop RENAME TO store")
    with pytest.raises(psycopg2.Error, match="shop") as error:
        query(session, "SELECT hopper.step(%s, 0)", runs[0])
    for run in (*runs, worked):
        query(session, "SELECT hopper.cancel(%s)", run)
        assert value(session, "SELECT hopper.wait(%s, 60)", run) == "cancelled"
    assert not query(session, "SELECT relname FROM pg_class WHERE relnamespace = 'store'::regnamespace")
    query(session, "DROP SCHEMA store")
    session.close()
