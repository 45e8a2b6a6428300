#!/usr/bin/env python3
"""Writes keras_layers_cells.safetensors: recurrent layers that are written as cells, RNN(LSTMCell(4))
and RNN([GRUCell(4), LSTMCell(3)]); tf_... are tf.keras 2's (package tf-keras); see keras_table.py and
write_layers() there. Inputs of models whose names begin with "ids_" are whole numbers."""

import keras_table
from keras_table import keras, random, write_layers

import numpy as np
import tf_keras


def add_models(made, prefix, k):
    L = k.layers

    def add(name, function, shape=(5, 3), batch=4):
        a = k.Input(shape)
        made[name] = (k.Model(a, function(a)), batch)

    for cell in ("LSTMCell", "GRUCell", "SimpleRNNCell"):
        of = getattr(L, cell)
        name = f"{prefix}rnn_{cell.lower()}"
        add(name, lambda a: L.RNN(of(4))(a))
        add(name + "_sequences", lambda a: L.RNN(of(4, activation="relu"), return_sequences=True)(a))
        add(name + "_backwards", lambda a: L.RNN(of(4, use_bias=False), go_backwards=True)(a))
        add("ids_" + name + "_masked", lambda a: L.RNN(of(4))(L.Embedding(7, 3, mask_zero=True)(a)), (5,))
    add(f"{prefix}rnn_gru_reset_before", lambda a: L.RNN(L.GRUCell(4, reset_after=False))(a))
    add(f"{prefix}rnn_bidirectional", lambda a: L.Bidirectional(L.RNN(L.LSTMCell(4), return_sequences=True))(a))
    add(f"{prefix}rnn_stacked", lambda a: L.RNN([L.LSTMCell(4), L.GRUCell(3)])(a))
    add(f"{prefix}rnn_stacked_sequences", lambda a: L.Dense(2)(
        L.RNN(L.StackedRNNCells([L.SimpleRNNCell(4), L.GRUCell(3), L.LSTMCell(2)]), return_sequences=True)(a)))
    add(f"ids_{prefix}rnn_stacked_masked",
        lambda a: L.RNN([L.LSTMCell(4), L.GRUCell(3)])(L.Embedding(7, 3, mask_zero=True)(a)), (5,))


def make_input(name, shape):
    """Ids 0 to 6 with zeros at their ends; no row has nothing else."""
    seed = keras_table.seed_of(name) + 1
    if not name.startswith("ids_"):
        return random(seed, *shape)
    x = np.random.default_rng(seed).integers(1, 7, size=shape)
    for i, row in enumerate(x):
        row[5 - i % 4:] = 0
    return x.astype(np.float32)


def models():
    """name -> (model, batch size)"""
    made = {}
    add_models(made, "", keras)
    add_models(made, "tf_", tf_keras)
    return made


if __name__ == "__main__":
    write_layers(models(), "keras_layers_cells.safetensors", make_input)
