"""Models with several outputs, and weights of rows: from the columns of a table to predictions."""

import json
import math
import os
import struct

import psycopg2
import pytest

from digits import connect, create_database, drop_database, query, select, value

DATABASE = "hopper_outputs"
with open(os.path.join(os.path.dirname(__file__), "../baseline/keras_outputs.json"),
          encoding="ascii") as file:
    KERAS = json.load(file)
LABELS = '{"price": "price", "grade": "grade", "tags": "tags"}'
INPUTS = '{"wide": ["w1", "w2", "w3"], "deep": ["d1", "d2"]}'
COMPILE = ("loss={'price': 'mse', 'grade': 'categorical_crossentropy',"
           " 'tags': 'binary_crossentropy'}, optimizer='SGD(learning_rate=0.05)',"
           " loss_weights={'price': 0.5, 'grade': 2.0, 'tags': 1.0},"
           " metrics={'price': ['mae'], 'grade': ['accuracy'], 'tags': ['auc']},"
           " weighted_metrics={'price': ['mae'], 'grade': ['accuracy']}")
GRADES = ["good", "poor", "so-so"]  # in the order of their indexes


def flat(arrays):
    values = [x for array in arrays for x in array]
    return struct.pack(f"<{len(values)}f", *values)


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    query(connection, "CREATE TABLE things (id int, w1 real, w2 real, w3 real, d1 real, d2 real,"
          " price float8, grade text, tags smallint[], weight real)")
    rows = KERAS["rows"]
    for i, price in enumerate(rows["price"]):
        query(connection, "INSERT INTO things VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)", i,
              *rows["wide"][i], *rows["deep"][i], price, GRADES[rows["grade"][i]],
              [int(x) for x in rows["tags"][i]], rows["weight"][i])
    query(connection, "DELETE FROM architectures")
    query(connection, "SELECT hopper.load_model('architectures', %s, %s)", KERAS["architecture"],
          psycopg2.Binary(flat(KERAS["weights"])))
    model = value(connection, "SELECT max(model_id) FROM architectures")
    select(connection, "chosen", [(1, model, COMPILE, "batch_size=48, shuffle=False")])
    for name, weights in (("plain", None), ("weighted", "weight")):
        query(connection, "SELECT hopper.training_preprocessor('things', %s, %s, %s,"
              " partitions => 1, weight_varname => %s)", name, LABELS, INPUTS, weights)
    yield connection
    connection.close()
    drop_database(DATABASE)


def test_packed(database):
    described = json.loads(value(database, "SELECT outputs FROM weighted_summary"))
    ranges = [output.pop("range", None) for output in described]
    assert ranges[0] == pytest.approx([-3.5911131, 3.5941205]) and ranges[1] is None
    assert described == [
        {"name": "price", "column": "price", "type": "double precision", "kind": "value",
         "shape": []},
        {"name": "grade", "column": "grade", "type": "text", "kind": "class", "shape": [],
         "num_classes": 3, "classes": GRADES},
        {"name": "tags", "column": "tags", "type": "smallint[]", "kind": "array", "shape": [2]},
        {"kind": "weight", "column": "weight"}]
    row = query(database, "SELECT dependent_varname, dependent_vartype, label_shape"
                " FROM weighted_summary")[0]
    assert row == (["price", "grade", "tags"], ["double precision", "text", "smallint[]"], [5])
    assert value(database, "SELECT sum(length(labels)) FROM plain") == 48 * 4 * 4


@pytest.mark.parametrize("run", ["plain", "weighted"])
def test_twenty_steps_of_keras(database, run):
    keras = KERAS["runs"][run]
    table = "m_" + run
    query(database, "SELECT hopper.fit_multiple_model(%s, %s, 'chosen', 20, seed => 1,"
          " replace => true)", run, table)
    assert value(database, f"SELECT status FROM {table}_info") == "done"
    losses = value(database, f"SELECT training_loss FROM {table}_info")
    # The last one is taken of the weights afterwards.
    assert losses[:19] == pytest.approx(keras["losses"][:19], rel=1e-5)
    assert losses[19] == pytest.approx(keras["evaluated"]["loss"], rel=1e-5)
    content = bytes(value(database, f"SELECT model_weights FROM {table}"))
    got = struct.unpack(f"<{len(content) // 4}f", content)
    at = 0
    for expected in keras["weights_after"]:
        own = got[at:at + len(expected)]
        at += len(expected)
        largest = max(abs(x) for x in expected)
        assert max(abs(a - b) for a, b in zip(own, expected)) <= 1e-5 * largest
    names = value(database, f"SELECT metrics_type FROM {table}_info")
    assert names == ["price_mae", "grade_accuracy", "tags_auc", "price_weighted_mae",
                     "grade_weighted_accuracy", "price_loss", "grade_loss", "tags_loss"]
    loss, metrics = query(database, "SELECT loss, metrics FROM hopper.evaluate(%s, %s)", table,
                          run)[0]
    evaluated = keras["evaluated"]
    assert loss == pytest.approx(evaluated["loss"], rel=1e-5)
    for name, got in zip(names, metrics):
        if name in evaluated:
            assert got == pytest.approx(evaluated[name], rel=2e-5), name


