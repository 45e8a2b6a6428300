#!/usr/bin/env python3
"""Writes keras_penalties.safetensors; see keras_table.py.

What is beside the gradients of a loss: constraints on weights, and what regularizers of weights and
of activities add. Four epochs of fit() on batches in order: the running loss of each, the loss of
evaluate() afterwards, and the weights.
"""

from keras_table import Table, fill_weights, keras, np, random, seed_of, sequential

from keras import constraints as C
from keras import layers as L
from keras import regularizers as R

ROWS, BATCH, EPOCHS = 22, 8, 4


def models():
    """name -> (model, optimizer of Keras, the same as compile_params)"""
    sgd = lambda rate=0.1: (keras.optimizers.SGD(rate), f"SGD(lr={rate})")
    adam = lambda: (keras.optimizers.Adam(0.05), "Adam(lr=0.05)")

    def dense(name, constraint, optimizer=sgd, **kw):
        found[name] = (sequential((5,), L.Dense(4, kernel_constraint=constraint, **kw),
                                  L.Dense(1)), *optimizer())

    found = {}
    dense("max_norm", C.MaxNorm(0.8))
    dense("max_norm_last_axis", C.MaxNorm(0.5, axis=-1))
    dense("max_norm_all_axes", C.MaxNorm(0.7, axis=[0, 1]), adam)
    dense("non_neg", C.NonNeg(), adam, bias_constraint="non_neg")
    dense("unit_norm", C.UnitNorm())
    dense("unit_norm_axis_1", "unit_norm", bias_constraint=C.MaxNorm(0.1))
    dense("min_max_norm", C.MinMaxNorm(0.4, 0.9, rate=0.7))
    dense("averaged", C.MaxNorm(0.6), lambda: (
        keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=3),
        "SGD(lr=0.1, use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=3)"))
    dense("clipped", C.MaxNorm(0.6), lambda: (
        keras.optimizers.Adam(0.05, clipnorm=0.5, weight_decay=0.01),
        "Adam(lr=0.05, clipnorm=0.5, weight_decay=0.01)"))
    found["conv"] = (sequential(
        (5, 4, 2), L.Conv2D(3, 2, kernel_constraint=C.MaxNorm(0.7, axis=[0, 1, 2])),
        L.DepthwiseConv2D(2, depthwise_constraint=C.UnitNorm([0, 1])), L.Flatten(), L.Dense(1)),
        *sgd(0.01))
    found["others"] = (sequential(
        (5, 4), L.LSTM(3, kernel_constraint=C.MaxNorm(0.8), recurrent_constraint=C.UnitNorm(),
                       bias_constraint=C.NonNeg(), return_sequences=True),
        L.LayerNormalization(gamma_constraint=C.MaxNorm(0.5), beta_constraint=C.NonNeg()),
        L.Flatten(), L.PReLU(alpha_constraint=C.NonNeg()), L.Dense(1)), *sgd(0.02))
    found["weights"] = (sequential(
        (5,), L.Dense(4, kernel_regularizer=R.L2(0.1), bias_regularizer=R.L1(0.05)),
        L.Dense(1, kernel_regularizer=R.L1L2(0.02, 0.03))), *sgd())
    found["activities"] = (sequential(
        (5,), L.Dense(4, activation="tanh", activity_regularizer=R.L1L2(0.05, 0.2)),
        L.ActivityRegularization(l2=0.1), L.Dense(1, activity_regularizer="l2")), *sgd())
    found["everything"] = (sequential(
        (6, 3), L.Conv1D(4, 3, activation="relu", activity_regularizer=R.L2(0.1),
                         kernel_regularizer=R.L2(0.01), kernel_constraint=C.MaxNorm(0.8, [0, 1])),
        L.GlobalAveragePooling1D(), L.Dense(1)), *adam())
    return found


if __name__ == "__main__":
    table = Table()
    for name, (model, optimizer, text) in models().items():
        fill_weights(model, seed_of(name))
        weights = [w.copy() for w in model.get_weights()]
        x = random(seed_of(name) + 1, ROWS, *model.input_shape[1:])
        y = np.sin(x.reshape(ROWS, -1).sum(1, keepdims=True)).astype(np.float32)
        model.compile(optimizer, loss="mse", run_eagerly=True)
        history = model.fit(x, y, batch_size=BATCH, epochs=EPOCHS, shuffle=False, verbose=0)
        evaluated = model.evaluate(x, y, batch_size=BATCH, verbose=0)
        table.add(name, {"architecture": model.to_json(), "optimizer": text, "batch": BATCH,
                         "evaluated": evaluated},
                  weights=weights, x=x, y=y, losses=np.array(history.history["loss"]),
                  weights_after=model.get_weights())
    table.write("keras_penalties.safetensors")
