"""auto_fit(): from a table with text and NULLs to an ensemble that is tested on rows that nothing has seen."""

import json
import math
import re

import psycopg2
import pytest
from digits import GREENPLUM, SOURCE, connect, create_database, drop_database, outputs, query, value

DATABASE = "hopper_auto_fit"


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    query(connection, "SET client_min_messages = warning")
    query(connection, "SELECT setseed(0.5)")
    query(connection, "CREATE TABLE customers AS SELECT i AS id, (18 + random() * 60)::int AS age,"
                      " (ARRAY['north', 'south', 'east', NULL])[1 + (random() * 3.99)::int % 4] AS region,"
                      " CASE WHEN random() < 0.9 THEN (random() * 5000)::numeric(8, 2) END AS income"
                      " FROM generate_series(1, 3000) AS i")
    query(connection, "ALTER TABLE customers ADD PRIMARY KEY (id), ADD COLUMN churned boolean, ADD COLUMN spent double precision")
    query(connection, "UPDATE customers SET churned = (age > 45) <> (region IS NOT DISTINCT FROM 'south'),"
                      " spent = 100 * (coalesce(income, 1000) / 1000) ^ 2 + age")
    yield connection
    connection.close()
    drop_database(DATABASE)


@pytest.mark.parametrize("key", ["", ", i AS id"])
def test_few_different_rows(database, key):
    """Were a row's label part of what decides its side, the test would have what was learnt with the other label."""
    query(database, "DROP TABLE IF EXISTS kinds CASCADE; CREATE TABLE kinds AS SELECT 'kind ' || i % 12 AS kind, 'place ' || i % 13 AS place,"
                    " ('x' || substr(md5(i::text), 1, 4))::bit(16)::int < 65536 / (1 + exp(3 * sin(3.0 * (i % 12)) + cos(2.0 * (i % 13)))) AS y"
                    f"{key} FROM generate_series(1, 12000) AS i")
    rows = query(database, "SELECT step, what, result, statement FROM hopper.auto_fit('kinds', 'y', 'kinds_models', 6, replace => true)")
    tested, alone, linear, constant = (float(n) for n in re.findall("(?:accuracy|alone|model|constant) ([0-9.]+)", rows[5][2]))
    # A guess by the chance of each row is right in 0.83 of all.
    assert constant < 0.63 and min(tested, alone, linear) > 0.7
    assert value(database, "SELECT max(n) FROM (SELECT count(DISTINCT apart) AS n FROM (SELECT *, false AS apart FROM kinds_models_rows UNION ALL"
                           " SELECT *, true FROM kinds_models_test_rows) AS r GROUP BY kind, place) AS g") == (2 if key else 1)