def expected(connection, table):
    """What the model gives for each row, of its weights."""
    content = bytes(value(connection, f"SELECT model_weights FROM {table}"))
    numbers = struct.unpack(f"<{len(content) // 4}f", content)
    shapes, parts, at = [(2, 6), (6,), (9, 1), (1,), (9, 3), (3,), (9, 2), (2,)], [], 0
    for shape in shapes:
        n = shape[0] * (shape[1] if len(shape) > 1 else 1)
        own = numbers[at:at + n]
        parts.append([own[i::shape[1]] for i in range(shape[1])] if len(shape) > 1 else own)
        at += n
    assert at == len(numbers)

    def dense(x, kernel, bias):
        return [sum(a * w for a, w in zip(x, column)) + b for column, b in zip(kernel, bias)]

    rows = []
    for wide, deep in zip(KERAS["rows"]["wide"], KERAS["rows"]["deep"]):
        hidden = [max(0.0, x) for x in dense(deep, parts[0], parts[1])]
        joined = wide + hidden
        logits = [math.exp(x) for x in dense(joined, parts[4], parts[5])]
        rows.append((hidden, dense(joined, parts[2], parts[3])[0],
                     [x / sum(logits) for x in logits],
                     [1 / (1 + math.exp(-x)) for x in dense(joined, parts[6], parts[7])]))
    return rows


def test_predictions_name_their_output(database):
    # Twice: what it made before is replaced.
    for _ in range(2):
        query(database, "SELECT hopper.predict('m_plain', 'things', 'id', NULL, 'predicted',"
              " replace => true)")
    rows = query(database, "SELECT id, predicted_price, predicted_grade, prob_grade,"
                 " predicted_tags FROM predicted ORDER BY id")
    assert len(rows) == 48
    long = query(database, "SELECT (source).id, output, class_value, prob, rank, value"
                 " FROM hopper.predict_rows('m_plain', NULL::things)")
    assert len(long) == 48 * 4
    for (key, price, grade, prob, tags), (_, a, b, c) in zip(rows, expected(database, "m_plain")):
        assert price == pytest.approx(a, rel=1e-4, abs=1e-5)
        assert (grade, prob) == (GRADES[b.index(max(b))], pytest.approx(max(b), rel=1e-4))
        assert tags == pytest.approx(c, rel=1e-4)
        own = [one[1:] for one in long if one[0] == key]
        assert own == [("price", None, None, None, price), ("grade", grade, prob, 1, None),
                       ("tags", None, None, 1, tags[0]), ("tags", None, None, 2, tags[1])]


def test_rows_have_as_many_classes_as_are_asked_for(database):
    """predict_rows() gave the most probable class of each output, whatever pred_type was."""
    computed = expected(database, "m_plain")
    for pred_type, takes in (("'prob'", lambda ranked: ranked), ("2", lambda ranked: ranked[:2]),
                             ("'0.4'", lambda ranked: [one for one in ranked if one[0] > 0.4])):
        rows = query(database, "SELECT (source).id, output, class_value, prob, rank, value FROM"
                     f" hopper.predict_rows('m_plain', NULL::things, {pred_type})")
        for key, (price, grades, tags) in zip(range(5), [one[1:] for one in computed]):
            grades = takes(sorted(zip(grades, GRADES), reverse=True))
            assert [one[1:] for one in rows if one[0] == key] == [
                ("price", None, None, None, pytest.approx(price, rel=1e-4, abs=1e-5)),
                *(("grade", grade, pytest.approx(prob, rel=1e-4), place, None)
                  for place, (prob, grade) in enumerate(grades, 1)),
                *(("tags", None, None, place, pytest.approx(tag, rel=1e-4))
                  for place, tag in enumerate(tags, 1))]


