"""What segments tell the coordinator is checked in full: damaged reports end the run, not the server.

A superuser puts functions in the place of those that the segments run, which change what the real
ones return.
"""

import psycopg2
import pytest

from conftest import connect
from digits import outputs, query, value
from kernels import has_12
from runs import digests, fit

ROW = ["mst_key", "next_key", "part", "n_parts", "done", "missing", "report", "result", "body"]
EMIT = "hopper.segment_emit(trained integer, key integer) RETURNS SETOF hopper.segment_row"
REAL = "AS '$libdir/model_hopper', 'hopper_sql_segment_{}' LANGUAGE C VOLATILE"
TOTAL = ("hopper.segment_evaluation_total(description bytea, sums bytea)"
         " RETURNS TABLE (event bytea, confusion bytea)")
VISIT = 8 * 4 + 6 * 8 + 8  # bytes of a visit in a report: hopper_visit


@pytest.fixture(scope="module")
def liar(on_segments):
    """Puts `sql`, of the real function's rows r, in the place of segment_emit()."""
    query(on_segments, "SET client_min_messages = warning")
    query(on_segments, "CREATE FUNCTION public.real_emit(integer, integer)"
          " RETURNS SETOF hopper.segment_row " + REAL.format("emit"))
    query(on_segments, "CREATE FUNCTION public.real_total(bytea, bytea) RETURNS TABLE (event bytea,"
          " confusion bytea) " + REAL.format("evaluation_total") + " EXECUTE ON ALL SEGMENTS")

    def lie(columns, more=""):
        listed = ", ".join(columns.get(name, "r." + name) for name in ROW)
        query(on_segments, f"CREATE OR REPLACE FUNCTION {EMIT} LANGUAGE sql VOLATILE AS"
              f" $f$ SELECT {listed} FROM public.real_emit($1, $2) r {more} $f$")
    yield lie
    query(on_segments, f"CREATE OR REPLACE FUNCTION {EMIT} " + REAL.format("emit"))
    query(on_segments, "DROP FUNCTION public.real_emit(integer, integer)")
    query(on_segments, "DROP FUNCTION public.real_total(bytea, bytea)")


def ended(output):
    """The error of a run; nothing is left of it, and the server is the one that was there before."""
    connection = connect("HOPPER_GREENPLUM")
    started = value(connection, "SELECT pg_postmaster_start_time()")
    with pytest.raises(psycopg2.Error) as error:
        fit(connection, "packed_3", output, "configs_2", 1)
    assert not connection.closed, error.value
    assert outputs(connection, f"{output}%") == []
    assert value(connection, "SELECT pg_postmaster_start_time()") == started
    connection.close()
    return error.value


def number(column, at, n):
    """The number of eight bytes from `at` on in the column, as the machine writes it."""
    digits = (n & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "little").hex()
    return f"overlay(r.{column} placing '\\x{digits}'::bytea from {at + 1} for 8)"


def longer(column, at, size):
    """Its text at `at`, which is empty, has `size` letters."""
    digits = size.to_bytes(8, "little").hex() + "78" * size
    return (f"substring(r.{column} from 1 for {at}) || '\\x{digits}'::bytea"
            f" || substring(r.{column} from {at + 9})")


# Behind the format's number: how many events, and the first one, whose texts are empty: of
# configuration 1 it has loss and one metric.
E = 16
TEXT = E + 10 * 8
REPORTS = {
    "empty": "''::bytea",
    "short": "substring(r.report from 1 for length(r.report) - 1)",
    "long": "r.report || '\\x00'::bytea",
    "of another format": number("report", 0, 0),
    "no events": number("report", 8, -1),
    "many events": number("report", 8, 2**31 - 1),
    "more events than numbers have": number("report", 8, 2**63 - 1),
    "one event more": "set_byte(r.report, 8, get_byte(r.report, 8) + 1)",
    "of no kind": number("report", E, 99),
    "of another run's kind": number("report", E, 0),
    "of another model": number("report", E + 8, 2**31 - 1),
    "of a number that is too long": number("report", E + 8, 2**32 + 1),
    "before the first iteration": number("report", E + 16, -1),
    "of no split": number("report", E + 24, 1000000),
    "of a split below": number("report", E + 24, -1000000),
    "more metrics than there is room for": number("report", E + 56, 1000000),
    "fewer than no metrics": number("report", E + 56, -1),
    "a text longer than what follows": number("report", TEXT, 10**6),
    "a text of no length": number("report", TEXT, -1),
    "a text that does not fit": longer("report", TEXT, 512),
    "a visit of another model": "set_byte(r.report, length(r.report) - %d, 200)" % VISIT,
    "a visit of no kind": "set_byte(r.report, length(r.report) - %d, 200)" % (VISIT - 8),
    "a visit of no split": "set_byte(r.report, length(r.report) - %d, 200)" % (VISIT - 12),
    "none": "NULL::bytea",
}


