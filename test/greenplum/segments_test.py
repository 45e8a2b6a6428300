"""The segments engine gives the bits of PostgreSQL, and moves models, not data."""

import os
import re
import signal
import threading
import time

import psycopg2
import pytest

from conftest import connect
from digits import dense, outputs, query, select, sequential, value

LOSS = "loss='categorical_crossentropy', metrics=['accuracy'], optimizer="
OPTIMIZERS = ["'SGD(lr=0.05, momentum=0.9)'", "'RMSprop(lr=0.003)'", "'Adam(lr=0.01)'"]
# Eight configurations: three optimizers, both networks (one with dropout and batch norm).
CONFIGS = [(key + 1, 1 + key % 2, LOSS + OPTIMIZERS[key % 3], f"batch_size={32 + 8 * (key // 3)}")
           for key in range(8)]
SEED = 7


def pack(connection, table, partitions, source="digits", extra=""):
    query(connection, f"SELECT hopper.training_preprocessor('{source}', '{table}', 'label',"
          f" 'pixels', normalizing_const := 16, validation_fraction := 0.2, buffer_size := 100,"
          f" partitions := {partitions}{extra})")


def starts(connection, table):
    return value(connection, f"SELECT starts FROM {table}_summary")


def checksums(connection, table):
    return query(connection, "SELECT partition_id, buffer_id, n, encode(checksum, 'hex')"
                 f" FROM {table} ORDER BY 1, 2")


def fit(connection, data, output, configs, iterations=3, more=""):
    query(connection, f"SELECT * FROM hopper.fit_multiple_model('{data}', '{output}', '{configs}',"
          f" {iterations}, validation_table := '{data}_validation', seed := {SEED}{more})")


def digests(connection, table):
    return query(connection, f"SELECT mst_key, state_digest FROM {table}_info ORDER BY 1")


def curves(connection, table):
    return query(connection, "SELECT mst_key, iteration, split, metric, value"
                 f" FROM hopper.learning_curves('{table}') ORDER BY 1, 2, 3, 4")


def models(connection, table):
    return query(connection, "SELECT m.mst_key, md5(encode(m.model_weights, 'hex')),"
                 f" md5(m.model_arch::text) FROM {table} m ORDER BY 1")


def working_tables(connection):
    return outputs(connection, "%\\_hop\\_%")


@pytest.fixture(scope="module")
def packed(both):
    """Packed independently on both servers; PostgreSQL with the starts of the segments' runs."""
    greenplum, postgres = both
    for partitions in (3, 6, 7):
        table = f"packed_{partitions}"
        pack(greenplum, table, partitions)
        first = ",".join(map(str, starts(greenplum, table)))
        pack(postgres, table, partitions, extra=f", starts := '{{{first}}}'")
    for connection in both:
        for n in (1, 2, 3, 5, 8):
            select(connection, f"configs_{n}", CONFIGS[:n])
    return both


# ---------------------------------------------------------------- packing


@pytest.mark.parametrize("partitions", [3, 6, 7])
def test_packing_gives_the_same_checksums(packed, partitions):
    greenplum, postgres = packed
    for table in (f"packed_{partitions}", f"packed_{partitions}_validation"):
        columns = "independent_shape, n_rows, seed, packed_bytes"
        assert query(greenplum, f"SELECT {columns} FROM {table}_summary") == \
            query(postgres, f"SELECT {columns} FROM {table}_summary")
    assert checksums(greenplum, f"packed_{partitions}") == \
        checksums(postgres, f"packed_{partitions}")


def test_order_and_distribution_of_the_source_do_not_matter(packed):
    greenplum, _ = packed
    pack(greenplum, "packed_reversed", 6, source="digits_reversed")
    assert checksums(greenplum, "packed_reversed") == checksums(greenplum, "packed_6")


