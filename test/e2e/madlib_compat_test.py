"""sql/compat/madlib.sql: scripts that were written for MADlib run as they are, with MADlib's meanings."""

import subprocess
from pathlib import Path

import psycopg2
import pytest
from digits import GREENPLUM, connect, dense, drop_database, query, sequential, value

SCRIPT = Path(__file__).resolve().parents[2] / "sql/compat/madlib.sql"
DATABASE = "hopper_madlib"
ARCH = sequential(dense("dense_1", 10, "relu"), dense("dense_2", 3, "softmax"), shape=(4,))
COMPILE = "loss='categorical_crossentropy', optimizer='Adam(lr=0.05)', metrics=['accuracy']"


def load():
    return subprocess.run(["psql", "-X", "-q", "-d", DATABASE, "-f", SCRIPT], capture_output=True, text=True)


@pytest.fixture(scope="module")
def connection():
    drop_database(DATABASE)
    admin = connect("postgres")
    query(admin, f'CREATE DATABASE "{DATABASE}"')
    admin.close()
    connection = connect(DATABASE)
    query(connection, "CREATE EXTENSION model_hopper")
    assert load().returncode == 0, load().stderr
    query(connection, "CREATE TABLE flowers (id serial, attributes numeric[], class_text varchar, size integer)")
    query(connection, "INSERT INTO flowers (attributes, class_text, size)"
                      " SELECT ARRAY[i % 3 + random() / 4, i % 3 - random() / 4, random(), 1],"
                      " (ARRAY['setosa', 'versicolor', 'virginica'])[1 + i % 3], 10 * (i % 3)"
                      " FROM generate_series(1, 300) i")
    query(connection, "CREATE TABLE train AS SELECT * FROM flowers WHERE id <= 240")
    query(connection, "CREATE TABLE test AS SELECT * FROM flowers WHERE id > 240")
    query(connection, "SELECT madlib.training_preprocessor_dl('train', 'train_packed', 'class_text', 'attributes')")
    query(connection, "SELECT madlib.validation_preprocessor_dl('test', 'test_packed', 'class_text', 'attributes',"
                      " 'train_packed')")
    query(connection, "SELECT madlib.load_keras_model('library', %s::json, NULL, 'Sophie', 'A simple model')", ARCH)
    yield connection
    connection.close()
    drop_database(DATABASE)


def test_many_models(connection):
    # A list of metrics is a list of alternatives in MADlib.
    query(connection, "SELECT madlib.generate_model_configs('library', 'mst_table', ARRAY[1],"
                      " $$ {'loss': ['categorical_crossentropy'], 'metrics': ['accuracy'],"
                      " 'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [0.01, 0.05]}]} $$,"
                      " $$ {'batch_size': [4, 8], 'epochs': [1]} $$, 'gri')")
    assert value(connection, "SELECT count(*) FROM mst_table") == 4
    # Scripts drop the three tables that MADlib makes.
    for _ in range(2):
        query(connection, "DROP TABLE IF EXISTS multi_model, multi_model_summary, multi_model_info")
        query(connection, "SELECT madlib.madlib_keras_fit_multiple_model('train_packed', 'multi_model', 'mst_table',"
                          " 4, FALSE, 'test_packed', 2, FALSE, 'Sophie L.', 'Model selection')")
    assert query(connection, "SELECT DISTINCT s.metrics_iters, array_upper(training_metrics, 1)"
                             " FROM multi_model_info, multi_model_summary s") == [
        ([2, 4], 2)]
    query(connection, "SELECT madlib.madlib_keras_fit_multiple_model('train_packed', 'multi_model', 'mst_table',"
                      " 3, FALSE, 'test_packed', 1, TRUE, 'Sophie L.', 'Warm start')")
    key = value(connection, "SELECT mst_key FROM multi_model_info ORDER BY validation_metrics_final DESC LIMIT 1")
    query(connection, "SELECT madlib.madlib_keras_evaluate('multi_model', 'test_packed', 'validated', NULL, %s)", key)
    metric, names = query(connection, "SELECT metric, metrics_type FROM validated")[0]
    assert metric > 0.9 and names == ["accuracy"]
    query(connection, "SELECT madlib.madlib_keras_predict('multi_model', 'test', 'id', 'attributes', 'predicted',"
                      " 'response', FALSE, %s)", key)
    assert value(connection, "SELECT count(*) FROM predicted JOIN test USING (id)"
                             " WHERE predicted.class_value <> test.class_text") < 6
    query(connection, "SELECT madlib.predict('multi_model', 'test', 'id', 'attributes', 'predicted_2', 2,"
                      " FALSE, %s)", key)
    assert value(connection, "SELECT count(*) FROM predicted_2") == 120


