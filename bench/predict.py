#!/usr/bin/env python3
"""Rows a second of hopper.predict() for an MNIST-size network (784-128-10).

    eval "$(scripts/server env BUILD)"
    bench/predict.py [--rows 100000] [--repeat 3]

Works in a database of its own, which it drops at the end. Pixels are random bytes stored as bytea,
smallint[] and real[]; what is timed is the whole call: reading, computing, ranking and writing
the table of predictions. For predict_rows() and predict_row() it is the server's part of a SELECT.
"""

import argparse
import io
import json
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
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
    for kind in ("'response'", "'prob'", "3"):
        for table in ("as_bytea", "as_smallint", "as_real"):
            seconds = []
            for _ in range(arguments.repeat):
                cursor.execute("DROP TABLE IF EXISTS predicted")
                started = time.perf_counter()
                cursor.execute(f"SELECT hopper.predict('trained', '{table}', 'id', 'x',"
                               f" 'predicted', {kind})")
                seconds.append(time.perf_counter() - started)
            print(f"pred_type {kind:<11} {table:<12} {arguments.rows / min(seconds):>10,.0f} rows/s")
    cursor.execute("PREPARE one AS SELECT * FROM hopper.predict_row('trained', 1, $1::bytea)")
    cursor.execute("SELECT x FROM as_bytea LIMIT 1")
    row = cursor.fetchone()[0]
    cursor.execute("EXECUTE one (%s)", [row])
    started = time.perf_counter()
    for _ in range(1000):
        cursor.execute("EXECUTE one (%s)", [row])
    print(f"predict_row      {(time.perf_counter() - started) * 1000:>10,.0f} us a call")
    for what, text in (
            ("predict_rows", "SELECT count(class_value) FROM hopper.predict_rows('trained', NULL::{})"),
            ("predict_rows, all columns", "SELECT (source).*, class_value, prob FROM hopper.predict_rows('trained', NULL::{})"),
            ("predict_row, LATERAL", "SELECT count(class_value) FROM (SELECT * FROM {} LIMIT 5000) AS part, LATERAL"
             " (SELECT * FROM hopper.predict_row('trained', 1, x) LIMIT 1) AS best")):
        for table in ("as_bytea", "as_smallint", "as_real"):
            rows = min(5000, arguments.rows) if "LATERAL" in what else arguments.rows
            seconds = []
            for _ in range(arguments.repeat):
                started = time.perf_counter()
                cursor.execute("EXPLAIN (ANALYZE, TIMING off) " + text.format(table))
                seconds.append(time.perf_counter() - started)
            print(f"{what:<27} {table:<12} {rows / min(seconds):>10,.0f} rows/s")
    connection.close()
    server.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")


if __name__ == "__main__":
    main()
