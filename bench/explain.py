#!/usr/bin/env python3
"""How far explain_fit() is off: seconds that it predicts for a run, and that the run takes.

    eval "$(scripts/server env BUILD)"
    bench/explain.py [--repeat 3] [--threads 1]

Works in a database of its own, which it drops at the end. Prints the shortest of the repetitions,
because what runs beside makes both longer, and their ratio, for networks of several sizes.
"""

import argparse
import json

import psycopg2

DATABASE = "hopper_bench_explain"
WIDTH, CLASSES, ROWS = 20, 3, 8000
COMPILE = "loss='sparse_categorical_crossentropy', optimizer='Adam(lr=0.01)'"


def network(units):
    layers = [{"class_name": "Dense", "config": {"name": "hidden", "batch_input_shape": [None, WIDTH], "units": units,
                                                 "activation": "relu"}},
              {"class_name": "Dense", "config": {"name": "output", "units": CLASSES, "activation": "softmax"}}]
    return json.dumps({"class_name": "Sequential", "config": {"name": f"mlp_{units}", "layers": layers}})


def connect(database):
    connection = psycopg2.connect(dbname=database)
    connection.autocommit = True
    return connection


def value(cursor, sql, *arguments):
    cursor.execute(sql, arguments)
    return cursor.fetchone()[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    admin = connect("postgres")
    with admin.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        cursor.execute(f"CREATE DATABASE {DATABASE}")
    session = connect(DATABASE)
    with session.cursor() as cursor:
        cursor.execute("CREATE EXTENSION model_hopper")
        cursor.execute(f"CREATE TABLE points AS SELECT i AS id, i % {CLASSES} AS y, ARRAY(SELECT random()::real FROM"
                       f" generate_series(1, {WIDTH}) WHERE i > 0) AS x FROM generate_series(1, {ROWS}) AS i")
        cursor.execute("SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x')")
        for units in (16, 128, 1024):
            name = f"n{units}"
            value(cursor, "SELECT hopper.load_model(%s, %s)", f"{name}_models", network(units))
            value(cursor, "SELECT hopper.load_model_selection_table(%s, %s, ARRAY[1], ARRAY[%s], ARRAY['batch_size=16'])",
                  f"{name}_models", f"{name}_configs", COMPILE)
            predicted, measured = [], []
            for attempt in range(options.repeat):
                predicted.append(value(cursor, "SELECT predicted FROM hopper.explain_fit('packed', NULL, %s, 4,"
                                       " threads => %s) WHERE item = 'duration'", f"{name}_configs", options.threads))
                cursor.execute("SELECT * FROM hopper.fit_multiple_model('packed', %s, %s, 4, threads => %s)",
                               (f"{name}_out_{attempt}", f"{name}_configs", options.threads))
                measured.append(value(cursor, "SELECT measured FROM hopper.explain_fit(model_table => %s,"
                                      " measure => true) WHERE item = 'duration'", f"{name}_out_{attempt}"))
            print(f"{units:5d} units: predicted {min(predicted):.2f} s, measured {min(measured):.2f} s,"
                  f" ratio {min(predicted) / min(measured):.2f}")
    session.close()
    with admin.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")


if __name__ == "__main__":
    main()
