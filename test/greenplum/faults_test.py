"""What ends a run on the segments, or is refused: the cluster stays up and nothing is left behind."""

import re
import signal
import time

import psycopg2
import pytest

from cluster import (answer, broken_into, kill, limit_memory, reconnected, reset_fault, segment_processes, set_fault,
                     setting_of_segment)
from conftest import connect
from digits import PLAIN, dense, layer, outputs, query, select, sequential, value
from kernels import has_12
from runs import CONFIGS, LOSS, OPTIMIZERS, SEED, digests, fit, pack, working_tables


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


def test_the_reasons_are_counted_where_all_fail(packed):
    """In the same words as on one server, whose rule it is."""
    bad = [(key, 1, LOSS + "'SGD(lr=1e30)'", "batch_size=16") for key in (1, 2, 3)]
    for connection in packed:
        select(connection, "configs_all_bad", bad)
        with pytest.raises(psycopg2.Error) as error:
            fit(connection, "packed_6", "out_all_bad", "configs_all_bad")
        assert error.value.pgcode == "22000"
        assert error.value.diag.message_detail == "3 failed: loss became NaN."
        assert outputs(connection, "out_all_bad%") == []


LONG = ("SELECT hopper.fit_multiple_model('packed_7', '{}', '{}', 100000, validation_table := 'packed_7_validation',"
        f" seed := {SEED})")


def interrupted(output, interrupt):
    """The error of a long run that `interrupt` stops once its models train, and that it leaves nothing behind."""
    connection = connect("HOPPER_GREENPLUM")
    fit(connection, "packed_7", f"before_{output}", "configs_2", 1)  # libtorch
    times = []

    def act(*session):
        times.append(time.monotonic())
        interrupt(*session)

    error = broken_into(connection, LONG.format(output, "configs_8"), 2, act)
    assert time.monotonic() - times[0] < 30
    if not connection.closed:
        connection.close()
    other = reconnected()
    assert outputs(other, f"{output}%") == []
    fit(other, "packed_7", f"{output}_after", "configs_2", 1)
    assert len(digests(other, f"{output}_after")) == 2
    other.close()
    return error


def test_cancel(on_segments):
    error = interrupted("cancelled", lambda process, _: query(on_segments, "SELECT pg_cancel_backend(%s)", process))
    assert error.pgcode == "57014"


def test_statement_timeout(on_segments):
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SET statement_timeout = 2000")
    with pytest.raises(psycopg2.Error) as error:
        query(connection, LONG.format("late_7", "configs_8"))
    assert error.value.pgcode == "57014"
    query(connection, "SET statement_timeout = 0")
    fit(connection, "packed_7", "late_7", "configs_2", 1)
    connection.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_segment_process(on_segments, number):
    error = interrupted(f"killed_{int(number)}", kill(1, number))
    answer(on_segments)
    assert "seg1" in str(error) or "segment" in str(error)
    assert "iteration" in error.diag.context


@pytest.mark.parametrize("place", ["load", "train", "emit"])
def test_an_error_on_a_segment_tells_where(on_segments, place):
    """An error that the server's own fault injector raises on segment 1."""
    name = f"hopper_segment_{place}"
    reset_fault(on_segments, name)
    set_fault(on_segments, name, "error", [1], occurrence=3)
    with pytest.raises(psycopg2.Error) as error:
        fit(on_segments, "packed_6", f"out_{place}", "configs_5")
    reset_fault(on_segments, name)
    context = error.value.diag.context
    assert "on segment 1" in context and f'"out_{place}"' in context
    assert ("after 0 of 15 iterations" if place != "load" else "before its first iteration") in context
    assert ("with configurations 1-5" in context) == (place != "load")
    assert outputs(on_segments, f"out_{place}%") == []
    fit(on_segments, "packed_6", f"after_{place}", "configs_5")
    assert len(digests(on_segments, f"after_{place}")) == 5


@pytest.mark.parametrize("place", ["motion", "executor"])
def test_an_error_of_the_server_tells_which_models_travelled(on_segments, place):
    """Not in our functions: below them, where the states are moved, and sorted or, on kernel 12, which hashes them, stored."""
    name, segment, table = "interconnect_setup_palloc", 2, ""
    if place == "executor":
        name, segment = "execsort_before_sorting", 0
        if has_12(on_segments):
            name, table = "heap_insert", "out_heap_insert_hop_a"
    if outputs(on_segments, "some_bad") == []:
        bad = (2, 1, LOSS + "'SGD(lr=1e30)'", "batch_size=16")
        select(on_segments, "some_bad", [CONFIGS[0], bad, *CONFIGS[2:6]])
    reset_fault(on_segments, name)
    connection = connect("HOPPER_GREENPLUM")
    fit(connection, "packed_7", f"before_{name}", "some_bad", 1)  # libtorch
    # Once the run is some iterations old.
    error = broken_into(connection, LONG.format(f"out_{name}", "some_bad"), 3,
                        lambda *_: set_fault(on_segments, name, "error", [segment], table=table))
    reset_fault(on_segments, name)
    assert name in str(error) and f"seg{segment}" in str(error)
    context = error.diag.context
    # Configuration 2 had failed before.
    assert re.search(r"^hop \d+, with configurations 1, 3-6$", context, re.MULTILINE), context
    assert f'"out_{name}" after ' in context
    assert outputs(on_segments, f"out_{name}%") == []
    fit(connection, "packed_7", f"after_{name}", "some_bad", 1)
    assert len(digests(connection, f"after_{name}")) == 6
    connection.close()


