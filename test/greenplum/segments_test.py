"""The segments engine gives the bits of PostgreSQL, and moves models, not data."""

import re

import pytest

from cluster import segment_processes
from conftest import connect
from digits import LIVELY, PLAIN, cpu_seconds, dense, layer, query, seconds_of, select, sequential, value
from runs import CONFIGS, checksums, curves, digests, fit, models, pack, starts, working_tables

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


def test_no_partition_is_compared_with_all_others(on_segments):
    """As many as there may be: where each lies is looked up by sorting."""
    query(on_segments, "CREATE TABLE digits_often AS SELECT label, pixels FROM digits,"
          " generate_series(1, 56) DISTRIBUTED RANDOMLY")
    query(on_segments, "SELECT hopper.training_preprocessor('digits_often', 'in_100000', 'label',"
          " 'pixels', partitions := 100000)")
    process = value(on_segments, "SELECT pg_backend_pid()")
    before = cpu_seconds(process)
    query(on_segments, "SELECT * FROM hopper.explain_fit('in_100000',"
          " model_selection_table := 'configs_1', num_iterations := 1)")
    assert cpu_seconds(process) - before < 2  # 0.4; each with each: 4.4
    query(on_segments, "DROP TABLE in_100000, in_100000_summary, digits_often")


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


def test_validation_has_a_frequency_of_its_own_as_on_postgres(packed):
    table = "validated"
    for connection in packed:
        fit(connection, "packed_7", table, "configs_3", 5, more=", validation_freq := 2")
    assert digests(packed[0], table) == digests(packed[1], table)
    assert curves(packed[0], table) == curves(packed[1], table)
    assert query(packed[0], "SELECT DISTINCT iteration FROM hopper.learning_curves('validated')"
                 " WHERE split = 'validation' ORDER BY 1") == [(2,), (4,), (5,)]
    assert query(packed[0], "SELECT DISTINCT iteration FROM hopper.learning_curves('validated')"
                 " WHERE split = 'training' ORDER BY 1") == [(1,), (2,), (3,), (4,), (5,)]


def test_penalties_and_constraints_are_those_of_postgres(packed):
    penalties = sequential(
        layer("Flatten", "flatten"),
        dense("hidden", 24, "relu", activity_regularizer="l2",
              kernel_constraint={"class_name": "MaxNorm", "config": {"max_value": 0.8, "axis": 0}},
              kernel_regularizer={"class_name": "L1L2", "config": {"l1": 0.001, "l2": 0.01}}),
        layer("ActivityRegularization", "penalty", l1=0.003, l2=0.0),
        dense("output", 10, "softmax", bias_constraint="non_neg"))
    table = "penalties"
    for connection in packed:
        query(connection, "SELECT hopper.load_model('architectures', %s)", penalties)
        model = value(connection, "SELECT max(model_id) FROM architectures")
        select(connection, "penalized", [(key, model, compile, fit) for key, _, compile, fit in
                                         CONFIGS[:3]])
        fit(connection, "packed_7", table, "penalized", more=", training_metrics := 'running'")
    assert digests(packed[0], table) == digests(packed[1], table)
    assert curves(packed[0], table) == curves(packed[1], table)


LARGE = sequential(layer("Flatten", "flatten"), dense("hidden", 1500, "relu"),
                   dense("more", 1500, "relu"), dense("output", 10, "softmax"))
SMALL = sequential(layer("Flatten", "flatten"), dense("output", 10, "softmax"))


