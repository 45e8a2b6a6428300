#!/usr/bin/env python3
"""Writes folds.json: what scikit-learn makes of folds, for test/e2e/cross_validate_test.py.

    python3 -m venv venv
    venv/bin/pip install scikit-learn==1.9.1
    venv/bin/python test/baseline/generate_folds.py

"stratified": how many rows of each class StratifiedKFold puts into each fold. "grouped": a table with three
groups, which GroupKFold makes one fold each, and the metrics of a linear model in each fold, whose scaler has
seen that fold's training rows alone; predicted numbers stay in the range of the training labels.
"""

import json
import pathlib

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score, root_mean_squared_error
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

COLUMNS = [2, 3, 8]  # bmi, blood pressure, s5
GROUPS = {"c": 120, "a": 100, "b": 80}


def stratified(counts, folds):
    """Classes in the order of their names, which is that of their first rows."""
    labels = np.repeat(np.arange(len(counts)), counts)
    parts = StratifiedKFold(folds).split(labels, labels)
    return {"counts": counts, "folds": sorted(np.bincount(labels[test], minlength=len(counts)).tolist() for _, test in parts)}


def grouped():
    x, y = load_diabetes(return_X_y=True, scaled=False)
    rng = np.random.default_rng(3)
    rows = rng.permutation(len(x))[:sum(GROUPS.values())]
    x, y = x[rows][:, COLUMNS].round(3), y[rows]
    group = np.repeat(list(GROUPS), list(GROUPS.values()))
    late = y + rng.normal(scale=30, size=len(y)) > 140
    folds = {}
    for train, test in GroupKFold(len(GROUPS)).split(x, y, group):
        linear = make_pipeline(StandardScaler(), LinearRegression()).fit(x[train], y[train])
        predicted = linear.predict(x[test]).clip(y[train].min(), y[train].max())
        logistic = make_pipeline(StandardScaler(), LogisticRegression(C=np.inf, tol=1e-10, max_iter=10000)).fit(x[train], late[train])
        chances = logistic.predict_proba(x[test])
        assert len(set(group[test])) == 1
        folds[group[test][0]] = {
            "root_mean_squared_error": root_mean_squared_error(y[test], predicted), "loss": log_loss(late[test], chances),
            "accuracy": accuracy_score(late[test], chances[:, 1] > 0.5), "auc": roc_auc_score(late[test], chances[:, 1])}
    return {"rows": [[*a, b, bool(c), d] for a, b, c, d in zip(x.tolist(), y.tolist(), late, group.tolist())], "folds": folds}


if __name__ == "__main__":
    made = {"stratified": [stratified(*case) for case in (([50, 31, 19], 5), ([7, 60], 4), ([11, 12, 13, 2], 2))], "grouped": grouped()}
    path = pathlib.Path(__file__).with_name("folds.json")
    path.write_text(json.dumps(made).replace("], [", "],\n[") + "\n")