@pytest.mark.parametrize("partitions", [3, 6, 7])
def test_partitions_lie_in_runs_on_all_segments(packed, partitions):
    greenplum, _ = packed
    rows = query(greenplum, "SELECT DISTINCT partition_id, gp_segment_id, __dist_key__"
                 f" FROM packed_{partitions} ORDER BY 1")
    assert [row[0] for row in rows] == list(range(partitions))
    segments = [row[1] for row in rows]
    assert segments == sorted(segments) and set(segments) == {0, 1, 2}
    changes = [0] + [p for p in range(1, partitions) if segments[p] != segments[p - 1]]
    assert starts(greenplum, f"packed_{partitions}") == changes
    assert value(greenplum, "SELECT pg_get_table_distributedby(%s::regclass)",
                 f"packed_{partitions}") == "DISTRIBUTED BY (__dist_key__)"


# ---------------------------------------------------------------- the same bits


@pytest.mark.parametrize("partitions", [3, 6, 7])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_same_bits_as_postgres(packed, n, partitions):
    for connection in packed:
        fit(connection, f"packed_{partitions}", f"out_{n}_{partitions}", f"configs_{n}")
    greenplum, postgres = packed
    table = f"out_{n}_{partitions}"
    expected = digests(postgres, table)
    assert len({digest for _, digest in expected}) == n
    assert digests(greenplum, table) == expected
    assert curves(greenplum, table) == curves(postgres, table)
    assert models(greenplum, table) == models(postgres, table)
    assert working_tables(greenplum) == []


@pytest.mark.parametrize("segments", [1, 2])
def test_fewer_data_segments_for_the_same_order(packed, segments):
    greenplum, postgres = packed
    query(greenplum, f"CREATE TABLE rule_{segments} AS SELECT dbid FROM gp_segment_configuration"
          f" WHERE content BETWEEN 0 AND {segments - 1} DISTRIBUTED RANDOMLY")
    table = f"on_{segments}"
    first = ",".join(map(str, starts(greenplum, "packed_7")))
    pack(greenplum, table, 7, extra=f", distribution_rules := 'rule_{segments}',"
         f" starts := '{{{first}}}'")
    assert value(greenplum, f"SELECT count(DISTINCT gp_segment_id) FROM {table}") == segments
    assert checksums(greenplum, table) == checksums(postgres, "packed_7")
    fit(greenplum, table, f"out_{table}", "configs_5")
    fit(postgres, "packed_7", f"out_{table}", "configs_5")
    assert digests(greenplum, f"out_{table}") == digests(postgres, f"out_{table}")
    assert curves(greenplum, f"out_{table}") == curves(postgres, f"out_{table}")


@pytest.mark.parametrize("metrics", ["running", "every"])
def test_metrics_are_those_of_postgres(packed, metrics):
    table = f"metrics_{metrics}"
    for connection in packed:
        fit(connection, "packed_7", table, "configs_3",
            more=f", training_metrics := '{metrics}', metrics_compute_frequency := 2")
    assert curves(packed[0], table) == curves(packed[1], table)


def test_a_warm_start_goes_on(packed):
    greenplum, postgres = packed
    fit(greenplum, "packed_6", "warm", "configs_3", 1)
    fit(greenplum, "packed_6", "warm", "configs_3", 2, ", warm_start := true")
    fit(postgres, "packed_6", "warm", "configs_3", 3)
    assert digests(greenplum, "warm") == digests(postgres, "warm")
    assert value(greenplum, "SELECT metrics_iters FROM warm_info WHERE mst_key = 1") == [1, 2, 3]


def test_lost_data_are_read_again(packed):
    greenplum, postgres = packed
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SELECT hopper.version()")
    query(connection, "SET hopper.debug_drop_cache = 2")
    fit(connection, "packed_6", "dropped", "configs_5")
    connection.close()
    fit(postgres, "packed_6", "dropped", "configs_5")
    assert digests(greenplum, "dropped") == digests(postgres, "dropped")


