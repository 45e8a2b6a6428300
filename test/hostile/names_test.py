"""Every function, with names that break quoting, in a search_path full of traps; and whose tables, rights
and functions an unqualified name means."""

import json
import random
import struct

import psycopg2
import pytest
from psycopg2.extensions import AsIs

import traps
from digits import connect, query, value

DATABASE = "hopper_names"
VICTIM = "hopper_names_victim"
ATTACKER = "hopper_names_attacker"

ARCHITECTURE = json.dumps({"class_name": "Sequential", "config": {"name": "s", "layers": [
    {"class_name": "InputLayer", "config": {"batch_input_shape": [None, 2], "name": "in"}},
    {"class_name": "Dense", "config": {"name": "out", "units": 3, "activation": "softmax"}}]}})
COMPILE = "loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']"
GRID = ("{'loss': ['categorical_crossentropy'], 'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': %s}],"
        " 'metrics': ['accuracy']}")

# How many bytes of 63 the longest companion leaves for a name.
ROOM = {"schema": 63, "points": 63, "pictures": 63, "packed": 63 - len("_validation_summary"),
        "more": 63 - len("_summary"), "models": 63, "configs": 63 - len("_summary"),
        "grid": 63 - len("_summary"), "run": 63 - len("_summary"), "one": 63 - len("_summary"),
        "behind": 63 - len("_summary"), "behind_copy": 63 - len("_summary"), "later": 63 - len("_summary"),
        "steered": 63 - len("_decisions"), "steered_best": 63 - len("_summary"),
        "shown": 63 - len("_summary"), "drawn": 63 - len("_summary"), "treated": 63 - len("_validation_summary"),
        "guess": 63, "by_class": 63, "seen": 63 - len("_validation_summary"),
        "evaluated": 63, "confused": 63, "together": 63 - len("_summary"), "predicted1": 63, "predicted2": 63, "predicted3": 63,
        "predicted4": 63, "predicted5": 63, "predicted6": 63,
        "copied": 63 - len("_decisions"), "renamed": 63 - len("_decisions"),
        "schedule": 63, "tried": 63 - len("_decisions"), "found": 63 - len("_summary"),
        "fitted": 63 - len("_packed_validation_summary"), "validated": 63 - len("_fold100_packed_validation_summary"),
        "by_group": 63 - len("_fold100_packed_validation_summary"),
        "again": 63 - len("_decisions"), "refined": 63 - len("_summary"), "refound": 63 - len("_summary"),
        "type": 63, "id": 63, "x": 63 - len("_shape"), "image": 63 - len("_shape"),
        "y": 63 - len("_class_values"), "fold": 63}
COLUMNS = ("id", "x", "y", "fold", "image")
QUOTES = ["'", '"', "\\", " ", "''", "\\'", "; DROP TABLE points; --", "$$", "%s", "E'", "\t", "/*", "."]


def plain(kind):
    return kind


def quoting(kind):
    """Everything that ends or continues a literal or an identifier, as long as there is room."""
    chosen = random.Random(kind)
    name = kind
    while True:
        longer = name + chosen.choice(QUOTES)
        if len(longer) >= ROOM[kind]:
            return name + "'" * (ROOM[kind] - len(name))
        name = longer


def multi_byte(kind):
    """Full to the last byte; what is cut off anywhere is cut within a character."""
    name = kind + "'"
    while len((name + "€").encode()) <= ROOM[kind]:
        name += "€"
    return name + "x" * (ROOM[kind] - len(name.encode()))


def identifier(name):
    return '"' + name.replace('"', '""') + '"'


