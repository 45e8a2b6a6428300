#!/usr/bin/env python3
"""Writes keras_metric_edges.json: what Keras' metrics say where little is there to be said.

Situations of few rows, whose numbers stand in the file: a class without predictions, labels of one
class only, ties, probabilities of exactly 0 and 1, predictions that are NaN or infinite, labels of
-1 and 1, rows that weigh nothing, one row, several batches. Each metric is fed by batches, as
model.evaluate() does. Environment: see keras_table.py.
"""

import json
import os
import warnings

import numpy as np

from keras_table import FOLDER, keras, keras_targets, tf

warnings.filterwarnings("ignore")
NAN, INF = float("nan"), float("inf")

COUNTS = ["TruePositives()", "TrueNegatives()", "FalsePositives()", "FalseNegatives()",
          "TruePositives(thresholds=0.0)", "FalseNegatives(thresholds=1.0)"]
SHARES = ["Precision()", "Recall()", "Precision(thresholds=0.0)", "Recall(thresholds=1.0)",
          "Precision(thresholds=0.3)", "Recall(thresholds=0.3)"]
AREAS = ["AUC()", "AUC(curve='PR')", "AUC(num_thresholds=2)", "AUC(num_thresholds=3, curve='PR')"]
AREAS += [f"AUC(curve='{curve}', summation_method='{method}')"
          for curve in ("ROC", "PR") for method in ("minoring", "majoring")]
AT_BOUND = [f"{metric}({bound})"
            for metric in ("PrecisionAtRecall", "RecallAtPrecision", "SensitivityAtSpecificity",
                           "SpecificityAtSensitivity") for bound in (0.0, 0.5, 1.0)]
F_SCORES = [f"F1Score(average='{average}', threshold={threshold})"
            for average in ("macro", "micro", "weighted") for threshold in (0.25, 0.5, 1.0)]
F_SCORES += [f"FBetaScore(average='{average}', beta=0.5, threshold=0.5)"
             for average in ("macro", "micro", "weighted")]
F_LARGEST = [f"{metric}" for average in ("macro", "micro", "weighted")
             for metric in (f"F1Score(average='{average}')",
                            f"FBetaScore(average='{average}', beta=2.0)")]
BINARY_OVERLAP = ["BinaryIoU()", "BinaryIoU(threshold=0.0)", "BinaryIoU(threshold=1.0)",
                  "BinaryIoU(target_class_ids=[0])", "BinaryIoU(target_class_ids=[1])"]
ERRORS = ["MeanSquaredError()", "MeanAbsoluteError()", "RootMeanSquaredError()",
          "MeanAbsolutePercentageError()", "MeanSquaredLogarithmicError()", "LogCoshError()"]
ALIKE = ["CosineSimilarity()", "KLDivergence()", "Poisson()"]
HINGES = ["Hinge()", "SquaredHinge()", "CategoricalHinge()"]
R2 = ["R2Score()", "R2Score(class_aggregation='variance_weighted_average')",
      "R2Score(num_regressors=1)", "R2Score(num_regressors=50)"]
CORRELATIONS = ["PearsonCorrelation()", "ConcordanceCorrelation()"]
BINARY = ["BinaryAccuracy()", "BinaryAccuracy(threshold=0.0)", "BinaryAccuracy(threshold=0.25)",
          "BinaryAccuracy(threshold=1.0)", "BinaryCrossentropy()",
          "BinaryCrossentropy(label_smoothing=0.2)"]
OF_ONE_OUTPUT = (["accuracy"] + BINARY + COUNTS + SHARES + AREAS + AT_BOUND + F_SCORES +
                 BINARY_OVERLAP + ERRORS + ["Hinge()", "SquaredHinge()", "Poisson()",
                                            "KLDivergence()", "CosineSimilarity()"] + R2 +
                 ["AUC(from_logits=True)"])
OF_SEVERAL = (["accuracy"] + BINARY + COUNTS + SHARES + AREAS + AT_BOUND + F_SCORES + F_LARGEST +
              BINARY_OVERLAP + ERRORS + ALIKE + HINGES + R2 + CORRELATIONS)