# Twenty small models are stopped after their second iteration, when next to nothing is done.
def test_time_left_counts_operations_not_iterations(packed):
    greenplum, _ = packed
    for model in (LARGE, SMALL):
        query(greenplum, "SELECT hopper.load_model('architectures', %s)", model)
    model = value(greenplum, "SELECT max(model_id) FROM architectures")
    stops = "batch_size=64, callbacks=[EarlyStopping(monitor='loss', patience=0, min_delta=1000)]"
    compile_params = CONFIGS[0][2]
    select(greenplum, "one_large", [(1, model - 1, compile_params, "batch_size=16")] +
           [(key, model, compile_params, stops) for key in range(2, 22)])
    query(greenplum, "SET hopper.notice_interval = 1; SET client_min_messages = notice")
    del greenplum.notices[:]
    fit(greenplum, "packed_6", "one_large_out", "one_large", 10)
    query(greenplum, "RESET hopper.notice_interval; SET client_min_messages = warning")
    found = [re.search(r"([0-9]+) of 50 iterations, .*, (.*) elapsed, about (.*) left", line)
             for line in greenplum.notices]
    # The large one has gone through three to six of its ten iterations.
    halfway = [line for line in found if line and 43 <= int(line[1]) <= 46]
    assert halfway, greenplum.notices
    for line in halfway:
        by_count = seconds_of(line[2]) * (50 / int(line[1]) - 1)
        assert seconds_of(line[3]) > 2 * by_count, line[0]


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


@pytest.mark.parametrize("more", [
    ", dtype := 'bf16'", ", threads := 4, threads_per_model := 2",
    ", dtype := 'bf16', threads := 4, threads_per_model := 2"])
def test_same_bits_in_other_numerics(packed, more):
    greenplum, postgres = packed
    for connection in packed:
        query(connection, "DROP TABLE IF EXISTS other, other_info, other_state, other_summary")
        fit(connection, "packed_6", "other", "configs_3", 2, more)
    assert digests(greenplum, "other") == digests(postgres, "other")


@pytest.mark.parametrize("limit", ["1GB", "4MB"])
def test_frozen_layers(packed, limit):
    """What they give is kept on each segment, or computed at each visit: the same bits."""
    frozen = [PLAIN.replace('"name": "hidden"', '"name": "hidden", "trainable": false'),
              LIVELY.replace('"name": "hidden"', '"name": "hidden", "trainable": false')]
    table = f"frozen_{limit.lower()}"
    for connection in packed:
        ids = [value(connection, "SELECT hopper.load_model('architectures', %s)", model)
               for model in frozen]
        select(connection, f"configs_{table}",
               [(key, ids[model - 1], *rest) for key, model, *rest in CONFIGS[:4]])
    greenplum, postgres = packed
    query(greenplum, f"SET hopper.memory_limit = '{limit}'")
    fit(greenplum, "packed_6", table, f"configs_{table}", 2)
    query(greenplum, "RESET hopper.memory_limit")
    fit(postgres, "packed_6", table, f"configs_{table}", 2)
    assert digests(greenplum, table) == digests(postgres, table)
    assert curves(greenplum, table) == curves(postgres, table)


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


# ---------------------------------------------------------------- what statements cost


def test_what_is_read_at_once_is_read_by_the_processes_that_write(packed):
    """A cursor would start others beside them, which takes longer than to read a small table."""
    connection = connect("HOPPER_GREENPLUM")
    assert query(connection, "SELECT * FROM hopper.describe_model('architectures', 1)")
    assert {segment: len(processes) for segment, processes in segment_processes(connection).items()} == {0: 1, 1: 1, 2: 1}
    connection.close()


def test_metrics_of_many_models_are_all_written(packed):
    """They are written many at a time; one of them failed, and has other columns empty."""
    many = [(key, 1, "loss='categorical_crossentropy', optimizer='SGD(lr=%s)', metrics=['accuracy']"
             % ("1e30" if key == 20 else 0.01 * key), "batch_size=64") for key in range(1, 36)]
    found = []
    for connection in packed:
        select(connection, "configs_many", many)
        query(connection, "SET client_min_messages = error")
        fit(connection, "packed_3", "many", "configs_many", 1)
        found.append(query(connection, "SELECT mst_key, status, compile_params, training_loss, validation_metrics_final, iterations,"
                           " state_digest, error IS NULL FROM many_info ORDER BY 1"))
    assert [row[1] for row in found[0]] == ["failed" if key == 20 else "done" for key in range(1, 36)]
    assert found[0] == found[1]
