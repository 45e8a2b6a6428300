#!/usr/bin/env python3
"""Writes schema.json: what scikit-learn and pytabkit make of columns, for src/schema.

  pip install scikit-learn==1.9.1 pytabkit==1.7.3 torch==2.11.0 pandas==3.1.1
  test/baseline/generate_schema.py

Of each case there are the values to fit on, the answers that a survey of them gives (NumPy), the
values to transform and what they become. "robust" is pytabkit's pipeline median_center, robust_scale,
smooth_clip of RealMLP's defaults; "log" the same of sign(x) ln(1 + |x|); other names are those of
scikit-learn's StandardScaler, QuantileTransformer and OneHotEncoder. "calendar" has its places in week
and day from pandas.
"""
import json
import pathlib

import numpy as np
import pandas as pd
import torch
from pytabkit.models.data.data import DictDataset, TensorInfo
from pytabkit.models.nn_models.base import SequentialFactory
from pytabkit.models.nn_models.models import smooth_clip_func
from pytabkit.models.nn_models.pipeline import MedianCenterFactory, RobustScaleFactory
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler

HERE = pathlib.Path(__file__).resolve().parent
QUARTILES = [0.0, 0.25, 0.5, 0.75, 1.0]


def robust(train, given):
    """pytabkit's own modules, in double precision."""
    def data(values):
        x = torch.tensor(np.asarray(values, dtype=np.float64).reshape(-1, 1))
        return DictDataset({"x_cont": x},
                           {"x_cont": TensorInfo(feat_shape=[1]), "x_cat": TensorInfo(cat_sizes=[])},
                           device="cpu", n_samples=len(values))

    factory = SequentialFactory([MedianCenterFactory(), RobustScaleFactory()])
    fitter = factory.create(data(train).tensor_infos)
    fitted = fitter.fit_transform_subsample(data(train), 1.0, needs_tensors=False)[0]
    layer = fitted if hasattr(fitted, "forward_tensors") else fitted.fit(data(train))
    x = layer.forward_tensors(data(given).tensors)["x_cont"]
    return smooth_clip_func(x, 3.0).reshape(-1).numpy()


def signed_log(values):
    values = np.asarray(values)
    return np.sign(values) * np.log1p(np.abs(values))


def numbers(name, treatment, train, given, expected, fractions=QUARTILES, **more):
    known = np.array([v for v in train if v is not None], dtype=np.float64)
    measured = signed_log(known) if treatment == "log" else known
    return {"name": name, "treatment": treatment, "family": "number", "given": list(given),
            "expected": [list(np.atleast_1d(row)) for row in np.asarray(expected, dtype=float)],
            "statistics": {"rows": len(train), "nulls": len(train) - len(known), "bad": 0,
                           "quantiles": list(np.quantile(measured, fractions)),
                           "mean": known.mean(), "deviation": known.std()}, **more}


def number_cases(random):
    cases = []
    skewed = np.round(random.lognormal(3.0, 1.5, 201), 3)
    tied = np.round(np.concatenate([np.zeros(180), random.normal(50, 9, 21)]), 3)
    plain = np.round(random.normal(-3.0, 7.0, 201), 3)
    for label, train in (("skewed", skewed), ("tied", tied), ("plain", plain)):
        given = np.concatenate([train[:20], [train.min() - 5, train.max() + 100, 0.0, 1.5]])
        cases.append(numbers(label, "robust", train, given, robust(train, given)))
        cases.append(numbers(label, "log", train, given,
                             robust(signed_log(train), signed_log(given))))
        scaler = StandardScaler().fit(train.reshape(-1, 1))
        cases.append(numbers(label, "standardize", train, given,
                             scaler.transform(given.reshape(-1, 1))))
        quantile = QuantileTransformer(n_quantiles=50, output_distribution="normal",
                                       subsample=None).fit(train.reshape(-1, 1))
        cases.append(numbers(label, "quantile", train, given,
                             quantile.transform(given.reshape(-1, 1)), np.linspace(0, 1, 50),
                             options={"quantiles": 50}))
        cases.append(numbers(label, "none", train, given, given))
    return cases


def categories(name, treatment, train, given, expected, least):
    known = [v for v in train if v is not None]
    counts = pd.Series(known).value_counts()
    return {"name": name, "treatment": treatment, "family": "text", "given": given,
            "expected": expected, "options": {"min_frequency": least},
            "statistics": {"rows": len(train), "nulls": len(train) - len(known), "bad": 0,
                           "values_found": len(counts),
                           "values": [[v, int(n)] for v, n in counts.items() if n >= least]}}


def category_cases():
    """Ours has categories by their frequency, then the rare ones, then NULL, as its comments say."""
    train = ["basic"] * 30 + ["gold"] * 20 + ["silver"] * 12 + ["x"] * 2 + ["y"] + [None] * 15
    given = ["silver", "basic", "gold", "x", "y", "never", None]
    encoder = OneHotEncoder(min_frequency=5, handle_unknown="infrequent_if_exist",
                            sparse_output=False)
    encoder.fit(np.array(train, dtype=object).reshape(-1, 1))
    names = list(encoder.get_feature_names_out(["plan"]))
    wanted = ["plan_basic", "plan_gold", "plan_silver", "plan_infrequent_sklearn", "plan_None"]
    encoded = encoder.transform(np.array(given, dtype=object).reshape(-1, 1))
    expected = encoded[:, [names.index(name) for name in wanted]].tolist()
    index = {"basic": 1, "gold": 2, "silver": 3, None: 4}
    return [categories("rare and null", "one_hot", train, given, expected, 5),
            categories("rare and null", "index", train, given,
                       [[float(index.get(v, 0))] for v in given], 5)]


def calendar_case(random):
    days = pd.to_datetime("2019-03-01") + pd.to_timedelta(random.integers(0, 900, 101), unit="D")
    times = days + pd.to_timedelta(random.integers(0, 86400, 101), unit="s")
    seconds = np.array(times.astype("datetime64[s]").astype("int64"), dtype=np.float64)
    given = times[:30]
    given_seconds = seconds[:30]
    week = (given.day_of_week + (given.hour * 3600 + given.minute * 60 + given.second) / 86400) / 7
    day = (given.hour * 3600 + given.minute * 60 + given.second) / 86400
    year = given_seconds / 86400 / 365.2425
    expected = [robust(seconds, given_seconds)]
    for turns in (year, week, day):
        expected += [np.sin(2 * np.pi * np.asarray(turns)), np.cos(2 * np.pi * np.asarray(turns))]
    case = numbers("timestamps", "calendar", list(seconds), given_seconds, np.stack(expected, 1))
    case["family"] = "timestamp"
    return case


def main():
    random = np.random.default_rng(29)
    cases = number_cases(random) + category_cases() + [calendar_case(random)]
    (HERE / "schema.json").write_text(json.dumps({"cases": cases}, indent=0) + "\n")


if __name__ == "__main__":
    main()
