#!/usr/bin/env python3
"""Writes keras_expressions.json: losses that users write, as custom losses of real Keras.

Beside each expression stands the same in keras.ops. Recorded are the loss of each example and the
gradient of their mean with respect to the model's output, of a Keras model that was compiled with
that custom loss and whose one layer passes its input on. Also here, for being as small: the focal
crossentropies and MeanIoU.
"""
import json
import os

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import ops

EXPRESSIONS = [
    ("mean(square(y - p))", lambda y, p: ops.mean(ops.square(y - p), axis=-1)),
    ("square(y - p)", lambda y, p: ops.square(y - p)),
    ("mean(abs(y - p)) + 0.1 * sum(p ** 2)",
     lambda y, p: ops.mean(ops.abs(y - p), axis=-1) + 0.1 * ops.sum(p ** 2, axis=-1)),
    ("where(y > p, 0.9, 0.1) * abs(y - p)",
     lambda y, p: ops.where(y > p, 0.9, 0.1) * ops.abs(y - p)),
    ("maximum(0.9 * (y - p), (0.9 - 1) * (y - p))",
     lambda y, p: ops.maximum(0.9 * (y - p), (0.9 - 1) * (y - p))),
    ("-sum(y * log(clip(p, 1e-7, 1 - 1e-7)))",
     lambda y, p: -ops.sum(y * ops.log(ops.clip(p, 1e-7, 1 - 1e-7)), axis=-1)),
    ("mean(-y * log(p) - (1 - y) * log1p(-p))",
     lambda y, p: ops.mean(-y * ops.log(p) - (1 - y) * ops.log1p(-p), axis=-1)),
    ("(1 - y) * relu(p - 0.25) ** 2 + y * relu(0.75 - p) ** 2",
     lambda y, p: (1 - y) * ops.relu(p - 0.25) ** 2 + y * ops.relu(0.75 - p) ** 2),
    ("1 - (2 * sum(y * p) + 1) / (sum(y) + sum(p) + 1)",
     lambda y, p: 1 - (2 * ops.sum(y * p, axis=-1) + 1)
     / (ops.sum(y, axis=-1) + ops.sum(p, axis=-1) + 1)),
    ("sqrt(mean(square(y - p)) + 1e-6)",
     lambda y, p: ops.sqrt(ops.mean(ops.square(y - p), axis=-1) + 1e-6)),
    ("softplus(-(2 * y - 1) * p)", lambda y, p: ops.softplus(-(2 * y - 1) * p)),
    ("exp(p) - y * p", lambda y, p: ops.exp(p) - y * p),
    ("expm1(p) - tanh(y * p) + sigmoid(-p)",
     lambda y, p: ops.expm1(p) - ops.tanh(y * p) + ops.sigmoid(-p)),
    ("minimum(abs(y - p), 0.3)", lambda y, p: ops.minimum(ops.abs(y - p), 0.3)),
    ("max(p) - min(p) + logsumexp(p) - sum(y * p)",
     lambda y, p: ops.max(p, axis=-1) - ops.min(p, axis=-1) + ops.logsumexp(p, axis=-1)
     - ops.sum(y * p, axis=-1)),
    ("-sum(y * log(softmax(3 * p)))",
     lambda y, p: -ops.sum(y * ops.log(ops.softmax(3 * p, axis=-1)), axis=-1)),
    ("-p ** 2 + 2 ** -p + p / (1 + p) / 2",
     lambda y, p: -p ** 2 + 2 ** -p + p / (1 + p) / 2),
    ("power(p + 1, y) * sin(p) * cos(pi * p)",
     lambda y, p: ops.power(p + 1, y) * ops.sin(p) * ops.cos(np.pi * p)),
    ("(p >= 0.5) * p + (p < 0.5) * square(p) + (y == 1) * p - (y != 1) * sign(p - 0.3)",
     lambda y, p: ops.cast(p >= 0.5, "float32") * p + ops.cast(p < 0.5, "float32") * ops.square(p)
     + ops.cast(y == 1, "float32") * p - ops.cast(y != 1, "float32") * ops.sign(p - 0.3)),
    ("abs(y - round(p)) * p + floor(3 * p) * p - ceil(2 * p) * p",
     lambda y, p: ops.abs(y - ops.round(p)) * p + ops.floor(3 * p) * p - ops.ceil(2 * p) * p),
    ("maximum(p, p) + minimum(y, y) * p", lambda y, p: ops.maximum(p, p) + ops.minimum(y, y) * p),
    ("mean(y_true - y_pred) ** 2 + (y <= 0) * 0",
     lambda y, p: ops.mean(y - p, axis=-1) ** 2),
    ("100 * mean(abs((y - p) / maximum(abs(y), 1e-7)) * y)",
     lambda y, p: 100 * ops.mean(ops.abs((y - p) / ops.maximum(ops.abs(y), 1e-7)) * y, axis=-1)),
]

