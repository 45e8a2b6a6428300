"""Predictions against numpy's forward pass with the stored weights, for every kind of data."""

import json

import numpy
import psycopg2
import pytest

from digits import (ADAM, GREENPLUM, SOURCE, connect, create_database, dense, drop_database, query,
                    read_digits, sequential, value)

DATABASE = "hopper_predict"


def softmax(x):
    e = numpy.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def forward(weights, x, hidden, outputs, last):
    """A network with one relu layer in float64; weights as get_weights() orders them."""
    flat = numpy.frombuffer(weights, dtype="<f4").astype(float)
    width = x.shape[1]
    parts = numpy.split(flat, numpy.cumsum([width * hidden, hidden, hidden * outputs]))
    assert parts[3].size == outputs
    h = numpy.maximum(x @ parts[0].reshape(width, hidden) + parts[1], 0)
    return last(h @ parts[2].reshape(hidden, outputs) + parts[3])


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    query(connection, "SELECT * FROM hopper.fit('packed', 'digits_model', 'architectures', 1, %s,"
          " 'batch_size=32', 3)", ADAM)
    yield connection
    connection.close()
    drop_database(DATABASE)


@pytest.fixture(scope="module")
def expected(database):
    weights = bytes(value(database, "SELECT model_weights FROM digits_model"))
    ids, _, pixels = read_digits()
    x = numpy.array(pixels, dtype=float).reshape(len(ids), 64) / 16
    return dict(zip(ids, forward(weights, x, 32, 10, softmax)))


def predict(connection, output, *more, source="digits", columns="pixels", model="digits_model"):
    query(connection, f"DROP TABLE IF EXISTS {output}")
    extra = "".join(f", {argument}" for argument in more)
    query(connection, f"SELECT hopper.predict('{model}', '{source}', 'id', '{columns}',"
          f" '{output}'{extra})")


def columns(connection, table):
    return query(connection, "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute"
                 " WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attnum", table)


def test_prob(database, expected):
    predict(database, "p_prob")
    assert columns(database, "p_prob") == [
        ("id", "integer"), ("class_name", "text"), ("class_value", "text"),
        ("prob", "double precision"), ("rank", "integer"), ("predicted_label", "integer")]
    rows = query(database, "SELECT id, class_name, class_value, prob, rank, predicted_label"
                 " FROM p_prob ORDER BY id, rank")
    assert len(rows) == 10 * len(expected)
    for at, (key, name, text, probability, rank, label) in enumerate(rows):
        wanted = expected[key]
        assert name == "label" and label == wanted.argmax() and rank == at % 10 + 1
        assert abs(probability - wanted[int(text)]) < 1e-5
    for first, second in zip(rows, rows[1:]):
        assert first[0] != second[0] or first[3] >= second[3]


def test_response(database, expected):
    predict(database, "p_response", "'response'")
    assert [name for name, _ in columns(database, "p_response")] == [
        "id", "class_name", "class_value", "prob", "predicted_label"]
    rows = query(database, "SELECT id, class_value, prob, predicted_label FROM p_response")
    assert len(rows) == len(expected)
    for key, text, probability, label in rows:
        assert text == str(label)
        assert abs(expected[key].max() - expected[key][label]) < 1e-5
        assert abs(probability - expected[key].max()) < 1e-5
    right = query(database, "SELECT avg((predicted_label = label)::int) FROM p_response"
                  " JOIN digits USING (id)")[0][0]
    assert right > 0.9


