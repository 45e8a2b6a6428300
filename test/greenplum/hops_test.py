"""How models move: the statements that run, how many there are, and what they write."""

import threading
import time

import pytest

from cluster import count_passes, disk_bytes, held, segment_processes
from conftest import connect
from digits import dense, layer, query, select, sequential, value
from kernels import has_12
from plans import plans_with, watch_plans
from runs import LOSS, digests, fit, pack

VISIT = "hopper.segment_visit"


@pytest.fixture(scope="module")
def two_segments(on_segments):
    """Data on segments 0 and 2 alone."""
    query(on_segments, "CREATE TABLE chosen AS SELECT dbid FROM gp_segment_configuration"
          " WHERE content IN (0, 2) AND role = 'p' DISTRIBUTED RANDOMLY")
    pack(on_segments, "packed_two", 6, extra=", distribution_rules := 'chosen'")
    assert query(on_segments, "SELECT DISTINCT gp_segment_id FROM packed_two ORDER BY 1") == [(0,), (2,)]
    return "packed_two"


@pytest.mark.parametrize("n", [1, 2, 3, 8])
@pytest.mark.parametrize("data", ["packed_3", "packed_6", "packed_7", "packed_two"])
def test_only_states_move_below_training(on_segments, two_segments, data, n):
    """The plans of the very statements that ran."""
    connection = connect("HOPPER_GREENPLUM")
    watch_plans(connection)
    fit(connection, data, f"plan_{data}_{n}", f"configs_{n}", 2)
    plans = plans_with(connection, VISIT)
    loading = plans_with(connection, "hopper.segment_data")
    connection.close()
    assert len(loading) == 2
    for motions in loading:  # training and validation data stay where they are: answers move
        assert [motion["kind"] for motion in motions] == ["fixed"]
        assert "AGG" in motions[0]["below"] and "AGG" not in motions[0]["above"]
    assert len(plans) >= 2  # from one table to the other, and back
    for motions in plans:
        assert len(motions) == 2, motions
        told, motion = motions  # what the models report comes behind all of it
        assert told["kind"] == "fixed" and "MODIFYTABLE" not in told["above"]
        assert motion["kind"] == "redistribute"
        nodes = [node for node in motion["above"] if node in ("MODIFYTABLE", "AGG")]
        assert nodes == ["MODIFYTABLE", "AGG"], motion["above"]
        assert "SEQSCAN" in motion["below"] and "AGG" not in motion["below"]


@pytest.mark.parametrize("n, partitions", [(1, 3), (1, 7), (2, 6), (3, 3), (5, 7), (8, 6)])
def test_one_statement_a_segment_and_iteration(on_segments, n, partitions):
    """Whatever the number of models. Nothing evaluates in between."""
    iterations = 4
    hits = count_passes(on_segments, "hopper_segment_train", lambda: query(
        on_segments, f"SELECT hopper.fit_multiple_model('packed_{partitions}',"
        f" 'counted_{n}_{partitions}', 'configs_{n}', {iterations},"
        " training_metrics := 'running')"))
    if n >= 3:
        assert hits == [3 * iterations] * 3
    else:  # each statement finds the models on so many of the segments
        assert sum(hits) == n * 3 * iterations


def test_fewer_models_than_segments_are_told(on_segments, two_segments):
    for data, n, told in (("packed_3", 1, "2 of 3 segments with data are idle"),
                          ("packed_3", 2, "1 of 3 segments with data are idle"),
                          ("packed_3", 3, None), (two_segments, 1, "1 of 2 segments with data"),
                          (two_segments, 2, None)):
        connection = connect("HOPPER_GREENPLUM")
        fit(connection, data, f"idle_{data}_{n}", f"configs_{n}", 1)
        idle = [notice for notice in connection.notices if "idle at any time" in notice]
        assert len(idle) == (1 if told else 0)
        if told:
            assert told in idle[0]
        connection.close()


