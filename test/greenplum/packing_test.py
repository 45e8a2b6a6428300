"""Packing on the segments: rows go from segment to segment, and their order is that of PostgreSQL."""

import os
import re
import stat

import psycopg2
import pytest

from conftest import connect
from digits import outputs, query, value
from executed import executed, gathered

BYTEA, SMALLINTS = "17", "1005"
SOURCES = {
    "by_label": "CREATE TABLE by_label AS SELECT * FROM digits DISTRIBUTED BY (label)",
    "at_random": "CREATE TABLE at_random AS SELECT * FROM digits ORDER BY random()"
                 " DISTRIBUTED RANDOMLY",
    "replicated": "CREATE TABLE replicated AS SELECT * FROM digits DISTRIBUTED REPLICATED",
    "by_columns": "CREATE TABLE by_columns WITH (appendonly = true, orientation = column) AS"
                  " SELECT * FROM digits ORDER BY id DESC DISTRIBUTED BY (id)",
    "in_ranges": "CREATE TABLE in_ranges (id integer, label integer, pixels smallint[])"
                 " DISTRIBUTED BY (id) PARTITION BY RANGE (id) (START (0) END (3000) EVERY (1000))",
    "joined": "CREATE VIEW joined AS SELECT d.id, d.label, d.pixels FROM digits d"
              " JOIN at_random r ON r.id = d.id",
    "united": "CREATE VIEW united AS SELECT id, label, pixels FROM replicated WHERE id <= 900"
              " UNION ALL SELECT id, label, pixels FROM at_random WHERE id > 900",
    "limited": "CREATE VIEW limited AS SELECT * FROM digits ORDER BY id LIMIT 100000",
}


def pack(connection, source, table, extra=""):
    query(connection, f"SELECT hopper.training_preprocessor('{source}', '{table}', 'label',"
          " 'pixels', normalizing_const := 16, validation_fraction := 0.2, buffer_size := 50,"
          f" partitions := 7{extra})")


def checksums(connection, table):
    return query(connection, "SELECT partition_id, buffer_id, n, encode(checksum, 'hex')"
                 f" FROM {table} ORDER BY 1, 2")


def content(connection, table, x="pixels", y="label"):
    """All features and labels in their order, however they are cut into partitions."""
    return query(connection, f"SELECT sum(n), md5(string_agg({x}, ''::bytea ORDER BY buffer_id)),"
                 f" md5(string_agg({y}, ''::bytea ORDER BY buffer_id)) FROM {table}")


@pytest.fixture(scope="module")
def expected(both):
    """Checksums of PostgreSQL for the same starts, and what it has for validation.

    Validation tables have each server's own number of partitions.
    """
    greenplum, postgres = both
    query(greenplum, "SET client_min_messages = warning")
    for statement in SOURCES.values():
        query(greenplum, statement)
    query(greenplum, "INSERT INTO in_ranges SELECT * FROM digits")
    query(greenplum, "RESET client_min_messages")
    pack(greenplum, "digits", "packed_by_key")
    first = ",".join(map(str, value(greenplum, "SELECT starts FROM packed_by_key_summary")))
    pack(postgres, "digits", "packed_by_key", f", starts := '{{{first}}}'")
    return checksums(postgres, "packed_by_key"), content(postgres, "packed_by_key_validation")


@pytest.mark.parametrize("source", ["digits"] + sorted(SOURCES))
def test_distribution_of_the_source_does_not_matter(both, expected, source):
    greenplum, _ = both
    table = f"from_{source}"
    pack(greenplum, source, table)
    assert (checksums(greenplum, table), content(greenplum, f"{table}_validation")) == expected
    assert outputs(greenplum, f"{table}\\_pack\\_%") == []


