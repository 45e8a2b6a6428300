"""Naming plain tables of another role runs none of that role's functions, whatever is written in these tables or
stands beside them."""

import psycopg2
import pytest

from digits import connect, drop_database, query, value

DATABASE = "hopper_led_astray"
MALLORY = "hopper_mallory"
MODEL = """{"class_name": "Sequential", "config": {"name": "s", "layers": [
  {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2], "name": "in"}},
  {"class_name": "Dense", "config": {"name": "out", "units": 2, "activation": "softmax"}}]}}"""
COMPILE = "loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']"
GRID = ("{'loss': ['categorical_crossentropy'], 'metrics': ['accuracy'],"
        " 'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [0.01, 0.1]}]}")
EXPLAIN = "hopper.explain_fit(model_table => 'mal.run', measure => true)"
CONFIGS = "hopper.check_configs('mal.configs')"
FORECAST = ("hopper.explain_fit(packed_table => 'mal.packed', model_selection_table => 'mal.configs',"
            " num_iterations => 1)")
FIT = "hopper.fit_multiple_model('mal.packed', 'mine', 'mal.configs', 1)"
MODELS_OF_CONFIGS = "UPDATE configs_summary SET model_arch_table = 'mal.evil_models'"
BESIDE = ("ALTER TABLE {0} RENAME TO old; CREATE TABLE copied AS TABLE old;"
          "CREATE VIEW {0} AS SELECT * FROM copied WHERE mal.evil() = 1")


@pytest.fixture(scope="module")
def database():
    drop_database(DATABASE)
    admin = connect("postgres")
    query(admin, f"DROP ROLE IF EXISTS {MALLORY}")
    query(admin, f"CREATE ROLE {MALLORY}")
    query(admin, f"CREATE DATABASE {DATABASE}")
    connection = connect(DATABASE)
    query(connection, "SET client_min_messages = warning")
    query(connection, f"CREATE EXTENSION model_hopper; CREATE SCHEMA mal AUTHORIZATION {MALLORY};"
          " CREATE TABLE ran (who text); GRANT INSERT ON ran TO PUBLIC")
    query(connection, f"SET SESSION AUTHORIZATION {MALLORY}; SET search_path = mal")
    query(connection, "CREATE TABLE points AS SELECT i AS id, ARRAY[i % 2, i % 3]::real[] AS x,"
          " i % 2 AS y FROM generate_series(1, 40) i")
    query(connection, "SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x')")
    query(connection, "SELECT hopper.load_model('models', %s)", MODEL)
    query(connection, "SELECT hopper.load_model_selection_table('models', 'configs', '{1}',"
          " ARRAY[%s], ARRAY['batch_size=8'])", COMPILE)
    query(connection, "SELECT hopper.fit_multiple_model('packed', 'run', 'configs', 1)")
    query(connection, "SELECT hopper.automl('packed', 'searched', 'models', 'searched_configs', '{1}', %s,"
          " $${'batch_size': [8]}$$, 'grid')", GRID)
    query(connection, "CREATE FUNCTION evil() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN"
          " RAISE EXCEPTION 'ran as %', current_user; END $$;"
          "CREATE VIEW evil_models AS SELECT * FROM models WHERE mal.evil() = 1;"
          "CREATE VIEW evil_packed AS SELECT * FROM packed WHERE mal.evil() = 1;"
          "CREATE VIEW evil_packed_summary AS SELECT * FROM packed_summary")
    query(connection, "RESET SESSION AUTHORIZATION; RESET search_path")
    yield connection
    connection.close()
    drop_database(DATABASE)
    query(admin, f"DROP ROLE {MALLORY}")
    admin.close()


@pytest.fixture
def block(database):
    """A transaction whose changes go with the test."""
    query(database, "BEGIN")
    yield database
    query(database, "ROLLBACK")