@pytest.fixture
def starving(on_segments):
    """A session whose process on segment 1 gets no 30 MB more from the kernel, and a model of 39."""
    if outputs(on_segments, "big_models") == []:
        wide = sequential(layer("Flatten", "flatten"), dense("wide", 130000, "relu"),
                          dense("output", 10, "softmax"))
        for model in (wide, PLAIN):
            query(on_segments, "SELECT hopper.load_model('big_models', %s)", model)
        sgd = LOSS + OPTIMIZERS[0]
        for big, table in ((1, "big_first"), (2, "big_second")):
            select(on_segments, table, [(key, 1 if key == big else 2, sgd, "batch_size=512")
                                        for key in (1, 2, 3)])
            query(on_segments, f"UPDATE {table}_summary SET model_arch_table = 'big_models'")
        select(on_segments, "no_big", [(key, 1, sgd, "batch_size=512") for key in (1, 3)])
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SET statement_timeout = 120000")
    fit(connection, "packed_3", "unstarved", "configs_3", 1)  # libtorch, threads
    query(connection, "DROP TABLE unstarved, unstarved_info, unstarved_summary, unstarved_state")
    for process in segment_processes(connection)[1]:
        limit_memory(process, 30 << 20)
    yield connection
    connection.close()


def test_a_model_that_gets_no_memory_fails_alone(on_segments, starving):
    """Configuration 2 begins on segment 1 and fails there; the others go through it."""
    fit(starving, "packed_3", "hungry", "big_second", 2)
    rows = query(starving, "SELECT mst_key, status, error FROM hungry_info ORDER BY 1")
    assert [row[1] for row in rows] == ["done", "failed", "done"]
    assert "memory" in rows[1][2]
    told = [notice for notice in starving.notices if "configuration 2" in notice]
    assert len(told) == 1 and "on segment 1" in told[0], told
    fit(on_segments, "packed_3", "fed", "no_big", 2)
    assert digests(starving, "hungry")[::2] == digests(on_segments, "fed")


def test_a_hop_that_gets_no_memory_ends_the_run(on_segments, starving):
    """Configuration 1 begins on segment 0 and finds no room on segment 1."""
    with pytest.raises(psycopg2.Error) as error:
        fit(starving, "packed_3", "starved", "big_first", 2)
    assert error.value.pgcode.startswith("53")
    assert "seg1" in str(error.value)
    assert "after 0 of 6 iterations" in error.value.diag.context
    assert outputs(on_segments, "starved%") == []
    fit(on_segments, "packed_3", "sated", "no_big", 1)
    assert len(digests(on_segments, "sated")) == 2


def test_a_table_that_is_distributed_otherwise_is_refused(on_segments):
    pack(on_segments, "moved", 3)
    query(on_segments, "ALTER TABLE moved SET DISTRIBUTED BY (buffer_id)")
    with pytest.raises(psycopg2.Error) as error:
        fit(on_segments, "moved", "out_moved", "configs_2")
    assert error.value.pgcode == "55000"
    assert error.value.diag.message_detail == 'It is not distributed by "__dist_key__".'
    assert outputs(on_segments, "out_moved%") == []


def test_a_temporary_output_is_refused(on_segments):
    with pytest.raises(psycopg2.Error) as error:
        fit(on_segments, "packed_3", "pg_temp.short_lived", "configs_1")
    assert error.value.pgcode == "0A000"
    assert error.value.diag.message_detail and error.value.diag.message_hint


def test_a_lost_partition_is_found(on_segments):
    pack(on_segments, "holed", 3)
    query(on_segments, "DELETE FROM holed WHERE buffer_id = 0")
    with pytest.raises(psycopg2.Error) as error:
        fit(on_segments, "holed", "out_holed", "configs_2")
    assert error.value.pgcode == "XX001"
    assert "segment 0" in error.value.diag.context
    assert outputs(on_segments, "out_holed%") == []


