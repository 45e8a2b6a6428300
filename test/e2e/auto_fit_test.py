"""auto_fit(): from a table with text and NULLs to an ensemble that is tested on rows that nothing has seen."""

import psycopg2
import pytest
from digits import create_database, drop_database, outputs, query, value

DATABASE = "hopper_auto_fit"


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    query(connection, "SET client_min_messages = warning")
    query(connection, "SELECT setseed(0.5)")
    query(connection, "CREATE TABLE customers AS SELECT i AS id, (18 + random() * 60)::int AS age,"
                      " (ARRAY['north', 'south', 'east', NULL])[1 + (random() * 3.99)::int % 4] AS region,"
                      " CASE WHEN random() < 0.9 THEN (random() * 5000)::numeric(8, 2) END AS income"
                      " FROM generate_series(1, 3000) AS i")
    query(connection, "ALTER TABLE customers ADD PRIMARY KEY (id), ADD COLUMN churned boolean, ADD COLUMN spent double precision")
    query(connection, "UPDATE customers SET churned = (age > 45) <> (region IS NOT DISTINCT FROM 'south'),"
                      " spent = 100 * (coalesce(income, 1000) / 1000) ^ 2 + age")
    yield connection
    connection.close()
    drop_database(DATABASE)


def test_classes(database):
    rows = query(database, "SELECT step, what, result, statement FROM hopper.auto_fit('customers', 'churned', 'churn', 8)")
    assert [row[:2] for row in rows] == list(enumerate(["split", "pack", "network", "search", "ensemble", "test", "predict"], 1))
    best, members = query(database, "SELECT best_mst_key, (SELECT count(*) FROM churn) FROM churn_summary")[0]
    assert members > 2
    # The ensemble was chosen by rows of validation, and tested on others.
    tested = query(database, f"SELECT metrics FROM hopper.evaluate('churn', 'churn_test_packed', mst_key => {members})")[0][0]
    assert f"accuracy {tested[0]:.4f}".rstrip("0") in rows[5][2]
    constant = value(database, "SELECT max(c) / sum(c)::float8 FROM (SELECT count(*) AS c FROM churn_test_rows GROUP BY churned) g")
    assert f"a constant {constant:.4f}".rstrip("0") in rows[5][2]
    assert tested[0] > constant + 0.15
    assert value(database, "SELECT count(*) FROM churn_rows r JOIN churn_test_rows t USING (id)") == 0
    assert value(database, "SELECT count(*) FROM (SELECT id FROM churn_rows UNION ALL SELECT id FROM churn_test_rows) r") == 3000
    assert value(database, "SELECT count(*) FROM hopper.describe_features('churn') WHERE feature = 'id' AND treatment <> 'drop'") == 0
    assert best


def test_numbers(database):
    rows = query(database, "SELECT what, result FROM hopper.auto_fit(source_table => 'customers', label => 'spent', model_table => 'spending',"
                           " seconds => 8, treatments => '{\"churned\": \"drop\"}')")
    tested = query(database, "SELECT metrics_type, metrics FROM hopper.evaluate('spending', 'spending_test_packed',"
                             " mst_key => (SELECT max(mst_key) FROM spending))")[0]
    deviation = value(database, "SELECT stddev_pop(spent) FROM spending_test_rows")
    # In the label's unit.
    assert tested[0][0] == "root_mean_squared_error" and tested[1][0] < deviation / 2
    assert rows[-2][1].startswith("root_mean_squared_error")


@pytest.mark.parametrize("arguments, error", [
    ("'customers', 'churned', NULL", "must not be NULL"), ("'customers', 'churned', 'm', 0", "seconds must be 1 or more"),
    ("'customers', 'churned', 'My Model'", "model_table must be a name of small letters"),
    ("'nowhere', 'churned', 'm'", 'relation "nowhere" does not exist'), ("'customers', 'churn', 'm'", 'column "churn" of "customers" does not exist'),
    ("'customers', 'churned IS NULL) OR (true', 'm'", 'column "churned IS NULL.*" does not exist')])
def test_what_is_refused(database, arguments, error):
    before, path = outputs(database), value(database, "SHOW search_path")
    with pytest.raises(psycopg2.Error, match=error):
        query(database, f"SELECT hopper.auto_fit({arguments})")
    assert outputs(database) == before
    assert value(database, "SHOW search_path") == path
