"""Predictions are made on the segments, lie there as the source does, and are those of PostgreSQL."""

import pathlib

import psycopg2
import pytest

from conftest import connect
from digits import dense, layer, outputs, query, sequential, value
from executed import executed, gathered

COMPILE = "loss='categorical_crossentropy', metrics=['accuracy'], optimizer='Adam(lr=0.01)'"
ARRAYS = {"1005", "1021", "17"}  # smallint[], real[], bytea
SOURCES = {
    "digits": "DISTRIBUTED BY (id)",
    "p_by_label": "DISTRIBUTED RANDOMLY",
    "p_random": "DISTRIBUTED RANDOMLY",
    "p_replicated": "DISTRIBUTED REPLICATED",
    "p_view": "DISTRIBUTED RANDOMLY",
}


@pytest.fixture(scope="module")
def trained(both):
    greenplum, postgres = both
    for connection in both:
        arrow = ", starts := '{0, 1, 2}'" if connection is postgres else ""
        query(connection, "SELECT hopper.training_preprocessor('digits', 'p_packed', 'label',"
              " 'pixels', normalizing_const := 16, validation_fraction := 0.2, partitions := 3,"
              f" buffer_size := 100{arrow})")
        query(connection, "SELECT * FROM hopper.fit('p_packed', 'p_model', 'architectures', 1, %s,"
              " 'batch_size=32', 3)", COMPILE)
    query(greenplum, "SET client_min_messages = warning")
    query(greenplum, "CREATE TABLE p_by_label AS SELECT * FROM digits DISTRIBUTED BY (label)")
    query(greenplum, "CREATE TABLE p_random AS SELECT * FROM digits DISTRIBUTED RANDOMLY")
    query(greenplum, "CREATE TABLE p_replicated AS SELECT * FROM digits DISTRIBUTED REPLICATED")
    query(greenplum, "CREATE VIEW p_view AS SELECT d.id, d.pixels FROM digits d"
          " JOIN p_random r ON r.id = d.id")
    query(greenplum, "RESET client_min_messages")
    return both


def predict(connection, source, output, *more):
    query(connection, f"DROP TABLE IF EXISTS {output}")
    extra = "".join(f", {argument}" for argument in more)
    query(connection, f"SELECT hopper.predict('p_model', '{source}', 'id', 'pixels',"
          f" '{output}'{extra})")


def test_rows_beside_their_predictions(trained):
    greenplum, postgres = trained
    rows = "SELECT (source).id, class_value, prob FROM hopper.predict_rows('p_model', NULL::{}, mst_key := 1{}) ORDER BY 1"
    expected = query(postgres, rows.format("digits", ""))
    assert len(expected) == 1797
    for source in SOURCES:
        assert query(greenplum, rows.format(source, "")) == expected
    some = ", source_query := 'SELECT * FROM digits WHERE id % 7 = 0'"
    assert query(greenplum, rows.format("digits", some)) == [row for row in expected if row[0] % 7 == 0]
    # in a table, in a view that is joined, and where only the coordinator reads
    query(greenplum, "DROP VIEW IF EXISTS p_rows")
    query(greenplum, "CREATE VIEW p_rows AS SELECT (source).*, class_value FROM hopper.predict_rows('p_model', NULL::digits,"
          " mst_key := 1)")
    query(greenplum, "DROP TABLE IF EXISTS p_kept")
    query(greenplum, "CREATE TABLE p_kept AS SELECT * FROM p_rows DISTRIBUTED BY (id)")
    right = "SELECT sum((b.class_value = d.label::text)::int) FROM {} b JOIN digits d ON d.id = b.id"
    assert value(greenplum, right.format("p_kept")) == value(greenplum, right.format("p_rows")) > 1500
    query(greenplum, "BEGIN; SET TRANSACTION READ ONLY")
    assert value(greenplum, "SELECT count(*) FROM p_rows") == 1797
    query(greenplum, "ROLLBACK")


def test_rows_that_lack_features(trained):
    for connection in trained:
        query(connection, "DROP VIEW IF EXISTS p_lacking")
        query(connection, "CREATE VIEW p_lacking AS SELECT id, label, CASE WHEN id % 10 <> 0 THEN pixels END AS pixels FROM digits")
        predict(connection, "p_lacking", "p_with_null", "on_null := 'null'")
        assert query(connection, "SELECT count(*), count(prob), count(DISTINCT id) FROM p_with_null") \
            == [(1618 * 10 + 179, 1618 * 10, 1797)]
        with pytest.raises(psycopg2.Error, match="holds NULL"):
            predict(connection, "p_lacking", "p_with_null")


