#!/usr/bin/env python3
"""Writes keras_layers_scalars.safetensors: models of which an example is a number, and no list of
one: keras.Input(shape=()). tf_... are tf.keras 2's (package tf-keras); see keras_table.py and
write_layers() there. Inputs of models whose names begin with "ids_" are whole numbers."""

import keras_table
from keras_table import keras, random, write_layers

import numpy as np
import tf_keras
from keras import layers as L
from keras import ops


def models():
    """name -> (model, batch size)"""
    made = {}

    def add(name, function, batch=5, k=keras):
        a = k.Input(())
        made[name] = (k.Model(a, function(a)), batch)

    add("ids_scalar_embedding", lambda a: L.Dense(2)(L.Embedding(7, 3)(a)))
    add("ids_scalar_category", lambda a: L.Dense(2)(L.CategoryEncoding(7, output_mode="one_hot")(a)))
    add("ids_scalar_category_one_row", lambda a: L.Dense(2)(L.CategoryEncoding(7, output_mode="one_hot")(a)),
        batch=1)
    add("ids_scalar_one_hot", lambda a: L.Dense(2)(ops.one_hot(ops.cast(a, "int32"), 7)))
    add("scalar_discretization", lambda a: L.Dense(2)(L.Embedding(4, 3)(L.Discretization([-0.5, 0.0, 0.5])(a))))
    add("scalar_discretization_one_hot",
        lambda a: L.Dense(2)(L.Discretization([-0.5, 0.0, 0.5], output_mode="one_hot")(a)))
    add("scalar_item", lambda a: L.Dense(2, activation="tanh")(a[:, None]))
    add("scalar_expand_dims", lambda a: L.Dense(2)(ops.expand_dims(a, -1)))
    add("scalar_reshape", lambda a: L.Dense(2)(L.Reshape((1,))(a)))
    add("scalar_flatten", lambda a: L.Dense(2)(L.Flatten()(a)))
    add("scalar_normalization",
        lambda a: L.Dense(2)(ops.expand_dims(L.Normalization(axis=None, mean=0.3, variance=2.0)(a), 1)))
    add("scalar_operations", lambda a: L.Dense(2)(L.Reshape((1,))(ops.sin(a * 2.0 + 1.0) ** 2 - 1.0 / (2.0 + abs(a)))))
    add("scalar_stack", lambda a: L.Dense(2)(ops.stack([a, ops.square(a), ops.exp(a)], axis=1)))
    add("scalar_layers", lambda a: L.Dense(2)(L.Reshape((1,))(
        L.Add()([L.Activation("tanh")(a), L.Rescaling(0.5, 1.0)(a), L.LeakyReLU(0.1)(a), L.Multiply()([a, a])]))))
    add("scalar_dropped", lambda a: L.Dense(2)(L.Reshape((1,))(L.Dropout(0.0)(L.Identity()(a)))))
    add("scalar_to_scalar", lambda a: ops.squeeze(L.Dense(1)(L.Reshape((1,))(a)), axis=1))

    def two(name, function, k=keras):
        a, b = k.Input((), name="user"), k.Input((), name="item")
        made[name] = (k.Model([a, b], function(a, b)), 6)

    two("ids_scalar_recommender", lambda a, b: L.Dot(axes=1)([L.Embedding(7, 4)(a), L.Embedding(7, 4)(b)]))
    two("ids_scalar_and_number", lambda a, b: L.Dense(1)(L.Concatenate()([L.Embedding(7, 4)(a), L.Reshape((1,))(b)])))
    two("scalar_difference", lambda a, b: L.Dense(2)(ops.expand_dims(ops.maximum(a, b) - a * b, 1)))

    K = tf_keras.layers
    add("ids_tf_scalar_embedding", lambda a: K.Dense(2)(K.Embedding(7, 3)(a)), k=tf_keras)
    add("ids_tf_scalar_category", lambda a: K.Dense(2)(K.CategoryEncoding(7, output_mode="one_hot")(a)), k=tf_keras)
    add("tf_scalar_item", lambda a: K.Dense(2)(a[:, None] * 2.0), k=tf_keras)
    add("tf_scalar_flatten", lambda a: K.Dense(2)(K.Flatten()(a)), k=tf_keras)
    two("ids_tf_scalar_recommender", lambda a, b: K.Dot(axes=1)([K.Embedding(7, 4)(a), K.Embedding(7, 4)(b)]),
        k=tf_keras)
    return made


def make_input(name, shape):
    seed = keras_table.seed_of(name) + 1
    if not name.startswith("ids_"):
        return random(seed, *shape)
    return np.random.default_rng(seed).integers(0, 7, size=shape).astype(np.float32)


if __name__ == "__main__":
    write_layers(models(), "keras_layers_scalars.safetensors", make_input)