def as_mallory(block, change):
    query(block, f"SET LOCAL ROLE {MALLORY}; SET LOCAL search_path = mal; {change};"
          " RESET ROLE; SET LOCAL search_path = public")


@pytest.mark.parametrize("call", [EXPLAIN, CONFIGS, FORECAST, FIT])
def test_plain_tables_of_another_role(block, call):
    query(block, f"SELECT * FROM {call}")


@pytest.mark.parametrize("change, call", [
    ("UPDATE run_summary SET source_table = 'mal.evil_packed'", EXPLAIN),
    ("UPDATE run_summary SET validation_table = 'mal.evil_packed'", EXPLAIN),
    ("UPDATE run_summary SET model_arch_table = 'mal.evil_models'", EXPLAIN),
    (MODELS_OF_CONFIGS, CONFIGS),
    (MODELS_OF_CONFIGS, FORECAST),
    (MODELS_OF_CONFIGS, FIT),
    (BESIDE.format("run_info"), EXPLAIN),
    (BESIDE.format("run_summary"), EXPLAIN),
    (BESIDE.format("configs_summary"), CONFIGS),
    (BESIDE.format("packed_summary"), FORECAST),
    (BESIDE.format("packed_summary"), FIT),
    (BESIDE.format("run_info"), "hopper.leaderboard('mal.run')"),
    (BESIDE.format("run_summary"), "hopper.leaderboard('mal.run')"),
    (BESIDE.format("run_summary"), "hopper.evaluate('mal.run', 'mal.packed')"),
    (BESIDE.format("run_info"), "hopper.evaluate('mal.run', 'mal.packed')"),
    (BESIDE.format("run_info"), "hopper.learning_curves('mal.run')"),
    ("UPDATE run_summary SET source_table = 'mal.evil_packed'", "hopper.report_source('mal.run', false)"),
    ("UPDATE run_summary SET source_table = 'mal.evil_packed'", "hopper.report_packing('mal.run', false)"),
    ("UPDATE packed_summary SET source_table = 'mal.evil_models'", "hopper.report_source('mal.run', false)"),
    (BESIDE.format("searched_trials"), "hopper.best_config('mal.searched')"),
    (BESIDE.format("searched_info"), "hopper.best_config('mal.searched')"),
    (BESIDE.format("searched_summary"), "hopper.param_importance('mal.searched')"),
    ("CREATE TYPE number AS (n integer);"
     "CREATE FUNCTION as_integer(number) RETURNS integer LANGUAGE sql AS 'SELECT mal.evil()';"
     "CREATE CAST (number AS integer) WITH FUNCTION as_integer(number) AS IMPLICIT;"
     "CREATE TABLE typed AS SELECT ROW(model_id)::mal.number AS model_id, model_arch, model_weights, name,"
     " description FROM models; UPDATE configs_summary SET model_arch_table = 'mal.typed'", CONFIGS),
])
def test_led_from_plain_tables(block, change, call):
    as_mallory(block, change)
    with pytest.raises(psycopg2.errors.InsufficientPrivilege, match=f'belongs to role "{MALLORY}"'):
        query(block, f"SELECT * FROM {call}")


def test_row_security_of_another_role(block):
    query(block, "CREATE ROLE hopper_led; GRANT USAGE ON SCHEMA mal TO hopper_led;"
          "GRANT SELECT ON ALL TABLES IN SCHEMA mal TO hopper_led")
    as_mallory(block, "CREATE POLICY p ON models USING (mal.evil() = 1); ALTER TABLE models ENABLE ROW LEVEL SECURITY")
    query(block, "SET LOCAL ROLE hopper_led")
    with pytest.raises(psycopg2.errors.InsufficientPrivilege, match="has row-level security"):
        query(block, f"SELECT * FROM {CONFIGS}")