def test_metrics_of_a_grid_are_alternatives(connection):
    query(connection, "SELECT madlib.generate_model_configs('library', 'alternatives', ARRAY[1],"
                      " $$ {'loss': ['categorical_crossentropy'], 'metrics': ['accuracy', 'mae'],"
                      " 'optimizer_params_list': [{'optimizer': ['SGD']}]} $$, $$ {'batch_size': [8]} $$)")
    assert value(connection, "SELECT count(*) FROM alternatives") == 2


def test_one_model(connection):
    # Without a frequency MADlib takes metrics at the last iteration only; the summary has them.
    for warm in (False, True):
        query(connection, "SELECT madlib.madlib_keras_fit('train_packed', 'one_model', 'library', 1, %s,"
                          " $$ batch_size=8, epochs=2 $$, 3, FALSE, 'test_packed', NULL, %s, 'Sophie', 'one')",
              COMPILE, warm)
        row = query(connection, "SELECT model_id, compile_params, metrics_iters, training_metrics, validation_metrics_final,"
                                " metrics_type, name FROM one_model_summary")[0]
        assert row[0] == 1 and row[1] == COMPILE and row[5:] == (["accuracy"], "Sophie")
        assert row[2][-1] == (6 if warm else 3) and len(row[3]) == len(row[2]) and row[4] > 0.8
    query(connection, "DROP TABLE one_model, one_model_summary")
    query(connection, "SELECT madlib.fit('train_packed', 'one_model', 'library', 1, %s, 'batch_size=8', 1)", COMPILE)


def test_numbers_are_classes(connection):
    query(connection, "SELECT madlib.training_preprocessor_dl('train', 'sizes_packed', 'size', 'attributes', NULL, 2.0,"
                      " ARRAY[5])")
    assert query(connection, "SELECT size_class_values, num_classes, normalizing_const FROM sizes_packed_summary") == [
        ([0, 10, 20, None, None], [5], 2.0)]


def test_unknown_labels_are_a_class(connection):
    query(connection, "CREATE TABLE gaps AS SELECT id, attributes, CASE WHEN id % 5 > 0 THEN class_text END AS y FROM train")
    query(connection, "SELECT madlib.training_preprocessor_dl('gaps', 'gaps_packed', 'y', 'attributes')")
    assert value(connection, "SELECT y_class_values FROM gaps_packed_summary") == [None, "setosa", "versicolor", "virginica"]


@pytest.mark.parametrize("method, params, configurations", [
    ("hyperband", "R=9, eta=3, skip_last=0", 15), ("hyperopt", "num_configs=6, num_iterations=2, algorithm=rand", 6),
    ("hyperopt", "num_configs=6, num_iterations=2, algorithm=tpe", 6), (None, None, 5)])
def test_automl(connection, method, params, configurations):
    query(connection, "DROP TABLE IF EXISTS automl_output, automl_output_info, automl_output_summary, automl_mst,"
                      " automl_mst_summary")
    query(connection, "SELECT madlib.madlib_keras_automl('train_packed', 'automl_output', 'library', 'automl_mst', ARRAY[1],"
                      " $$ {'loss': ['categorical_crossentropy'], 'metrics': ['accuracy'],"
                      " 'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [0.001, 0.1, 'log']}]} $$,"
                      " $$ {'batch_size': [4, 8], 'epochs': [1]} $$, %s, %s, 3, NULL, FALSE, 'test_packed', 1)",
          method, params)
    assert value(connection, "SELECT count(*) FROM automl_mst") == 1
    assert value(connection, "SELECT count(*) FROM automl_output_info") == configurations
    if method == "hyperband":
        # A survivor of all rounds has trained 1 + 3 + 9 iterations.
        assert value(connection, "SELECT max(m) FROM automl_output_info, unnest(metrics_iters) m") == 13


def test_hyperband_schedule(connection):
    query(connection, "SELECT madlib.hyperband_schedule('hb_schedule', 81, 3, 0)")
    assert query(connection, "SELECT s, i, n_i, r_i FROM hb_schedule WHERE s = 4 ORDER BY i") == [
        (4, 0, 81, 1), (4, 1, 27, 3), (4, 2, 9, 9), (4, 3, 3, 27), (4, 4, 1, 81)]