def test_the_memory_of_a_segment_is_limited(on_segments):
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SELECT hopper.version()")
    # The configuration has room, a partition of 16 MB has not.
    query(connection, "SET hopper.memory_limit = 12")
    query(connection, "CREATE TABLE wide AS SELECT i AS id, i % 2 AS label,"
          " array_fill(i::real, ARRAY[1000]) AS x FROM generate_series(1, 12000) i"
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


@pytest.fixture(scope="module")
def wide(on_segments):
    """16 MB a partition and segment, and a model that needs little beside them."""
    query(on_segments, "CREATE TABLE one_wide AS SELECT i AS id, i % 2 AS label,"
          " array_fill(i::real, ARRAY[1000]) AS x FROM generate_series(1, 12000) i"
          " DISTRIBUTED BY (id)")
    query(on_segments, "SELECT hopper.training_preprocessor('one_wide', 'one_wide_packed', 'label', 'x')")
    flat = sequential(dense("output", 2, "softmax"), shape=(1000,))
    broad = sequential(dense("hidden", 3000, "relu"), dense("output", 2, "softmax"), shape=(1000,))
    for model in (flat, broad):
        query(on_segments, "SELECT hopper.load_model('one_wide_models', %s)", model)
    for table, models in (("one_flat", (1, 1, 1)), ("one_broad", (1, 2, 1))):
        select(on_segments, table, [(key, model, LOSS + OPTIMIZERS[0], "batch_size=8")
                                    for key, model in enumerate(models, 1)])
        query(on_segments, f"UPDATE {table}_summary SET model_arch_table = 'one_wide_models'")
    return on_segments


def fit_wide(connection, output, configs, iterations=1):
    query(connection, f"SELECT hopper.fit_multiple_model('one_wide_packed', '{output}', '{configs}',"
          f" {iterations}, seed := 7)")


def test_an_estimate_above_the_limit_of_one_segment_alone(wide):
    """A third of 36 MB: segment 1 has room for a configuration, but not for its partition."""
    with setting_of_segment(1, "hopper.memory_limit", "36"):
        connection = connect("HOPPER_GREENPLUM")
        with pytest.raises(psycopg2.Error) as error:
            fit_wide(connection, "out_one", "one_flat")
        assert error.value.pgcode == "53200"
        assert 'no partition of "one_wide_packed" fits into memory' in str(error.value)
        assert "hopper.memory_limit is 12" in error.value.diag.message_detail
        assert error.value.diag.message_hint
        context = error.value.diag.context
        assert "on segment 1" in context and '"out_one" before its first iteration' in context
        assert outputs(connection, "out_one%") == []
        connection.close()
    connection = connect("HOPPER_GREENPLUM")
    fit_wide(connection, "out_one", "one_flat")
    assert len(digests(connection, "out_one")) == 3
    connection.close()


def test_a_configuration_above_the_limit_of_one_segment_alone(wide):
    """A third of 75 MB is enough on segment 2 for the small ones and their data, not for 24 MB of
    weights and momentum with their gradients."""
    with setting_of_segment(2, "hopper.memory_limit", "75"):
        connection = connect("HOPPER_GREENPLUM")
        fit_wide(connection, "out_broad", "one_broad", 2)
        rows = query(connection, "SELECT status, error FROM out_broad_info ORDER BY mst_key")
        told = [notice for notice in connection.notices if "configuration 2" in notice]
        assert working_tables(connection) == []
        connection.close()
    assert [row[0] for row in rows] == ["done", "failed", "done"]
    assert "memory" in rows[1][1]
    assert len(told) == 1 and "It was on segment 2 in iteration 1." in told[0], told
    fit_wide(wide, "out_broad_roomy", "one_broad", 2)
    assert [status for status, in query(wide, "SELECT status FROM out_broad_roomy_info")] == ["done"] * 3
    assert digests(wide, "out_broad")[::2] == digests(wide, "out_broad_roomy")[::2]


def test_use_gpus_without_a_gpu_is_refused(on_segments):
    """Before training, on the segment that has none."""
    if query(on_segments, "SELECT * FROM hopper.gpu_configuration()"):
        return  # this machine has a GPU
    for extra in ("", ", gpus := ARRAY[0, 1]", ", fuse := false, dtype := 'tf32'"):
        with pytest.raises(psycopg2.Error) as error:
            fit(on_segments, "packed_6", "without_gpus", "configs_2", 1, f", use_gpus := true{extra}")
        assert error.value.pgcode == "55000"
        assert re.match(r'no GPU is available on segment [0-2], host ".+"',
                        error.value.diag.message_primary)
        assert error.value.diag.message_detail
        assert "use_gpus := false" in error.value.diag.message_hint
        assert '"without_gpus" before its first iteration' in error.value.diag.context
        assert outputs(on_segments, "without_gpus%") == []
    fit(on_segments, "packed_6", "without_gpus", "configs_2", 1)
    assert len(digests(on_segments, "without_gpus")) == 2


def test_a_role_without_rights_on_the_data_is_refused(on_segments):
    query(on_segments, "CREATE ROLE hopper_stranger LOGIN")
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SET ROLE hopper_stranger")
    with pytest.raises(psycopg2.Error) as error:
        fit(connection, "packed_6", "stolen", "configs_1")
    assert error.value.pgcode == "42501"
    connection.close()
    query(on_segments, "DROP ROLE hopper_stranger")