def test_an_external_table_is_packed(both, expected, tmp_path):
    greenplum, _ = both
    file = tmp_path / "digits.csv"
    with greenplum.cursor() as cursor, open(file, "w", encoding="ascii") as out:
        cursor.copy_expert("COPY digits TO STDOUT CSV", out)
    for folder in [file] + list(file.parents):  # the segments run as somebody else
        if folder.stat().st_uid == os.getuid():
            folder.chmod(folder.stat().st_mode | stat.S_IROTH | stat.S_IXOTH)
    query(greenplum, "CREATE EXTERNAL WEB TABLE outside (id integer, label integer,"
          f" pixels smallint[]) EXECUTE 'cat {file}' ON HOST FORMAT 'csv'")
    pack(greenplum, "outside", "from_outside")
    assert (checksums(greenplum, "from_outside"),
            content(greenplum, "from_outside_validation")) == expected


def test_a_source_that_only_the_coordinator_has_is_packed(both):
    rows = "SELECT i AS id, i % 3 AS label, ARRAY[i, i * i]::real[] AS pixels" \
        " FROM generate_series(1, 500) i"
    for connection in both:
        query(connection, f"CREATE VIEW series AS {rows}")
        pack(connection, "series", "from_series", ", starts := '{0, 3, 5}'")
    greenplum, postgres = both
    assert checksums(greenplum, "from_series") == checksums(postgres, "from_series")


def test_equal_rows_are_shared_out_as_on_postgres(both):
    """All rows have the same key: partitions and the validation part are cut through them."""
    rows = "SELECT i AS id, 1 AS label, ARRAY[1, 2]::real[] AS pixels FROM generate_series(1, 900) i"
    for connection in both:
        query(connection, f"CREATE TABLE alike AS {rows}")
        pack(connection, "alike", "from_alike", ", starts := '{0, 3, 5}'")
    greenplum, postgres = both
    assert checksums(greenplum, "from_alike") == checksums(postgres, "from_alike")
    assert content(greenplum, "from_alike_validation") == content(postgres, "from_alike_validation")
    assert value(greenplum, "SELECT sum(n) FROM from_alike") == 720


@pytest.mark.parametrize("more", ["", ", fold_column := 'fold'", ", label_kind := 'value'"])
def test_few_different_rows_are_shared_out_as_on_postgres(both, more):
    """Sixty different rows, each of them many times, and some that are there once."""
    split = more if "fold" in more else f"{more}, validation_fraction := 0.2"
    for connection in both:
        query(connection, "DROP TABLE IF EXISTS few, few_packed, few_packed_summary, few_packed_validation,"
              " few_packed_validation_summary")
        query(connection, "CREATE TABLE few AS SELECT i AS id, i % 4 AS label, i % 7 = 0 AS fold, ARRAY[i % 5, i % 3,"
              " CASE WHEN i % 50 = 0 THEN i ELSE 0 END, 1]::real[] AS pixels FROM generate_series(1, 2000) i")
        query(connection, "SELECT hopper.training_preprocessor('few', 'few_packed', 'label', 'pixels',"
              f" partitions := 6, starts := '{{0, 2, 4}}', buffer_size := 40{split})")
    greenplum, postgres = both
    assert checksums(greenplum, "few_packed") == checksums(postgres, "few_packed")
    assert content(greenplum, "few_packed_validation") == content(postgres, "few_packed_validation")


@pytest.mark.parametrize("more", ["", ", num_classes := 3", ", label_kind := 'value'"])
def test_a_source_without_rows(both, more):
    for connection in both:
        query(connection, "CREATE TABLE nothing (id integer, label integer, pixels smallint[])")
        with pytest.raises(psycopg2.Error) as error:
            pack(connection, "nothing", "from_nothing", more)
        assert (error.value.pgcode, error.value.diag.message_primary) == ("22023", '"nothing" holds no rows')
        query(connection, "DROP TABLE nothing")


