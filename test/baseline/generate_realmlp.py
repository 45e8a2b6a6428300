#!/usr/bin/env python3
"""Writes realmlp.safetensors: 20 steps of RealMLP by its authors' own package, pytabkit, and runs of eight
epochs of 200 rows, in batches of 20.

    python3 -m venv venv
    venv/bin/pip install pytabkit==1.7.3 torch==2.11.0
    venv/bin/python test/baseline/generate_realmlp.py

The model, its first weights, the schedules, the loss and the optimizer are the package's
(NNCreator, HyperparamManager, AdamOptimizer), the loop is that of its TabNNModule.training_step():
here without Lightning, and with batches in order. Dropout is off, since random numbers are not
those of this program; its schedule is compared as numbers. Features are given as they reach the
network: scaling them is the business of packing.
"""

import importlib.util
import json
import os
import struct
import sys
import types

import numpy as np
import torch

# The package's front imports every other library that it knows.
package = types.ModuleType("pytabkit")
package.__path__ = importlib.util.find_spec("pytabkit").submodule_search_locations
sys.modules["pytabkit"] = package

from pytabkit.models.alg_interfaces.base import InterfaceResources, SplitIdxs
from pytabkit.models.data.data import DictDataset, TensorInfo
from pytabkit.models.optim.optimizers import get_opt_class
from pytabkit.models.sklearn.default_params import DefaultParams
from pytabkit.models.training.nn_creator import NNCreator
from pytabkit.models.training.scheduling import get_schedule

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROWS, BATCH, EPOCHS = 160, 32, 4
NUMBERS, CLASSES = 6, 3
CATEGORIES = [5, 21]  # the first is one-hot; id 0 is the package's for what is missing


def entry(class_name, name, inputs, **config):
    own = class_name not in ("InputLayer", "Concatenate", "LayerScale", "Dropout", "Activation")
    result = {"class_name": class_name, "name": name, "config": {"name": name, **config},
              "inbound_nodes": [[[i, 0, 0, {}] for i in inputs]] if inputs else []}
    if own:
        result["registered_name"] = "model_hopper>" + class_name
    return result


def architecture(config, one_hot, classes):
    """What hopper.tabular() writes: numbers, one-hot values, ids of categories in a row."""
    width = NUMBERS + one_hot + 1
    plain = config.get("num_emb_type") is None
    layers = [entry("InputLayer", "input", [], batch_shape=[None, width])]
    take = lambda name, first, count: layers.append(entry(
        "Take", name, ["input"], axis=1, indices=list(range(first, first + count))))
    take("numbers", 0, NUMBERS)
    parts = ["numbers"]
    if not plain:
        layers.append(entry(
            "PeriodicEmbedding", "embed_numbers", ["numbers"], frequencies=config["plr_hidden_1"],
            units=config["plr_hidden_2"] - 1, sigma=config["plr_sigma"],
            lr_factor=config["plr_lr_factor"], weight_decay_factor=config["plr_lr_factor"]))
        parts = ["embed_numbers"]
    take("one_hot", NUMBERS, one_hot)
    take("ids", NUMBERS + one_hot, 1)
    layers.append(entry("CategoryEmbedding", "embed_ids", ["ids"], input_dims=[CATEGORIES[1]],
                        output_dim=config.get("embedding_size", 8)))
    parts += ["one_hot", "embed_ids"]
    layers.append(entry("Concatenate", "features", parts, axis=-1))
    features = one_hot + NUMBERS * (1 if plain else config["plr_hidden_2"]) + config.get(
        "embedding_size", 8)
    factor = config["scale_lr_factor"]
    layers.append(entry("LayerScale", "scale", ["features"], projection_dim=features,
                        init_values=1.0, lr_factor=factor, weight_decay_factor=factor))
    last = "scale"
    bias = dict(lr_factor={"bias": config["bias_lr_factor"]}, weight_decay_factor={"bias": 0.0})
    for i, units in enumerate(config["hidden_sizes"]):
        layers.append(entry("NTKDense", f"dense_{i}", [last], units=units, **bias))
        last = f"dense_{i}"
        if config.get("use_parametric_act"):
            layers.append(entry("ParametricActivation", f"activation_{i}", [last],
                                activation=config["act"], lr_factor=config["act_lr_factor"],
                                weight_decay_factor=config["act_lr_factor"]))
        else:
            layers.append(entry("Activation", f"activation_{i}", [last],
                                activation=config["act"]))
        last = f"activation_{i}"
    layers.append(entry("NTKDense", "output", [last], units=max(classes, 1),
                        activation="softmax" if classes else "linear", **bias))
    return {"class_name": "Functional", "config": {
        "name": "realmlp", "layers": layers, "input_layers": [["input", 0, 0]],
        "output_layers": [["output", 0, 0]]}, "keras_version": "3.15.1"}


