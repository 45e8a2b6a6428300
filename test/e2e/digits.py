"""A database with scikit-learn's digits, packed, and small networks to train on them."""

import csv
import json
import os
import pathlib
import re
import time

import psycopg2

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CSV = SOURCE / "examples" / "digits.csv"


def connect(database, driver=psycopg2):
    connection = driver.connect(dbname=database)
    connection.autocommit = True
    return connection


# scripts/test-greenplum runs some of these tests on a cluster, whose SQL may be that of PostgreSQL 9.4.
GREENPLUM = os.environ.get("HOPPER_SERVER") == "greenplum"


def query(connection, text, *arguments):
    if GREENPLUM:
        text = text.replace(" => ", " := ").replace(" WITH (FORCE)", "")
    with connection.cursor() as cursor:
        cursor.execute(text, arguments or None)
        return cursor.fetchall() if cursor.description else None


def value(connection, text, *arguments):
    rows = query(connection, text, *arguments)
    assert len(rows) == 1
    return rows[0][0]


def dense(name, units, activation, **more):
    return {"class_name": "Dense",
            "config": {"name": name, "units": units, "activation": activation, **more}}


def layer(class_name, name, **more):
    return {"class_name": class_name, "config": {"name": name, **more}}


def sequential(*layers, shape=(8, 8)):
    layers = json.loads(json.dumps(layers))
    layers[0]["config"]["batch_input_shape"] = [None, *shape]
    return json.dumps({"class_name": "Sequential", "keras_version": "2.4.0",
                       "backend": "tensorflow", "config": {"name": "small", "layers": layers}})


PLAIN = sequential(layer("Flatten", "flatten"), dense("hidden", 32, "relu"),
                   dense("output", 10, "softmax"))
# Everything that has a state or draws random numbers.
LIVELY = sequential(layer("Flatten", "flatten"), dense("hidden", 24, "relu"),
                    layer("BatchNormalization", "norm"), layer("Dropout", "dropout", rate=0.3),
                    dense("output", 10, "softmax"))
ADAM = "loss='categorical_crossentropy', optimizer='Adam(lr=0.01)', metrics=['accuracy']"


def drop_database(database):
    admin = connect("postgres")
    query(admin, "SET client_min_messages = warning")
    query(admin, f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')
    admin.close()


def create_database(database):
    """Tables digits, packed, packed_validation; architectures 1 (PLAIN) and 2 (LIVELY)."""
    drop_database(database)
    admin = connect("postgres")
    query(admin, f'CREATE DATABASE "{database}"')
    admin.close()
    connection = connect(database)
    query(connection, "CREATE EXTENSION model_hopper")
    query(connection, "CREATE TABLE digits (id integer PRIMARY KEY, label integer, pixels smallint[])")
    with connection.cursor() as cursor, open(CSV, encoding="ascii") as file:
        cursor.copy_expert("COPY digits FROM STDIN CSV HEADER", file)
    query(connection, "SELECT hopper.training_preprocessor('digits', 'packed', 'label', 'pixels',"
          " normalizing_const => 16, validation_fraction => 0.2, buffer_size => 100)")
    for model in (PLAIN, LIVELY):
        query(connection, "SELECT hopper.load_model('architectures', %s)", model)
    return connection


def select(connection, table, rows):
    """A selection table from (mst_key, model_id, compile_params, fit_params)."""
    query(connection, f"CREATE TABLE {table} (mst_key integer, model_id integer,"
          " compile_params text, fit_params text)")
    query(connection, f"CREATE TABLE {table}_summary AS SELECT 'architectures'::text AS"
          " model_arch_table, NULL::text AS object_table")
    for row in rows:
        query(connection, f"INSERT INTO {table} VALUES (%s, %s, %s, %s)", *row)


def outputs(connection, pattern="%"):
    return [row[0] for row in query(
        connection, "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace NOT IN"
        " (SELECT oid FROM pg_namespace WHERE nspname IN ('pg_catalog', 'information_schema',"
        " 'pg_toast')) AND relname LIKE %s ORDER BY 1", pattern)]


def pid(connection):
    return value(connection, "SELECT pg_backend_pid()")


def threads(process):
    """How many go on: one that ended and was waited for may stand in /proc a moment longer."""
    last, same = None, 0
    for _ in range(100):
        now = len(list(pathlib.Path(f"/proc/{process}/task").iterdir()))
        last, same = now, same + 1 if now == last else 1
        if same == 3:
            break
        time.sleep(0.01)
    return last


def cpu_seconds(process):
    """What its threads have computed: unlike the clock it does not run while others have the machine."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.002)


def read_digits():
    """ids, labels and pixels as lists."""
    with open(CSV, encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    return ([int(row["id"]) for row in rows], [int(row["label"]) for row in rows],
            [json.loads(row["pixels"].replace("{", "[").replace("}", "]")) for row in rows])


def seconds_of(words):
    """Of "3 min 5 s" and the like."""
    units = {"h": 3600, "min": 60, "s": 1}
    return sum(float(n) * units[unit] for n, unit in re.findall(r"([0-9.]+) (h|min|s)", words))
