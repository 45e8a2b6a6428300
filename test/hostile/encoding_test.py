"""A database whose encoding lacks characters that a model's text or a message may hold."""

import json

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
                            " hopper.fit_multiple_model('packed', 'run', 'configs', 3)")[0]
    assert trained + failed == 2 and trained >= 1


def test_class_names_come_as_they_are(database):
    query(database, "SELECT hopper.evaluate('run', 'packed', mst_key => 1,"
          " confusion_table => 'confused')")
    assert value(database, "SELECT array_agg(class ORDER BY row_id) FROM confused") == [
        "caf\u00e9", "th\u00e9"]


def test_a_report_has_characters_of_the_database_alone(database):
    assert value(database, "SELECT hopper.report('run')").startswith("<!DOCTYPE html>")


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