def test_help(connection):
    usage = value(connection, "SELECT madlib.madlib_keras_fit('usage')")
    assert "source_table text" in usage and "num_iterations bigint" in usage
    assert "usage" in value(connection, "SELECT madlib.training_preprocessor_dl('what')")


def test_every_name_that_madlib_has(connection):
    # From MADlib 1.21's reference.
    names = """training_preprocessor_dl validation_preprocessor_dl load_keras_model delete_keras_model
        load_model_selection_table generate_model_configs madlib_keras_fit madlib_keras_fit_multiple_model
        madlib_keras_evaluate madlib_keras_predict madlib_keras_predict_byom load_custom_function delete_custom_function
        load_top_k_accuracy_function gpu_configuration version madlib_keras_automl hyperband_schedule""".split()
    have = {row[0] for row in query(connection, "SELECT proname FROM pg_proc p JOIN pg_namespace n"
                                     " ON n.oid = pronamespace WHERE nspname = 'madlib'")}
    assert set(names) <= have


def test_it_is_loaded_again_and_leaves_a_real_madlib_alone(connection):
    assert load().returncode == 0
    query(connection, "COMMENT ON SCHEMA madlib IS NULL")
    done = load()
    assert done.returncode != 0 and "was not made by this script" in done.stderr
    query(connection, "COMMENT ON SCHEMA madlib IS 'MADlib''s names for the functions of model_hopper'")
    # Whoever owns the schema may put functions of his into it.
    query(connection, "DROP ROLE IF EXISTS hopper_madlib_mallory; CREATE ROLE hopper_madlib_mallory;"
                      " ALTER SCHEMA madlib OWNER TO hopper_madlib_mallory")
    done = load()
    # 9.4 takes no CURRENT_USER here.
    query(connection, f'ALTER SCHEMA madlib OWNER TO "{value(connection, "SELECT current_user")}"; DROP ROLE hopper_madlib_mallory')
    assert done.returncode != 0 and "was not made by this script" in done.stderr


@pytest.fixture
def mallory(connection):
    query(connection, "DROP ROLE IF EXISTS hopper_madlib_mallory; CREATE ROLE hopper_madlib_mallory")
    query(connection, "CREATE FUNCTION lure() RETURNS boolean LANGUAGE plpgsql AS"
                      " $$ BEGIN RAISE EXCEPTION 'ran as %', current_user; END $$")

    def lays_in_wait(model):
        """The model is his, and reading its summary runs his function."""
        for table, in query(connection, "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE %s", model + "%"):
            query(connection, f"ALTER TABLE {table} OWNER TO hopper_madlib_mallory")
        query(connection, f"ALTER TABLE {model}_summary RENAME TO {model}_was;"
                          f" CREATE VIEW {model}_summary AS SELECT * FROM {model}_was WHERE lure();"
                          f" ALTER VIEW {model}_summary OWNER TO hopper_madlib_mallory")
    yield lays_in_wait
    query(connection, "DROP OWNED BY hopper_madlib_mallory CASCADE; DROP ROLE hopper_madlib_mallory; DROP FUNCTION lure()")


def test_a_model_of_another_role_runs_none_of_its_functions(connection, mallory):
    query(connection, "SELECT madlib.madlib_keras_fit('train_packed', 'lured', 'library', 1, %s, 'batch_size=8, epochs=1', 1)", COMPILE)
    mallory("lured")
    query(connection, "SELECT madlib.madlib_keras_predict('lured', 'test', 'id', 'attributes', 'lured_output')")
    assert value(connection, "SELECT count(*) FROM lured_output") == 180


# MADlib's columns, in its order: madlib_keras_fit_multiple_model.py_in and its kin.
INFO = """mst_key model_id compile_params fit_params model_type model_size metrics_elapsed_time metrics_type loss_type
    training_metrics_final training_loss_final training_metrics training_loss validation_metrics_final validation_loss_final
    validation_metrics validation_loss""".split()
SUMMARY = """source_table validation_table model model_info dependent_varname independent_varname model_arch_table
    model_selection_table object_table num_iterations metrics_compute_frequency warm_start name description start_training_time
    end_training_time madlib_version num_classes class_text_class_values dependent_vartype normalizing_const
    metrics_iters""".split()