def test_predict_row_of_a_distributed_table_is_refused(trained):
    greenplum, postgres = trained
    rows = ("SELECT (SELECT p.class_value FROM hopper.predict_row('p_model', 1, d.pixels) p LIMIT 1)"
            " FROM digits d WHERE id = 5")
    assert len(query(postgres, rows)) == 1
    with pytest.raises(psycopg2.Error) as error:
        query(greenplum, rows)
    assert error.value.pgcode == "0A000"
    assert "hopper.predict()" in error.value.diag.message_hint
    one = ("SELECT class_value FROM hopper.predict_row('p_model', 1,"
           " (SELECT pixels FROM digits WHERE id = 5)) LIMIT 1")
    assert query(greenplum, one) == query(postgres, rows)


@pytest.mark.parametrize("number", ["smallint", "real", "double precision"])
def test_features_written_as_a_constant(trained, number):
    """Which Greenplum's parser makes of type anyarray, whatever type it is written with."""
    greenplum, postgres = trained
    features = value(greenplum, "SELECT pixels::text FROM digits WHERE id = 5")
    row = "SELECT class_value, prob FROM hopper.predict_row('p_model', 1, {}) ORDER BY 1"
    answers = query(greenplum, row.format(f"'{features}'::{number}[]"))
    assert answers == query(postgres, row.format(f"'{features}'::{number}[]")) and len(answers) == 10
    missing = f"NULL::{number}[], on_null := 'null'"
    assert query(greenplum, row.format(missing)) == query(postgres, row.format(missing))


def columns(connection, table):
    return query(connection, "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute"
                 " WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attnum", table)


def same_predictions(both, table, key="id, rank"):
    """Equal but for the last bits of probabilities, which depend on a row's place in its batch."""
    greenplum, postgres = both
    names = columns(postgres, table)
    assert columns(greenplum, table) == names
    statement = f"SELECT {', '.join(name for name, _ in names)} FROM {table} ORDER BY {key}"
    rows = [query(connection, statement) for connection in both]
    assert len(rows[0]) == len(rows[1]) > 0
    for at, (_, kind) in enumerate(names):
        mine, theirs = ([row[at] for row in half] for half in rows)
        assert mine == (pytest.approx(theirs, abs=1e-6) if kind == "double precision" else theirs)


@pytest.mark.parametrize("source", SOURCES)
def test_predictions_lie_as_the_source(trained, source):
    greenplum, postgres = trained
    predict(greenplum, source, "p_out", "'response'")
    predict(postgres, "digits", "p_out", "'response'")
    same_predictions(trained, "p_out", "id")
    assert value(greenplum, "SELECT pg_get_table_distributedby('p_out'::regclass)") == SOURCES[source]
    if source != "p_replicated":  # whose rows have no segment
        used = query(greenplum, "SELECT DISTINCT gp_segment_id FROM p_out ORDER BY 1")
        assert used == [(0,), (1,), (2,)]


def test_predictions_lie_where_their_rows_do(trained):
    greenplum, _ = trained
    predict(greenplum, "digits", "p_beside", "'response'")
    assert query(greenplum, "SELECT DISTINCT d.gp_segment_id - p.gp_segment_id FROM digits d"
                 " JOIN p_beside p USING (id)") == [(0,)]


@pytest.mark.parametrize("what, key", [("'prob'", "id, rank"), ("3", "id, rank"),
                                       ("0.1::float8", "id, rank"), ("'response'", "id")])
def test_forms_of_answers(trained, what, key):
    for connection in trained:
        predict(connection, "digits", "p_form", what)
    same_predictions(trained, "p_form", key)


def test_values_and_arrays(trained):
    """A regression of one value and one of several."""
    for width, label in ((1, "pixels[4][4]::real AS label"), (2, "pixels[1:1][3:4]::real[] AS label")):
        for connection in trained:
            query(connection, f"CREATE TABLE r{width} AS SELECT id, pixels, {label} FROM digits")
            pinned = "" if connection is trained[0] else ", starts := '{0, 1, 2}'"
            query(connection, f"SELECT hopper.training_preprocessor('r{width}', 'r{width}_packed',"
                  f" 'label', 'pixels', partitions := 3{pinned})")
            shape = () if width == 1 else (layer("Reshape", "reshape", target_shape=[1, 2]),)
            model = sequential(layer("Flatten", "flatten"), dense("out", width, "linear"), *shape)
            query(connection, f"SELECT hopper.load_model('r{width}_models', %s)", model)
            query(connection, f"SELECT * FROM hopper.fit('r{width}_packed', 'r{width}_model',"
                  f" 'r{width}_models', 1, 'loss=''mse'', optimizer=''Adam(lr=0.001)''',"
                  " 'batch_size=32', 1)")
            query(connection, f"SELECT hopper.predict('r{width}_model', 'r{width}', 'id', 'pixels',"
                  f" 'r{width}_out')")
    same_predictions(trained, "r1_out", "id")
    greenplum, postgres = trained
    statement = "SELECT id, array_dims(predicted_label), unnest(predicted_label) FROM r2_out ORDER BY id"
    for mine, theirs in zip(query(greenplum, statement), query(postgres, statement)):
        assert mine[0] == theirs[0] and mine[1] == pytest.approx(theirs[1], abs=1e-5)