def test_one_row_has_rows_for_each_output(database):
    for key, (_, a, b, c) in zip(range(5), expected(database, "m_plain")):
        own = query(database, "SELECT p.output, p.class_value, p.prob, p.value"
                    " FROM hopper.predict_row('m_plain', 1, (SELECT t FROM things t WHERE id = %s)) p", key)
        ranked = sorted(zip(b, GRADES), reverse=True)
        assert own == [("price", None, None, pytest.approx(a, rel=1e-4, abs=1e-5)),
                       *(("grade", grade, pytest.approx(prob, rel=1e-4), None) for prob, grade in ranked),
                       *(("tags", None, None, pytest.approx(x, rel=1e-4)) for x in c)]


def test_outputs_whose_names_begin_alike(database):
    """A column's name has 63 bytes; what outputs are called may have more of them in common."""
    long = "é" * 40
    names = {"price": long + "1", "grade": long + "2"}
    architecture = KERAS["architecture"]
    for short, name in names.items():
        architecture = architecture.replace(f'"{short}"', json.dumps(name))
    query(database, "SELECT hopper.load_model('alike', %s, (SELECT model_weights FROM m_plain))", architecture)
    inputs = '{"deep": ["d1", "d2"], "wide": ["w1", "w2", "w3"]}'
    # Twice: what it made before is replaced.
    for _ in range(2):
        query(database, "SELECT hopper.predict_byom('alike', 1, 'things', 'id', %s, 'by_alike', class_values => %s,"
              " replace => true)", inputs, [[None] * 3, GRADES, [None] * 3])
    columns = [name for name, in query(database, "SELECT attname::text FROM pg_attribute WHERE attrelid ="
                                       " 'by_alike'::regclass AND attnum > 1 ORDER BY attnum")]
    # No character is cut in two.
    assert columns[:3] == ["predicted_" + "é" * 25 + "_1", "predicted_" + "é" * 25 + "_2", "prob_" + "é" * 28 + "_2"]
    assert query(database, "SELECT " + ", ".join(f'"{name}"' for name in ["id", *columns[:3]])
                 + " FROM by_alike ORDER BY id") == query(
        database, "SELECT id, predicted_price, predicted_grade, prob_grade FROM predicted ORDER BY id")


def test_byom_with_the_same_weights(database):
    """Inputs by their names in any order, and each output with the classes that the call names."""
    query(database, "SELECT hopper.load_model('brought', %s, (SELECT model_weights FROM m_plain))",
          KERAS["architecture"])
    query(database, "SELECT hopper.predict('m_plain', 'things', 'id', NULL, 'by_training', replace => true)")
    inputs = '{"deep": ["d1", "d2"], "wide": ["w1", "w2", "w3"]}'
    call = "SELECT hopper.predict_byom('brought', 1, 'things', 'id', %s, %s{})"
    query(database, call.format(", class_values => %s"), inputs, "by_weights",
          [[None] * 3, GRADES, [None] * 3])
    for table in ("by_training", "by_weights"):
        assert value(database, f"SELECT count(*) FROM {table}") == 48
    assert query(database, "SELECT id, predicted_price, predicted_grade, prob_grade FROM by_weights ORDER BY id") == (
        query(database, "SELECT id, predicted_price, predicted_grade, prob_grade FROM by_training ORDER BY id"))
    # Two sigmoid units are classes here: nobody says that they do not exclude each other.
    assert query(database, "SELECT id, prob_tags FROM by_weights ORDER BY id") == query(
        database, "SELECT id, greatest(predicted_tags[1], predicted_tags[2]) FROM by_training ORDER BY id")
    query(database, call.format(""), inputs, "by_index")
    named = query(database, "SELECT id, predicted_grade FROM by_weights ORDER BY id")
    assert query(database, "SELECT id, predicted_grade FROM by_index ORDER BY id") == [
        (key, str(GRADES.index(grade))) for key, grade in named]
    hidden = value(database, "SELECT layer FROM hopper.describe_model('brought', 1)"
                   " WHERE class_name = 'Dense' AND output_shape = '6'")
    query(database, call.format(", layer => %s"), inputs, "by_layer", hidden)
    query(database, "SELECT hopper.predict('m_plain', 'things', 'id', NULL, 'layer_of_training', layer => %s)", hidden)
    assert query(database, "TABLE by_layer ORDER BY id") == query(database, "TABLE layer_of_training ORDER BY id")


