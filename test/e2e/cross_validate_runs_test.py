"""cross_validate() in the background: a run trains one fold after the other, and comes to what the call comes to."""

import psycopg2
import pytest
from called_runs import state
from digits import GREENPLUM, connect, create_database, drop_database, query, value, wait_until

DATABASE = "hopper_cross_validate_runs"
CALL = ("SELECT * FROM hopper.cross_validate('shops', '{}', 'open', folds := 3, num_iterations := {}, recipe := 'realmlp_small',"
        " options := '[{{\"hidden\": [8], \"batch_size\": 32}}, {{\"hidden\": [4], \"batch_size\": 64}}]', seed := 4)")
ITERATIONS = 4
MEANS = "SELECT mst_key, metric, rank, mean, deviation, fold_values FROM {}_means ORDER BY metric = 'loss', metric, rank, mst_key"


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    query(connection, "CREATE TABLE shops AS SELECT i AS id, (ARRAY['n', 's', 'e', NULL])[1 + i % 4] AS region, sin(i * 1.7) * 10 ^ (i % 3) AS income,"
                      " i % 3 + sin(i) > 1 AS open FROM generate_series(1, 900) AS i")
    query(connection, "ALTER TABLE shops ADD PRIMARY KEY (id)")
    yield connection
    connection.close()
    drop_database(DATABASE)


@pytest.fixture(scope="module")
def called(database):
    """What the call comes to, and all values of its folds."""
    rows = query(database, CALL.format("called", ITERATIONS))
    assert query(database, MEANS.format("called")) == rows
    return rows, values(database, "called")


def values(connection, name):
    return query(connection, f"SELECT * FROM {name} ORDER BY mst_key, fold, metric")


def relations(connection, pattern):
    return [row[0] for row in query(connection, "SELECT relname FROM pg_class WHERE relkind IN ('r', 'v') AND relname LIKE %s ORDER BY 1", pattern)]


def expect_same(connection, name, run, called):
    assert (query(connection, MEANS.format(name)), values(connection, name)) == called
    assert value(connection, f"SELECT count(*) FROM {name}_folds a FULL JOIN called_folds b USING (id) WHERE a.fold IS DISTINCT FROM b.fold") == 0
    assert relations(connection, f"{name}\\_%") == [f"{name}_folds", f"{name}_means"] and not relations(connection, f"hopper\\_run\\_{run}%")
    expect_means(connection, name, run)


def expect_means(connection, name, run):
    """What the run, and its trials, have in hopper.runs and hopper.trials: the means of what folds were compared by."""
    metric = value(connection, "SELECT best_metric FROM hopper.runs WHERE run = %s", run)
    assert metric.startswith("test ")
    means = query(connection, f"SELECT mst_key, mean FROM {name}_means WHERE metric = %s ORDER BY rank", metric[len("test "):])
    assert len(means) == 2
    assert query(connection, "SELECT function, state, model_table, tables, trials, failed, best_trial, best_value FROM hopper.runs WHERE run = %s", run) == [
        ("cross_validate", "done", name, None, 2, 0, *means[0])]
    assert query(connection, "SELECT trial, value FROM hopper.trials WHERE run = %s ORDER BY trial", run) == sorted(means)


def submit(connection, name, iterations=ITERATIONS, function="submit"):
    if GREENPLUM and function == "submit":
        pytest.skip("on segments nothing trains in the background")
    return value(connection, f"SELECT hopper.{function}(%s)", CALL.format(name, iterations))


def test_the_call_is_one_run(database, called):
    """Whichever folds trained together, and however many models were made on the way."""
    runs = query(database, "SELECT run, created = started AND ended > started, pid FROM hopper.runs WHERE model_table LIKE 'called%%'")
    assert [run[1:] for run in runs] == [(True, None)]
    expect_means(database, "called", runs[0][0])
    assert value(database, "SELECT count(*) FROM hopper.runs WHERE packed_table LIKE 'called%%'") == 1


def test_the_session_ends_and_the_run_goes_on(database, called):
    session = connect(DATABASE)
    before = value(database, "SELECT count(*) FROM hopper.runs")
    run = submit(session, "behind")
    session.close()
    assert value(database, "SELECT hopper.wait(%s, 120)", run) == "done"
    expect_same(database, "behind", run, called)
    assert value(database, "SELECT count(*) FROM hopper.runs") == before + 1
    assert [row[0] for row in query(database, "SELECT detail FROM hopper.run_events WHERE run = %s AND event = 'goes on' ORDER BY at", run)] == [
        '"behind_fold2_models"', '"behind_fold3_models"']


def test_in_steps_of_several_sessions(database, called):
    run = submit(database, "stepped", function="create_run")
    done, steps = "", 0
    while done != "done":
        session = connect(DATABASE)
        done = value(session, "SELECT hopper.step(%s, 0.05)", run)
        session.close()
        steps += 1
        wait_until(lambda: state(database, run) != "running")
    assert steps >= 3
    expect_same(database, "stepped", run, called)


@pytest.mark.skipif(GREENPLUM, reason="a procedure of its own drives no run there")
def test_a_procedure_trains_it(database, called):
    run = submit(database, "proceeded", function="create_run")
    query(database, "CALL hopper.train(%s)", run)
    expect_same(database, "proceeded", run, called)


