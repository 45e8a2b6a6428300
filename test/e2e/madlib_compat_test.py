"""sql/compat/madlib.sql: scripts that were written for MADlib run as they are, with MADlib's meanings."""

import subprocess
from pathlib import Path

import psycopg2
import pytest
from digits import connect, dense, drop_database, query, sequential, value

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
    # The same list of metrics is two alternatives in MADlib.
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
    assert query(connection, "SELECT DISTINCT metrics_iters, array_upper(training_metrics, 1) FROM multi_model_info") == [
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


def test_top_k_accuracy(connection):
    query(connection, "SELECT madlib.load_top_k_accuracy_function('custom_functions', 2)")
    assert query(connection, "SELECT id, name FROM custom_functions") == [(1, "top_2_accuracy")]
    query(connection, "SELECT madlib.madlib_keras_fit('train_packed', 'top_model', 'library', 1,"
                      " $$ loss='categorical_crossentropy', optimizer='SGD', metrics=['top_2_accuracy'] $$,"
                      " $$ batch_size=8 $$, 1, FALSE, NULL, NULL, NULL, NULL, NULL, 'custom_functions')")
    assert 0 < value(connection, "SELECT training_metrics_final FROM top_model_summary") <= 1
    query(connection, "SELECT madlib.delete_custom_function('custom_functions', 1)")
    assert value(connection, "SELECT to_regclass('custom_functions')") is None
    with pytest.raises(psycopg2.errors.FeatureNotSupported):
        query(connection, "SELECT madlib.load_custom_function('custom_functions', 'x'::bytea, 'mine')")


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
    assert "num_iterations bigint" in value(connection, "SELECT madlib.madlib_keras_fit('usage')")
    assert "usage" in value(connection, "SELECT madlib.training_preprocessor_dl('what')")


def test_every_name_that_madlib_has(connection):
    # From MADlib 1.21's reference.
    names = """training_preprocessor_dl validation_preprocessor_dl load_keras_model delete_keras_model
        load_model_selection_table generate_model_configs madlib_keras_fit madlib_keras_fit_multiple_model
        madlib_keras_evaluate madlib_keras_predict madlib_keras_predict_byom load_custom_function delete_custom_function
        load_top_k_accuracy_function gpu_configuration version madlib_keras_automl hyperband_schedule""".split()
    have = {row[0] for row in query(connection, "SELECT proname FROM pg_proc WHERE pronamespace = 'madlib'::regnamespace")}
    assert set(names) <= have


def test_it_is_loaded_again_and_leaves_a_real_madlib_alone(connection):
    assert load().returncode == 0
    query(connection, "COMMENT ON SCHEMA madlib IS NULL")
    done = load()
    assert done.returncode != 0 and "was not made by this script" in done.stderr
    query(connection, "COMMENT ON SCHEMA madlib IS 'MADlib''s names for the functions of model_hopper'")
