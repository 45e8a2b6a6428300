#!/usr/bin/env python3
"""Writes keras_outputs.json; see keras_table.py.

A wide and deep model of a table, with two inputs and three outputs: 20 steps of fit() with SGD on
all rows at once, with and without weights of the rows; the loss of each step, the weights
afterwards, and what evaluate() then says.
"""

import json
import os

from keras_table import FOLDER, fill_weights, keras, np, seed_of

from keras import layers as L

STEPS, ROWS = 20, 48


def wide_and_deep():
    wide = keras.Input((3,), name="wide")
    deep = keras.Input((2,), name="deep")
    x = L.Dense(6, activation="relu")(deep)
    x = L.Concatenate()([wide, x])
    outputs = [L.Dense(1, name="price")(x), L.Dense(3, activation="softmax", name="grade")(x),
               L.Dense(2, activation="sigmoid", name="tags")(x)]
    return keras.Model([wide, deep], outputs)


def rows():
    rng = np.random.default_rng(seed_of("outputs"))
    wide = rng.normal(size=(ROWS, 3)).astype(np.float32)
    deep = rng.normal(size=(ROWS, 2)).astype(np.float32)
    price = (wide.sum(1) + 0.1 * rng.normal(size=ROWS)).astype(np.float32)
    grade = rng.integers(0, 3, size=ROWS)
    tags = rng.integers(0, 2, size=(ROWS, 2)).astype(np.float32)
    weight = rng.choice([0.0, 0.5, 1.0, 2.5], size=ROWS).astype(np.float32)
    return wide, deep, price, grade, tags, weight


if __name__ == "__main__":
    wide, deep, price, grade, tags, weight = rows()
    y = [price, np.eye(3, dtype=np.float32)[grade], tags]
    out = {"rows": {name: value.tolist() for name, value in zip(
        ("wide", "deep", "price", "grade", "tags", "weight"),
        (wide, deep, price, grade, tags, weight))}, "runs": {}}
    for name, sample_weight in (("plain", None), ("weighted", weight)):
        model = wide_and_deep()
        fill_weights(model, seed_of("outputs"))
        out["architecture"] = model.to_json()
        before = model.get_weights()
        model.compile(keras.optimizers.SGD(0.05), run_eagerly=True,
                      loss={"price": "mse", "grade": "categorical_crossentropy",
                            "tags": "binary_crossentropy"},
                      loss_weights={"price": 0.5, "grade": 2.0, "tags": 1.0},
                      metrics={"price": ["mae"], "grade": ["accuracy"], "tags": ["auc"]},
                      weighted_metrics={"price": ["mae"], "grade": ["accuracy"]})
        losses = model.fit([wide, deep], y, batch_size=ROWS, epochs=STEPS, shuffle=False, verbose=0,
                           sample_weight=sample_weight).history
        scores = model.evaluate([wide, deep], y, batch_size=ROWS, verbose=0, return_dict=True,
                                sample_weight=sample_weight)
        out["weights"] = [w.flatten().tolist() for w in before]
        out["runs"][name] = {"losses": losses["loss"], "evaluated": scores,
                             "weights_after": [w.flatten().tolist() for w in model.get_weights()]}
        print(name, scores)
    with open(os.path.join(FOLDER, "keras_outputs.json"), "w", encoding="ascii") as file:
        json.dump(out, file, separators=(",", ":"))
        file.write("\n")
