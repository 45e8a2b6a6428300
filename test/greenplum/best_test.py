"""The best model is the best, by whatever metric: in the line of progress, the summary and the leaderboard."""

import re

from digits import query, select, value

# The first learns, the second hardly does.
CONFIGS = [(1, 1, "loss='mse', optimizer='Adam(lr=0.01)', metrics=['huber']", "batch_size=32"),
           (2, 1, "loss='mse', optimizer='SGD(lr=1e-7)', metrics=['huber']", "batch_size=32")]


def test_the_one_that_learns(on_segments):
    select(on_segments, "huber_configs", CONFIGS)
    query(on_segments, "SET hopper.notice_interval = 1")
    query(on_segments, "SET client_min_messages = notice")
    on_segments.notices.clear()
    query(on_segments, "SELECT hopper.fit_multiple_model('packed_3', 'by_huber', 'huber_configs', 200,"  # seconds, so that a line of progress comes
          " validation_table := 'packed_3_validation', seed := 7)")
    query(on_segments, "RESET hopper.notice_interval")
    query(on_segments, "SET client_min_messages = warning")
    told = re.findall(r"best configuration (\d) validation (\w+)", "".join(on_segments.notices))
    assert told and set(told) == {("1", "huber")}, on_segments.notices
    assert query(on_segments, "SELECT best_mst_key, best_metric FROM by_huber_summary") == \
        [(1, "validation huber")]
    assert value(on_segments, "SELECT mst_key FROM hopper.leaderboard('by_huber', 1)") == 1
