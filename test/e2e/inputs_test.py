"""Models with several inputs: from the columns of a table to predictions."""

import json
import struct

import psycopg2
import pytest

from digits import GREENPLUM, connect, create_database, drop_database, layer, query, select, value

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
    """Equal bytes and equal products: equal bits, whether joined by packing or by the
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
    # A caller who has packed with a list gives it again.
    query(database, "SELECT hopper.validation_preprocessor('houses', 'listed_again', 'price', 'picture, rooms', 'listed')")
    assert value(database, "SELECT inputs FROM listed_again_summary") == value(database, "SELECT inputs FROM listed_summary")
    assert "does not name the inputs" in refused(
        database, "SELECT hopper.validation_preprocessor('houses', 'no', 'price', 'rooms, picture', 'listed')")


def test_inputs_of_other_names_are_by_order(database):
    """As Keras takes a list, where no name is one of the model's."""
    query(database, PACK, "called", '{"first": ["area", "c"], "second": ["d", "e", "price"]}')
    query(database, PACK, "two", '{"left": ["area", "c"], "right": ["d", "e", "price"]}')
    for packed in ("called", "two"):
        query(database, FIT, packed, f"m_{packed}", "lists")
    assert weights(database, "m_called") == weights(database, "m_two")
    assert "but the data have" in refused(database, FIT, "called", "m_no", "images")


def test_the_constant_divides_every_input(database):
    """As it divides the values of one list."""
    lists = '{"left": ["area", "c"], "right": ["d", "e", "price"]}'
    for name, inputs in (("lists", lists), ("list", "area, c, d, e, price")):
        query(database, f"SELECT hopper.training_preprocessor('houses', 'scaled_{name}', 'price', %s, normalizing_const => 3)",
              inputs)
        query(database, FIT, f"scaled_{name}", f"m_scaled_{name}", name)
        query(database, f"SELECT hopper.predict('m_scaled_{name}', 'houses', 'id', output_table => 'by_{name}')")
    assert any(weights(database, "m_scaled_list")) and (
        weights(database, "m_scaled_lists") == weights(database, "m_scaled_list") != weights(database, "m_one"))
    assert value(database, "SELECT count(*) FROM by_lists JOIN by_list USING (id, predicted_price)") == 1797
    query(database, "SELECT hopper.load_model('divided', (SELECT model_arch FROM m_scaled_lists)::text,"
                    " (SELECT model_weights FROM m_scaled_lists))")
    query(database, "SELECT hopper.predict_byom('divided', 1, 'houses', 'id', %s, 'by_weights', normalizing_const => 3)", lists)
    assert value(database, "SELECT count(*) FROM by_weights b JOIN by_list l ON l.id = b.id"
                           " AND l.predicted_price = b.predicted_dependent_var") == 1797


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


def test_columns_of_other_types(database):
    """Numbers are computed with as the model would have packed them, whatever type they come in."""
    query(database, "CREATE VIEW other_types AS SELECT id, price, ARRAY(SELECT unnest(picture))::float8[] AS picture,"
          " rooms::float8, area::numeric FROM houses")
    query(database, "CREATE VIEW as_bytes AS SELECT id, price, (SELECT decode(string_agg(lpad(to_hex(p::int), 2, '0'), ''),"
          " 'hex') FROM unnest(picture) p) AS picture, rooms::bigint, area FROM houses")
    query(database, PACK, "whole", '{"image": "picture", "numbers": ["rooms", "id"]}')
    query(database, FIT, "whole", "m_whole", "images")
    for model, view in (("m", "other_types"), ("m", "as_bytes"), ("m_whole", "other_types")):
        for table, name in (("houses", "own_types"), (view, "theirs")):
            query(database, f"SELECT hopper.predict(%s, '{table}', 'id', NULL, '{name}', replace => true)", model)
        assert value(database, "SELECT count(*) FROM own_types") == 1797
        assert query(database, "SELECT o.id, o.predicted_price, t.predicted_price FROM own_types o JOIN theirs t USING (id)"
                     " WHERE abs(o.predicted_price - t.predicted_price) > 1e-6 + 1e-5 * abs(o.predicted_price)") == []