def test_who_names_a_view_gets_it(block):
    as_mallory(block, "CREATE VIEW shown AS SELECT * FROM configs; CREATE VIEW shown_summary AS"
               " SELECT 'mal.shown_models'::text AS model_arch_table; CREATE VIEW shown_models AS SELECT * FROM models")
    query(block, "SELECT * FROM hopper.check_configs('mal.shown')")


def test_ones_own_text_names_whatever_one_likes(block):
    as_mallory(block, "CREATE VIEW shown_models AS SELECT * FROM models")
    query(block, "CREATE TABLE own AS SELECT * FROM mal.configs; CREATE TABLE own_summary AS"
          " SELECT 'mal.shown_models'::text AS model_arch_table")
    query(block, "SELECT * FROM hopper.check_configs('own')")


def test_views_of_ones_own(block):
    as_mallory(block, "CREATE VIEW shown_models AS SELECT * FROM models;"
               " UPDATE configs_summary SET model_arch_table = 'mal.shown_models'")
    query(block, f"SET LOCAL ROLE {MALLORY}")
    assert value(block, f"SELECT count(*) FROM {CONFIGS}") == 0


@pytest.mark.parametrize("type_name, error", [
    ("integer LANGUAGE sql AS ''SELECT 1''; SELECT mal.evil(); --", psycopg2.errors.SyntaxError),
    ("integer) RETURNS integer LANGUAGE sql AS ''SELECT mal.evil()'' --", psycopg2.errors.SyntaxError),
    ("mal.checked", psycopg2.errors.InsufficientPrivilege), ("mal.checked[]", psycopg2.errors.InsufficientPrivilege),
    ("-", psycopg2.errors.UndefinedObject), ("4000000000", psycopg2.errors.UndefinedObject)])
@pytest.mark.parametrize("column", ["dependent_vartype", "independent_vartype"])
@pytest.mark.parametrize("pred_type", ["response", "columns"])
def test_types_that_a_table_names(block, column, type_name, error, pred_type):
    """They become a part of the statement that makes a function of the caller's."""
    as_mallory(block, "CREATE DOMAIN checked AS integer CHECK (mal.evil() = 1);"
               f"UPDATE run_summary SET {column} = ARRAY['{type_name}']")
    with pytest.raises(error):
        query(block, f"SELECT hopper.create_predict_function('mal.run', 'guess', pred_type => '{pred_type}')")


def test_a_function_over_a_model_of_another_role(block):
    query(block, "SELECT hopper.create_predict_function('mal.run', 'guess')")
    assert value(block, "SELECT count(*) FROM mal.points WHERE guess(x) IN (0, 1)") == 40


@pytest.mark.parametrize("planted", [
    "SELECT 1", "CREATE DOMAIN tracked.studydirection AS text CHECK (mal.evil() = 1)",
    "CREATE VIEW tracked.studies AS SELECT 1::bigint AS study_id, 'x'::text AS study_name",
    "CREATE FUNCTION tracked.md5(character varying) RETURNS text LANGUAGE sql AS 'SELECT mal.evil()::text'"])
@pytest.mark.parametrize("views", ["optuna_views", "mlflow_views"])
def test_views_in_a_schema_of_another_role(block, views, planted):
    owner = MALLORY if planted == "SELECT 1" else "CURRENT_USER"
    query(block, f"CREATE SCHEMA tracked AUTHORIZATION {owner}; GRANT ALL ON SCHEMA tracked TO {MALLORY}")
    as_mallory(block, planted)
    with pytest.raises(psycopg2.errors.InsufficientPrivilege, match=f'role "{MALLORY}" owns schema "tracked"'):
        query(block, f"SELECT hopper.{views}('tracked')")


def test_a_report_writes_to_no_table_that_it_finds(block):
    """A function of another role may have made one in the caller's session."""
    query(block, "CREATE TEMPORARY TABLE hopper_report_trials (rank bigint)")
    with pytest.raises(psycopg2.errors.DuplicateTable):
        query(block, "SELECT hopper.report('mal.run')")
