"""What ends a run on the segments, or is refused: the cluster stays up and nothing is left behind."""

import os
import re
import resource
import signal
import threading
import time

import psycopg2
import pytest

from cluster import reset_fault, segment_processes, set_fault
from conftest import connect
from digits import dense, layer, outputs, query, select, sequential, value
from runs import CONFIGS, LOSS, OPTIMIZERS, digests, fit, pack


def test_a_failing_configuration_does_not_end_the_run(packed):
    greenplum, postgres = packed
    bad = [(1, 1, LOSS + "'SGD(lr=1e30)'", "batch_size=16"), CONFIGS[1]]
    for connection in packed:
        select(connection, "configs_bad", bad)
        fit(connection, "packed_6", "out_bad", "configs_bad")
    assert digests(greenplum, "out_bad") == digests(postgres, "out_bad")
    columns = "mst_key, status, error, iterations"
    assert query(greenplum, f"SELECT {columns} FROM out_bad_info ORDER BY 1") == \
        query(postgres, f"SELECT {columns} FROM out_bad_info ORDER BY 1")
    assert query(greenplum, "SELECT status FROM out_bad_info WHERE mst_key = 1") == [("failed",)]


def long_run(connection, output):
    return lambda: fit(connection, "packed_7", output, "configs_8", 100000)


def reconnected():
    """A session whose segments answer: a server that has lost a process starts anew."""
    for _ in range(60):
        try:
            connection = connect("HOPPER_GREENPLUM")
            query(connection, "SELECT count(*) FROM gp_dist_random('gp_id')")
            return connection
        except psycopg2.Error:
            time.sleep(0.5)
    raise AssertionError("the cluster does not come back")


def interrupted(output, interrupt):
    """The error of a long run that `interrupt` stops, and that it leaves nothing behind."""
    connection = connect("HOPPER_GREENPLUM")
    process = value(connection, "SELECT pg_backend_pid()")
    timer = threading.Timer(3, interrupt, (process,))
    timer.start()
    started = time.monotonic()
    with pytest.raises(psycopg2.Error) as error:
        long_run(connection, output)()
    timer.join()
    assert time.monotonic() - started < 30
    if not connection.closed:
        connection.close()
    other = reconnected()
    assert outputs(other, f"{output}%") == []
    fit(other, "packed_7", f"{output}_after", "configs_2", 1)
    assert len(digests(other, f"{output}_after")) == 2
    other.close()
    return error.value


def test_cancel(packed):
    def cancel(process):
        query(packed[0], "SELECT pg_cancel_backend(%s)", process)
    error = interrupted("cancelled", cancel)
    assert error.pgcode == "57014"


def test_statement_timeout(packed):
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SET statement_timeout = 2000")
    with pytest.raises(psycopg2.Error) as error:
        long_run(connection, "timed_out")()
    assert error.value.pgcode == "57014"
    query(connection, "SET statement_timeout = 0")
    fit(connection, "packed_7", "timed_out", "configs_2", 1)
    connection.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_segment_process(packed, number):
    """SIGKILL makes the segment's server start anew, as after a crash."""
    def kill(process):
        os.kill(segment_processes(process)[1][0], number)
    error = interrupted(f"killed_{int(number)}", kill)
    assert "seg1" in str(error) or "segment" in str(error)
    assert "iteration" in error.diag.context


@pytest.mark.parametrize("place", ["load", "train", "emit"])
def test_an_error_on_a_segment_tells_where(packed, place):
    """An error that the server's own fault injector raises on segment 1."""
    greenplum, _ = packed
    name = f"hopper_segment_{place}"
    reset_fault(greenplum, name)
    set_fault(greenplum, name, "error", [1], occurrence=3)
    with pytest.raises(psycopg2.Error) as error:
        fit(greenplum, "packed_6", f"out_{place}", "configs_5")
    reset_fault(greenplum, name)
    context = error.value.diag.context
    where = {"load": "on segment 1", "train": "on segment 1, iteration 1",
             "emit": "on segment 1, iteration 1"}[place]
    assert where in context and f'"out_{place}"' in context
    assert ("in iteration 1 of 3" if place != "load" else "before its first iteration") in context
    assert outputs(greenplum, f"out_{place}%") == []
    fit(greenplum, "packed_6", f"after_{place}", "configs_5")
    assert len(digests(greenplum, f"after_{place}")) == 5