def test_top_k_and_threshold(database, expected):
    predict(database, "p_top", "3")
    found = query(database, "SELECT id, count(*), max(rank), min(prob) FROM p_top GROUP BY id")
    assert len(found) == len(expected)
    for key, n, rank, least in found:
        assert (n, rank) == (3, 3)
        assert abs(least - numpy.sort(expected[key])[-3]) < 1e-5
    predict(database, "p_top_1", "1")
    assert columns(database, "p_top_1")[4] == ("rank", "integer")
    predict(database, "p_above", "0.2")
    found = dict(query(database, "SELECT id, count(*) FROM p_above GROUP BY id"))
    for key, wanted in expected.items():
        clear = (abs(wanted - 0.2) > 1e-5).all()
        assert not clear or found.get(key, 0) == (wanted > 0.2).sum()
    assert value(database, "SELECT min(prob) > 0.2 FROM p_above") is True
    predict(database, "p_many", "99")
    assert value(database, "SELECT count(*) FROM p_many") == 10 * len(expected)


@pytest.mark.parametrize("kind", ["integer[]", "bigint[]", "real[]", "double precision[]",
                                  "numeric[]"])
def test_other_types_of_features(database, kind):
    predict(database, "p_prob")
    query(database, "DROP VIEW IF EXISTS cast_digits")
    query(database, f"CREATE VIEW cast_digits AS SELECT 'd' || id AS id, pixels::{kind} AS x"
          " FROM digits WHERE id <= 50")
    predict(database, "p_cast", source="cast_digits", columns="x")
    assert columns(database, "p_cast")[0] == ("id", "text")
    assert value(database, "SELECT count(*) FROM p_cast c JOIN p_prob p ON c.id = 'd' || p.id"
                 " AND c.rank = p.rank AND c.prob = p.prob AND c.class_value = p.class_value") == 500


def test_images_as_bytes(database):
    predict(database, "p_prob")
    query(database, "CREATE TABLE images (id uuid DEFAULT md5(random()::text)::uuid, number integer, x bytea)")
    ids, _, pixels = read_digits()
    with database.cursor() as cursor:
        for key, image in zip(ids[:20], pixels[:20]):
            cursor.execute("INSERT INTO images (number, x) VALUES (%s, %s)",
                           (key, numpy.array(image, dtype=numpy.uint8).tobytes()))
    predict(database, "p_bytes", source="images", columns="x")
    assert columns(database, "p_bytes")[0] == ("id", "uuid")
    assert value(database, "SELECT count(*) FROM p_bytes b JOIN images i USING (id) JOIN p_prob p"
                 " ON i.number = p.id AND b.rank = p.rank AND b.prob = p.prob") == 200
    assert len(rows_predicted(database, "digits_model", "NULL", "number, x FROM images")) == 200


def rows_predicted(connection, model, key, rows):
    """id, class, probability and value of predict_row() for each id and features in `rows`."""
    predicted = f"hopper.predict_row('{model}', {key}, "
    if not GREENPLUM:
        return query(connection, f"SELECT f.id, r.class_value, r.prob, r.value FROM (SELECT {rows})"
                     f" f(id, x), {predicted} x) r")
    # There it reads the model's tables, which a segment's process must not.
    return [(number, *row) for number, x in query(connection, f"SELECT {rows}")
            for row in query(connection, f"SELECT class_value, prob, value FROM {predicted} %s) r", x)]


def test_predict_row(database, expected):
    rows = rows_predicted(database, "digits_model", 1, "id, pixels FROM digits WHERE id <= 100")
    assert len(rows) == 1000
    for key, text, probability, number in rows:
        assert number is None
        assert abs(probability - expected[key][int(text)]) < 1e-5
    assert rows[0][2] == max(row[2] for row in rows[:10])


