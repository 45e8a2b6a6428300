#!/usr/bin/env python3
"""Writes keras_layers_tf_keras.safetensors; see keras_table.py and write_layers() there.

Where files of Keras 2 mean something else than those of Keras 3: which masks layers hand on, and the
order of a SpectralNormalization's weights. tf-keras is Keras 2 for newer TensorFlows; inputs of models
whose names begin with "ids_" are whole numbers.
"""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # its SpectralNormalization asks tf.keras

import keras_table
import tf_keras as keras
from keras_table import np, random, write_layers
from tf_keras import layers as L


def models():
    """name -> (model, batch size)"""
    made = {}

    def add(name, shape, function, batch=6):
        a = keras.Input(shape)
        made["tf_keras_" + name] = (keras.Model(a, function(a)), batch)

    def masked(a, units=3):
        return L.Embedding(7, units, mask_zero=True)(a)

    def two(function):
        """Of two series whose masks differ, and of one with a mask and one without."""

        def joined(a):
            left, right = masked(a[:, :5]), masked(a[:, 5:])
            return function([left, right])

        return joined

    for name, merge in (("add", L.add), ("subtract", L.subtract), ("multiply", L.multiply),
                        ("average", L.average), ("maximum", L.maximum), ("minimum", L.minimum)):
        add(f"ids_{name}_one_mask", (5,), lambda a, merge=merge: L.GRU(2)(
            merge([masked(a), L.Embedding(7, 3)(a)])))
        add(f"ids_{name}_two_masks", (10,), two(lambda both, merge=merge: L.LSTM(2)(merge(both))))
    add("ids_concatenate", (10,), two(lambda both: L.LSTM(2)(L.concatenate(both))))
    add("ids_attention_block", (5,), lambda a: (lambda x: L.GlobalAveragePooling1D()(
        L.LayerNormalization()(L.add([x, L.MultiHeadAttention(2, 3)(query=x, value=x, key=x)]))))(masked(a, 4)))
    # These hand no mask on.
    add("ids_rescaling", (5,), lambda a: L.LSTM(2)(L.Rescaling(2.0)(masked(a))))
    add("ids_identity", (5,), lambda a: L.LSTM(2)(L.Identity()(masked(a))))
    add("ids_normalization", (5,), lambda a: L.LSTM(2)(
        L.Normalization(mean=[0.1, 0.2, 0.3], variance=[1.0, 2.0, 0.5])(masked(a))))
    add("ids_operation", (5,), lambda a: (lambda x: L.LSTM(2)(x + L.Dense(3)(x)))(masked(a)))
    # Their dtype is int64.
    add("discretization", (4,), lambda a: L.Dense(2)(L.Discretization([-0.5, 0.0, 0.5])(a)))
    add("category_encoding", (3,), lambda a: L.Dense(2)(
        L.CategoryEncoding(4, output_mode="multi_hot", dtype="int64")(L.Discretization([-0.5, 0.0, 0.5])(a))))
    add("spectral_dense", (6,), lambda a: L.Dense(2)(L.SpectralNormalization(L.Dense(5, activation="tanh"))(a)))
    add("spectral_conv", (6, 5, 3), lambda a: L.SpectralNormalization(L.Dense(2))(L.Flatten()(
        L.SpectralNormalization(L.Conv2D(4, 3, use_bias=False), power_iterations=2)(a))))
    return made


def make_input(name, shape):
    if "_ids_" not in name:
        return random(keras_table.seed_of(name) + 1, *shape)
    rng = np.random.default_rng(keras_table.seed_of(name) + 1)
    x = rng.integers(1, 7, size=shape)
    # Rows end in different places, and so do their halves; no half is masked as a whole.
    half = shape[1] if shape[1] < 10 else shape[1] // 2
    for i, row in enumerate(x):
        row[half - i % 4:half] = 0
        if half < shape[1]:
            row[shape[1] - (i // 2) % 3:] = 0
    return x.astype(np.float32)


if __name__ == "__main__":
    write_layers(models(), "keras_layers_tf_keras.safetensors", make_input)