@pytest.mark.parametrize("inputs, more, words", [
    ("w1, w2, w3", "", "does not name the inputs"),
    ('{"wide": ["w1", "w2", "w3"]}', "", "does not name the inputs"),
    ('{"wide": ["w1", "w2", "w3"], "deeep": ["d1", "d2"]}', "", 'names "deeep", which is no input'),
    ('{"wide": ["w1", "w2"], "deep": ["d1", "d2"]}', "", 'input "wide" expects 3 values, not 2 columns'),
    (INPUTS, ", class_values => ARRAY['a', 'b']", "a row for each of the 3 outputs"),
    (INPUTS, ", class_values => ARRAY[ARRAY['a'], ARRAY['b'], ARRAY[NULL]]", "1 class value"),
    (INPUTS, ", normalizing_const => 0", "must be positive"),
    (INPUTS, ", pad_side => 'pre'", "need pad_value"),
    (INPUTS, ", layer => 'prise'", 'has no layer "prise"')])
def test_what_byom_refuses(database, inputs, more, words):
    with pytest.raises(psycopg2.Error, match=words):
        query(database, "SELECT hopper.load_model('brought_2', %s, (SELECT model_weights FROM m_plain))",
              KERAS["architecture"])
        query(database, f"SELECT hopper.predict_byom('brought_2', 1, 'things', 'id', %s, 'no'{more})",
              inputs)


def test_a_layers_output(database):
    hidden = value(database, "SELECT layer FROM hopper.describe_model('architectures',"
                   " (SELECT model_id FROM architectures WHERE model_weights IS NOT NULL))"
                   " WHERE class_name = 'Dense' AND output_shape = '6'")
    # Twice: what it made before is replaced.
    for _ in range(2):
        query(database, "SELECT hopper.predict('m_plain', 'things', 'id', NULL, 'embedded',"
              " layer => %s, replace => true)", hidden)
    rows = query(database, f'SELECT "{hidden}" FROM embedded ORDER BY id')
    other = query(database, "SELECT layer_output FROM hopper.predict_rows('m_plain',"
                  " NULL::things, layer => %s) ORDER BY (source).id", hidden)
    assert rows == other
    for (got,), (wanted, *_) in zip(rows, expected(database, "m_plain")):
        assert got == pytest.approx(wanted, rel=1e-4, abs=1e-5)
    with pytest.raises(psycopg2.Error, match='has no layer "prise"') as error:
        query(database, "SELECT hopper.predict('m_plain', 'things', 'id', NULL, 'e2',"
              " layer => 'prise')")
    assert "price" in error.value.diag.message_hint


def test_validation_and_warm_start(database):
    query(database, "SELECT hopper.training_preprocessor('things', 'split', %s, %s,"
          " validation_fraction => 0.25, weight_varname => 'weight')", LABELS, INPUTS)
    fit = "SELECT hopper.fit_multiple_model('split', %s, 'chosen', %s, seed => 3)"
    query(database, fit, "m_long", 4)
    query(database, fit, "m_warm", 2)
    query(database, fit[:-1] + ", warm_start => true)", "m_warm", 2)
    digests = [value(database, f"SELECT model_weights FROM {t}") for t in ("m_long", "m_warm")]
    assert bytes(digests[0]) == bytes(digests[1])
    query(database, "SELECT hopper.validation_preprocessor('things', 'again',"
          " packed_table => 'split')")
    assert value(database, "SELECT outputs FROM again_summary") == value(
        database, "SELECT outputs FROM split_summary")
    assert value(database, "SELECT loss FROM hopper.evaluate('m_long', 'again')") > 0
    best = value(database, "SELECT mst_key FROM hopper.leaderboard('m_long',"
                 " rank_by => 'tags_loss')")
    assert best == 1


@pytest.mark.parametrize("wrong, words", [("NULL", "holds NULL"), ("-1", "holds a negative weight"), ("'NaN'", "holds NaN"),
                                          ("'Infinity'", "holds Infinity")])
def test_weights_that_are_none(database, wrong, words):
    query(database, "DROP TABLE IF EXISTS bad")
    query(database, f"CREATE TABLE bad AS SELECT id, w1, price, CASE WHEN id = 7 THEN"
          f" {wrong}::real ELSE 1 END AS weight FROM things; ALTER TABLE bad ADD PRIMARY KEY (id)")
    with pytest.raises(psycopg2.Error, match=f'column "weight" of "bad" {words}') as error:
        query(database, "SELECT hopper.training_preprocessor('bad', 'p', 'price', 'w1',"
              " weight_varname => 'weight')")
    assert error.value.diag.message_detail == "Row (id)=(7)."


