"""Models with several inputs: from the columns of a table to predictions."""

import json
import struct

import psycopg2
import pytest

from digits import connect, create_database, drop_database, layer, query, select, value

DATABASE = "hopper_inputs"
ADAM = "loss='mse', optimizer='Adam(learning_rate=0.01)', metrics=['mae']"
ZEROS = {"class_name": "Zeros", "config": {}}


def dense(name, units):
    return layer("Dense", name, units=units, activation="linear", kernel_initializer=ZEROS)


def functional(inputs, layers, output):
    """As Keras 2 writes it. inputs: (name, shape); layers: (layer, names of what it is called on)"""
    entries = [{"class_name": "InputLayer", "name": name, "inbound_nodes": [],
                "config": {"name": name, "batch_input_shape": [None, *shape], "dtype": "float32"}}
               for name, shape in inputs]
    for one, called in layers:
        entries.append({**one, "name": one["config"]["name"],
                        "inbound_nodes": [[[name, 0, 0, {}] for name in called]]})
    return json.dumps({"class_name": "Functional", "keras_version": "2.15.0",
                       "backend": "tensorflow",
                       "config": {"name": "several", "layers": entries,
                                  "input_layers": [[name, 0, 0] for name, _ in inputs],
                                  "output_layers": [[output, 0, 0]]}})


IMAGE_AND_NUMBERS = functional(
    [("numbers", [2]), ("image", [8, 8])],
    [(layer("Flatten", "flat"), ["image"]), (layer("Concatenate", "joined"), ["flat", "numbers"]),
     (dense("output", 1), ["joined"])], "output")
TWO_LISTS = functional(
    [("left", [2]), ("right", [3])],
    [(layer("Concatenate", "joined"), ["left", "right"]), (dense("output", 1), ["joined"])],
    "output")
ONE_LIST = functional([("all", [5])], [(dense("output", 1), ["all"])], "output")
PACK = ("SELECT hopper.training_preprocessor('houses', %s, dependent_varname => 'price',"
        " independent_varname => %s, replace => true)")
FIT = "SELECT hopper.fit_multiple_model(%s, %s, %s, 5, seed => 3, threads => 2, replace => true)"
INPUTS = '{"image": "picture", "numbers": ["rooms", "area"]}'


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    query(connection, "CREATE TABLE houses AS SELECT id, pixels AS picture,"
          " (id %% 5)::smallint AS rooms, (id %% 17 / 17.0)::real AS area, (id %% 3)::real AS c,"
          " (id %% 7 / 7.0)::real AS d, (id %% 2)::real AS e,"
          " (id %% 5 + pixels[3][4] / 16.0)::real AS price FROM digits".replace("%%", "%"))
    query(connection, "DELETE FROM architectures")
    for model in (IMAGE_AND_NUMBERS, TWO_LISTS, ONE_LIST):
        query(connection, "SELECT hopper.load_model('architectures', %s)", model)
    query(connection, PACK, "packed", INPUTS)
    first = value(connection, "SELECT min(model_id) FROM architectures")
    for i, name in enumerate(("images", "lists", "list")):
        select(connection, name, [(1, first + i, ADAM, "batch_size=20")])
    yield connection
    connection.close()
    drop_database(DATABASE)


def weights(connection, table):
    """The model's, with the bias last."""
    content = bytes(value(connection, f"SELECT model_weights FROM {table}"))
    return struct.unpack(f"<{len(content) // 4}f", content)


def check_predictions(connection, table, columns):
    """Against the weights of a model that is linear, with its features in this order."""
    query(connection, "SELECT hopper.predict(%s, 'houses', 'id', NULL, 'predicted',"
          " replace => true)", table)
    *kernel, bias = weights(connection, table)
    rows = query(connection, f"SELECT predicted_price, {columns} FROM houses"
                 " JOIN predicted USING (id) ORDER BY id")
    assert len(rows) == 1797
    for predicted, *values in rows:
        features = []
        for one in values:
            features += [x for line in one for x in line] if isinstance(one, list) else [one]
        expected = sum(w * x for w, x in zip(kernel, features)) + bias
        assert predicted == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_packed_in_their_own_types(database):
    described = json.loads(value(database, "SELECT inputs FROM packed_summary"))
    assert described == [
        {"name": "image", "columns": 1, "type": "int16", "shape": [8, 8]},
        {"name": "numbers", "columns": 2, "type": "float32", "shape": [2]}]
    row = query(database, "SELECT independent_type, independent_shape, independent_varname"
                " FROM packed_summary")[0]
    assert row == ("several", [66], ["picture", "rooms", "area"])
    assert value(database, "SELECT sum(length(features)) FROM packed") == 1797 * (64 * 2 + 2 * 4)


def test_train_evaluate_and_predict(database):
    query(database, FIT, "packed", "m", "images")
    assert value(database, "SELECT status FROM m_info") == "done"
    assert value(database, "SELECT training_loss_final FROM m_info") < 2
    check_predictions(database, "m", "picture, rooms, area")
    rows = query(database, "SELECT p.predicted_price, q.predicted_price FROM predicted p JOIN"
                 " (SELECT (source).id, value AS predicted_price"
                 " FROM hopper.predict_rows('m', NULL::houses)) q USING (id)")
    assert len(rows) == 1797
    assert all(one == other for one, other in rows)


