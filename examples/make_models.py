"""Writes the architectures of the demo, digits_cnn.json and digits_mlp.json, with Keras.

    pip install -r requirements.txt tensorflow-cpu && python make_models.py
"""

import pathlib

import keras
from keras import layers

HERE = pathlib.Path(__file__).parent
IMAGE = (8, 8)
CLASSES = 10


def cnn():
    return keras.Sequential([
        keras.Input(IMAGE),
        layers.Reshape(IMAGE + (1,)),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Dropout(0.25),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(CLASSES, activation="softmax"),
    ], name="digits_cnn")


def mlp():
    return keras.Sequential([
        keras.Input(IMAGE),
        layers.Flatten(),
        layers.Dense(128, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(64, activation="relu"),
        layers.Dense(CLASSES, activation="softmax"),
    ], name="digits_mlp")


def main():
    for model in (cnn(), mlp()):
        (HERE / f"{model.name}.json").write_text(model.to_json(indent=1) + "\n", encoding="utf-8")
        print(model.name, model.count_params(), "parameters")


if __name__ == "__main__":
    main()
