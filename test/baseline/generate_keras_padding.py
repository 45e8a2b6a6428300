#!/usr/bin/env python3
"""Writes keras_padding.json; see keras_table.py.

What keras.utils.pad_sequences makes of sequences of unequal length, and ten steps of fit() on text ids
that it has padded: an Embedding with mask_zero, an LSTM and a unit, all rows at once.
"""

import json
import os

from keras_table import FOLDER, fill_weights, keras, np, seed_of

from keras import layers as L

STEPS, ROWS, WORDS = 10, 24, 12
IDS = [[3, 1, 4, 1, 5], [9, 2], [], [6], [5, 3, 5, 8, 9, 7, 9], [3, 2, 3]]
VALUES = [[0.5, -1.25], [2.0], [3.5, 0.25, -0.125, 7.0]]
VECTORS = [[[1, 2], [3, 4], [5, 6]], [[7, 8]], [[9, 10], [11, 12], [13, 14], [15, 16], [17, 18]]]


def cases():
    """(column, dtype, sequences, maxlen or None, value)"""
    yield "ids", "int32", IDS, None, 0
    yield "ids", "int32", IDS, 4, 0
    yield "ids", "int32", IDS, 9, -1
    yield "values", "float32", VALUES, 3, -9.5
    yield "vectors", "int32", VECTORS, None, 0
    yield "vectors", "int32", VECTORS, 2, 7


def texts():
    rng = np.random.default_rng(seed_of("padding"))
    words = [rng.integers(1, WORDS, size=length).tolist()
             for length in [0, 8, *rng.integers(1, 9, size=ROWS - 2)]]
    return words, [float(sum(text) % 2) for text in words]


if __name__ == "__main__":
    out = {"cases": [], "runs": {}}
    for column, dtype, sequences, maxlen, value in cases():
        for padding in ("post", "pre"):
            for truncating in ("post", "pre"):
                padded = keras.utils.pad_sequences(sequences, maxlen=maxlen, dtype=dtype, padding=padding,
                                                   truncating=truncating, value=value)
                out["cases"].append({"column": column, "maxlen": maxlen, "padding": padding,
                                     "truncating": truncating, "value": value, "padded": padded.tolist()})
    out["sequences"] = {"ids": IDS, "values": VALUES, "vectors": VECTORS}
    words, labels = texts()
    out["rows"] = {"words": words, "label": labels}
    for side in ("post", "pre"):
        model = keras.Sequential([keras.Input((8,)), L.Embedding(WORDS, 4, mask_zero=True), L.LSTM(5),
                                  L.Dense(1, activation="sigmoid", name="label")])
        fill_weights(model, seed_of("padding"))
        out["architecture"] = model.to_json()
        out["weights"] = [w.flatten().tolist() for w in model.get_weights()]
        model.compile(keras.optimizers.SGD(0.5), loss="binary_crossentropy", run_eagerly=True)
        x = keras.utils.pad_sequences(words, maxlen=8, padding=side)
        losses = model.fit(x, np.array(labels), batch_size=ROWS, epochs=STEPS, shuffle=False, verbose=0)
        out["runs"][side] = {"losses": losses.history["loss"],
                             "predicted": model.predict(x, verbose=0)[:, 0].tolist()}
    with open(os.path.join(FOLDER, "keras_padding.json"), "w", encoding="ascii") as file:
        json.dump(out, file, separators=(",", ":"))
        file.write("\n")
