"""A segment's process that dies within auto_fit() or cross_validate(): the error says where, and nothing that was committed is lost."""

import psycopg2
import pytest

from cluster import answer, broken_into, kill, reconnected
from conftest import connect
from digits import query, value
from runs import working_tables

AUTO_FIT = "SELECT * FROM hopper.auto_fit('shops', 'open', '{}', {})"
CROSS_VALIDATE = ("SELECT * FROM hopper.cross_validate('shops', '{}', 'open', folds := 2, num_iterations := {}, recipe := 'realmlp_small',"
                  " options := '[{{\"hidden\": [8], \"batch_size\": 32}}, {{\"hidden\": [4], \"batch_size\": 64}}]', seed := 4)")


@pytest.fixture(scope="module")
def cluster(on_segments):
    query(on_segments, "CREATE TABLE shops AS SELECT i AS id, (ARRAY['n', 's', 'e', NULL])[1 + i % 4] AS region, sin(i * 1.7) * 10 ^ (i % 3) AS income,"
                       " i % 3 + sin(i) > 1 AS open FROM generate_series(1, 900) AS i DISTRIBUTED BY (id)")
    yield on_segments
    answer(on_segments)
    query(on_segments, "DROP TABLE shops CASCADE")


def session():
    """One that has trained, with data that are copied, as is usual for small ones."""
    connection = connect("HOPPER_GREENPLUM", broadcast=True)
    query(connection, "SET client_min_messages = warning")
    query(connection, CROSS_VALIDATE.format("woken", 1))
    query(connection, "DROP TABLE woken, woken_folds, woken_means")
    return connection


def relations(connection, pattern):
    return [row[0] for row in query(connection, "SELECT relname FROM pg_class WHERE relkind IN ('r', 'v') AND relname LIKE %s ORDER BY 1", pattern)]


def means(connection, name):
    return query(connection, f"SELECT mst_key, metric, rank, mean, deviation, fold_values FROM {name}_means ORDER BY 2, 1")


@pytest.mark.parametrize("call", [AUTO_FIT.format("dying_search", 600), CROSS_VALIDATE.format("dying_folds", 10000000)], ids=["auto_fit", "cross_validate"])
def test_a_call_leaves_nothing(cluster, call):
    connection = session()
    error = broken_into(connection, call, 4, kill(1))
    connection.close()
    assert "seg1" in str(error) or "segment" in str(error), error
    assert error.pgcode is None or not error.pgcode.startswith("XX"), error.pgcode
    other = reconnected()
    assert relations(other, "dying%") == []
    assert query(other, "SELECT 1 FROM hopper.runs WHERE model_table LIKE 'dying%%'") == []
    query(other, CROSS_VALIDATE.format("after_it", 1))
    query(other, "DROP TABLE after_it, after_it_folds, after_it_means")
    other.close()


def loses_a_slice(call, name):
    """A run of the call whose second slice dies: what the first one committed is there, and it goes on to its end."""
    connection = session()
    run = value(connection, "SELECT hopper.create_run(%s)", call)
    assert value(connection, "SELECT hopper.step(%s, 0)", run) == "running"
    committed = "SELECT trial, iterations FROM hopper.trials WHERE run = %s ORDER BY 1"
    before = query(connection, committed, run), relations(connection, f"{name}%")
    error = broken_into(connection, f"SELECT hopper.step({run}, 3600)", 0.3, kill(1))
    connection.close()
    assert "seg1" in str(error) or "segment" in str(error), error
    other = reconnected()
    assert value(other, "SELECT state FROM hopper.runs WHERE run = %s", run) == "interrupted"
    assert (query(other, committed, run), relations(other, f"{name}%")) == before
    assert working_tables(other) == []
    said = "running"
    while said == "running":
        said = value(other, "SELECT hopper.step(%s, 2)", run)
    assert said == "done"
    return other


def test_a_run_of_auto_fit_goes_on(cluster):
    other = loses_a_slice(AUTO_FIT.format("going", 20), "going")
    assert [what for what, in query(other, "SELECT what FROM going_steps ORDER BY step")] == \
        ["split", "pack", "network", "search", "ensemble", "test", "next"]
    other.close()


def test_a_run_of_cross_validate_goes_on(cluster):
    """To what it comes to where nothing dies."""
    whole = session()
    query(whole, CROSS_VALIDATE.format("whole", 200))
    whole.close()
    other = loses_a_slice(CROSS_VALIDATE.format("resumed", 200), "resumed")
    assert means(other, "resumed") == means(other, "whole")
    other.close()