def test_its_worker_is_killed(database, called):
    """While it trains a fold, and while it ends one."""
    run = submit(database, "killed")
    other = connect(DATABASE)
    query(other, "BEGIN; LOCK TABLE killed")
    for seen in ("pid IS NOT NULL", "wait_event_type = 'Lock'"):
        wait_until(lambda seen=seen: query(database, f"SELECT 1 FROM hopper.runs JOIN pg_stat_activity USING (pid) WHERE run = %s AND {seen}", run))
        query(database, "SELECT pg_terminate_backend(pid) FROM hopper.runs WHERE run = %s", run)
        wait_until(lambda: state(database, run) != "running")
    assert "fold1" in value(database, "SELECT packed_table FROM hopper.runs WHERE run = %s", run) and not values(other, "killed")
    query(other, "COMMIT")
    other.close()
    assert value(database, "SELECT hopper.wait(%s, 120)", run) == "done"
    expect_same(database, "killed", run, called)


def test_a_cancel_leaves_nothing(database):
    for function in ("cancel", "drop_run"):
        run = submit(database, "unwanted", 1000000, "submit" if function == "cancel" else "create_run")
        if function == "cancel":
            wait_until(lambda: state(database, run) == "running")
        query(database, f"SELECT hopper.{function}(%s)", run)
        if function == "cancel":
            assert value(database, "SELECT hopper.wait(%s, 60)", run) == "cancelled"
        assert not relations(database, "unwanted%") and not relations(database, f"hopper\\_run\\_{run}%")


def test_it_pauses_and_goes_on(database, called):
    run = submit(database, "paused")
    query(database, "SELECT hopper.pause(%s)", run)
    assert value(database, "SELECT hopper.wait(%s, 60)", run) in ("paused", "done")
    if state(database, run) == "paused":
        query(database, "SELECT hopper.resume(%s)", run)
    assert value(database, "SELECT hopper.wait(%s, 120)", run) == "done"
    expect_same(database, "paused", run, called)


def test_its_configurations_train_alike(database):
    run = submit(database, "alike", 1000000, "create_run")
    for steer in ("stop_trial({}, 1)", "set_iterations({}, 5)", "add_trials({})", "clone_trial({}, 1, fit_params => 'batch_size=4')"):
        with pytest.raises(psycopg2.errors.FeatureNotSupported, match="compares configurations by folds"):
            query(database, "SELECT hopper." + steer.format(run))
    with pytest.raises(psycopg2.errors.ObjectInUse, match=f'run {run} is making "alike"'):
        submit(database, "alike")
    query(database, "SELECT hopper.cancel(%s)", run)


def test_other_configurations_in_a_later_fold_are_refused(database):
    query(database, "SELECT hopper.training_preprocessor('shops', 'income_packed', 'open', 'income')")
    network = value(database, "SELECT hopper.mlp('networks', 'income_packed', '{4}')")
    query(database, f"SELECT hopper.load_model_selection_table('networks', 'chosen', ARRAY[{network}], ARRAY[$$loss='binary_crossentropy', optimizer='SGD(lr=0.1)'$$],"
                    " ARRAY['batch_size=32'])")
    run = value(database, "SELECT hopper.create_run($$SELECT * FROM hopper.cross_validate('shops', 'changed', 'open', 'income', 2, 3, 'chosen')$$)")
    kept = query(database, "SELECT mst_key, model_id, compile_params, fit_params FROM chosen")[0]
    query(database, "SELECT hopper.step(%s, 0)", run)
    query(database, "INSERT INTO chosen (model_id, compile_params, fit_params) SELECT model_id, compile_params, 'batch_size=64' FROM chosen")
    with pytest.raises(psycopg2.Error, match="have changed since"):
        while True:
            query(database, "SELECT hopper.step(%s, 0)", run)
    query(database, "DELETE FROM chosen WHERE mst_key <> %s", kept[0])
    while value(database, "SELECT hopper.step(%s, 10)", run) != "done":
        pass
    assert value(database, "SELECT count(*) FROM changed_means") > 0


def test_a_fold_that_cannot_be_packed_is_named(database):
    """Whatever packs it calls its rows what the user calls the table; of columns all is told once, before a fold is trained."""
    if GREENPLUM:
        pytest.skip("on segments nothing trains in the background")
    query(database, "CREATE TABLE wards AS SELECT i AS id, CASE WHEN i <= 60 THEN 'b' WHEN i <= 100 THEN 'a' ELSE 'c' END AS ward, 7 AS beds,"
                    " CASE WHEN i > 60 AND i <= 100 THEN i ELSE 7 END AS load, i % 2 = 0 AS late FROM generate_series(1, 130) AS i")
    database.notices.clear()
    query(database, "SET client_min_messages = notice")
    run = value(database, "SELECT hopper.submit($$SELECT * FROM hopper.cross_validate('wards', 'wards_compared', 'late', 'load, beds', 3, 2,"
                          " recipe => 'realmlp_small', options => '{\"restore_best\": false}', group_varname => 'ward', validation_fraction => 0,"
                          " treatments => '{}')$$)")
    query(database, "SET client_min_messages = error")
    told = "".join(database.notices)
    assert told.count('column "beds" is left out') == 1 and told.count("packed ") == 1 and 'packed 70 rows of "wards (fold 1)"' in told
    assert value(database, "SELECT hopper.wait(%s, 120)", run) == "failed"
    error = value(database, "SELECT error FROM hopper.runs WHERE run = %s", run)
    assert error.startswith('no column of "wards (fold 2)" is left to be a feature')
