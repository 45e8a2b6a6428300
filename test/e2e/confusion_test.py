"""The confusion matrix of evaluate() against scikit-learn, from the model's own predictions."""

import numpy
import pytest
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from digits import ADAM, create_database, dense, drop_database, layer, query, sequential, value

DATABASE = "hopper_confusion"


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    query(connection, "CREATE VIEW held AS SELECT * FROM digits WHERE id % 3 = 0")
    query(connection, "CREATE VIEW seen AS SELECT * FROM digits WHERE id % 3 <> 0")
    query(connection, "CREATE TABLE binary_digits AS SELECT id, label > 4 AS large, pixels FROM digits")
    yield connection
    connection.close()
    drop_database(DATABASE)


def compare(connection, model, table, labels, source, test_table):
    query(connection, f"SELECT hopper.evaluate('{model}', '{test_table}', confusion_table => '{table}')")
    query(connection, f"SELECT hopper.predict('{model}', '{source}', 'id', 'pixels', '{table}_p',"
          " 'response')")
    column = value(connection, "SELECT attname::text FROM pg_attribute WHERE attrelid = %s::regclass"
                   " AND attnum > 0 AND attname LIKE 'predicted%%'", table + "_p")
    pairs = query(connection, f"SELECT s.{labels}::text, p.{column}::text FROM {source} s"
                  f" JOIN {table}_p p USING (id)")
    wanted = [pair[0] for pair in pairs]
    predicted = [pair[1] for pair in pairs]
    rows = query(connection, "SELECT class, confusion_arr, examples, predicted, \"precision\", recall,"
                 f" f1_score FROM {table} ORDER BY row_id")
    classes = [row[0] for row in rows]
    numpy.testing.assert_array_equal([row[1] for row in rows],
                                     confusion_matrix(wanted, predicted, labels=classes))
    precision, recall, f1, support = precision_recall_fscore_support(
        wanted, predicted, labels=classes, zero_division=numpy.nan)
    numpy.testing.assert_array_equal([row[2] for row in rows], support)
    numpy.testing.assert_array_equal([row[3] for row in rows],
                                     [predicted.count(name) for name in classes])
    for at, oracle in ((4, precision), (5, recall), (6, f1)):
        found = [numpy.nan if row[at] is None else row[at] for row in rows]
        numpy.testing.assert_allclose(found, oracle, rtol=1e-12)
    return len(classes)


def test_ten_classes(database):
    query(database, "SELECT hopper.training_preprocessor('seen', 'seen_packed', 'label', 'pixels',"
          " normalizing_const => 16)")
    query(database, "SELECT hopper.validation_preprocessor('held', 'held_packed', 'label', 'pixels',"
          " 'seen_packed')")
    query(database, "SELECT * FROM hopper.fit('seen_packed', 'ten', 'architectures', 1, %s,"
          " 'batch_size=32', 2)", ADAM)
    assert compare(database, "ten", "ten_confusion", "label", "held", "held_packed") == 10


def test_a_single_output(database):
    network = sequential(layer("Flatten", "flatten"), dense("hidden", 8, "relu"),
                         dense("output", 1, "sigmoid"))
    model = value(database, "SELECT hopper.load_model('architectures', %s)", network)
    query(database, "SELECT hopper.training_preprocessor('binary_digits', 'two_packed', 'large',"
          " 'pixels', normalizing_const => 16)")
    query(database, "SELECT * FROM hopper.fit('two_packed', 'two', 'architectures', %s,"
          " 'loss=bce, optimizer=Adam(lr=0.005)', 'batch_size=32', 2)", model)
    assert compare(database, "two", "two_confusion", "large", "binary_digits", "two_packed") == 2


def test_rows_of_a_packed_table_are_predicted_beside_their_labels(database):
    """The counts of confusion tables, row by row; probabilities are those of predict()."""
    query(database, "SELECT hopper.evaluate('ten', 'held_packed', confusion_table => 'by_row_confusion')")
    rows = query(database, "SELECT row_number, label, predicted, probability, outputs FROM hopper.predict_packed('ten', 'held_packed')")
    classes, counts = zip(*query(database, "SELECT class, confusion_arr FROM by_row_confusion ORDER BY row_id"))
    numpy.testing.assert_array_equal(confusion_matrix([row[1] for row in rows], [row[2] for row in rows], labels=classes), counts)
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
    for _, _, predicted, probability, outputs in rows:
        assert probability == max(outputs) == outputs[classes.index(predicted)]
    query(database, "SELECT hopper.predict('ten', 'held', 'id', 'pixels', 'by_row_p', 'response')")
    assert sorted(row[3] for row in rows) == sorted(row[0] for row in query(database, "SELECT prob FROM by_row_p"))
    some = query(database, "SELECT row_number, label, predicted, probability, outputs FROM hopper.predict_packed('ten', 'held_packed', n => 10)")
    assert len(some) == 10 and all(row == rows[row[0] - 1] for row in some)
    gaps = numpy.diff([row[0] for row in some])
    assert max(gaps) - min(gaps) <= 1


def test_numbers_of_a_packed_table_are_in_their_unit(database):
    query(database, "CREATE TABLE priced AS SELECT i AS id, sin(i) AS a, (ARRAY['x', 'y'])[1 + i % 2] AS b, 1000 + 300 * sin(i) + 50 * (i % 2) AS price"
          " FROM generate_series(1, 500) i")
    query(database, "SELECT hopper.training_preprocessor('priced', 'priced_packed', 'price', 'a, b', treatments => '{}', validation_fraction => 0.3)")
    query(database, "SELECT hopper.mlp('priced_networks', 'priced_packed', hidden => 8);"
          "SELECT hopper.fit('priced_packed', 'priced_models', 'priced_networks', 1, $$loss='mse', optimizer='Adam(lr=0.01)', metrics=['mae']$$,"
          " 'batch_size=32', 5, validation_table => 'priced_packed_validation')")
    pairs = query(database, "SELECT label::float8, predicted::float8, outputs[1], probability FROM hopper.predict_packed('priced_models', 'priced_packed_validation')")
    prices = {round(row[0], 3) for row in query(database, "SELECT price FROM priced")}
    assert all(round(label, 3) in prices and predicted == output and probability is None for label, predicted, output, probability in pairs)
    error = numpy.mean([abs(label - predicted) for label, predicted, _, _ in pairs])
    numpy.testing.assert_allclose(error, value(database, "SELECT metric FROM hopper.evaluate('priced_models', 'priced_packed_validation')"), rtol=1e-5)


def test_packed_rows_that_cannot_be_predicted(database):
    for n in (0, -1):
        with pytest.raises(Exception, match="n must be a positive number of rows"):
            query(database, f"SELECT * FROM hopper.predict_packed('ten', 'held_packed', n => {n})")
    with pytest.raises(Exception, match="held"):
        query(database, "SELECT * FROM hopper.predict_packed('ten', 'held')")
    with pytest.raises(Exception, match="priced_packed"):
        query(database, "SELECT * FROM hopper.predict_packed('ten', 'priced_packed')")
