#!/usr/bin/env python3
"""Writes tabm.safetensors: steps of TabM and TabM-mini by their authors' code, as pytabkit has it.

    python3 -m venv venv
    venv/bin/pip install pytabkit==1.7.3 torch==2.11.0
    venv/bin/python test/baseline/generate_tabm.py

The model, its first weights and which of them decay are the authors' (nn_models/tabm.py), the loss
and the loop those of TabMSubSplitInterface.fit() with share_training_batches: here with batches in
order. Dropout is off, since random numbers are not those of this program.
"""

import json

from generate_realmlp import Table, entry  # stands in for the package's front

import numpy as np
import torch
from pytabkit.models.nn_models.tabm import Model, make_parameter_groups

ROWS, BATCH, EPOCHS = 96, 24, 4
FEATURES, MEMBERS, HIDDEN = 5, 4, [12, 9]


def architecture(mini, outputs, activation):
    """What hopper.tabular() writes for rows of numbers."""
    layers = [entry("InputLayer", "input", [], batch_shape=[None, FEATURES]),
              entry("Take", "numbers", ["input"], axis=1, indices=list(range(FEATURES)))]
    no_decay = {"bias": 0.0}
    last = "numbers"
    for i, units in enumerate(HIDDEN):
        config = dict(units=units, activation="relu", weight_decay_factor=no_decay)
        own = i == 0 or not mini
        if own:
            config["ensemble_size"] = MEMBERS
        if own and mini:
            config.update(use_gamma=False, use_ensemble_bias=False)
        layers.append(entry("DenseBatchEnsemble" if own else "Dense", f"dense_{i}", [last], **config))
        if not own:
            del layers[-1]["registered_name"]
        last = f"dense_{i}"
    layers.append(entry("EinsumDense", "heads", [last], equation="bmi,mio->bmo",
                        output_shape=[None, outputs], bias_axes="mo", weight_decay_factor=no_decay))
    del layers[-1]["registered_name"]
    layers.append(entry("EnsembleAverage", "output", ["heads"], activation=activation))
    return {"class_name": "Functional", "config": {
        "name": "tabm", "layers": layers, "input_layers": [["input", 0, 0]],
        "output_layers": [["output", 0, 0]]}, "keras_version": "3.15.1"}


def weights_of(model):
    """The parameters in the order of the architecture's weights, with whether they are transposed."""
    result = []
    adapter = model.minimal_ensemble_adapter
    for i, block in enumerate(model.backbone.blocks):
        linear = block[0]
        result.append((linear.weight, True))
        if adapter is None:
            result += [(linear.r, False), (linear.s, False)]
        elif i == 0:
            result.append((adapter.weight, False))
        result.append((linear.bias, False))
    result += [(model.output.weight, False), (model.output.bias, False)]
    assert len(result) == len(list(model.parameters()))
    return result


def arrays(weights, of=lambda p: p):
    return [(of(p).T if turned else of(p)).detach().numpy().copy() for p, turned in weights]


def run(name, table, mini, kind):
    """`kind`: "classes" (three), "binary" (a logit each) or "numbers"."""
    torch.manual_seed(3)
    rng = np.random.default_rng(5)
    x = rng.normal(size=(ROWS, FEATURES)).astype(np.float32)
    score = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2]
    if kind == "classes":
        y = np.digitize(score, np.quantile(score, [0.4, 0.75]))
        base = torch.nn.functional.cross_entropy
    elif kind == "binary":
        y = (score > 0.2).astype(np.float32)
        base = torch.nn.functional.binary_cross_entropy_with_logits
    else:
        y = ((score - score.mean()) / score.std()).astype(np.float32)
        base = torch.nn.functional.mse_loss
    outputs = 3 if kind == "classes" else 1
    model = Model(n_num_features=FEATURES, cat_cardinalities=[], n_classes=outputs, bins=None,
                  backbone={"type": "MLP", "n_blocks": 2, "d_block": 12, "dropout": 0.0},
                  arch_type="tabm-mini" if mini else "tabm", k=MEMBERS)
    if HIDDEN[1] != HIDDEN[0]:  # widths that differ show what is transposed
        second, heads = model.backbone.blocks[1][0], model.output
        with torch.no_grad():
            for owner, key, part in ((second, "weight", np.s_[:HIDDEN[1]]),
                                     (second, "bias", np.s_[..., :HIDDEN[1]]),
                                     (second, "s", np.s_[:, :HIDDEN[1]]),
                                     (heads, "weight", np.s_[:, :HIDDEN[1]])):
                if getattr(owner, key, None) is not None:
                    value = getattr(owner, key)[part].clone()
                    setattr(owner, key, torch.nn.Parameter(value))
    weights = weights_of(model)
    with torch.no_grad():  # scales that begin as ones would not show a wrong place
        for p, _ in weights:
            if p.shape[0] == MEMBERS and p.ndim == 2:
                p += 0.3 * torch.randn(p.shape)
    first = arrays(weights)
    # PyTorch adds epsilon behind the correction of the second moment, Keras before it: it is too small to count.
    optimizer = torch.optim.AdamW(make_parameter_groups(model), lr=0.01, weight_decay=0.05, eps=1e-20)
    inputs, labels = torch.as_tensor(x), torch.as_tensor(y)
    act = {"classes": lambda z: z.softmax(-1), "binary": torch.sigmoid, "numbers": lambda z: z}[kind]

    def predict():
        model.eval()
        with torch.inference_mode():
            return act(model(inputs)).mean(1).numpy()

    predictions, losses, gradients = predict(), [], None
    for step in range(EPOCHS * ROWS // BATCH):
        model.train()
        at = step * BATCH % ROWS
        optimizer.zero_grad(set_to_none=True)
        members = model(inputs[at:at + BATCH])
        repeated = labels[at:at + BATCH].repeat_interleave(MEMBERS)
        flat = members.flatten(0, 1)
        loss = base(flat if kind == "classes" else flat[:, 0], repeated)
        loss.backward()
        if gradients is None:
            gradients = arrays(weights, lambda p: p.grad)
        optimizer.step()
        losses.append(loss.item())
    table.add(name, {
        "architecture": json.dumps(architecture(mini, outputs, {
            "classes": "softmax", "binary": "sigmoid", "numbers": "linear"}[kind])),
        "batch": BATCH, "epochs": EPOCHS, "classes": 3 if kind == "classes" else 0,
        "loss": {"classes": "categorical_crossentropy", "binary": "binary_crossentropy",
                 "numbers": "mse"}[kind], "learning_rate": 0.01, "weight_decay": 0.05, "mini": mini,
    }, x=x, y=y.reshape(-1, 1), losses=np.array(losses), weights=first, gradients=gradients,
        predictions=predictions, predictions_after=predict(), weights_after=arrays(weights))


if __name__ == "__main__":
    table = Table()
    for mini in (False, True):
        for kind in ("classes", "binary", "numbers"):
            run(kind + ("_mini" if mini else ""), table, mini, kind)
    table.write("tabm.safetensors")
