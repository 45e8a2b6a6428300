#!/usr/bin/env python3
"""Rows a second of hopper.predict() for an MNIST-size network (784-128-10), and of packing and
predicting a table of 50 columns (50-64-32-1).

    eval "$(scripts/server env BUILD)"
    bench/predict.py [--rows 100000] [--wide-rows 1000000] [--repeat 3]

Works in a database of its own, which it drops at the end. Pixels are random bytes stored as bytea,
smallint[] and real[]; what is timed is the whole call: reading, computing, ranking and writing
the table of predictions. For predict_rows() and predict_row() it is the server's part of a SELECT.

Beside rows by the clock stand rows by CPU time of the session's process, threads included, which other
work on the machine changes less. predict_row() is called from the client: beside it stands what a call of
a function that does nothing with the same argument takes. Of a prediction and a fit() stands what the first
of a session takes.
"""

import argparse
import io
import json
import os
import pathlib
import time

import numpy
import psycopg2

DATABASE = "hopper_bench_predict"
WIDTH, HIDDEN, CLASSES = 784, 128, 10
MODEL = {"class_name": "Sequential", "config": {"name": "mlp", "layers": [
    {"class_name": "Dense", "config": {"name": "hidden", "batch_input_shape": [None, WIDTH],
                                       "units": HIDDEN, "activation": "relu"}},
    {"class_name": "Dense", "config": {"name": "output", "units": CLASSES,
                                       "activation": "softmax"}}]}}


COLUMNS = 50
TABULAR = {"class_name": "Sequential", "config": {"name": "tabular", "layers": [
    {"class_name": "Dense", "config": {"name": "a", "batch_input_shape": [None, COLUMNS], "units": 64,
                                       "activation": "relu"}},
    {"class_name": "Dense", "config": {"name": "b", "units": 32, "activation": "relu"}},
    {"class_name": "Dense", "config": {"name": "c", "units": 1, "activation": "sigmoid"}}]}}

FLOWERS = {"class_name": "Sequential", "config": {"name": "flowers", "layers": [
    {"class_name": "Dense", "config": {"name": "hidden", "batch_input_shape": [None, 4], "units": 16,
                                       "activation": "relu"}},
    {"class_name": "Dense", "config": {"name": "output", "units": 3, "activation": "softmax"}}]}}


class Clock:
    """Least seconds of several runs, by the clock and of a process."""

    def __init__(self, cursor, repeat):
        cursor.execute("SELECT pg_backend_pid()")
        self.stat = pathlib.Path(f"/proc/{cursor.fetchone()[0]}/stat")
        self.repeat = repeat

    def processors(self):
        fields = self.stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def print(self, what, rows, run, prepare=lambda: None):
        clock, processors = [], []
        for _ in range(self.repeat):
            prepare()
            before, started = self.processors(), time.perf_counter()
            run()
            clock.append(time.perf_counter() - started)
            processors.append(self.processors() - before)
        print(f"{what:<40} {rows / min(clock):>10,.0f} rows/s, {rows / max(min(processors), 0.01):>10,.0f}"
              f" a CPU second ({min(clock):.2f} s, {min(processors):.2f} CPU s)", flush=True)


def connect(database):
    connection = psycopg2.connect(dbname=database)
    connection.autocommit = True
    return connection


def make_tables(cursor, rows):
    random = numpy.random.default_rng(1)
    pixels = random.integers(0, 256, (rows, WIDTH), dtype=numpy.uint8)
    labels = random.integers(0, CLASSES, rows)
    digits = [str(i) for i in range(256)]
    as_hex = (f"{i}\t{labels[i]}\t\\\\x{row.tobytes().hex()}\n" for i, row in enumerate(pixels))
    as_array = (f"{i}\t{labels[i]}\t{{{','.join(map(digits.__getitem__, row.tolist()))}}}\n"
                for i, row in enumerate(pixels))
    cursor.execute("CREATE TABLE as_bytea (id integer, label integer, x bytea)")
    cursor.copy_from(io.StringIO("".join(as_hex)), "as_bytea")
    cursor.execute("CREATE TABLE as_smallint (id integer, label integer, x smallint[])")
    cursor.copy_from(io.StringIO("".join(as_array)), "as_smallint")
    cursor.execute("CREATE TABLE as_real AS SELECT id, label, x::real[] FROM as_smallint")
    cursor.execute("VACUUM ANALYZE")