# In this order. Names in braces: of tables as a function wants them, of columns, of both in a statement.
CALLS = [
    "SELECT hopper.version() IS NOT NULL",
    "SELECT name FROM hopper.build_info()",
    "SELECT class_name FROM hopper.layers()",
    "SELECT name FROM hopper.metrics()",
    "SELECT name FROM hopper.losses()",
    "SELECT name FROM hopper.optimizers()",
    "SELECT hostname IS NULL FROM hopper.gpu_configuration()",
    "SELECT hopper.params_json('batch_size=16') IS NOT NULL",
    "SELECT hopper.metric_ascends('accuracy'), hopper.sparkline('{{1,2,NULL,3}}')",
    "SELECT layer FROM hopper.describe_model({architecture}::pg_catalog.text)",
    "SELECT layer FROM hopper.describe_model({architecture}::pg_catalog.json)",
    "SELECT hopper.from_safetensors({architecture}::pg_catalog.json, hopper.to_safetensors("
    "{architecture}::pg_catalog.json, pg_catalog.decode({weights}, 'hex')))",
    "SELECT hopper.load_model({models}, {architecture}::pg_catalog.text, pg_catalog.decode({weights}, 'hex'),"
    " name := 'it''s \\ \"')",
    "SELECT hopper.load_model({models}, {architecture}::pg_catalog.json)",
    "SELECT hopper.load_model({models}, {architecture}::pg_catalog.json)",
    "SELECT hopper.delete_model({models}, 3)",
    "SELECT layer FROM hopper.describe_model({architecture}::pg_catalog.jsonb)",
    "SELECT hopper.load_model({models}, {architecture}::pg_catalog.jsonb, name := 'other')",
    "SELECT hopper.model_id({models}, 'it''s \\ \"'), hopper.model_ids({models}, 'it''s \\ \"', 'other')",
    "SELECT hopper.model_ids({models}, ARRAY['it''s \\ \"', 'other']), hopper.model_ids({models}, names := 'other'::pg_catalog.text)",
    "SELECT layer, inputs FROM hopper.describe_model({models}, 1)",
    "SELECT treatments FROM hopper.model_columns({models}, 1)",
    "SELECT hopper.training_preprocessor({points}, {packed}, {y}, {x}, validation_fraction := 0.25,"
    " partitions := 2)",
    "SELECT hopper.training_preprocessor({points}, {seen}, {y}, {x}, fold_column := {fold})",
    "SELECT hopper.training_preprocessor({points}, {treated}, {y}, {x}, validation_fraction := 0.25,"
    " treatments := '{{}}')",
    "SELECT treatment, on_null, slots FROM hopper.describe_features({treated})",
    "SELECT feature, share FROM hopper.leakage_suspects({treated})",
    "SELECT features FROM hopper.transform_rows({treated}, {points}) ORDER BY 1",
    "SELECT hopper.training_preprocessor({pictures}, {shown}, {y}, {image}, image_shape := '{{2}}')",
    "SELECT hopper.mlp({models}, {packed}, '{{3}}', name := 'it''s \\ it')",
    "SELECT hopper.tabular({models}, {packed}, name := 'it''s \\ a table')",
    "SELECT hopper.training_preprocessor({pictures}, {drawn}, {y}, {image}, image_shape := '{{1,2}}')",
    "SELECT hopper.cnn({models}, {drawn}, 2, kernel_size := 1)",
    "SELECT hopper.validation_preprocessor({points}, {more}, {y}, {x}, {packed})",
    "SELECT hopper.load_model_selection_table({models}, {configs}, '{{1,2}}', {compile_list},"
    " '{{batch_size=4}}')",
    "SELECT hopper.generate_model_configs({models}, {grid}, '{{1}}', {grid1}, $f${{'batch_size': [4]}}$f$)",
    "SELECT hopper.generate_model_configs({models}, {grid}, '{{1}}', {grid2}, $f${{'batch_size': [4]}}$f$)",
    "SELECT * FROM hopper.check_configs({configs}, {packed})",
    "SELECT item FROM hopper.explain_fit({packed}, NULL, {grid}, 2, validation_table := {more})",
    "SELECT best_mst_key, best_value, models_trained FROM hopper.fit_multiple_model({packed}, {run},"
    " {configs}, 2, validation_table := {more}, validation_freq := 2)",
    "SELECT best_mst_key, best_value, models_trained FROM hopper.fit_multiple_model({packed}, {run},"
    " {configs}, 1, warm_start := true)",
    # They name the label, which is called otherwise there.
    "SELECT hopper.to_onnx({run}, 1) IS NOT NULL, hopper.to_pytorch({run}, 1) IS NOT NULL",
    "SELECT hopper.to_onnx({architecture}::pg_catalog.json, pg_catalog.decode({weights}, 'hex')),"
    " hopper.to_pytorch({architecture}::pg_catalog.json)",
    "SELECT best_value FROM hopper.fit({shown}, {one}, {models}, 2, {compile}, 'batch_size=4', 1)",
    "SELECT item FROM hopper.explain_fit(model_table := {run}, measure := true)",
    "SELECT rank, mst_key, validation_metric, training_loss, curve FROM hopper.leaderboard({run})",
    "SELECT mst_key, iteration, split, metric, value FROM hopper.learning_curves({run})",
    "SELECT run, iteration, mst_key, split FROM hopper.run_timeline({run}) WHERE kind"
    " OPERATOR(pg_catalog.=) 'training'",
    "SELECT * FROM hopper.evaluate({run}, {more}, {evaluated}, mst_key := 1, confusion_table := {confused})",
    "SELECT hopper.copy_model({run}, {together})",
    "SELECT label, predicted, probability FROM hopper.predict_packed({run}, {more}, 1, 3)",
    "SELECT temperature, loss FROM hopper.calibrate({together}, {more}, 1)",
    "SELECT members, shares, value FROM hopper.ensemble({together}, {more}, 3)",
    "SELECT hopper.predict({run}, {points}, {id}, {x}, {predicted1}, mst_key := 2)",
    "SELECT hopper.predict({run}, {points}, {id}, {x}, {predicted2}, 2, mst_key := 2)",
    "SELECT hopper.predict({run}, {points}, {id}, {x}, {predicted3}, 0.1::pg_catalog.float8, mst_key := 2)",
    "SELECT hopper.predict_byom({models}, 1, {points}, {id}, {x}, {predicted4})",
    "SELECT hopper.predict_byom({models}, 1, {points}, {id}, {x}, {predicted5}, 1, class_values := ARRAY[true, false, NULL])",
    "SELECT hopper.predict_byom({models}, 1, {points}, {id}, {x}, {predicted6}, 0.1::pg_catalog.float8)",
    "SELECT * FROM hopper.predict_row({run}, 1, '{{1,2}}'::pg_catalog.float4[])",
    "SELECT * FROM hopper.predict_row({one}, NULL, pg_catalog.decode('0102', 'hex'))",
    "SELECT * FROM hopper.predict_row({run}, '{{1,2}}'::pg_catalog.float4[])",
    "SELECT * FROM hopper.predict_row({one}, pg_catalog.decode('0102', 'hex'))",
    "SELECT * FROM hopper.predict_row({run}, 1, '{{1,2}}')",
    "SELECT * FROM hopper.predict_row({run}, '{{1,2}}')",
    "SELECT * FROM hopper.predict_row({run}, 1, '[1, 2]'::pg_catalog.jsonb)",
    "SELECT * FROM hopper.predict_row({run}, '[1, 2]'::pg_catalog.jsonb)",
    "SELECT * FROM hopper.predict_row({run}, 1, '[1, 2]'::pg_catalog.json)",
    "SELECT * FROM hopper.predict_row({run}, '[1, 2]'::pg_catalog.json)",
    "SELECT * FROM hopper.predict_row({run}, 2, (SELECT p FROM {points_row} p LIMIT 1))",
    "SELECT * FROM hopper.predict_row({one}, (SELECT p FROM {pictures_row} p LIMIT 1))",
    "SELECT * FROM hopper.predict_rows({run}, NULL::{points_row}, mst_key := 2)",
    "SELECT * FROM hopper.predict_rows({run}, NULL::{points_row}, 1::pg_catalog.float4, mst_key := 2)",
    "SELECT * FROM hopper.predict_rows({one}, NULL::{pictures_row}, on_null := 'null',"
    " source_query := {pictures_query})",
    "SELECT hopper.create_predict_function({run}, {guess}, 1) IS NOT NULL",
    "SELECT hopper.create_predict_function({run}, {by_class}, 1, pred_type := 'columns') IS NOT NULL",
    "SELECT hopper.predict_value({run}, 1, 'error', NULL, '{{1,2}}'::pg_catalog.float4[])",
    "SELECT hopper.predict_outputs({run}, 1, 'error', NULL, NULL, '{{1,2}}'::pg_catalog.float4[])",
    "SELECT hopper.predict({run}, {points}, {id}, {x}, {predicted6}, 'columns', mst_key := 2, replace := true)",
    "SELECT importance, metric_type FROM hopper.feature_importance({run}, {points}, 2, repeats := 2)",
    "SELECT contribution, class_explained FROM hopper.explain_row({run}, (SELECT p FROM {points_row} p ORDER BY p LIMIT 1), {points}, 2, samples := 2)",
    "SELECT feature_value, prediction FROM hopper.partial_dependence({run}, {points}, {x_name}, 2, '€', points := 2)",
    "SELECT hopper.copy_model({run}, {copied}, '{{1,2}}')",
    "SELECT hopper.rename_model({copied}, {renamed})",
    "SELECT hopper.keep_best({renamed})",
    "SELECT hopper.grant_model({renamed}, 'public', 'train')",
    "SELECT hopper.revoke_model({renamed}, 'public')",
    "SELECT 1 FROM hopper.models() LIMIT 1",
    "SELECT models_trained FROM hopper.fit({shown}, {one}, {models}, 2, {compile}, 'batch_size=4', 1, replace := true)",
    "SELECT hopper.predict({run}, {points}, {id}, {x}, {predicted3}, 0.1::pg_catalog.float8, mst_key := 2,"
    " replace := true)",
    "SELECT hopper.training_preprocessor({points}, {seen}, {y_name}::pg_catalog.name, ARRAY[{x_name}]::pg_catalog.text[],"
    " fold_column := {fold}, replace := true)",
    "SELECT hopper.training_preprocessor({points}, {seen}, {y}, ARRAY[{x_name}]::information_schema.sql_identifier[],"
    " fold_column := {fold}, replace := true)",
    "SELECT hopper.training_preprocessor({points}, {seen}, {y}, ARRAY[{x_name}]::pg_catalog.name[], fold_column := {fold},"
    " replace := true)",
    "SELECT hopper.drop_model({renamed})",
    "SELECT algorithm FROM hopper.search_algorithms()",
    "SELECT hopper.hyperband_schedule({schedule}, 9)",
    "SELECT best_mst_key, best_value, configurations FROM hopper.automl({packed}, {tried}, {models}, {found}, 1, {grid1},"
    " $f${{'batch_size': [4, 8]}}$f$, 'random', 'num_configs=2, num_iterations=1', validation_table := {more},"
    " name := 'it''s \\ it')",
    "SELECT parameter, choices FROM hopper.describe_space({models}, 1, {grid1}, $f${{'batch_size': [4, 8]}}$f$)",
    "SELECT item FROM hopper.explain_automl({packed}, {models}, 1, {grid1}, $f${{'batch_size': [4, 8]}}$f$,"
    " automl_params := 'R=3', validation_table := {more})",
    "SELECT mst_key, value, parameters FROM hopper.best_config({tried})",
    "SELECT hopper.generate_model_configs({models}, {refined}, from_run := {tried}, mst_keys := '{{1,2}}')",
    "SELECT parameter, importance FROM hopper.param_importance({tried})",
    "SELECT pg_catalog.length(hopper.report({tried})) OPERATOR(pg_catalog.>) 10000",
    "SELECT pg_catalog.length(hopper.report(pg_catalog.max(run))) OPERATOR(pg_catalog.>) 5000 FROM hopper.runs",
    "SELECT pg_catalog.count(*) FROM hopper.tensorboard_files({tried}) WHERE pg_catalog.length(content) OPERATOR(pg_catalog.>) 100",
    "SELECT pg_catalog.count(*) FROM hopper.auto_fit({points}, {y}, {fitted}, 1,"
    " group_varname := {id})",
    "SELECT hopper.drop_auto_fit({fitted}) OPERATOR(pg_catalog.>) 10",
    "SELECT metric, mean, fold_values FROM hopper.cross_validate({points}, {validated}, {y},"
    " {x}, 2, 1, {configs})",
    "SELECT metric FROM hopper.cross_validate({points}, {by_group}, {y}, '*', 3, 1,"
    " recipe := 'realmlp_small', group_varname := {id})",
    "SELECT hopper.optuna_views('seen') IS NOT NULL, hopper.mlflow_views('seen_too') IS NOT NULL",
    "SELECT study_name IS NOT NULL FROM seen.studies LIMIT 1",
    "SELECT best_mst_key, best_value, configurations FROM hopper.automl({packed}, {again}, {models}, {refound}, 1, {grid1},"
    " $f${{'batch_size': [2, 4, 8]}}$f$, 'random', 'num_configs=1, num_iterations=1', validation_table := {more},"
    " from_run := {tried}, first_table := {trials})",
    "SELECT hopper.drop_packed({seen})",
    "SELECT task FROM hopper.help() LIMIT 3",
    "SELECT 1 FROM hopper.help('fit') LIMIT 1",
    "SELECT hopper.create_run(pg_catalog.format('SELECT hopper.fit_multiple_model(%L, %L, %L, 1)',"
    " {packed}::pg_catalog.text, {behind}::pg_catalog.text, {configs}::pg_catalog.text)) IS NOT NULL",
    "SELECT hopper.step(pg_catalog.max(run), 60) FROM hopper.runs",
    "SELECT hopper.wait(pg_catalog.max(run), 60) FROM hopper.runs",
    "SELECT hopper.publish(pg_catalog.max(run), {behind_copy}) FROM hopper.runs",
    "SELECT hopper.drop_run(pg_catalog.max(run)) FROM hopper.runs",
    "SELECT hopper.create_run(pg_catalog.format('SELECT hopper.fit_multiple_model(%L, %L, %L, 100000)',"
    " {packed}::pg_catalog.text, {later}::pg_catalog.text, {configs}::pg_catalog.text)) IS NOT NULL",
    "SELECT hopper.stop_trial(pg_catalog.max(run), 1) FROM hopper.runs",
    "SELECT hopper.set_iterations(pg_catalog.max(run), 200000) FROM hopper.runs",
    "SELECT hopper.add_trials(pg_catalog.max(run)) FROM hopper.runs",
    "SELECT hopper.clone_trial(pg_catalog.max(run), 1, fit_params := 'batch_size=5') FROM hopper.runs",
    "SELECT hopper.grant_run(pg_catalog.max(run), 'public') FROM hopper.runs",
    "SELECT hopper.revoke_run(pg_catalog.max(run), 'public') FROM hopper.runs",
    "SELECT hopper.pause(pg_catalog.max(run)) FROM hopper.runs",
    "SELECT hopper.resume(pg_catalog.max(run)) FROM hopper.runs",
    "SELECT hopper.cancel(pg_catalog.max(run)) FROM hopper.runs",
    "SELECT hopper.wait(pg_catalog.max(run), 60) FROM hopper.runs",
    "SELECT hopper.create_run(pg_catalog.format('SELECT hopper.automl(%L, %L, %L, %L, 1, %L, %L, %L, %L)',"
    " {packed}::pg_catalog.text, {steered}::pg_catalog.text, {models}::pg_catalog.text, {steered_best}::pg_catalog.text,"
    " {grid1}::pg_catalog.text, $f${{'batch_size': [4, 8]}}$f$, 'random', 'num_configs=2, num_iterations=1')) IS NOT NULL",
    "SELECT hopper.pin_trial(pg_catalog.max(run), 1) FROM hopper.runs",
    "SELECT hopper.unpin_trial(pg_catalog.max(run), 1) FROM hopper.runs",
    "SELECT hopper.enqueue_trial(pg_catalog.max(run), '{{\"nonsense\": 4}}') FROM hopper.runs",
    "SELECT hopper.step(pg_catalog.max(run), 60) FROM hopper.runs",
    # It ends after it was cancelled, and with it its tables.
    "SELECT hopper.submit(pg_catalog.format('SELECT hopper.fit_multiple_model(%L, %L, %L, 100000)',"
    " {packed}::pg_catalog.text, {later}::pg_catalog.text, {configs}::pg_catalog.text)) IS NOT NULL",
    "SELECT hopper.cancel(pg_catalog.max(run)) FROM hopper.runs",
    "SELECT hopper.wait(pg_catalog.max(run), 60) FROM hopper.runs",
    "SELECT hopper.expire_runs('1 day')",
    "SELECT pid FROM hopper.progress_slots()",
]