def test_a_fold_column_and_array_labels(both):
    for connection in both:
        query(connection, "CREATE TABLE folded AS SELECT id, pixels[1:4][1:8] AS label, pixels,"
              " id % 5 = 0 AS fold FROM digits")
        query(connection, "SELECT hopper.training_preprocessor('folded', 'from_folded', 'label',"
              " 'pixels', fold_column := 'fold', partitions := 4, buffer_size := 100,"
              " starts := '{0, 2, 3}')")
    greenplum, postgres = both
    assert checksums(greenplum, "from_folded") == checksums(postgres, "from_folded")
    for table in ("from_folded", "from_folded_validation"):
        assert content(greenplum, table) == content(postgres, table)
        shape = f"SELECT label_shape, independent_shape, n_rows FROM {table}_summary"
        assert query(greenplum, shape) == query(postgres, shape)


RAGGED = ("CREATE TABLE ragged AS SELECT id, label, ARRAY(SELECT (1 + (id * j) % 7)::smallint"
          " FROM generate_series(1, id % 5) j ORDER BY j) AS pixels FROM digits")
PADDED = ", pad_to := 'longest', pad_side := 'pre', pad_value := -1"


def test_sequences_are_padded_on_the_segments(both):
    for connection in both:
        query(connection, RAGGED)
        pack(connection, "ragged", "from_ragged", f"{PADDED}, starts := '{{0, 3, 5}}'")
        query(connection, "SELECT hopper.validation_preprocessor('ragged', 'ragged_again',"
              " packed_table := 'from_ragged')")
    greenplum, postgres = both
    assert checksums(greenplum, "from_ragged") == checksums(postgres, "from_ragged")
    assert content(greenplum, "ragged_again") == content(postgres, "ragged_again")
    summary = "SELECT padding, independent_shape FROM from_ragged_summary"
    assert query(greenplum, summary) == query(postgres, summary)
    assert value(greenplum, "SELECT independent_shape FROM from_ragged_summary") == [4]


# ---------------------------------------------------------------- the way of the rows


@pytest.mark.parametrize("source", ["at_random", "by_label", "twice"])
def test_no_row_passes_the_coordinator(both, expected, source):
    table = f"watched_{source}"
    if source == "twice":
        query(both[0], "CREATE VIEW twice AS SELECT * FROM at_random UNION ALL SELECT * FROM by_label")
    statements = executed(f"SELECT hopper.training_preprocessor('{source}', '{table}', 'label',"
                          " 'pixels', validation_fraction := 0.2, partitions := 7)")
    brought = gathered(statements)
    # Keys and checksums are bytes as well; features and packed rows stay where they are.
    assert {name for name, oid in brought if oid == BYTEA} == {"key", "checksum"}
    assert not {name for name, oid in brought if oid == SMALLINTS}
    moves = [motions for sql, motions in statements
             if sql.startswith((f"INSERT INTO public.{table} ",
                               f"INSERT INTO public.{table}_validation "))]
    assert len(moves) == 2
    for motions in moves:  # one motion, of the rows, below the aggregate that makes buffers
        assert [kind for kind, _ in motions] == ["redistribute"]
        assert all([oid for _, oid in columns].count(BYTEA) == 2 for _, columns in motions)  # keys and bodies
    encoding = [motions for sql, motions in statements if "segment_encode" in sql]
    assert len(encoding) == 1 and "fixed" not in [kind for kind, _ in encoding[0]]


def test_each_segment_tells_its_share(expected):
    connection = connect("HOPPER_GREENPLUM")
    pack(connection, "digits", "shares")
    rows = query(connection, "SELECT gp_segment_id, sum(n) FROM shares GROUP BY 1 ORDER BY 1")
    assert value(connection, "SELECT segment_rows FROM shares_summary") == [n for _, n in rows]
    words = ", ".join(str(n) for _, n in rows)
    assert any(f"\nRows on the segments from 0 on: {words}." in notice
               for notice in connection.notices)
    connection.close()