def test_classes(database):
    rows = query(database, "SELECT step, what, result, statement FROM hopper.auto_fit('customers', 'churned', 'churn', 8)")
    assert [row[:2] for row in rows] == list(enumerate(["split", "pack", "network", "search", "ensemble", "test", "next"], 1))
    best, members = query(database, "SELECT best_mst_key, (SELECT count(*) FROM churn) FROM churn_summary")[0]
    assert members > 2
    # The epoch is chosen by what the models are compared by; how fine the embeddings are is searched.
    tried = query(database, "SELECT fit_params::json->>'monitor', model_arch->'config'->'layers' FROM churn_info JOIN churn USING (mst_key)"
                            " WHERE mst_key IN (SELECT mst_key FROM churn_trials)")
    assert {monitor for monitor, _ in tried} == {"val_loss"}
    assert len({layer["config"]["sigma"] for _, layers in tried for layer in layers if "sigma" in layer["config"]}) == len(tried)
    # The ensemble was chosen by rows of validation, and tested on others.
    tested = query(database, f"SELECT metrics FROM hopper.evaluate('churn', 'churn_test_packed', mst_key => {members})")[0][0]
    assert f"accuracy {tested[0]:.4f}".rstrip("0") in rows[5][2]
    apart = float(re.match(r"accuracy \S+ ± (\S+),", rows[5][2]).group(1))
    kept = value(database, "SELECT count(*) FROM churn_test_rows")
    # Wilson: the farthest share of which what was found is no more than 1.96 deviations away.
    farthest = tested[0] - apart
    assert tested[0] > 0.5 and abs(apart - 1.96 * math.sqrt(farthest * (1 - farthest) / kept)) < 1e-4
    constant = value(database, "SELECT max(c) / sum(c)::float8 FROM (SELECT count(*) AS c FROM churn_test_rows GROUP BY churned) g")
    assert f"a constant {constant:.4f}".rstrip("0") in rows[5][2]
    assert tested[0] > constant + 0.15
    # What separates the classes is not linear.
    beside = [part.split(" ") for part in rows[5][2].split("; ")]
    assert [part[:2] for part in beside[1:]] == [["the", "best"], ["a", "linear"], ["a", "constant"]]
    assert constant - 0.1 < float(beside[2][3].strip(",")) < tested[0] - 0.05 and beside[3][3] == "0.5"
    reach = value(database, f"SELECT hopper.auc_reach(array_agg(label), array_agg(outputs[2])) FROM hopper.predict_packed('churn', 'churn_test_packed', {members})")
    assert 0 < reach < 0.1 and f"auc {tested[1]:.4f} ± {reach:.4f}" in rows[5][2]
    # What was told is kept.
    assert query(database, "SELECT step, what, result, statement FROM churn_steps ORDER BY step") == rows
    assert value(database, "SELECT count(*) FROM churn_rows r JOIN churn_test_rows t USING (id)") == 0
    assert value(database, "SELECT count(*) FROM (SELECT id FROM churn_rows UNION ALL SELECT id FROM churn_test_rows) r") == 3000
    assert value(database, "SELECT count(*) FROM hopper.describe_features('churn') WHERE feature = 'id' AND treatment <> 'drop'") == 0
    assert best
    # With a temperature it is explained and called as any other.
    query(database, "SELECT hopper.copy_model('churn', 'calibrated', %s)", members)
    key, found, before = query(database, "SELECT mst_key, loss, loss_before FROM hopper.calibrate('calibrated', 'churn_packed_validation')")[0]
    assert found <= before
    query(database, "SELECT hopper.create_predict_function('calibrated', 'calibrated_churn', %s, pred_type => 'columns')", key)
    if not GREENPLUM:
        row = query(database, "SELECT (calibrated_churn(age, region, income, spent)).* FROM customers WHERE id = 1")[0]
        told = dict(query(database, "SELECT r.class_value, r.prob FROM hopper.predict_row('calibrated', %s, (SELECT c FROM customers AS c WHERE id = 1)) AS r", key))
        assert sorted(row[1:]) == pytest.approx(sorted(told.values()))
        parts = query(database, "SELECT sum(contribution), min(prediction) - min(baseline) FROM hopper.explain_row('calibrated', (SELECT c FROM customers AS c"
                                " WHERE id = 1), 'churn_test_rows', mst_key => %s)", key)[0]
        assert parts[0] == pytest.approx(parts[1], abs=1e-4)


def test_numbers(database):
    rows = query(database, "SELECT what, result FROM hopper.auto_fit(source_table => 'customers', dependent_varname => 'spent', model_table => 'spending',"
                           " seconds => 8, treatments => '{\"churned\": \"drop\"}')")
    tested = query(database, "SELECT metrics_type, metrics FROM hopper.evaluate('spending', 'spending_test_packed',"
                             " mst_key => (SELECT max(mst_key) FROM spending))")[0]
    deviation = value(database, "SELECT stddev_pop(spent) FROM spending_test_rows")
    # In the label's unit.
    assert tested[0][0] == "root_mean_squared_error" and tested[1][0] < deviation / 2
    assert rows[-2][1].startswith("root_mean_squared_error")
    linear, zero = (part.split() for part in rows[-2][1].split("; ")[2:])
    assert tested[1][0] < float(linear[3].strip(",")) < deviation * 1.1
    assert zero[2:] == [f"{deviation:.4f},", "0"]
    assert value(database, "SELECT count(*) FROM pg_class WHERE relname LIKE 'spending\\_linear%%'") == 0
    # hopper.runs tells of one run.
    assert query(database, "SELECT function FROM hopper.runs WHERE model_table LIKE 'spending%%'") == [("automl",)]


@pytest.mark.parametrize("case", json.loads((SOURCE / "test" / "baseline" / "auc.json").read_text()))
def test_the_interval_of_an_auc_is_the_wider_of_two(database, case):
    """DeLong's, and Newcombe's, which is no point where all rows are told apart."""
    found = "SELECT hopper.auc_reach(%s::int[]::text[], %s::float8[])"
    assert case["reach"] > 0
    assert value(database, found, case["truth"], case["chances"]) == pytest.approx(case["reach"], rel=1e-4)
    assert value(database, found, case["truth"], [1 - chance for chance in case["chances"]]) == pytest.approx(case["reach"], rel=1e-4)
    assert value(database, found, [1, 1], [0.1, 0.2]) is None


