#!/usr/bin/env python3
"""Writes keras_metric_names.json: what Keras calls metrics, by which callbacks watch them.

    venv/bin/python test/baseline/generate_keras_metric_names.py

Keras numbers objects of a class over a whole session; each case here is the first one of its own. Needs what
keras_table.py says.
"""

import json
import os

import keras_table  # noqa: F401: the back end
import keras
import numpy as np

CASES = [
    "[AUC(), AUC(curve='PR')]",
    "[AUC(name='auc'), AUC(name='prc', curve='PR')]",
    "[AUC(name='prc', curve='PR'), AUC()]",
    "[AUC(name='a'), AUC(name='a', curve='PR')]",
    "['accuracy', 'accuracy', 'acc']",
    "[BinaryAccuracy(), 'accuracy', BinaryAccuracy(threshold=0.3)]",
    "[Precision(), Precision(thresholds=0.3), Precision()]",
    "['mse', MeanSquaredError(), MeanSquaredError()]",
    "[MeanSquaredError(name='how far off')]",
    "[Recall(name='recall_1'), Recall(thresholds=0.7, name='recall_1')]",
    "[TopKCategoricalAccuracy(k=1, name='first'), FBetaScore(name='f', threshold=0.5)]",
]


def names(text):
    keras.backend.clear_session()
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1, activation="sigmoid")])
    metrics = eval(text, dict(vars(keras.metrics)))  # the cases above
    model.compile(loss="binary_crossentropy", optimizer="sgd", metrics=metrics)
    model.fit(np.zeros((4, 2)), np.array([[0], [1], [0], [1]]), verbose=0)
    return list(model._compile_metrics.result())


if __name__ == "__main__":
    made = [{"metrics": text, "names": names(text)} for text in CASES]
    with open(os.path.join(keras_table.FOLDER, "keras_metric_names.json"), "w") as file:
        json.dump(made, file, indent=1)
        file.write("\n")
    print(json.dumps(made, indent=1))