@pytest.mark.skipif(GREENPLUM, reason="rows of a table lie on segments, which cannot read the model's")
def test_a_row_of_named_columns(database):
    """predict_row() gives each row what predict_rows() does, in whatever order and types its columns come."""
    rows = query(database, "SELECT (source).id, value FROM hopper.predict_rows('m', NULL::houses, mst_key => 1)"
                 " ORDER BY 1 LIMIT 20")
    forms = ["houses h, LATERAL hopper.predict_row('m', 1, h) p",
             "houses h, LATERAL hopper.predict_row('m', source_row => h) p",
             "other_types h, LATERAL hopper.predict_row('m', 1, h) p",
             "as_bytes h, LATERAL hopper.predict_row('m', 1, h) p",
             "houses h, LATERAL hopper.predict_row('m', 1, jsonb_populate_record(NULL::houses, jsonb_build_object("
             "'rooms', rooms, 'nobody', 1, 'picture', picture, 'area', area))) p",
             "houses h, LATERAL hopper.predict_row('m', 1, (SELECT r FROM (SELECT h.area, h.picture, h.rooms) AS r)) p"]
    for form in forms + forms[::-1]:
        assert query(database, f"SELECT h.id, p.value FROM {form} WHERE h.id <= 20 ORDER BY 1") == [
            (key, pytest.approx(number, rel=1e-5)) for key, number in rows], form
    # the very same bits where the types are those of training
    assert query(database, f"SELECT h.id, p.value FROM {forms[0]} WHERE h.id <= 20 ORDER BY 1") == rows
    one = query(database, "SELECT p.* FROM houses h, hopper.predict_row('m_one', h) p WHERE h.id = 3")
    assert one == query(database, "SELECT p.* FROM houses h, hopper.predict_row('m_one',"
                        " ARRAY[area, c, d, e, price]) p WHERE h.id = 3")


@pytest.mark.parametrize("row, words", [
    ("(SELECT r FROM (SELECT 1 AS rooms, 2 AS area) AS r)", 'source_row lacks the feature "picture" of "m"'),
    ("ROW(1, 2, 3)", 'lacks the feature "picture"'),
    ("(SELECT r FROM (SELECT picture, rooms, area, 1 AS rooms FROM houses LIMIT 1) AS r)", 'has several columns "rooms"'),
    ("(SELECT r FROM (SELECT picture, 'two'::text AS rooms, area FROM houses LIMIT 1) AS r)", "which is not numeric"),
    ("(SELECT r FROM (SELECT ARRAY[1, 2] AS picture, rooms, area FROM houses LIMIT 1) AS r)", "arrays of shape 8x8"),
    ("(SELECT r FROM (SELECT ''::bytea AS picture, rooms, area FROM houses LIMIT 1) AS r)", "has 0 bytes"),
    ("(SELECT r FROM (SELECT picture, NULL::int AS rooms, area FROM houses LIMIT 1) AS r)", 'column "rooms" of "source_row" holds NULL'),
    ("NULL::houses", 'argument "source_row" must not be null'),
    ("ARRAY[1, 2, 3]::real[]", '"m" has several inputs'),
])
def test_rows_that_do_not_fit(database, row, words):
    assert words in refused(database, f"SELECT * FROM hopper.predict_row('m', 1, {row})")
    if "NULL" in row:
        assert query(database, f"SELECT * FROM hopper.predict_row('m', 1, {row}, on_null => 'null')") == [
            (None, None, None, None)]
    # the session goes on, and the model with it
    assert value(database, "SELECT count(*) FROM hopper.predict_row('m', 1, (SELECT h FROM houses h WHERE id = 1))") == 1
