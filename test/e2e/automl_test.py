"""automl(): the same search whatever trains it, survivors as if they had never paused, budgets that are kept."""

import re

import pytest
from digits import GREENPLUM, PLAIN, create_database, drop_database, query, value

DATABASE = "hopper_automl"
GRID = """{'loss': ['categorical_crossentropy'], 'metrics': [['accuracy']],
    'optimizer_params_list': [{'optimizer': ['Adam', 'SGD'], 'lr': [0.0003, 0.3, 'log']}]}"""
CALL = ("SELECT * FROM hopper.automl(packed_table => 'packed', model_table => %s, model_arch_table => 'architectures',"
        " model_selection_table => %s, model_id_list => ARRAY[1, 2], compile_params_grid => %s,"
        " fit_params_grid => '{''batch_size'': [32, 64]}', validation_table => 'packed_validation', seed => 7")


@pytest.fixture(scope="module")
def connection():
    connection = create_database(DATABASE)
    query(connection, "SET client_min_messages = warning")
    yield connection
    connection.close()
    drop_database(DATABASE)


@pytest.fixture(scope="module")
def unlike(connection):
    """Architectures of which one has eight times the other's arithmetic; their operations."""
    for hidden in (64, 8):
        query(connection, "SELECT hopper.mlp(model_arch_table => 'unlike', packed_table => 'packed',"
                          f" hidden => ARRAY[{hidden}])")
    flops = [value(connection, "SELECT flops FROM hopper.describe_model('unlike', %s) WHERE layer = 'total'", model_id)
             for model_id in (1, 2)]
    assert 7.8 < flops[0] / flops[1] < 8.2
    return flops


def search(connection, name, more="", grid=GRID, architectures="architectures"):
    return query(connection, CALL.replace("architectures", architectures) + more + ")", name, name + "_best", grid)[0]


def trials(connection, name):
    return query(connection, f"SELECT mst_key, parameters, iterations, value, status FROM {name}_trials ORDER BY 1")


# Each with what lets its decisions depend on results.
ALGORITHMS = {
    "grid": "num_iterations=2", "random": "num_configs=8, num_iterations=2", "sobol": "num_configs=8, num_iterations=2",
    "successive_halving": "num_configs=9, R=9", "hyperband": "R=9", "asha": "num_configs=12, R=9",
    "median": "num_configs=12, num_iterations=4, min_trials=3", "tpe": "num_configs=12, num_iterations=2, num_startup=4",
    "bohb": "R=9", "gp": "num_configs=10, num_iterations=2, num_startup=4", "pbt": "population=5, generations=3"}


def test_all_algorithms_are_here(connection):
    assert [name for name, in query(connection, "SELECT algorithm FROM hopper.search_algorithms()")] == list(ALGORITHMS)


def everything(connection, name, result):
    """What a search decided and found; nothing that a clock has measured."""
    rows = [query(connection, f"SELECT {columns} FROM {name}{table} ORDER BY 1, 2") for table, columns in (
        ("_trials", "*"), ("_rungs", "*"), ("_decisions", "*"), ("_best", "*"),
        ("_info", "mst_key, state_digest, search_place, s, i, training_loss_final, validation_loss_final,"
                  " training_metrics_all, validation_metrics_all, metrics_iters"),
        ("", "mst_key, md5(model_weights)"), ("_state", "mst_key, md5(state)"))]
    return [result[1:7]] + rows


@pytest.mark.parametrize("method", list(ALGORITHMS))
def test_the_same_search_on_any_number_of_threads(connection, unlike, method):
    found = []
    grid = GRID.replace("[0.0003, 0.3, 'log']", "[0.001, 0.01]") if method == "grid" else GRID
    for threads in (1, 2, 5):
        result = search(connection, "threaded", f", automl_method => '{method}', automl_params => '{ALGORITHMS[method]}',"
                        f" objective => 'accuracy', parallel => 4, threads => {threads}, replace => true", grid, "unlike")
        found.append(everything(connection, "threaded", result))
    for ours, other, another in zip(*found):
        assert ours == other == another
    used = {trial["model_id"] for trial, in query(connection, "SELECT parameters FROM threaded_trials")}
    assert used == {1, 2}
    if method == "hyperband":
        # Brackets 9-3-1, 3-1 (floor variant) and 3 configurations: their cumulative cost.
        assert found[0][0][3] == 15 and found[0][0][5] == 9 + 3 * 2 + 6 + 3 * 3 + 6 + 3 * 9