def test_threads_do_not_matter(packed):
    greenplum, postgres = packed
    fit(greenplum, "packed_6", "three_threads", "configs_8", more=", threads := 3")
    fit(postgres, "packed_6", "three_threads", "configs_8")
    assert digests(greenplum, "three_threads") == digests(postgres, "three_threads")


# ---------------------------------------------------------------- how models move


def test_only_states_move_below_training(packed):
    greenplum, _ = packed
    connection = connect("HOPPER_GREENPLUM")
    for name in ("plan_a", "plan_b"):
        query(connection, f"CREATE TABLE {name} (key int, mst_key int, next_key int, part int,"
              " n_parts int, done bool, missing bool, report bytea, result bytea, body bytea)"
              " DISTRIBUTED BY (key)")
    rows = query(connection, "EXPLAIN INSERT INTO plan_b SELECT k, (r).mst_key, (r).next_key,"
                 " (r).part, (r).n_parts, (r).done, (r).missing, (r).report, (r).result, (r).body"
                 " FROM (SELECT next_key AS k, hopper.segment_emit(hopper.segment_visit(1, 1,"
                 " false, false, mst_key, part, n_parts, body), next_key) AS r FROM plan_a"
                 " GROUP BY next_key) s")
    plan = "\n".join(row[0] for row in rows)
    motions = re.findall(r"(\w+) Motion", plan)
    assert motions == ["Redistribute"], plan
    assert plan.index("Insert") < plan.index("Aggregate") < plan.index("Redistribute Motion"), plan
    assert "Hash Key: plan_a.next_key" in plan
    query(connection, "DROP TABLE plan_a")
    query(connection, "DROP TABLE plan_b")
    connection.close()


def test_fewer_models_than_segments_are_told(packed):
    connection = connect("HOPPER_GREENPLUM")
    fit(connection, "packed_3", "one_model", "configs_1", 1)
    assert any("2 of 3 segments with data are idle" in notice for notice in connection.notices)
    connection.close()


# ---------------------------------------------------------------- what goes wrong


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
    other = connect("HOPPER_GREENPLUM")
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


def segment_processes(process):
    """The processes on this machine that serve the session of a coordinator's backend."""
    found = []
    with open(f"/proc/{process}/cmdline", "rb") as file:
        session = re.search(rb"\bcon(\d+)\b", file.read()).group(1)
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                title = file.read()
        except OSError:
            continue
        if re.search(rb"\bcon%s\b.*\bseg\d" % session, title):
            found.append(int(entry))
    return found


def test_a_killed_segment_process(packed):
    def kill(process):
        processes = segment_processes(process)
        assert processes
        os.kill(processes[0], signal.SIGTERM)
    error = interrupted("killed", kill)
    assert "seg" in str(error) or "segment" in str(error)


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


# ---------------------------------------------------------------- using models


def test_evaluate_and_predict(packed):
    for connection in packed:
        fit(connection, "packed_6", "useful", "configs_3", 2)
        query(connection, "SELECT hopper.predict('useful', 'digits', 'id', 'pixels', 'predicted',"
              " 'response', mst_key := 2)")
    greenplum, postgres = packed
    statement = ("SELECT loss, metric FROM hopper.evaluate('useful', 'packed_6_validation',"
                 " mst_key := 2)")
    assert query(greenplum, statement) == query(postgres, statement)
    rows = "SELECT id, class_name, class_value FROM predicted ORDER BY id"
    assert query(greenplum, rows) == query(postgres, rows)
    # Batches are made of the rows as they come; a row's last bits depend on its place in one.
    rows = "SELECT prob FROM predicted ORDER BY id"
    assert [row[0] for row in query(greenplum, rows)] == \
        pytest.approx([row[0] for row in query(postgres, rows)], abs=1e-6)
    assert query(greenplum, "SELECT * FROM hopper.gpu_configuration()") == \
        query(postgres, "SELECT * FROM hopper.gpu_configuration()")


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
