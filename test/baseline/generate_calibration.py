#!/usr/bin/env python3
"""Writes calibration.json: temperatures of given logits that scipy finds, with scikit-learn's log-losses.

    python3 -m venv venv
    venv/bin/pip install scipy==1.17.1 scikit-learn==1.9.1 numpy==2.4.6
    venv/bin/python test/baseline/generate_calibration.py

Classifiers that are too sure, too unsure, and of two classes with one logit. A row is its logits, which the test
gives an identity layer, and its class. Of an ensemble a row is the members' logits, one behind the other; its own are
those of the members' mean probabilities: their logarithms, or log(p / (1 - p)) of a single one.
"""

import json
import pathlib

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit, softmax
from sklearn.metrics import log_loss

BINS = 15
SHARES = [0.5, 0.25, 0.25]


def probabilities(logits, temperature):
    if logits.shape[1] == 1:
        second = expit(logits[:, 0] / temperature)
        return np.stack([1 - second, second], axis=1)
    return softmax(logits / temperature, axis=1)


def calibration_error(p, labels):
    """By bins (0, 1/15], (1/15, 2/15] ... of confidence."""
    sure, right = p.max(axis=1), p.argmax(axis=1) == labels
    bins = np.digitize(sure, np.linspace(0, 1, BINS + 1)[1:], right=True)
    return float(sum(abs(right[bins == i].mean() - sure[bins == i].mean()) * (bins == i).mean()
                     for i in np.unique(bins)))


def case(rng, n, classes, sharpness):
    """Labels are drawn of logits; the classifier has them times `sharpness`."""
    width = 1 if classes == 2 else classes
    logits = rng.normal(scale=1.5, size=(n, width))
    labels = np.array([rng.choice(classes, p=p) for p in probabilities(logits, 1.0)])
    logits = (logits * sharpness).round(3)
    logits[logits == 0] = 0.001  # else the class of a sigmoid's 0 is a matter of the last bit

    return {"classes": classes, "logits": logits.tolist(), **calibrated(logits, labels, classes)}


def ensemble(rng, n, classes, sharpness):
    width = 1 if classes == 2 else classes
    truth = rng.normal(scale=1.5, size=(n, width))
    labels = np.array([rng.choice(classes, p=p) for p in probabilities(truth, 1.0)])
    members = [((truth + rng.normal(scale=0.7, size=truth.shape)) * sharpness).round(3) for _ in SHARES]
    mean = sum(share * probabilities(member, 1.0) for share, member in zip(SHARES, members))
    logits = np.log(mean) if width > 1 else logit(mean[:, 1:])
    return {"classes": classes, "logits": np.concatenate(members, axis=1).tolist(), "shares": SHARES,
            **calibrated(logits, labels, classes)}


def calibrated(logits, labels, classes):
    def loss(temperature):
        return log_loss(labels, probabilities(logits, temperature), labels=range(classes))

    best = minimize_scalar(lambda log: loss(np.exp(log)), bounds=(np.log(0.01), np.log(100)), method="bounded",
                           options={"xatol": 1e-10})
    temperature = float(np.exp(best.x))
    return {"labels": labels.tolist(), "temperature": temperature,
            "loss": loss(temperature), "loss_before": loss(1.0),
            "error": calibration_error(probabilities(logits, temperature), labels),
            "error_before": calibration_error(probabilities(logits, 1.0), labels)}


if __name__ == "__main__":
    rng = np.random.default_rng(29)
    made = [case(rng, *what) for what in ((150, 4, 3.0), (120, 3, 0.4), (150, 2, 2.5), (120, 2, 0.5))]
    made += [ensemble(rng, *what) for what in ((150, 4, 4.0), (120, 3, 0.3), (150, 2, 2.0))]
    pathlib.Path(__file__).with_name("calibration.json").write_text(json.dumps(made).replace("}, {", "},\n{") + "\n")