@pytest.mark.parametrize("objective", ["accuracy", "loss"])
@pytest.mark.parametrize("method", list(ALGORITHMS))
def test_a_value_is_that_of_the_weights(connection, unlike, method, objective):
    """What a search announces is what evaluate() finds; no model that it has kept is better."""
    grid = GRID.replace("[0.0003, 0.3, 'log']", "[0.03, 0.3]" if method == "grid" else "[0.01, 1.0, 'log']")
    result = query(connection, CALL.replace("architectures", "unlike").replace("{''batch_size''", "{''patience'': [1, 3], ''batch_size''") +
                   f", automl_method => '{method}', automl_params => '{ALGORITHMS[method].replace('num_iterations=2', 'num_iterations=6')}',"
                   f" objective => '{objective}', parallel => 4, replace => true)", "valued", "valued_best", grid)[0]
    sign = -1 if objective == "accuracy" else 1
    found = {}
    for mst_key, value_told, fit_params in query(connection, "SELECT mst_key, t.value, fit_params FROM valued_trials t"
                                                 " JOIN valued v USING (mst_key) WHERE status <> 'failed'"):
        assert f"monitor='val_{objective}'" in fit_params
        column = "metric" if objective == "accuracy" else "loss"
        found[mst_key] = value(connection, f"SELECT {column} FROM hopper.evaluate('valued', 'packed_validation',"
                                           f" mst_key => {mst_key})")
        assert found[mst_key] == pytest.approx(value_told, abs=1e-6)
    assert found[result[1]] == pytest.approx(result[3], abs=1e-6)
    assert sign * found[result[1]] <= min(sign * other for other in found.values()) + 1e-6
    # What was trained is what is counted.
    assert result[6] <= value(connection, "SELECT sum(iterations) FROM valued_info")
    assert query(connection, "SELECT t.iterations FROM valued_trials t JOIN valued_info i USING (mst_key)"
                             " WHERE t.iterations <> i.iterations") == []


def test_early_stopping_leaves_the_rest_of_a_budget_to_others(connection):
    """Configurations that stop after a few of their twelve iterations: all twenty are tried within sixty or more."""
    result = query(connection, CALL.replace("{''batch_size''", "{''patience'': [0], ''batch_size''") +
                   ", automl_method => 'random', automl_params => 'num_configs=20, num_iterations=12', max_iterations => 90,"
                   " objective => 'accuracy')", "frugal", "frugal_best", GRID.replace("[0.0003, 0.3, 'log']", "[1.0, 10.0, 'log']"))[0]
    trained = value(connection, "SELECT sum(iterations) FROM frugal_info")
    assert result[6] == trained <= 90
    assert result[4] > 90 // 12


def test_virtual_time_counts_floating_point_operations(connection, unlike):
    """Three forward passes of each row and epoch; all of these begin at once."""
    query(connection, "SELECT hopper.automl('packed', 'counted', 'unlike', 'counted_best', ARRAY[1, 2], %s,"
                      " '{''batch_size'': [32], ''epochs'': [1, 3]}', 'grid', 'num_iterations=2', 7)",
          GRID.replace("[0.0003, 0.3, 'log']", "[0.001]").replace("'Adam', 'SGD'", "'Adam'"))
    rows = value(connection, "SELECT sum(n) FROM packed")
    counted = {(parameters["model_id"], parameters["epochs"]): time for parameters, time in query(
        connection, "SELECT parameters, virtual_time FROM counted_rungs JOIN counted_trials USING (mst_key)")}
    assert counted == {(model_id, epochs): 3 * (unlike[model_id - 1] + 1) * float(rows) * epochs * 2
                       for model_id in (1, 2) for epochs in (1, 3)}


def test_a_survivor_is_what_it_would_be_without_pauses(connection):
    best = search(connection, "paused", ", automl_params => 'R=9, eta=3'")[1]
    assert value(connection, f"SELECT iterations FROM paused_info WHERE mst_key = {best}") == 9
    query(connection, "CREATE TABLE straight AS SELECT mst_key, model_id, compile_params, fit_params FROM paused_trials")
    query(connection, "CREATE TABLE straight_summary AS SELECT * FROM paused_best_summary")
    query(connection, "SELECT hopper.fit_multiple_model('packed', 'straight_models', 'straight', 9, seed => 7,"
                      f" validation_table => 'packed_validation', mst_keys => {best})")
    same = f"SELECT state_digest FROM {{}}_info WHERE mst_key = {best}"
    assert value(connection, same.format("straight_models")) == value(connection, same.format("paused"))


def test_outputs_have_madlibs_columns(connection):
    best = search(connection, "columns", ", automl_params => 'R=6, eta=3'")[1]
    assert query(connection, "SELECT mst_key FROM columns_best") == [(best,)]
    assert query(connection, "SELECT automl_method, automl_params, random_state FROM columns_summary") == [
        ("hyperband", "R=6, eta=3", "7")]
    assert value(connection, "SELECT bool_and(s IS NOT NULL AND i IS NOT NULL) FROM columns_info")
    # The model predicts, and only what may be trained on has kept its state.
    assert value(connection, "SELECT hopper.predict(model_table => 'columns', source_table => 'digits', id_col => 'id',"
                             f" output_table => 'columns_predicted', pred_type => 'response', mst_key => {best})") == 1797
    stopped = value(connection, "SELECT count(*) FROM columns_trials WHERE status = 'stopped'")
    assert stopped > 0
    assert value(connection, "SELECT count(*) FROM columns_state JOIN columns_trials USING (mst_key)"
                             " WHERE status = 'stopped'") == 0