def first_call(what, repeat, statement, argument=None):
    """What the first call of a new session takes: a web request without a pool, say."""
    seconds, processors, private = [], [], []
    for _ in range(repeat):
        with psycopg2.connect(dbname=DATABASE) as connection, connection.cursor() as cursor:
            clock = Clock(cursor, 1)
            before, started = clock.processors(), time.perf_counter()
            cursor.execute(statement, argument and (argument,))
            seconds.append(time.perf_counter() - started)
            processors.append(clock.processors() - before)
            status = clock.stat.with_name("status").read_text()
            private.append(int(next(line.split()[1] for line in status.splitlines() if line.startswith("RssAnon:"))))
        connection.close()
    print(f"{what + ', first of a session':36} {min(seconds) * 1e3:8.0f} ms {min(processors) * 1e3:8.0f} ms of CPU time,"
          f" {min(private) / 1024:.0f} MB of the session's own", flush=True)


def first_fit(cursor, repeat):
    """As many rows as iris has, ten passes."""
    cursor.execute("CREATE TABLE flowers AS SELECT i AS id, i % 3 AS kind,"
                   " ARRAY[i % 7, i % 11, i % 13, i % 3]::real[] AS sizes FROM generate_series(1, 150) AS i")
    cursor.execute("SELECT hopper.training_preprocessor('flowers', 'flowers_packed', 'kind', 'sizes')")
    cursor.execute("SELECT hopper.load_model('models', %s)", [json.dumps(FLOWERS)])
    first_call("fit, 150 rows", repeat, "SET client_min_messages = error; SELECT hopper.fit('flowers_packed', 'flowers_trained',"
               " 'models', 2, $$loss='sparse_categorical_crossentropy', optimizer='Adam()', metrics=['accuracy']$$,"
               " 'batch_size=16', 10, replace => true)")


def calls(cursor, clock, what, function, value, n=2000):
    """Calls of a set-returning function with one argument, from here."""
    cursor.execute(f"PREPARE one AS SELECT * FROM {function}")
    run = lambda: [cursor.execute("EXECUTE one (%s)", [value]) for _ in range(n)]
    run()
    least = []
    for _ in range(clock.repeat):
        before, started = clock.processors(), time.perf_counter()
        run()
        least.append(((clock.processors() - before) / n, (time.perf_counter() - started) / n))
    print(f"{what:<40} {min(t for _, t in least) * 1e6:>10,.0f} us a call,"
          f" {min(t for t, _ in least) * 1e6:,.0f} of the processor", flush=True)
    cursor.execute("DEALLOCATE one")


