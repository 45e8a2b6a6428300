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