@pytest.mark.parametrize("method", ["random", "sobol", "successive_halving", "hyperband", "asha", "median", "tpe",
                                    "bohb", "gp", "pbt"])
def test_every_algorithm_ends_within_its_budget(connection, method):
    result = search(connection, method, f", automl_method => '{method}', max_configs => 12, max_iterations => 40,"
                                        " objective => 'accuracy'")
    assert result[2] == "validation accuracy" and 0.5 < result[3] <= 1
    assert result[4] <= 12 and result[6] <= 40
    assert value(connection, f"SELECT max(value) FROM {method}_trials") == result[3]


def test_a_trial_that_goes_on_from_another_says_so(connection):
    search(connection, "population", ", automl_method => 'pbt', objective => 'accuracy'",
           GRID.replace("'Adam', 'SGD'", "'Adam'"))
    children = query(connection, "SELECT mst_key, parent FROM population_trials WHERE parent IS NOT NULL")
    assert children
    # It has the metrics of the iterations before, which were its parent's.
    mst_key, parent = children[0]
    metrics = "SELECT validation_loss[1] FROM population_info WHERE mst_key = %s"
    assert value(connection, metrics, mst_key) == value(connection, metrics, parent)


def test_configurations_that_fail_are_told(connection):
    grid = GRID.replace("[0.0003, 0.3, 'log']", "[0.01, 1e30]").replace("'Adam', 'SGD'", "'SGD'")
    result = search(connection, "failing", ", automl_method => 'grid', automl_params => 'num_iterations=2'", grid)
    assert result[4] == 8 and result[5] == 4
    assert value(connection, "SELECT count(*) FROM failing_trials WHERE status = 'failed' AND value IS NULL") == 4


def scans(connection):
    """Of the packed tables, by all statements that have ended."""
    query(connection, "SELECT pg_stat_force_next_flush()")
    return value(connection, "SELECT sum(seq_scan + coalesce(idx_scan, 0)) FROM pg_stat_user_tables"
                             " WHERE relname IN ('packed', 'packed_validation')")


def test_a_search_is_one_run_of_which_a_timeline_is_kept(connection):
    before = scans(connection)
    search(connection, "one_run", ", automl_params => 'R=9, eta=3'")
    read = scans(connection) - before
    search(connection, "one_trial", ", automl_method => 'random', automl_params => 'num_configs=1, num_iterations=1'")
    assert read == scans(connection) - before - read > 0
    runs, visited = query(connection, "SELECT count(DISTINCT run), count(DISTINCT mst_key) FROM hopper.run_timeline('one_run')")[0]
    assert (runs, visited) == (1, value(connection, "SELECT count(*) FROM one_run_info"))
    assert query(connection, "SELECT num_iterations, models_trained, models_failed FROM one_run_summary") == [(9, visited, 0)]


def wide(connection, name, limit, hidden="1, 2", more="", grid=GRID, params="R=9, eta=3"):
    query(connection, f"SET hopper.memory_limit = '{limit}'")
    try:
        return query(connection, CALL.replace("'architectures'", "'wide'").replace("ARRAY[1, 2]", f"ARRAY[{hidden}]")
                     + f", automl_params => '{params}'" + more + ")", name, name + "_best", grid)[0]
    finally:
        query(connection, "RESET hopper.memory_limit")


@pytest.fixture(scope="module")
def networks(connection):
    for hidden in (2000, 3000, 100):
        query(connection, f"SELECT hopper.mlp(model_arch_table => 'wide', packed_table => 'packed', hidden => ARRAY[{hidden}])")


def outcome(connection, name):
    return (trials(connection, name),
            query(connection, f"SELECT mst_key, state_digest FROM {name}_info WHERE status <> 'failed' ORDER BY 1"),
            query(connection, f"SELECT mst_key, md5(state) FROM {name}_state ORDER BY 1"),
            query(connection, f"SELECT mst_key, md5(model_weights) FROM {name} ORDER BY 1"))


def temporary_files(connection):
    """How many this database's sessions have written, this one's last statement included."""
    query(connection, "SELECT pg_stat_force_next_flush()")
    return value(connection, "SELECT temp_files FROM pg_stat_database WHERE datname = current_database()")


def test_trials_rest_in_their_tables_where_memory_is_short(connection, networks):
    written = []
    for name, limit in (("roomy", "1GB"), ("tight", "12MB")):
        before = temporary_files(connection)
        wide(connection, name, limit)
        assert temporary_files(connection) == before
        written.append(value(connection, "SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = %s", name + "_state"))
    # A state once, or each time that its trial rests.
    assert 0 < written[0] < written[1]
    assert outcome(connection, "tight") == outcome(connection, "roomy")


