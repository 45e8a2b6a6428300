#!/usr/bin/env python3
"""Writes keras_layers_functions.safetensors, of operations on one tensor: functions of numbers, and
along axes; tf_... are tf.keras 2's (package tf-keras); see keras_table.py and write_layers() there.
Others are in generate_keras_layers_operations.py."""

from keras_table import keras, tf, write_layers

import tf_keras
from keras import layers as L
from keras import ops


def keras_3_models(models):
    def operation(name, function, shape=(3, 4), batch=3):
        """As in generate_keras_layers_operations.py."""
        a = keras.Input(shape)
        y = function(a, L.Dense(shape[-1])(a))
        models["op_" + name] = (keras.Model(a, L.Dense(2)(y)), batch)

    image = (4, 5, 3)
    for name in ("arctan", "cosh", "expm1", "sinh", "tan"):
        function = getattr(ops, name)
        operation(name, lambda x, y, f=function: f(y))
    for name in ("ceil", "floor", "round", "sign"):  # which have no gradient
        function = getattr(ops, name)
        operation(name, lambda x, y, f=function: f(ops.relu(x) * 3) * y)
    operation("round_halves", lambda x, y: ops.round(ops.round(x * 4) / 2) * y)
    operation("log2", lambda x, y: ops.log2(y * y + 0.3))
    operation("log10", lambda x, y: ops.log10(ops.abs(y) + 0.1))

    operation("logsumexp", lambda x, y: ops.logsumexp(y, axis=1))
    operation("logsumexp_large", lambda x, y: ops.logsumexp(y * 100, axis=-1, keepdims=True) * 0.01 + x)
    operation("logsumexp_axes", lambda x, y: ops.logsumexp(y, axis=(1, 2)), image)
    operation("norm", lambda x, y: ops.norm(y, axis=1))
    operation("norm_kept", lambda x, y: y / ops.norm(y, axis=-1, keepdims=True))
    operation("norm_2", lambda x, y: ops.norm(y, ord=2, axis=-2))
    operation("norm_fro", lambda x, y: ops.norm(y, ord="fro", axis=(1, 2)), image)
    operation("cumsum", lambda x, y: ops.cumsum(y, axis=1))
    operation("cumsum_last", lambda x, y: ops.cumsum(y, axis=-1) - x, image)
    operation("flip", lambda x, y: ops.flip(y, axis=1) + x)
    operation("flip_last", lambda x, y: ops.flip(y, axis=-1) + x)
    operation("flip_from_end", lambda x, y: ops.flip(y, axis=-2) - x, image)
    operation("repeat", lambda x, y: ops.repeat(y, 2, axis=1))
    operation("repeat_last", lambda x, y: ops.repeat(y, 3, axis=-1), image)
    operation("tile", lambda x, y: ops.tile(y, [1, 2, 1]))
    operation("tile_several", lambda x, y: ops.tile(y, [1, 1, 2, 3]), image)
    operation("tile_fewer_numbers", lambda x, y: ops.tile(y, [2, 1]))
    operation("tile_of_row", lambda x, y: ops.tile(ops.expand_dims(y, 1), [1, 3, 1]), (4,))


def tf_keras_models(models):
    K = tf_keras.layers

    def operation(name, function, shape=(3, 4), batch=3):
        a = tf_keras.Input(shape)
        models["tf_" + name] = (tf_keras.Model(a, K.Dense(2)(function(a, K.Dense(shape[-1])(a)))), batch)

    image = (4, 5, 3)
    for name in ("atan", "cosh", "expm1", "sinh", "tan"):
        function = getattr(tf.math, name)
        operation(name, lambda x, y, f=function: f(y))
    for name in ("ceil", "floor", "round", "sign"):
        function = getattr(tf.math, name)
        operation(name, lambda x, y, f=function: f(tf.nn.relu(x) * 3) * y)
    operation("reduce_logsumexp", lambda x, y: tf.reduce_logsumexp(y, axis=1))
    operation("norm", lambda x, y: y / tf.norm(y, axis=-1, keepdims=True))
    operation("norm_axes", lambda x, y: tf.norm(y, axis=[1, 2]), image)
    operation("cumsum", lambda x, y: tf.cumsum(y, axis=1))
    operation("reverse", lambda x, y: tf.reverse(y, axis=[1]) + x)
    operation("repeat", lambda x, y: tf.repeat(y, 2, axis=1))
    operation("tile", lambda x, y: tf.tile(y, [1, 2, 1]))


def models():
    """name -> (model, batch size)"""
    made = {}
    keras_3_models(made)
    tf_keras_models(made)
    return made


if __name__ == "__main__":
    write_layers(models(), "keras_layers_functions.safetensors")
