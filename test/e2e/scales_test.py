"""Packing says where features are too large to learn from, or numbers to be learnt, and is silent elsewhere."""

import re

import pytest

from digits import connect, drop_database, query

DATABASE = "hopper_scales"


@pytest.fixture(scope="module")
def database():
    drop_database(DATABASE)
    server = connect("postgres")
    query(server, f"CREATE DATABASE {DATABASE}")
    server.close()
    connection = connect(DATABASE)
    query(connection, "CREATE EXTENSION model_hopper")
    query(connection, "CREATE TABLE wines AS SELECT i AS id, (i % 15)::real AS alcohol, 300 + 2 * i AS proline,"
          " -i::float8 AS deficit, ARRAY[i % 3, 10 * i]::real[] AS measured, ARRAY[i, 10 * i] AS words,"
          " ARRAY[[i % 256, 0], [255, 3]] AS pixels, i % 3 AS cultivar, i % 2 = 0 AS held_back FROM generate_series(1, 690) AS i")
    yield connection
    connection.close()
    drop_database(DATABASE)


def hint(connection, features, more="", function="training_preprocessor", labels="cultivar"):
    """The HINT of packing these columns, or None."""
    del connection.notices[:]
    query(connection, f"SELECT hopper.{function}('wines', 'packed', '{labels}', '{features}', replace => true{more})")
    packed = [notice for notice in connection.notices if "packed" in notice]
    assert len(packed) == 1
    found = re.search(r"\nHINT:  (.*)", packed[0], re.DOTALL)
    return found and found[1].rstrip("\n")


WORDS = "Networks learn badly from large numbers, and {} up to {}: {}."
SCALE = "pass treatments => '{}', which scales them"
BY_HAND = "subtract the mean and divide by the standard deviation in a view"


@pytest.mark.parametrize("features, more, where, largest", [
    ("alcohol, proline", "", '"proline" goes', "1680"),
    ("alcohol, deficit, proline", "", '"proline", one of 2, goes', "1680"),
    ("deficit", "", '"deficit" goes', "690"),
    ("alcohol, proline", ", normalizing_const => 10", '"proline" goes', "1680"),
    ("alcohol, proline", ", fold_column => 'held_back'", '"proline" goes', "1680"),
    ("measured", "", '"measured"[2] goes', "6900"),
])
def test_large_numbers_are_told(database, features, more, where, largest):
    assert hint(database, features, more) == WORDS.format(where, largest,
                                                          BY_HAND if features == "measured" else SCALE)
    if features != "measured":
        assert hint(database, features, (more + ", treatments => '{}'").replace(
            ", normalizing_const => 10", "")) is None


def test_images_have_a_constant(database):
    for features, more in (("pixels", ""), ("words", ", image_shape => ARRAY[2, 1]")):
        found = hint(database, features, more)
        assert found == (f'Networks learn badly from large numbers, and "{features}" goes up to '
                         + ("255" if features == "pixels" else "6900") + ": pass normalizing_const, by which they are divided.")
    assert hint(database, "pixels", ", normalizing_const => 255") is None


@pytest.mark.parametrize("features, more", [
    ("alcohol", ""),
    ("alcohol, proline", ", normalizing_const => 1680"),
    ("words", ""),  # ids
    ('{"numbers": "proline", "alcohol": "alcohol"}', ""),
])
def test_others_are_not(database, features, more):
    assert hint(database, features, more) is None


def test_rows_for_validation_are_not_told_again(database):
    assert hint(database, "alcohol, proline")
    query(database, "ALTER TABLE packed RENAME TO trained")
    query(database, "ALTER TABLE packed_summary RENAME TO trained_summary")
    assert hint(database, "alcohol, proline", ", packed_table => 'trained'", "validation_preprocessor") is None


LABEL_WORDS = ('Networks come to large numbers slowly, and those to predict, "{}", go up to {}: subtract the mean and divide by'
               " the standard deviation in a view, and reckon back what is predicted.")


@pytest.mark.parametrize("labels, features, more, name, largest", [
    ("deficit", "alcohol", "", "deficit", "690"),
    ("proline", "pixels", ", normalizing_const => 255, label_kind => 'value'", "proline", "1680"),
    ("deficit", "alcohol", ", weight_varname => 'proline'", "deficit", "690"),
    ('{"kind": "cultivar", "lack": "deficit"}', "alcohol", "", "lack", "690"),
    ("deficit", "alcohol", ", validation_fraction => 0.2", "deficit", "690"),
])
def test_large_numbers_to_predict_are_told(database, labels, features, more, name, largest):
    assert hint(database, features, more, labels=labels) == LABEL_WORDS.format(name, largest)


def test_both_are_told(database):
    assert hint(database, "proline", labels="deficit") == (WORDS.format('"proline" goes', "1680", SCALE) + "\n"
                                                           + LABEL_WORDS.format("deficit", "690"))


@pytest.mark.parametrize("labels, more", [("cultivar", ""), ("alcohol", ""), ("cultivar", ", label_kind => 'value'")])
def test_classes_and_small_numbers_to_predict_are_not(database, labels, more):
    assert hint(database, "id", f"{more}, normalizing_const => 690", labels=labels) is None


def test_numbers_to_predict_for_validation_are_not_told_again(database):
    assert hint(database, "alcohol", labels="deficit")
    query(database, "DROP TABLE trained, trained_summary")
    query(database, "ALTER TABLE packed RENAME TO trained")
    query(database, "ALTER TABLE packed_summary RENAME TO trained_summary")
    assert hint(database, "alcohol", ", packed_table => 'trained'", "validation_preprocessor", labels="deficit") is None