@pytest.mark.parametrize("n", [1, 2, 5])
def test_data_on_two_of_three_segments_give_the_same_bits(packed, two_segments, n):
    greenplum, postgres = packed
    first = value(greenplum, f"SELECT starts FROM {two_segments}_summary")
    if n == 1:
        pack(postgres, two_segments, 6, extra=f", starts := '{{{','.join(map(str, first))}}}'")
    for connection in packed:
        fit(connection, two_segments, f"out_two_{n}", f"configs_{n}")
    assert digests(greenplum, f"out_two_{n}") == digests(postgres, f"out_two_{n}")


# ---------------------------------------------------------------- what a hop writes


def wide_model(units):
    return sequential(layer("Flatten", "flatten"), dense("wide", units, "relu"),
                      dense("output", 10, "softmax"))


def wide_configs(connection, name, units, n):
    """n configurations whose states take 75 * units floats, and as many of momentum."""
    query(connection, f"SELECT hopper.load_model('{name}_models', %s)", wide_model(units))
    select(connection, name, [(key, 1, LOSS + "'SGD(lr=0.01, momentum=0.9)'", "batch_size=512")
                              for key in range(1, n + 1)])
    query(connection, f"UPDATE {name}_summary SET model_arch_table = '{name}_models'")


POSITION = {False: "pg_xlog_location_diff(pg_current_xlog_location(), '0/0')",
            True: "pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"}


def log_bytes(connection):
    return sum(int(row[0]) for row in query(
        connection, f"SELECT {POSITION[has_12(connection)]} FROM gp_dist_random('gp_id')"))


def state_bytes(connection, output):
    return int(value(connection, f"SELECT sum(length(state)) FROM {output}_state"))


def test_a_hop_writes_its_states_once(on_segments):
    """Held in a hop, the disk holds what the hop before wrote."""
    wide_configs(on_segments, "wide_six", 16000, 6)

    def run(output):
        return (f"SELECT hopper.fit_multiple_model('packed_3', '{output}', 'wide_six', 2,"
                " training_metrics := 'running')")

    query(on_segments, run("weighed"))
    states = state_bytes(on_segments, "weighed")
    assert states > 55e6
    query(on_segments, "DROP TABLE weighed, weighed_info, weighed_summary, weighed_state")
    before = disk_bytes()
    for hop in (2, 4):
        connection = connect("HOPPER_GREENPLUM")
        written = held(on_segments, connection, run(f"held_{hop}"), hop, disk_bytes) - before
        connection.close()
        assert states < written < 1.2 * states, (hop, written, states)
        query(on_segments, f"DROP TABLE held_{hop}, held_{hop}_info, held_{hop}_summary,"
              f" held_{hop}_state")
        before = disk_bytes()


def test_hops_start_no_processes(on_segments):
    """A session's readers stay, where states are small: since 12 each utility statement ends them on the segments."""
    wide_configs(on_segments, "tiny", 4, 1)
    backend = value(on_segments, "SELECT pg_backend_pid()")
    seen = set()
    ended = threading.Event()

    def watch():
        while not ended.is_set():
            seen.update(one for those in segment_processes(backend).values() for one in those)
            time.sleep(0.02)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        query(on_segments, "SELECT hopper.fit_multiple_model('packed_3', 'unforked', 'tiny', 60)")
    finally:
        ended.set()
        thread.join()
    hops = 60 * 3
    assert 6 <= len(seen) < hops / 4


def test_hops_are_not_logged(on_segments):
    """Of a run's states, the log takes the output tables, however many hops there were."""
    wide_configs(on_segments, "wide_three", 16000, 3)
    grown = {}
    for iterations in (1, 4):
        before = log_bytes(on_segments)
        query(on_segments, f"SELECT hopper.fit_multiple_model('packed_3', 'logged_{iterations}',"
              f" 'wide_three', {iterations}, training_metrics := 'running')")
        grown[iterations] = log_bytes(on_segments) - before
    hops = 3 * (4 - 1)
    assert grown[4] - grown[1] < 0.02 * hops * state_bytes(on_segments, "logged_4")