def test_sequences_are_padded_on_the_segments(trained):
    """As the training data were, which the table that is predicted from does not know."""
    network = sequential(layer("Embedding", "ids", input_dim=9, output_dim=3, mask_zero=True),
                         layer("LSTM", "lstm", units=4), dense("output", 10, "softmax"), shape=(5,))
    found = []
    for connection in trained:
        query(connection, "CREATE TABLE p_ragged AS SELECT id, label, ARRAY(SELECT (1 + (id * j) % 7)::smallint"
              " FROM generate_series(1, id % 9) j ORDER BY j) AS words FROM digits")
        starts = "" if connection is trained[0] else ", starts := '{0, 1, 2}'"
        query(connection, "SELECT hopper.training_preprocessor('p_ragged', 'p_ragged_packed', 'label', 'words',"
              f" partitions := 3, pad_to := 5, pad_side := 'pre', truncate := 'pre'{starts})")
        model = value(connection, "SELECT hopper.load_model('p_nets', %s)", network)
        query(connection, "SELECT * FROM hopper.fit('p_ragged_packed', 'p_ragged_model', 'p_nets', %s, %s,"
              " 'batch_size=32', 1, seed := 1)", model, COMPILE)
        query(connection, "SELECT hopper.predict('p_ragged_model', 'p_ragged', 'id', output_table := 'p_ragged_out')")
        found.append(query(connection, "SELECT * FROM p_ragged_out ORDER BY id, rank"))
    assert len(found[0]) == 17970
    assert found[0] == found[1]


def test_byom(trained):
    for connection in trained:
        arch, weights = query(connection, "SELECT model_arch::text, model_weights FROM p_model")[0]
        query(connection, "SELECT hopper.load_model('p_own', %s, %s)", arch, weights)
        query(connection, "SELECT hopper.predict_byom('p_own', 1, 'digits', 'id', 'pixels',"
              " 'p_byom', 2, class_values := ARRAY['a','b','c','d','e','f','g','h',NULL,'j'],"
              " normalizing_const := 16)")
    same_predictions(trained, "p_byom")


# ---------------------------------------------------------------- the way of the rows


def maps(process, name):
    return name in pathlib.Path(f"/proc/{process}/maps").read_text(encoding="ascii")


def test_rows_stay_on_the_segments(trained):
    statements = executed("SELECT hopper.predict('p_model', 'digits', 'id', 'pixels', 'p_watched')")
    moves = [motions for sql, motions in statements if sql.startswith("INSERT INTO public.p_watched ")]
    assert len(moves) == 1 and "fixed" not in [kind for kind, _ in moves[0]]
    rows = gathered([s for s in statements if "p_model" not in s[0]])
    assert not {(name, oid) for name, oid in rows if oid in ARRAYS}
    connection = connect("HOPPER_GREENPLUM")
    predict(connection, "digits", "p_watched")
    assert not maps(value(connection, "SELECT pg_backend_pid()"), "libtorch_cpu")
    connection.close()


# ---------------------------------------------------------------- what goes wrong


def test_a_bad_row_is_named(trained):
    greenplum, _ = trained
    query(greenplum, "CREATE TABLE p_bad AS SELECT id, CASE WHEN id <> 500 THEN pixels END AS pixels"
          " FROM digits DISTRIBUTED BY (id)")
    with pytest.raises(psycopg2.Error) as error:
        predict(greenplum, "p_bad", "p_bad_out")
    assert error.value.pgcode == "22004"
    assert error.value.diag.message_detail == "Row (id)=(500)."
    assert outputs(greenplum, "p_bad_out%") == []


def test_no_rows_give_no_predictions(trained):
    greenplum, _ = trained
    query(greenplum, "CREATE TABLE p_empty (id integer, pixels smallint[]) DISTRIBUTED BY (id)")
    predict(greenplum, "p_empty", "p_empty_out")
    assert value(greenplum, "SELECT count(*) FROM p_empty_out") == 0


def test_a_timeout_ends_it(trained):
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "CREATE VIEW p_many AS SELECT d.id, d.pixels FROM digits d,"
          " generate_series(1, 10000) i")
    query(connection, "SET statement_timeout = 1500")
    with pytest.raises(psycopg2.Error) as error:
        predict(connection, "p_many", "p_many_out", "'response'")
    assert error.value.pgcode == "57014"
    query(connection, "SET statement_timeout = 0")
    predict(connection, "digits", "p_many_out", "'response'")
    assert value(connection, "SELECT count(*) FROM p_many_out") == 1797
    connection.close()