@pytest.mark.parametrize("column, wrong, words, detail", [
    ("price", "'NaN'", 'column "price" of "bad" holds NaN', "Row (id)=(7)."),
    ("price", "1e39", 'column "price" of "bad" holds a value out of range for real', "Row (id)=(7)."),
    ("tags", "NULL", 'column "tags" of "bad" holds NULL', "Row (id)=(7)."),
    ("tags", "'{1, NULL}'", 'an array in column "tags" of "bad" holds NULL', "Row (id)=(7), value 2 of 2."),
    ("tags", "'{1, 2, 3}'", 'arrays in column "tags" of "bad" differ in shape', "Row (id)=(7) has shape 3; another row has shape 2."),
    ("tags", "'{}'", 'column "tags" of "bad" holds an empty array', "Row (id)=(7).")])
def test_labels_that_are_none(database, column, wrong, words, detail):
    query(database, "DROP TABLE IF EXISTS bad")
    query(database, "CREATE TABLE bad AS SELECT id, w1, w2, price::float8, grade, tags FROM things")
    query(database, f"ALTER TABLE bad ADD PRIMARY KEY (id); UPDATE bad SET {column} = {wrong} WHERE id = 7")
    with pytest.raises(psycopg2.Error, match=words) as error:
        query(database, "SELECT hopper.training_preprocessor('bad', 'p', %s, 'w1, w2')", '{"price": "price", "grade": "grade", "tags": "tags"}')
    assert error.value.diag.message_detail == detail
    assert "pad_to" not in error.value.diag.message_hint


def test_a_class_that_was_not_packed(database):
    query(database, "DROP TABLE IF EXISTS new")
    query(database, "SELECT hopper.training_preprocessor('things', 'without', 'price, grade', 'w1', replace => true)")
    query(database, "CREATE TABLE new AS SELECT id, w1, price, CASE id WHEN 7 THEN 'never' ELSE grade::text END AS grade FROM things")
    query(database, "ALTER TABLE new ADD PRIMARY KEY (id)")
    with pytest.raises(psycopg2.Error, match='column "grade" of "new" holds a label that "without" was not packed with') as error:
        query(database, "SELECT hopper.validation_preprocessor('new', 'p', packed_table => 'without')")
    assert error.value.diag.message_detail.startswith('Row (id)=(7) has label "never"; the classes are ')


def test_weights_of_one_output(database):
    """Rows of weight 0 and 2 are as if they were not there, and twice."""
    query(database, "CREATE TABLE w AS SELECT id, w1, w2, price > 0 AS up, (id % 3)::real AS"
          " weight FROM things")
    query(database, "SELECT hopper.training_preprocessor('w', 'w_packed', 'up', 'w1, w2',"
          " partitions => 1, weight_varname => 'weight')")
    query(database, "SELECT hopper.mlp('architectures', 'w_packed', '{4}')")
    model = value(database, "SELECT max(model_id) FROM architectures")
    select(database, "w_chosen", [(1, model, "loss='binary_crossentropy', optimizer='sgd',"
                                   " metrics=['accuracy']", "batch_size=48")])
    query(database, "SELECT hopper.fit_multiple_model('w_packed', 'w_m', 'w_chosen', 3)")
    query(database, "SELECT hopper.predict('w_m', 'w', 'id', NULL, 'w_out', 'prob')")
    wanted = value(database, "SELECT -sum(weight * ln(prob)) / 48 FROM w JOIN w_out USING (id)"
                   " WHERE class_value = up::text OR class_value = left(up::text, 1)")
    got = value(database, "SELECT loss FROM hopper.evaluate('w_m', 'w_packed')")
    assert got == pytest.approx(wanted, rel=1e-5)
    query(database, "SELECT hopper.training_preprocessor('w', 'w_bare', 'up', 'w1, w2')")
    with pytest.raises(psycopg2.Error) as error:
        query(database, "SELECT hopper.evaluate('w_m', 'w_bare')")
    assert error.value.diag.message_detail == '"w_m" goes with weights of rows, "w_bare" has none.'