def test_the_journal_counts_what_hops_write(on_segments):
    """Each model's state once a hop; the last one goes to the outputs; the disk agrees (test_a_hop_writes_its_states_once)."""
    wide_configs(on_segments, "wide_pair", 4000, 2)
    query(on_segments, "SELECT hopper.fit_multiple_model('packed_3', 'counted_bytes', 'wide_pair', 2,"
          " training_metrics := 'running')")
    states = dict(query(on_segments, "SELECT mst_key, sum(length(state)) FROM counted_bytes_state"
                        " GROUP BY 1"))
    rows = query(on_segments, "SELECT mst_key, iteration, sum(bytes_written)"
                 " FROM hopper.run_timeline('counted_bytes') GROUP BY 1, 2")
    assert len(rows) == 4
    for key, iteration, written in rows:
        hops = 3 if iteration == 1 else 2
        assert hops * states[key] <= written < hops * 1.2 * states[key]


def test_disk_use_does_not_grow(on_segments):
    wide_configs(on_segments, "wide_two", 4000, 2)
    samples = []
    ended = threading.Event()

    def watch():
        while not ended.is_set():
            samples.append(disk_bytes())
            time.sleep(0.02)

    thread = threading.Thread(target=watch)
    before = disk_bytes()
    thread.start()
    try:
        query(on_segments, "SELECT hopper.fit_multiple_model('packed_3', 'enduring', 'wide_two', 120,"
              " training_metrics := 'running')")
    finally:
        ended.set()
        thread.join()
    third = len(samples) // 3
    assert third > 20
    states = state_bytes(on_segments, "enduring")
    # A sample may or may not meet one of the two states twice; a table that is not truncated grows
    # by both of them in each iteration.
    assert max(samples[-third:-10]) <= max(samples[10:third]) + 0.8 * states
    # both tables at most, or the last one and the output tables
    assert max(samples) - before < 4 * 1.2 * states


@pytest.mark.large
def test_a_large_model(on_segments):
    """A state of 300 MB moves in parts of 64 MB."""
    connection = connect("HOPPER_GREENPLUM")
    query(connection, "SET statement_mem = '1900MB'")
    query(connection, "SELECT hopper.load_model('large_models', %s)", wide_model(1000000))
    select(connection, "large", [(1, 1, LOSS + "'SGD(lr=0.01)'", "batch_size=512")])
    query(connection, "UPDATE large_summary SET model_arch_table = 'large_models'")
    query(connection, "CREATE TABLE few AS SELECT * FROM digits WHERE id % 18 = 0 DISTRIBUTED BY (id)")
    query(connection, "SELECT hopper.training_preprocessor('few', 'few_packed', 'label', 'pixels',"
          " normalizing_const := 16)")
    before = disk_bytes()
    most = []
    ended = threading.Event()

    def watch():
        while not ended.is_set():
            most.append(disk_bytes())
            time.sleep(0.1)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        query(connection, "SELECT hopper.fit_multiple_model('few_packed', 'large_out', 'large', 2,"
              " training_metrics := 'running')")
    finally:
        ended.set()
        thread.join()
    states = state_bytes(connection, "large_out")
    assert states > 300e6
    assert query(connection, "SELECT part, length(state) <= 64 * 1024 * 1024 FROM large_out_state"
                 " ORDER BY 1") == [(part, True) for part in range(5)]
    # at the end: state and weights in the last table, and in the output tables
    assert max(most) - before < 4 * 1.1 * states
    assert value(connection, "SELECT status FROM large_out_info") == "done"
    assert value(connection, "SELECT length(model_weights) FROM large_out") == 4 * 75000010
    query(connection, "DROP TABLE large_out, large_out_info, large_out_summary, large_out_state")
    connection.close()