ONE_SUMMARY = """source_table model dependent_varname independent_varname model_arch_table model_id compile_params fit_params
    num_iterations validation_table object_table metrics_compute_frequency name description model_type model_size
    start_training_time end_training_time metrics_elapsed_time madlib_version num_classes dependent_vartype normalizing_const
    metrics_type loss_type training_metrics_final training_loss_final training_metrics training_loss validation_metrics_final
    validation_loss_final validation_metrics validation_loss metrics_iters class_text_class_values""".split()
AUTOML_SUMMARY = """source_table validation_table model model_info dependent_varname independent_varname model_arch_table
    model_selection_table automl_method automl_params random_state object_table use_gpus metrics_compute_frequency name
    description start_training_time end_training_time madlib_version num_classes class_text_class_values dependent_vartype
    normalizing_const""".split()


def columns(connection, table):
    return [row[0] for row in query(connection, "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass"
                                                " AND attnum > 0 AND NOT attisdropped ORDER BY attnum", table)]


def train(connection, model, iterations=2, warm=False):
    if not warm:
        query(connection, f"DROP TABLE IF EXISTS {model}, {model}_info, {model}_summary, {model}_mst, {model}_mst_summary")
        query(connection, "SELECT madlib.load_model_selection_table('library', %s, ARRAY[1], ARRAY[%s, %s],"
                          " ARRAY['batch_size=8, epochs=1'])", f"{model}_mst", COMPILE, COMPILE.replace("0.05", "0.01"))
    query(connection, "SELECT madlib.madlib_keras_fit_multiple_model('train_packed', %s, %s, %s, FALSE, 'test_packed', 1, %s,"
                      " 'Sophie', 'columns')", model, f"{model}_mst", iterations, warm)


def test_tables_have_the_columns_of_madlib(connection):
    train(connection, "mm")
    assert columns(connection, "mm_info") == INFO and columns(connection, "mm_summary") == SUMMARY
    query(connection, "CREATE TABLE results AS SELECT * FROM mm_info")
    train(connection, "mm2")
    query(connection, "INSERT INTO results SELECT * FROM mm2_info")
    assert query(connection, "SELECT count(*), min(model_type) FROM results") == [(4, "madlib_keras")]
    assert query(connection, "SELECT source_table, validation_table, model, model_info, model_arch_table, model_selection_table,"
                             " pg_typeof(start_training_time)::text FROM mm_summary") == [
        ("train_packed", "test_packed", "mm", "mm_info", "library", "mm_mst", "timestamp without time zone")]
    query(connection, "SELECT madlib.madlib_keras_predict('mm', 'test', 'id', 'attributes', 'mm_predicted', 'prob', FALSE, 1)")
    assert columns(connection, "mm_predicted") == ["id", "class_name", "class_value", "prob", "rank"]
    query(connection, "SELECT madlib.madlib_keras_evaluate('mm', 'test_packed', 'mm_evaluated', FALSE, 1)")
    assert columns(connection, "mm_evaluated") == ["loss", "metric", "metrics_type", "loss_type"]
    query(connection, "DROP TABLE IF EXISTS om, om_summary")
    query(connection, "SELECT madlib.madlib_keras_fit('train_packed', 'om', 'library', 1, %s, 'batch_size=8', 1)", COMPILE)
    assert columns(connection, "om_summary") == ONE_SUMMARY and value(connection, "SELECT to_regclass('om_info')") is None


