#!/usr/bin/env python3
"""Writes the tables of real Keras' numbers that the unit tests compare with.

    python3 -m venv venv
    venv/bin/pip install tensorflow-cpu==2.21.0 keras==3.15.1 numpy
    venv/bin/python test/baseline/generate_keras_tables.py [layers|losses|metrics|...]...

Each table is a .safetensors file: float32 tensors, and in its metadata the list of cases as
JSON. Keras runs on the TensorFlow back end, eagerly, in float32.

    keras_layers.safetensors      architectures: weights, input, output in training mode, upstream
                                  gradient, gradients of every trainable weight and of the input,
                                  moving statistics afterwards, output in inference mode
    keras_losses.safetensors      models' outputs and targets: loss of each example, gradient
                                  of their mean with respect to what the last layer gets
    keras_metrics.safetensors     the same for metrics
    keras_metric_values.safetensors  models' outputs and targets, and a metric's value of them
    keras_optimizers.safetensors  initial weights, ten gradients, weights after each step, and the
                                  averaged weights that fit() keeps at its end
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
from keras import layers as L

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
                array = np.ascontiguousarray(np.asarray(one), dtype=np.float32)
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
        print(f"{file_name}: {len(self.cases)} cases, {os.path.getsize(path)} bytes")


def random(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def seed_of(name):
    return int.from_bytes(name.encode()[-8:].rjust(8), "little") % (1 << 32)


def fill_weights(model, seed):
    """Random weights; variances and scales positive."""
    rng = np.random.default_rng(seed)
    for weight in model.weights:
        value = rng.normal(size=weight.shape) * 0.5
        if weight.name in ("gamma", "moving_variance"):
            value = 0.5 + np.abs(value)
        weight.assign(value.astype(np.float32))


# ---------------------------------------------------------------- layers


def sequential(shape, *stack):
    return keras.Sequential([keras.Input(shape)] + list(stack))


def layer_models():
    """name -> (model, batch size)"""
    models = {}

    def add(name, shape, *stack, batch=5):
        models[name] = (sequential(shape, *stack), batch)

    add("dense_linear", (7,), L.Dense(4))
    add("dense_relu_no_bias", (7,), L.Dense(4, activation="relu", use_bias=False))
    add("dense_rank_3", (3, 7), L.Dense(4, activation="tanh"))
    add("dense_rank_4_softmax", (2, 3, 7), L.Dense(4, activation="softmax"))
    add("dense_two", (9,), L.Dense(8, activation="relu"), L.Dense(3, activation="softmax"))
    add("dense_softmax_sigmoid_inside", (9,), L.Dense(8, activation="softmax"),
        L.Dense(6, activation="sigmoid"), L.Dense(3, activation="softmax"))
    add("dense_sigmoid_end", (9,), L.Dense(8), L.Activation("sigmoid"), L.Dense(1),
        L.Activation("sigmoid"))

    conv = lambda name, shape, *args, **kw: add(name, shape, L.Conv2D(*args, **kw), batch=3)
    conv("conv_valid", (7, 6, 3), 4, 3)
    conv("conv_same_odd", (7, 6, 3), 4, 3, padding="same", activation="relu")
    conv("conv_same_even_kernel", (7, 6, 3), 4, 4, padding="same")
    conv("conv_same_kernel_2_3", (7, 6, 2), 4, (2, 3), padding="same")
    conv("conv_same_stride_2", (6, 7, 3), 4, 3, padding="same", strides=2)
    conv("conv_same_stride_3_2", (8, 9, 2), 3, (5, 4), padding="same", strides=(3, 2))
    conv("conv_same_stride_over_kernel", (7, 6, 2), 3, 1, padding="same", strides=3)
    conv("conv_valid_stride_2", (8, 7, 3), 4, 3, strides=2, activation="sigmoid")
    conv("conv_dilated", (9, 8, 2), 3, 3, dilation_rate=2)
    conv("conv_dilated_same", (9, 8, 2), 3, (3, 2), dilation_rate=(2, 3), padding="same")
    conv("conv_groups", (6, 6, 4), 6, 3, groups=2, padding="same")
    conv("conv_no_bias_1_channel", (6, 6, 1), 5, 3, use_bias=False)
    conv("conv_softmax", (4, 4, 3), 5, 1, activation="softmax")
    add("conv_conv_flatten", (8, 8, 1), L.Conv2D(4, 3, activation="relu"),
        L.Conv2D(6, 3, padding="same", activation="relu"), L.MaxPooling2D(), L.Flatten(),
        L.Dense(5, activation="softmax"), batch=3)

    for short, layer in (("max", L.MaxPooling2D), ("average", L.AveragePooling2D)):
        pool = lambda name, shape, *args, layer=layer, short=short, **kw: add(
            f"{short}_pool_{name}", shape, layer(*args, **kw), batch=2)
        pool("valid", (7, 6, 3), 2)
        pool("same", (7, 6, 3), 2, padding="same")
        pool("same_3_stride_2", (8, 7, 2), 3, strides=2, padding="same")
        pool("same_2_stride_1", (5, 6, 2), 2, strides=1, padding="same")
        pool("same_4_3_stride_1_2", (7, 6, 2), (4, 3), strides=(1, 2), padding="same")
        pool("same_3_stride_1", (5, 5, 2), 3, strides=1, padding="same")
        pool("same_2_stride_3", (7, 8, 2), 2, strides=3, padding="same")
        pool("valid_3_2_stride_2_3", (8, 9, 1), (3, 2), strides=(2, 3))
    add("global_average", (4, 5, 3), L.GlobalAveragePooling2D())
    add("global_average_keepdims", (4, 5, 3), L.GlobalAveragePooling2D(keepdims=True))
    add("global_max", (4, 5, 3), L.GlobalMaxPooling2D())
    add("global_max_keepdims", (4, 5, 3), L.GlobalMaxPooling2D(keepdims=True))
    # Equal maxima share the gradient.
    add("global_max_ties", (4, 5, 3), L.ReLU(max_value=0.5), L.GlobalMaxPooling2D())

    add("flatten", (3, 4, 2), L.Flatten(), L.Dense(3))
    add("conv_flatten_order", (4, 4, 2), L.Conv2D(3, 2), L.Flatten(), L.Dense(2))
    add("reshape", (6, 4), L.Reshape((2, -1, 3)), L.Conv2D(2, (2, 3)))
    add("reshape_after_conv", (4, 4, 2), L.Conv2D(3, 2), L.Reshape((9, 3)), L.Dense(2))

    for name in ("linear relu relu6 leaky_relu elu selu softplus softsign tanh sigmoid "
                 "hard_sigmoid exponential swish gelu mish softmax log_softmax celu hard_silu hard_tanh "
                 "hard_shrink soft_shrink tanh_shrink log_sigmoid squareplus").split():
        add("activation_" + name, (9,), L.Activation(name))
    add("relu_layer", (9,), L.ReLU())
    add("relu_max", (9,), L.ReLU(max_value=0.8))
    add("relu_6", (9,), L.Rescaling(5.0), L.ReLU(max_value=6.0))
    add("relu_slope", (9,), L.ReLU(negative_slope=0.2))
    add("relu_threshold", (9,), L.ReLU(threshold=0.3))
    add("relu_everything", (9,), L.ReLU(max_value=0.9, negative_slope=0.1, threshold=0.3))
    add("leaky_relu_default", (9,), L.LeakyReLU())
    add("leaky_relu_slope", (9,), L.LeakyReLU(negative_slope=0.05))
    add("elu_layer", (9,), L.ELU(alpha=0.7))
    add("softmax_layer", (3, 4), L.Softmax())
    add("softmax_axis_1", (3, 4), L.Softmax(axis=1))

    add("batch_norm_rank_2", (5,), L.BatchNormalization(), batch=7)
    add("batch_norm_rank_3", (4, 5), L.BatchNormalization(momentum=0.9), batch=3)
    add("batch_norm_rank_4", (3, 4, 5), L.BatchNormalization(momentum=0.8, epsilon=1e-5), batch=3)
    add("batch_norm_no_scale", (3, 3, 4), L.BatchNormalization(scale=False), batch=3)
    add("batch_norm_no_center", (6,), L.BatchNormalization(center=False), batch=6)
    add("batch_norm_plain", (6,), L.BatchNormalization(center=False, scale=False), batch=6)
    add("batch_norm_axis_3", (3, 4, 1), L.BatchNormalization(axis=3), batch=3)
    frozen = L.BatchNormalization()
    frozen.trainable = False
    add("batch_norm_frozen", (5,), L.Dense(5), frozen, L.Dense(2), batch=6)
    add("conv_batch_norm_relu", (6, 6, 2), L.Conv2D(4, 3, use_bias=False), L.BatchNormalization(),
        L.ReLU(), L.GlobalAveragePooling2D(), L.Dense(3, activation="softmax"), batch=4)

    # Layers that are told to stay in inference, as in transfer learning. Keras 2 and Keras'
    # guides let that hold while the model trains; Keras 3 overrules it when the caller says
    # training=True, so here the caller says nothing.
    a = keras.Input((5,))
    b = L.BatchNormalization()(a, training=False)
    b = L.Dropout(0.5)(b, training=False)
    models["called_in_inference"] = (keras.Model(a, L.Dense(2)(b)), 6)

    add("rescaling", (3, 4), L.Rescaling(1 / 127.5, offset=-1.0))
    add("rescaling_no_offset", (5,), L.Rescaling(0.25))

    a = keras.Input((6,))
    b = L.Dense(6, activation="relu")(a)
    c = L.Dense(6)(b)
    models["add_three"] = (keras.Model(a, L.Add()([a, b, c])), 4)
    a = keras.Input((4, 4, 3))
    b = L.Conv2D(3, 3, padding="same")(a)
    c = L.GlobalAveragePooling2D(keepdims=True)(a)
    models["add_broadcast"] = (keras.Model(a, L.Add()([b, c])), 3)
    a = keras.Input((4, 3))
    b = L.Dense(3)(L.Flatten()(a))
    models["add_rank"] = (keras.Model(a, L.Add()([a, b])), 3)
    a = keras.Input((4, 4, 3))
    b = L.Conv2D(2, 3, padding="same")(a)
    c = L.Conv2D(5, 1)(a)
    models["concatenate"] = (keras.Model(a, L.Flatten()(L.Concatenate()([a, b, c]))), 3)
    a = keras.Input((4, 4, 3))
    b = L.Conv2D(3, (2, 1))(a)
    models["concatenate_axis_1"] = (keras.Model(a, L.Concatenate(axis=1)([a, b, a])), 2)
    a = keras.Input((5,))
    shared = L.Dense(5, activation="tanh")
    models["shared_layer"] = (keras.Model(a, L.Dense(2)(shared(shared(a)))), 4)
    return models


def layers_table():
    table = Table()
    for name, (model, batch) in layer_models().items():
        seed = seed_of(name)
        fill_weights(model, seed)
        shape = tuple(model.input_shape[1:])
        x = tf.constant(random(seed + 1, batch, *shape))
        weights = [w.copy() for w in model.get_weights()]
        inference = model(x, training=False)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = model(x, training=None if name == "called_in_inference" else True)
            upstream = random(seed + 2, *y.shape)
            loss = tf.reduce_sum(y * upstream)
        variables = [w for w in model.weights if w.trainable]
        gradients = tape.gradient(loss, [x] + [w.value for w in variables])
        gradients = [
            np.zeros(v.shape, np.float32) if g is None else g.numpy()
            for v, g in zip([x] + variables, gradients)
        ]
        table.add(name, {"architecture": model.to_json()}, weights=weights, input=x,
                  output=y, inference=inference, upstream=upstream, input_gradient=gradients[0],
                  gradients=gradients[1:], weights_after=model.get_weights())
    table.write("keras_layers.safetensors")


# ---------------------------------------------------------------- losses and metrics

BATCH = 6


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


def losses_table():
    table = Table()
    cases = []
    for last in ("softmax", "sigmoid", "linear_probabilities"):
        for kind in ("classes", "one_hot", "soft"):
            cases.append(("categorical_crossentropy", last, kind, (5,), 2.0))
        cases.append(("sparse_categorical_crossentropy", last, "classes", (5,), 2.0))
    cases += [
        # Labels that do not add up to one.
        ("categorical_crossentropy", "softmax", "fractions", (5,), 2.0),
        ("categorical_crossentropy", "sigmoid", "binary", (5,), 2.0),
        ("categorical_crossentropy", "linear_probabilities", "binary", (5,), 2.0),
        ("categorical_crossentropy", "softmax", "one_hot", (3, 4), 2.0),
        ("categorical_crossentropy", "softmax", "one_hot", (5,), 60.0),
        ("categorical_crossentropy", "linear_probabilities", "one_hot", (5,), 60.0),
        ("sparse_categorical_crossentropy", "softmax", "class_numbers", (3, 4), 2.0),
        ("sparse_categorical_crossentropy", "softmax", "classes", (5,), 60.0),
        ("sparse_categorical_crossentropy", "linear_probabilities", "classes", (5,), 60.0),
    ]
    for last in ("sigmoid", "linear_probabilities"):
        cases += [
            ("binary_crossentropy", last, "classes", (1,), 2.0),
            ("binary_crossentropy", last, "binary", (1,), 60.0),
            ("binary_crossentropy", last, "binary", (4,), 2.0),
            ("binary_crossentropy", last, "fractions", (4,), 2.0),
            ("binary_crossentropy", last, "classes", (4,), 2.0),
        ]
    cases.append(("binary_crossentropy", "softmax", "one_hot", (4,), 2.0))
    cases.append(("binary_crossentropy", "sigmoid", "binary", (3, 4), 2.0))
    for loss in ("mean_squared_error", "mean_absolute_error"):
        for last, kind, shape in (
                ("linear", "numbers", (1,)), ("linear", "numbers", (4,)),
                ("linear", "numbers", (2, 3)), ("softmax", "classes", (4,)),
                ("sigmoid", "classes", (1,)), ("sigmoid", "classes", (3,))):
            cases.append((loss, last, kind, shape, 2.0))
    for loss in ("mean_absolute_percentage_error", "mean_squared_logarithmic_error", "huber",
                 "log_cosh", "hinge", "squared_hinge", "categorical_hinge", "cosine_similarity"):
        cases += [(loss, "linear", "numbers", (4,), 2.0), (loss, "softmax", "classes", (4,), 2.0),
                  (loss, "sigmoid", "fractions", (2, 3), 2.0)]
    for loss in ("hinge", "squared_hinge"):
        cases += [(loss, "linear", "binary", (3,), 2.0), (loss, "linear", "classes", (1,), 2.0)]
    for loss in ("kl_divergence", "poisson"):
        cases += [(loss, "softmax", "classes", (4,), 2.0), (loss, "softmax", "soft", (4,), 20.0),
                  (loss, "sigmoid", "fractions", (2, 3), 2.0)]
    cases += [
        ("Huber(delta=0.3)", "linear", "numbers", (4,), 2.0),
        ("log_cosh", "linear", "numbers", (4,), 100.0),
        ("CategoricalCrossentropy(label_smoothing=0.1)", "softmax", "classes", (5,), 2.0),
        ("CategoricalCrossentropy(label_smoothing=0.3)", "linear_probabilities", "one_hot", (5,),
         2.0),
        ("CategoricalCrossentropy(from_logits=True)", "linear", "classes", (5,), 2.0),
        ("CategoricalCrossentropy(from_logits=True, label_smoothing=0.2)", "linear", "one_hot",
         (5,), 2.0),
        ("SparseCategoricalCrossentropy(from_logits=True)", "linear", "classes", (5,), 2.0),
        ("BinaryCrossentropy(label_smoothing=0.2)", "sigmoid", "binary", (4,), 2.0),
        ("BinaryCrossentropy(from_logits=True)", "linear", "classes", (1,), 2.0),
        ("BinaryCrossentropy(from_logits=True, label_smoothing=0.1)", "linear", "binary", (4,),
         2.0),
    ]
    for i, (text, last, kind, shape, scale) in enumerate(cases):
        name = text.split("(")[0]
        loss = keras.src.utils.naming.to_snake_case(name)
        shape = (BATCH,) + shape
        z = tf.constant(random(100 + i, *shape) * scale)
        y = targets(kind, 500 + i, shape)
        sparse = loss.startswith("sparse")
        wanted = keras_targets(kind, y, shape, sparse)
        function = keras.losses.get(loss)
        if "(" in text:
            function = eval(text.replace("(", "(reduction=None, "), dict(vars(keras.losses)))
        with tf.GradientTape() as tape:
            tape.watch(z)
            if last == "linear_probabilities":
                # probabilities that no activation has made; they need not add up to one
                output = tf.sigmoid(z)
            else:
                output = keras.activations.get(last)(z)
            values = function(tf.constant(wanted), output)
            values = per_example(values)
            mean = tf.reduce_mean(values)
        gradient = tape.gradient(mean, z)
        table.add(f"{i}_{loss}_{last}_{kind}",
                  {"loss": text, "last": last, "targets": kind}, logits=z, values=y,
                  loss=values, gradient=gradient)
    table.write("keras_losses.safetensors")


def metrics_table():
    table = Table()
    cases = [
        ("accuracy", "sigmoid", "classes", (1,)),
        ("accuracy", "sigmoid", "binary", (1,)),
        ("accuracy", "linear", "binary", (1,)),
        ("accuracy", "softmax", "classes", (4,)),
        ("accuracy", "softmax", "one_hot", (4,)),
        ("accuracy", "softmax", "soft", (4,)),
        ("accuracy", "sigmoid", "binary", (4,)),
        ("accuracy", "softmax", "one_hot", (3, 4)),
        ("binary_accuracy", "sigmoid", "binary", (4,)),
        ("binary_accuracy", "softmax", "one_hot", (3,)),
        ("binary_accuracy", "sigmoid", "binary", (3, 2)),
        ("categorical_accuracy", "softmax", "one_hot", (4,)),
        ("categorical_accuracy", "sigmoid", "classes", (4,)),
        ("sparse_categorical_accuracy", "softmax", "classes", (4,)),
        ("sparse_categorical_accuracy", "softmax", "class_numbers", (3, 4)),
        ("mean_squared_error", "linear", "numbers", (1,)),
        ("mean_squared_error", "softmax", "classes", (4,)),
        ("mean_squared_error", "sigmoid", "binary", (3,)),
        ("mean_absolute_error", "linear", "numbers", (2, 3)),
        ("mean_absolute_error", "softmax", "one_hot", (4,)),
    ]
    cases += [(f"top_{k}", "softmax", kind, (6,)) for k in (1, 2, 5, 9)
              for kind in ("classes", "one_hot")]
    for i, (metric, last, kind, shape) in enumerate(cases):
        batch = 16
        shape = (batch,) + shape
        z = random(2000 + i, *shape)
        if metric.startswith("top") and kind == "one_hot":
            z = np.round(z * 2) / 2  # ties
        output = keras.activations.get(last)(tf.constant(z))
        y = targets(kind, 3000 + i, shape)
        sparse = kind in ("classes", "class_numbers") and shape[-1] > 1 and (
            metric == "accuracy" or metric.startswith(("sparse", "top")))
        wanted = tf.constant(keras_targets(kind, y, shape, sparse))
        k = 0
        if metric == "accuracy":
            # What compile(metrics=["accuracy"]) makes of the name.
            metric_object = keras.src.trainers.compile_utils.get_metric("accuracy", wanted, output)
            function = metric_object._fn
            arguments = metric_object._fn_kwargs
        elif metric.startswith("top"):
            k = int(metric[4:])
            function = (keras.metrics.sparse_top_k_categorical_accuracy if sparse else
                        keras.metrics.top_k_categorical_accuracy)
            arguments = {"k": k}
        else:
            function = getattr(keras.metrics, metric, None) or getattr(keras.losses, metric)
            arguments = {}
        values = function(wanted, output, **arguments)
        values = per_example(tf.cast(tf.reshape(values, (batch, -1)), tf.float32))
        table.add(f"{i}_{metric}_{last}_{kind}",
                  {"metric": "top_k" if k else metric, "k": k, "last": last, "targets": kind},
                  logits=z, values=y, metric=values)
    table.write("keras_metrics.safetensors")


def metric_values_table():
    """Metrics that are not means over examples, and losses as metrics: one value of three batches."""
    table = Table()
    binary = [("sigmoid", "classes", (1,)), ("sigmoid", "binary", (3,)), ("softmax", "classes", (4,))]
    cases = [(text, *where) for where in binary for text in (
        "TruePositives()", "TrueNegatives()", "FalsePositives()", "FalseNegatives()",
        "Precision()", "Recall()", "Precision(thresholds=0.3)", "Recall(thresholds=[0.7])", "AUC()",
        "AUC(curve='PR')", "F1Score(average='macro', threshold=0.5)",
        "F1Score(average='micro', threshold=0.4)", "F1Score(average='weighted', threshold=0.6)")]
    cases += [
        ("F1Score(average='macro')", "softmax", "classes", (4,)),
        ("F1Score(average='micro')", "softmax", "one_hot", (4,)),
        ("F1Score(average='weighted')", "softmax", "classes", (4,)),
        ("F1Score(average='macro')", "linear", "binary", (3,)),
        ("AUC()", "linear", "binary", (1,)),
        ("R2Score()", "linear", "numbers", (1,)),
        ("R2Score()", "linear", "numbers", (3,)),
        ("RootMeanSquaredError()", "linear", "numbers", (2, 3)),
        ("RootMeanSquaredError()", "softmax", "classes", (4,)),
        ("CosineSimilarity()", "linear", "numbers", (4,)),
        ("MeanAbsolutePercentageError()", "linear", "numbers", (3,)),
        ("MeanSquaredLogarithmicError()", "sigmoid", "fractions", (3,)),
        ("LogCoshError()", "linear", "numbers", (3,)),
        ("Hinge()", "linear", "binary", (1,)),
        ("SquaredHinge()", "sigmoid", "classes", (1,)),
        ("CategoricalHinge()", "softmax", "classes", (4,)),
        ("KLDivergence()", "softmax", "soft", (4,)),
        ("Poisson()", "sigmoid", "fractions", (3,)),
        ("CategoricalCrossentropy(label_smoothing=0.1)", "softmax", "classes", (4,)),
        ("BinaryCrossentropy(from_logits=True)", "linear", "binary", (3,)),
        ("SparseCategoricalCrossentropy()", "softmax", "classes", (4,)),
    ]
    for i, (text, last, kind, shape) in enumerate(cases):
        batch = 60
        shape = (batch,) + shape
        z = np.round(random(5000 + i, *shape) * 16) / 16  # equal outputs, few digits
        y = targets(kind, 6000 + i, shape)
        sparse = text.startswith("Sparse")
        wanted = keras_targets(kind, y, shape, sparse)
        output = keras.activations.get(last)(tf.constant(z)).numpy()
        metric = eval(text, dict(vars(keras.metrics)))
        for first in range(0, batch, 20):
            metric.update_state(tf.constant(wanted[first:first + 20]),
                                tf.constant(output[first:first + 20]))
        table.add(f"{i}_{text.split('(')[0]}_{last}_{kind}",
                  {"metric": text, "last": last, "targets": kind,
                   "result": float(metric.result())}, logits=z, values=y)
    table.write("keras_metric_values.safetensors")


# ---------------------------------------------------------------- optimizers


def optimizers_table():
    """Each case as the text that users write and as the object that Keras writes."""
    table = Table()
    O = keras.optimizers
    cases = {
        "sgd": "SGD(learning_rate=0.05)",
        "sgd_momentum": "SGD(learning_rate=0.05, momentum=0.9)",
        "sgd_nesterov": "SGD(learning_rate=0.05, momentum=0.8, nesterov=True)",
        "sgd_decay": "SGD(learning_rate=0.05, decay=0.1)",
        "sgd_momentum_decay": "SGD(learning_rate=0.05, momentum=0.9, decay=0.2)",
        "sgd_clipvalue": "SGD(learning_rate=0.05, clipvalue=0.5)",
        "sgd_clipnorm": "SGD(learning_rate=0.05, clipnorm=1.0)",
        "sgd_regularized": ("SGD(learning_rate=0.05)", dict(l1=0.02, l2=0.03)),
        "rmsprop": "RMSprop(learning_rate=0.01)",
        "rmsprop_rho": "RMSprop(learning_rate=0.01, rho=0.7, epsilon=1e-3)",
        "rmsprop_momentum": "RMSprop(learning_rate=0.01, momentum=0.6)",
        "rmsprop_centered": "RMSprop(learning_rate=0.01, centered=True)",
        "rmsprop_centered_momentum": "RMSprop(learning_rate=0.01, centered=True, momentum=0.5)",
        "rmsprop_decay": "RMSprop(learning_rate=0.01, decay=0.1)",
        "adam": "Adam(learning_rate=0.01)",
        "adam_betas": "Adam(learning_rate=0.02, beta_1=0.8, beta_2=0.95, epsilon=1e-4)",
        "adam_amsgrad": "Adam(learning_rate=0.01, amsgrad=True)",
        "adam_decay": "Adam(learning_rate=0.01, decay=0.05)",
        "adam_clipnorm": "Adam(learning_rate=0.01, clipnorm=0.7)",
        "adam_clipvalue_regularized": ("Adam(learning_rate=0.01, clipvalue=0.4)",
                                       dict(l1=0.05, l2=0.02)),
        # Gradients as small as epsilon tell where it stands.
        "adam_tiny": ("Adam(learning_rate=0.01)", dict(scale=1e-7)),
        "rmsprop_tiny": ("RMSprop(learning_rate=0.01)", dict(scale=1e-4)),
        "adamw": "AdamW(learning_rate=0.01)",
        "adamw_amsgrad": "AdamW(learning_rate=0.01, weight_decay=0.3, amsgrad=True)",
        "adagrad": "Adagrad(learning_rate=0.05)",
        "adagrad_arguments": "Adagrad(learning_rate=0.05, initial_accumulator_value=0.7, epsilon=1e-2)",
        "adagrad_tiny": ("Adagrad(learning_rate=0.01, initial_accumulator_value=0.0)",
                         dict(scale=1e-4)),
        "adadelta": "Adadelta(learning_rate=1.0)",
        "adadelta_arguments": "Adadelta(learning_rate=0.5, rho=0.8, epsilon=1e-3)",
        "adamax": "Adamax(learning_rate=0.01)",
        "adamax_arguments": "Adamax(learning_rate=0.01, beta_1=0.8, beta_2=0.9, epsilon=1e-2)",
        "nadam": "Nadam(learning_rate=0.01)",
        "nadam_arguments": "Nadam(learning_rate=0.01, beta_1=0.7, beta_2=0.95, epsilon=1e-3)",
        "nadam_tiny": ("Nadam(learning_rate=0.01)", dict(scale=1e-7)),
        "ftrl": "Ftrl(learning_rate=0.05)",
        "ftrl_arguments": "Ftrl(learning_rate=0.05, learning_rate_power=-0.3, "
                          "initial_accumulator_value=0.4, l1_regularization_strength=0.1, "
                          "l2_regularization_strength=0.2, "
                          "l2_shrinkage_regularization_strength=0.3, beta=0.4)",
        "lion": "Lion(learning_rate=0.01)",
        "lion_arguments": "Lion(learning_rate=0.01, beta_1=0.6, beta_2=0.7, weight_decay=0.1)",
        "sgd_weight_decay": "SGD(learning_rate=0.05, momentum=0.9, weight_decay=0.5)",
        "rmsprop_weight_decay_clipvalue": "RMSprop(learning_rate=0.01, weight_decay=0.5, "
                                          "clipvalue=0.5)",
        "ftrl_weight_decay": "Ftrl(learning_rate=0.05, weight_decay=0.5)",
        "sgd_global_clipnorm": "SGD(learning_rate=0.05, global_clipnorm=2.0)",
        "adam_global_clipnorm_regularized": (
            "Adam(learning_rate=0.01, global_clipnorm=0.7, weight_decay=0.2)",
            dict(l1=0.05, l2=0.02)),
        "sgd_global_clipnorm_unused": "SGD(learning_rate=0.05, global_clipnorm=100.0)",
        "sgd_ema": "SGD(learning_rate=0.05, use_ema=True)",
        "adam_ema_overwrite": "Adam(learning_rate=0.01, use_ema=True, ema_momentum=0.6, "
                              "ema_overwrite_frequency=4)",
        "adam_exponential": "Adam(learning_rate=ExponentialDecay(0.1, decay_steps=3, decay_rate=0.5))",
        "sgd_exponential_staircase": "SGD(learning_rate=ExponentialDecay(0.1, decay_steps=3, "
                                     "decay_rate=0.5, staircase=True), momentum=0.9)",
        "sgd_cosine": "SGD(learning_rate=CosineDecay(0.1, decay_steps=7, alpha=0.1))",
        "sgd_cosine_warmup": "SGD(learning_rate=CosineDecay(0.0, decay_steps=5, "
                             "warmup_target=0.1, warmup_steps=3))",
        "sgd_piecewise": "SGD(learning_rate=PiecewiseConstantDecay([2, 6], [0.1, 0.05, 0.01]))",
        "sgd_inverse_time": "SGD(learning_rate=InverseTimeDecay(0.1, decay_steps=2, "
                            "decay_rate=0.5))",
        "nadam_inverse_time_staircase": "Nadam(learning_rate=InverseTimeDecay(0.1, decay_steps=2, "
                                        "decay_rate=0.5, staircase=True), weight_decay=0.1)",
        "sgd_polynomial": "SGD(learning_rate=PolynomialDecay(0.1, decay_steps=7, "
                          "end_learning_rate=0.01, power=2.0))",
        "sgd_polynomial_cycle": "SGD(learning_rate=PolynomialDecay(0.1, decay_steps=4, "
                                "cycle=True))",
    }
    names = dict(vars(O), **vars(O.schedules))
    # Keras 2's time decay is a schedule of Keras 3.
    names["with_decay"] = lambda optimizer: lambda learning_rate, decay=0.0, **options: optimizer(
        learning_rate=O.schedules.InverseTimeDecay(learning_rate, 1, decay) if decay else
        learning_rate, **options)
    for name, text in cases.items():
        text, options = text if isinstance(text, tuple) else (text, {})
        l1, l2, scale = options.get("l1", 0.0), options.get("l2", 0.0), options.get("scale", 1.0)
        class_name, arguments = text.split("(", 1)
        optimizer = eval(f"with_decay({class_name})({arguments}", names)
        config = json.loads(json.dumps(keras.optimizers.serialize(optimizer)))
        case = {"text": text, "config": config, "l1": l1, "l2": l2}
        regularizer = keras.regularizers.L1L2(l1, l2) if l1 or l2 else None
        seed = seed_of(name)
        shapes = [(5, 7), (7,), (1,)]
        initial = [random(seed + i, *s) * 0.1 for i, s in enumerate(shapes)]
        initial[0][0, 0] = 0.0  # |w| has no slope there
        variables = [keras.Variable(w) for w in initial]
        recorded, after = [], []
        for step in range(10):
            raw = [random(seed + 10 * step + 50 + i, *s) * scale for i, s in enumerate(shapes)]
            recorded.append(np.concatenate([g.ravel() for g in raw]))
            gradients = [tf.constant(g) for g in raw]
            if regularizer is not None:
                with tf.GradientTape() as tape:
                    loss = tf.add_n([regularizer(v.value) for v in variables])
                for i, extra in enumerate(tape.gradient(loss, [v.value for v in variables])):
                    gradients[i] = gradients[i] + extra
            optimizer.apply(gradients, variables)
            after.append(np.concatenate([v.numpy().ravel() for v in variables]))
        case["sizes"] = [int(np.prod(s)) for s in shapes]
        if regularizer is not None:
            case["regularization"] = float(sum(regularizer(tf.constant(w)) for w in initial))
        tensors = {}
        if optimizer.use_ema:
            optimizer.finalize_variable_values(variables)
            tensors["kept"] = np.concatenate([v.numpy().ravel() for v in variables])
        table.add(name, case, initial=np.concatenate([w.ravel() for w in initial]),
                  gradients=np.stack(recorded), after=np.stack(after), **tensors)
    table.write("keras_optimizers.safetensors")


if __name__ == "__main__":
    print(f"keras {keras.__version__}, tensorflow {tf.__version__}", file=sys.stderr)
    tables = {"layers": layers_table, "losses": losses_table, "metrics": metrics_table,
              "metric_values": metric_values_table,
              "optimizers": optimizers_table}
    for name in sys.argv[1:] or tables:
        tables[name]()
