#!/usr/bin/env python3
"""Writes search.json: what Optuna, scikit-learn and SciPy say about fixed histories of searches.

  pip install optuna==5.0.0 scikit-learn==1.9.1 scipy==1.17.1 torch==2.11.0
  test/baseline/generate_search.py                  writes test/baseline/search.json
  test/baseline/generate_search.py --sobol-numbers  writes src/search/sobol_numbers.h

Nothing is sampled by the tools: fixed candidates are scored, so that no random generator matters.
"""
import json
import pathlib
import sys
import warnings

import numpy as np

warnings.filterwarnings("ignore")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DIMENSIONS = 256


def write_sobol_numbers():
    """The direction numbers that SciPy ships: Joe and Kuo's new-joe-kuo-6.21201."""
    import scipy.stats

    table = np.load(pathlib.Path(scipy.stats.__file__).parent / "_sobol_direction_numbers.npz")
    poly, initial = table["poly"][:DIMENSIONS], table["vinit"][:DIMENSIONS]
    degrees = [int(p).bit_length() - 1 for p in poly]
    widest = max(degrees)
    lines = []
    for p, degree, row in zip(poly, degrees, initial):
        coefficients = (int(p) >> 1) & ((1 << max(degree - 1, 0)) - 1)
        numbers = ", ".join(str(int(m)) for m in row[:degree])
        lines.append(f"    {{{degree}, {coefficients}, {{{numbers}}}}},")
    text = f"""// Primitive polynomials and initial direction numbers of Sobol's sequence: Joe, Kuo: "Constructing
// Sobol sequences with better two-dimensional projections", SIAM J. Sci. Comput. 30, 2008 (their file
// new-joe-kuo-6.21201). Made by test/baseline/generate_search.py --sobol-numbers.
//
// Copyright (c) 2008, Frances Y. Kuo and Stephen Joe. All rights reserved.
// Redistribution and use in source and binary forms, with or without modification, are permitted
// provided that the following conditions are met: redistributions of source code must retain the
// above copyright notice, this list of conditions and the following disclaimer; redistributions in
// binary form must reproduce them in the documentation or other materials provided with the
// distribution; neither the names of the copyright holders nor the names of the University of New
// South Wales and the University of Waikato and its contributors may be used to endorse or promote
// products derived from this software without specific prior written permission.
// This software is provided by the copyright holders "as is" and any express or implied
// warranties, including, but not limited to, the implied warranties of merchantability and fitness
// for a particular purpose are disclaimed. In no event shall the copyright holders be liable for
// any direct, indirect, incidental, special, exemplary, or consequential damages (including, but
// not limited to, procurement of substitute goods or services; loss of use, data, or profits; or
// business interruption) however caused and on any theory of liability, whether in contract,
// strict liability, or tort (including negligence or otherwise) arising in any way out of the use
// of this software, even if advised of the possibility of such damage.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hopper {{

struct SobolPolynomial {{
  uint32_t degree;
  uint32_t coefficients;  // of x^(degree - 1) ... x, a bit each
  uint32_t initial[{widest}];
}};

constexpr size_t kSobolDimensions = {DIMENSIONS};

// The first dimension has none: its directions are powers of two.
constexpr SobolPolynomial kSobolNumbers[kSobolDimensions] = {{
    // clang-format off
{chr(10).join(lines)}
    // clang-format on
}};

}}  // namespace hopper
"""
    (ROOT / "src/search/sobol_numbers.h").write_text(text)


def sobol_cases():
    from scipy.stats import qmc

    points = qmc.Sobol(d=DIMENSIONS, scramble=False, bits=32).random(64)
    columns = [0, 1, 2, 3, 7, 20, 100, 255]
    return {"columns": columns, "points": (points[:, columns] * 2**32).astype(np.uint64).tolist()}


def tpe_space():
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    return {
        "a": FloatDistribution(-2.0, 3.0),
        "b": FloatDistribution(1e-4, 1e-1, log=True),
        "c": FloatDistribution(0.0, 1.0, step=0.25),
        "d": IntDistribution(16, 256, step=16),
        "e": IntDistribution(1, 5000, log=True),
        "f": IntDistribution(0, 3),
        "g": CategoricalDistribution(["x", "y", "z"]),
    }


SPACE_JSON = """{"a": {"type": "float", "low": -2, "high": 3},
 "b": {"type": "float", "low": 1e-4, "high": 0.1, "scale": "log"},
 "c": {"type": "float", "low": 0, "high": 1, "step": 0.25},
 "d": {"type": "int", "low": 16, "high": 256, "step": 16},
 "e": {"type": "int", "low": 1, "high": 5000, "scale": "log"},
 "f": {"type": "int", "low": 0, "high": 3},
 "g": ["x", "y", "z"]}"""


def draw(rng):
    return {
        "a": float(rng.uniform(-2, 3)),
        "b": float(np.exp(rng.uniform(np.log(1e-4), np.log(1e-1)))),
        "c": 0.25 * int(rng.integers(0, 5)),
        "d": 16 * int(rng.integers(1, 17)),
        "e": int(round(np.exp(rng.uniform(0, np.log(5000))))),
        "f": int(rng.integers(0, 4)),
        "g": "xyz"[int(rng.integers(0, 3))],
    }


