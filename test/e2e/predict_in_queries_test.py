"""Functions that predict a row in larger queries: they leave these their parallel scans, see what the statement
sees, and are not called where nobody asks for their values."""

import psycopg2
import pytest

from digits import ADAM, connect, create_database, drop_database, query, value

DATABASE = "hopper_in_queries"
FIT = "SELECT * FROM hopper.fit('packed', '{}', 'architectures', 1, %s, 'batch_size=32', {}, {}, seed => {})"
PREDICTED = "SELECT id, predicted_label FROM {} ORDER BY id"
ROW = "(SELECT class_value::int FROM hopper.predict_row('model', pixels) LIMIT 1)"
CALLS = ["guess(pixels)", ROW]


def fit(connection, iterations, table="model", more="", seed=1):
    query(connection, FIT.format(table, iterations, more or "replace => true", seed), ADAM)
    query(connection, f"SELECT hopper.predict('{table}', 'digits', 'id', output_table => 'predicted_{table}',"
          " pred_type => 'response', replace => true)")
    return query(connection, PREDICTED.format(f"predicted_{table}"))


@pytest.fixture(scope="module")
def session():
    connection = create_database(DATABASE)
    fit(connection, 1)
    query(connection, "SELECT hopper.create_predict_function('model', 'guess')")
    query(connection, "SELECT hopper.create_predict_function('model', 'shares', pred_type => 'columns')")
    query(connection, "ANALYZE")
    for setting in "parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size":
        query(connection, f"SET {setting} = 0")
    yield connection
    connection.close()
    drop_database(DATABASE)


@pytest.fixture
def database(session):
    fit(session, 1)
    return session


def plan(connection, statement):
    return "\n".join(row[0] for row in query(connection, "EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF) " + statement))


@pytest.mark.parametrize("call", CALLS)
def test_the_scan_is_parallel(database, call):
    statement = f"SELECT id, {call} FROM digits WHERE label < 10"
    shown = plan(database, statement)
    assert "Parallel Seq Scan on public.digits" in shown and "Workers Launched: 2" in shown
    assert sorted(query(database, statement)) == query(database, PREDICTED.format("predicted_model"))
    # Writing, and what the transaction has written before.
    query(database, "BEGIN; CREATE TABLE written (i integer); INSERT INTO written VALUES (1)")
    query(database, f"CREATE TABLE made AS {statement}")
    assert query(database, "SELECT * FROM made ORDER BY id") == query(database, PREDICTED.format("predicted_model"))
    query(database, "ROLLBACK")


@pytest.mark.parametrize("call", CALLS)
def test_a_statement_sees_one_model(database, call):
    """Another session trains it further meanwhile."""
    expected = query(database, PREDICTED.format("predicted_model"))
    query(database, f"BEGIN; DECLARE rows NO SCROLL CURSOR FOR SELECT id, {call} FROM digits ORDER BY id")
    first = query(database, "FETCH 10 FROM rows")
    other = connect(DATABASE)
    trained = fit(other, 5, more="warm_start => true")
    assert trained != expected
    assert first + query(database, "FETCH ALL FROM rows") == expected
    query(database, "CLOSE rows")
    assert query(database, f"SELECT id, {call} FROM digits ORDER BY id") == trained
    query(database, "COMMIT")
    other.close()


@pytest.mark.parametrize("call", CALLS)
def test_a_model_that_was_replaced_since_the_statement_began(database, call):
    other = connect(DATABASE)
    query(database, "SELECT count(guess(pixels)) FROM digits")  # the earlier one is ready
    query(database, "BEGIN; DECLARE rows NO SCROLL CURSOR FOR SELECT id, {} FROM digits ORDER BY id".format(call))
    replaced = fit(other, 3, seed=2)
    assert query(database, "FETCH ALL FROM rows") == replaced
    query(database, "COMMIT")
    other.close()


@pytest.mark.parametrize("isolation", ["READ COMMITTED", "REPEATABLE READ"])
def test_one_statement_trains_and_predicts(database, isolation):
    query(database, f"BEGIN ISOLATION LEVEL {isolation}")
    predicted = value(database, f"SELECT {ROW.replace('model', 'anew')} FROM hopper.fit('packed', 'anew', 'architectures', 1,"
                      " %s, 'batch_size=32', 1, seed => 1) AS f JOIN digits ON id = models_trained", ADAM)
    query(database, "ROLLBACK")
    assert predicted == value(database, "SELECT predicted_label FROM predicted_model WHERE id = 1")


def test_what_nobody_asks_for_is_not_predicted(database):
    query(database, "CREATE VIEW beside AS SELECT *, guess(pixels) AS guessed FROM digits")
    assert "predict_value" not in plan(database, "SELECT count(*) FROM beside")
    # Dear ones last: the sort, and other conditions, come before.
    query(database, "BEGIN; SET LOCAL max_parallel_workers_per_gather = 0")
    shown = plan(database, "SELECT guessed FROM beside ORDER BY label LIMIT 3")
    assert shown.index("predict_value") < shown.index("Sort Key")
    assert "predict_value" not in shown[shown.index("Sort Key"):]
    shown = plan(database, "SELECT id FROM beside WHERE guessed = 3 AND id < 100 AND label < 5")
    condition = next(line for line in shown.splitlines() if "Filter: " in line)
    assert condition.index("label") < condition.index("predict_value")
    query(database, "ROLLBACK")


def test_probabilities_of_all_classes_are_computed_once_for_a_row(database):
    """Not once for each of their columns."""
    shown = plan(database, "SELECT * FROM digits, shares(pixels) LIMIT 1")
    assert "shares" in shown
    body = value(database, "SELECT prosrc FROM pg_proc WHERE proname = 'shares'").replace("$1", "pixels")
    assert plan(database, body.rstrip("; ").replace("OFFSET 0)", "FROM digits OFFSET 0)")).count("predict_outputs(") == 1


def test_indexes_and_generated_columns_refuse_them(database):
    """Their values would stay those of an earlier model."""
    for statement in ("CREATE INDEX ON digits (guess(pixels))",
                      "ALTER TABLE digits ADD guessed integer GENERATED ALWAYS AS (guess(pixels)) STORED"):
        with pytest.raises(psycopg2.errors.InvalidObjectDefinition, match="(?i)immutable"):
            query(database, statement)