@pytest.mark.parametrize("damage", REPORTS)
def test_a_damaged_report(liar, damage):
    liar({"report": f"CASE WHEN r.part = 0 THEN {REPORTS[damage]} END"})
    error = ended("lied")
    assert error.pgcode == "XX001", error
    assert "hop 5, with configurations 1-2" in error.diag.context
    assert error.diag.message_hint
    if damage != "none":
        assert "tells of configuration" in error.diag.message_primary


RESULTS = {
    "none": "NULL::bytea",
    "short": "substring(r.result from 1 for 100)",
    "of another format": number("result", 0, 0),
    "of no status": number("result", 8, 0),
    "a text longer than what follows": number("result", 80, 10**6),
    "a digest that does not fit": longer("result", 80, 33),
    "more behind its end": "r.result || '\\x00'::bytea",
}


@pytest.mark.parametrize("damage", RESULTS)
def test_a_damaged_result(liar, damage):
    liar({"result": f"CASE WHEN r.result IS NOT NULL THEN {RESULTS[damage]} END"})
    assert ended("lied").pgcode == "XX001"


ROWS = {
    "another model": ({"mst_key": "r.mst_key + 10"}, ""),
    "no model": ({"mst_key": "NULL::integer"}, ""),
    "a model twice": ({}, "CROSS JOIN generate_series(1, 2) WHERE true"),
    "lost": ({}, "WHERE r.mst_key <> 1"),
    "neither done nor not": ({"done": "NULL::boolean"}, ""),
    "neither missing nor not": ({"missing": "NULL::boolean"}, ""),
    "weights lost": ({}, "WHERE r.part >= 0"),
    "weights of others": ({}, "WHERE r.part >= 0 OR r.mst_key = 2"),
    "weights cut": ({"body": "CASE WHEN r.part < 0 THEN substring(r.body from 1 for 40) ELSE r.body"
                             " END"}, ""),
}


@pytest.mark.parametrize("damage", ROWS)
def test_rows_that_do_not_belong_together(liar, on_segments, damage):
    """The next hop looks, too. Greenplum 7 may show what befell a process that read for the one which refused them."""
    columns, more = ROWS[damage]
    liar(columns, more)
    gone = ("42P01",) if has_12(on_segments) else ()
    assert ended("lied").pgcode in ("XX000", "XX001", "22004", *gone)


def test_what_is_not_changed_is_taken(liar, on_segments):
    """Or the tests above would show nothing."""
    liar({})
    fit(on_segments, "packed_3", "honest", "configs_2", 1)
    assert len(digests(on_segments, "honest")) == 2


TOTALS = {
    "no event": "NULL::bytea, t.confusion",
    "a short event": "substring(t.event from 1 for 100), t.confusion",
    "an event of another format": "set_byte(t.event, 0, 99), t.confusion",
    "an event of no kind": "set_byte(t.event, 8, 99), t.confusion",
    "more metrics than there is room for": "overlay(t.event placing '\\xffffff00'::bytea from 65"
                                           " for 4), t.confusion",
    "no counts": "t.event, NULL::bytea",
    "counts of no square": "t.event, substring(t.confusion from 1 for 48)",
    "half a count": "t.event, substring(t.confusion from 1 for 28)",
    "no classes": "t.event, set_byte(t.confusion, 8, 0)",
}


@pytest.mark.parametrize("damage", TOTALS)
def test_a_damaged_evaluation(liar, on_segments, damage):
    liar({})
    if outputs(on_segments, "truthful") == []:
        fit(on_segments, "packed_3", "truthful", "configs_1", 1)
    query(on_segments, f"CREATE OR REPLACE FUNCTION {TOTAL} LANGUAGE sql VOLATILE EXECUTE ON ALL"
          f" SEGMENTS AS $f$ SELECT {TOTALS[damage]} FROM public.real_total($1, $2) t $f$")
    try:
        with pytest.raises(psycopg2.Error) as error:
            query(on_segments, "SELECT * FROM hopper.evaluate('truthful', 'packed_3_validation',"
                  " confusion_table := 'lied_confusion')")
    finally:
        query(on_segments, f"CREATE OR REPLACE FUNCTION {TOTAL} "
              + REAL.format("evaluation_total") + " EXECUTE ON ALL SEGMENTS")
    assert error.value.pgcode == "XX001", error.value
    assert outputs(on_segments, "lied_confusion") == []
