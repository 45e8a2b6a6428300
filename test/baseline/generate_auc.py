#!/usr/bin/env python3
"""Writes auc.json: variances of areas under ROC curves by DeLong's method, as package confidenceinterval has them.

    python3 -m venv venv
    venv/bin/pip install confidenceinterval==1.0.4
    venv/bin/python test/baseline/generate_auc.py

With and without equal probabilities, and with classes of unequal size.
"""

import json
import pathlib

import numpy as np
from confidenceinterval.delong import delong_roc_variance


def case(rng, n, share, decimals):
    truth = (rng.random(n) < share).astype(int)
    chances = (1 / (1 + np.exp(-rng.normal(truth * 1.2 - 0.5)))).round(decimals)
    auc, variance = delong_roc_variance(truth, chances)
    return {"truth": truth.tolist(), "chances": chances.tolist(), "auc": float(auc), "error": float(np.sqrt(variance))}


if __name__ == "__main__":
    rng = np.random.default_rng(11)
    made = [case(rng, *what) for what in ((60, 0.5, 6), (90, 0.2, 1), (40, 0.8, 2))]
    pathlib.Path(__file__).with_name("auc.json").write_text(json.dumps(made).replace("}, {", "},\n{") + "\n")