SLOW_STATES = """CREATE FUNCTION pg_temp.wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.2); RETURN NEW; END';
    CREATE FUNCTION pg_temp.slow() RETURNS event_trigger LANGUAGE plpgsql AS $$
    DECLARE made record;
    BEGIN
      FOR made IN SELECT objid::regclass AS name FROM pg_event_trigger_ddl_commands() JOIN pg_class c ON c.oid = objid
        WHERE command_tag = 'CREATE TABLE' AND relname LIKE '%_state' LOOP
        EXECUTE format('CREATE TRIGGER slow BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION pg_temp.wait()', made.name);
      END LOOP;
    END $$;
    CREATE EVENT TRIGGER slow ON ddl_command_end EXECUTE FUNCTION pg_temp.slow()"""


def test_what_is_written_for_its_memory_has_all_its_values(connection, networks):
    """Also where it ends while another one is written, and nobody has heard of it yet."""
    values = "SELECT mst_key, iteration, split, metric, value FROM hopper.learning_curves('{}') ORDER BY 1, 2, 3, 4"
    search = {"more": ", automl_method => 'random', parallel => 3", "params": "num_configs=10, num_iterations=1"}
    wide(connection, "told", "1GB", **search)
    query(connection, SLOW_STATES)
    try:
        wide(connection, "untold", "16MB", **search)
    finally:
        query(connection, "DROP EVENT TRIGGER slow")
    assert query(connection, values.format("untold")) == query(connection, values.format("told"))


def test_a_trial_that_begins_anew_leaves_nothing_of_what_was_written_for_its_memory(connection, networks):
    """A space so small that later brackets come back to trials that were stopped, whose states are gone."""
    grid = GRID.replace("[0.0003, 0.3, 'log']", "[0.003]")
    for name, limit in (("anew", "1GB"), ("anew_tight", "9MB")):
        wide(connection, name, limit, "1", grid=grid)
    assert value(connection, "SELECT count(*) FROM (SELECT 1 FROM anew_decisions WHERE decision IN ('stopped', 'completed')"
                             " GROUP BY mst_key HAVING count(*) > 1) s") > 0
    assert outcome(connection, "anew_tight") == outcome(connection, "anew")


def test_a_trial_above_the_memory_limit_fails_alone(connection, networks):
    result = wide(connection, "above", "8MB")
    assert 0 < result[5] < result[4]
    assert query(connection, "SELECT DISTINCT error FROM above_info WHERE status = 'failed'") == [
        ("configuration does not fit into memory",)]


def test_a_trial_that_the_run_has_not_planned_for_is_trained_nevertheless(connection, networks):
    # The first one is small, and all data stay in memory beside it: the third one does not fit there.
    for name, limit in (("planned", "1GB"), ("unplanned", "9.9MB")):
        wide(connection, name, limit, "3, 2", ", parallel => 1")
    assert outcome(connection, "unplanned") == outcome(connection, "planned")
    runs = "SELECT count(DISTINCT run) FROM hopper.run_timeline('{}')"
    assert value(connection, runs.format("planned")) == 1 < value(connection, runs.format("unplanned"))


def test_trainings_after_the_first_call_tables_by_the_names_that_they_will_have(connection, networks):
    more = ", parallel => 1, replace => true"
    wide(connection, "further", "1GB", "3, 2", more)
    del connection.notices[:]
    query(connection, "SET client_min_messages = notice")
    # Some of the models fail, with a WARNING.
    grid = GRID.replace("[0.0003, 0.3, 'log']", "[0.0003, 1e30, 'log']")
    try:
        wide(connection, "further", "9.9MB", "3, 2", more, grid)
    finally:
        query(connection, "SET client_min_messages = warning")
    assert any(line.startswith('WARNING:  automl "further": configuration') for line in connection.notices)
    assert [line for line in connection.notices if "hopper_new" in line] == []
    assert query(connection, "SELECT DISTINCT output_name FROM hopper.journal_runs"
                             " WHERE output = 'further'::regclass") == [("further",)]
    assert value(connection, "SELECT count(DISTINCT run) FROM hopper.run_timeline('further')") > 1
    assert query(connection, "SELECT models_trained, models_failed FROM further_summary") == query(
        connection, "SELECT count(CASE status WHEN 'done' THEN 1 END), count(CASE status WHEN 'failed' THEN 1 END) FROM further_info")