def test_what_does_not_fit_is_refused(database):
    query(database, "SELECT hopper.training_preprocessor('things', 'two', %s, %s)",
          '{"price": "price", "grade": "grade"}', INPUTS)
    with pytest.raises(psycopg2.Error, match='has the outputs "price", "grade", "tags"'):
        query(database, "SELECT hopper.fit_multiple_model('two', 'x', 'chosen', 1)")
    model = value(database, "SELECT max(model_id) FROM architectures WHERE model_weights IS NOT"
                  " NULL")
    select(database, "misspelt", [(1, model, COMPILE.replace("{'price': 'mse'", "{'prise': 'mse'"),
                                   "")])
    with pytest.raises(psycopg2.Error, match='names output "prise"') as error:
        query(database, "SELECT hopper.fit_multiple_model('plain', 'x', 'misspelt', 1)")
    assert "price" in error.value.diag.message_hint
    select(database, "too_few", [(1, model, COMPILE.split("metrics=")[0] + "metrics=[['mae'], ['mse']]", "")])
    with pytest.raises(psycopg2.Error, match="metrics do not say which of 3 outputs"):
        query(database, "SELECT hopper.fit_multiple_model('plain', 'x', 'too_few', 1)")


def test_a_flat_list_of_metrics_is_of_every_output(database):
    """As Keras 2 takes it."""
    model = value(database, "SELECT max(model_id) FROM architectures WHERE model_weights IS NOT NULL")
    start = COMPILE.split("metrics=")[0]
    select(database, "flat", [(1, model, start + "metrics=['mae', 'mse']", ""),
                              (2, model, start + "metrics=[['mae', 'mse'], ['mae', 'mse'], ['mae', 'mse']]", "")])
    query(database, "SELECT hopper.fit_multiple_model('plain', 'm_flat', 'flat', 1)")
    rows = query(database, "SELECT metrics_type, training_metrics_all FROM m_flat_info ORDER BY mst_key")
    assert rows[0] == rows[1]
    assert rows[0][0][:6] == ["price_mae", "price_mse", "grade_mae", "grade_mse", "tags_mae", "tags_mse"]
    # What is read of the text and the names later on is as much.
    assert {row[0] for row in query(database, "SELECT metric FROM hopper.leaderboard('m_flat', rank_by => 'tags_mse')")} == {
        "tags_mse"}
    assert query(database, "SELECT metrics_type FROM hopper.evaluate('m_flat', 'plain', mst_key => 1)") == [(rows[0][0],)]


def test_metrics_of_a_list_are_called_by_their_output(database):
    """The order of a list is the architecture's; ranking, leaderboard and searches say whose."""
    model = value(database, "SELECT max(model_id) FROM architectures WHERE model_weights IS NOT"
                  " NULL")
    text = ("loss=['mse', 'categorical_crossentropy', 'binary_crossentropy'],"
            " optimizer='SGD(lr=%s)', metrics=[['mae'], ['mae', 'accuracy'], 'mae']")
    names = ["price_mae", "grade_mae", "grade_accuracy", "tags_mae", "price_loss", "grade_loss",
             "tags_loss"]
    select(database, "listed", [(1, model, text % 0.01, ""), (2, model, text % 0.02, "")])
    del database.notices[:]
    query(database, "SELECT hopper.fit_multiple_model('plain', 'm_listed', 'listed', 2,"
          " validation_table => 'plain', rank_by => 'tags_mae')")
    assert not [n for n in database.notices if "val_mae" in n or "training mae" in n]
    info = query(database, "SELECT metrics_type, validation_metrics_all FROM m_listed_info"
                 " ORDER BY mst_key")
    assert [row[0] for row in info] == [names, names]
    assert value(database, "SELECT best_metric FROM m_listed_summary") == "validation tags_mae"
    for place, name in enumerate(names):
        board = dict(query(database, "SELECT mst_key, validation_metric FROM"
                           " hopper.leaderboard('m_listed', rank_by => %s)", name))
        assert board == {key + 1: row[1][place][-1] for key, row in enumerate(info)}, name
    assert value(database, "SELECT metric FROM hopper.leaderboard('m_listed') LIMIT 1") == "tags_mae"
    with pytest.raises(psycopg2.Error, match='metric "mae" is not computed') as error:
        query(database, "SELECT * FROM hopper.leaderboard('m_listed', rank_by => 'mae')")
    assert "one computes price_mae, grade_mae" in error.value.diag.message_detail

    search = ("SELECT best_value FROM hopper.automl('plain', 'm_searched', 'architectures',"
              " 'searched_best', %s, NULL, NULL, 'random', 'num_configs=2, num_iterations=1',"
              " objective => %s, space => %s, validation_table => 'plain', replace => true)")
    space = json.dumps({
        "parameters": {"lr": {"type": "float", "low": 0.001, "high": 0.1, "scale": "log"}},
        "compile_params": {
            "loss": ["mse", "categorical_crossentropy", "binary_crossentropy"],
            "metrics": [["mae"], ["mae", "accuracy"], ["mae"]],
            "optimizer": {"class_name": "SGD", "config": {"learning_rate": {"hopper": "lr"}}}},
        "fit_params": {"batch_size": 48}})
    best = value(database, search, [model], "grade_mae", space)
    assert best == value(database, "SELECT min(validation_metrics_all[2][1])"
                         " FROM m_searched_info")
    with pytest.raises(psycopg2.Error, match='"mae" is not among the metrics') as error:
        query(database, search, [model], "mae", space)
    assert "price_mae, grade_mae, grade_accuracy, tags_mae" in error.value.diag.message_detail


