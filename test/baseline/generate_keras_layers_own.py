#!/usr/bin/env python3
"""Writes keras_layers_own.safetensors; see keras_table.py and write_layers() there.

Layers that Keras does not have, as classes of a user under our package's name: that is how files
name them. What they compute is written here from the formulas of their papers.
"""

from keras_table import keras, normal_input, np, random, seed_of, sequential, write_layers

from keras import layers as L
from keras import ops

own = keras.saving.register_keras_serializable(package="model_hopper")


class Own(L.Layer):
    """Keeps its arguments for the file."""

    def __init__(self, name=None, trainable=True, dtype=None, **arguments):
        super().__init__(name=name, trainable=trainable)
        self.arguments = arguments

    def get_config(self):
        return {**super().get_config(), **self.arguments}


@own
class NTKDense(Own):
    def build(self, shape):
        units = self.arguments["units"]
        self.kernel = self.add_weight(shape=(shape[-1], units), name="kernel")
        if self.arguments.get("use_bias", True):
            self.bias = self.add_weight(shape=(units,), name="bias")

    def call(self, x):
        y = ops.matmul(x, self.kernel) / np.sqrt(x.shape[-1]).astype(np.float32)
        if self.arguments.get("use_bias", True):
            y = y + self.bias
        return keras.activations.get(self.arguments.get("activation"))(y)

    def compute_output_shape(self, shape):
        return (*shape[:-1], self.arguments["units"])


@own
class DenseBatchEnsemble(Own):
    def uses(self, what):
        return self.arguments.get("use_" + what, True)

    def build(self, shape):
        units, members = self.arguments["units"], self.arguments["ensemble_size"]
        self.kernel = self.add_weight(shape=(shape[-1], units), name="kernel")
        if self.uses("alpha"):
            self.alpha = self.add_weight(shape=(members, shape[-1]), name="alpha")
        if self.uses("gamma"):
            self.gamma = self.add_weight(shape=(members, units), name="gamma")
        if self.uses("bias"):
            each = (members, units) if self.uses("ensemble_bias") else (units,)
            self.bias = self.add_weight(shape=each, name="bias")

    def call(self, x):
        if len(x.shape) == 2:  # one row for all members
            x = ops.repeat(x[:, None], self.arguments["ensemble_size"], axis=1)
        y = ops.matmul(x * self.alpha if self.uses("alpha") else x, self.kernel)
        if self.uses("gamma"):
            y = y * self.gamma
        if self.uses("bias"):
            y = y + self.bias
        return keras.activations.get(self.arguments.get("activation"))(y)

    def compute_output_shape(self, shape):
        return (shape[0], self.arguments["ensemble_size"], self.arguments["units"])


@own
class EnsembleAverage(Own):
    def call(self, x):
        return ops.mean(keras.activations.get(self.arguments.get("activation"))(x), axis=1)

    def compute_output_shape(self, shape):
        return (shape[0], *shape[2:])


@own
class Temperature(Own):
    def call(self, x):
        share = np.float32(1 / self.arguments["temperature"])
        if x.shape[-1] > 1:
            return ops.softmax(share * ops.log(ops.maximum(x, 1e-30)), axis=-1)
        p = ops.clip(x, np.float32(1e-30), np.float32(1 - 2**-24))
        return ops.sigmoid(share * (ops.log(p) - ops.log(1 - p)))

    def compute_output_shape(self, shape):
        return shape


@own
class PeriodicEmbedding(Own):
    def build(self, shape):
        n, k, u = shape[-1], self.arguments["frequencies"], self.arguments["units"]
        self.frequencies = self.add_weight(shape=(n, k), name="frequencies")
        self.phases = self.add_weight(shape=(n, k), name="phases")
        self.kernel = self.add_weight(shape=(n, k, u), name="kernel")
        self.bias = self.add_weight(shape=(n, u), name="bias")

    def call(self, x):
        turns = 2 * np.pi * x[..., None] * self.frequencies + self.phases
        y = ops.einsum("bnk,nku->bnu", ops.cos(turns), self.kernel) + self.bias
        y = ops.reshape(y, (-1, y.shape[1] * y.shape[2]))
        return ops.concatenate([y, x], axis=1) if self.arguments["append_input"] else y

    def compute_output_shape(self, shape):
        more = 1 if self.arguments["append_input"] else 0
        return (shape[0], shape[1] * (self.arguments["units"] + more))


@own
class ParametricActivation(Own):
    def build(self, shape):
        self.alpha = self.add_weight(shape=(shape[-1],), name="alpha")

    def call(self, x):
        return x + (keras.activations.get(self.arguments["activation"])(x) - x) * self.alpha

    def compute_output_shape(self, shape):
        return shape