def dataset(classes, n_rows):
    rng = np.random.default_rng(7)
    x = rng.normal(size=(n_rows, NUMBERS)).astype(np.float32)
    ids = np.stack([rng.integers(1, n, n_rows) for n in CATEGORIES], axis=1)
    score = np.sin(2 * x[:, 0]) + x[:, 1] * (ids[:, 0] % 2) + 0.1 * (ids[:, 1] % 3)
    if classes:
        y = np.digitize(score, np.quantile(score, [0.4, 0.75]))[:, None]
        y_info, y = TensorInfo(cat_sizes=[classes]), torch.as_tensor(y, dtype=torch.long)
    else:
        y = ((score - score.mean()) / score.std())[:, None]
        y_info, y = TensorInfo(feat_shape=[1]), torch.as_tensor(y, dtype=torch.float32)
    return DictDataset({"x_cont": torch.as_tensor(x), "x_cat": torch.as_tensor(ids), "y": y},
                       {"x_cont": TensorInfo(feat_shape=[NUMBERS]),
                        "x_cat": TensorInfo(cat_sizes=CATEGORIES), "y": y_info}, device="cpu")


class Progress:
    """What schedules ask the learner for."""

    def __init__(self):
        self.progress = self
        self.share = 0.0
        self.total_steps = 0

    def get_fit_progress(self):
        return self.share


def weights_of(model, layers):
    """The package's parameters in the order of the architecture's weights."""
    by_scope = {}
    for p in model.parameters():
        if p.trainable:
            by_scope.setdefault(str(p.context.scope), []).append(p)
    result, left = [], dict(by_scope)

    def take(*parts):
        scopes = [s for s in left if all("/" + part in s for part in parts)]
        assert len(scopes) == 1 and len(left[scopes[0]]) == 1, (parts, scopes)
        result.append(left.pop(scopes[0])[0])

    if any("/plr" in scope for scope in left):
        for name in ("weight_1", "bias_1", "weight_2", "bias_2"):
            take("plr", name)
    take("emb")
    take("layer-0", "scale")
    for i in range(layers + 1):
        take(f"layer-{i}", "weight")
        take(f"layer-{i}", "bias")
        if any(f"/layer-{i}/" in s and "/act" in s for s in left):
            take(f"layer-{i}", "act")
    assert not left, left
    return result


