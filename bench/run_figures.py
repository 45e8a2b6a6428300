#!/usr/bin/env python3
"""What durable runs cost, and how soon others see them.

    eval "$(scripts/server env BUILD)"
    bench/run_figures.py [--seconds 100] [--runs 1000] [--repeat 10]

Works in a database of its own, which it drops at the end. Prints: seconds from submit() to the first iteration,
and to its answer; how old the progress of a call in the foreground is in another session, at most; the share of
the time that checkpoints of a convolutional network of CIFAR-10's size took at the default interval; and the
size of the extension's tables after so many finished runs.
"""

import argparse
import pathlib
import statistics
import sys
import threading
import time

import psycopg2

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "test" / "e2e"))
from digits import ADAM, connect, create_database, drop_database, pid, query, select, value, wait_until  # noqa: E402

DATABASE = "hopper_run_figures"
FIT = "SELECT hopper.fit_multiple_model('{}', '{}', '{}', {}, seed => 1)"
ENDLESS = 1000000


def submitted(connection, repeat):
    answers, firsts = [], []
    for attempt in range(repeat):
        start = time.monotonic()
        run = value(connection, "SELECT hopper.submit(%s)", FIT.format("packed", f"soon_{attempt}", "configs", ENDLESS))
        answers.append(time.monotonic() - start)
        wait_until(lambda: query(connection, "SELECT 1 FROM hopper.progress WHERE run = %s AND iterations > 0", run))
        firsts.append(time.monotonic() - start)
        query(connection, "SELECT hopper.cancel(%s)", run)
        query(connection, "SELECT hopper.wait(%s)", run)
    print(f"submit: answers in {statistics.median(answers):.3f} s, first iteration seen after"
          f" {statistics.median(firsts):.3f} s (medians of {repeat}, at most {max(firsts):.3f} s)", flush=True)


def watched(connection, seconds):
    trainer = connect(DATABASE)
    process = pid(trainer)

    def train():
        try:
            query(trainer, FIT.format("packed", "watched", "configs", ENDLESS))
        except psycopg2.Error:
            pass
    call = threading.Thread(target=train)
    call.start()
    seen, changed, gaps, asked = None, None, [], []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        start = time.monotonic()
        rows = query(connection, "SELECT iterations FROM hopper.progress WHERE pid = %s", process)
        asked.append(time.monotonic() - start)
        if rows and rows[0][0] != seen:
            if changed:
                gaps.append(time.monotonic() - changed)
            seen, changed = rows[0][0], time.monotonic()
        time.sleep(0.01)
    query(connection, "SELECT pg_cancel_backend(%s)", process)
    call.join()
    trainer.close()
    print(f"progress: changes every {statistics.median(gaps):.3f} s, {max(gaps):.3f} s at most;"
          f" a look takes {statistics.median(asked) * 1000:.1f} ms", flush=True)


def checkpointed(connection, seconds):
    query(connection, "CREATE TABLE images AS SELECT i AS id, i % 10 AS y, (SELECT array_agg(array_agg) FROM"
          " (SELECT array_agg(ARRAY[128, x * 8, (i * (x + y)) % 256]::smallint[]) FROM generate_series(0, 31) AS x,"
          " generate_series(0, 31) AS y WHERE i > 0 GROUP BY y) AS rows) AS x FROM generate_series(1, 1000) AS i")
    query(connection, "SELECT hopper.training_preprocessor('images', 'images_packed', 'y', 'x', normalizing_const => 255)")
    query(connection, "SELECT hopper.cnn(model_arch_table => 'image_networks', packed_table => 'images_packed')")
    select(connection, "image_configs", [(1, 1, ADAM, "batch_size=64")])
    query(connection, "UPDATE image_configs_summary SET model_arch_table = 'image_networks'")
    run = value(connection, "SELECT hopper.submit(%s)", FIT.format("images_packed", "seen", "image_configs", ENDLESS))
    time.sleep(seconds)
    row = query(connection, "SELECT checkpoints, seconds_checkpoints, extract(epoch FROM last_checkpoint - started)::float8"
                " FROM hopper.runs WHERE run = %s", run)[0]
    size = value(connection, f"SELECT sum(octet_length(state)) FROM hopper_run_{run}_state WHERE part >= 0")
    query(connection, "SELECT hopper.cancel(%s)", run)
    query(connection, "SELECT hopper.wait(%s)", run)
    if row[0] == 0:
        sys.exit("no checkpoint was written: train longer")
    print(f"checkpoints: {row[0]} of {size / 1e6:.1f} MB took {row[1]:.3f} s, {100 * row[1] / row[2]:.2f} % of the time"
          f" at the default interval", flush=True)


def catalogued(connection, runs):
    sizes = ("SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = 'hopper'::regnamespace"
             " AND relkind = 'r'")
    query(connection, "SELECT hopper.expire_runs('0 days')")
    query(connection, "VACUUM FULL")
    before = value(connection, sizes)
    query(connection, "SET client_min_messages = error")
    for number in range(runs):
        query(connection, FIT.format("packed", f"many_{number}", "configs", 1))
        query(connection, f"SELECT hopper.drop_model('many_{number}')")
    size = float(value(connection, sizes) - before)
    print(f"catalogue: {runs} finished runs of 2 trials take {size / 1e6:.2f} MB, {size / runs / 1e3:.1f} kB each", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=100)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=10)
    options = parser.parse_args()
    connection = create_database(DATABASE)
    select(connection, "configs", [(1, 1, ADAM, "batch_size=32"), (2, 2, ADAM, "batch_size=32")])
    submitted(connection, options.repeat)
    watched(connection, 10)
    checkpointed(connection, options.seconds)
    catalogued(connection, options.runs)
    connection.close()
    drop_database(DATABASE)


if __name__ == "__main__":
    main()