def test_predict_row_sees_a_new_model(database):
    query(database, "SELECT * FROM hopper.fit('packed', 'moving', 'architectures', 1, %s,"
          " 'batch_size=32', 1)", ADAM)
    one = "SELECT prob FROM hopper.predict_row('moving', {}, (SELECT pixels FROM digits WHERE id = 1)) LIMIT 1"
    other = connect(DATABASE)
    first = value(other, one.format(1))
    assert value(other, one.format("NULL")) == first
    query(database, "SELECT * FROM hopper.fit('packed', 'moving', 'architectures', 1, %s,"
          " 'batch_size=32', 1, warm_start => true)", ADAM)
    second = value(other, one.format(1))
    assert second != first
    # The old model is back once the transaction that trained it on is rolled back.
    query(other, "BEGIN")
    query(other, "SELECT * FROM hopper.fit('packed', 'moving', 'architectures', 1, %s,"
          " 'batch_size=32', 1, warm_start => true)", ADAM)
    assert value(other, one.format(1)) not in (first, second)
    query(other, "ROLLBACK")
    assert value(other, one.format(1)) == second
    query(other, "DROP TABLE moving, moving_info, moving_state, moving_summary")
    with pytest.raises(psycopg2.errors.UndefinedTable):
        query(other, one.format(1))
    other.close()


FEATURES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
LISTED = ", ".join(FEATURES)


@pytest.fixture(scope="module")
def flowers(database):
    query(database, "CREATE TABLE iris (id integer PRIMARY KEY, attributes real[], class_text text)")
    with database.cursor() as cursor, open(SOURCE / "examples" / "iris.csv", encoding="ascii") as file:
        cursor.copy_expert("COPY iris FROM STDIN CSV HEADER", file)
    query(database, "CREATE VIEW flowers AS SELECT id, class_text, "
          + ", ".join(f"attributes[{at}] AS {name}" for at, name in enumerate(FEATURES, 1))
          + ", class_text = 'Iris-setosa' AS is_setosa FROM iris")


def small(units, activation, inputs):
    return sequential(dense("hidden", 8, "relu"), dense("output", units, activation),
                      shape=(inputs,))


def train(connection, name, label, features, units, activation, loss):
    """Trains `name` on flowers; returns its weights, the ids and the features in their order."""
    listed = ", ".join(features)
    query(connection, f"SELECT hopper.training_preprocessor('flowers', '{name}_packed', %s, %s)",
          label, listed)
    model = value(connection, "SELECT hopper.load_model('architectures', %s)",
                  small(units, activation, len(features)))
    query(connection, f"SELECT * FROM hopper.fit('{name}_packed', '{name}', 'architectures', %s, %s,"
          " 'batch_size=16', 20)", model, f"loss='{loss}', optimizer='Adam(lr=0.02)'")
    weights = bytes(value(connection, f"SELECT model_weights FROM {name}"))
    rows = query(connection, f"SELECT id, {listed} FROM flowers ORDER BY id")
    return weights, [row[0] for row in rows], numpy.array([row[1:] for row in rows], dtype=float)


def test_columns_of_numbers_and_text_classes(database, flowers):
    weights, ids, x = train(database, "species", "class_text", FEATURES, 3, "softmax",
                            "sparse_categorical_crossentropy")
    wanted = dict(zip(ids, forward(weights, x, 8, 3, softmax)))
    predict(database, "p_species", source="flowers", model="species", columns=LISTED)
    assert columns(database, "p_species")[-1] == ("predicted_class_text", "text")
    classes = ["Iris-setosa", "Iris-versicolor", "Iris-virginica"]
    assert value(database, "SELECT class_text_class_values FROM species_summary") == classes
    rows = query(database, "SELECT id, class_value, prob, predicted_class_text FROM p_species")
    assert len(rows) == 450
    for key, text, probability, typed in rows:
        assert typed == classes[wanted[key].argmax()]
        assert abs(probability - wanted[key][classes.index(text)]) < 1e-5
    assert value(database, "SELECT avg((predicted_class_text = class_text)::int) > 0.9 FROM p_species"
                 " JOIN flowers USING (id) WHERE rank = 1") is True
    # An array of the same numbers will do.
    predict(database, "p_array", source="iris", model="species", columns="attributes")
    assert value(database, "SELECT count(*) FROM p_array JOIN p_species USING (id, rank, prob)") == 450