def test_a_later_call_takes_the_place(database):
    """Of few rows, too: nobody is warned of a batch that nobody chose."""
    query(database, "CREATE TABLE small AS SELECT i AS id, i % 7 AS a, i % 3 = 0 AS y FROM generate_series(1, 300) AS i")
    database.notices.clear()
    query(database, "SELECT hopper.auto_fit('small', 'y', 'again', 1)")
    assert not [notice for notice in database.notices if "larger than a partition" in notice]
    with pytest.raises(psycopg2.errors.DuplicateTable, match='the name "again" is taken') as taken:
        query(database, "SELECT hopper.auto_fit('small', 'y', 'again', 1)")
    assert taken.value.diag.message_detail == '"again", "again_best", "again_packed" and 5 more already exist.'
    assert re.search("replace [:=][=>] true", taken.value.diag.message_hint) and taken.value.diag.context is None
    query(database, "SELECT hopper.mlp('again_networks', 'again_packed', name => 'mine')")
    query(database, "DELETE FROM small WHERE id > 200")
    query(database, "SELECT hopper.auto_fit('small', 'y', 'again', 1, replace => true)")
    assert value(database, "SELECT n_rows FROM again_packed_summary") + value(database, "SELECT n_rows FROM again_packed_validation_summary") \
        + value(database, "SELECT n_rows FROM again_test_packed_summary") == 200
    # A network for each model but the ensemble, the recipe, the ranges, the linear one, and the one that is not of the search.
    assert value(database, "SELECT count(*) FROM again_networks") <= value(database, "SELECT count(*) FROM again") - 1 + 4
    assert value(database, "SELECT count(*) FROM again_networks WHERE name = 'mine'") == 1


# What a call makes, by the endings of names.
MADE = ["", "_info", "_summary", "_state", "_trials", "_rungs", "_decisions", "_rows", "_test_rows", "_packed", "_packed_summary", "_packed_validation",
        "_packed_validation_summary", "_test_packed", "_test_packed_summary", "_networks", "_best", "_best_summary", "_probe", "_linear", "_steps"]


@pytest.mark.parametrize("replace", ["false", "true"])
@pytest.mark.parametrize("made", MADE)
def test_what_is_something_else_is_refused_before_a_row_is_read(database, made, replace):
    """The rows cannot be read at all."""
    query(database, "CREATE OR REPLACE FUNCTION unreadable(integer) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RAISE 'a row was read'; END $$")
    query(database, "CREATE OR REPLACE VIEW unreadable_rows AS SELECT unreadable(age) AS age, churned FROM customers")
    query(database, f"CREATE TABLE taken{made} (mine integer)")
    with pytest.raises(psycopg2.Error, match=f'"taken{made}" (already exists|cannot be replaced|is not a table of model architectures)') as refused:
        query(database, f"SELECT hopper.auto_fit('unreadable_rows', 'churned', 'taken', 1, replace => {replace})")
    assert refused.value.diag.context is None
    query(database, f"DROP TABLE taken{made}")
    with pytest.raises(psycopg2.Error, match="a row was read"):
        query(database, f"SELECT hopper.auto_fit('unreadable_rows', 'churned', 'taken', 1, replace => {replace})")


def test_what_hangs_on_the_earlier_one_is_told_before_a_row_is_read(database):
    query(database, "CREATE TABLE held_source AS SELECT i AS id, i % 7 AS a, i % 3 = 0 AS y FROM generate_series(1, 300) AS i")
    query(database, "SELECT hopper.auto_fit('held_source', 'y', 'held', 1)")
    query(database, "CREATE VIEW hanging AS SELECT mst_key FROM held_best")
    with pytest.raises(psycopg2.errors.DependentObjectsStillExist):
        query(database, "SELECT hopper.auto_fit('unreadable_rows', 'churned', 'held', 1, replace => true)")
    query(database, "DROP VIEW hanging")