def of_classes(n):
    overlap = [f"OneHotMeanIoU(num_classes={n})", f"OneHotMeanIoU(num_classes={n}, ignore_class=0)"]
    overlap += [f"OneHotIoU(num_classes={n}, target_class_ids=[{i}])" for i in range(n)]
    return (["accuracy", "CategoricalAccuracy()", "TopKCategoricalAccuracy(k=1)",
             "TopKCategoricalAccuracy(k=2)", f"TopKCategoricalAccuracy(k={n + 3})",
             "CategoricalCrossentropy()", "CategoricalCrossentropy(label_smoothing=0.1)",
             "Precision(top_k=1)", "Recall(top_k=1)", "Precision(top_k=2)", "Recall(top_k=2)",
             "Precision(top_k=2, thresholds=0.4)", f"Precision(class_id={n - 1})",
             "Recall(class_id=0)", "Recall(class_id=0, top_k=1)"] +
            COUNTS + SHARES + AREAS + AT_BOUND[::3] + F_LARGEST + F_SCORES + overlap + ERRORS +
            ALIKE + HINGES + R2 + CORRELATIONS)


OF_NUMBERS = (ERRORS + ["Huber()", "CosineSimilarity()", "accuracy"] + R2)
WEIGHTED = ["accuracy", "BinaryAccuracy()", "BinaryCrossentropy()", "MeanSquaredError()",
            "MeanAbsoluteError()", "RootMeanSquaredError()", "Hinge()", "Poisson()",
            "CosineSimilarity()"]


def of_logits(metrics):
    """Without crossentropies, which take the logits behind a model's output: keras_losses has them."""
    return [text for text in metrics if "ogits" not in text and "ntropy" not in text]


def onehot(classes, n):
    return np.eye(n, dtype=np.float32)[classes]