class World:
    """One victim's tables under names of one kind."""

    def __init__(self, name, qualified):
        self.names = {kind: name(kind) for kind in ROOM}
        self.qualified = qualified
        self.schema = identifier(self.names["schema"])

    def table(self, kind):
        """As an argument of a function."""
        name = identifier(self.names[kind])
        return f"{self.schema}.{name}" if self.qualified else name

    def arguments(self):
        given = {kind: identifier(self.names[kind]) if kind in COLUMNS else self.table(kind)
                 for kind in self.names if kind not in ("schema", "type")}
        given.update({f"{kind}_name": self.names[kind] for kind in COLUMNS})
        given.update({f"{kind}_row": AsIs(self.table(kind)) for kind in ("points", "pictures")},
                     pictures_query=f"SELECT * FROM {self.table('pictures')}")
        tried = identifier(self.names["tried"] + "_trials")
        given.update(trials=f"{self.schema}.{tried}" if self.qualified else tried)
        given.update(architecture=ARCHITECTURE, compile=COMPILE, compile_list=[COMPILE],
                     weights=struct.pack("<9f", *(i / 10 for i in range(9))).hex(),
                     grid1=GRID % "[0.1]", grid2=GRID % "[0.1, 0.2]")
        return given

    def build(self, cursor):
        column = {kind: identifier(self.names[kind]) for kind in COLUMNS}
        domain = f"{self.schema}.{identifier(self.names['type'])}"
        cursor.execute(f"CREATE SCHEMA {self.schema}")
        cursor.execute(f"CREATE DOMAIN {domain} AS varchar(80)")
        for kind, features in (("points", f"ARRAY[i % 2, i % 3]::real[] AS {column['x']}"),
                               ("pictures", f"decode(lpad(to_hex(i % 5), 4, '0'), 'hex') AS {column['image']}")):
            table = f"{self.schema}.{identifier(self.names[kind])}"
            cursor.execute(
                f"CREATE TABLE {table} AS SELECT ('it''s \\ ' || i)::{domain} AS {column['id']}, {features},"
                f" (ARRAY['a''\"\\', '€', ' '])[1 + i % 3] AS {column['y']}, i % 4 = 0 AS {column['fold']}"
                " FROM generate_series(1, 24) i".replace("%", "%%"), ())

    def tables(self, cursor):
        """Names of all tables of the schema, with the kinds in place of the names."""
        cursor.execute("SELECT relname FROM pg_catalog.pg_class WHERE relkind OPERATOR(pg_catalog.=) 'r'"
                       " AND relnamespace OPERATOR(pg_catalog.=) (SELECT oid FROM pg_catalog.pg_namespace"
                       " WHERE nspname OPERATOR(pg_catalog.=) %s)", (self.names["schema"],))
        return sorted(self.kind_of(name) for name, in cursor.fetchall())

    def kind_of(self, name):
        kinds = [kind for kind in self.names if kind not in COLUMNS and name.startswith(self.names[kind])]
        kind = max(kinds, key=lambda kind: len(self.names[kind]))
        return kind + name[len(self.names[kind]):]


