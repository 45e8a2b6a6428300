#!/usr/bin/env python3
"""Writes auc.json: how far intervals of areas under ROC curves reach: by DeLong's variance, as package confidenceinterval has it, and by Newcombe's
method 5 (Statistics in Medicine 25, 2006, 559-573), whose variance, that of Hanley and McNeil (Radiology 143, 1982, 29-36), is of the area at the end of
the interval; the wider one counts.

    python3 -m venv venv
    venv/bin/pip install confidenceinterval==1.0.4
    venv/bin/python test/baseline/generate_auc.py

With and without equal probabilities, with classes of unequal size, and of classes that are told apart without a mistake, or with one.
"""

import json
import pathlib

import numpy as np
from confidenceinterval.delong import delong_roc_variance
from scipy.optimize import brentq
from scipy.stats import norm


def hanley_mcneil(area, m, n):
    q1, q2 = area / (2 - area), 2 * area * area / (1 + area)
    return (area * (1 - area) + (m - 1) * (q1 - area * area) + (n - 1) * (q2 - area * area)) / (m * n)


def newcombe(area, m, n):
    middle = (m + n) / 2  # in the place of both numbers within the brackets
    z = norm.ppf(0.975)

    def too_low(lower):
        inner = hanley_mcneil(lower, middle, middle) * middle * middle / (m * n)
        return area - lower - z * np.sqrt(inner)
    return area - brentq(too_low, 0, area - 1e-9)


def reach(truth, chances):
    auc, variance = (float(value) for value in delong_roc_variance(truth, chances))
    m, n = int(truth.sum()), int((1 - truth).sum())
    return auc, float(np.nan_to_num(np.sqrt(variance))), newcombe(max(auc, 1 - auc), m, n)


def entry(truth, chances):
    auc, error, farther = reach(truth, chances)
    return {"truth": truth.tolist(), "chances": chances.tolist(), "auc": auc, "reach": max(norm.ppf(0.975) * error, farther)}


def case(rng, n, share, decimals, apart=1.2):
    truth = (rng.random(n) < share).astype(int)
    return entry(truth, (1 / (1 + np.exp(-rng.normal(truth * apart - 0.5)))).round(decimals))


if __name__ == "__main__":
    rng = np.random.default_rng(11)
    made = [case(rng, *what) for what in ((60, 0.5, 6), (90, 0.2, 1), (40, 0.8, 2))]
    made += [case(rng, 50, 0.3, 6, apart=20), case(rng, 200, 0.02, 6, apart=20)]
    one = np.array([1] * 20 + [0] * 30)
    made += [entry(one, np.where(np.arange(50) == 19, 0.5, one * 0.8 + 0.1)), entry(np.array([1, 0, 0, 0]), np.array([0.9, 0.1, 0.2, 0.3]))]
    pathlib.Path(__file__).with_name("auc.json").write_text(json.dumps(made).replace("}, {", "},\n{") + "\n")