def situations():
    """name, last activation (None: the numbers are outputs), kind of labels, numbers, labels,
    metrics, rows of each batch, weights."""
    one = lambda *values: np.array(values, np.float32).reshape(-1, 1)
    rows = lambda *values: np.array(values, np.float32)
    p = one(0.1, 0.4, 0.5, 0.6, 0.9)
    found = []

    def add(name, kind, outputs, labels, metrics, batches=None, weights=None, last=None):
        found.append((name, last, kind, np.asarray(outputs, np.float32),
                      np.asarray(labels, np.float32), metrics, batches or [len(outputs)], weights))

    # One output.
    for name, labels in (("only_negatives", [0] * 5), ("only_positives", [1] * 5),
                         ("some", [0, 1, 0, 1, 1])):
        add(f"binary_{name}", "classes", p, labels, OF_ONE_OUTPUT, [2, 2, 1])
    add("binary_no_positive_predicted", "classes", p / 4, [0, 1, 0, 1, 1], OF_ONE_OUTPUT)
    add("binary_only_positive_predicted", "classes", p / 4 + 0.7, [0, 1, 0, 1, 1], OF_ONE_OUTPUT)
    add("binary_all_at_the_threshold", "classes", one(0.5, 0.5, 0.5, 0.5), [0, 1, 1, 0],
        OF_ONE_OUTPUT)
    add("binary_saturated_right", "classes", one(0, 1, 0, 1), [0, 1, 0, 1], OF_ONE_OUTPUT)
    add("binary_saturated_wrong", "classes", one(0, 1, 0, 1), [1, 0, 1, 0], OF_ONE_OUTPUT)
    add("binary_saturated_half", "classes", one(0, 1, 0, 1), [1, 1, 0, 0], OF_ONE_OUTPUT)
    add("binary_one_row", "classes", one(0.7), [1], OF_ONE_OUTPUT)
    add("binary_one_wrong_row", "classes", one(0.7), [0], OF_ONE_OUTPUT)
    add("binary_beside_the_range", "values", one(-0.5, 1.5, 0.2, 3.0), one(0, 1, 1, 0),
        OF_ONE_OUTPUT)
    add("binary_nan", "classes", one(0.2, NAN, 0.8), [0, 1, 1], OF_ONE_OUTPUT)
    add("binary_all_nan", "classes", one(NAN, NAN), [0, 1], OF_ONE_OUTPUT)
    add("binary_infinite", "values", one(INF, -INF, 0.3, 0.8), one(1, 0, 0, 1), OF_ONE_OUTPUT)
    add("binary_minus_one_and_one", "values", one(-0.9, 0.8, 0.2, -0.4, 0.6), one(-1, 1, 1, -1, -1),
        OF_ONE_OUTPUT)
    add("binary_soft_labels", "values", p, one(0.2, 0.5, 0.0, 0.9, 1.0), OF_ONE_OUTPUT)
    add("binary_tiny_labels", "values", p, one(1e-8, 0, 0, 1, 1), OF_ONE_OUTPUT)
    saturated = one(-200, 200, -100, 100, 1e-9, -1e-9, 1e-4, 0)
    add("binary_saturated_logits", "classes", saturated, [0, 1, 1, 0, 1, 1, 0, 0],
        of_logits(OF_ONE_OUTPUT), last="sigmoid")
    add("binary_logits", "classes", one(-3, 2, 0.5, -0.1), [0, 1, 1, 1],
        ["AUC(from_logits=True)", "BinaryCrossentropy(from_logits=True)",
         "AUC(from_logits=True, curve='PR')"])
    for name, weights in (("zero_weights", [0, 0, 0, 0, 0]), ("one_weight", [0, 0, 3, 0, 0]),
                          ("a_batch_without_weight", [1, 2, 0, 0, 0.5])):
        add(f"binary_{name}", "classes", p, [0, 1, 1, 1, 0], WEIGHTED, [2, 2, 1], weights)
    add("binary_nan_weighs_nothing", "classes", one(0.2, NAN, 0.8), [0, 1, 1], WEIGHTED, None,
        [1, 0, 1])
    # Several labels an example.
    several = rows([0.1, 0.9, 0.5], [0.8, 0.2, 0.5], [0.4, 0.4, 0.5], [0.6, 0.7, 0.5])
    add("labels_some", "values", several, rows([0, 1, 0], [1, 1, 0], [0, 0, 0], [1, 0, 0]),
        OF_SEVERAL, [3, 1])
    add("labels_none", "values", several, np.zeros((4, 3)), OF_SEVERAL)
    add("labels_all", "values", several, np.ones((4, 3)), OF_SEVERAL)
    add("labels_saturated", "values", rows([0, 1, 1], [1, 0, 0], [0, 0, 1]),
        rows([0, 1, 0], [1, 0, 1], [0, 1, 1]), OF_SEVERAL)
    add("labels_zero_outputs", "values", np.zeros((3, 3)), rows([0, 1, 0], [1, 0, 1], [0, 0, 0]),
        OF_SEVERAL)
    add("labels_nan", "values", rows([0.2, NAN, 0.7], [0.9, 0.4, NAN], [NAN, 0.6, 0.3]),
        rows([0, 1, 1], [1, 0, 0], [1, 0, 0]), OF_SEVERAL)
    add("labels_infinite", "values", rows([INF, 0.5, -INF], [0.2, INF, 0.3], [-INF, 0.1, 0.6]),
        rows([1, 0, 0], [0, 1, 1], [0, 1, 0]), OF_SEVERAL)
    add("labels_minus_one_and_one", "values", rows([-0.7, 0.9, 0.1], [0.5, -0.2, -1.0]),
        rows([-1, 1, 1], [1, 1, -1]), OF_SEVERAL)
    add("labels_one_row", "values", rows([0.2, 0.7, 0.6]), rows([0, 1, 0]), OF_SEVERAL)
    # Classes.
    some = rows([0.7, 0.2, 0.1], [0.2, 0.3, 0.5], [0.1, 0.8, 0.1], [0.3, 0.4, 0.3],
                [0.6, 0.3, 0.1])
    add("classes_some", "classes", some, [0, 2, 1, 0, 2], of_classes(3), [2, 2, 1])
    add("classes_one_label", "classes", some, [1] * 5, of_classes(3))
    add("classes_one_without_labels", "classes", some, [0, 1, 1, 0, 0], of_classes(3))
    add("classes_one_predicted", "classes", some * [1, 0.1, 0.1] + [0.4, 0, 0], [0, 1, 2, 1, 0],
        of_classes(3))
    add("classes_all_equal", "classes", np.full((4, 3), 1 / 3), [0, 1, 2, 1], of_classes(3))
    add("classes_two_equal", "classes", rows([0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [0.4, 0.2, 0.4]),
        [1, 2, 2], of_classes(3))
    add("classes_zero_outputs", "classes", np.zeros((3, 3)), [0, 1, 2], of_classes(3))
    add("classes_saturated", "classes", rows([0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]),
        [1, 1, 2, 0], of_classes(3))
    add("classes_one_row", "classes", rows([0.2, 0.5, 0.3]), [2], of_classes(3))
    add("classes_nan", "classes", rows([NAN, 0.5, 0.5], [0.2, NAN, 0.8], [0.9, 0.05, 0.05],
                                       [0.3, 0.3, NAN]), [1, 2, 0, 2], of_classes(3))
    add("classes_all_nan", "classes", np.full((2, 3), NAN), [0, 1], of_classes(3))
    add("classes_infinite", "values", rows([INF, 0, 1], [0, -INF, 2], [INF, INF, 0]),
        onehot([0, 1, 1], 3), of_classes(3))
    # But for F scores, whose counts of such labels are below 0: what is left of them is rounding.
    add("classes_minus_one_and_one", "values", rows([0.7, 0.3], [0.4, 0.6], [0.9, 0.1]),
        rows([1, -1], [1, -1], [-1, 1]), [m for m in of_classes(2) if not m.startswith(("F1", "FB"))])
    add("classes_soft_and_equal", "values", some, rows([0.5, 0.5, 0], [0, 0.5, 0.5], [1, 1, 0],
                                                       [0, 0, 0], [0.2, 0.3, 0.5]), of_classes(3))
    add("classes_saturated_logits", "classes", rows([-200, 200, 0], [100, 90, -100], [30, 0, 29],
                                                    [0, 0, 0]), [1, 1, 2, 0],
        of_logits(of_classes(3)), last="softmax")
    add("classes_sparse_tie", "classes", rows([0.4, 0.4, 0.2], [0, 0, 0], [0, 0, 1]), [1, 1, 1],
        ["SparseCategoricalAccuracy()", "SparseTopKCategoricalAccuracy(k=1)",
         "SparseTopKCategoricalAccuracy(k=2)", "SparseCategoricalCrossentropy()"])
    for name, weights in (("zero_weights", [0] * 5), ("one_weight", [0, 0, 0, 2, 0])):
        add(f"classes_{name}", "classes", some, [0, 2, 1, 0, 2],
            ["accuracy", "CategoricalAccuracy()", "TopKCategoricalAccuracy(k=2)",
             "CategoricalCrossentropy()", "MeanSquaredError()", "KLDivergence()",
             "CategoricalHinge()"], [2, 2, 1], weights)
    # Numbers.
    add("numbers_one_row", "values", one(2.5), one(2.0), OF_NUMBERS)
    add("numbers_all_alike", "values", one(1, 2, 3), one(2, 2, 2), OF_NUMBERS)
    add("numbers_exact", "values", one(1, 2, 3), one(1, 2, 3), OF_NUMBERS)
    add("numbers_all_zero", "values", one(0, 0, 0), one(0, 0, 0), OF_NUMBERS)
    add("numbers_zero_labels", "values", one(0.5, 0, -1), one(0, 0, 0), OF_NUMBERS)
    add("numbers_negative", "values", one(-2, -1.5, 3), one(-1, 4, -2), OF_NUMBERS)
    add("numbers_large", "values", one(1e6, 2e6, 3e6), one(1.5e6, 2e6, 2.5e6), OF_NUMBERS)
    add("numbers_tiny", "values", one(1e-20, 2e-20), one(2e-20, 1e-20), OF_NUMBERS)
    add("numbers_nan", "values", one(1, NAN, 3), one(1, 2, 3), OF_NUMBERS)
    add("numbers_infinite", "values", one(1, INF, 3), one(1, 2, 3), OF_NUMBERS)
    add("numbers_several", "values", rows([1, 2], [3, 2], [0, 2]), rows([1, 5], [2, 5], [3, 5]),
        OF_NUMBERS + ALIKE + CORRELATIONS, [1, 2])
    add("numbers_zero_rows", "values", rows([0, 0], [1, 2]), rows([0, 0], [0, 0]),
        OF_NUMBERS + ALIKE + CORRELATIONS)
    add("numbers_a_label_all_alike", "values", rows([1, 2], [2, 3], [4, 1]),
        rows([1, 7], [2, 7], [3, 7]), R2)
    # Sequences: a row of numbers or classes at each step.
    steps = rows([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]], [[0.3, 0.4, 0.3], [0.5, 0.5, 0.0]],
                 [[0, 1, 0], [1, 0, 0]])
    add("steps_classes", "class_numbers", steps, rows([0, 2], [0, 1], [1, 1]),
        ["accuracy", "SparseCategoricalAccuracy()", "SparseTopKCategoricalAccuracy(k=2)",
         "SparseCategoricalCrossentropy()"], [2, 1])
    add("steps_one_hot", "values", steps, onehot([[0, 2], [0, 1], [1, 1]], 3),
        ["accuracy", "CategoricalAccuracy()", "TopKCategoricalAccuracy(k=2)",
         "CategoricalCrossentropy()", "OneHotMeanIoU(num_classes=3)", "CategoricalHinge()"] +
        COUNTS + SHARES + AREAS + ERRORS + ALIKE + BINARY_OVERLAP, [2, 1])
    add("steps_labels", "values", rows([[0.2], [0.5], [0.8]], [[0.0], [1.0], [0.4]]),
        rows([[0], [1], [1]], [[0], [1], [1]]),
        ["accuracy"] + BINARY + COUNTS + SHARES + AREAS + AT_BOUND + ERRORS + BINARY_OVERLAP)
    add("steps_weighted", "values", steps, onehot([[0, 2], [0, 1], [1, 1]], 3),
        ["accuracy", "CategoricalAccuracy()", "MeanSquaredError()", "CategoricalCrossentropy()"],
        [2, 1], [1, 0, 2])
    return found


