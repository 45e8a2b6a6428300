"""Columns that alone tell the label: leakage_suspects(), and what auto_fit() says of them."""

import psycopg2
import pytest

from digits import create_database, drop_database, query

DATABASE = "hopper_leakage"

# The label shows in what `left_at`, `reason`, `balance` and `churn_id` hold; `age`, `plan` and `signed_at` have nothing or little to do
# with it.
PEOPLE = """
    CREATE TABLE people AS SELECT i AS id, left_or_not, 20 + i * 7919 % 60 AS age,
        CASE WHEN (i % 10 < 7) = left_or_not THEN 'basic' ELSE 'gold' END AS plan,
        TIMESTAMP '2020-01-01' + i * INTERVAL '1 hour' AS signed_at,
        CASE WHEN left_or_not THEN TIMESTAMP '2021-01-01' + i * 7919 % 1000 * INTERVAL '1 hour' END AS left_at,
        CASE WHEN left_or_not THEN (ARRAY['price', 'service', 'moved'])[1 + i % 3] ELSE 'none' END AS reason,
        CASE WHEN left_or_not THEN 0 ELSE 1 + i * 104729 % 1000 END AS balance,
        CASE WHEN left_or_not THEN i % 40 ELSE 40 + i % 40 END::text AS churn_id
    FROM (SELECT i, i * 7907 % 10 < 3 AS left_or_not FROM generate_series(1, {rows}) AS i) AS s"""
# 1.1 times the price is the price; `carat` is near it, `clarity` is not.
STONES = """
    CREATE TABLE stones AS SELECT price, price * 1.1 AS price_with_tax, power(price, 0.4) * (0.8 + i * 7919 % 40 / 100.0) AS carat, i * 104729 % 8 AS clarity
    FROM (SELECT i, 300 + exp(i * 7907 % 2003 / 300.0) AS price FROM generate_series(1, 2000) AS i) AS s"""


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    yield connection
    connection.close()
    drop_database(DATABASE)


def suspects(database, source, label, treatments="{}"):
    query(database, "SELECT hopper.training_preprocessor(%s, 'packed', %s, '*', treatments => %s, replace => true)", source, label, treatments)
    return {name: (share, guess) for name, share, guess in query(database, "SELECT * FROM hopper.leakage_suspects('packed')")}


def test_columns_that_tell_a_class(database):
    query(database, "DROP TABLE IF EXISTS people; " + PEOPLE.format(rows=3000))
    found = suspects(database, "people", "left_or_not")
    assert set(found) == {"left_at", "reason", "balance", "churn_id"}
    for share, guess in found.values():
        assert share == pytest.approx(1.0, abs=0.003)
        assert guess == pytest.approx(0.7, abs=0.03)
    assert set(suspects(database, "people", "left_or_not", '{"left_at": "drop", "reason": "index", "balance": "drop"}')) == {"reason", "churn_id"}


def test_columns_that_tell_a_number(database):
    query(database, "DROP TABLE IF EXISTS stones; " + STONES)
    (name, (share, guess)), = suspects(database, "stones", "price").items()
    assert (name, guess) == ("price_with_tax", pytest.approx(0.0, abs=0.01))
    assert share > 0.997


def test_few_rows_tell_nothing(database):
    query(database, "DROP TABLE IF EXISTS people; " + PEOPLE.format(rows=90))
    assert suspects(database, "people", "left_or_not") == {}


def test_what_has_no_treatments_is_refused(database):
    query(database, "DROP TABLE IF EXISTS plain; CREATE TABLE plain AS SELECT ARRAY[i, i % 3]::real[] AS x, i % 2 AS y FROM generate_series(1, 200) AS i")
    query(database, "SELECT hopper.training_preprocessor('plain', 'packed_plain', 'y', 'x', replace => true)")
    with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState, match="are packed as they are"):
        query(database, "SELECT * FROM hopper.leakage_suspects('packed_plain')")


def test_auto_fit_warns(database):
    query(database, "DROP TABLE IF EXISTS people; " + PEOPLE.format(rows=1000))
    del database.notices[:]
    query(database, """SELECT count(*) FROM hopper.auto_fit('people', 'left_or_not', 'churn', seconds => 5,
        treatments => '{"left_at": "drop", "balance": "drop", "churn_id": "drop"}')""")
    told = [notice for notice in database.notices if "alone tells the label" in notice]
    assert len(told) == 1
    assert told[0].startswith('WARNING:  column "reason" alone tells the label of 100.0 % of the rows\n')
    assert """HINT:  Where it is not known yet when a row is to be predicted, leave it out: treatments := '{"reason" : "drop"}'.""" in told[0]