def test_a_segment_without_memory(packed):
    """The kernel gives the process of segment 1 no more memory than it has."""
    greenplum, _ = packed
    query(greenplum, "SELECT hopper.load_model('big_models', %s)",
          sequential(layer("Flatten", "flatten"), dense("wide", 20000, "relu"),
                     dense("output", 10, "softmax")))
    query(greenplum, "SELECT hopper.load_model_selection_table('big_models', 'big_configs',"
          " ARRAY[1], ARRAY[%s, %s, %s], ARRAY['batch_size=128'])",
          *[LOSS + f"'SGD(lr=0.0{i})'" for i in (1, 2, 3)])
    connection = connect("HOPPER_GREENPLUM")
    process = value(connection, "SELECT pg_backend_pid()")

    def starve():
        starved = segment_processes(process)[1][0]
        with open(f"/proc/{starved}/statm", encoding="ascii") as file:
            size = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.prlimit(starved, resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))

    timer = threading.Timer(3, starve)
    timer.start()
    try:
        query(connection, "SELECT hopper.fit_multiple_model('packed_6', 'starved', 'big_configs',"
              " 100000)")
        pytest.fail("100000 iterations ended")
    except psycopg2.Error as error:
        text = f"{error}"
        print(text)
        assert error.pgcode in ("53200", "22000"), text
        if error.pgcode == "53200":
            assert "seg1" in text or "segment 1" in text
            assert re.search(r"in iteration \d+ of 100000", error.diag.context)
    timer.join()
    connection.close()
    assert outputs(greenplum, "starved%") == []
    query(greenplum, "SELECT hopper.fit_multiple_model('packed_6', 'fed', 'big_configs', 1)")
    assert len(digests(greenplum, "fed")) == 3


def test_a_table_that_is_distributed_otherwise_is_refused(packed):
    greenplum, _ = packed
    pack(greenplum, "moved", 3)
    query(greenplum, "ALTER TABLE moved SET DISTRIBUTED BY (buffer_id)")
    with pytest.raises(psycopg2.Error) as error:
        fit(greenplum, "moved", "out_moved", "configs_2")
    assert error.value.pgcode == "55000"
    assert error.value.diag.message_detail == 'It is not distributed by "__dist_key__".'
    assert outputs(greenplum, "out_moved%") == []


def test_a_temporary_output_is_refused(packed):
    with pytest.raises(psycopg2.Error) as error:
        fit(packed[0], "packed_3", "pg_temp.short_lived", "configs_1")
    assert error.value.pgcode == "0A000"
    assert error.value.diag.message_detail and error.value.diag.message_hint


def test_a_lost_partition_is_found(packed):
    greenplum, _ = packed
    pack(greenplum, "holed", 3)
    query(greenplum, "DELETE FROM holed WHERE buffer_id = 0")
    with pytest.raises(psycopg2.Error) as error:
        fit(greenplum, "holed", "out_holed", "configs_2")
    assert error.value.pgcode == "XX001"
    assert "segment 0" in error.value.diag.context
    assert outputs(greenplum, "out_holed%") == []


def test_the_memory_of_a_segment_is_limited(packed):
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SELECT hopper.version()")
    query(connection, "SET hopper.memory_limit = 1")
    query(connection, "CREATE TABLE wide AS SELECT i AS id, i % 2 AS label,"
          " array_fill(i::real, ARRAY[1000]) AS x FROM generate_series(1, 3000) i"
          " DISTRIBUTED BY (id)")
    query(connection, "SELECT hopper.training_preprocessor('wide', 'wide_packed', 'label', 'x')")
    query(connection, "SELECT hopper.load_model('wide_models', %s)",
          sequential(dense("output", 2, "softmax"), shape=(1000,)))
    query(connection, "SELECT hopper.load_model_selection_table('wide_models', 'wide_configs',"
          " ARRAY[1], ARRAY[%s], ARRAY['batch_size=8'])", LOSS + OPTIMIZERS[0])
    with pytest.raises(psycopg2.Error) as error:
        query(connection, "SELECT hopper.fit_multiple_model('wide_packed', 'out_wide',"
              " 'wide_configs', 1)")
    assert error.value.pgcode == "53200"
    assert "on segment" in error.value.diag.context
    query(connection, "SET hopper.memory_limit = 0")
    query(connection, "SELECT hopper.fit_multiple_model('wide_packed', 'out_wide', 'wide_configs', 1)")
    connection.close()


def test_a_role_without_rights_on_the_data_is_refused(packed):
    greenplum, _ = packed
    query(greenplum, "CREATE ROLE hopper_stranger LOGIN")
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SET ROLE hopper_stranger")
    with pytest.raises(psycopg2.Error) as error:
        fit(connection, "packed_6", "stolen", "configs_1")
    assert error.value.pgcode == "42501"
    connection.close()
    query(greenplum, "DROP ROLE hopper_stranger")
