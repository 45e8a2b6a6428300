#!/usr/bin/env python3
"""Writes the tables of metrics; see keras_table.py.

    keras_metrics.safetensors        models' outputs and targets, a metric's value of each example
    keras_metric_values.safetensors  models' outputs and targets, a metric's value of them all
"""

from functools import partial

from sklearn.metrics import balanced_accuracy_score, matthews_corrcoef

from keras_table import Table, keras, keras_targets, np, per_example, random, targets, tf


def metrics_table():
    table = Table()
    cases = [
        ("accuracy", "sigmoid", "classes", (1,)),
        ("accuracy", "sigmoid", "binary", (1,)),
        ("accuracy", "linear", "binary", (1,)),
        ("accuracy", "softmax", "classes", (4,)),
        ("accuracy", "softmax", "one_hot", (4,)),
        ("accuracy", "softmax", "soft", (4,)),
        ("accuracy", "sigmoid", "binary", (4,)),
        ("accuracy", "softmax", "one_hot", (3, 4)),
        ("binary_accuracy", "sigmoid", "binary", (4,)),
        ("binary_accuracy", "softmax", "one_hot", (3,)),
        ("binary_accuracy", "sigmoid", "binary", (3, 2)),
        ("categorical_accuracy", "softmax", "one_hot", (4,)),
        ("categorical_accuracy", "sigmoid", "classes", (4,)),
        ("sparse_categorical_accuracy", "softmax", "classes", (4,)),
        ("sparse_categorical_accuracy", "softmax", "class_numbers", (3, 4)),
        ("mean_squared_error", "linear", "numbers", (1,)),
        ("mean_squared_error", "softmax", "classes", (4,)),
        ("mean_squared_error", "sigmoid", "binary", (3,)),
        ("mean_absolute_error", "linear", "numbers", (2, 3)),
        ("mean_absolute_error", "softmax", "one_hot", (4,)),
    ]
    cases += [(f"top_{k}", "softmax", kind, (6,)) for k in (1, 2, 5, 9)
              for kind in ("classes", "one_hot")]
    for i, (metric, last, kind, shape) in enumerate(cases):
        batch = 16
        shape = (batch,) + shape
        z = random(2000 + i, *shape)
        if metric.startswith("top") and kind == "one_hot":
            z = np.round(z * 2) / 2  # ties
        output = keras.activations.get(last)(tf.constant(z))
        y = targets(kind, 3000 + i, shape)
        sparse = kind in ("classes", "class_numbers") and shape[-1] > 1 and (
            metric == "accuracy" or metric.startswith(("sparse", "top")))
        wanted = tf.constant(keras_targets(kind, y, shape, sparse))
        k = 0
        if metric == "accuracy":
            # What compile(metrics=["accuracy"]) makes of the name.
            metric_object = keras.src.trainers.compile_utils.get_metric("accuracy", wanted, output)
            function = metric_object._fn
            arguments = metric_object._fn_kwargs
        elif metric.startswith("top"):
            k = int(metric[4:])
            function = (keras.metrics.sparse_top_k_categorical_accuracy if sparse else
                        keras.metrics.top_k_categorical_accuracy)
            arguments = {"k": k}
        else:
            function = getattr(keras.metrics, metric, None) or getattr(keras.losses, metric)
            arguments = {}
        values = function(wanted, output, **arguments)
        values = per_example(tf.cast(tf.reshape(values, (batch, -1)), tf.float32))
        table.add(f"{i}_{metric}_{last}_{kind}",
                  {"metric": "top_k" if k else metric, "k": k, "last": last, "targets": kind},
                  logits=z, values=y, metric=values)
    table.write("keras_metrics.safetensors")


class OfClasses:
    """A function of scikit-learn, of the examples of all batches."""

    def __init__(self, function):
        self.function, self.labels, self.predictions = function, [], []

    def update_state(self, labels, outputs):
        for rows, found in ((labels, self.labels), (outputs, self.predictions)):
            rows = rows.numpy().reshape(len(rows), -1)
            found.extend(rows[:, 0] > 0.5 if rows.shape[1] == 1 else rows.argmax(1))

    def result(self):
        return self.function(self.labels, self.predictions)


