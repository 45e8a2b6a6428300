#!/usr/bin/env python3
"""Writes keras_layers_inputs.safetensors: models with several inputs; see keras_table.py."""

from keras_table import keras, write_layers

from keras import layers as L


def input_models():
    """name -> (model, batch size)"""
    models = {}
    wide = keras.Input((4,), name="wide")
    deep = keras.Input((3,), name="deep")
    hidden = L.Dense(6, activation="relu")(deep)
    models["wide_and_deep"] = (
        keras.Model([wide, deep], L.Dense(2, activation="softmax")(L.Concatenate()([wide, hidden]))),
        5)
    image = keras.Input((5, 4, 2), name="image")
    numbers = keras.Input((3,), name="numbers")
    flag = keras.Input((1,), name="flag")
    seen = L.Flatten()(L.Conv2D(3, 2, activation="relu")(image))
    joined = L.Concatenate()([numbers, seen, flag])
    models["image_and_numbers"] = (
        keras.Model([flag, image, numbers], L.Dense(1, activation="sigmoid")(joined)), 3)
    a = keras.Input((4,), name="a")
    b = keras.Input((4,), name="b")
    shared = L.Dense(3, activation="tanh")
    models["one_layer_for_two_inputs"] = (
        keras.Model([a, b], L.Dense(2)(L.Concatenate()([shared(a), shared(b), a]))), 4)
    return models


if __name__ == "__main__":
    write_layers(input_models(), "keras_layers_inputs.safetensors")
