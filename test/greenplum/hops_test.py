"""How models move: the statements that run, how many there are, and what they write."""

import pytest

from cluster import count_passes
from conftest import connect
from digits import query, value
from plans import plans_with, watch_plans
from runs import digests, fit, pack

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
    connection.close()
    assert len(plans) >= 2  # from one table to the other, and back
    for motions in plans:
        assert len(motions) == 1, motions
        motion = motions[0]
        assert motion["kind"] == "redistribute"
        nodes = [node for node in motion["above"] if node in ("MODIFYTABLE", "AGG")]
        assert nodes == ["MODIFYTABLE", "AGG"], motion["above"]
        assert "SEQSCAN" in motion["below"] and "AGG" not in motion["below"]


@pytest.mark.parametrize("n, partitions", [(1, 3), (1, 7), (2, 6), (3, 3), (5, 7), (8, 6)])
def test_one_statement_a_segment_and_iteration(on_segments, n, partitions):
    """Whatever the number of models; one more takes them out. Nothing evaluates in between."""
    iterations = 4
    hits = count_passes(on_segments, "hopper_segment_train", lambda: query(
        on_segments, f"SELECT hopper.fit_multiple_model('packed_{partitions}',"
        f" 'counted_{n}_{partitions}', 'configs_{n}', {iterations},"
        " training_metrics := 'running')"))
    if n >= 3:
        assert hits == [3 * iterations + 1] * 3
    else:  # each statement finds the models on so many of the segments
        assert sum(hits) == n * (3 * iterations + 1)


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
