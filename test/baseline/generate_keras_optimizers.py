#!/usr/bin/env python3
"""Writes keras_optimizers.safetensors; see keras_table.py.

Initial weights, ten gradients, weights after each step, and the averaged weights that fit() keeps
at its end. Each case is the text that users write and the object that Keras writes.
"""

import json

from keras_table import Table, keras, np, random, seed_of, tf


def optimizers_table():
    """Each case as the text that users write and as the object that Keras writes."""
    table = Table()
    O = keras.optimizers
    cases = {
        "sgd": "SGD(learning_rate=0.05)",
        "sgd_momentum": "SGD(learning_rate=0.05, momentum=0.9)",
        "sgd_nesterov": "SGD(learning_rate=0.05, momentum=0.8, nesterov=True)",
        "sgd_decay": "SGD(learning_rate=0.05, decay=0.1)",
        "sgd_momentum_decay": "SGD(learning_rate=0.05, momentum=0.9, decay=0.2)",
        "sgd_clipvalue": "SGD(learning_rate=0.05, clipvalue=0.5)",
        "sgd_clipnorm": "SGD(learning_rate=0.05, clipnorm=1.0)",
        "sgd_regularized": ("SGD(learning_rate=0.05)", dict(l1=0.02, l2=0.03)),
        "rmsprop": "RMSprop(learning_rate=0.01)",
        "rmsprop_rho": "RMSprop(learning_rate=0.01, rho=0.7, epsilon=1e-3)",
        "rmsprop_momentum": "RMSprop(learning_rate=0.01, momentum=0.6)",
        "rmsprop_centered": "RMSprop(learning_rate=0.01, centered=True)",
        "rmsprop_centered_momentum": "RMSprop(learning_rate=0.01, centered=True, momentum=0.5)",
        "rmsprop_decay": "RMSprop(learning_rate=0.01, decay=0.1)",
        "adam": "Adam(learning_rate=0.01)",
        "adam_betas": "Adam(learning_rate=0.02, beta_1=0.8, beta_2=0.95, epsilon=1e-4)",
        "adam_amsgrad": "Adam(learning_rate=0.01, amsgrad=True)",
        "adam_decay": "Adam(learning_rate=0.01, decay=0.05)",
        "adam_clipnorm": "Adam(learning_rate=0.01, clipnorm=0.7)",
        "adam_clipvalue_regularized": ("Adam(learning_rate=0.01, clipvalue=0.4)",
                                       dict(l1=0.05, l2=0.02)),
        # Gradients as small as epsilon tell where it stands.
        "adam_tiny": ("Adam(learning_rate=0.01)", dict(scale=1e-7)),
        "rmsprop_tiny": ("RMSprop(learning_rate=0.01)", dict(scale=1e-4)),
        "adamw": "AdamW(learning_rate=0.01)",
        "adamw_amsgrad": "AdamW(learning_rate=0.01, weight_decay=0.3, amsgrad=True)",
        "adagrad": "Adagrad(learning_rate=0.05)",
        "adagrad_arguments": "Adagrad(learning_rate=0.05, initial_accumulator_value=0.7, epsilon=1e-2)",
        "adagrad_tiny": ("Adagrad(learning_rate=0.01, initial_accumulator_value=0.0)",
                         dict(scale=1e-4)),
        "adadelta": "Adadelta(learning_rate=1.0)",
        "adadelta_arguments": "Adadelta(learning_rate=0.5, rho=0.8, epsilon=1e-3)",
        "adamax": "Adamax(learning_rate=0.01)",
        "adamax_arguments": "Adamax(learning_rate=0.01, beta_1=0.8, beta_2=0.9, epsilon=1e-2)",
        "nadam": "Nadam(learning_rate=0.01)",
        "nadam_arguments": "Nadam(learning_rate=0.01, beta_1=0.7, beta_2=0.95, epsilon=1e-3)",
        "nadam_tiny": ("Nadam(learning_rate=0.01)", dict(scale=1e-7)),
        "ftrl": "Ftrl(learning_rate=0.05)",
        "ftrl_arguments": "Ftrl(learning_rate=0.05, learning_rate_power=-0.3, "
                          "initial_accumulator_value=0.4, l1_regularization_strength=0.1, "
                          "l2_regularization_strength=0.2, "
                          "l2_shrinkage_regularization_strength=0.3, beta=0.4)",
        "lion": "Lion(learning_rate=0.01)",
        "lion_arguments": "Lion(learning_rate=0.01, beta_1=0.6, beta_2=0.7, weight_decay=0.1)",
        "lamb": "Lamb(learning_rate=0.01)",
        "lamb_arguments": ("Lamb(learning_rate=0.02, beta_1=0.7, beta_2=0.9, epsilon=1e-3, "
                           "weight_decay=0.1, clipnorm=0.7, use_ema=True, ema_momentum=0.6)",
                           dict(l1=0.05, l2=0.02)),
        "sgd_weight_decay": "SGD(learning_rate=0.05, momentum=0.9, weight_decay=0.5)",
        "rmsprop_weight_decay_clipvalue": "RMSprop(learning_rate=0.01, weight_decay=0.5, "
                                          "clipvalue=0.5)",
        "ftrl_weight_decay": "Ftrl(learning_rate=0.05, weight_decay=0.5)",
        "sgd_global_clipnorm": "SGD(learning_rate=0.05, global_clipnorm=2.0)",
        "adam_global_clipnorm_regularized": (
            "Adam(learning_rate=0.01, global_clipnorm=0.7, weight_decay=0.2)",
            dict(l1=0.05, l2=0.02)),
        "sgd_global_clipnorm_unused": "SGD(learning_rate=0.05, global_clipnorm=100.0)",
        "sgd_ema": "SGD(learning_rate=0.05, use_ema=True)",
        "adam_ema_overwrite": "Adam(learning_rate=0.01, use_ema=True, ema_momentum=0.6, "
                              "ema_overwrite_frequency=4)",
        "adam_exponential": "Adam(learning_rate=ExponentialDecay(0.1, decay_steps=3, decay_rate=0.5))",
        "sgd_exponential_staircase": "SGD(learning_rate=ExponentialDecay(0.1, decay_steps=3, "
                                     "decay_rate=0.5, staircase=True), momentum=0.9)",
        "sgd_cosine": "SGD(learning_rate=CosineDecay(0.1, decay_steps=7, alpha=0.1))",
        "sgd_cosine_warmup": "SGD(learning_rate=CosineDecay(0.0, decay_steps=5, "
                             "warmup_target=0.1, warmup_steps=3))",
        "sgd_piecewise": "SGD(learning_rate=PiecewiseConstantDecay([2, 6], [0.1, 0.05, 0.01]))",
        "sgd_inverse_time": "SGD(learning_rate=InverseTimeDecay(0.1, decay_steps=2, "
                            "decay_rate=0.5))",
        "nadam_inverse_time_staircase": "Nadam(learning_rate=InverseTimeDecay(0.1, decay_steps=2, "
                                        "decay_rate=0.5, staircase=True), weight_decay=0.1)",
        "sgd_polynomial": "SGD(learning_rate=PolynomialDecay(0.1, decay_steps=7, "
                          "end_learning_rate=0.01, power=2.0))",
        "sgd_polynomial_cycle": "SGD(learning_rate=PolynomialDecay(0.1, decay_steps=4, "
                                "cycle=True))",
    }
    names = dict(vars(O), **vars(O.schedules))
    # Keras 2's time decay is a schedule of Keras 3.
    names["with_decay"] = lambda optimizer: lambda learning_rate, decay=0.0, **options: optimizer(
        learning_rate=O.schedules.InverseTimeDecay(learning_rate, 1, decay) if decay else
        learning_rate, **options)
    for name, text in cases.items():
        text, options = text if isinstance(text, tuple) else (text, {})
        l1, l2, scale = options.get("l1", 0.0), options.get("l2", 0.0), options.get("scale", 1.0)
        class_name, arguments = text.split("(", 1)
        optimizer = eval(f"with_decay({class_name})({arguments}", names)
        config = json.loads(json.dumps(keras.optimizers.serialize(optimizer)))
        case = {"text": text, "config": config, "l1": l1, "l2": l2}
        regularizer = keras.regularizers.L1L2(l1, l2) if l1 or l2 else None
        seed = seed_of(name)
        shapes = [(5, 7), (7,), (1,)]
        initial = [random(seed + i, *s) * 0.1 for i, s in enumerate(shapes)]
        initial[0][0, 0] = 0.0  # |w| has no slope there
        variables = [keras.Variable(w) for w in initial]
        recorded, after = [], []
        for step in range(10):
            raw = [random(seed + 10 * step + 50 + i, *s) * scale for i, s in enumerate(shapes)]
            recorded.append(np.concatenate([g.ravel() for g in raw]))
            gradients = [tf.constant(g) for g in raw]
            if regularizer is not None:
                with tf.GradientTape() as tape:
                    loss = tf.add_n([regularizer(v.value) for v in variables])
                for i, extra in enumerate(tape.gradient(loss, [v.value for v in variables])):
                    gradients[i] = gradients[i] + extra
            optimizer.apply(gradients, variables)
            after.append(np.concatenate([v.numpy().ravel() for v in variables]))
        case["sizes"] = [int(np.prod(s)) for s in shapes]
        if regularizer is not None:
            case["regularization"] = float(sum(regularizer(tf.constant(w)) for w in initial))
        tensors = {}
        if optimizer.use_ema:
            optimizer.finalize_variable_values(variables)
            tensors["kept"] = np.concatenate([v.numpy().ravel() for v in variables])
        table.add(name, case, initial=np.concatenate([w.ravel() for w in initial]),
                  gradients=np.stack(recorded), after=np.stack(after), **tensors)
    table.write("keras_optimizers.safetensors")


if __name__ == "__main__":
    optimizers_table()