FOCAL = [
    ("BinaryFocalCrossentropy()", keras.losses.BinaryFocalCrossentropy, {}),
    ("BinaryFocalCrossentropy(gamma=3.0, apply_class_balancing=True, alpha=0.3)",
     keras.losses.BinaryFocalCrossentropy,
     dict(gamma=3.0, apply_class_balancing=True, alpha=0.3)),
    ("BinaryFocalCrossentropy(label_smoothing=0.2, gamma=1.5)",
     keras.losses.BinaryFocalCrossentropy, dict(label_smoothing=0.2, gamma=1.5)),
    ("BinaryFocalCrossentropy(from_logits=True)", keras.losses.BinaryFocalCrossentropy,
     dict(from_logits=True)),
    ("CategoricalFocalCrossentropy()", keras.losses.CategoricalFocalCrossentropy, {}),
    ("CategoricalFocalCrossentropy(alpha=0.4, gamma=1.0, label_smoothing=0.1)",
     keras.losses.CategoricalFocalCrossentropy, dict(alpha=0.4, gamma=1.0, label_smoothing=0.1)),
    ("CategoricalFocalCrossentropy(from_logits=True)", keras.losses.CategoricalFocalCrossentropy,
     dict(from_logits=True)),
]


def numbers(x):
    x = np.asarray(x, np.float32)
    assert np.isfinite(x).all(), x
    return [float(v) for v in x.reshape(-1)]


def gradient_of(loss, y, p):
    """Through a compiled model's own loss; its one weight per output is the output."""
    inputs = keras.Input(p.shape[1:])
    model = keras.Model(inputs, keras.layers.Activation("linear")(inputs))
    model.compile(loss=loss, optimizer="sgd")
    variable = tf.Variable(p)
    with tf.GradientTape() as tape:
        value = model.compute_loss(y=tf.constant(y), y_pred=variable)
    return value, tape.gradient(value, variable)


def record(name, function, y, p, whole):
    values = np.asarray(function(tf.constant(y), tf.constant(p)), np.float32)
    values = values.reshape(len(p), -1).mean(axis=1)
    value, gradient = gradient_of(whole, y, p)
    np.testing.assert_allclose(values.mean(), value, rtol=2e-5, atol=1e-6, err_msg=name)
    return {"loss": name, "shape": list(p.shape), "labels": numbers(y), "outputs": numbers(p),
            "values": numbers(values), "gradient": numbers(gradient)}


def main():
    rng = np.random.default_rng(7)
    cases = []
    for width in (1, 4):
        p = rng.uniform(0.02, 0.98, (6, width)).astype(np.float32)
        y = np.zeros_like(p)
        if width == 1:
            y[::2] = 1
        else:
            y[np.arange(6), rng.integers(0, width, 6)] = 1
        for text, function in EXPRESSIONS:
            cases.append(record("expr: " + text, function, y, p, function))
        for text, cls, arguments in FOCAL:
            if width == 1 and text.startswith("Categorical"):
                continue
            x = rng.normal(0, 1, p.shape).astype(np.float32) if "logits" in text else p
            if text.startswith("Categorical") and "logits" not in text:
                x = (p / p.sum(axis=1, keepdims=True)).astype(np.float32)
            cases.append(record(text, cls(reduction="none", **arguments), y, x, cls(**arguments)))
    metrics = []
    for width in (1, 3, 5):
        n = 40
        p = rng.uniform(0, 1, (n, width)).astype(np.float32)
        y = np.zeros_like(p)
        if width == 1:
            y[:, 0] = rng.integers(0, 2, n)
            metric = keras.metrics.BinaryIoU(target_class_ids=[0, 1], threshold=0.5)
        else:
            y[np.arange(n), rng.integers(0, width - 1, n)] = 1
            p[:, -1] *= 0.2 if width == 5 else 1.0
            metric = keras.metrics.OneHotMeanIoU(num_classes=width)
        metric.update_state(y, p)
        metrics.append({"shape": [n, width], "labels": numbers(y), "outputs": numbers(p),
                        "value": float(metric.result())})
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "keras_expressions.json"), "w") as out:
        out.write('{"keras": "%s", "losses": [\n' % keras.__version__)
        out.write(",\n".join(json.dumps(case) for case in cases))
        out.write('\n], "mean_io_u": [\n')
        out.write(",\n".join(json.dumps(case) for case in metrics))
        out.write("\n]}\n")


if __name__ == "__main__":
    main()