def test_our_functions_know_a_model_of_madlibs_shape(connection):
    train(connection, "shared")
    before = query(connection, "SELECT mst_key, rank, iterations FROM hopper.leaderboard('shared') ORDER BY mst_key")
    assert len(before) == 2 and {row[2] for row in before} == {2}
    assert value(connection, "SELECT count(*) FROM hopper.learning_curves('shared')") > 4
    assert value(connection, "SELECT count(*) FROM hopper.models() WHERE model_table = 'shared'") == 1
    assert value(connection, "SELECT hopper.predict('shared', 'test', 'id', output_table := 'by_hopper', mst_key := 1)") == 180
    assert value(connection, "SELECT count(*) FROM hopper.run_timeline('shared')") > 0
    # MADlib's way and ours, in turn: each goes on with the other's.
    train(connection, "shared", iterations=1, warm=True)
    assert columns(connection, "shared_info") == INFO
    assert value(connection, "SELECT array_length(training_loss, 1) FROM shared_info WHERE mst_key = 1") == 3
    query(connection, "SELECT hopper.fit_multiple_model('train_packed', 'shared', 'shared_mst', 1, validation_table := 'test_packed',"
                      " warm_start := true)")
    assert "state_digest" in columns(connection, "shared_info") and value(connection, "SELECT to_regclass('shared_run')") is None
    train(connection, "shared", iterations=1, warm=True)
    assert columns(connection, "shared_summary") == SUMMARY
    assert {row[0] for row in query(connection, "SELECT iterations FROM hopper.leaderboard('shared')")} == {5}
    query(connection, "SELECT hopper.copy_model('shared', 'copied', 1)")
    assert "state_digest" in columns(connection, "copied_info") and columns(connection, "shared_info") == INFO
    query(connection, "SELECT hopper.keep_best('shared', 1)")
    query(connection, "SELECT hopper.rename_model('shared', 'renamed')")
    assert "state_digest" in columns(connection, "renamed_info")
    assert value(connection, "SELECT to_regclass('shared_metrics')") is None
    assert value(connection, "SELECT hopper.drop_model('copied')") == 4
    query(connection, "SELECT hopper.drop_model('renamed')")
    train(connection, "shared")
    assert value(connection, "SELECT hopper.drop_model('shared')") == 4
    assert query(connection, "SELECT relname FROM pg_class WHERE relname ~ '^(shared|renamed)(_info|_summary|_state|_run|_metrics)?$'"
                 ) == []


def test_copies_take_the_place_of_models_in_madlibs_shape(connection):
    for model in ("copied_from", "copied_over"):
        train(connection, model)
    digests = "SELECT mst_key, state_digest FROM {} ORDER BY 1"
    expected = query(connection, digests.format("copied_from_metrics"))
    with pytest.raises(psycopg2.Error) as refused:
        query(connection, "SELECT hopper.copy_model('copied_from', 'copied_over')")
    assert refused.value.pgcode == "42P07" and columns(connection, "copied_over_info") == INFO
    for _ in range(2):
        query(connection, "SELECT hopper.copy_model('copied_from', 'copied_over', replace := true)")
        assert query(connection, digests.format("copied_over_info")) == expected
        assert query(connection, "SELECT relname FROM pg_class WHERE relname IN ('copied_over_metrics', 'copied_over_run')") == []
        assert columns(connection, "copied_from_info") == INFO and columns(connection, "copied_from_summary") == SUMMARY
    assert query(connection, "SELECT * FROM hopper.leaderboard('copied_over')") == \
        query(connection, "SELECT * FROM hopper.leaderboard('copied_from')")
    train(connection, "copied_over", warm=True)
    assert columns(connection, "copied_over_info") == INFO


def test_a_run_takes_the_place_of_one_whose_three_tables_were_dropped(connection):
    train(connection, "dropped")
    query(connection, "DROP TABLE dropped, dropped_info, dropped_summary")
    query(connection, "SELECT hopper.fit_multiple_model('train_packed', 'dropped', 'dropped_mst', 1)")
    assert "state_digest" in columns(connection, "dropped_info")
    assert value(connection, "SELECT to_regclass('dropped_run')") is None
    query(connection, "SELECT hopper.drop_model('dropped')")
    train(connection, "dropped")
    query(connection, "SELECT hopper.fit_multiple_model('train_packed', 'dropped', 'dropped_mst', 1, replace := true)")
    assert "state_digest" in columns(connection, "dropped_info")


def test_copies_by_hand(connection):
    train(connection, "many")
    for table in ("", "_info"):
        query(connection, f"CREATE TABLE best{table} AS SELECT * FROM many{table} WHERE mst_key = 2")
    query(connection, "CREATE TABLE best_summary AS SELECT * FROM many_summary")
    query(connection, "SELECT madlib.madlib_keras_predict('many', 'test', 'id', 'attributes', 'of_many', 'prob', FALSE, 2)")
    query(connection, "DROP TABLE many, many_info, many_summary")
    train(connection, "many")
    query(connection, "SELECT madlib.madlib_keras_predict('best', 'test', 'id', 'attributes', 'of_best', 'prob', FALSE, 2)")
    assert value(connection, "SELECT count(*) FROM of_best JOIN of_many USING (id, class_name, class_value, prob, rank)") == 180
    query(connection, "SELECT madlib.madlib_keras_evaluate('best', 'test_packed', 'best_evaluated', FALSE, 2)")
    assert value(connection, "SELECT metric FROM best_evaluated") > 0.3