@pytest.mark.parametrize("rule, contents", [("all_segments", [0, 1, 2]), ("second", [1]),
                                            ("outer_ones", [0, 2])])
def test_distribution_rules(expected, rule, contents):
    connection = connect("HOPPER_GREENPLUM")
    if rule != "all_segments":
        wanted = ", ".join(map(str, contents))
        query(connection, f"CREATE TABLE {rule} AS SELECT dbid FROM gp_segment_configuration"
              f" WHERE content IN ({wanted}) DISTRIBUTED RANDOMLY")
    pack(connection, "digits", f"by_{rule}", f", distribution_rules := '{rule}'")
    rows = query(connection, f"SELECT DISTINCT gp_segment_id FROM by_{rule} ORDER BY 1")
    assert [row[0] for row in rows] == contents
    assert checksums(connection, f"by_{rule}") == expected[0]
    shares = value(connection, f"SELECT segment_rows FROM by_{rule}_summary")
    assert [content for content, n in enumerate(shares) if n] == contents
    connection.close()


def test_segments_without_a_gpu_are_not_chosen(both):
    greenplum, _ = both
    if query(greenplum, "SELECT 1 FROM hopper.gpu_configuration()"):
        pack(greenplum, "digits", "on_gpus", ", distribution_rules := 'gpu_segments'")
        return
    with pytest.raises(psycopg2.Error) as error:
        pack(greenplum, "digits", "on_gpus", ", distribution_rules := 'gpu_segments'")
    assert error.value.pgcode == "22023"
    assert error.value.diag.message_detail == "No host of a segment has a GPU."
    assert error.value.diag.message_hint


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize("bad, code, words", [
    ("NULL", "22004", "holds NULL"),
    ("ARRAY[1, NULL]", "22004", "holds NULL"),
    ("ARRAY[1, 'NaN'::real]", "22023", "holds NaN"),
    ("ARRAY[1, 2, 3]", "22023", "differ in shape"),
    ("ARRAY[]::real[]", "22023", "holds an empty array"),
])
def test_bad_rows_are_named(both, bad, code, words):
    greenplum, _ = both
    query(greenplum, "DROP TABLE IF EXISTS bad_rows")
    query(greenplum, f"CREATE TABLE bad_rows AS SELECT i AS id, i % 2 AS label,"
          f" CASE WHEN i = 77 THEN {bad} ELSE ARRAY[i, 1]::real[] END AS pixels"
          " FROM generate_series(1, 100) i DISTRIBUTED BY (id)")
    query(greenplum, "ALTER TABLE bad_rows ADD PRIMARY KEY (id)")
    with pytest.raises(psycopg2.Error) as error:
        pack(greenplum, "bad_rows", "from_bad")
    assert error.value.pgcode == code
    assert words in error.value.diag.message_primary
    if words != "differ in shape":  # any shape may be the first one that is seen
        assert "Row (id)=(77)" in error.value.diag.message_detail
    assert error.value.diag.message_hint
    assert outputs(greenplum, "from_bad%") == []


def test_no_rows_are_refused(both):
    greenplum, _ = both
    query(greenplum, "CREATE TABLE no_rows (label integer, pixels real[]) DISTRIBUTED RANDOMLY")
    with pytest.raises(psycopg2.Error) as error:
        pack(greenplum, "no_rows", "from_no_rows")
    assert error.value.pgcode == "22023"
    assert outputs(greenplum, "from_no_rows%") == []


def test_a_damaged_description_is_refused(both):
    """The segments' functions can be called by anybody."""
    greenplum, _ = both
    for call in ("SELECT hopper.segment_slot('\\x00'::bytea, '\\x00'::bytea, 0, 0, '(0,1)'::tid)",
                 "SELECT * FROM hopper.segment_encode(TABLE(SELECT 1), '\\x0011'::bytea)",
                 "SELECT hopper.segment_buffer('\\x'::bytea, 1, 1, '\\x00'::bytea)"):
        with pytest.raises(psycopg2.Error):
            query(greenplum, call)
    assert value(greenplum, "SELECT 1") == 1