def run(name, params, classes, table, epsilon=1e-8, n_rows=ROWS, batch_size=BATCH, epochs=EPOCHS):
    torch.manual_seed(0)
    config = dict(params, p_drop=0.0, hidden_sizes=[24, 24, 24], batch_size=batch_size, n_epochs=epochs,
                  max_one_hot_cat_size=9, embedding_size=8, tfms=["one_hot", "embedding"],
                  normalize_output=False, clamp_output=False, opt_eps=epsilon)
    ds = dataset(classes, n_rows)
    creator = NNCreator(**config)
    rows = torch.arange(n_rows)
    split = SplitIdxs(rows[None], None, None, split_seed=1, sub_split_seeds=[2], split_id=0)
    creator.setup_from_dataset(ds, [split], InterfaceResources(1, []))
    model = creator.create_model(ds, [split])
    fitted = creator.static_model(ds)
    model.train()
    weights = weights_of(model, len(config["hidden_sizes"]))
    first = [w.detach().numpy().copy() for w in weights]
    optimizer = get_opt_class(config["opt"])(
        [{"params": [p], "lr": 0.01} for p in model.parameters()], creator.hp_manager)
    criterion = creator.get_criterions()[0]
    learner, losses = Progress(), []
    for step in range(epochs * n_rows // batch_size):
        learner.share = step * batch_size / (epochs * n_rows)
        learner.total_steps = step
        creator.hp_manager.update_hypers(learner)
        at = step % (n_rows // batch_size) * batch_size
        batch = {key: t[None, at:at + batch_size] for key, t in fitted.tensors.items()}
        output = model(batch)
        loss = criterion(output["x_cont"], output["y"]).sum()
        loss.backward()
        optimizer.step(loss=loss)
        optimizer.zero_grad()
        losses.append(loss.item())
    # Without embeddings of numbers it stands behind them already.
    one_hot = fitted.tensors.get("x_one_hot", fitted.tensors["x_cont"][:, NUMBERS:]).numpy()
    x = np.concatenate([ds.tensors["x_cont"].numpy(), one_hot,
                        fitted.tensors["x_cat"].numpy().astype(np.float32)], axis=1)
    shapes = [list(w.shape) for w in first]
    table.add(name, {
        "architecture": json.dumps(architecture(config, one_hot.shape[1], classes)),
        "batch": batch_size, "epochs": epochs, "classes": classes, "learning_rate": config["lr"],
        "beta_2": config["sq_mom"], "epsilon": epsilon, "weight_decay": config.get("wd", 0.0),
        "label_smoothing": config.get("ls_eps", 0.0) if classes else 0.0, "shapes": shapes,
    }, x=x, y=fitted.tensors["y"].numpy() if not classes else ds.tensors["y"].numpy(),
        losses=np.array(losses), weights=first,
        weights_after=[w.detach().numpy() for w in weights])


class Table:
    """As that of keras_table.py, which imports Keras."""

    def __init__(self):
        self.tensors, self.cases = {}, []

    def add(self, name, case, **tensors):
        case = dict(case, name=name)
        for what, value in tensors.items():
            several = isinstance(value, list)
            if several:
                case["n_" + what] = len(value)
            for i, one in enumerate(value if several else [value]):
                array = np.asarray(one, dtype=np.float32, order="C")
                assert np.isfinite(array).all()
                self.tensors[f"{name}/{what}" + (f"/{i}" if several else "")] = array
        self.cases.append(case)

    def write(self, file_name):
        header, offset = {"__metadata__": {"cases": json.dumps(self.cases)}}, 0
        for key, array in self.tensors.items():
            header[key] = {"dtype": "F32", "shape": list(array.shape),
                           "data_offsets": [offset, offset + array.nbytes]}
            offset += array.nbytes
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        with open(os.path.join(FOLDER, file_name), "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for array in self.tensors.values():
                file.write(array.astype("<f4").tobytes())
        print(file_name, len(self.cases), "cases", offset, "bytes")


if __name__ == "__main__":
    table = Table()
    shares = np.linspace(0, 1, 101)
    schedules = {}
    for name in ("coslog4", "coslog2", "flat_cos"):
        schedule = get_schedule(name)
        schedules[name] = np.array([schedule.call_time_(t) for t in shares[:-1]])
    table.add("schedules", {}, **schedules)
    P = DefaultParams
    run("classes", P.RealMLP_TD_CLASS, CLASSES, table)
    run("numbers", P.RealMLP_TD_REG, 0, table)
    # From a last layer of zeros gradients come that are about epsilon, which PyTorch adds behind the
    # correction of the second moment, and Keras before it: here it is too small to count.
    run("classes_small", P.RealMLP_TD_S_CLASS, CLASSES, table, epsilon=1e-20)
    run("numbers_small", P.RealMLP_TD_S_REG, 0, table, epsilon=1e-20)
    whole = {"n_rows": 200, "batch_size": 20, "epochs": 8}
    run("classes_whole", P.RealMLP_TD_CLASS, CLASSES, table, **whole)
    run("numbers_whole", P.RealMLP_TD_REG, 0, table, **whole)
    table.write("realmlp.safetensors")
