"""validation_fraction by groups and by time: no group is on both sides, nothing to train on is later than what it is judged
by, and which rows those are depends on nothing but the values."""

import numpy
import psycopg2
import pytest

from digits import create_database, drop_database, query, value

DATABASE = "hopper_splits"
ROWS = 900
# Packed as numbers, and by treatments.
WAYS = ["", """, treatments => '{"family": "none", "day": "none"}'"""]


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    random = numpy.random.default_rng(30)
    query(connection, "CREATE TABLE visits (id int PRIMARY KEY, family int, day int, seen timestamptz, customer text, label int)")
    for i in range(ROWS):
        family = int(random.integers(0, 60) ** 2 // 60)  # some are much larger
        day = int(random.integers(0, 50))
        query(connection, "INSERT INTO visits VALUES (%s, %s, %s, timestamptz '1969-12-01Z' + %s * interval '1 day', %s, %s)",
              i, family, day, day, None if family == 3 else f"Family {family}", family % 2)
    query(connection, "CREATE TABLE shuffled AS SELECT * FROM visits ORDER BY md5(id::text)")
    yield connection
    connection.close()
    drop_database(DATABASE)


def sides(connection, how, way="", source="visits"):
    """Rows of (family, day) to train on, and for validation."""
    query(connection, f"SELECT hopper.training_preprocessor('{source}', 'sides', 'label', 'family, day', replace => true, {how}{way})")
    result = []
    for name in ("sides", "sides_validation"):
        kind = "<f4" if "treatments" in way else "<i4"
        rows = [numpy.frombuffer(row[0], dtype=kind).reshape(-1, 2)
                for row in query(connection, f"SELECT features FROM {name} ORDER BY buffer_id")]
        result.append(numpy.concatenate(rows).astype(int))
    return result


def in_order(rows):
    return rows[numpy.lexsort(rows.T)].tolist()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("column", ["family", "customer"])
def test_no_group_is_on_both_sides(database, way, column):
    train, put_aside = sides(database, f"validation_fraction => 0.25, group_varname => '{column}'", way)
    assert not set(train[:, 0]) & set(put_aside[:, 0])
    assert len(train) + len(put_aside) == ROWS
    # As near as whole groups come.
    largest = numpy.bincount(numpy.concatenate([train, put_aside])[:, 0]).max()
    assert abs(len(put_aside) - ROWS / 4) <= largest / 2
    again = sides(database, f"validation_fraction => 0.25, group_varname => '{column}'", way, "shuffled")
    assert [in_order(rows) for rows in again] == [in_order(train), in_order(put_aside)]
    other = sides(database, f"validation_fraction => 0.25, group_varname => '{column}', seed => 1", way)[1]
    assert set(other[:, 0]) != set(put_aside[:, 0])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("column", ["day", "seen"])
def test_the_latest_rows_are_for_validation(database, way, column):
    train, put_aside = sides(database, f"validation_fraction => 0.1, time_varname => '{column}'", way)
    assert train[:, 1].max() < put_aside[:, 1].min()
    assert len(train) + len(put_aside) == ROWS
    counts = numpy.bincount(numpy.concatenate([train, put_aside])[:, 1], minlength=50)
    upto = numpy.cumsum(counts[::-1])
    assert len(put_aside) == min(upto, key=lambda n: abs(n - ROWS / 10))


def test_both_with_all_columns(database):
    """What a split goes by is no feature of '*'."""
    query(database, "SELECT hopper.training_preprocessor('visits', 'all_packed', 'label', '*', validation_fraction => 0.2,"
          " group_varname => 'customer')")
    assert [row[0] for row in query(database, "SELECT feature FROM hopper.describe_features('all_packed')")] == ["family", "day", "seen"]


@pytest.mark.parametrize("setting", ["standard_conforming_strings = off", "datestyle = 'German'", "timezone = 'Asia/Kolkata'",
                                     "extra_float_digits = -5", "quote_all_identifiers = on", "transform_null_equals = on"])
def test_no_setting_moves_a_row(database, setting):
    """Of columns with NULLs and times: the side of a row is that of a hash of its values."""
    checksums = []
    for statement in (setting, "search_path = public"):
        query(database, f"SET {statement}")
        query(database, "SELECT hopper.training_preprocessor('visits', 'sides', 'label', 'customer, seen', replace => true, validation_fraction => 0.25)")
        checksums.append(query(database, "SELECT a.checksum, b.checksum FROM sides_summary AS a, sides_validation_summary AS b"))
        query(database, "RESET ALL")
    assert checksums[0] == checksums[1]


def test_statistics_are_of_the_rows_to_train_on(database):
    query(database, "SELECT hopper.training_preprocessor('visits', 'early', 'label', 'day, family', validation_fraction => 0.3,"
          " time_varname => 'day', treatments => '{\"day\": \"standardize\"}')")
    last = value(database, "SELECT max(d) FROM (SELECT day AS d FROM visits ORDER BY day LIMIT (SELECT n_rows FROM early_summary)) s")
    assert value(database, "SELECT (schema->'columns'->0->>'mean')::float8 FROM early_summary") == pytest.approx(
        float(value(database, "SELECT avg(day) FROM visits WHERE day <= %s", last)))
    assert value(database, "SELECT n_rows FROM early_summary") == value(database, "SELECT count(*) FROM visits WHERE day <= %s", last)


@pytest.mark.parametrize("how,state,words", [
    ("group_varname => 'family'", "22023", "group_varname needs validation_fraction"),
    ("validation_fraction => 0.2, group_varname => 'family', time_varname => 'day'", "22023", "exclude each other"),
    ("validation_fraction => 0.2, group_varname => 'famly'", "42703", "famly"),
    ("validation_fraction => 0.2, group_varname => 'family, day'", "22023", "must be one column, got 2"),
    ("validation_fraction => 0.2, time_varname => 'customer'", "42804", "is of type text, which tells no point in time"),
    ("fold_column => 'id', group_varname => 'family'", "22023", "group_varname needs validation_fraction"),
])
def test_what_is_refused(database, how, state, words):
    with pytest.raises(psycopg2.Error) as refused:
        sides(database, how)
    assert (refused.value.pgcode, words in str(refused.value)) == (state, True), refused.value


def test_a_side_that_would_be_empty_is_refused(database):
    query(database, "CREATE VIEW pair AS SELECT *, true AS everything FROM visits WHERE id IN (SELECT min(id) FROM visits GROUP BY label)")
    for how, words in (("validation_fraction => 0.5", 'validation_fraction 0.5 of "pair" leaves no row for training'),
                       ("fold_column => 'everything'", 'column "everything" of "pair" leaves no row for training')):
        with pytest.raises(psycopg2.Error, match=words):
            sides(database, how, WAYS[1], "pair")
    query(database, "CREATE VIEW nobody AS SELECT * FROM visits WHERE false")
    with pytest.raises(psycopg2.Error, match='"nobody" holds no rows'):
        sides(database, "validation_fraction => 0.5", WAYS[1], "nobody")
    query(database, "CREATE VIEW alone AS SELECT family, day, label, 1 AS only, CASE WHEN id > 5 THEN seen END AS seen FROM visits")
    for how in ("group_varname => 'only'", "time_varname => 'only'"):
        with pytest.raises(psycopg2.Error, match='column "only" of "alone" holds no two values'):
            sides(database, f"validation_fraction => 0.2, {how}", source="alone")
    with pytest.raises(psycopg2.Error, match='column "seen" of "alone" holds NULL or NaN in 6 rows'):
        sides(database, "validation_fraction => 0.2, time_varname => 'seen'", source="alone")