def metric_values_table():
    """Metrics that are not means over examples, and losses as metrics: one value of three batches."""
    table = Table()
    binary = [("sigmoid", "classes", (1,)), ("sigmoid", "binary", (3,)), ("softmax", "classes", (4,))]
    cases = [(text, *where) for where in binary for text in (
        "TruePositives()", "TrueNegatives()", "FalsePositives()", "FalseNegatives()",
        "Precision()", "Recall()", "Precision(thresholds=0.3)", "Recall(thresholds=[0.7])", "AUC()",
        "AUC(curve='PR')", "F1Score(average='macro', threshold=0.5)",
        "F1Score(average='micro', threshold=0.4)", "F1Score(average='weighted', threshold=0.6)")]
    cases += [
        ("F1Score(average='macro')", "softmax", "classes", (4,)),
        ("F1Score(average='micro')", "softmax", "one_hot", (4,)),
        ("F1Score(average='weighted')", "softmax", "classes", (4,)),
        ("F1Score(average='macro')", "linear", "binary", (3,)),
        ("AUC()", "linear", "binary", (1,)),
        ("R2Score()", "linear", "numbers", (1,)),
        ("R2Score()", "linear", "numbers", (3,)),
        ("RootMeanSquaredError()", "linear", "numbers", (2, 3)),
        ("RootMeanSquaredError()", "softmax", "classes", (4,)),
        ("CosineSimilarity()", "linear", "numbers", (4,)),
        ("MeanAbsolutePercentageError()", "linear", "numbers", (3,)),
        ("MeanSquaredLogarithmicError()", "sigmoid", "fractions", (3,)),
        ("LogCoshError()", "linear", "numbers", (3,)),
        ("Hinge()", "linear", "binary", (1,)),
        ("SquaredHinge()", "sigmoid", "classes", (1,)),
        ("CategoricalHinge()", "softmax", "classes", (4,)),
        ("KLDivergence()", "softmax", "soft", (4,)),
        ("Poisson()", "sigmoid", "fractions", (3,)),
        ("CategoricalCrossentropy(label_smoothing=0.1)", "softmax", "classes", (4,)),
        ("BinaryCrossentropy(from_logits=True)", "linear", "binary", (3,)),
        ("SparseCategoricalCrossentropy()", "softmax", "classes", (4,)),
    ]
    cases += [(text, *where) for where in binary for text in (
        "PrecisionAtRecall(recall=0.6)", "RecallAtPrecision(precision=0.55, num_thresholds=50)",
        "SensitivityAtSpecificity(0.7)", "SpecificityAtSensitivity(sensitivity=0.8)",
        "AUC(num_thresholds=20)", "AUC(summation_method='minoring')",
        "AUC(curve='PR', summation_method='majoring')", "BinaryAccuracy(threshold=0.3)",
        "BinaryIoU()", "BinaryIoU(target_class_ids=[1], threshold=0.4)",
        "FBetaScore(average='macro', beta=2.0, threshold=0.5)",
        "FBetaScore(average='micro', beta=0.5, threshold=0.4)")]
    cases += [
        ("FBetaScore(average='weighted', beta=3.0)", "softmax", "classes", (4,)),
        ("Precision(top_k=2)", "softmax", "classes", (4,)),
        ("Recall(top_k=2, thresholds=0.3)", "softmax", "one_hot", (4,)),
        ("Precision(class_id=1)", "softmax", "classes", (4,)),
        ("Recall(class_id=2, top_k=1)", "softmax", "classes", (4,)),
        ("PrecisionAtRecall(recall=0.5, class_id=2)", "sigmoid", "binary", (3,)),
        ("RecallAtPrecision(precision=1.0)", "sigmoid", "binary", (3,)),
        # Outputs of exactly 0, which no threshold is below.
        ("SensitivityAtSpecificity(specificity=0.2, num_thresholds=11)", "relu", "binary", (3,)),
        ("SpecificityAtSensitivity(sensitivity=0.9, num_thresholds=2)", "relu", "binary", (3,)),
        ("OneHotIoU(num_classes=4, target_class_ids=[0, 2])", "softmax", "classes", (4,)),
        ("OneHotIoU(num_classes=4, target_class_ids=[3], ignore_class=1)", "softmax", "one_hot",
         (4,)),
        ("IoU(num_classes=4, target_class_ids=[1, 2], sparse_y_true=False, sparse_y_pred=False)",
         "softmax", "one_hot", (4,)),
        ("OneHotMeanIoU(num_classes=4, ignore_class=2)", "softmax", "classes", (4,)),
        ("R2Score(class_aggregation='variance_weighted_average')", "linear", "numbers", (3,)),
        ("R2Score(num_regressors=7)", "linear", "numbers", (3,)),
        ("PearsonCorrelation()", "linear", "numbers", (4,)),
        ("ConcordanceCorrelation()", "linear", "numbers", (4,)),
        ("ConcordanceCorrelation()", "softmax", "soft", (5,)),
        ("MatthewsCorrelation()", "sigmoid", "classes", (1,)),
        ("MatthewsCorrelation()", "softmax", "classes", (4,)),
        ("MatthewsCorrelation()", "softmax", "one_hot", (3,)),
    ]
    cases += [
        ("AUC(from_logits=True)", "linear", "binary", (1,)),
        ("AUC(from_logits=True, curve='PR')", "linear", "binary", (3,)),
        # Of what is a probability already, as Keras does it.
        ("AUC(from_logits=True)", "sigmoid", "classes", (1,)),
    ]
    cases += [
        ("BalancedAccuracy()", "sigmoid", "classes", (1,)),
        ("BalancedAccuracy()", "softmax", "classes", (4,)),
        # Classes that no example has.
        ("BalancedAccuracy()", "softmax", "classes", (90,)),
    ]
    scikit_learn = {"MatthewsCorrelation": partial(OfClasses, matthews_corrcoef),
                    "BalancedAccuracy": partial(OfClasses, balanced_accuracy_score)}
    for i, (text, last, kind, shape) in enumerate(cases):
        batch = 60
        shape = (batch,) + shape
        z = np.round(random(5000 + i, *shape) * 16) / 16  # equal outputs, few digits
        y = targets(kind, 6000 + i, shape)
        sparse = text.startswith("Sparse")
        wanted = keras_targets(kind, y, shape, sparse)
        output = keras.activations.get(last)(tf.constant(z)).numpy()
        metric = eval(text, dict(vars(keras.metrics), **scikit_learn))
        for first in range(0, batch, 20):
            metric.update_state(tf.constant(wanted[first:first + 20]),
                                tf.constant(output[first:first + 20]))
        table.add(f"{i}_{text.split('(')[0]}_{last}_{kind}",
                  {"metric": text, "last": last, "targets": kind,
                   "result": float(metric.result())}, logits=z, values=y)
    table.write("keras_metric_values.safetensors")


if __name__ == "__main__":
    metrics_table()
    metric_values_table()
