"""Our side of bench/compare_pytorch: SQL calls to a private server."""

import io
import os
import shlex
import subprocess
import sys
import time

import numpy
import psycopg2

from compare import keras_networks
from compare.workloads import SOURCE, Network

sys.path.insert(0, str(SOURCE / "test" / "e2e"))
from digits import dense, layer, query, sequential  # noqa: E402

DATABASE = "hopper_compare"


def use_server(build):
    """Makes libpq find the private server of a build folder."""
    text = subprocess.run([SOURCE / "scripts" / "server", "env", build], check=True,
                          capture_output=True, text=True).stdout
    for word in shlex.split(text):
        name, equals, value = word.partition("=")
        if equals and name.startswith("PG"):
            os.environ[name] = value


def connect(database):
    connection = psycopg2.connect(dbname=database)
    connection.autocommit = True
    query(connection, "SET client_min_messages = error")
    return connection


def keras_text(layers, shape, classes):
    """The architecture as Keras JSON; its last layer gets the activation that the loss wants."""
    if isinstance(layers, Network):
        return keras_networks.KINDS[layers.kind](shape, **layers.sizes)
    built = []
    for i, (kind, *values) in enumerate(layers):
        name = f"{kind}_{i}"
        if kind == "conv":
            built.append(layer("Conv2D", name, filters=values[0], kernel_size=[3, 3],
                               padding=values[1], activation="relu"))
        elif kind == "pool":
            built.append(layer("MaxPooling2D", name, pool_size=[2, 2]))
        elif kind == "dropout":
            built.append(layer("Dropout", name, rate=values[0]))
        elif kind == "flatten":
            built.append(layer("Flatten", name))
        else:
            last = "softmax" if classes else "sigmoid"
            built.append(dense(name, values[0], values[1] or last))
    return sequential(*built, shape=shape)


def compile_text(config, classes):
    loss = "categorical_crossentropy" if classes else "binary_crossentropy"
    if config.optimizer == "adam":
        optimizer = f"Adam(lr={config.rate})"
    else:
        optimizer = f"SGD(lr={config.rate},momentum={config.momentum})"
    return f"loss='{loss}', optimizer='{optimizer}', metrics=['accuracy']"


def array(row):
    return str(row.tolist()).replace("[", "{").replace("]", "}")


def copy_rows(connection, table, x, y, as_bytes, ids=0):
    """A table (id, x, y): pixels as bytea, numbers as real[]; or (id, numbers, ids, y)."""
    kind = "bytea" if as_bytes else "real[]"
    columns = "numbers real[], ids smallint[]" if ids else f"x {kind}"
    query(connection, f"CREATE TABLE {table} (id integer, {columns}, y integer)")
    text = io.StringIO()
    for i, (row, label) in enumerate(zip(x, y)):
        if as_bytes:
            value = "\\\\x" + row.tobytes().hex()
        elif ids:
            value = array(row[:-ids]) + "\t" + array(row[-ids:].astype(int))
        else:
            value = array(row)
        text.write(f"{i}\t{value}\t{label}\n")
    text.seek(0)
    with connection.cursor() as cursor:
        cursor.copy_expert(f"COPY {table} FROM STDIN", text)


class Ours:
    """A database of our own with one workload's packed tables and configurations."""

    def __init__(self, workload, precision, partitions=None):
        self.workload = workload
        self.precision = precision
        self.partitions = partitions
        self.database = f"{DATABASE}_{workload.name}_{precision}"
        admin = connect("postgres")
        query(admin, f"DROP DATABASE IF EXISTS {self.database} WITH (FORCE)")
        query(admin, f"CREATE DATABASE {self.database}")
        admin.close()
        self.connection = connect(self.database)
        query(self.connection, "CREATE EXTENSION model_hopper")
        self.load()

    def load(self):
        connection, workload = self.connection, self.workload
        as_bytes = workload.train[0].dtype == numpy.uint8
        copy_rows(connection, "train", *workload.train, as_bytes, workload.ids)
        copy_rows(connection, "valid", *workload.valid, as_bytes, workload.ids)
        features = '{"numbers": "numbers", "ids": "ids"}' if workload.ids else "x"
        scale = "" if workload.ids else f" normalizing_const => {workload.scale},"
        query(connection, "VACUUM ANALYZE")
        shape = ", image_shape => ARRAY[" + ",".join(map(str, workload.shape)) + "]" if as_bytes else ""
        start = time.perf_counter()
        query(connection, f"SELECT hopper.training_preprocessor('train', 'packed', 'y', %s,{scale}"
              f" partitions => %s{shape})", features, self.partitions)
        self.seconds_packing = time.perf_counter() - start
        query(connection, "SELECT hopper.validation_preprocessor('valid', 'packed_valid', 'y', %s,"
              " 'packed')", features)
        ids = {}
        for name, layers in workload.architectures.items():
            text = keras_text(layers, workload.shape, workload.classes)
            ids[name] = query(connection, "SELECT hopper.load_model('architectures', %s)", text)[0][0]
        # One row for each configuration: a selection table is made of full products.
        query(connection, "SELECT hopper.load_model_selection_table('architectures', 'configs',"
              " ARRAY[%s], ARRAY[%s], ARRAY[%s])", ids[workload.configs[0].architecture],
              compile_text(workload.configs[0], workload.classes),
              f"batch_size={workload.configs[0].batch}")
        query(connection, "DELETE FROM configs")
        for key, config in enumerate(workload.configs, 1):
            query(connection, "INSERT INTO configs (mst_key, model_id, compile_params, fit_params)"
                  " VALUES (%s, %s, %s, %s)", key, ids[config.architecture],
                  compile_text(config, workload.classes), f"batch_size={config.batch}")

    def warm(self):
        """Makes the session load libtorch, with a little training."""
        self.drop_output()
        query(self.connection, "CREATE TABLE one_config AS SELECT * FROM configs ORDER BY mst_key LIMIT 1")
        query(self.connection, "CREATE TABLE one_config_summary AS SELECT * FROM configs_summary")
        query(self.connection, "SELECT hopper.fit_multiple_model('packed_valid', 'out', 'one_config', 1,"
              " training_metrics => 'running', dtype => %s)", self.precision)
        query(self.connection, "DROP TABLE one_config, one_config_summary")

    def drop_output(self):
        names = query(self.connection, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
                      " AND tablename ~ '^out(_|$)'")
        if names:
            query(self.connection, "DROP TABLE " + ", ".join(name for name, in names))

    def run(self):
        """(seconds of the call, accuracies in the order of the configurations)"""
        self.drop_output()
        start = time.perf_counter()
        query(self.connection, "SELECT hopper.fit_multiple_model('packed', 'out', 'configs', %s,"
              " validation_table => 'packed_valid', metrics_compute_frequency => %s, seed => 1,"
              " training_metrics => 'running', dtype => %s)", self.workload.iterations,
              self.workload.iterations, self.precision)
        seconds = time.perf_counter() - start
        rows = query(self.connection, "SELECT validation_metrics_final FROM out_info ORDER BY mst_key")
        return seconds, [float(value) if value is not None else 0.0 for value, in rows]

    def close(self):
        self.connection.close()
