#!/usr/bin/env python3
"""Writes keras_layers_einsum.safetensors: EinsumDense, and powers of tensors by tensors and arrays;
tf_... are tf.keras 2's (package tf-keras); see keras_table.py and write_layers() there."""

from keras_table import keras, np, tf, random, write_layers

import tf_keras
from keras import layers as L
from keras import ops

ROW = np.array([0.5, -1.0, 2.0, 0.25], "f4")
ALL = np.round(random(5, 3, 4) * 8) / 8


def dense_models(models, prefix, k):
    def add(name, shape, *args, batch=3, **kw):
        a = k.Input(shape)
        models[f"{prefix}einsum_dense_{name}"] = (k.Model(a, k.layers.EinsumDense(*args, **kw)(a)), batch)

    add("row", (4,), "ab,bc->ac", output_shape=5, bias_axes="c")
    add("row_no_bias", (4,), "ab,bc->ac", output_shape=5)
    add("steps", (3, 4), "abc,cd->abd", output_shape=(None, 5), bias_axes="d", activation="tanh")
    add("steps_given", (3, 4), "abc,cd->abd", output_shape=(3, 5), bias_axes="bd")
    add("softmax", (3, 4), "abc,cd->abd", output_shape=(None, 5), bias_axes="d", activation="softmax")
    add("heads", (3, 4), "abc,cde->abde", output_shape=(None, 2, 5), bias_axes="de")
    add("heads_one_bias", (3, 4), "abc,cde->abde", output_shape=(None, 2, 5), bias_axes="d")
    add("heads_bias_of_steps", (3, 4), "abc,cde->abde", output_shape=(3, 2, 5), bias_axes="be")
    add("of_heads", (3, 2, 5), "abde,dec->abc", output_shape=(None, 4), bias_axes="c")
    add("other_order", (3, 4, 2), "abcd,edc->aeb", output_shape=(6, 3), bias_axes="eb")
    add("along_steps", (3, 4), "abc,bd->adc", output_shape=(5, None), bias_axes="d", activation="relu")
    add("of_each_step", (3, 4), "abc,bcd->abd", output_shape=(3, 5), bias_axes="bd")
    add("dots", (3, 4), "...x,xy->...y", output_shape=5, bias_axes="y")
    add("dots_of_row", (4,), "...x,xy->...y", output_shape=5, bias_axes="y", activation="sigmoid")
    add("dots_of_image", (3, 2, 4), "...x,xy->...y", output_shape=(5,), bias_axes="y")
    add("dots_none_stand_for", (4,), "...ab,bc->...ac", output_shape=(5,), bias_axes="c")
    add("dots_behind", (4, 3, 2), "ab...,bc->ac...", output_shape=5, bias_axes="c")
    add("summed", (3, 4), "abc,d->ad", output_shape=5)
    if prefix == "":
        add("regularized", (3, 4), "abc,cd->abd", output_shape=(None, 5), bias_axes="d",
            activity_regularizer=k.regularizers.L2(0.1))


def power_models(models):
    def operation(name, function, shape=(3, 4), batch=3):
        """As in generate_keras_layers_tensors.py."""
        a = keras.Input(shape)
        y = function(a, L.Dense(shape[-1])(a))
        models["op_" + name] = (keras.Model(a, L.Dense(2)(y)), batch)

    operation("power_two", lambda x, y: (ops.abs(x) + 0.2) ** y)
    operation("power_two_of_zero", lambda x, y: ops.relu(x) ** (ops.abs(y) + 1.5))
    operation("power_two_below_zero", lambda x, y: x ** ops.cast(ops.cast(y * 3, "int32"), "float32"))
    operation("power_broadcast", lambda x, y: ops.power(ops.exp(y), ops.mean(x, axis=1, keepdims=True)))
    operation("power_of_row", lambda x, y: ops.power(ops.abs(y) + 0.1, ROW))
    operation("power_of_all", lambda x, y: (ops.abs(y) + 0.1) ** ALL)
    operation("row_to_the_power", lambda x, y: ops.power(np.abs(ROW), y))


def tf_power_models(models):
    K = tf_keras.layers

    def operation(name, function, shape=(3, 4), batch=3):
        a = tf_keras.Input(shape)
        models["tf_" + name] = (tf_keras.Model(a, K.Dense(2)(function(a, K.Dense(shape[-1])(a)))), batch)

    operation("power_two", lambda x, y: (tf.abs(x) + 0.2) ** y)
    operation("pow_two", lambda x, y: tf.pow(tf.nn.relu(x), tf.abs(y) + 1.5))
    operation("power_of_row", lambda x, y: (tf.abs(y) + 0.1) ** ROW)
    operation("row_to_the_power", lambda x, y: tf.pow(np.abs(ROW), y))


def models():
    """name -> (model, batch size)"""
    made = {}
    dense_models(made, "", keras)
    dense_models(made, "tf_", tf_keras)
    power_models(made)
    tf_power_models(made)
    return made


if __name__ == "__main__":
    write_layers(models(), "keras_layers_einsum.safetensors")
