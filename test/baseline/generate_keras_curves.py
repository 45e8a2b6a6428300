#!/usr/bin/env python3
"""Writes keras_curves.safetensors; see keras_table.py.

Whole models: 20 steps of fit() with SGD on batches in order, and the loss before each step.
"""

from keras_table import Table, fill_weights, keras, np, random, seed_of

from keras import layers as L

STEPS, BATCH = 20, 8


def transformer(ids):
    x = L.Embedding(9, 8, mask_zero=True)(ids)
    x = L.LayerNormalization()(L.Add()([x, L.MultiHeadAttention(2, 4)(x, x)]))
    x = L.LayerNormalization()(L.Add()([x, L.Dense(8)(L.Dense(16, activation="gelu")(x))]))
    return L.Dense(1)(L.GlobalAveragePooling1D()(x))


def curve_models():
    """name -> (model, learning rate)"""
    ids = keras.Input((10,))
    return {
        "lstm": (keras.Sequential([
            keras.Input((12, 2)), L.LSTM(8, return_sequences=True), L.LSTM(6), L.Dense(1)]), 0.05),
        "ids_lstm": (keras.Sequential([
            keras.Input((10,)), L.Embedding(9, 5, mask_zero=True), L.Bidirectional(L.GRU(4)),
            L.Dense(1)]), 0.05),
        "conv_1d": (keras.Sequential([
            keras.Input((16, 2)), L.Conv1D(6, 3, padding="causal", activation="relu"),
            L.MaxPooling1D(), L.Conv1D(8, 3, padding="causal", dilation_rate=2, activation="relu"),
            L.GlobalAveragePooling1D(), L.Dense(1)]), 0.05),
        "conv_2d": (keras.Sequential([
            keras.Input((9, 8, 2)), L.Conv2D(6, 3, activation="relu"), L.MaxPooling2D(),
            L.Conv2D(8, 2, padding="same", activation="relu"), L.Flatten(), L.Dense(1)]), 0.002),
        "ids_transformer": (keras.Model(ids, transformer(ids)), 0.02),
    }


def examples(name, shape):
    n = STEPS // 4 * BATCH  # four passes
    rng = np.random.default_rng(seed_of(name))
    if name.startswith("ids_"):
        x = rng.integers(1, 9, size=(n, *shape)).astype(np.float32)
        for i, row in enumerate(x):
            row[shape[0] - i % shape[0]:] = 0
        return x, ((x == 3).sum(1, keepdims=True) - 1.0).astype(np.float32)
    x = random(seed_of(name), n, *shape)
    return x, np.sin(x.reshape(n, -1).sum(1, keepdims=True)).astype(np.float32)


if __name__ == "__main__":
    table = Table()
    for name, (model, rate) in curve_models().items():
        fill_weights(model, seed_of(name))
        weights = [w.copy() for w in model.get_weights()]
        x, y = examples(name, model.input_shape[1:])
        model.compile(keras.optimizers.SGD(rate), loss="mse", run_eagerly=True)
        losses = []

        class Losses(keras.callbacks.Callback):
            def on_train_batch_end(self, batch, logs):
                # A running mean over the epoch.
                before = sum(losses[len(losses) - batch:]) if batch else 0.0
                losses.append(logs["loss"] * (batch + 1) - before)

        model.fit(x, y, batch_size=BATCH, epochs=4, shuffle=False, verbose=0, callbacks=[Losses()])
        assert len(losses) == STEPS
        table.add(name, {"architecture": model.to_json(), "learning_rate": rate, "batch": BATCH},
                  weights=weights, x=x, y=y, losses=np.array(losses),
                  weights_after=model.get_weights())
    table.write("keras_curves.safetensors")
