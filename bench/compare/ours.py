"""Our side of bench/compare_pytorch: SQL calls to a private server."""

import io
import json
import os
import pathlib
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


LOSSES = {"class": "categorical_crossentropy", "tags": "categorical_crossentropy",
          "binary": "binary_crossentropy", "mask": "binary_crossentropy", "numbers": "mse"}
LAST = {"class": "softmax", "binary": "sigmoid", "numbers": "linear"}


def processor_seconds(pid):
    """CPU time of a process so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def keras_text(layers, shape, task):
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
            built.append(dense(name, values[0], values[1] or LAST[task]))
    return sequential(*built, shape=shape)


def compile_text(config, task):
    if config.optimizer == "adam":
        optimizer = f"Adam(lr={config.rate})"
    else:
        optimizer = f"SGD(lr={config.rate},momentum={config.momentum})"
    metric = "mse" if task == "numbers" else "accuracy"
    return f"loss='{LOSSES[task]}', optimizer='{optimizer}', metrics=['{metric}']"


def array(row):
    return str(row.tolist()).replace("[", "{").replace("]", "}")


ARRAYS = {"float32": "real[]", "float64": "real[]", "int16": "smallint[]", "int32": "integer[]"}


def columns_of(x, inputs):
    """Features as columns (name, SQL type, a text of each row): pixels as bytea, numbers as arrays,
    those of several inputs in a column each, of integers if its name is that of ids."""
    if not inputs:
        if x.dtype == numpy.uint8:
            return [("x", "bytea", ["\\\\x" + row.tobytes().hex() for row in x])]
        inputs = {"x": x.shape[1]}
    columns = []
    at = 0
    for name, width in inputs.items():
        part = x[:, at:at + width] if len(inputs) > 1 else x
        at += width
        if name == "ids":
            part = part.astype(numpy.int16)
        columns.append((name, ARRAYS[part.dtype.name], [array(row) for row in part]))
    return columns


def copy_rows(connection, table, x, y, inputs):
    """A table (id, the features' columns, y): y is an integer or an array."""
    columns = columns_of(x, inputs)
    kind = ARRAYS[y.dtype.name] if y.ndim > 1 else "integer"
    query(connection, f"CREATE TABLE {table} (id integer, "
          + ", ".join(f"{name} {own}" for name, own, _ in columns) + f", y {kind})")
    text = io.StringIO()
    for i, (label, *values) in enumerate(zip(y, *(texts for _, _, texts in columns))):
        text.write("\t".join([str(i), *values, array(label) if y.ndim > 1 else str(label)]) + "\n")
    text.seek(0)
    with connection.cursor() as cursor:
        cursor.copy_expert(f"COPY {table} FROM STDIN", text)


class Ours:
    """A database of our own with one workload's packed tables and configurations."""

    def __init__(self, workload, precision, partitions=None, purpose="train"):
        self.workload = workload
        self.precision = precision
        self.partitions = partitions
        self.database = f"{DATABASE}_{purpose}_{workload.name}_{precision}"
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
        copy_rows(connection, "train", *workload.train, workload.inputs)
        copy_rows(connection, "valid", *workload.valid, workload.inputs)
        features = json.dumps({name: name for name in workload.inputs}) if workload.inputs else "x"
        scale = f" normalizing_const => {workload.scale}," if workload.scale != 1 else ""
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
            text = keras_text(layers, workload.shape, workload.task)
            ids[name] = query(connection, "SELECT hopper.load_model('architectures', %s)", text)[0][0]
        # One row for each configuration: a selection table is made of full products.
        query(connection, "SELECT hopper.load_model_selection_table('architectures', 'configs',"
              " ARRAY[%s], ARRAY[%s], ARRAY[%s])", ids[workload.configs[0].architecture],
              compile_text(workload.configs[0], workload.task),
              f"batch_size={workload.configs[0].batch}")
        query(connection, "DELETE FROM configs")
        for key, config in enumerate(workload.configs, 1):
            query(connection, "INSERT INTO configs (mst_key, model_id, compile_params, fit_params)"
                  " VALUES (%s, %s, %s, %s)", key, ids[config.architecture],
                  compile_text(config, workload.task), f"batch_size={config.batch}")

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
        """(seconds of the call, accuracies in the order of the configurations)

        Of numbers, 1 less the mean squared error."""
        self.drop_output()
        start = time.perf_counter()
        query(self.connection, "SELECT hopper.fit_multiple_model('packed', 'out', 'configs', %s,"
              " validation_table => 'packed_valid', metrics_compute_frequency => %s, seed => 1,"
              " training_metrics => 'running', dtype => %s)", self.workload.iterations,
              self.workload.iterations, self.precision)
        seconds = time.perf_counter() - start
        rows = query(self.connection, "SELECT validation_metrics_final FROM out_info ORDER BY mst_key")
        found = [float(value) if value is not None else 0.0 for value, in rows]
        return seconds, [1 - value for value in found] if self.workload.task == "numbers" else found

    def processor_seconds(self):
        return processor_seconds(query(self.connection, "SELECT pg_backend_pid()")[0][0])

    def close(self):
        self.connection.close()
