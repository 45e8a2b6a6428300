"""Labels at each step, of which not all count: masks of the output, and classes that the loss ignores."""

import json
import os
import struct

import psycopg2
import pytest

from digits import create_database, drop_database, query, select, value

DATABASE = "hopper_tagging"
with open(os.path.join(os.path.dirname(__file__), "../baseline/keras_tagging.json"),
          encoding="ascii") as file:
    KERAS = json.load(file)
COLUMNS = {"words": "int[]", "signal": "real[]", "tags": "smallint[]", "several": "int[]",
           "numbers": "real[]", "kind": "int", "weight": "real"}
SPARSE = "'sparse_categorical_crossentropy'"
IGNORING = "SparseCategoricalCrossentropy(ignore_class=1)"
ARGUMENTS = {
    "mask": (SPARSE, ["accuracy", "sparse_categorical_crossentropy"]), "ignored": (IGNORING, ["accuracy"]),
    "both": (IGNORING, ["accuracy"]), "several": ("'binary_crossentropy'", ["binary_accuracy", "auc"]),
    "numbers": ("'mse'", ["mae"]), "rows": (IGNORING, ["accuracy"])}


def flat(arrays):
    values = [x for array in arrays for x in array]
    return struct.pack(f"<{len(values)}f", *values)


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    query(connection, "CREATE TABLE rows (id int, %s)" % ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items()))
    for i, row in enumerate(zip(*(KERAS["rows"][name] for name in COLUMNS))):
        query(connection, "INSERT INTO rows VALUES (%s" + "".join(f", %s::{kind}" for kind in COLUMNS.values()) + ")",
              i, *row)
    query(connection, "DELETE FROM architectures")
    yield connection
    connection.close()
    drop_database(DATABASE)


@pytest.mark.parametrize("kind", ["plain", "weighted"])
@pytest.mark.parametrize("name", list(ARGUMENTS))
def test_twelve_steps_of_keras(database, name, kind):
    run = KERAS["runs"][name]
    keras = run[kind]
    table, packed = f"m_{name}_{kind}", f"p_{name}_{kind}"
    query(database, "SELECT hopper.training_preprocessor('rows', %s, %s, %s, partitions => 1, weight_varname => %s)",
          packed, run["y"], run["x"], None if kind == "plain" else "weight")
    query(database, "SELECT hopper.load_model('architectures', %s, %s, name => %s)", run["architecture"],
          psycopg2.Binary(flat(run["weights"])), table)
    model = value(database, "SELECT hopper.model_id('architectures', %s)", table)
    loss, metrics = ARGUMENTS[name]
    compile_params = (f"loss={loss}, optimizer='SGD(learning_rate=0.5)', metrics={metrics},"
                      f" weighted_metrics={metrics[:1]}")
    query(database, "DROP TABLE IF EXISTS chosen, chosen_summary")
    select(database, "chosen", [(1, model, compile_params, "batch_size=20, shuffle=False")])
    query(database, "SELECT hopper.fit_multiple_model(%s, %s, 'chosen', 12, seed => 1)", packed, table)
    assert value(database, f"SELECT status FROM {table}_info") == "done"
    assert not [notice for notice in database.notices if "the mask of" in notice]
    losses = value(database, f"SELECT training_loss FROM {table}_info")
    # The last one is taken of the weights afterwards.
    assert losses[:11] == pytest.approx(keras["losses"][:11], rel=1e-5)
    assert losses[11] == pytest.approx(keras["evaluated"]["loss"], rel=1e-5)
    content = bytes(value(database, f"SELECT model_weights FROM {table}"))
    got = struct.unpack(f"<{len(content) // 4}f", content)
    before = [x for array in run["weights"] for x in array]
    after = [x for array in keras["weights_after"] for x in array]
    change = max(abs(a - b) for a, b in zip(before, after))
    assert max(abs(a - b) for a, b in zip(got, after)) <= 1e-4 * change
    names = value(database, f"SELECT metrics_type FROM {table}_info")
    loss, metrics = query(database, "SELECT loss, metrics FROM hopper.evaluate(%s, %s)", table, packed)[0]
    assert loss == pytest.approx(keras["evaluated"]["loss"], rel=1e-5)
    assert len(names) == len(ARGUMENTS[name][1]) + 1
    for metric, found in zip(names, metrics):
        assert found == pytest.approx(keras["evaluated"][metric], rel=2e-5), metric


def test_predictions_have_all_steps(database):
    query(database, "SELECT hopper.predict('m_mask_plain', 'rows', 'id', output_table => 'tagged')")
    shapes = query(database, "SELECT array_dims(predicted_tags), array_dims(prob_tags), count(*) FROM tagged GROUP BY 1, 2")
    assert shapes == [("[1:6]", "[1:6][1:3]", 20)]


def test_confusion_leaves_out_what_does_not_count(database):
    query(database, "SELECT hopper.evaluate('m_both_plain', 'p_both_plain', confusion_table => 'confusion')")
    counted = [tag for words, tags in zip(KERAS["rows"]["words"], KERAS["rows"]["tags"])
               for word, tag in zip(words, tags) if word != 0 and tag != 1]
    rows = query(database, "SELECT examples FROM confusion ORDER BY row_id")
    assert rows == [(counted.count(tag),) for tag in range(3)]


def test_what_a_mask_is_not_for(database):
    query(database, "SELECT hopper.load_model('architectures', %s, name => 'several')",
          KERAS["runs"]["several"]["architecture"])
    model = value(database, "SELECT hopper.model_id('architectures', 'several')")
    # Masks are no part of what the model gives.
    assert value(database, "SELECT output_shape FROM hopper.describe_model('architectures', %s)"
                 " WHERE layer = 'total'", model) == "6x2"
    assert value(database, "SELECT hopper.to_onnx('m_mask_plain') IS NOT NULL")
    with pytest.raises(psycopg2.Error, match="loss \"dice\" of an output with a mask is not supported"):
        query(database, "SELECT hopper.fit('p_several_plain', 'refused', 'architectures', %s, 'loss=dice,"
              " optimizer=SGD', 'batch_size=20', 1)", model)
