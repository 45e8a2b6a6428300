"""evaluate() computes on the segments and gives the bits of PostgreSQL."""

import pathlib

import psycopg2
import pytest

from conftest import connect
from digits import outputs, query, value
from executed import executed, gathered
from runs import pack, starts

BYTEA, INTEGER = "17", "23"
COMPILE = ("loss='categorical_crossentropy', metrics=['accuracy', 'top_k(3)', 'auc'],"
           " optimizer='Adam(lr=0.01)'")


@pytest.fixture(scope="module")
def trained(both):
    """Packed in 3 and 7 partitions; one model of each network."""
    greenplum, postgres = both
    for partitions in (3, 7):
        table = f"e_packed_{partitions}"
        pack(greenplum, table, partitions)
        first = ",".join(map(str, starts(greenplum, table)))
        pack(postgres, table, partitions, extra=f", starts := '{{{first}}}'")
    for connection in both:
        for model in (1, 2):
            query(connection, f"SELECT * FROM hopper.fit('e_packed_3', 'e_model_{model}',"
                  f" 'architectures', {model}, %s, 'batch_size=32', 2)", COMPILE)
    return both


def evaluate(connection, model, table, more=""):
    return query(connection, "SELECT loss, metric, metrics_type, loss_type, metrics"
                 f" FROM hopper.evaluate('e_model_{model}', '{table}'{more})")


@pytest.mark.parametrize("table", ["e_packed_3", "e_packed_7"])
@pytest.mark.parametrize("model", [1, 2])
def test_the_bits_of_postgres(trained, model, table):
    greenplum, postgres = trained
    expected = evaluate(postgres, model, table)
    assert evaluate(greenplum, model, table) == expected
    assert len(expected[0][4]) == 3


def test_validation_data_of_another_table(trained):
    for connection in trained:
        query(connection, "CREATE VIEW e_half AS SELECT * FROM digits WHERE id % 2 = 0")
        query(connection, "SELECT hopper.validation_preprocessor('e_half', 'e_valid', 'label', 'pixels',"
              " 'e_packed_3')")
    greenplum, postgres = trained
    mine, theirs = (evaluate(connection, 1, "e_valid")[0] for connection in (greenplum, postgres))
    # Each server has its own number of partitions; only the order of the sums differs.
    assert mine[0] == pytest.approx(theirs[0], rel=1e-12)
    assert mine[4] == pytest.approx(theirs[4], rel=1e-12)


def test_threads_do_not_matter(trained):
    connection = connect("HOPPER_GREENPLUM")
    expected = evaluate(connection, 2, "e_packed_7")
    query(connection, "SET hopper.threads = 3")
    assert evaluate(connection, 2, "e_packed_7") == expected
    connection.close()


def test_the_output_and_the_confusion(trained):
    for connection in trained:
        evaluate(connection, 1, "e_packed_3", ", 'e_out', confusion_table := 'e_confusion'")
    greenplum, postgres = trained
    for table, order in (("e_out", "loss"), ("e_confusion", "1")):
        statement = f"SELECT * FROM {table} ORDER BY {order}"
        assert query(greenplum, statement) == query(postgres, statement)


def test_data_stay_on_the_segments(trained):
    statements = executed("SELECT * FROM hopper.evaluate('e_model_1', 'e_packed_7')")
    reading = [(sql, motions) for sql, motions in statements
               if sql.startswith("SELECT segment_evaluation(")]
    assert len(reading) == 1
    # One motion, of the sums with their key; the packed columns are bytes as well, but several.
    assert [kind for kind, _ in reading[0][1]] == ["fixed"]
    assert sorted(oid for _, oid in gathered(reading)) == [BYTEA, INTEGER]
    connection = connect("HOPPER_GREENPLUM")
    evaluate(connection, 1, "e_packed_7")
    process = value(connection, "SELECT pg_backend_pid()")
    assert "libtorch_cpu" not in pathlib.Path(f"/proc/{process}/maps").read_text(encoding="ascii")
    connection.close()


# ---------------------------------------------------------------- what goes wrong


def test_memory_is_limited_on_each_segment(trained):
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "CREATE TABLE e_wide AS SELECT i AS id, i % 10 AS label,"
          " array_fill((i % 16)::smallint, ARRAY[8, 8]) AS pixels FROM generate_series(1, 60000) i"
          " DISTRIBUTED BY (id)")
    query(connection, "SELECT hopper.validation_preprocessor('e_wide', 'e_wide_packed', 'label',"
          " 'pixels', 'e_packed_3')")
    query(connection, "SET hopper.memory_limit = 1")
    with pytest.raises(psycopg2.Error) as error:
        evaluate(connection, 1, "e_wide_packed")
    assert error.value.pgcode == "53200"
    assert "on segment" in error.value.diag.context
    assert error.value.diag.message_hint
    query(connection, "SET hopper.memory_limit = 100")
    assert len(evaluate(connection, 1, "e_wide_packed")) == 1
    connection.close()


def test_a_lost_buffer_is_found(trained):
    greenplum, _ = trained
    pack(greenplum, "e_holed", 3)
    query(greenplum, "DELETE FROM e_holed WHERE buffer_id = 0")
    with pytest.raises(psycopg2.Error) as error:
        evaluate(greenplum, 1, "e_holed", ", 'e_holed_out'")
    assert error.value.pgcode == "XX001"
    assert "segment 0" in error.value.diag.context
    assert outputs(greenplum, "e_holed_out%") == []


def test_a_table_that_was_moved_is_refused(trained):
    greenplum, _ = trained
    pack(greenplum, "e_moved", 3)
    query(greenplum, "ALTER TABLE e_moved SET DISTRIBUTED BY (buffer_id)")
    with pytest.raises(psycopg2.Error) as error:
        evaluate(greenplum, 1, "e_moved")
    assert error.value.pgcode == "55000"
    assert error.value.diag.message_detail and error.value.diag.message_hint