def test_groups_and_times_are_not_separated(database):
    """Three parts, and a column that is called as the table within the statement."""
    query(database, 'CREATE TABLE visits AS SELECT i AS id, i % 50 AS "Family", date \'1969-01-01\' + (i * 7) % 900 AS seen, 0 AS t,'
                    " random() AS x, random() < 0.3 + 0.4 * (i % 2) AS bought FROM generate_series(1, 1000) AS i")
    query(database, 'ALTER TABLE visits ADD PRIMARY KEY ("Family", seen, id)')  # what has another part is left out once
    for name, how, column in (("kin", "group_varname => 'Family'", '"Family"'), ("late", "time_varname => 'seen'", "seen")):
        rows = query(database, f"SELECT statement FROM hopper.auto_fit('visits', 'bought', '{name}', 1, {how})")
        assert f"{how.split()[0]} := '{column}'" in rows[1][0]
        known, kept = (query(database, f"SELECT DISTINCT {column} FROM {name}_{rows}") for rows in ("rows", "test_rows"))
        assert not set(known) & set(kept)
        assert name == "kin" or max(known) < min(kept)
        assert 150 <= value(database, f"SELECT count(*) FROM {name}_test_rows") <= 250
        assert value(database, f"SELECT count(*) FROM hopper.describe_features('{name}') WHERE feature = %s", column.strip('"')) == 0
    query(database, "SELECT hopper.auto_fit('visits', 'bought', 'by_chance', 1)")
    assert 150 <= value(database, "SELECT count(*) FROM by_chance_test_rows") <= 250
    query(database, "SELECT hopper.auto_fit('visits', 'bought', 'many_kept', 1, test_fraction => 0.5, group_varname => 'Family')")
    assert value(database, "SELECT count(*) FROM many_kept_test_rows") == 500
    with pytest.raises(psycopg2.Error, match='column "t" of "visits" holds no two values'):
        query(database, "SELECT hopper.auto_fit('visits', 'bought', 'once', 1, time_varname => 't')")
    with pytest.raises(psycopg2.Error, match='column "family" of "visits" does not exist'):
        query(database, "SELECT hopper.auto_fit('visits', 'bought', 'once', 1, group_varname => 'family')")
    # One row is for the test, or for training: both happen.
    told = set()
    for x in range(40):
        query(database, "DROP TABLE IF EXISTS few")
        query(database, f"CREATE TABLE few AS SELECT 1 AS id, {x} AS x, true AS bought")
        with pytest.raises(psycopg2.errors.InvalidParameterValue, match='"few" has too few rows') as error:
            query(database, "SELECT hopper.auto_fit('few', 'bought', 'once', 1)")
        told.add(error.value.diag.message_detail)
    assert told == {f"With a label {n} are left to train on, of 5 that are needed." for n in (0, 1)}
    # Many rows, which are equal but for the label: the first ones are for training, whatever their hash is with others.
    told = set()
    for x in range(20):
        query(database, f"DROP TABLE few; CREATE TABLE few AS SELECT {x} AS x, i % 2 = 0 AS bought FROM generate_series(1, 500) AS i")
        with pytest.raises(psycopg2.errors.InvalidParameterValue, match='"few" has too few (different )?rows') as error:
            query(database, "SELECT hopper.auto_fit('few', 'bought', 'once', 1)")
        told.add((error.value.diag.message_primary, error.value.diag.message_hint))
    assert told == {('"few" has too few different rows', "Keep none: test_fraction := 0."), ('"few" has too few rows', None)}


def test_no_rows_are_kept_for_a_test(database):
    rows = query(database, "SELECT step, what, result, statement FROM hopper.auto_fit('customers', 'churned', 'untested', 1, test_fraction => 0)")
    assert [what for _, what, _, _ in rows] == ["split", "pack", "network", "search", "ensemble", "test", "next"]
    assert rows[0][2] == "all rows are for training and validation"
    assert rows[5][2:] == ("no rows are kept: evaluate() tests on others", None)
    assert value(database, "SELECT sum(n) FROM (SELECT count(*) AS n FROM untested_rows UNION ALL SELECT count(*) FROM untested_test_rows) AS r") \
        == value(database, "SELECT count(*) FROM customers WHERE churned IS NOT NULL")
    assert not outputs(database, "untested_%linear%")


def test_rows_for_the_test_are_the_same_in_each_session(database):
    """Whatever a session's settings make of times and numbers as text."""
    query(database, "CREATE TABLE logins AS SELECT id, timestamptz '2024-01-01 00:00+00' + id * interval '7 hours' AS at, sin(id) AS x,"
                    " churned FROM customers WHERE id <= 1000")
    query(database, "SELECT hopper.auto_fit('logins', 'churned', 'logged', 1)")
    folds = ("SELECT hopper.cross_validate('logins', '{0}', 'churned', 'x', folds => 2, num_iterations => 1, recipe => 'resnet',"
             " options => '{{\"hidden\": [4]}}')")
    query(database, folds.format("crossed"))
    kept = query(database, "SELECT id FROM logged_test_rows ORDER BY id")
    assert 100 < len(kept) < 300
    other = connect(DATABASE)
    query(other, "SET timezone = 'Asia/Tokyo'; SET datestyle = 'SQL, DMY'; SET extra_float_digits = -10")
    assert query(other, "SELECT id FROM logged_test_rows ORDER BY id") == kept
    query(other, folds.format("crossed_there"))
    other.close()
    assert value(database, "SELECT count(*) FROM crossed_folds JOIN crossed_there_folds USING (id, fold)") == 1000


def test_its_time_is_over_before_the_search(database):
    """The first configurations are trained nevertheless."""
    query(database, "CREATE VIEW slow AS SELECT age, region, churned FROM customers, (SELECT pg_sleep(1.2)) AS s WHERE id <= 400")
    rows = query(database, "SELECT what, statement FROM hopper.auto_fit('slow', 'churned', 'hurried', 1)")
    assert [row[0] for row in rows][-1] == "next"
    assert "max_seconds := 0.1" in rows[3][1]
    # Passes of the linear model take next to nothing.
    assert value(database, "SELECT iterations FROM hurried_info WHERE mst_key NOT IN (SELECT mst_key FROM hurried_trials) ORDER BY mst_key LIMIT 1") > 1