@pytest.mark.parametrize("kind", ["integer", "text"])
def test_rows_of_all_kinds_one_behind_the_other(database, flowers, kind):
    """Long and short texts, NULL and numbers that are not finite in turns, more rows than are read,
    computed or written at once: none is seen in another row."""
    name = f"kinds_{kind}"
    weights, ids, x = train(database, name, "class_text", FEATURES, 3, "softmax",
                            "sparse_categorical_crossentropy")
    wanted = dict(zip(ids, forward(weights, x, 8, 3, softmax)))
    made = {"integer": "number", "text": "repeat('x', number * 7 % 200) || number"}[kind]
    query(database, f"CREATE TABLE {name}_rows AS SELECT number, flowers.id AS flower, {LISTED},"
          f" CASE WHEN number % 11 > 0 THEN {made} END AS id FROM flowers, LATERAL (SELECT"
          " id * 30 + i AS number FROM generate_series(0, 29) i) AS n ORDER BY number % 1009")
    for at, (feature, bad) in enumerate(zip(FEATURES, ["'NaN'", "'Infinity'", "'-Infinity'", "NULL"])):
        query(database, f"UPDATE {name}_rows SET {feature} = {bad} WHERE number % 13 = {at}")
    output = f"p_{name}"
    predict(database, output, "'response'", "on_null => 'null'", source=f"{name}_rows", model=name,
            columns=LISTED)
    rows = {row[0]: row[1:] for row in query(
        database, f"SELECT id, class_name, class_value, predicted_class_text, prob FROM {output}")}
    given = query(database, f"SELECT number, flower, id FROM {name}_rows WHERE id IS NOT NULL")
    assert len(rows) == len(given) + 1
    assert value(database, f"SELECT count(*) FROM {output} WHERE id IS NULL") == 4500 - len(given)
    classes = ["Iris-setosa", "Iris-versicolor", "Iris-virginica"]
    for number, flower, key in given:
        best = wanted[flower].argmax()
        if number % 13 < 4:
            assert rows[key] == (None, None, None, None)
        else:
            assert rows[key][:3] == ("class_text", classes[best], classes[best])
            assert abs(rows[key][3] - wanted[flower][best]) < 1e-5
    query(database, f"DELETE FROM {name}_rows WHERE number % 13 IN (1, 2, 3)")
    with pytest.raises(psycopg2.DataError, match="NaN"):
        predict(database, output, source=f"{name}_rows", model=name, columns=LISTED)


def test_one_sigmoid_output_is_two_classes(database, flowers):
    weights, ids, x = train(database, "setosa", "is_setosa", FEATURES, 1, "sigmoid",
                            "binary_crossentropy")
    wanted = dict(zip(ids, forward(weights, x, 8, 1, lambda z: 1 / (1 + numpy.exp(-z)))[:, 0]))
    predict(database, "p_setosa", source="flowers", model="setosa", columns=LISTED)
    assert columns(database, "p_setosa")[-1] == ("predicted_is_setosa", "boolean")
    rows = query(database, "SELECT id, class_value::boolean, predicted_is_setosa, prob FROM p_setosa")
    assert len(rows) == 300
    for key, setosa, typed, probability in rows:
        assert typed == (wanted[key] > 0.5)
        assert abs(probability - (wanted[key] if setosa else 1 - wanted[key])) < 1e-5


def test_regression(database, flowers):
    weights, ids, x = train(database, "width", "petal_width", FEATURES[:3], 1, "linear", "mse")
    wanted = dict(zip(ids, forward(weights, x, 8, 1, lambda z: z)[:, 0]))
    predict(database, "p_width", source="flowers", model="width", columns=", ".join(FEATURES[:3]))
    assert columns(database, "p_width") == [("id", "integer"),
                                            ("predicted_petal_width", "double precision")]
    rows = query(database, "SELECT * FROM p_width")
    assert len(rows) == 150
    for key, number in rows:
        assert abs(number - wanted[key]) < 1e-5 * max(1, abs(wanted[key]))
    row = rows_predicted(database, "width", 1, "id, ARRAY[sepal_length, sepal_width, petal_length]"
                         f" FROM flowers WHERE id = {ids[0]}")
    assert row[0][1:3] == (None, None) and len(row) == 1
    assert abs(row[0][3] - wanted[ids[0]]) < 1e-5
    loss = value(database, "SELECT training_loss_final FROM width_info")
    true = numpy.array([row[0] for row in query(
        database, "SELECT petal_width FROM flowers ORDER BY id")])
    assert abs(loss - numpy.mean((numpy.array([wanted[key] for key in ids]) - true) ** 2)) < 1e-5


