"""What the scripts share that write the tables of real Keras' numbers.

    python3 -m venv venv
    venv/bin/pip install tensorflow-cpu==2.21.0 tf-keras==2.21.0 keras==3.15.1 numpy scikit-learn
    venv/bin/python test/baseline/generate_keras_layers.py

and so on for losses, metrics and optimizers. Each table is a .safetensors file: float32 tensors,
and in its metadata the list of cases as JSON. Keras runs on the TensorFlow back end, eagerly, in
float32.
"""

import json
import os
import struct
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import keras
import numpy as np
import tensorflow as tf

FOLDER = os.path.dirname(os.path.abspath(__file__))


class Table:
    """Tensors under names "<case>/<what>", and the cases."""

    def __init__(self):
        self.tensors = {}
        self.cases = []

    def add(self, name, case, **tensors):
        case = dict(case, name=name)
        for what, value in tensors.items():
            values = value if isinstance(value, list) else [value]
            if isinstance(value, list):
                case["n_" + what] = len(value)
            for i, one in enumerate(values):
                key = f"{name}/{what}" + (f"/{i}" if isinstance(value, list) else "")
                assert key not in self.tensors, key
                array = np.asarray(one, dtype=np.float32, order="C")
                assert np.isfinite(array).all(), key
                self.tensors[key] = array
        self.cases.append(case)

    def write(self, file_name):
        header, offset = {"__metadata__": {"cases": json.dumps(self.cases)}}, 0
        for key, array in self.tensors.items():
            header[key] = {
                "dtype": "F32",
                "shape": list(array.shape),
                "data_offsets": [offset, offset + array.nbytes],
            }
            offset += array.nbytes
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        path = os.path.join(FOLDER, file_name)
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for array in self.tensors.values():
                file.write(array.astype("<f4").tobytes())
        print(f"keras {keras.__version__}, tensorflow {tf.__version__}", file=sys.stderr)
        print(f"{file_name}: {len(self.cases)} cases, {os.path.getsize(path)} bytes")


def random(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def seed_of(name):
    return int.from_bytes(name.encode()[-8:].rjust(8), "little") % (1 << 32)


# ---------------------------------------------------------------- layers


def fill_weights(model, seed):
    """Random weights; variances and scales positive."""
    rng = np.random.default_rng(seed)
    for weight in model.weights:
        value = rng.normal(size=weight.shape) * 0.5
        if weight.name in ("gamma", "moving_variance", "variance"):
            value = 0.5 + np.abs(value)
        weight.assign(value.astype(np.float32))
    for layer in model.layers:
        if hasattr(layer, "finalize_state"):  # Normalization works with a copy
            layer.finalize_state()


def sequential(shape, *stack):
    return keras.Sequential([keras.Input(shape)] + list(stack))


def parts_of(model, x):
    """What the model is called with: x, or the parts of its rows that are its inputs."""
    if len(model.inputs) == 1:
        return x
    parts, at = [], 0
    for tensor in model.inputs:
        shape = tuple(tensor.shape[1:])
        size = int(np.prod(shape))
        parts.append(tf.reshape(x[:, at:at + size], (-1,) + shape))
        at += size
    return parts


def normal_input(name, shape):
    return random(seed_of(name) + 1, *shape)


def write_layers(models, file_name, make_input=normal_input):
    """Of models by name, as (model, batch size): weights, input, output in training mode, upstream
    gradient, gradients of every trainable weight and of the input, moving statistics afterwards,
    output in inference mode. One that is called_in_inference is not told to train. Several inputs
    are the neighbouring parts of rows.
    """
    table = Table()
    for name, (model, batch) in models.items():
        seed = seed_of(name)
        fill_weights(model, seed)
        shapes = [tuple(tensor.shape[1:]) for tensor in model.inputs]
        shape = shapes[0] if len(shapes) == 1 else (sum(int(np.prod(s)) for s in shapes),)
        x = tf.constant(make_input(name, (batch, *shape)))
        weights = [w.copy() for w in model.get_weights()]
        inference = model(parts_of(model, x), training=False)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = model(parts_of(model, x),
                      training=None if name == "called_in_inference" else True)
            upstream = random(seed + 2, *y.shape)
            loss = tf.reduce_sum(y * upstream)
            penalty = sum(model.losses)  # of activities: no weight here has a regularizer
            loss += penalty
        variables = [w for w in model.weights if w.trainable]
        # Of tf.keras 2 they are TensorFlow's.
        values = [w if isinstance(w, tf.Variable) else w.value for w in variables]
        gradients = tape.gradient(loss, [x] + values)
        gradients = [
            np.zeros(v.shape, np.float32) if g is None else tf.convert_to_tensor(g).numpy()
            for v, g in zip([x] + variables, gradients)
        ]
        # Before it is looked whether there is one: NaN is above nothing.
        assert all(np.isfinite(g).all() for g in gradients), name
        # Noise around what is zero in exact arithmetic, such as the slope of attention's key bias.
        gradients = [g if np.abs(g).max() > 1e-5 else np.zeros_like(g) for g in gradients]
        the_case = {"architecture": model.to_json()}
        if model.losses:
            the_case["penalty"] = float(penalty)
        table.add(name, the_case, weights=weights, input=x,
                  output=y, inference=inference, upstream=upstream, input_gradient=gradients[0],
                  gradients=gradients[1:], weights_after=model.get_weights())
    table.write(file_name)


# ---------------------------------------------------------------- targets


def targets(kind, seed, shape):
    """Targets of one kind for outputs of a shape."""
    rng = np.random.default_rng(seed)
    width = shape[-1]
    if kind == "classes":
        return rng.integers(0, max(width, 2), size=shape[:1]).astype(np.float32)
    if kind == "class_numbers":  # one for each position
        return rng.integers(0, width, size=shape[:-1]).astype(np.float32)
    if kind == "one_hot":
        return np.eye(width, dtype=np.float32)[rng.integers(0, width, size=shape[:-1])]
    if kind == "soft":
        values = rng.random(size=shape)
        return (values / values.sum(-1, keepdims=True)).astype(np.float32)
    if kind == "binary":
        return rng.integers(0, 2, size=shape).astype(np.float32)
    if kind == "fractions":
        return rng.random(size=shape).astype(np.float32)
    return rng.normal(size=shape).astype(np.float32)  # "numbers"


def keras_targets(kind, y, shape, sparse):
    """The form in which Keras wants them."""
    if kind == "classes" and shape[-1] == 1:
        return y.reshape(-1, 1)
    if kind == "classes" and not sparse:
        return np.eye(shape[-1], dtype=np.float32)[y.astype(int)]
    return y


def per_example(values):
    return tf.reduce_mean(tf.reshape(values, (values.shape[0], -1)), axis=1)