def wide_table(cursor, clock, rows):
    """Packs and predicts a table of many columns."""
    names = [f"c{i}" for i in range(COLUMNS)]
    columns = ", ".join(f"((i * {2 * i + 3}) % 1009 / 1009.0)::real AS c{i}" for i in range(COLUMNS))
    cursor.execute(f"CREATE TABLE wide AS SELECT i AS id, i % 2 AS label, {columns}"
                   f" FROM generate_series(1, {rows}) i")
    cursor.execute("VACUUM ANALYZE wide")
    features = ", ".join(names)
    clock.print("scan of 50 columns (sum of each)", rows, lambda: cursor.execute(
        "SELECT " + ", ".join(f"sum({name})" for name in names) + " FROM wide"))
    for kind in ("numeric(10, 6)", "integer", "real"):
        if kind != "real":
            cast = ", ".join(f"({name} * 1000)::{kind} AS {name}" for name in names)
            cursor.execute(f"CREATE TABLE wide_2 AS SELECT id, label, {cast} FROM wide")
            cursor.execute("VACUUM ANALYZE wide_2")
        table = "wide" if kind == "real" else "wide_2"
        clock.print(f"training_preprocessor, 50 x {kind}", rows, lambda: cursor.execute(
            f"SELECT hopper.training_preprocessor('{table}', 'wide_packed', 'label', '{features}')"),
            lambda: cursor.execute("DROP TABLE IF EXISTS wide_packed, wide_packed_summary"))
        cursor.execute("DROP TABLE IF EXISTS wide_2")
    cursor.execute("SELECT hopper.load_model('models', %s)", [json.dumps(TABULAR)])
    cursor.execute("SELECT hopper.fit('wide_packed', 'wide_trained', 'models', 2, $$loss='binary_crossentropy',"
                   " optimizer='Adam()', metrics=['accuracy']$$, 'batch_size=1024', 1)")
    clock.print("predict, 50 columns", rows, lambda: cursor.execute(
        f"SELECT hopper.predict('wide_trained', 'wide', 'id', '{features}', 'predicted', 'response')"),
        lambda: cursor.execute("DROP TABLE IF EXISTS predicted"))
    clock.print("predict_rows, 50 columns", rows, lambda: cursor.execute(
        "SELECT count(class_value) FROM hopper.predict_rows('wide_trained', NULL::wide)"))
    cursor.execute("SELECT hopper.create_predict_function('wide_trained', 'guess', 1)")
    part = min(rows, 20_000)
    clock.print("create_predict_function's", part, lambda: cursor.execute(
        f"SELECT count(guess({features})) FROM wide WHERE id <= {part}"))
    cursor.execute("SELECT ARRAY[" + ", ".join(names) + "] FROM wide LIMIT 1")
    row = cursor.fetchone()[0]
    calls(cursor, clock, "nothing, 50 numbers", "unnest($1::real[]) LIMIT 1", row)
    calls(cursor, clock, "predict_row, 50 numbers", "hopper.predict_row('wide_trained', 1, $1::real[])",
          row)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--wide-rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()

    server = connect("postgres").cursor()
    server.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    server.execute(f"CREATE DATABASE {DATABASE}")
    connection = connect(DATABASE)
    cursor = connection.cursor()
    cursor.execute("CREATE EXTENSION model_hopper")
    make_tables(cursor, arguments.rows)
    cursor.execute("CREATE VIEW some_rows AS SELECT id, label, x FROM as_smallint LIMIT 2000")
    cursor.execute("SELECT hopper.training_preprocessor('some_rows', 'packed', 'label', 'x',"
                   " normalizing_const := 255)")
    cursor.execute("SELECT hopper.load_model('models', %s)", [json.dumps(MODEL)])
    cursor.execute("SELECT hopper.fit('packed', 'trained', 'models', 1,"
                   " $$loss='sparse_categorical_crossentropy', optimizer='Adam()',"
                   " metrics=['accuracy']$$, 'batch_size=128', 1)")
    print(f"{arguments.rows} rows, {WIDTH}-{HIDDEN}-{CLASSES}, best of {arguments.repeat}")
    clock = Clock(cursor, arguments.repeat)
    for kind in ("'response'", "'prob'", "3"):
        for table in ("as_bytea", "as_smallint", "as_real"):
            clock.print(f"predict, pred_type {kind}, {table}", arguments.rows, lambda: cursor.execute(
                f"SELECT hopper.predict('trained', '{table}', 'id', 'x', 'predicted', {kind})"),
                lambda: cursor.execute("DROP TABLE IF EXISTS predicted"))
    cursor.execute("SELECT x FROM as_bytea LIMIT 1")
    row = cursor.fetchone()[0]
    calls(cursor, clock, "nothing, an image", "generate_series(1, length($1::bytea)) LIMIT 1", row)
    calls(cursor, clock, "predict_row, an image", "hopper.predict_row('trained', 1, $1::bytea)", row)
    first_call("predict_row", clock.repeat, "SELECT * FROM hopper.predict_row('trained', 1, %s::bytea)", row)
    first_fit(cursor, clock.repeat)
    for what, text in (
            ("predict_rows", "SELECT count(class_value) FROM hopper.predict_rows('trained', NULL::{})"),
            ("predict_rows, all columns", "SELECT (source).*, class_value, prob FROM hopper.predict_rows('trained', NULL::{})"),
            ("predict_row, LATERAL", "SELECT count(class_value) FROM (SELECT * FROM {} LIMIT 5000) AS part, LATERAL"
             " (SELECT * FROM hopper.predict_row('trained', 1, x) LIMIT 1) AS best")):
        for table in ("as_bytea", "as_smallint", "as_real"):
            rows = min(5000, arguments.rows) if "LATERAL" in what else arguments.rows
            clock.print(f"{what}, {table}", rows, lambda: cursor.execute(
                "EXPLAIN (ANALYZE, TIMING off) " + text.format(table)))
    if arguments.wide_rows:
        wide_table(cursor, clock, arguments.wide_rows)
    connection.close()
    server.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")


if __name__ == "__main__":
    main()
