#!/usr/bin/env python3
"""Writes keras_callbacks.json: what Keras' EarlyStopping and ReduceLROnPlateau decide.

Real callbacks of a real compiled model are given sequences of metrics; after each epoch what they
hold is recorded: wait, best epoch, learning rate, whether training goes on. The model's one weight
holds the epoch's number, so that the restored weight says which epoch was the best.
"""
import json
import os
import sys

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import warnings

import keras
import numpy as np

warnings.filterwarnings("ignore")


def build():
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse",
                  metrics=["accuracy", "mae", keras.metrics.AUC(name="auc")])
    model.train_on_batch(np.zeros((2, 1)), np.zeros((2, 1)))
    return model


MODEL = build()


def plain(value):
    """JSON has no NaN."""
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return "nan" if isinstance(value, float) and value != value else value


def text(value):
    return repr(value)


def arguments(given):
    return ", ".join(f"{key}={text(value)}" for key, value in given.items())


def record(early, plateau, values, learning_rate):
    model = MODEL
    model.optimizer.learning_rate = learning_rate
    callbacks = []
    stop = rate = None
    if early is not None:
        stop = keras.callbacks.EarlyStopping(**early)
        callbacks.append(stop)
    if plateau is not None:
        rate = keras.callbacks.ReduceLROnPlateau(**plateau)
        callbacks.append(rate)
    for callback in callbacks:
        callback.set_model(model)
        callback.on_train_begin()
    model.stop_training = False
    epochs = []
    for epoch, value in enumerate(values):
        model.set_weights([np.full((1, 1), epoch + 1, np.float32)])
        logs = {key: v for key, v in value.items() if v is not None}
        for callback in callbacks:
            callback.on_epoch_end(epoch, dict(logs))
        now = {"learning_rate": float(np.asarray(model.optimizer.learning_rate))}
        if stop is not None:
            now.update(wait=stop.wait, best=stop.best,
                       best_iteration=stop.best_epoch + 1 if stop.best is not None else 0,
                       stopped=bool(model.stop_training))
        if rate is not None:
            now.update(plateau_wait=rate.wait, cooldown=rate.cooldown_counter)
        epochs.append(now)
        if model.stop_training:
            break
    for callback in callbacks:
        callback.on_train_end()
    parts = []
    if early is not None:
        parts.append("EarlyStopping(" + arguments(early) + ")")
    if plateau is not None:
        parts.append("ReduceLROnPlateau(" + arguments(plateau) + ")")
    return {"fit": "callbacks=[" + ", ".join(parts) + "]",
            "flat": arguments({"patience": 0, **early}) if early is not None and plateau is None
            else "",
            "learning_rate": learning_rate, "values": values, "epochs": epochs,
            "restored": float(model.get_weights()[0][0, 0])}


def as_float32(values):
    return [None if v is None else float(np.float32(v)) for v in values]


def main():
    rng = np.random.default_rng(20261121)
    falling = as_float32(1.0 / (1 + np.arange(20)))
    noisy = as_float32(np.exp(-np.arange(24) / 8) + rng.normal(0, 0.08, 24))
    bowl = as_float32((np.arange(20) - 6.0) ** 2 / 50 + 0.25)
    flat = as_float32([0.5] * 15)
    rising = as_float32(1 - np.exp(-np.arange(20) / 4) + rng.normal(0, 0.02, 20))
    tiny = as_float32(0.3 + 1e-8 * -np.arange(12))
    ties = as_float32([0.5, 0.4, 0.4, 0.3999, 0.3998, 0.3997, 0.3996, 0.2, 0.2, 0.2, 0.2])
    gaps = [v if i % 3 == 2 else None for i, v in enumerate(noisy)]
    steps = as_float32([0.9, 0.8, 0.8, 0.8, 0.8, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.69, 0.7, 0.7, 0.7])
    not_a_number = [0.5, float("nan"), 0.4, float("nan"), float("nan"), 0.39, 0.5, 0.5]
    first_nan = [float("nan"), 0.5, 0.4, 0.3, 0.2]
    losses = [falling, noisy, bowl, flat, tiny, ties, gaps, steps, not_a_number, first_nan]
    cases = []

    def one(early, plateau, name, values, rate=0.01):
        cases.append(record(early, plateau, [{name: v} for v in values], rate))

    for values in losses:
        for patience in (0, 1, 2, 5):
            for restore in (False, True):
                one(dict(patience=patience, restore_best_weights=restore), None, "val_loss", values)
        one(dict(patience=2, min_delta=0.0001), None, "val_loss", values)
        one(dict(patience=3, min_delta=0.05, restore_best_weights=True), None, "val_loss", values)
        one(dict(patience=3, min_delta=-0.05, restore_best_weights=True), None, "val_loss", values)
        one(dict(patience=2, baseline=0.3), None, "val_loss", values)
        one(dict(patience=4, baseline=0.75, restore_best_weights=True), None, "val_loss", values)
        one(dict(patience=1, start_from_epoch=4, restore_best_weights=True), None, "val_loss",
            values)
        for plateau in (dict(patience=0), dict(patience=1, factor=0.5), dict(patience=2),
                        dict(patience=2, cooldown=2, factor=0.3), dict(patience=1, min_lr=0.002),
                        dict(patience=1, min_delta=0.05, cooldown=1, factor=0.7, min_lr=1e-3),
                        dict(patience=1, min_delta=0, factor=0.9)):
            one(None, plateau, "val_loss", values, 0.01)
            one(None, plateau, "val_loss", values, 0.3)
        one(dict(patience=4, restore_best_weights=True), dict(patience=1, factor=0.25), "val_loss",
            values)
    for values in (rising, noisy, flat, bowl):
        for name in ("val_accuracy", "accuracy", "val_auc", "auc"):
            one(dict(monitor=name, patience=1, restore_best_weights=True), None, name, values)
            one(dict(monitor=name, patience=2, min_delta=0.01), None, name, values)
            one(None, dict(monitor=name, patience=1), name, values)
        for name in ("loss", "mae", "val_mae"):
            one(dict(monitor=name, patience=1, restore_best_weights=True), None, name, values)
        one(dict(monitor="val_mae", mode="max", patience=2), None, "val_mae", values)
        one(dict(monitor="val_accuracy", mode="min", patience=2), None, "val_accuracy", values)
    # Two rules that watch different things.
    both = [{"val_loss": a, "accuracy": b} for a, b in zip(noisy, rising)]
    cases.append(record(dict(monitor="val_loss", patience=3, restore_best_weights=True),
                        dict(monitor="accuracy", patience=0, factor=0.5), both, 0.05))
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "keras_callbacks.json"), "w") as out:
        out.write('{"keras": "%s", "cases": [\n' % keras.__version__)
        out.write(",\n".join(json.dumps(plain(case)) for case in cases))
        out.write("\n]}\n")
    print(len(cases), "cases with Keras", keras.__version__, file=sys.stderr)


if __name__ == "__main__":
    main()
