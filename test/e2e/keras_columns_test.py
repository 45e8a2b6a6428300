"""Keras models of structured data with their own inputs of strings: what their StringLookup, Hashing and
TextVectorization do becomes treatments of columns, by which tables are packed and rows predicted.
Expected numbers are those of real Keras (test/baseline/generate_keras_columns.py)."""

import json
import pathlib

import numpy
import psycopg2
import pytest

from digits import create_database, drop_database, query, value

DATABASE = "hopper_keras_columns"
BASELINE = json.loads((pathlib.Path(__file__).resolve().parents[1] / "baseline" / "keras_columns.json").read_text())
CASES = {case["name"]: (number, case) for number, case in enumerate(BASELINE["cases"], 1)}
NAMES = list(BASELINE["columns"])


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    types = ", ".join(f"{name} {BASELINE['types'][name]}" for name in NAMES)
    query(connection, f"CREATE TABLE customers (id int PRIMARY KEY, {types}, kind text)")
    for i, row in enumerate(zip(*BASELINE["columns"].values())):
        query(connection, f"INSERT INTO customers VALUES ({', '.join(['%s'] * (len(row) + 2))})",
              i, *row, "abc"[i % 3])
    for number, case in CASES.values():
        weights = numpy.array(case["weights"], dtype="<f4").tobytes()
        assert value(connection, "SELECT hopper.load_model('networks', %s::json, %s, %s)", case["model"],
                     psycopg2.Binary(weights), case["name"]) == number
    yield connection
    connection.close()
    drop_database(DATABASE)


def last_layer(database, number):
    return value(database, "SELECT layer FROM hopper.describe_model('networks', %s) WHERE layer <> 'total'"
                 " AND class_name <> 'InputLayer' ORDER BY layer_index DESC LIMIT 1", number)


@pytest.mark.parametrize("name", CASES)
def test_a_loaded_model_predicts_rows_of_a_table_as_keras_does(database, name):
    number, case = CASES[name]
    query(database, "SELECT hopper.predict_byom('networks', %s, 'customers', 'id', %s, 'predicted', layer => %s,"
          " replace => 'true')", number, ", ".join(case["columns"]), last_layer(database, number))
    column = value(database, "SELECT attname::text FROM pg_attribute WHERE attrelid = 'predicted'::regclass"
                   " AND attnum > 0 ORDER BY attnum DESC LIMIT 1")
    predicted = [row[0] for row in query(database, f'SELECT "{column}" FROM predicted ORDER BY id')]
    numpy.testing.assert_allclose(predicted, case["predictions"], rtol=1e-4, atol=1e-5)


def pack(database, number, output):
    query(database, "SELECT hopper.training_preprocessor(source_table := 'customers', output_table := %s,"
          " dependent_varname := 'kind', independent_varname := c.independent_varname, treatments := c.treatments)"
          " FROM hopper.model_columns('networks', %s) AS c", output, number)


def train(database, packed, number):
    query(database, f"SELECT hopper.fit('{packed}', 'models', 'networks', %s,"
          " 'loss=''categorical_crossentropy'', optimizer=''SGD(learning_rate=1e-30)'', metrics=[''accuracy'']',"
          " 'batch_size=16', 1, replace => true)", number)


def test_a_packed_table_trains_it_and_rows_are_predicted_as_they_are(database):
    number, case = CASES["given vocabularies"]
    assert value(database, "SELECT independent_varname FROM hopper.model_columns('networks', %s)",
                 number) == "age, plan, code, fee, city, note"
    pack(database, number, "customers_packed")
    # So small a rate leaves the weights as Keras has them.
    train(database, "customers_packed", number)
    query(database, "SELECT hopper.predict('models', 'customers', 'id', output_table => 'by_class', pred_type => 'columns',"
          " replace => 'true')")
    predicted = query(database, "SELECT prob_a, prob_b, prob_c FROM by_class ORDER BY id")
    numpy.testing.assert_allclose(predicted, case["predictions"], rtol=1e-4, atol=1e-5)
    # NULL is a value that no vocabulary holds, as is one that was never seen.
    row = "SELECT hopper.predict_row('models', r) FROM (SELECT 50.0::float8 AS age, {}::text AS plan," \
          " 2 AS code, 3.0::float8 AS fee, 'Oslo'::text AS city, ''::text AS note) AS r"
    assert query(database, row.format("NULL")) == query(database, row.format("'not there'"))
    assert query(database, row.format("'gold'")) != query(database, row.format("'not there'"))