def plain(value):
    """JSON has neither NaN nor infinity."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    value = float(value)
    return str(value) if value != value or abs(value) == INF else float(np.float32(value))


def result(text, wanted, output, batches, weights):
    if text == "accuracy":
        # What compile(metrics=["accuracy"]) makes of the name.
        metric = keras.src.trainers.compile_utils.get_metric(
            "accuracy", tf.constant(wanted), tf.constant(output))
    else:
        metric = eval(text, {**vars(keras.metrics), "Huber": lambda: keras.metrics.MeanMetricWrapper(
            keras.losses.huber)})
    at = 0
    for rows in batches:
        part = slice(at, at + rows)
        at += rows
        metric.update_state(tf.constant(wanted[part]), tf.constant(output[part]),
                            None if weights is None else tf.constant(weights[part], tf.float32))
    assert at == len(output)
    return plain(np.asarray(metric.result()).reshape(()))


def main():
    found = []
    for name, last, kind, numbers, labels, metrics, batches, weights in situations():
        output = numbers if last is None else keras.activations.get(last)(
            tf.constant(numbers)).numpy()
        results = {}
        for text in dict.fromkeys(metrics):
            sparse = text.startswith("Sparse")
            wanted = keras_targets(kind, labels, output.shape, sparse)
            if sparse and kind == "classes":
                wanted = labels.reshape(-1, 1)
            results[text] = result(text, wanted, output, batches, weights)
        found.append({"name": name, "last": last or "linear", "targets": kind,
                      "shape": list(numbers.shape), "numbers": plain(numbers.ravel().tolist()),
                      "labels": labels.ravel().tolist(), "label_shape": list(labels.shape),
                      "batches": batches, "weights": weights, "results": results})
    path = os.path.join(FOLDER, "keras_metric_edges.json")
    with open(path, "w", encoding="utf-8") as file:
        lines = []
        for one in found:
            head = ", ".join(f"{json.dumps(key)}: {json.dumps(value)}"
                             for key, value in one.items() if key != "results")
            rows = ",\n".join(f"  {json.dumps(text)}: {json.dumps(value)}"
                              for text, value in one["results"].items())
            lines.append("{" + head + ", \"results\": {\n" + rows + "\n}}")
        file.write(f'{{"keras": "{keras.__version__}", "situations": [\n' + ",\n".join(lines) +
                   "\n]}\n")
    n = sum(len(one["results"]) for one in found)
    print(f"keras {keras.__version__}, tensorflow {tf.__version__}: {len(found)} situations, "
          f"{n} values, {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    main()
