"""A database whose encoding lacks characters that a model's text or a message may hold."""

import json
import re

import psycopg2
import pytest

from digits import connect, drop_database, query, value

DATABASE = "hopper_latin1"


@pytest.fixture(scope="module", name="database")
def latin1_database():
    drop_database(DATABASE)
    admin = connect("postgres")
    query(admin, f"CREATE DATABASE {DATABASE} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    connection = connect(DATABASE)
    query(connection, "CREATE EXTENSION model_hopper")
    query(connection, "CREATE TABLE points AS SELECT i AS id, ARRAY[i % 2, i % 3]::real[] AS x,"
          " CASE i % 2 WHEN 0 THEN 'caf\u00e9' ELSE 'th\u00e9' END AS y FROM generate_series(1, 40) i")
    query(connection, "SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x')")
    yield connection
    connection.close()
    drop_database(DATABASE)
    admin.close()


def model(name, units=2, **more):
    """JSON escapes what is not ASCII, so that the database takes it."""
    return json.dumps({"class_name": "Sequential", "config": {"name": "s", "layers": [
        {"class_name": "InputLayer", "config": {"batch_input_shape": [None, 2], "name": "in"}},
        {"class_name": "Dense", "config": {"name": name, "units": units, "activation": "softmax",
                                           **more}}]}})


def test_layers_whose_names_the_server_cannot_write(database):
    query(database, "SELECT hopper.load_model('models', %s)", model("a\u4e2d\u00e9"))
    assert [row[0] for row in query(
        database, "SELECT layer FROM hopper.describe_model('models', 1)")] == ["a?\u00e9", "total"]
    with pytest.raises(psycopg2.errors.FeatureNotSupported) as raised:
        query(database, "SELECT hopper.load_model('models', %s)",
              model("\u4e2d\u4e2d", kernel_regularizer={"class_name": "Orthogonal\u4e2d"}))
    assert "??" in str(raised.value)


def test_a_run_with_such_a_name_that_fails(database):
    query(database, "SELECT hopper.load_model_selection_table('models', 'configs', '{1}', ARRAY["
          " $$loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']$$,"
          " $$loss='mse', optimizer='SGD(lr=1e38)'$$], ARRAY['batch_size=8'])")
    trained, failed = query(database, "SELECT models_trained, models_failed FROM"
                            " hopper.fit_multiple_model('packed', 'run', 'configs', 3, name => 'caf\u00e9')")[0]
    assert trained + failed == 2 and trained >= 1


def test_class_names_come_as_they_are(database):
    query(database, "SELECT hopper.evaluate('run', 'packed', mst_key => 1,"
          " confusion_table => 'confused')")
    assert value(database, "SELECT array_agg(class ORDER BY row_id) FROM confused") == [
        "caf\u00e9", "th\u00e9"]


def test_a_report_is_right_in_whatever_encoding_it_is_saved(database):
    page = value(database, "SELECT hopper.report('run')")
    assert page.startswith("<!DOCTYPE html>") and page.isascii() and "caf&#233;" in page


@pytest.mark.parametrize("encoding", ["LATIN1", "EUC_JP", "SQL_ASCII"])
def test_every_statement_of_auto_fit(encoding):
    name = f"hopper_{encoding.lower()}_found"
    drop_database(name)
    admin = connect("postgres")
    query(admin, f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    connection = connect(name)
    query(connection, "CREATE EXTENSION model_hopper")
    query(connection, "CREATE TABLE points AS SELECT i / 9.0 AS a, i % 3 AS b, i % 2 = 0 AS y FROM generate_series(1, 200) i")
    steps = dict(query(connection, "SELECT what, result FROM hopper.auto_fit('points', 'y', 'found', seconds => 1)"))
    assert " +- " in steps["test"] and steps["test"].isascii()
    assert value(connection, "SELECT hopper.report('found')").startswith("<!DOCTYPE html>")
    connection.close()
    drop_database(name)
    admin.close()


def test_texts_that_are_no_utf8_are_refused_with_their_column():
    """SQL_ASCII takes any bytes, and a view says what they are."""
    drop_database("hopper_bytes")
    admin = connect("postgres")
    query(admin, "CREATE DATABASE hopper_bytes ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    connection = connect("hopper_bytes")
    query(connection, "CREATE EXTENSION model_hopper")
    query(connection, "CREATE TABLE drinks AS SELECT i AS id, i % 7 AS a, CASE i % 2 WHEN 0 THEN E'caf\\xe9' ELSE 'tea' END AS drink, i % 2 = 0 AS y"
                      " FROM generate_series(1, 100) AS i")
    with pytest.raises(psycopg2.errors.CharacterNotInRepertoire, match='column "drink" of "drinks" holds texts that are not UTF-8') as error:
        query(connection, "SELECT hopper.auto_fit('drinks', 'y', 'found', seconds => 1)")
    written = re.search("take from a view (.*)\\.", str(error.value)).group(1)
    query(connection, f"CREATE VIEW read AS SELECT id, a, {written}, y FROM drinks")
    query(connection, "SELECT hopper.auto_fit('read', 'y', 'found', seconds => 1)")
    query(connection, "SELECT hopper.predict('found', 'read', 'id', output_table => 'guessed')")
    with pytest.raises(psycopg2.errors.CharacterNotInRepertoire, match=r'"drink" of "drinks"(?s:.*)Row \(id\)=\(2\)'):
        query(connection, "SELECT hopper.predict('found', 'drinks', 'id', output_table => 'guessed_too')")
    connection.close()
    drop_database("hopper_bytes")
    admin.close()