def test_a_table_that_was_packed_otherwise_is_refused(database):
    number, _ = CASES["given vocabularies"]
    columns, treatments = query(database, "SELECT * FROM hopper.model_columns('networks', %s)", number)[0]
    other = json.loads(json.dumps(treatments))
    other["plan"]["values"] = ["gold", "basic", "Größe M"]
    turned = "plan, age, code, fee, city, note"
    for names, given, message in [
            (turned, json.dumps(treatments), 'input 1 of the model is "age" but column 1 of "other" is "plan"'),
            (columns, "{}", 'input "plan" of the model takes 1 number but column "plan" of "other" becomes 5'),
            (columns, json.dumps(other), 'column "plan" of "other" was packed otherwise')]:
        query(database, "SELECT hopper.drop_packed('other') WHERE to_regclass('other') IS NOT NULL")
        query(database, "SELECT hopper.training_preprocessor('customers', 'other', 'kind', %s, treatments => %s)",
              names, given)
        with pytest.raises(psycopg2.Error) as refused:
            train(database, "other", number)
        assert message in str(refused.value)
        assert "hopper.model_columns()" in str(refused.value)


def test_a_model_that_packing_cannot_prepare_columns_for_is_refused_when_it_is_loaded(database):
    _, case = CASES["given vocabularies"]
    model = json.loads(case["model"])
    for layer in model["config"]["layers"]:
        if layer["class_name"] == "StringLookup":
            layer["config"]["vocabulary"] = ["twice", "twice"]
    with pytest.raises(psycopg2.Error) as refused:
        query(database, "SELECT hopper.load_model('networks', %s::json)", json.dumps(model))
    assert 'of the model cannot be prepared as its layers ask' in str(refused.value)


def test_predict_byom_refuses_what_would_change_ids(database):
    number, case = CASES["given vocabularies"]
    turned = ", ".join(["plan", "age", *case["columns"][2:]])
    for names, more, message in [
            (turned, "", 'input 1 of "given vocabularies" is "age" but column 1 of independent_varname is "plan"'),
            (", ".join(case["columns"]), ", normalizing_const => 255", "normalizing_const is not for"),
            (", ".join(case["columns"]), ", pad_value => 0", "pad_value is not for")]:
        with pytest.raises(psycopg2.Error) as refused:
            query(database, f"SELECT hopper.predict_byom('networks', {number}, 'customers', 'id', '{names}', 'refused'{more})")
        assert message in str(refused.value)


def test_a_column_of_other_numbers_is_cast_for_a_lookup(database):
    """The hint says what can be done about the column: nobody has chosen its treatment."""
    number, case = CASES["given vocabularies"]
    others = ", ".join(name for name in case["columns"] if name != "code")
    query(database, f"CREATE VIEW as_numeric AS SELECT id, code::numeric AS code, {others} FROM customers")
    with pytest.raises(psycopg2.Error) as refused:
        query(database, "SELECT hopper.predict_byom('networks', %s, 'as_numeric', 'id', %s, 'refused')", number, ", ".join(case["columns"]))
    assert 'the treatment of column "code" is "index", which is not for values of type numeric' in str(refused.value)
    assert "Cast it to integer or text in a view, or use" in str(refused.value)


def test_a_vocabulary_begins_with_what_stands_for_other_words(database):
    """Keras takes "[UNK]", the default of oov_token, for no word; with oov_token=None it is one."""
    def treatment(more):
        layers = [{"class_name": "InputLayer", "config": {"name": "word", "batch_shape": [None, 1], "dtype": "string"}},
                  {"class_name": "StringLookup", "config": {"vocabulary": ["[UNK]", "x", "y"], "output_mode": "one_hot", **more}},
                  {"class_name": "Dense", "config": {"units": 1}}]
        query(database, "SELECT hopper.load_model('vocabularies', %s)",
              json.dumps({"class_name": "Sequential", "config": {"layers": layers}}))
        return value(database, "SELECT c.treatments->'word' FROM hopper.model_columns('vocabularies',"
                               " (SELECT max(model_id) FROM vocabularies)) AS c")

    assert treatment({}) == treatment({"oov_token": "[UNK]"}) == {"treatment": "index", "values": ["x", "y"]}
    assert treatment({"oov_token": None})["values"] == ["[UNK]", "x", "y"]
    query(database, """SELECT hopper.training_preprocessor('customers', 'masked', 'kind', 'plan', treatments => '{"plan":'
        ' {"treatment": "index", "values": ["gold", "basic"], "mask": ""}}')""")
    assert value(database, "SELECT statistics FROM hopper.describe_features('masked')").startswith('mask "", gold, basic')
