"""Sequences of unequal length: padded as keras.utils.pad_sequences does, and what is trained on them."""

import json
import os
import struct

import psycopg2
import pytest

from digits import connect, create_database, drop_database, query, select, value

DATABASE = "hopper_padding"
with open(os.path.join(os.path.dirname(__file__), "../baseline/keras_padding.json"),
          encoding="ascii") as file:
    KERAS = json.load(file)
TYPES = {"ids": ("integer[]", "i"), "values": ("real[]", "f"), "vectors": ("smallint[]", "h")}
COMPILE = "loss='binary_crossentropy', optimizer='SGD(learning_rate=0.5)'"


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    for name, (kind, _) in TYPES.items():
        query(connection, f"CREATE TABLE {name} (id float8, x {kind})")
        for i, sequence in enumerate(KERAS["sequences"][name]):
            query(connection, f"INSERT INTO {name} VALUES (%s, %s)", i, sequence)
    query(connection, "CREATE TABLE texts (id int PRIMARY KEY, words smallint[], label real)")
    for i, (words, label) in enumerate(zip(KERAS["rows"]["words"], KERAS["rows"]["label"])):
        query(connection, "INSERT INTO texts VALUES (%s, %s, %s)", i, words, label)
    query(connection, "DELETE FROM architectures")
    weights = [x for array in KERAS["weights"] for x in array]
    query(connection, "SELECT hopper.load_model('architectures', %s, %s)", KERAS["architecture"],
          psycopg2.Binary(struct.pack(f"<{len(weights)}f", *weights)))
    model = value(connection, "SELECT max(model_id) FROM architectures")
    select(connection, "chosen", [(1, model, COMPILE, "batch_size=24, shuffle=False")])
    yield connection
    connection.close()
    drop_database(DATABASE)


def unpacked(connection, table, letter):
    """The rows' features in the order of their labels, and their shape."""
    rows = []
    for n, x, y, shape in query(connection, f"SELECT n, x, id, x_shape[2:6] FROM {table}"):
        count = len(x) // n // struct.calcsize(letter)
        numbers = struct.unpack(f"<{n * count}{letter}", x)
        labels = struct.unpack(f"<{n}f", y)
        rows += [(label, list(numbers[i * count:(i + 1) * count])) for i, label in enumerate(labels)]
    return [row for _, row in sorted(rows)], shape


def flat(array):
    return [x for part in array for x in flat(part)] if isinstance(array, list) else [array]


@pytest.mark.parametrize("case", KERAS["cases"], ids=lambda case: "-".join(map(str, case.values()))[:40])
def test_padded_as_keras_does(database, case):
    query(database, "SELECT hopper.training_preprocessor(%s, 'p', 'id', 'x', replace => true, pad_to => %s,"
          " pad_value => %s, pad_side => %s, truncate => %s)", case["column"], case["maxlen"] or "longest",
          case["value"], case["padding"], case["truncating"])
    rows, shape = unpacked(database, "p", TYPES[case["column"]][1])
    assert rows == [flat(row) for row in case["padded"]]
    first = case["padded"][0]
    assert shape == [len(first)] + ([len(first[0])] if isinstance(first[0], list) else [])


@pytest.mark.parametrize("side", ["post", "pre"])
def test_text_ids_train_as_in_keras(database, side):
    keras = KERAS["runs"][side]
    query(database, "SELECT hopper.training_preprocessor('texts', 'packed_texts', 'label', 'words',"
          " pad_to => 'longest', pad_side => %s, partitions => 1, replace => true)", side)
    query(database, "SELECT hopper.fit_multiple_model('packed_texts', 'm', 'chosen', 10, seed => 1,"
          " training_metrics => 'running', replace => true)")
    assert value(database, "SELECT status FROM m_info") == "done"
    losses = value(database, "SELECT training_loss FROM m_info")
    assert losses == pytest.approx(keras["losses"], rel=1e-5)
    predicted = query(database, "SELECT value FROM hopper.predict_rows('m', NULL::texts) ORDER BY (source).id")
    assert [row[0] for row in predicted] == pytest.approx(keras["predicted"], rel=1e-5)
    by_row = query(database, "SELECT p.value FROM texts t, hopper.predict_row('m', t.words) p ORDER BY t.id")
    assert by_row == predicted


def test_byom_pads_as_it_is_told(database):
    query(database, "SELECT hopper.load_model('brought', %s, (SELECT model_weights FROM m))", KERAS["architecture"])
    query(database, "CREATE TABLE longer AS SELECT id, words || '{1,2,3}'::smallint[] AS words FROM texts")
    query(database, "SELECT hopper.predict_byom('brought', 1, 'texts', 'id', 'words', 'byom', pad_value => 0, pad_side => 'pre')")
    assert query(database, "SELECT id, predicted_dependent_var FROM byom ORDER BY id") == query(
        database, "SELECT (source).id, value FROM hopper.predict_rows('m', NULL::texts) ORDER BY 1")
    for more, words in ((", pad_value => 0", "more than 8 steps"), ("", "does not hold arrays of shape 8|empty array")):
        with pytest.raises(psycopg2.Error, match=words):
            query(database, f"SELECT hopper.predict_byom('brought', 1, 'longer', 'id', 'words', 'no'{more})")
    query(database, "SELECT hopper.predict_byom('brought', 1, 'longer', 'id', 'words', 'cut', pad_value => 0,"
          " pad_side => 'pre', truncate => 'post')")
    assert value(database, "SELECT count(predicted_dependent_var) FROM cut") == 24


def test_packing_says_what_it_did(database):
    said = []
    for arguments in ("pad_to => 'longest'", "pad_to => 5, truncate => 'post'"):
        database.notices.clear()
        query(database, f"SELECT hopper.training_preprocessor('texts', 'said', 'label', 'words', {arguments},"
              " replace => true)")
        said += [line for notice in database.notices for line in notice.splitlines() if "DETAIL" in line]
    lengths = [len(words) for words in KERAS["rows"]["words"]]
    assert [line[line.index("Sequences"):] for line in said] == [
        f'Sequences in column "words" have 8 steps: {sum(n < 8 for n in lengths)} filled up.',
        f'Sequences in column "words" have 5 steps: {sum(n < 5 for n in lengths)} filled up,'
        f' {sum(n > 5 for n in lengths)} cut.']


def test_a_value_that_the_column_does_not_hold(database):
    """Packed from integers, predicted from smallint: the padding of training is what counts."""
    query(database, "CREATE TABLE wide AS SELECT id, words::int[] AS words, label FROM texts")
    query(database, "SELECT hopper.training_preprocessor('wide', 'packed_wide', 'label', 'words', pad_to => 8,"
          " pad_value => 70000)")
    query(database, """SELECT hopper.load_model('architectures', '{"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Rescaling", "config": {"scale": 1e-5, "batch_input_shape": [null, 8]}},
        {"class_name": "Dense", "config": {"units": 1}}]}}', name => 'sum')""")
    query(database, "SELECT hopper.fit('packed_wide', 'm_wide', 'architectures', (SELECT model_id FROM architectures"
          " WHERE name = 'sum'), $$loss='mse', optimizer='SGD'$$, 'batch_size=8', 1, seed => 1)")
    wide, narrow = (query(database, f"SELECT value FROM hopper.predict_rows('m_wide', NULL::{table})"
                          " ORDER BY (source).id") for table in ("wide", "texts"))
    assert wide == narrow
    by_row = query(database, "SELECT p.value FROM texts t, hopper.predict_row('m_wide', t.words) p ORDER BY t.id")
    assert by_row == narrow