@pytest.mark.parametrize("text", ["first", "last"])
def test_columns_of_all_lengths(database, text):
    """In another order than the table's, before and behind a text, in rows with and without NULL:
    packing and predict() take them where they lie."""
    kinds = {"f": "boolean", "s": "smallint", "i": "integer", "b": "bigint", "id": "uuid",
             "d": "double precision", "r": "real", "i2": "integer", "s2": "smallint", "y": "real"}
    defined = [f"{name} {kind}" for name, kind in kinds.items()]
    defined.insert({"first": 0, "last": len(defined)}[text], "note text")
    query(database, "DROP TABLE IF EXISTS lengths")
    query(database, f"CREATE TABLE lengths ({', '.join(defined)})")
    chosen = ["r", "i", "s2", "b", "i2", "d", "s", "f"]
    x = numpy.random.default_rng(3).integers(-30, 30, (600, len(chosen))).astype(float)
    x[:, 7] = x[:, 7] > 0
    x[:, [0, 5]] /= 4
    keys = [f"00000000-0000-0000-0000-{at:012}" for at in range(len(x))]
    for at, row in enumerate(x):
        given = {name: f"'{number:g}'" for name, number in zip(chosen, row)}
        given.update(id=f"'{keys[at]}'", y=f"{row[0] - row[4] / 8}",
                     note="NULL" if at % 5 == 0 else f"repeat('x', {at % 7})")
        query(database, f"INSERT INTO lengths ({', '.join(given)}) VALUES ({', '.join(given.values())})")
    query(database, f"SELECT hopper.training_preprocessor('lengths', 'lengths_{text}', 'y', %s)",
          ", ".join(chosen))
    model = value(database, "SELECT hopper.load_model('architectures', %s)",
                  small(1, "linear", len(chosen)))
    query(database, f"SELECT * FROM hopper.fit('lengths_{text}', 'model_{text}', 'architectures', %s,"
          " $$loss='mse', optimizer='Adam(lr=0.01)'$$, NULL, 20)", model)
    weights = bytes(value(database, f"SELECT model_weights FROM model_{text}"))
    wanted = forward(weights, x, 8, 1, lambda z: z)[:, 0]
    error = numpy.mean((wanted - (x[:, 0] - x[:, 4] / 8)) ** 2)
    loss = value(database, f"SELECT training_loss_final FROM model_{text}_info")
    assert abs(loss - error) < 1e-4 * error
    query(database, "UPDATE lengths SET s = NULL WHERE note = 'xxx'")
    predict(database, "p_lengths", "on_null => 'null'", source="lengths", model=f"model_{text}",
            columns=", ".join(chosen))
    predicted = dict(query(database, "SELECT id::text, predicted_y FROM p_lengths"))
    assert len(predicted) == len(x)
    for at, key in enumerate(keys):
        if at % 7 == 3 and at % 5 != 0:
            assert predicted[key] is None
        else:
            assert abs(predicted[key] - wanted[at]) < 1e-5 * max(1, abs(wanted[at]))