def test_summary_of_automl(connection):
    query(connection, "DROP TABLE IF EXISTS searched, searched_info, searched_summary, searched_mst, searched_mst_summary")
    query(connection, "SELECT madlib.madlib_keras_automl('train_packed', 'searched', 'library', 'searched_mst', ARRAY[1],"
                      " $$ {'loss': ['categorical_crossentropy'], 'metrics': ['accuracy'],"
                      " 'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [0.001, 0.1, 'log']}]} $$,"
                      " $$ {'batch_size': [8], 'epochs': [1]} $$, 'hyperband', 'R=9, eta=3, skip_last=0')")
    assert columns(connection, "searched_summary") == AUTOML_SUMMARY
    assert columns(connection, "searched_info") == INFO + ["metrics_iters", "s", "i"]
    assert query(connection, "SELECT automl_method, automl_params, random_state, use_gpus FROM searched_summary") == [
        ("hyperband", "R=9, eta=3, skip_last=0", None, False)]
    # Metrics at the end of each round only: 1, 1 + 3 and 1 + 3 + 9 iterations of bracket 2.
    assert query(connection, "SELECT DISTINCT i, metrics_iters FROM searched_info WHERE s = 2 ORDER BY i") == [
        (0, [1]), (1, [1, 4]), (2, [1, 4, 13])]
    assert value(connection, "SELECT count(*) FROM hopper.leaderboard('searched')") == 15


TWO_OUTPUTS = """{"class_name": "Functional", "config": {"name": "two", "layers": [
    {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 4], "name": "input_1"}, "name": "input_1",
     "inbound_nodes": []},
    {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 4], "name": "input_2"}, "name": "input_2",
     "inbound_nodes": []},
    {"class_name": "Concatenate", "config": {"name": "joined"}, "name": "joined",
     "inbound_nodes": [[["input_1", 0, 0, {}], ["input_2", 0, 0, {}]]]},
    {"class_name": "Dense", "config": {"name": "kind", "units": 3, "activation": "softmax"}, "name": "kind",
     "inbound_nodes": [[["joined", 0, 0, {}]]]},
    {"class_name": "Dense", "config": {"name": "side", "units": 2, "activation": "softmax"}, "name": "side",
     "inbound_nodes": [[["joined", 0, 0, {}]]]}],
    "input_layers": [["input_1", 0, 0], ["input_2", 0, 0]], "output_layers": [["kind", 0, 0], ["side", 0, 0]]}}"""


def test_several_inputs_and_outputs(connection, mallory):
    query(connection, "CREATE TABLE pairs AS SELECT id, attributes AS a, attributes AS a2, class_text AS c, id % 2 AS c2"
                      " FROM flowers")
    query(connection, "SELECT madlib.training_preprocessor_dl('pairs', 'pairs_packed', 'c, c2', 'a, a2')")
    query(connection, "SELECT madlib.validation_preprocessor_dl('pairs', 'pairs_valid', 'c, c2', 'a, a2', 'pairs_packed')")
    query(connection, "SELECT madlib.load_keras_model('two_library', %s::json)", TWO_OUTPUTS)
    compile_params = "loss='categorical_crossentropy', optimizer='Adam(lr=0.05)', metrics=['accuracy']"
    query(connection, "SELECT madlib.madlib_keras_fit('pairs_packed', 'two', 'two_library', 1, %s, 'batch_size=8', 2,"
                      " FALSE, 'pairs_valid')", compile_params)
    row = query(connection, "SELECT metrics_type, c_class_values, c2_class_values, validation_metrics_final FROM two_summary")[0]
    assert row[0][:2] == ["kind_accuracy", "side_accuracy"]
    assert row[1:3] == (["setosa", "versicolor", "virginica"], ["0", "1"]) and row[3] > 0.8
    query(connection, "SELECT madlib.madlib_keras_predict('two', 'pairs', 'id', 'a, a2', 'two_predicted')")
    assert query(connection, "SELECT class_name, count(*), sum(prob)::numeric(9, 3), max(rank) FROM two_predicted"
                             " GROUP BY 1 ORDER BY 1") == [("c", 900, 300, 3), ("c2", 600, 300, 2)]
    query(connection, "SELECT madlib.madlib_keras_predict('two', 'pairs', 'id', 'a, a2', 'two_response', 'response')")
    assert columns(connection, "two_response") == ["id", "class_name", "class_value", "prob"]
    assert value(connection, "SELECT count(*) FROM two_response t JOIN pairs USING (id)"
                             " WHERE class_name = 'c' AND class_value = c") > 240
    query(connection, "UPDATE two_library SET model_weights = (SELECT model_weights FROM two)")
    query(connection, "SELECT madlib.madlib_keras_predict_byom('two_library', 1, 'pairs', 'id', 'a, a2', 'two_byom', 2,"
                      " class_values => ARRAY[ARRAY['setosa', 'versicolor', 'virginica'], ARRAY['0', '1', NULL]],"
                      " dependent_count => 2)")
    assert query(connection, "SELECT class_name, count(*), max(rank) FROM two_byom GROUP BY 1 ORDER BY 1") == [
        ("dependent_var_0", 600, 2), ("dependent_var_1", 600, 2)]
    assert value(connection, "SELECT count(*) FROM two_byom b JOIN two_predicted p USING (id, class_value, prob, rank)") == 1200
    mallory("two")
    query(connection, "SELECT madlib.madlib_keras_predict('two', 'pairs', 'id', 'a, a2', 'twice_predicted')")
    assert value(connection, "SELECT count(*) FROM (TABLE twice_predicted EXCEPT TABLE two_predicted) AS d") == 0


