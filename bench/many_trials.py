#!/usr/bin/env python3
"""What a run of thousands of small trials costs: its checkpoints, its end, and whoever looks at it.

    eval "$(scripts/server env BUILD)"
    bench/many_trials.py [--trials 10000] [--iterations 4]

Each step of the run writes a checkpoint of every trial that has trained; the third one opens the run in another session;
the last ones write the ended models and publish them. Prints the seconds that the session's main thread computed, which other work on the machine hardly
changes, and those on the clock; the same of views that are read by another session. Works in a database of its own,
which it drops at the end.
"""

import argparse
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "test" / "e2e"))
from digits import ADAM, connect, create_database, drop_database, pid, query, select, sequential, dense, value, wait_until  # noqa: E402

DATABASE = "hopper_many_trials"
VIEWS = {
    "leaderboard": "SELECT count(*) FROM hopper.leaderboard('models')",
    "trials": "SELECT count(*), max(value) FROM hopper.trials WHERE run = {run}",
    "trial_metrics": "SELECT count(*), max(value), max(at) FROM hopper.trial_metrics WHERE run = {run}",
    "trial_metrics of a trial": "SELECT count(*), max(value), max(at) FROM hopper.trial_metrics"
                                " WHERE run = {run} AND trial = 7",
    "runs": "SELECT count(*), max(best_value) FROM hopper.runs"}


def main_thread(process):
    fields = pathlib.Path(f"/proc/{process}/task/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timed(connection, what, text, *arguments):
    process = pid(connection)
    computed, start = main_thread(process), time.monotonic()
    rows = query(connection, text, *arguments)
    print(f"{what}: {main_thread(process) - computed:.2f} s computed, {time.monotonic() - start:.2f} s on the clock"
          f" ({', '.join(str(cell) for cell in rows[0])})", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=10000)
    parser.add_argument("--iterations", type=int, default=4)
    options = parser.parse_args()
    connection = create_database(DATABASE)
    query(connection, "CREATE TABLE points AS SELECT i AS id, i % 2 AS y, ARRAY[i % 2, i % 3]::float4[] AS x"
          " FROM generate_series(1, 16) AS i")
    query(connection, "SELECT hopper.training_preprocessor('points', 'points_packed', 'y', 'x')")
    query(connection, "SELECT hopper.load_model('architectures', %s)", sequential(
        dense("hidden", 3, "relu"), dense("output", 2, "softmax"), shape=(2,)))
    select(connection, "configs", [])
    query(connection, "INSERT INTO configs SELECT i, 3, %s, 'batch_size=8' FROM generate_series(1, %s) AS i",
          ADAM, options.trials)
    run = value(connection, "SELECT hopper.create_run(%s)",
                f"SELECT hopper.fit_multiple_model('points_packed', 'models', 'configs', {options.iterations}, seed => 1)")
    state, n = "running", 0
    while state == "running":
        n += 1
        state = timed(connection, f"step {n}", "SELECT hopper.step(%s, 0)", run)[0][0]
        if n == 2:
            # The next step opens the run from its checkpoints, and loads the libraries.
            earlier = pid(connection)
            connection.close()
            connection = connect(DATABASE)
            wait_until(lambda: not query(connection, "SELECT 1 FROM pg_stat_activity WHERE pid = %s", earlier))
        timed(connection, "  checkpoints so far", "SELECT checkpoints, seconds_checkpoints FROM hopper.runs WHERE run = %s",
              run)
    reader = connect(DATABASE)
    query(reader, "ANALYZE")
    for name, text in VIEWS.items():
        timed(reader, name, text.format(run=run))
    reader.close()
    connection.close()
    drop_database(DATABASE)


if __name__ == "__main__":
    main()