def loss_of(params):
    return ((params["a"] - 1) ** 2 + abs(np.log10(params["b"]) + 2) + (params["g"] == "x")
            + params["d"] / 512 + 0.1 * params["f"])


def tpe_cases():
    import optuna
    from optuna.samplers._tpe.sampler import _split_trials, default_gamma
    from optuna.trial import TrialState, create_trial

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    # Among equal values NumPy's order is that of no standard: the stable one is one of them.
    sort = np.argsort
    np.argsort = lambda a, **arguments: sort(a, kind="stable")
    space = tpe_space()
    cases = []
    for n, running in ((1, 0), (4, 0), (12, 3), (60, 5), (300, 8)):
        rng = np.random.default_rng(n)
        study = optuna.create_study()
        history = []
        for i in range(n + running):
            params = draw(rng)
            value = loss_of(params) if i < n else None
            study.add_trial(create_trial(
                state=TrialState.COMPLETE if i < n else TrialState.RUNNING, params=params,
                distributions=space, value=value))
            history.append({"params": params, "value": value})
        sampler = optuna.samplers.TPESampler(multivariate=True, constant_liar=True)
        good, bad = _split_trials(study, study.get_trials(), default_gamma(n))
        good = sampler._build_parzen_estimator(study, space, good, handle_below=True)
        bad = sampler._build_parzen_estimator(study, space, bad, handle_below=False)
        candidates = [draw(rng) for _ in range(20)]
        inside = {name: np.array([float(d.to_internal_repr(c[name])) for c in candidates])
                  for name, d in space.items()}
        cases.append({"history": history, "candidates": candidates,
                      "good": good.log_pdf(inside).tolist(),
                      "score": (good.log_pdf(inside) - bad.log_pdf(inside)).tolist()})
    np.argsort = sort
    return {"space": SPACE_JSON, "cases": cases}


def gp_cases():
    from scipy.stats import norm
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    cases = []
    for n, d in ((3, 1), (12, 2), (60, 5)):
        rng = np.random.default_rng(n)
        x, at = rng.random((n, d)), rng.random((15, d))
        y = np.sin(3 * x[:, 0]) + x.sum(axis=1) ** 2 + 0.1 * rng.standard_normal(n)
        amplitude, noise = 1.7, 0.03
        lengths = 0.2 + 0.3 * np.arange(1, d + 1)
        kernel = ConstantKernel(amplitude) * Matern(lengths, nu=2.5) + WhiteKernel(noise)
        model = GaussianProcessRegressor(kernel, alpha=0, optimizer=None).fit(x, y)
        likelihood, gradient = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
        mean, deviation = model.predict(at, return_std=True)
        # Of the function without the noise of a new observation.
        deviation = np.sqrt(deviation**2 - noise)
        best = y.min()
        z = (best - mean) / deviation
        improvement = (best - mean) * norm.cdf(z) + deviation * norm.pdf(z)
        cases.append({"x": x.tolist(), "y": y.tolist(), "at": at.tolist(), "amplitude": amplitude,
                      "noise": noise, "lengths": lengths.tolist(), "likelihood": likelihood,
                      "gradient": gradient.tolist(), "mean": mean.tolist(),
                      "deviation": deviation.tolist(), "improvement": improvement.tolist()})
    return cases


def log_improvement_cases():
    """Of values that are normally distributed around -z with deviation 1, below 0."""
    import torch
    from optuna._gp.acqf import standard_logei

    zs = [-200.0, -60.0, -30.0, -20.0, -10.0, -6.0, -5.001, -4.999, -3.0, -1.0, 0.0, 0.5, 2.0, 8.0, 50.0]
    values = standard_logei(torch.tensor(zs, dtype=torch.float64)).tolist()
    return [{"z": z, "value": value} for z, value in zip(zs, values)]


def importance_cases():
    import optuna
    from optuna.importance import PedAnovaImportanceEvaluator
    from optuna.trial import create_trial

    space = tpe_space()
    cases = []
    for n in (25, 200):
        rng = np.random.default_rng(1000 + n)
        study = optuna.create_study()
        history = []
        for _ in range(n):
            params = draw(rng)
            value = loss_of(params)
            study.add_trial(create_trial(params=params, distributions=space, value=value))
            history.append({"params": params, "value": value})
        importance = optuna.importance.get_param_importances(
            study, evaluator=PedAnovaImportanceEvaluator())
        cases.append({"history": history, "importance": importance})
    return {"space": SPACE_JSON, "cases": cases}


def main():
    if sys.argv[1:] == ["--sobol-numbers"]:
        write_sobol_numbers()
        return
    if sys.argv[1:]:
        sys.exit(__doc__)
    table = {"sobol": sobol_cases(), "tpe": tpe_cases(), "gp": gp_cases(),
             "log_improvement": log_improvement_cases(), "importance": importance_cases()}
    text = json.dumps(table, indent=None, separators=(",", ":"))
    (ROOT / "test/baseline/search.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
