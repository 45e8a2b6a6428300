#!/usr/bin/env python3
"""Training on a Greenplum cluster against training on PostgreSQL, on the same machine.

HOPPER_GREENPLUM and HOPPER_POSTGRES are libpq connection strings to servers with the extension's
files. Prints seconds of fit_multiple_model() for two workloads, and milliseconds of a hop without
training, for states of several sizes.
"""

import json
import os
import pathlib
import sys

import psycopg2

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SOURCE / "test" / "e2e"))

from digits import dense, layer, sequential  # noqa: E402

DATABASE = "hopper_bench"


def connect(server):
    admin = psycopg2.connect(os.environ[server], dbname="postgres")
    admin.autocommit = True
    with admin.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        cursor.execute(f"CREATE DATABASE {DATABASE}")
    admin.close()
    connection = psycopg2.connect(os.environ[server], dbname=DATABASE)
    connection.autocommit = True
    run(connection, "SET client_min_messages = warning")
    run(connection, "CREATE EXTENSION model_hopper")
    return connection


def run(connection, text, *arguments):
    with connection.cursor() as cursor:
        cursor.execute(text, arguments or None)
        return cursor.fetchall() if cursor.description else None


def fill(connection):
    run(connection, "CREATE TABLE iris (id integer, x real[], label text)")
    run(connection, "CREATE TABLE digits (id integer, label integer, pixels smallint[])")
    with connection.cursor() as cursor:
        for table in ("iris", "digits"):
            with open(SOURCE / "examples" / f"{table}.csv", encoding="ascii") as file:
                cursor.copy_expert(f"COPY {table} FROM STDIN CSV HEADER", file)
    run(connection, "SELECT hopper.training_preprocessor('iris', 'iris_packed', 'label', 'x',"
        " partitions := 3)")
    run(connection, "SELECT hopper.training_preprocessor('digits', 'digits_packed', 'label',"
        " 'pixels', normalizing_const := 16, partitions := 3)")


def select(connection, name, architectures, compile_params, fit_params):
    ids = [run(connection, f"SELECT hopper.load_model('{name}_arch', %s)", text)[0][0]
           for text in architectures]
    run(connection, f"SELECT hopper.load_model_selection_table('{name}_arch', '{name}', %s, %s, %s)",
        ids, compile_params, fit_params)


def seconds(connection, data, configs, iterations, more=""):
    run(connection, "DROP TABLE IF EXISTS out, out_info, out_state, out_summary")
    return run(connection, f"SELECT seconds FROM hopper.fit_multiple_model('{data}', 'out',"
               f" '{configs}', {iterations}{more})")[0][0]


def mlp(hidden, shape, classes):
    return sequential(*[dense(f"dense_{i}", n, "relu") for i, n in enumerate(hidden)],
                      dense("output", classes, "softmax"), shape=shape)


def cnn():
    convolution = {"kernel_size": [3, 3], "padding": "same", "activation": "relu"}
    return sequential(layer("Reshape", "image", target_shape=[8, 8, 1]),
                      layer("Conv2D", "conv_1", filters=16, **convolution),
                      layer("Conv2D", "conv_2", filters=32, **convolution),
                      layer("MaxPooling2D", "pool", pool_size=[2, 2]), layer("Flatten", "flat"),
                      dense("hidden", 64, "relu"), dense("output", 10, "softmax"))


def main():
    loss = "loss='categorical_crossentropy', metrics=['accuracy'], optimizer="
    servers = {"greenplum": "HOPPER_GREENPLUM", "postgres": "HOPPER_POSTGRES"}
    for name, server in servers.items():
        connection = connect(server)
        fill(connection)
        select(connection, "iris_configs", [mlp([10, 10], (4,), 3), mlp([10, 10, 10], (4,), 3)],
               [loss + f"'Adam(lr={rate})'" for rate in (0.1, 0.01, 0.001)],
               ["batch_size=4", "batch_size=8"])
        select(connection, "digits_configs", [cnn()],
               [loss + f"'Adam(lr={rate})'" for rate in (0.001, 0.003)],
               [f"batch_size={n}" for n in (16, 32, 64, 128)])
        found = {"iris, 12 MLPs x 10": seconds(connection, "iris_packed", "iris_configs", 10),
                 "digits, 8 CNNs x 5": seconds(connection, "digits_packed", "digits_configs", 5)}
        for text, value in found.items():
            print(json.dumps({"server": name, "workload": text, "seconds": round(value, 2)}),
                  flush=True)
        if name == "greenplum":
            # SGD without momentum: the state is the weights. A batch a partition: little training.
            for width, iterations in ((1, 50), (1200, 20), (5000, 5)):
                table = f"hop_{width}"
                select(connection, table, [mlp([width, width], (4,), 3)],
                       ["loss='categorical_crossentropy', optimizer='SGD(lr=0.01)'"],
                       ["batch_size=64"])
                wall = seconds(connection, "iris_packed", table, iterations,
                               ", training_metrics := 'running'")
                training, size = run(connection, "SELECT i.seconds_training, (SELECT"
                                     " sum(length(state)) FROM out_state) FROM out_info i")[0]
                hops = 3 * iterations + 1
                print(json.dumps({"state_bytes": int(size), "hops": hops, "ms_a_hop":
                                  round((wall - training) / hops * 1000, 1)}), flush=True)
        connection.close()


if __name__ == "__main__":
    main()