# ---------------------------------------------------------------- what the rows hold


def test_numbers_are_looked_at_on_the_segments(both):
    """The hint on large features, the labels' range and the classes' rows are those of PostgreSQL."""
    hints, cells = [], []
    for connection in both:
        query(connection, "CREATE TABLE sizes AS SELECT i AS id, (i % 7) AS small, i * 10.5 AS large, (i % 10 - 2)::real AS y,"
              " CASE WHEN i % 4 = 0 THEN 'few' ELSE 'many' END AS kind, ARRAY[i % 2, 3 - i % 3]::smallint[] AS two"
              " FROM generate_series(1, 400) AS i")
        query(connection, "SET client_min_messages = notice")
        del connection.notices[:]
        for table, label in (("sizes_y", "y"), ("sizes_kind", "kind"), ("sizes_two", "two"),
                             ("sizes_named", '{"kind": "kind", "y": "y"}')):
            query(connection, f"SELECT hopper.training_preprocessor('sizes', '{table}', '{label}', 'small, large')")
        hints.append([notice.split("\nHINT:  ")[1].replace(" := ", " => ") for notice in connection.notices
                      if "\nHINT:  Networks" in notice])
        query(connection, "SET client_min_messages = warning")
        cells.append([query(connection, f"SELECT class_counts, label_range, outputs FROM {table}_summary")[0]
                      for table in ("sizes_y", "sizes_kind", "sizes_two", "sizes_named")])
    assert hints[0] == hints[1] and len(hints[0]) == 4 and '"large" goes up to 4200' in hints[0][0]
    assert cells[0] == cells[1]
    assert cells[0][0][:2] == (None, [-2, 7]) and cells[0][1][:2] == ([100, 300], None) and cells[0][2][1] == [0, 3]
    assert '"range": [-2, 7]' in cells[0][3][2]
    query(both[0], "SET client_min_messages = notice")
    query(both[0], "SELECT hopper.training_preprocessor('sizes', 'no_hint', 'y', 'small')")
    query(both[0], "SET client_min_messages = warning")
    assert not any("\nHINT:  Networks" in notice for notice in both[0].notices[-1:])


def test_hints_can_be_written_as_they_stand(greenplum):
    """Also on Greenplum 6, which knows name := value alone."""
    query(greenplum, "CREATE TABLE gaps AS SELECT id, nullif(label, 3) AS label, pixels FROM digits WHERE id <= 60"
          " DISTRIBUTED BY (id)")
    pack = "SELECT hopper.training_preprocessor('gaps', 'gaps_packed', 'label', 'pixels'{})"
    with pytest.raises(psycopg2.Error) as refused:
        query(greenplum, pack.format(""))
    argument = re.search(r"null_labels (=>|:=) 'skip'", refused.value.diag.message_hint)
    assert argument, refused.value.diag.message_hint
    query(greenplum, pack.format(f", {argument.group()}"))


def test_balanced_classes_on_the_segments(both):
    """class_weight='balanced' trains as the same weights in a dictionary do."""
    greenplum, _ = both
    query(greenplum, "SELECT hopper.mlp('weighed_nets', 'sizes_kind', 4)")
    for table, weight in (("weighed", "'balanced'"), ("written", "{'few': 2.0, 'many': 0.6666666666666666}"),
                          ("unweighed", "None")):
        query(greenplum, f"SELECT hopper.fit('sizes_kind', '{table}', 'weighed_nets', 1, $$loss='binary_crossentropy',"
              f" optimizer='SGD(lr=0.0001)'$$, $$batch_size=16, class_weight={weight}$$, 2)")
    assert query(greenplum, "SELECT b.model_weights = w.model_weights, b.model_weights = a.model_weights"
                 " FROM weighed b, written w, unweighed a") == [(True, False)]
