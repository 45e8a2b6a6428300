#!/usr/bin/env python3
"""Rows of a data set of search_quality as CSV: id, y, x (an array literal).

  bench/search_quality/data.py digits|segments|cifar [--river FOLDER] [--cifar FOLDER]

digits: examples/digits.csv. segments: the UCI image segmentation data (2,310 outdoor image regions,
18 numbers each, 7 classes) as the Python package river ships it; FOLDER holds river's wheel
(pip download --no-deps river). cifar: the first 4,000 images of CIFAR-10, each 4 x 4 pixels
averaged; FOLDER holds cifar10.py with load(split, rows). Columns of segments are standardized.
"""

import argparse
import csv
import io
import pathlib
import random
import statistics
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve()


def digits(_):
    with open(HERE.parents[2] / "examples" / "digits.csv", newline="") as file:
        return [(row["label"], row["pixels"]) for row in csv.DictReader(file)]


def segments(options):
    wheel = next(pathlib.Path(options.river).glob("river-*.whl"))
    packed = zipfile.ZipFile(wheel).read("river/datasets/segment.csv.zip")
    inner = zipfile.ZipFile(io.BytesIO(packed))
    rows = list(csv.reader(io.TextIOWrapper(inner.open(inner.namelist()[0]))))[1:]
    columns = [[float(row[c]) for row in rows] for c in range(18)]
    scaled = []
    for column in columns:
        mean, deviation = statistics.fmean(column), statistics.pstdev(column) or 1.0
        scaled.append([(value - mean) / deviation for value in column])
    return [
        (row[18], "{" + ",".join(f"{scaled[c][i]:.6g}" for c in range(18)) + "}")
        for i, row in enumerate(rows)
    ]


def literal(array):
    if isinstance(array, list):
        return "{" + ",".join(literal(item) for item in array) + "}"
    return str(array)


def cifar(options):
    sys.path.insert(0, options.cifar)
    from cifar10 import load

    x, y, names = load("train", 4000)
    small = x.reshape(len(x), 8, 4, 8, 4, 3).mean(axis=(2, 4)).round().astype(int)
    return [(names[y[i]], literal(small[i].tolist())) for i in range(len(x))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", choices=["digits", "segments", "cifar"])
    parser.add_argument("--river", default=".")
    parser.add_argument("--cifar", default=str(HERE.parents[3] / "shared" / "data"))
    options = parser.parse_args()
    rows = {"digits": digits, "segments": segments, "cifar": cifar}[options.data](options)
    # The first rows are trained on, in an order that has nothing to do with their classes.
    random.Random(1).shuffle(rows)
    writer = csv.writer(sys.stdout)
    writer.writerows((i + 1, y, x) for i, (y, x) in enumerate(rows))


if __name__ == "__main__":
    main()
