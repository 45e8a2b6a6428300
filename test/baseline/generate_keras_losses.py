#!/usr/bin/env python3
"""Writes keras_losses.safetensors; see keras_table.py.

Models' outputs and targets: loss of each example, gradient of their mean with respect to what the
last layer gets.
"""

from sklearn.metrics import mean_pinball_loss

from keras_table import Table, keras, keras_targets, per_example, random, targets, tf

BATCH = 6


def Pinball(reduction=None, alpha=0.5):
    """scikit-learn's loss, with TensorFlow for its gradient."""

    def loss(labels, outputs):
        above, below = labels - outputs, outputs - labels
        values = alpha * tf.maximum(above, 0.0) + (1 - alpha) * tf.maximum(below, 0.0)
        for of, y, p in zip(per_example(values), labels.numpy(), outputs.numpy()):
            wanted = mean_pinball_loss(y.ravel(), p.ravel(), alpha=alpha)
            assert abs(of - wanted) < 1e-6 * max(1, wanted)
        return values

    return loss


def losses_table():
    table = Table()
    cases = []
    for last in ("softmax", "sigmoid", "linear_probabilities"):
        for kind in ("classes", "one_hot", "soft"):
            cases.append(("categorical_crossentropy", last, kind, (5,), 2.0))
        cases.append(("sparse_categorical_crossentropy", last, "classes", (5,), 2.0))
    cases += [
        # Labels that do not add up to one.
        ("categorical_crossentropy", "softmax", "fractions", (5,), 2.0),
        ("categorical_crossentropy", "sigmoid", "binary", (5,), 2.0),
        ("categorical_crossentropy", "linear_probabilities", "binary", (5,), 2.0),
        ("categorical_crossentropy", "softmax", "one_hot", (3, 4), 2.0),
        ("categorical_crossentropy", "softmax", "one_hot", (5,), 60.0),
        ("categorical_crossentropy", "linear_probabilities", "one_hot", (5,), 60.0),
        ("sparse_categorical_crossentropy", "softmax", "class_numbers", (3, 4), 2.0),
        ("sparse_categorical_crossentropy", "softmax", "classes", (5,), 60.0),
        ("sparse_categorical_crossentropy", "linear_probabilities", "classes", (5,), 60.0),
    ]
    for last in ("sigmoid", "linear_probabilities"):
        cases += [
            ("binary_crossentropy", last, "classes", (1,), 2.0),
            ("binary_crossentropy", last, "binary", (1,), 60.0),
            ("binary_crossentropy", last, "binary", (4,), 2.0),
            ("binary_crossentropy", last, "fractions", (4,), 2.0),
            ("binary_crossentropy", last, "classes", (4,), 2.0),
        ]
    cases.append(("binary_crossentropy", "softmax", "one_hot", (4,), 2.0))
    cases.append(("binary_crossentropy", "sigmoid", "binary", (3, 4), 2.0))
    for loss in ("mean_squared_error", "mean_absolute_error"):
        for last, kind, shape in (
                ("linear", "numbers", (1,)), ("linear", "numbers", (4,)),
                ("linear", "numbers", (2, 3)), ("softmax", "classes", (4,)),
                ("sigmoid", "classes", (1,)), ("sigmoid", "classes", (3,))):
            cases.append((loss, last, kind, shape, 2.0))
    for loss in ("mean_absolute_percentage_error", "mean_squared_logarithmic_error", "huber",
                 "log_cosh", "hinge", "squared_hinge", "categorical_hinge", "cosine_similarity"):
        cases += [(loss, "linear", "numbers", (4,), 2.0), (loss, "softmax", "classes", (4,), 2.0),
                  (loss, "sigmoid", "fractions", (2, 3), 2.0)]
    for loss in ("hinge", "squared_hinge"):
        cases += [(loss, "linear", "binary", (3,), 2.0), (loss, "linear", "classes", (1,), 2.0)]
    for loss in ("kl_divergence", "poisson"):
        cases += [(loss, "softmax", "classes", (4,), 2.0), (loss, "softmax", "soft", (4,), 20.0),
                  (loss, "sigmoid", "fractions", (2, 3), 2.0)]
    cases += [
        ("Huber(delta=0.3)", "linear", "numbers", (4,), 2.0),
        ("log_cosh", "linear", "numbers", (4,), 100.0),
        ("CategoricalCrossentropy(label_smoothing=0.1)", "softmax", "classes", (5,), 2.0),
        ("CategoricalCrossentropy(label_smoothing=0.3)", "linear_probabilities", "one_hot", (5,),
         2.0),
        ("CategoricalCrossentropy(from_logits=True)", "linear", "classes", (5,), 2.0),
        ("CategoricalCrossentropy(from_logits=True, label_smoothing=0.2)", "linear", "one_hot",
         (5,), 2.0),
        ("SparseCategoricalCrossentropy(from_logits=True)", "linear", "classes", (5,), 2.0),
        ("BinaryCrossentropy(label_smoothing=0.2)", "sigmoid", "binary", (4,), 2.0),
        ("BinaryCrossentropy(from_logits=True)", "linear", "classes", (1,), 2.0),
        ("BinaryCrossentropy(from_logits=True, label_smoothing=0.1)", "linear", "binary", (4,),
         2.0),
    ]
    cases += [
        ("dice", "sigmoid", "binary", (4,), 2.0),
        ("dice", "softmax", "classes", (4,), 2.0),
        ("Dice(axis=-1)", "softmax", "one_hot", (5,), 2.0),
        ("Dice(axis=(1, 2))", "sigmoid", "binary", (3, 4), 2.0),
        ("Dice(axis=[0])", "sigmoid", "binary", (3,), 2.0),
        ("Dice(axis=-2)", "sigmoid", "binary", (3, 4), 2.0),
        ("tversky", "sigmoid", "binary", (4,), 2.0),
        ("Tversky(alpha=0.3, beta=0.9)", "softmax", "classes", (4,), 2.0),
        ("Tversky(alpha=0.8, beta=0.1, axis=[1])", "sigmoid", "fractions", (4,), 2.0),
        ("CategoricalGeneralizedCrossEntropy()", "softmax", "classes", (5,), 2.0),
        ("CategoricalGeneralizedCrossEntropy(q=0.8)", "softmax", "class_numbers", (3, 4), 2.0),
        ("CategoricalGeneralizedCrossEntropy(q=0.2)", "sigmoid", "classes", (4,), 2.0),
        ("binary_focal_crossentropy", "sigmoid", "binary", (4,), 2.0),
        ("BinaryFocalCrossentropy(apply_class_balancing=True, alpha=0.3, gamma=1.5)", "sigmoid",
         "classes", (1,), 2.0),
        ("BinaryFocalCrossentropy(from_logits=True, label_smoothing=0.2)", "linear", "binary",
         (4,), 2.0),
        ("CategoricalFocalCrossentropy(alpha=0.4, gamma=3.0)", "softmax", "classes", (5,), 2.0),
        ("CategoricalFocalCrossentropy(from_logits=True, label_smoothing=0.1)", "linear",
         "one_hot", (5,), 2.0),
        ("Pinball()", "linear", "numbers", (4,), 2.0),
        ("Pinball(alpha=0.9)", "linear", "numbers", (1,), 2.0),
        ("Pinball(alpha=0.2)", "sigmoid", "fractions", (2, 3), 2.0),
        # Saturated: probabilities of 0 and 1.
        ("binary_focal_crossentropy", "sigmoid", "binary", (4,), 60.0),
        ("BinaryFocalCrossentropy(apply_class_balancing=True, gamma=3.0)", "sigmoid", "classes",
         (1,), 60.0),
        ("BinaryFocalCrossentropy(from_logits=True)", "linear", "binary", (4,), 60.0),
    ]
    for i, (text, last, kind, shape, scale) in enumerate(cases):
        name = text.split("(")[0]
        loss = keras.src.utils.naming.to_snake_case(name)
        shape = (BATCH,) + shape
        z = tf.constant(random(100 + i, *shape) * scale)
        y = targets(kind, 500 + i, shape)
        sparse = loss.startswith(("sparse", "categorical_generalized"))
        wanted = keras_targets(kind, y, shape, sparse)
        if "(" not in text:
            function = keras.losses.get(loss)
        else:
            function = eval(text.replace("(", "(reduction=None, ", 1), dict(vars(keras.losses), Pinball=Pinball))
        with tf.GradientTape() as tape:
            tape.watch(z)
            if last == "linear_probabilities":
                # probabilities that no activation has made; they need not add up to one
                output = tf.sigmoid(z)
            else:
                output = keras.activations.get(last)(z)
            values = function(tf.constant(wanted), output)
            # Dice and Tversky over the examples too: a value of the batch.
            if loss in ("dice", "tversky") and ("axis" not in text or "[0]" in text):
                values = tf.fill([BATCH], tf.reduce_mean(values))
            values = per_example(values)
            mean = tf.reduce_mean(values)
        gradient = tape.gradient(mean, z)
        table.add(f"{i}_{loss}_{last}_{kind}",
                  {"loss": text, "last": last, "targets": kind}, logits=z, values=y,
                  loss=values, gradient=gradient)
    table.write("keras_losses.safetensors")


if __name__ == "__main__":
    losses_table()