def test_packed_tables_have_the_names_that_were_given(connection):
    assert query(connection, "SELECT source_table, output_table FROM train_packed_summary UNION ALL"
                             " SELECT source_table, output_table FROM test_packed_summary ORDER BY 1 DESC") == [
        ("train", "train_packed"), ("test", "test_packed")]


@pytest.mark.skipif(GREENPLUM, reason="a cluster has segments to choose from")
def test_distribution_rules(connection):
    query(connection, "SELECT madlib.training_preprocessor_dl('train', 'ruled', 'class_text', 'attributes', NULL, NULL, NULL,"
                      " 'gpu_segments')")
    assert value(connection, "SELECT distribution_rules FROM ruled_summary") == "all_segments"


def test_custom_functions_are_in_schema_madlib(connection):
    query(connection, "SELECT madlib.load_custom_function('functions', 'x'::bytea, 'mine', 'of mine')")
    query(connection, "SELECT madlib.load_top_k_accuracy_function('functions', 3)")
    assert query(connection, "SELECT id, name, description FROM madlib.functions ORDER BY id") == [
        (1, "mine", "of mine"), (2, "top_3_accuracy", "returns top_3_accuracy")]
    # The script leaves such tables where they are.
    assert load().returncode == 0
    assert value(connection, "SELECT count(*) FROM madlib.functions") == 2
    query(connection, "DROP TABLE IF EXISTS topped, topped_summary")
    query(connection, "SELECT madlib.madlib_keras_fit('train_packed', 'topped', 'library', 1, $$ loss='categorical_crossentropy',"
                      " optimizer='SGD', metrics=['top_3_accuracy'] $$, 'batch_size=8', 1, object_table => 'functions')")
    assert query(connection, "SELECT object_table FROM topped_summary WHERE metrics_type = '{top_3_accuracy}'") == [
        ("madlib.functions",)]
    query(connection, "SELECT madlib.delete_custom_function('functions', 'mine')")
    query(connection, "SELECT madlib.delete_custom_function('functions', 2)")
    assert value(connection, "SELECT to_regclass('madlib.functions')") is None


def test_configurations_whose_summary_was_dropped(connection):
    for n in (1, 2):
        query(connection, "SELECT madlib.generate_model_configs('library', 'lone', ARRAY[1],"
                          " $$ {'loss': ['categorical_crossentropy'], 'metrics': ['accuracy'],"
                          " 'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [%s]}]} $$, $$ {'batch_size': [8]} $$)", n)
        if n == 1:
            query(connection, "DROP TABLE lone_summary")
    assert value(connection, "SELECT count(*) FROM lone") == 2
    query(connection, "SELECT madlib.madlib_keras_fit_multiple_model('train_packed', 'lone_model', 'lone', 1)")


@pytest.mark.parametrize("function", ["load_custom_function", "delete_custom_function", "load_top_k_accuracy_function",
                                      "gpu_configuration", "madlib_keras_fit"])
def test_each_function_has_help(connection, function):
    assert f"madlib.{function}(" in value(connection, f"SELECT madlib.{function}()")