def test_a_search_needs_no_rights_on_other_functions(connection, networks):
    """Also where it goes on in another training: fit_multiple_model() may be kept from the role."""
    query(connection, "DROP ROLE IF EXISTS hopper_searcher")
    query(connection, "CREATE ROLE hopper_searcher")
    query(connection, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO hopper_searcher")
    query(connection, "GRANT CREATE ON SCHEMA public TO hopper_searcher")
    query(connection, "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA hopper FROM PUBLIC")
    query(connection, "GRANT EXECUTE ON FUNCTION hopper.automl TO hopper_searcher")
    try:
        query(connection, "SET ROLE hopper_searcher")
        wide(connection, "kept_from", "9.9MB", "3, 2", ", parallel => 1")
    finally:
        query(connection, "RESET ROLE")
        query(connection, "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA hopper TO PUBLIC")
        query(connection, "DROP OWNED BY hopper_searcher; DROP ROLE hopper_searcher")


TOWER = """{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Flatten", "config": {}},
    {"class_name": "Dense", "config": {"units": {"hopper": "units"}, "activation": "relu"}},
    {"class_name": "Dense", "config": {"units": 10, "activation": "softmax"}}]}}"""


def test_new_architectures_are_not_compared_with_all_others(connection):
    """Counted: rows that a search of n new architectures reads of tables that grow with them."""
    query(connection, "SELECT hopper.load_model('towers', %s)", TOWER)
    query(connection, "SELECT hopper.load_model('towers', replace(%s, '{\"hopper\": \"units\"}', i::text))"
                      " FROM generate_series(1, 400) i", TOWER)
    query(connection, "VACUUM ANALYZE towers")
    space = """{"parameters": {"units": {"type": "int", "low": 381, "high": 480}},
        "compile_params": {"loss": "categorical_crossentropy", "optimizer": "SGD"}, "fit_params": {"batch_size": 512}}"""
    connection.autocommit = False
    try:
        query(connection, "SELECT hopper.automl('packed', 'storeys', 'towers', 'storeys_best', 1, automl_method => 'grid',"
                          " automl_params => 'num_iterations=1', space => %s, parallel => 2)", space)
        read = dict(query(connection, "SELECT relname::text, seq_tup_read + coalesce(idx_tup_fetch, 0)"
                                      " FROM pg_stat_xact_user_tables"))
    finally:
        connection.rollback()
        connection.autocommit = True
    selection = next(name for name in read if name.startswith("storeys_best") and "summary" not in name)
    # 401 rows at once, a hundred trials, twenty of them of architectures that are there.
    assert read["towers"] < 401 + 10 * 100
    assert read[selection] < 10 * 100


@pytest.mark.parametrize("seconds", [0.01, 0.1, 0.3])
def test_a_search_is_cancelled(connection, seconds):
    query(connection, f"SET statement_timeout = {int(1000 * seconds)}")
    try:
        with pytest.raises(Exception, match="statement timeout"):
            search(connection, "cancelled", ", automl_params => 'R=2000, eta=3'")
    finally:
        query(connection, "RESET statement_timeout")
    assert value(connection, "SELECT count(*) FROM pg_class WHERE relname LIKE 'cancelled%%'") == 0


def test_where_all_fail_nothing_is_left(connection):
    grid = GRID.replace("[0.0003, 0.3, 'log']", "[1e30, 1e32]").replace("'Adam', 'SGD'", "'SGD'")
    with pytest.raises(Exception, match="every configuration of the search failed"):
        search(connection, "hopeless", ", automl_method => 'grid'", grid)
    assert value(connection, "SELECT count(*) FROM pg_class WHERE relname LIKE 'hopeless%%'") == 0
    search(connection, "hopeless", ", automl_method => 'grid'", grid.replace("1e30, 1e32", "0.003"))
    earlier = outcome(connection, "hopeless")
    with pytest.raises(Exception, match="every configuration of the search failed"):
        search(connection, "hopeless", ", automl_method => 'grid', replace => true", grid)
    assert outcome(connection, "hopeless") == earlier


@pytest.mark.parametrize("arguments, said", [
    ("metrics_compute_frequency => 0", "metrics_compute_frequency must be at least 1, got 0"),
    ("max_seconds => 'NaN'", "max_seconds must be a number, got NaN"),
    ("target => 'NaN'", "target must be a number, got NaN"),
])
def test_numbers_that_make_no_sense_are_refused(connection, arguments, said):
    with pytest.raises(Exception, match=said):
        search(connection, "senseless", f", automl_method => 'random', {arguments}")


def test_null_keeps_no_model(connection):
    search(connection, "kept", ", automl_method => 'random', automl_params => 'num_configs=3'")
    with pytest.raises(Exception, match='argument "n" must not be null'):
        query(connection, "SELECT hopper.keep_best('kept', NULL)")
    assert value(connection, "SELECT count(*) FROM kept") == 3


def test_time_ends_a_search(connection):
    result = search(connection, "short", ", automl_method => 'random', automl_params => 'num_configs=500',"
                                         " max_seconds => 0.0001")
    assert result[4] == 8
    assert value(connection, "SELECT reason FROM short_decisions WHERE decision = 'ended'") == "its time was up"


def test_nothing_begins_that_would_be_less_than_half_trained(connection):
    """A trial ends before the last half of another's time, or in it: now and then in it."""
    for tenths in range(5, 30):
        search(connection, "timely", ", automl_method => 'random', automl_params => 'num_configs=500, num_iterations=12', parallel => 1,"
                                     f" replace => true, max_seconds => {tenths / 10}")
        reason = value(connection, "SELECT reason FROM timely_decisions WHERE decision = 'ended'")
        assert reason in ("its time was up", "its time would be up before another trial was half trained")
        if "half" in reason:
            return
    pytest.fail("always too late")


@pytest.mark.skipif(GREENPLUM, reason="a hop knows how many iterations it trains")
def test_time_cuts_the_trials_under_way(connection):
    """What would have trained for days ends, with the weights of its best iteration."""
    result = search(connection, "cutting", ", automl_method => 'random', automl_params => 'num_configs=500, num_iterations=100000000',"
                                           " parallel => 3, max_seconds => 0.5, cut => true")
    assert result[4] == 3
    trained = query(connection, "SELECT iterations, best_iteration FROM cutting_info JOIN cutting USING (mst_key)")
    assert len(trained) == 3 and all(1 <= best <= iterations < 100000000 for iterations, best in trained)
    # What the weights predict is what was told of them.
    best, told = result[1], result[3]
    assert value(connection, "SELECT loss FROM hopper.evaluate('cutting', 'packed_validation', mst_key => %s)", best) == pytest.approx(told, rel=1e-5)


@pytest.mark.parametrize("method", ["hyperband", "asha", "tpe", "median"])
def test_time_cuts_off_the_end_of_a_sequence(connection, unlike, method):
    """What comes before is the search without such an end."""
    call = (f", automl_method => '{method}', objective => 'accuracy', parallel => 3, replace => true, automl_params => '"
            + {"hyperband": "R=27, loops=2", "asha": "num_configs=120, R=27", "tpe": "num_configs=120, num_iterations=3",
               "median": "num_configs=120, num_iterations=4"}[method] + "'")
    columns = "decision, mst_key, s, i, iterations, score, parent, reason, virtual_time"
    decided = f"SELECT {columns} FROM {{}}_decisions ORDER BY number"
    rungs = "SELECT mst_key, iterations, objectives, kept, error, virtual_time FROM {}_rungs"
    tried = "SELECT mst_key, parameters, model_id, compile_params, fit_params FROM {}_trials"
    seconds = search(connection, "uncut", call, architectures="unlike")[7]
    whole, results, trials_of_all = (query(connection, text.format("uncut")) for text in (decided, rungs, tried))
    lengths = set()
    # However quick the machine is now: of a hundredth of the time more than trials that begin at once is cut off.
    for share in (0.01, 0.2, 0.4, 0.6):
        search(connection, "cut", f"{call}, max_seconds => {share * seconds}", architectures="unlike")
        some = query(connection, decided.format("cut"))
        end = [decision[0] for decision in some].index("ended")
        lengths.add(end)
        assert some[:end] == whole[:end]
        # What ran is told of, and begins nothing more.
        begun = {"proposed", "promoted", "exploited"}
        assert not begun & {decision[0] for decision in some[end:]}
        assert set(map(str, query(connection, rungs.format("cut")))) <= set(map(str, results))
        assert all(trial in trials_of_all for trial in query(connection, tried.format("cut")))
    assert min(lengths) < len(whole) - 1


def test_a_target_ends_a_search(connection):
    result = search(connection, "reached", ", automl_method => 'random', automl_params => 'num_configs=200',"
                                           " objective => 'accuracy', target => 0.5")
    assert result[4] < 50 and result[3] >= 0.5


def test_some_configurations_are_trained_and_others_stay(connection):
    query(connection, "SELECT hopper.load_model_selection_table('architectures', 'four', ARRAY[1], ARRAY["
                      "$$loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']$$],"
                      " ARRAY['batch_size=16', 'batch_size=32', 'batch_size=64', 'batch_size=128'])")
    fit = "SELECT models_trained FROM hopper.fit_multiple_model('packed', 'some', 'four', 2, warm_start => %s, mst_keys => %s)"
    assert value(connection, fit, False, "{1,2,3}") == 3
    before = dict(query(connection, "SELECT mst_key, state_digest FROM some_info"))
    assert value(connection, fit, True, "{2,4}") == 2
    after = dict(query(connection, "SELECT mst_key, state_digest FROM some_info"))
    assert sorted(after) == [1, 2, 3, 4]
    assert after[1] == before[1] and after[3] == before[3] and after[2] != before[2]
    assert dict(query(connection, "SELECT mst_key, iterations FROM some_info")) == {1: 2, 2: 4, 3: 2, 4: 2}
    with pytest.raises(Exception, match='"four" has no configuration 9'):
        query(connection, fit, True, "{1,9}")


def test_parameters_inside_an_architecture(connection):
    """One row for each different architecture; what cannot be trained fails alone."""
    tower = """{"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Reshape", "config": {"target_shape": [8, 8, 1]}},
        {"class_name": "Conv2D", "config": {"filters": 4, "kernel_size": {"hopper": "kernel"}}},
        {"class_name": "Flatten", "config": {}},
        {"hopper": {"repeat": "depth", "layers": [{"class_name": "Dense", "config": {"units": 8}}]}},
        {"class_name": "Dense", "config": {"units": 10, "activation": "softmax"}}]}}"""
    space = """{"parameters": {"kernel": [3, 9], "depth": {"type": "int", "low": 0, "high": 1}, "batch": [32, 64]},
        "compile_params": {"loss": "categorical_crossentropy", "metrics": ["accuracy"], "optimizer": "Adam"},
        "fit_params": {"batch_size": {"hopper": "batch"}}}"""
    model_id = value(connection, "SELECT hopper.load_model('architectures', %s, name => 'tower')", tower)
    before = value(connection, "SELECT count(*) FROM architectures")
    result = query(connection, "SELECT * FROM hopper.automl('packed', 'filled', 'architectures', 'filled_best', %s, NULL, NULL,"
                               " 'grid', 'num_iterations=1', space => %s, objective => 'accuracy')", model_id, space)[0]
    # A window of 9 x 9 has no place in 8 x 8 pixels.
    assert (result[4], result[5]) == (8, 4)
    assert value(connection, "SELECT count(*) FROM architectures") == before + 2
    failed = query(connection, "SELECT DISTINCT parameters->>'kernel', status FROM filled_trials ORDER BY 1")
    assert failed == [("3", "done"), ("9", "failed")]
    assert value(connection, "SELECT count(*) FROM filled_rungs WHERE error IS NOT NULL") == 4
    assert value(connection, "SELECT hopper.predict(model_table => 'filled', source_table => 'digits', id_col => 'id',"
                             f" output_table => 'filled_predicted', pred_type => 'response', mst_key => {result[1]})") == 1797
    # Where none can be trained that is said before anything is made.
    with pytest.raises(Exception, match="8 x 8|9|kernel"):
        query(connection, "SELECT * FROM hopper.automl('packed', 'unfilled', 'architectures', 'unfilled_best', %s, NULL,"
                          " NULL, 'grid', space => %s)", model_id, space.replace("[3, 9]", "[9, 10]"))
    assert value(connection, "SELECT count(*) FROM pg_class WHERE relname LIKE 'unfilled%%'") == 0


def test_a_constraint_comes_before_the_objective(connection):
    search(connection, "free", ", automl_method => 'grid', automl_params => 'num_iterations=2', objective => 'accuracy'",
           GRID.replace("[0.0003, 0.3, 'log']", "[0.001, 0.01]"))
    search(connection, "bounded", ", automl_method => 'grid', automl_params => 'num_iterations=2',"
                                  " objective => 'accuracy', constraints => 'loss >= 0.5'",
           GRID.replace("[0.0003, 0.3, 'log']", "[0.001, 0.01]"))
    best = "SELECT value FROM hopper.best_config(%s)"
    assert value(connection, "SELECT validation_loss_final FROM bounded_info JOIN bounded_best USING (mst_key)") >= 0.5
    assert value(connection, best, "bounded") < value(connection, best, "free")
    kept = query(connection, "SELECT kept, constraints[1] >= 0.5 FROM bounded_rungs")
    assert all(kept == enough for kept, enough in kept)


def test_what_is_replaced_keeps_its_rights(connection):
    search(connection, "granted", ", automl_method => 'random', automl_params => 'num_configs=2, num_iterations=1'")
    query(connection, "SELECT hopper.grant_model('granted', 'public')")
    query(connection, "GRANT SELECT ON granted_trials, granted_best TO PUBLIC")
    query(connection, "GRANT SELECT (mst_key), REFERENCES (status) ON granted_info TO PUBLIC")
    rights = ("SELECT relname, coalesce(attname, ''), coalesce(attacl, relacl)::text FROM pg_class LEFT JOIN pg_attribute"
              " ON attrelid = pg_class.oid AND attacl IS NOT NULL"
              " WHERE relname LIKE 'granted%%' AND relkind = 'r' ORDER BY 1, 2".replace("%%", "%"))
    before = query(connection, rights)
    assert sum("=r/" in (acl or "") for _, _, acl in before) >= 5
    assert [name for _, name, _ in before if name] == ["mst_key", "status"]
    search(connection, "granted", ", automl_method => 'random', automl_params => 'num_configs=2, num_iterations=1',"
           " replace => true")
    assert query(connection, rights) == before


def told(connection, *arguments):
    """What a search says beside its progress."""
    query(connection, "SET client_min_messages = notice")
    del connection.notices[:]
    search(connection, *arguments)
    query(connection, "SET client_min_messages = warning")
    return list(connection.notices)


RUNG = (r'NOTICE:  automl "rungs": s=(\d), i=(\d): (\d+) configurations? trained for (\d+) iterations?(?:, (\d+) goe?s? on)?,'
        r' best configuration (\d+) validation accuracy (\d\.\d{4}), [\d.]+ s elapsed\n')


def test_a_line_for_each_rung_of_hyperband(connection):
    said = [re.fullmatch(RUNG, notice) for notice in
            told(connection, "rungs", ", automl_params => 'R=9', objective => 'accuracy'") if " s=" in notice]
    assert all(said)
    query(connection, "SELECT hopper.hyperband_schedule('rungs_schedule', 9)")
    schedule = query(connection, "SELECT s, i, n_i, r_i, lead(n_i) OVER (PARTITION BY s ORDER BY i) FROM rungs_schedule")
    assert sorted(tuple(int(number) if number else None for number in line.groups()[:5]) for line in said) == sorted(schedule)
    for line in said:
        s, i, _, iterations, _, best, accuracy = line.groups()
        there = dict(query(connection, f"SELECT r.mst_key, r.objectives[1] FROM rungs_rungs r WHERE iterations = {iterations}"
                                  " AND mst_key IN (SELECT mst_key FROM rungs_decisions"
                                  f" WHERE s = {s} AND i = {i} AND decision IN ('proposed', 'promoted'))"))
        assert there[int(best)] == max(there.values()) and f"{there[int(best)]:.4f}" == accuracy


def test_without_rungs_a_line_for_each_length(connection):
    said = [notice for notice in told(connection, "lengths", ", automl_method => 'asha', automl_params => 'num_configs=30, R=9'")
            if "first to go on" in notice]
    assert [re.search(r"go on to (\d) iterations", notice)[1] for notice in said] == ["3", "9"]


def test_a_space_smaller_than_the_budget_says_so(connection):
    few = GRID.replace("[0.0003, 0.3, 'log']", "[0.01]").replace("'Adam', 'SGD'", "'Adam'")
    said = [told(connection, f"small_{method}", f", automl_method => '{method}'", few) for method in ("random", "grid")]
    sentence = "the search space has no configuration that was not proposed: there are 4 trials"
    assert [sum(sentence in notice for notice in notices) for notices in said] == [1, 0]


@pytest.mark.parametrize("method", ["random", "hyperband", "asha", "gp", "pbt"])
def test_a_space_that_an_earlier_search_has_tried(connection, method):
    """Nothing failed: there is nothing to try."""
    few = GRID.replace("[0.0003, 0.3, 'log']", "[0.01]").replace("'Adam', 'SGD'", "'Adam'")
    if value(connection, "SELECT to_regclass('all_of_it')") is None:
        search(connection, "all_of_it", ", automl_method => 'grid'", few)
    with pytest.raises(Exception, match="nothing is left to try") as raised:
        search(connection, "again", f", automl_method => '{method}', from_run => 'all_of_it'", few)
    assert raised.value.diag.message_detail == '"all_of_it" has tried all configurations of the search space.'


def test_all_to_the_end_takes_no_less_than_one_of_them(connection):
    """A configuration trains on one thread, however many there are."""
    predicted = dict(query(connection, "SELECT item, predicted FROM hopper.explain_automl('packed', 'architectures', ARRAY[1], %s,"
                           " '{''batch_size'': [32]}', 'random', 'num_configs=1, num_iterations=1', threads => 2)", GRID))
    assert predicted["configurations"] == 1
    assert predicted["all to the end"] >= predicted["seconds"] > predicted["seconds of an iteration"]


def test_an_iteration_before_the_last_is_told(connection):
    """Where the least loss counts as the worst, the best iteration is never the last one that learnt something."""
    del connection.notices[:]
    query(connection, "SET client_min_messages = notice")
    query(connection, "SELECT hopper.automl('packed', 'earlier_best', 'architectures', 'earlier_best_best', ARRAY[1], %s,"
                      " $${'batch_size': [32], 'restore_best': [True], 'monitor': ['loss'], 'mode': ['max']}$$, 'grid', 'num_iterations=12',"
                      " seed => 7)", GRID.replace("[0.0003, 0.3, 'log']", "[0.001]").replace("'Adam', 'SGD'", "'Adam'"))
    query(connection, "SET client_min_messages = warning")
    said = [notice for notice in connection.notices if "its best" in notice]
    best, kept, trained = query(connection, "SELECT i.mst_key, i.best_iteration, i.iterations FROM earlier_best_info i"
                                            " JOIN earlier_best_best b USING (mst_key)")[0]
    assert kept < trained == 12
    assert len(said) == 1 and f"configuration {best} has the weights of iteration {kept} of 12, its best" in said[0]


def test_what_an_earlier_search_knows_better_is_named(connection):
    grid = GRID.replace("[0.0003, 0.3, 'log']", "[0.01, 0.005]").replace("'Adam', 'SGD'", "'Adam'")
    once = ", automl_method => 'grid', automl_params => 'num_iterations=%d', objective => 'accuracy'"
    known = search(connection, "known", once % 4, grid)
    notices = told(connection, "worse", once % 1 + ", from_run => 'known'", grid.replace("[0.01,", "[1e-7, 0.01,"))
    better = [notice for notice in notices if "none of its configurations is better" in notice]
    assert len(better) == 1 and better[0].startswith(
        f'NOTICE:  automl "worse": none of its configurations is better than configuration {known[1]} of "known", '
        f"with validation accuracy {known[3]:.4f}"), connection.notices
