#!/usr/bin/env python3
"""Writes keras_classes.json: the public classes of keras.layers in Keras 3 and in tf-keras (Keras 2),
without other names of the same class.

    venv/bin/python test/baseline/generate_keras_classes.py
"""

import inspect
import json
import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import keras
import tf_keras

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keras_classes.json")


def classes(package):
    found = {value.__name__ for _, value in inspect.getmembers(package.layers, inspect.isclass)
             if issubclass(value, package.layers.Layer)}
    return sorted(found)


if __name__ == "__main__":
    made = {f"keras-{keras.__version__}": classes(keras), f"tf-keras-{tf_keras.__version__}": classes(tf_keras)}
    with open(PATH, "w") as file:
        json.dump(made, file, indent=1)
        file.write("\n")
    print({name: len(found) for name, found in made.items()})
