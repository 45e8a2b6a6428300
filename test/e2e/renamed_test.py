"""Tables that have another schema or name than when they were made are found, and replaced, nevertheless."""

import subprocess

import psycopg2
import pytest

from digits import connect, create_database, drop_database, query, value

DATABASE = "hopper_renamed"
PACK = "SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', validation_fraction => 0.25)"
AGAIN = PACK.replace("'points', 'packed'", "'points', '{}'").replace("0.25", "0.25, replace => true")
TRAIN = "SELECT hopper.fit_multiple_model('packed', 'run', 'configs', 2, validation_table => 'packed_validation', warm_start => {})"


@pytest.fixture(scope="module", name="database")
def fixture_database():
    connection = create_database(DATABASE)
    yield connection
    connection.close()
    drop_database(DATABASE)


def make(database, schema):
    query(database, f"CREATE SCHEMA {schema}; SET search_path = {schema}")
    query(database, f"CREATE TABLE {schema}.points AS SELECT i AS id, ARRAY[i % 7, i % 5]::real[] AS x, i % 7 > 3 AS y FROM generate_series(1, 200) AS i")
    query(database, PACK)
    query(database, "SELECT hopper.mlp('networks', 'packed', hidden => 4)")
    query(database, "SELECT hopper.generate_model_configs('networks', 'configs', 1, $${'loss': ['binary_crossentropy'], 'metrics': [['accuracy']],"
                    " 'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [0.01, 0.02]}]}$$, $${'batch_size': [16]}$$)")
    query(database, TRAIN.format("false"))


def expect_found(database):
    """By a warm start, what explains a run, and what packs again."""
    query(database, TRAIN.format("true"))
    assert value(database, "SELECT count(*) FROM hopper.explain_fit(model_table => 'run', measure => true)") > 0
    page = value(database, "SELECT hopper.report('run')")
    assert "does not exist" not in page and page.count("<h2>Confusion") == 1
    before = value(database, "SELECT checksum FROM packed_validation_summary")
    query(database, AGAIN.format("packed").replace("=> 0.25", "=> 0.5"))
    assert value(database, "SELECT n_rows FROM packed_validation_summary") > 90
    assert value(database, "SELECT checksum FROM packed_validation_summary") != before


def test_a_schema_with_another_name(database):
    make(database, "old")
    query(database, "ALTER SCHEMA old RENAME TO new; SET search_path = new")
    dump = subprocess.run(["pg_dump", "-n", "new", DATABASE], capture_output=True, text=True, check=True).stdout
    expect_found(database)
    # Elsewhere, without the data of others.
    drop_database("hopper_renamed_too")
    query(database, "CREATE DATABASE hopper_renamed_too")
    other = connect("hopper_renamed_too")
    query(other, "CREATE EXTENSION model_hopper")
    subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", "-d", "hopper_renamed_too"], input=dump, text=True, capture_output=True, check=True)
    query(other, "SET search_path = new")
    expect_found(other)
    other.close()
    drop_database("hopper_renamed_too")


def test_a_schema_whose_old_name_another_has(database):
    """A name leads where it says, and who calls it is told that there are two."""
    make(database, "year")
    query(database, "ALTER SCHEMA year RENAME TO last_year")
    make(database, "year")
    query(database, "SET search_path = last_year")
    del database.notices[:]
    query(database, TRAIN.format("false").replace("'run'", "'again'"))
    told, = [notice for notice in database.notices if "beside it" in notice]
    assert 'NOTICE:  "configs_summary" names year.networks, and not the table of that name beside it' in told
    query(database, told.split("RENAME: ")[1])
    del database.notices[:]
    query(database, TRAIN.format("true").replace("'run'", "'again'"))
    assert not [notice for notice in database.notices if "beside it" in notice]


def test_tables_that_have_been_moved(database):
    make(database, "here")
    query(database, "CREATE SCHEMA there; SET search_path = there")
    for table, in query(database, "SELECT relname FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'here') AND relkind = 'r'"):
        query(database, f"ALTER TABLE here.{table} SET SCHEMA there")
    expect_found(database)


def test_packed_tables_with_other_names(database):
    make(database, "tables")
    for old, new in (("packed", "other"), ("packed_summary", "other_summary"), ("packed_validation", "other_validation"),
                     ("packed_validation_summary", "other_validation_summary")):
        query(database, f"ALTER TABLE {old} RENAME TO {new}")
    # Rows that were put aside when another table of the name was packed are that one's.
    query(database, PACK.replace(", validation_fraction => 0.25", ""))
    with pytest.raises(psycopg2.errors.DuplicateTable, match="other_validation"):
        query(database, AGAIN.format("other"))
    query(database, "SELECT hopper.drop_packed('packed')")
    query(database, AGAIN.format("other"))
    assert value(database, "SELECT training_table FROM other_validation_summary") == "tables.other"
    query(database, TRAIN.format("true").replace("'packed", "'other"))
    query(database, "SELECT hopper.drop_packed('other')")
    assert not query(database, "SELECT 1 FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'tables') AND relname LIKE 'other%'")
    # And a table of models, with those that go with it.
    for end in ("", "_info", "_state", "_summary"):
        query(database, f"ALTER TABLE run{end} RENAME TO kept{end}")
    query(database, PACK)
    query(database, TRAIN.format("true").replace("'run'", "'kept'"))
    assert value(database, "SELECT model FROM kept_summary") == "tables.kept"
