#!/usr/bin/env python3
"""Seconds and memory that packing 50,000 CIFAR-10 images takes.

  eval "$(scripts/server env BUILD)"; bench/pack_cifar.py [--data FOLDER] [--rows N] [--runs N]

Loads the images as (id, x bytea, y text), then packs them with the default settings and prints a
line for each run: seconds, and by how much the backend's private memory rose at its peak. FOLDER
holds cifar10.py with load(split, rows); without it the images are random bytes of the same size.
Needs numpy and psycopg2, and Pillow for the real images. The server is found through PGHOST etc.
"""

import argparse
import io
import pathlib
import sys
import threading
import time

import numpy as np
import psycopg2

DEFAULT_DATA = pathlib.Path(__file__).resolve().parents[2] / "shared" / "data"


def images(folder, rows):
    """Images (rows, 32, 32, 3), labels and the names of the ten classes."""
    if folder and (folder / "cifar10.py").exists():
        sys.path.insert(0, str(folder))
        from cifar10 import load

        x, y, names = load("train", rows)
        return x, y, names, "CIFAR-10"
    random = np.random.default_rng(0)
    x = random.integers(0, 256, (rows, 32, 32, 3), np.uint8)
    return x, random.integers(0, 10, rows), [f"class {i}" for i in range(10)], "random images"


def load_table(connection, table, x, y, names):
    """A table (id, x bytea, y text) with one image a row."""
    text = io.StringIO()
    for i in range(len(x)):
        text.write(f"{i}\t\\\\x{x[i].tobytes().hex()}\t{names[y[i]]}\n")
    text.seek(0)
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {table}")
        cursor.execute(f"CREATE TABLE {table} (id int PRIMARY KEY, x bytea, y text)")
        cursor.copy_expert(f"COPY {table} FROM STDIN", text)


class PrivateMemory:
    """Peak of a process' private memory (RssAnon) in MB, sampled while the block runs."""

    def __init__(self, pid):
        self.status = pathlib.Path(f"/proc/{pid}/status")
        self.start = self.peak = self.sample()
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def sample(self):
        for line in self.status.read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) / 1024
        raise RuntimeError(f"{self.status} has no RssAnon")

    def watch(self):
        while not self.stopped.wait(0.002):
            self.peak = max(self.peak, self.sample())

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()


def pack(connection, table, output, **arguments):
    """Packs; returns (seconds, rise of private memory in MB)."""
    extra = "".join(f", {name} := {value}" for name, value in arguments.items())
    with connection.cursor() as cursor:
        for suffix in ("", "_summary", "_validation", "_validation_summary"):
            cursor.execute(f"DROP TABLE IF EXISTS {output}{suffix}")
        cursor.execute("SELECT pg_backend_pid()")
        with PrivateMemory(cursor.fetchone()[0]) as memory:
            start = time.perf_counter()
            cursor.execute(
                f"SELECT hopper.training_preprocessor('{table}', '{output}', 'y', 'x', "
                f"normalizing_const := 255, image_shape := ARRAY[32, 32, 3]{extra})"
            )
            seconds = time.perf_counter() - start
    return seconds, memory.peak - memory.start


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=pathlib.Path, default=DEFAULT_DATA)
    parser.add_argument("--rows", type=int, default=50000)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    x, y, names, what = images(arguments.data, arguments.rows)
    connection = psycopg2.connect("")
    connection.autocommit = True
    load_table(connection, "pack_cifar", x, y, names)
    with connection.cursor() as cursor:
        cursor.execute("SELECT version()")
        print(cursor.fetchone()[0])
    print(f"{len(x)} {what}, {x.nbytes / 1e6:.0f} MB")
    for run in range(arguments.runs):
        seconds, rise = pack(connection, "pack_cifar", "pack_cifar_packed")
        print(f"run {run + 1}: {seconds:.2f} s, private memory rose by {rise:.0f} MB")
    with connection.cursor() as cursor:
        for suffix in ("", "_packed", "_packed_summary"):
            cursor.execute(f"DROP TABLE pack_cifar{suffix}")


if __name__ == "__main__":
    main()
