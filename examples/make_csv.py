"""Writes digits.csv and iris.csv from the copies that scikit-learn ships.

    pip install -r requirements.txt && python make_csv.py
"""

import csv
import pathlib

from sklearn.datasets import load_digits, load_iris

HERE = pathlib.Path(__file__).parent


def array_literal(values):
    """A PostgreSQL array literal of any rank."""
    if hasattr(values, "__len__"):
        return "{" + ",".join(array_literal(value) for value in values) + "}"
    return f"{values:g}"


def write(name, header, rows):
    with open(HERE / name, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def main():
    digits = load_digits()
    write("digits.csv", ("id", "label", "pixels"),
          ((number, label, array_literal(image))
           for number, (image, label) in enumerate(zip(digits.images, digits.target), 1)))
    iris = load_iris()
    write("iris.csv", ("id", "attributes", "class_text"),
          ((number, array_literal(row), "Iris-" + iris.target_names[label])
           for number, (row, label) in enumerate(zip(iris.data, iris.target), 1)))


if __name__ == "__main__":
    main()