@pytest.mark.parametrize("call", [
    "SELECT hopper.auto_fit('customers', 'churned', 'claimed', 1{})",
    "SELECT hopper.cross_validate('customers', 'claimed', 'churned', folds => 2, num_iterations => 1, recipe => 'resnet')"])
def test_a_second_session_is_refused_at_once(database, call):
    """Not after the whole training of the first one, by a catalog's unique index."""
    other = connect(DATABASE)
    other.autocommit = False
    query(other, call.format(""))
    for again in {call.format(""), call.format(", replace => true")}:
        with pytest.raises(psycopg2.errors.ObjectInUse, match='another session is making the table "claimed"'):
            query(database, again)
    other.rollback()
    other.close()


def test_names_of_any_kind(database):
    """What goes with the models has names that begin with theirs, whatever that holds."""
    query(database, 'CREATE SCHEMA "My Shop"')
    name = '"My Shop"."The ""5 %s"" Model."'
    call = "SELECT step, statement FROM hopper.auto_fit('customers', 'churned', %s, 2, replace => %s)"
    for again in (False, True):
        assert len(query(database, call, name, again)) == 7
    made = {each for each, in query(database, "SELECT relname FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'My Shop') AND relkind IN ('r', 'v')")}
    assert {f'The "5 %s" Model.{suffix}' for suffix in ("", "_rows", "_steps", "_networks", "_packed_validation_summary", "_trials")} <= made
    assert all(each.startswith('The "5 %s" Model.') for each in made)
    assert query(database, "SELECT hopper.predict(%s, 'customers', 'id', output_table => 'guessed_by_name', pred_type => 'response')", name) == [(3000,)]
    run = value(database, "SELECT hopper.create_run(format('SELECT * FROM hopper.auto_fit(%%L, %%L, %%L, 60)', 'customers', 'churned', %s::text))", '"My Shop"."M %s"')
    query(database, "SELECT hopper.step(%s, 0)", run)
    query(database, "SELECT hopper.cancel(%s)", run)
    assert not query(database, "SELECT relname FROM pg_class WHERE relname LIKE 'M %%' AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'My Shop')")