@own
class CategoryEmbedding(Own):
    def lengths(self):
        return self.arguments.get("lengths", [1] * len(self.arguments["input_dims"]))

    def build(self, shape):
        rows = sum(self.arguments["input_dims"])
        self.table = self.add_weight(shape=(rows, self.arguments["output_dim"]),
                                     name="embeddings")

    def call(self, x):
        first = np.cumsum([0] + self.arguments["input_dims"][:-1])
        ids = ops.cast(x, "int32")
        y = ops.take(self.table, ids + np.repeat(first, self.lengths()).astype(np.int32), axis=0)
        parts, at = [], 0
        for length in self.lengths():
            part, words = y[:, at:at + length], ids[:, at:at + length, None] != 0
            if length > 1:  # a text: the mean of its words, of none 0
                count = ops.maximum(ops.sum(ops.cast(words, "float32"), axis=1), 1.0)
                part = ops.sum(ops.where(words, part, 0.0), axis=1) / count
            parts.append(ops.reshape(part, (-1, self.arguments["output_dim"])))
            at += length
        return ops.concatenate(parts, axis=1)

    def compute_output_shape(self, shape):
        return (shape[0], len(self.arguments["input_dims"]) * self.arguments["output_dim"])


@own
class Take(Own):
    """As keras.ops.take()."""

    def call(self, x):
        return ops.take(x, self.arguments["indices"], axis=self.arguments["axis"])

    def compute_output_shape(self, shape):
        shape = list(shape)
        shape[self.arguments["axis"]] = len(self.arguments["indices"])
        return tuple(shape)


def layer_models():
    """name -> (model, batch size)"""
    models = {}

    def add(name, shape, *stack, batch=5):
        models[name] = (sequential(shape, *stack), batch)

    add("own_ntk_dense", (7,), NTKDense(units=4))
    add("own_ntk_dense_relu", (7,), NTKDense(units=4, activation="relu", use_bias=False))
    add("own_ntk_dense_two", (9,), NTKDense(units=20, activation="selu"),
        NTKDense(units=3, activation="softmax"), batch=33)
    add("own_ntk_dense_series", (3, 5), NTKDense(units=6, activation="mish"))
    signs = {"class_name": "RandomSign", "config": {}}
    add("own_batch_ensemble", (7,), DenseBatchEnsemble(
        units=6, ensemble_size=3, activation="relu", alpha_initializer=signs), batch=9)
    add("own_batch_ensemble_two", (5,), DenseBatchEnsemble(
        units=9, ensemble_size=4, activation="selu", use_gamma=False, use_ensemble_bias=False),
        DenseBatchEnsemble(units=3, ensemble_size=4, activation="softmax"), batch=21)
    add("own_batch_ensemble_bare", (5,), DenseBatchEnsemble(
        units=4, ensemble_size=2, use_alpha=False, use_bias=False),
        DenseBatchEnsemble(units=3, ensemble_size=2, use_gamma=False, activation="mish"))
    add("own_batch_ensemble_kernel", (4, 5), DenseBatchEnsemble(
        units=3, ensemble_size=4, use_alpha=False, use_gamma=False))
    # As an output it is one of members, too (test/unit/train/tabm_test.cpp).
    for activation in ("softmax", "sigmoid", None):
        add(f"own_average_{activation}", (4, 3), EnsembleAverage(activation=activation),
            L.Identity())
    add("own_average_inner", (3, 2, 4), EnsembleAverage(activation="softmax"), L.Flatten())
    add("own_temperature", (5,), L.Softmax(), Temperature(temperature=2.5), L.Identity())
    add("own_temperature_series", (3, 4), L.Softmax(), Temperature(temperature=0.4))
    add("own_temperature_single", (1,), L.Activation("sigmoid"), Temperature(temperature=0.7))
    add("own_periodic", (6,), PeriodicEmbedding(frequencies=16, units=3, append_input=True),
        batch=37)
    add("own_periodic_alone", (3,), PeriodicEmbedding(frequencies=5, units=1, append_input=False))
    add("own_parametric_selu", (9,), ParametricActivation(activation="selu"), batch=21)
    add("own_parametric_mish", (3, 6), ParametricActivation(activation="mish"))
    add("own_ids_embedding", (3,), CategoryEmbedding(input_dims=[4, 9, 2], output_dim=5), batch=12)
    add("own_ids_words", (6,), CategoryEmbedding(input_dims=[5, 7, 3], lengths=[1, 4, 1],
                                                 output_dim=3), batch=12)
    add("own_take", (9,), Take(axis=1, indices=[7, 0, 1, 1, -1]), NTKDense(units=3))
    add("own_take_inner", (4, 3), Take(axis=1, indices=[2, 3, 0]))
    return models


def make_input(name, shape):
    if "_ids_" not in name:
        return normal_input(name, shape)
    dims = np.array([5, 7, 7, 7, 7, 3] if "words" in name else [4, 9, 2])
    ids = (np.abs(random(seed_of(name) + 1, *shape)) * 1e3 % dims).astype(np.int32)
    if "words" in name:  # texts of no, one and more words
        ids[:, 1:5] *= np.arange(4) < np.arange(len(ids))[:, None] % 5
    return ids.astype(np.float32)


if __name__ == "__main__":
    write_layers(layer_models(), "keras_layers_own.safetensors", make_input)