def test_an_output_without_any_label_is_refused(database):
    query(database, "CREATE TABLE none AS SELECT *, NULL::int AS nothing FROM things")
    with pytest.raises(psycopg2.Error, match='no row has a label in column "nothing"'):
        query(database, "SELECT hopper.training_preprocessor('none', 'x', %s, %s,"
              " null_labels => 'skip')", '{"price": "price", "grade": "nothing"}', INPUTS)


def test_thousands_of_classes(database):
    """Each label is packed as the place of its class in the summary's list."""
    query(database, "CREATE TABLE many AS SELECT i::float8 AS id, i % 2500 AS shop,"
          " 'shop \"' || i % 2600 || '\"' AS name, i % 3 = 0 AS third, (i % 5)::real AS a"
          " FROM generate_series(1, 5000) i")
    query(database, "SELECT hopper.training_preprocessor('many', 'many_packed', %s, 'a')",
          '{"shop": "shop", "name": "name", "third": "third", "id": "id"}')
    outputs = json.loads(value(database, "SELECT outputs FROM many_packed_summary"))
    assert [len(one.get("classes", [])) for one in outputs] == [2500, 2600, 2, 0]
    found = {}
    for (labels,) in query(database, "SELECT labels FROM many_packed"):
        for shop, name, third, number in struct.iter_unpack("<4f", labels):
            found[int(number)] = [one["classes"][int(index)]
                                  for one, index in zip(outputs, (shop, name, third))]
    assert found == {i: [str(i % 2500), f'shop "{i % 2600}"', "true" if i % 3 == 0 else "false"]
                     for i in range(1, 5001)}


@pytest.mark.parametrize("damage", [
    "'[]'", "'[{}]'", "'nonsense'", "NULL",
    "replace(outputs, '\"num_classes\": 3', '\"num_classes\": 2')",
    "replace(outputs, '\"shape\": [2]', '\"shape\": [2147483647, 2147483647]')",
    "replace(outputs, '\"kind\": \"weight\"', '\"kind\": \"value\"')"])
def test_damaged_summaries_harm_nobody(database, damage):
    query(database, "DROP TABLE IF EXISTS hurt, hurt_summary")
    query(database, "CREATE TABLE hurt AS SELECT * FROM weighted")
    query(database, "CREATE TABLE hurt_summary AS SELECT * FROM weighted_summary")
    query(database, f"UPDATE hurt_summary SET outputs = {damage}")
    with pytest.raises(psycopg2.Error):
        query(database, "SELECT hopper.fit_multiple_model('hurt', 'x', 'chosen', 1)")
    assert value(database, "SELECT 1") == 1