def test_labels_as_arrays(database, flowers):
    """Two numbers at once: the labels are an array, the predictions one too."""
    query(database, "CREATE VIEW halves AS SELECT id, attributes[1:2] AS sepal,"
          " attributes[3:4] AS petal FROM iris")
    query(database, "SELECT hopper.training_preprocessor('halves', 'halves_packed', 'petal', 'sepal')")
    model = value(database, "SELECT hopper.load_model('architectures', %s)", small(2, "linear", 2))
    query(database, "SELECT * FROM hopper.fit('halves_packed', 'two', 'architectures', %s,"
          " $$loss='mse', optimizer='Adam(lr=0.02)'$$, NULL, 5)", model)
    weights = bytes(value(database, "SELECT model_weights FROM two"))
    rows = query(database, "SELECT id, sepal FROM halves ORDER BY id")
    x = numpy.array([row[1] for row in rows], dtype=float)
    wanted = dict(zip((row[0] for row in rows), forward(weights, x, 8, 2, lambda z: z)))
    predict(database, "p_two", source="halves", model="two", columns="sepal")
    assert columns(database, "p_two")[-1] == ("predicted_petal", "double precision[]")
    for key, numbers in query(database, "SELECT * FROM p_two"):
        assert numpy.abs(numpy.array(numbers) - wanted[key]).max() < 1e-5


def test_byom(database, expected):
    weights = bytes(value(database, "SELECT model_weights FROM digits_model"))
    from digits import PLAIN
    query(database, "SELECT hopper.load_model('imported', %s, %s)", PLAIN, weights)
    names = "{" + ",".join(f"class {i}" for i in range(10)) + "}"
    call = "SELECT hopper.predict_byom('imported', 1, 'digits', 'id', 'pixels', %s{})"
    query(database, call.format(", normalizing_const => 16, class_values => %s"), "b_named", names)
    query(database, call.format(", 'response', normalizing_const => 16"), "b_plain")
    query(database, call.format(", 2, normalizing_const => 16"), "b_top")
    query(database, call.format(", 0.5::float8, normalizing_const => 16"), "b_above")
    for key, name, text, probability in query(
            database, "SELECT id, class_name, class_value, prob FROM b_named"):
        assert name == "dependent_var"
        assert abs(probability - expected[key][int(text.removeprefix("class "))]) < 1e-5
    for key, text, probability in query(database, "SELECT id, class_value, prob FROM b_plain"):
        assert abs(probability - expected[key][int(text)]) < 1e-5
    assert value(database, "SELECT count(*) FROM b_top") == 2 * len(expected)
    assert value(database, "SELECT min(prob) > 0.5 FROM b_above") is True


def test_byom_of_several_numbers(database):
    """What neither softmax nor sigmoid ends are numbers, as predict() has them."""
    arch, weights = query(database, "SELECT model_arch::text, model_weights FROM two")[0]
    query(database, "SELECT hopper.load_model('imported_two', %s, %s)", arch, bytes(weights))
    query(database, "SELECT hopper.predict_byom('imported_two', 1, 'halves', 'id', 'sepal', 'b_two')")
    assert columns(database, "b_two")[-1] == ("predicted_dependent_var", "double precision[]")
    assert query(database, "TABLE b_two ORDER BY id") == query(database, "TABLE p_two ORDER BY id")
    query(database, "SELECT hopper.predict_byom('imported_two', 1, 'halves', 'id', 'sepal', 'b_classes',"
          " class_values => '{a,b}')")
    assert value(database, "SELECT count(DISTINCT class_value) FROM b_classes") == 2


def test_a_cancelled_prediction(database):
    query(database, "CREATE VIEW endless AS SELECT d.id + g AS id, pixels FROM digits d,"
          " generate_series(1, 1000000) g")
    connection = connect(DATABASE)
    query(connection, "SET statement_timeout = '500ms'")
    with pytest.raises(psycopg2.errors.QueryCanceled):
        predict(connection, "p_endless", source="endless")
    assert value(connection, "SELECT to_regclass('p_endless') IS NULL") is True
    connection.close()


def test_json_is_kept(database):
    from digits import PLAIN
    assert json.loads(json.dumps(value(database, "SELECT model_arch FROM digits_model"))) == (
        json.loads(PLAIN))
