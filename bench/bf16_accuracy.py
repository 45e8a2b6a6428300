#!/usr/bin/env python3
"""Accuracy of a CIFAR-10 network trained in bf16 beside the same in fp32.

    eval "$(scripts/server env BUILD)"
    bench/bf16_accuracy.py [--data FOLDER] [--rows 10000] [--iterations 10] [--seeds 4] [--threads N]

The network is the CNN of Keras' CIFAR-10 example (32-32-pool-64-64-pool-512 with dropout, 1.25
million weights), trained by Adam with batches of 64. Each seed is trained in both precisions on the
same images; accuracies are those on the 10,000 test images after the last iteration. FOLDER holds
cifar10.py with load(split, rows). Works in a database of its own, which it drops at the end. Needs
numpy, psycopg2 and Pillow.
"""

import argparse
import json
import pathlib
import statistics
import sys

import psycopg2

from pack_cifar import DEFAULT_DATA, load_table

DATABASE = "hopper_bench_bf16"


def layer(kind, name, **attributes):
    return {"class_name": kind, "config": {"name": name, **attributes}}


def conv(name, filters, padding, **attributes):
    return layer("Conv2D", name, filters=filters, kernel_size=[3, 3], padding=padding,
                 activation="relu", **attributes)


NETWORK = {"class_name": "Sequential", "config": {"name": "cifar10_cnn", "layers": [
    conv("c1", 32, "same", batch_input_shape=[None, 32, 32, 3]), conv("c2", 32, "valid"),
    layer("MaxPooling2D", "p1", pool_size=[2, 2]), layer("Dropout", "d1", rate=0.25),
    conv("c3", 64, "same"), conv("c4", 64, "valid"),
    layer("MaxPooling2D", "p2", pool_size=[2, 2]), layer("Dropout", "d2", rate=0.25),
    layer("Flatten", "flat"), layer("Dense", "f1", units=512, activation="relu"),
    layer("Dropout", "d3", rate=0.5), layer("Dense", "f2", units=10, activation="softmax")]},
    "keras_version": "2.4.0", "backend": "tensorflow"}


def connect(database):
    connection = psycopg2.connect(dbname=database)
    connection.autocommit = True
    return connection


def prepare(cursor, connection, arguments):
    sys.path.insert(0, str(arguments.data))
    from cifar10 import load

    for split, table, rows in (("train", "train", arguments.rows), ("test", "test", None)):
        x, y, names = load(split, rows)
        load_table(connection, table, x, y, names)
    cursor.execute("SELECT hopper.training_preprocessor('train', 'packed', 'y', 'x',"
                   " normalizing_const => 255, image_shape => ARRAY[32, 32, 3])")
    cursor.execute("SELECT hopper.validation_preprocessor('test', 'packed_test', 'y', 'x', 'packed')")
    cursor.execute("SELECT hopper.load_model('models', %s)", [json.dumps(NETWORK)])
    cursor.execute("SELECT hopper.load_model_selection_table('models', 'configs', ARRAY[1],"
                   " ARRAY[$$loss='categorical_crossentropy', optimizer='Adam(lr=0.001)',"
                   " metrics=['accuracy']$$], %s)",
                   [[f"batch_size=64, seed={seed + 1}" for seed in range(arguments.seeds)]])


def train(cursor, arguments, precision):
    """Test accuracies by seed, training accuracies while training, and busy seconds of all."""
    cursor.execute(
        f"SELECT hopper.fit_multiple_model('packed', '{precision}', 'configs', %s,"
        f" validation_table => 'packed_test', metrics_compute_frequency => %s,"
        f" training_metrics => 'running', threads => %s, dtype => '{precision}')",
        [arguments.iterations, arguments.iterations, arguments.threads])
    cursor.execute("SELECT validation_metrics_final * 100, training_metrics[cardinality("
                   f"training_metrics)] * 100, seconds_training FROM {precision}_info ORDER BY mst_key")
    return list(zip(*cursor.fetchall()))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=DEFAULT_DATA)
    parser.add_argument("--rows", type=int, default=10000)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--threads", type=int, default=None)
    arguments = parser.parse_args()

    server = connect("postgres").cursor()
    server.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    server.execute(f"CREATE DATABASE {DATABASE}")
    connection = connect(DATABASE)
    cursor = connection.cursor()
    cursor.execute("CREATE EXTENSION model_hopper")
    prepare(cursor, connection, arguments)
    results = {precision: train(cursor, arguments, precision) for precision in ("fp32", "bf16")}
    cursor.execute("SELECT numerics_class FROM bf16_summary")
    print(f"{arguments.rows} images, {arguments.iterations} iterations, {cursor.fetchone()[0]}")
    print("seed  test accuracy fp32    bf16   difference | training accuracy fp32    bf16")
    (fp32, fp32_train, _), (bf16, bf16_train, _) = results["fp32"], results["bf16"]
    for seed, row in enumerate(zip(fp32, bf16, fp32_train, bf16_train), 1):
        print(f"{seed:>4}  {row[0]:>18.2f}  {row[1]:>6.2f}  {row[1] - row[0]:>11.2f} |"
              f" {row[2]:>22.2f}  {row[3]:>6.2f}")
    differences = [b - a for a, b in zip(fp32, bf16)]
    print(f"mean  {statistics.mean(fp32):>18.2f}  {statistics.mean(bf16):>6.2f}"
          f"  {statistics.mean(differences):>11.2f} |"
          f" {statistics.mean(fp32_train):>22.2f}  {statistics.mean(bf16_train):>6.2f}")
    if len(differences) > 1:
        error = statistics.stdev(differences) / len(differences) ** 0.5
        print(f"standard error of the mean difference {error:.2f}")
    print(f"seconds of training: fp32 {sum(results['fp32'][2]):.0f},"
          f" bf16 {sum(results['bf16'][2]):.0f}")
    connection.close()
    server.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")


if __name__ == "__main__":
    main()