def fill_in(call, arguments):
    """Only names in braces are arguments: psycopg2 quotes them as the session wants it."""
    values = {}

    class Named(dict):
        def __missing__(self, key):
            values[key] = arguments[key]
            return f"%({key})s"

    return call.replace("%", "%%").format_map(Named()), values


def run_calls(cursor, world):
    """What all calls return and write, in any order of rows, with the label column's name as in a plain world."""
    label = world.names["y"]
    results = []

    def keep(what):
        rows = [tuple("y" if cell == label else cell for cell in row) for row in cursor.fetchall()]
        results.append((what, sorted(rows, key=repr)))

    for call in CALLS:
        text, values = fill_in(call, world.arguments())
        cursor.execute(text, values)
        keep(call)
    for kind in ("predicted1", "predicted2", "predicted3", "predicted4", "predicted5", "predicted6",
                 "evaluated", "confused"):
        cursor.execute(f"SELECT * FROM {world.schema}.{identifier(world.names[kind])}")
        keep(kind)
    return results


def become(cursor, role):
    cursor.execute("RESET SESSION AUTHORIZATION")
    cursor.execute(f"SET SESSION AUTHORIZATION {role}")


@pytest.fixture(scope="module")
def admin():
    connection = connect("postgres")
    query(connection, f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    for role in (VICTIM, ATTACKER):
        query(connection, f"DROP ROLE IF EXISTS {role}")
        query(connection, f"CREATE ROLE {role} LOGIN")
    query(connection, f"CREATE DATABASE {DATABASE}")
    inside = connect(DATABASE)
    query(inside, "CREATE EXTENSION model_hopper")
    query(inside, f"GRANT CREATE ON DATABASE {DATABASE} TO {VICTIM}")
    query(inside, f"CREATE SCHEMA shared AUTHORIZATION {ATTACKER}")
    query(inside, "GRANT USAGE, CREATE ON SCHEMA shared TO PUBLIC")
    with inside.cursor() as cursor:
        become(cursor, ATTACKER)
        traps.plant(cursor, "shared")
        cursor.execute("RESET SESSION AUTHORIZATION")
    yield inside
    inside.close()
    query(connection, f"DROP DATABASE {DATABASE} WITH (FORCE)")
    for role in (VICTIM, ATTACKER):
        query(connection, f"DROP ROLE {role}")
    connection.close()


@pytest.fixture
def victim(admin):
    connection = connect(DATABASE)
    query(connection, "SET client_min_messages = error")
    query(connection, f"SET SESSION AUTHORIZATION {VICTIM}")
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def expected(admin):
    """What the calls give with names that nobody can mistake."""
    connection = connect(DATABASE)
    with connection.cursor() as cursor:
        cursor.execute("SET client_min_messages = error")
        # Calls of functions are counted for test_every_function_is_called.
        cursor.execute("SET track_functions = 'all'")
        become(cursor, VICTIM)
        world = World(plain, False)
        world.build(cursor)
        cursor.execute(f"SET search_path = {world.schema}")
        results = run_calls(cursor, world)
        tables = world.tables(cursor)
        cursor.execute("RESET search_path")
        cursor.execute(f"DROP SCHEMA {world.schema} CASCADE")
    # Counts are written at the latest when the session ends.
    connection.close()
    return results, tables


@pytest.mark.parametrize(("name", "standard", "path"), [
    (quoting, "on", "{schema}, shared"),
    (quoting, "off", "{schema}, shared, pg_catalog"),
    (multi_byte, "on", "{schema}, shared, pg_catalog"),
    (multi_byte, "off", "{schema}, shared"),
    (quoting, "off", "shared, pg_catalog"),
    (multi_byte, "on", "shared"),
])
def test_every_function_among_traps(victim, expected, name, standard, path):
    if standard == "off" and victim.server_version >= 190000:
        pytest.skip("PostgreSQL 19 has no other string literals than the standard's")
    world = World(name, not path.startswith("{"))
    with victim.cursor() as cursor:
        world.build(cursor)
        try:
            cursor.execute(f"SET standard_conforming_strings = {standard}")
            traps.plant_temporary(cursor)
            cursor.execute("SET search_path = " + path.replace("{schema}", world.schema))
            results = run_calls(cursor, world)
            tables = world.tables(cursor)
        finally:
            cursor.execute("SET search_path = pg_catalog")
            cursor.execute(f"DROP SCHEMA {world.schema} CASCADE")
    assert tables == expected[1]
    for (call, rows), (_, wanted) in zip(results, expected[0]):
        assert rows == wanted, call


def test_the_traps_work(victim):
    """What is called without a schema is trapped, wherever pg_catalog stands in the path."""
    for path, statement in [("shared", "SELECT generate_subscripts(ARRAY[1.5]::float8[], 1)"),
                            ("shared", "SELECT 1::oid || 'a'::text"),
                            ("shared, pg_catalog", "SELECT length('a'::pg_catalog.text)"),
                            ("shared, pg_catalog", "SELECT 1 = 1"),
                            ("shared, pg_catalog", "SELECT rank() OVER ()"),
                            ("shared, pg_catalog", "SELECT max(1)")]:
        query(victim, f"SET search_path = {path}")
        with pytest.raises(psycopg2.Error, match="planted|is not a"):
            query(victim, statement)
    with pytest.raises(psycopg2.Error, match="violates check constraint"):
        query(victim, "SELECT 'a'::bytea")


def test_every_function_is_called(admin, expected):
    """A function without a call in CALLS is one that nobody has tried with such names."""
    called = {row[0] for row in query(
        admin, "SELECT funcid FROM pg_stat_user_functions WHERE schemaname = 'hopper'")}
    missing = [row[1] for row in query(
        admin, "SELECT oid, oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'hopper'::regnamespace"
        " AND prokind <> 'p' AND oid NOT IN (SELECT typinput FROM pg_type) AND oid NOT IN (SELECT typoutput FROM pg_type)"
        " AND 'hopper.untyped'::regtype <> ALL (proargtypes)"  # there is no value of it
        # These are called by others, and may be a part of their statements.
        " AND obj_description(oid, 'pg_proc') NOT LIKE 'part of %'")
        if row[0] not in called]
    assert not missing


# --- what an unqualified name means ---

@pytest.fixture
def trained(victim):
    """The victim's tables packed, run and so on in schema trained; the session has it in its path."""
    with victim.cursor() as cursor:
        cursor.execute("CREATE SCHEMA trained")
        cursor.execute("SET search_path = trained")
        cursor.execute("CREATE TABLE points AS SELECT i AS id, ARRAY[i % 2, i % 3]::real[] AS x, i % 3 AS y"
                       " FROM generate_series(1, 24) i")
        cursor.execute("SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', normalizing_const => 10)")
        cursor.execute("SELECT hopper.load_model('models', %s)", (ARCHITECTURE,))
        cursor.execute("SELECT hopper.fit('packed', 'run', 'models', 1, %s, 'batch_size=4', 1)", (COMPILE,))
    yield victim
    query(victim, "SET search_path = pg_catalog")
    query(victim, "DROP SCHEMA trained CASCADE")


def test_companions_are_those_beside_the_table(trained):
    """A work copy of a summary in a schema that comes first is not the packed table's."""
    query(trained, "CREATE TEMP TABLE packed_summary AS SELECT * FROM packed_summary")
    query(trained, "UPDATE packed_summary SET normalizing_const = 1")
    query(trained, "CREATE TEMP TABLE run_summary AS SELECT * FROM run_summary WHERE false")
    query(trained, "CREATE TEMP TABLE run_info AS SELECT * FROM run_info WHERE false")
    query(trained, "SELECT hopper.fit('packed', 'again', 'models', 1, %s, 'batch_size=4', 1)", COMPILE)
    assert value(trained, "SELECT normalizing_const FROM again_summary") == 10
    assert value(trained, "SELECT count(*) FROM hopper.leaderboard('run')") == 1
    assert value(trained, "SELECT loss FROM hopper.evaluate('run', 'packed')") > 0


def test_a_timeline_is_shown_to_who_may_read_both_tables(trained):
    query(trained, f"GRANT USAGE ON SCHEMA trained TO {ATTACKER}")
    other = connect(DATABASE)
    query(other, f"SET SESSION AUTHORIZATION {ATTACKER}")
    query(other, "SET search_path = trained, shared")
    query(other, "CREATE TEMP TABLE run_info (metrics_iters int[])")
    for name in ("run", "trained.run"):
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            query(other, "SELECT * FROM hopper.run_timeline(%s)", name)
    query(trained, f"GRANT SELECT ON trained.run_info TO {ATTACKER}")
    with pytest.raises(psycopg2.errors.InsufficientPrivilege):
        query(other, "SELECT * FROM hopper.run_timeline('run')")
    query(trained, f"GRANT SELECT ON trained.run TO {ATTACKER}")
    assert query(other, "SELECT * FROM hopper.run_timeline('run')")
    other.close()


def test_names_keep_their_meaning_in_another_path(trained):
    """Summaries tell names with their schema: what is read from them later is the same table."""
    query(trained, "SET search_path = pg_catalog")
    assert query(trained, "SELECT * FROM hopper.explain_fit(model_table => 'trained.run',"
                 " measure => true)")


def test_users_functions_run_with_the_callers_path(trained):
    """Views, triggers and row policies with functions that name things as their owner does."""
    with trained.cursor() as cursor:
        cursor.execute("""
            CREATE TABLE factors AS SELECT 2::real AS factor;
            CREATE TABLE log (what text, at text);
            CREATE FUNCTION scaled(real[]) RETURNS real[] LANGUAGE plpgsql STABLE AS
                $$ BEGIN RETURN (SELECT array_agg(v * factor) FROM unnest($1) v, factors); END $$;
            CREATE FUNCTION label(int) RETURNS int LANGUAGE plpgsql STABLE AS
                $$ BEGIN PERFORM 1 FROM factors; RETURN $1; END $$;
            -- the planner takes the one apart and calls the other
            CREATE FUNCTION inlined(int) RETURNS int LANGUAGE sql STABLE AS 'SELECT label($1) + 0';
            CREATE FUNCTION folded(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
                $$ BEGIN RETURN inlined($1); END $$;
            CREATE VIEW seen AS SELECT id, scaled(x) AS x, inlined(y) * folded(1) AS y FROM points;
            CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                INSERT INTO log VALUES (TG_OP, TG_TABLE_NAME); RETURN coalesce(NEW, OLD); END $$;
            CREATE TRIGGER note AFTER INSERT OR DELETE ON models FOR EACH ROW EXECUTE FUNCTION note();
            CREATE FUNCTION allowed() RETURNS boolean LANGUAGE plpgsql STABLE AS
                $$ BEGIN RETURN EXISTS (SELECT FROM factors) AND folded(1) = 1; END $$;
            ALTER TABLE run_info ENABLE ROW LEVEL SECURITY;
            ALTER TABLE run_info FORCE ROW LEVEL SECURITY;
            CREATE POLICY who ON run_info USING (allowed());
        """)
        cursor.execute("SELECT hopper.training_preprocessor('seen', 'seen_packed', 'y', 'x')")
        cursor.execute("SELECT hopper.predict('run', 'seen', 'id', 'x', 'predicted')")
        cursor.execute("SELECT * FROM hopper.leaderboard('run')")
        assert cursor.rowcount == 1
        cursor.execute("SELECT hopper.load_model('models', %s)", (ARCHITECTURE,))
        cursor.execute("SELECT hopper.delete_model('models', 2)")
        cursor.execute("SELECT array_agg(what) FROM log")
        assert cursor.fetchone()[0] == ["INSERT", "DELETE"]
        cursor.execute("SHOW search_path")
        assert cursor.fetchone()[0] == "trained"


def test_errors_point_into_our_statements(trained):
    """Not into the caller's, which are not to blame."""
    query(trained, "ALTER TABLE run_info RENAME COLUMN seconds_training TO other")
    with pytest.raises(psycopg2.errors.UndefinedColumn) as error:
        query(trained, "SELECT * FROM hopper.leaderboard('run')")
    assert error.value.diag.statement_position is None
    assert "seconds_training" in error.value.diag.internal_query


def test_a_path_that_an_error_interrupts(trained):
    """The caller's path comes back, whatever ended the statement."""
    query(trained, "CREATE VIEW broken AS SELECT id, x, y / (y - 1) AS y FROM points")
    query(trained, """DO $$ BEGIN
        BEGIN PERFORM hopper.training_preprocessor('broken', 'never', 'y', 'x');
        EXCEPTION WHEN division_by_zero THEN NULL; END;
        IF current_setting('search_path') <> 'trained' THEN RAISE EXCEPTION 'lost'; END IF;
        BEGIN PERFORM hopper.predict('run', 'points', 'no_such', 'x', 'never');
        EXCEPTION WHEN undefined_column THEN NULL; END;
        IF current_setting('search_path') <> 'trained' THEN RAISE EXCEPTION 'lost'; END IF;
        END $$""")


def test_settings_that_change_what_text_means(trained):
    """NULL among the classes stays NULL, and a label called so stays a label."""
    query(trained, "CREATE TABLE odd AS SELECT id, x, (ARRAY['NULL', NULL, 'b\\'])[1 + id % 3] AS y FROM points")
    with trained.cursor() as cursor:
        cursor.execute("SET array_nulls = off")
        cursor.execute("SET extra_float_digits = -15")
        cursor.execute("SET quote_all_identifiers = on")
        cursor.execute("SET bytea_output = 'escape'")
        cursor.execute("SET transform_null_equals = on")
        cursor.execute("SELECT hopper.training_preprocessor('odd', 'odd_packed', 'y', 'x',"
                       " normalizing_const => 0.1234567, num_classes => ARRAY[4], null_labels => 'class')")
        cursor.execute("SELECT hopper.validation_preprocessor('odd', 'odd_more', 'y', 'x', 'odd_packed')")
        cursor.execute("RESET extra_float_digits")
        cursor.execute("SELECT y_class_values, normalizing_const FROM odd_packed_summary")
        assert cursor.fetchone() == ([None, "NULL", "b\\", None], 0.1234567)


def test_sparkline_in_parallel_plans(trained):
    """It asks for the client's encoding, which a parallel worker does not know."""
    with trained.cursor() as cursor:
        cursor.execute("SET client_encoding = 'LATIN1'")
        cursor.execute("SET " + ("debug_parallel_query" if trained.server_version >= 160000
                                 else "force_parallel_mode") + " = on")
        cursor.execute("SELECT hopper.sparkline(ARRAY[1, id]) FROM points LIMIT 1")
        assert cursor.fetchone()[0] == "~~"