def relations(database, schema):
    return {each for each, in query(database, "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                                    " WHERE c.relkind IN ('r', 'v') AND n.nspname = %s", schema)}


def test_all_that_was_made_is_dropped(database):
    query(database, "CREATE SCHEMA trash; CREATE TABLE trash.kept_rows (a int); CREATE TABLE trash.model_of_mine (a int)")
    kept = relations(database, "trash")
    query(database, "SELECT hopper.auto_fit('customers', 'churned', 'trash.model', 1)")
    made = relations(database, "trash") - kept
    assert {"model", "model_steps", "model_rows"} <= made
    # What others have made of it is told, and all stays.
    query(database, "CREATE VIEW seen AS SELECT * FROM trash.model_steps")
    with pytest.raises(psycopg2.Error, match="depend"):
        query(database, "SELECT hopper.drop_auto_fit('trash.model')")
    assert relations(database, "trash") - kept == made
    query(database, "DROP VIEW seen")
    assert value(database, "SELECT hopper.drop_auto_fit('trash.model')") == len(made)
    assert relations(database, "trash") == kept
    for other in ("trash.model", "trash.kept", "customers", "nowhere"):
        assert value(database, "SELECT hopper.drop_auto_fit(%s)", other) == 0
    assert relations(database, "trash") == kept
    assert value(database, "SELECT count(*) FROM customers") == 3000


@pytest.mark.skipif(GREENPLUM, reason="segments cannot train into temporary tables")
def test_temporary_models_are_replaced(database):
    """pg_temp is another schema in each session."""
    call = "SELECT hopper.auto_fit('customers', 'churned', 'pg_temp.passing', 1{})"
    query(database, call.format(""))
    with pytest.raises(psycopg2.Error, match="is taken") as refused:
        query(database, call.format(""))
    assert "replace => true" in str(refused.value)
    query(database, call.format(", replace => true"))
    query(database, "DISCARD TEMP")


def test_again_from_a_temporary_table(database):
    """Its views are temporary, and in the way of the next call's."""
    query(database, "CREATE TEMP TABLE brief AS SELECT * FROM customers WHERE churned IS NOT NULL LIMIT 400")
    call = "SELECT hopper.auto_fit('brief', 'churned', 'of_brief', 1, replace => true)"
    query(database, call)
    with pytest.raises(psycopg2.Error, match='a temporary view "of_brief_rows" hides') as refused:
        query(database, call)
    query(database, re.search(r"DROP VIEW .*", str(refused.value))[0])
    query(database, call)
    query(database, "DISCARD TEMP; SELECT hopper.drop_model('of_brief')")


@pytest.mark.parametrize("arguments, error", [
    ("'customers', 'churned', NULL", "must not be NULL"), ("'customers', 'churned', 'm', 0", "seconds must be 1 or more"),
    ("'customers', 'churned', 'm', label_kind => 'number'", 'label_kind must be "class" or "value"'),
    ("'customers', 'churned', 'm', test_fraction => 1", "test_fraction must be 0, or 0.01 to 0.9"),
    ("'customers', 'churned', 'm', 'NaN'", "seconds must be .* finite"), ("'customers', 'churned', 'm', 'Infinity'", "seconds must be .* finite"),
    ("'unlabelled', 'churned', 'm'", "With a label 0 are left"), ("'elsewhere', 'churned', 'm'", "Perhaps you meant 'shop.elsewhere'"),
    ("'\"Odd Table\"', 'A b', 'm'", '^"Odd Table" has too few rows'), ("'\"Odd Table\"', '\"A b\"', 'm', time_varname => '\"T 1\"'",
     'column "T 1" of "Odd Table" holds no two values'),
    ("'Odd Table', 'churned', 'm'", '''Perhaps you meant 'public."Odd Table"\''''), ("'Nowhere Else', 'churned', 'm'", "in double quotes"),
    ("'unlike', 'same', 'm'", 'column "same" of "unlike" holds one value only'), ("'unlike', 'number', 'm'", 'column "number" of "unlike" holds one value only'),
    ("'unlike', 'churned', 'm'", 'column "endless" of "unlike" holds an infinite value in 1 row\n.*"endless" : "drop"'),
    ("'unlike', 'endless', 'm'", 'column "endless" of "unlike" holds NaN or infinity in 2 rows\n.*rows without a label are left out'),
    ("'unlike', 'churned', 'm', treatments => '{\"endless\": \"drop\"}'", 'column "ends" of "unlike" holds an infinite value in 3 rows'),
    ("'customers', 'churned', 'hidden'", 'a temporary table "hidden_rows" hides what would be made in "public"\nHINT:  Choose another name'),
    ("'customers', 'churned', 'hidden', replace => true", 'a temporary table "hidden_rows" hides'),
    ("'unlike', 'pair', 'm'", 'column "pair" of "unlike" is an array'), ("'unlike', 'churned', 'm', treatments => '3'", "treatments must be a JSON object"),
    ("'prose', 'churned', 'm'", 'no column of "prose" is left to be a feature\nDETAIL:  Column "note" is left out: it holds no category often enough'),
    ("'customers', 'churned', 'My Model'", 'argument "model_table" is not a valid table name: My Model\n.*in double quotes'),
    ("'customers', 'churned', repeat('m', 38)", 'table name "m+" is too long\n.*The table "m+_packed_validation_summary" goes with it'),
    ("'nowhere', 'churned', 'm'", 'relation "nowhere" does not exist'), ("'customers', 'churn', 'm'", 'column "churn" of "customers" does not exist'),
    ("'customers', 'churned IS NULL) OR (true', 'm'", 'column "churned IS NULL.*" does not exist'),
    ("'lately', 'churned', 'm', time_varname => 'id'", 'column "pair" of "lately" holds an array of 3 elements'),
    ("'timeless', 'churned', 'm', time_varname => 'id'", 'column "id" of "timeless" holds NULL or NaN in 10 rows')])
def test_what_is_refused(database, arguments, error):
    query(database, "CREATE OR REPLACE VIEW unlabelled AS SELECT age, NULL::boolean AS churned FROM customers")
    query(database, "CREATE SCHEMA IF NOT EXISTS shop; CREATE TABLE IF NOT EXISTS shop.elsewhere (a integer); CREATE TABLE IF NOT EXISTS \"Odd Table\" (\"A b\" integer, \"T 1\" date);"
                    " CREATE TEMP TABLE IF NOT EXISTS hidden_rows (a integer);"
                    " CREATE OR REPLACE VIEW unlike AS SELECT age, churned, ARRAY[age, age] AS pair, true AS same, 3.5 AS number, CASE WHEN id < 3 THEN (ARRAY['NaN', '-Infinity'])[id]::real"
                    " ELSE id END AS endless, CASE WHEN id % 1000 = 0 THEN 'infinity' ELSE date '2020-01-01' + id END AS ends FROM customers;"
                    " CREATE OR REPLACE VIEW prose AS SELECT md5(id::text) AS note, churned FROM customers;"
                    # The latest rows are for the test.
                    " CREATE OR REPLACE VIEW lately AS SELECT id, CASE WHEN id < (SELECT max(id) FROM customers) THEN ARRAY[id, age] ELSE ARRAY[1, 2, 3] END AS pair,"
                    " churned FROM customers;"
                    " CREATE OR REPLACE VIEW timeless AS SELECT CASE WHEN id > 10 THEN id END AS id, age, churned FROM customers")
    before, path = outputs(database), value(database, "SHOW search_path")
    with pytest.raises(psycopg2.Error, match=error):
        query(database, f"SELECT hopper.auto_fit({arguments})")
    assert outputs(database) == before
    assert value(database, "SHOW search_path") == path


def test_a_run_makes_its_search(database):
    """In steps, as on Greenplum; in the background: auto_fit_runs_test.py."""
    call = "SELECT hopper.create_run($r$SELECT * FROM hopper.auto_fit('customers', 'churned', '{}', {})$r$)"
    run = value(database, call.format("stepped", 2))
    assert value(database, "SELECT count(*) FROM stepped_steps") == 3
    while value(database, "SELECT hopper.step(%s, 1)", run) != "done":
        pass
    told = query(database, "SELECT step, what, result FROM stepped_steps ORDER BY step")
    assert [row[1] for row in told] == ["split", "pack", "network", "search", "ensemble", "test", "next"] and told[5][2].startswith("accuracy ")
    run = value(database, call.format("unwanted", 60))
    query(database, "SELECT hopper.step(%s, 0)", run)
    query(database, "SELECT hopper.cancel(%s)", run)
    assert not query(database, "SELECT relname FROM pg_class WHERE relname LIKE 'unwanted%%'")


def test_nothing_is_told_of_models_that_are_gone(database):
    query(database, "SET client_min_messages = notice")
    database.notices.clear()
    query(database, "SELECT hopper.auto_fit('customers', 'churned', 'told', 2)")
    assert value(database, "SHOW client_min_messages") == "notice"
    query(database, "SET client_min_messages = warning")
    told = "".join(database.notices)
    assert 'packed' in told and 'automl "told" finished' in told
    assert "told_probe" not in told and "told_linear" not in told


def test_a_number_that_tells_rows_apart_is_named(database):
    """In a table with a primary key it is left out; here it would be a feature."""
    query(database, "CREATE TABLE unkeyed AS SELECT * FROM customers")
    query(database, "SET client_min_messages = notice")
    database.notices.clear()
    query(database, "SELECT hopper.auto_fit('unkeyed', 'churned', 'unkeyed_model', 1)")
    told = [notice for notice in database.notices if "another value in each row" in notice]
    assert told == ['NOTICE:  column "id" has another value in each row\n'
                    "HINT:  Where it only tells rows apart, leave it out: treatments := '{\"id\" : \"drop\"}'.\n"]
    database.notices.clear()
    query(database, "SELECT hopper.auto_fit('unkeyed', 'churned', 'unkeyed_2', 1, treatments => '{\"id\" : \"drop\"}')")
    query(database, "SELECT hopper.auto_fit('customers', 'churned', 'unkeyed_3', 1)")
    query(database, "SET client_min_messages = warning")
    assert not [notice for notice in database.notices if "another value in each row" in notice]


def test_a_key_that_no_treatment_takes(database):
    query(database, "CREATE TABLE keyed AS SELECT md5(id::text)::uuid AS key, age, churned FROM customers")
    query(database, "ALTER TABLE keyed ADD PRIMARY KEY (key)")
    query(database, "SET client_min_messages = notice")
    database.notices.clear()
    query(database, "SELECT hopper.auto_fit('keyed', 'churned', 'keyed_model', 2)")
    query(database, "SET client_min_messages = warning")
    # Neither is told what nobody has asked for.
    assert not [notice for notice in database.notices if "left out" in notice or "restore_best" in notice], database.notices
    assert query(database, "SELECT feature FROM hopper.describe_features('keyed_model')") == [("age",)]


@pytest.mark.skipif(GREENPLUM, reason="the coordinator's statistics do not count what segments read")
def test_many_columns_are_not_many_readings(database):
    query(database, "SET max_parallel_workers_per_gather = 0")
    readings = []
    for columns in (4, 60):
        query(database, f"CREATE TABLE wide_{columns} AS SELECT sin(i) > 0 AS y, "
                        + ", ".join(f"i % {7 + c} AS a{c}, cos(i * {c + 1}) AS b{c}" for c in range(columns)) + " FROM generate_series(1, 120) AS i")
        query(database, "BEGIN")
        query(database, f"SELECT hopper.auto_fit('wide_{columns}', 'y', 'narrow_{columns}', 1)")
        readings.append(value(database, f"SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = 'wide_{columns}'"))
        query(database, "ROLLBACK")
    query(database, "RESET max_parallel_workers_per_gather")
    assert readings[0] == readings[1]


def test_one_model_is_left(database):
    """The linear one stands beside it."""
    query(database, "SELECT hopper.auto_fit('customers', 'churned', 'lone', 1, test_fraction => 0)")
    linear = value(database, "SELECT model_id FROM lone_networks WHERE name = 'linear'")
    plan = {"names": value(database, "SELECT hopper.names_like('lone', 'model_table', 'packed_validation_summary')"), "source_table": "customers",
            "label": "churned", "kind": "class", "classes": 2, "seconds": 1, "test_fraction": 0, "began": "2026-01-01", "later": False, "searched": 1,
            "ahead": 0, "judging": 0.1, "replaces": False, "statement": "", "comment": value(database, "SELECT obj_description('lone_steps'::regclass)"),
            "linear": f"SELECT hopper.fit('lone_packed', 'lone_linear', 'lone_networks', {linear}, 'loss=binary_crossentropy, optimizer=Adam, metrics=[accuracy]',"
                      " 'batch_size=32', 1, validation_table := 'lone_packed_validation')"}
    # What a search leaves of which all other configurations have failed.
    query(database, "DELETE FROM lone WHERE mst_key <> 1")
    query(database, "DELETE FROM lone_info WHERE mst_key <> 1")
    query(database, "UPDATE lone_trials SET place = CASE mst_key WHEN 1 THEN 1 END")
    query(database, "UPDATE lone_summary SET best_mst_key = 1")
    query(database, "DELETE FROM lone_steps WHERE step > 3")
    query(database, "SELECT hopper.auto_fit_end('lone', %s)", json.dumps(plan))
    told = dict(query(database, "SELECT step, result FROM lone_steps"))
    assert told[4].startswith("1 configurations") and re.match("model 3, of [12] member", told[5]), told
    assert query(database, "SELECT mst_key FROM lone ORDER BY 1") == [(1,), (2,), (3,)]
    assert not outputs(database, "lone_linear%")


@pytest.mark.parametrize("values, said, kind, otherwise, other_kind", [
    (43, "holds 20 whole numbers or more: they are taken for numbers", "a number", "class", "one of 43 classes"),
    (6, "holds 6 whole numbers: they are taken for classes", "one of 6 classes", "value", "a number")])
def test_how_whole_numbers_are_taken_is_told(database, values, said, kind, otherwise, other_kind):
    query(database, f"CREATE TABLE counted_{values} AS SELECT sin(i) AS a, i % {values} AS n FROM generate_series(1, 900) AS i")
    query(database, "SET client_min_messages = notice")
    for how, expected in ("", kind), (f", label_kind => '{otherwise}'", other_kind):
        database.notices.clear()
        result = query(database, f"SELECT what, result FROM hopper.auto_fit('counted_{values}', 'n', 'counting_{values}', 1, replace => true{how})")[1][1]
        assert result.endswith(f"the label is {expected}")
        told = [notice for notice in database.notices if "whole numbers" in notice]
        assert len(told) == (0 if how else 1)
        assert how or f'label column "n" of "counted_{values}" {said}' in told[0] and re.search(f"label_kind [:=][=>] '{otherwise}'", told[0])
    query(database, "SET client_min_messages = warning")


def test_thousands_of_features(database):
    """A network is chosen for which there is time, and a linear model that is better than those takes its place."""
    query(database, "CREATE TABLE notes AS SELECT i % 2 = 1 AS y, (SELECT string_agg('w' || CASE WHEN h % 10 = 0 THEN 5000 + i % 2 * 300 + h / 100 % 300"
                    " ELSE floor(5000 * power(h / 100 % 100000 / 100000.0, 2.0)) END, ' ') FROM (SELECT ('x' || substr(md5(i || '/' || k), 1, 7))::bit(28)::int"
                    " AS h FROM generate_series(1, 40) AS k) AS d) AS body FROM generate_series(1, 2000) AS i")
    rows = query(database, "SELECT step, result FROM hopper.auto_fit('notes', 'y', 'noted', 8,"
                           " treatments => '{\"body\": {\"treatment\": \"word_counts\", \"vocabulary\": 4000}}')")
    assert '"frequencies": 0' in rows[2][1], rows
    longest = value(database, "SELECT max((seconds_training + seconds_evaluating) / iterations) FROM noted_info WHERE seconds_training > 0")
    assert 3 * longest < 8, rows
    linear, constant = (float(n) for n in re.findall("(?:a linear model|constant) ([0-9.]+)", rows[5][1]))
    assert linear > constant + 0.3, rows
    assert value(database, "SELECT metric FROM hopper.evaluate('noted', 'noted_test_packed')") >= linear - 0.02
    # It is a model as the others are.
    key, loss = query(database, "SELECT mst_key, validation_loss_final FROM noted_info WHERE mst_key NOT IN (SELECT mst_key FROM noted_trials)"
                                " ORDER BY 1 LIMIT 1")[0]
    assert value(database, "SELECT loss FROM hopper.evaluate('noted', 'noted_packed_validation', mst_key => %s)", key) == pytest.approx(loss, rel=1e-4)
