#!/usr/bin/env python3
"""Writes keras_tagging.json; see keras_table.py.

Models with a label at each step of which not all steps count: 12 steps of fit() with SGD on all rows at once,
with and without weights of the rows; the loss of each step, the weights afterwards, and what evaluate() then says.
"""

import json
import os

from keras_table import FOLDER, fill_weights, keras, np, seed_of

from keras import layers as L

STEPS, ROWS, TIME, WORDS, TAGS = 12, 20, 6, 9, 3


def tagger(mask_zero):
    return keras.Sequential([
        keras.Input((TIME,)), L.Embedding(WORDS, 4, mask_zero=mask_zero),
        L.Bidirectional(L.LSTM(3, return_sequences=True)), L.TimeDistributed(L.Dense(TAGS, activation="softmax"))])


def series(units, activation):
    return keras.Sequential([keras.Input((TIME, 2)), L.Masking(0.0), L.GRU(3, return_sequences=True),
                             L.Dense(units, activation=activation)])


def rows():
    rng = np.random.default_rng(seed_of("tagging"))
    lengths = [0, TIME, *rng.integers(1, TIME + 1, size=ROWS - 2)]
    inside = np.arange(TIME)[None, :] < np.array(lengths)[:, None]
    words = rng.integers(1, WORDS, size=(ROWS, TIME)) * inside
    signal = rng.normal(size=(ROWS, TIME, 2)).astype(np.float32) * inside[:, :, None]
    return {"words": words, "signal": signal, "tags": rng.integers(0, TAGS, size=(ROWS, TIME)),
            "several": rng.integers(0, 2, size=(ROWS, TIME, 2)),
            "numbers": rng.normal(size=(ROWS, TIME, 1)).astype(np.float32),
            "kind": np.arange(ROWS) % TAGS,
            "weight": rng.choice([0.0, 0.5, 1.0, 2.5], size=ROWS).astype(np.float32)}


def cases():
    """name, model, features, labels, loss, metrics"""
    sparse = "sparse_categorical_crossentropy"
    yield "mask", tagger(True), "words", "tags", sparse, ["accuracy", sparse]
    ignoring = keras.losses.SparseCategoricalCrossentropy(ignore_class=1)
    yield "ignored", tagger(False), "words", "tags", ignoring, ["accuracy"]
    yield "both", tagger(True), "words", "tags", ignoring, ["accuracy"]
    yield "several", series(2, "sigmoid"), "signal", "several", "binary_crossentropy", ["binary_accuracy", "auc"]
    yield "numbers", series(1, None), "signal", "numbers", "mse", ["mae"]
    one = keras.Sequential([keras.Input((TIME, 2)), L.Flatten(), L.Dense(TAGS, activation="softmax")])
    yield "rows", one, "signal", "kind", ignoring, ["accuracy"]


if __name__ == "__main__":
    data = rows()
    out = {"rows": {name: value.tolist() for name, value in data.items()}, "runs": {}}
    for name, model, x, y, loss, metrics in cases():
        fill_weights(model, seed_of("tagging"))
        before = [w.flatten().tolist() for w in model.get_weights()]
        run = {"architecture": model.to_json(), "weights": before, "x": x, "y": y}
        # Beside a mask Keras wants an axis for the steps.
        weight = data["weight"] if name == "rows" else data["weight"][:, None]
        for kind, sample_weight in (("plain", None), ("weighted", weight)):
            fill_weights(model, seed_of("tagging"))
            model.compile(keras.optimizers.SGD(0.5), loss=loss, metrics=metrics, weighted_metrics=metrics[:1],
                          run_eagerly=True)
            losses = model.fit(data[x], data[y], batch_size=ROWS, epochs=STEPS, shuffle=False, verbose=0,
                               sample_weight=sample_weight).history["loss"]
            scores = model.evaluate(data[x], data[y], batch_size=ROWS, verbose=0, return_dict=True,
                                    sample_weight=sample_weight)
            run[kind] = {"losses": losses, "evaluated": scores,
                         "weights_after": [w.flatten().tolist() for w in model.get_weights()]}
            print(name, kind, losses[0], losses[-1], scores)
        out["runs"][name] = run
    with open(os.path.join(FOLDER, "keras_tagging.json"), "w", encoding="ascii") as file:
        json.dump(out, file, separators=(",", ":"))
        file.write("\n")