def test_inputs_are_parts_of_one_list(database):
    """The same bytes and the same products: the same bits, whether joined by packing or by the
    model."""
    query(database, PACK, "two", '{"left": ["area", "c"], "right": ["d", "e", "price"]}')
    query(database, PACK, "one", "area, c, d, e, price")
    query(database, FIT, "two", "m_two", "lists")
    query(database, FIT, "one", "m_one", "list")
    assert weights(database, "m_two") == weights(database, "m_one")
    assert any(weights(database, "m_one"))
    order = '{"right": ["d", "e", "price"], "left": ["area", "c"]}'
    query(database, PACK, "other", order)
    query(database, FIT, "other", "m_other", "lists")
    check_predictions(database, "m_other", "area, c, d, e, price")


def test_warm_start_and_validation(database):
    query(database, "SELECT hopper.training_preprocessor('houses', 'split', 'price', %s,"
          " validation_fraction => 0.25, replace => true)", INPUTS)
    query(database, "SELECT hopper.fit_multiple_model('split', 'm_long', 'images', 4, seed => 3)")
    query(database, "SELECT hopper.fit_multiple_model('split', 'm_warm', 'images', 2, seed => 3)")
    query(database, "SELECT hopper.fit_multiple_model('split', 'm_warm', 'images', 2, seed => 3,"
          " warm_start => true)")
    assert weights(database, "m_warm") == weights(database, "m_long")
    query(database, "SELECT hopper.validation_preprocessor('houses', 'again',"
          " packed_table => 'split')")
    assert value(database, "SELECT inputs FROM again_summary") == value(
        database, "SELECT inputs FROM split_summary")
    assert query(database, "SELECT * FROM hopper.evaluate('m_long', 'again')")


def test_a_list_with_an_array_is_inputs(database):
    """As MADlib means it."""
    query(database, PACK, "listed", "picture, rooms")
    described = json.loads(value(database, "SELECT inputs FROM listed_summary"))
    assert [(one["name"], one["shape"]) for one in described] == [("picture", [8, 8]),
                                                                  ("rooms", [1])]


def refused(connection, text, *arguments):
    with pytest.raises(psycopg2.Error) as error:
        query(connection, text, *arguments)
    diag = error.value.diag
    return "\n".join(filter(None, [diag.message_primary, diag.message_detail, diag.message_hint]))


@pytest.mark.parametrize("inputs, words", [
    ('{"a": "picture", "a": "rooms"}', 'names input "a" twice'),
    ('{"a": [], "b": "rooms"}', 'has no columns for input "a"'),
    ('{"a": null, "b": "rooms"}', 'has no columns for input "a"'),
    ("{}", "names 0 inputs"),
    ('{"a": "picture", "b": "roms"}', "roms"),
    ('{"a": ["picture", "rooms"], "b": "area"}', "cannot be joined with others"),
    ('{"a": ', "JSON object"),
])
def test_refused_arguments(database, inputs, words):
    assert words in refused(database, PACK, "wrong", inputs)


def test_what_does_not_fit_is_refused(database):
    said = refused(database, FIT, "packed", "m_wrong", "lists")
    assert '"left"' in said and '"image"' in said
    said = refused(database, FIT, "packed", "m_wrong", "list")
    assert '"all"' in said and "inputs" in said
    query(database, PACK, "plain", "rooms, area")
    assert "one input without a name" in refused(database, FIT, "plain", "m_wrong", "images")
    assert "normalizing_const" in refused(
        database, "SELECT hopper.training_preprocessor('houses', 'wrong', 'price', %s,"
        " normalizing_const => 16)", INPUTS)
    for other in ("rooms, area", '{"image": "picture", "numbers": ["area", "rooms"]}',
                  '{"image": "picture", "others": ["rooms", "area"]}'):
        assert "does not name the inputs" in refused(
            database, "SELECT hopper.predict('m', 'houses', 'id', %s, 'wrong')", other)
    assert query(database, "SELECT hopper.predict('m', 'houses', 'id', %s, 'right')",
                 '{"numbers": ["rooms", "area"], "image": "picture"}') == [(1797,)]
    assert "several inputs" in refused(database, "SELECT hopper.mlp('nets', 'packed')")


def test_a_damaged_description_is_noticed(database):
    query(database, PACK, "damaged", INPUTS)
    for damage in ("NULL", "'[]'", "'[{\"name\": \"image\"}]'", "'nothing'",
                   "replace(inputs, '[8, 8]', '[8, 9]')", "replace(inputs, 'int16', 'int17')",
                   "replace(inputs, '\"columns\": 2', '\"columns\": 3')"):
        database.autocommit = False
        query(database, f"UPDATE damaged_summary SET inputs = {damage}")
        assert refused(database, FIT, "damaged", "m_wrong", "images")
        database.rollback()
        database.autocommit = True


def test_one_row(database):
    assert "inputs" in refused(
        database, "SELECT * FROM hopper.predict_row('m', 1, ARRAY[1, 2, 3]::real[])")
    connection = connect(DATABASE)
    assert value(connection, "SELECT 1") == 1
    connection.close()
