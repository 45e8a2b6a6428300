#!/usr/bin/env python3
"""Reads architectures by hand, completed as load_model() stores them, with a real Keras.

Usage: KERAS_BACKEND=numpy python generate_keras_completed.py

keras_completed.json holds what was written and what CompleteModel() makes of it ("completed", which
test/unit/model compares); this adds what Keras' model_from_json() says of the latter, and fails where
it cannot read one. The texts without a shape are built with the `shape` beside them.
"""
import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "numpy")

import keras  # noqa: E402

PATH = pathlib.Path(__file__).parent / "keras_completed.json"

table = json.loads(PATH.read_text(encoding="utf-8"))
for case in table["models"]:
    model = keras.models.model_from_json(case["completed"])
    if not model.built:
        model.build([None] + case["shape"])
    case["says"] = {
        "input_shape": list(model.input_shape[1:]),
        "output_shape": list(model.output_shape[1:]),
        "parameters": model.count_params(),
        "weights": [list(weight.shape) for weight in model.get_weights()],
    }
table["keras_version"] = keras.__version__
PATH.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