@pytest.mark.parametrize("features", ["w1, w2, kind, d1", "w1, w2, d1"])
def test_a_list_of_labels_names_the_outputs_of_a_network_that_fits(database, features):
    """With columns that have treatments, among them ids for an embedding, and with numbers as they are."""
    query(database, "DROP VIEW IF EXISTS homes")
    query(database, "CREATE VIEW homes AS SELECT *, 'k' || id % 12 AS kind, price > 0 AS \"is \"\"dear\"\"\" FROM things")
    query(database, "SELECT hopper.training_preprocessor('homes', 'by_list', ARRAY['price', 'grade', 'is \"dear\"', 'tags'], %s,"
                    " treatments => CASE WHEN %s LIKE '%%kind%%' THEN '{\"kind\": {\"treatment\": \"index\", \"min_frequency\": 1}}'::jsonb END,"
                    " weight_varname => 'weight', replace => true)", features, features)
    model = value(database, "SELECT hopper.mlp('written', 'by_list', '{8}', batch_norm => true)")
    network = value(database, "SELECT model_arch FROM written WHERE model_id = %s", model)["config"]
    layers = {layer["config"]["name"]: layer for layer in network["layers"]}
    assert [name for name, *_ in network["output_layers"]] == ["price", "grade", 'is "dear"', "tags"]
    assert [(layers[name]["config"]["units"], layers[name]["config"]["activation"]) for name, *_ in network["output_layers"]] == [
        (1, "linear"), (3, "softmax"), (1, "sigmoid"), (2, "linear")]
    # All read the same hidden layer.
    assert len({json.dumps(layers[name]["inbound_nodes"]) for name, *_ in network["output_layers"]}) == 1
    query(database, "SELECT hopper.fit('by_list', 'by_list_models', 'written', %s, $$loss={'price': 'mse', 'grade': 'categorical_crossentropy',"
                    " 'is \"dear\"': 'binary_crossentropy', 'tags': 'mse'}, metrics={'price': ['mae'], 'is \"dear\"': ['accuracy']},"
                    " optimizer='Adam(lr=0.03)'$$, 'batch_size=16', 40, replace => true)", model)
    query(database, "SELECT hopper.predict('by_list_models', 'homes', 'id', output_table => 'by_list_predicted', replace => 'true')")
    right = '("predicted_is ""dear""" = "is ""dear"""::text)::int'
    right, learnt, error = query(database, f"SELECT avg({right})::float8, avg(CASE WHEN weight > 0 THEN {right} END)::float8,"
                                           " avg(abs(predicted_price - price)) FROM by_list_predicted JOIN homes USING (id)")[0]
    shown = dict(zip(*query(database, "SELECT metrics_type, metrics FROM hopper.evaluate('by_list_models', 'by_list')")[0]))
    assert shown['is "dear"_accuracy'] == pytest.approx(right, abs=1e-6) and learnt > 0.8
    # With treatments the price is standardised, and what is predicted is no further than the training rows' went.
    assert error <= shown["price_mae"] * 1.0001 and error == pytest.approx(shown["price_mae"], rel=0.05 if "kind" in features else 1e-4)


def test_a_network_for_images_has_several_outputs(database):
    query(database, "CREATE TABLE pictures AS SELECT i AS id, ARRAY[ARRAY[i % 2, 0, 1], ARRAY[0, i % 2, 0], ARRAY[i % 3, 1, 0]]::real[] AS picture,"
                    " i % 2 AS odd, (i % 3)::float8 AS third, ARRAY[ARRAY[i % 2, 0], ARRAY[1, 0]]::real[] AS square FROM generate_series(1, 60) AS i")
    query(database, "SELECT hopper.training_preprocessor('pictures', 'pictures_packed', 'odd, third, square', 'picture')")
    model = value(database, "SELECT hopper.cnn('written', 'pictures_packed', filters => '{2}', kernel_size => 2, pooling => 1, hidden => '{4}')")
    rows = query(database, "SELECT layer, class_name, output_shape FROM hopper.describe_model('written', %s)"
                           " WHERE layer IN ('odd', 'third', 'square')", model)
    assert [row[:2] for row in rows] == [("odd", "Dense"), ("third", "Dense"), ("square", "Reshape")]
    assert value(database, "SELECT models_trained FROM hopper.fit('pictures_packed', 'pictures_models', 'written', %s, $$loss={'odd':"
                           " 'binary_crossentropy', 'third': 'mse', 'square': 'mse'}, optimizer='Adam(lr=0.01)'$$, 'batch_size=8', 2)", model) == 1


def test_a_list_that_outputs_cannot_have(database):
    for labels, message in [("price, nothing", 'column "nothing" of relation "things" does not exist'),
                            ("price, price", '"price"')]:
        with pytest.raises(psycopg2.Error, match=message):
            query(database, "SELECT hopper.training_preprocessor('things', 'refused', %s, 'w1')", labels)
    query(database, "CREATE VIEW one_class AS SELECT *, true AS always FROM things")
    query(database, "SELECT hopper.training_preprocessor('one_class', 'one_class_packed', 'price, always', 'w1')")
    with pytest.raises(psycopg2.Error, match='column "always" of "one_class_packed" holds one class only'):
        query(database, "SELECT hopper.mlp('written', 'one_class_packed')")
