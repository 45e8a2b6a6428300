"""Models of Keras and PyTorch into the database and back: the same predictions on both sides."""

import json
import os
import pathlib
import sys
import warnings

import keras
import numpy as np
import psycopg
import pytest
import safetensors
import safetensors.numpy
from keras import layers

from conftest import GRID, SOURCE, ask, plain_connection

DICE = np.random.default_rng(2)
IMAGES = DICE.normal(size=(40, 8, 8, 2)).astype("f4")
VECTORS = DICE.normal(size=(40, 5)).astype("f4")


def disturbed(model):
    """With weights that no initializer makes."""
    model.set_weights([DICE.uniform(0.05, 0.4, weight.shape) for weight in model.get_weights()])
    return model


def servers(one, model_id, inputs, outputs):
    """What the server predicts with the weights that were pushed."""
    one.write_table("inputs", {"x": inputs}, replace=True)
    one.sql("DROP TABLE IF EXISTS outputs")
    one.call("predict_byom", "pushed", model_id, "inputs", "id", "x", "outputs", "prob",
             class_values=[str(place) for place in range(outputs)])
    table = one.sql("SELECT id, class_value, prob FROM outputs ORDER BY id, class_value::int")
    return table.prob.to_numpy().reshape(len(inputs), outputs)


def test_push_keras(one):
    cnn = disturbed(keras.Sequential([
        keras.Input((8, 8, 2)), layers.Conv2D(4, 3, padding="same", activation="relu"), layers.BatchNormalization(),
        layers.MaxPooling2D(), layers.Flatten(), layers.Dropout(0.5), layers.Dense(3, activation="softmax")]))
    x = keras.Input((5,))
    residual = disturbed(keras.Model(x, layers.Dense(3, activation="softmax")(
        layers.Add()([x, layers.Dense(5, activation="tanh")(x)]))))
    adapted = layers.Normalization()
    adapted.adapt(VECTORS)
    counting = keras.Sequential([keras.Input((5,)), adapted, layers.Dense(3, activation="softmax")])  # a weight without axes
    for model, inputs in ((cnn, IMAGES), (residual, VECTORS), (counting, VECTORS)):
        model_id = one.push_model(model, "pushed", name="from Keras")
        np.testing.assert_allclose(servers(one, model_id, inputs, 3), model.predict(inputs, verbose=0), atol=1e-5)
    plain = one.push_model(cnn, "pushed", weights=False)
    assert one.sql("SELECT model_id, name FROM pushed WHERE model_weights IS NULL").values.tolist() == [[plain, None]]
    with pytest.raises(TypeError, match="not a model"):
        one.push_model(object(), "pushed")


def test_safetensors(one, tmp_path):
    """Out, read by the format's own library, and in again from what it writes."""
    model = disturbed(keras.Sequential([
        keras.Input((8, 8, 2)), layers.Conv2D(4, 3, name="conv"), layers.BatchNormalization(name="norm"),
        layers.Flatten(), layers.Dense(3, activation="softmax", name="out")]))
    model_id = one.push_model(model, "pushed_files")
    content = one.sql(f"SELECT hopper.to_safetensors(model_arch, model_weights) AS f FROM pushed_files"
                      f" WHERE model_id = {model_id}").f[0]
    path = tmp_path / "model.safetensors"
    path.write_bytes(bytes(content))
    with safetensors.safe_open(path, "numpy") as file:
        assert json.loads(file.metadata()["model_arch"])["class_name"] == "Sequential"
        read = {name: file.get_tensor(name) for name in file.keys()}
    names = ["conv/kernel", "conv/bias", "norm/gamma", "norm/beta", "norm/moving_mean", "norm/moving_variance",
             "out/kernel", "out/bias"]
    assert set(read) == set(names)
    for name, value in zip(names, model.get_weights()):
        np.testing.assert_array_equal(read[name], value)

    changed = {name: (value * 0.5).astype(np.float32) for name, value in read.items()}
    flat = np.concatenate([changed[name].ravel() for name in names]).tobytes()

    def taken(tensors):
        with plain_connection() as connection:
            return bytes(connection.execute(
                "SELECT hopper.from_safetensors(model_arch, %s) FROM pushed_files WHERE model_id = %s",
                (safetensors.numpy.save(tensors), model_id)).fetchone()[0])

    assert taken(changed) == flat
    assert taken({name: value.astype(np.float64) for name, value in changed.items()}) == flat
    halves = {name: value.astype(np.float16) for name, value in changed.items()}
    assert taken(halves) == np.concatenate([halves[n].astype(np.float32).ravel() for n in names]).tobytes()
    # other names: by their order, which the library sorts by name
    assert taken({f"{place:02}": changed[name] for place, name in enumerate(names)}) == flat
    for tensors, words in (
            ({name: changed[name] for name in names[1:]}, 'weight "conv/kernel" is not in the safetensors file'),
            ({**changed, "out/bias": np.zeros(4, "f4")}, 'weight "out/bias" has shape 3'),
            ({**changed, "out/bias": np.zeros(3, "i4")}, "of type I32"),
            ({**changed, "out/bias": np.full(3, np.nan, "f4")}, "out/bias")):
        with pytest.raises(psycopg.Error, match=words):
            taken(tensors)


# One that states no input, as people write it; one of Keras 3; one of Keras 2.
BY_HAND = {"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Reshape", "config": {"target_shape": [8, 8, 1]}},
    {"class_name": "Conv2D", "config": {"filters": 4, "kernel_size": 3, "strides": 2, "padding": "same"}},
    {"class_name": "BatchNormalization", "config": {}},
    {"class_name": "LeakyReLU", "config": {"negative_slope": 0.2}},
    {"class_name": "Flatten", "config": {}},
    {"class_name": "Dense", "config": {"units": 10, "activation": "softmax"}}]}}
KERAS_3 = (SOURCE / "examples/digits_cnn.json").read_text()
KERAS_2 = json.dumps({"class_name": "Sequential", "keras_version": "2.4.0", "backend": "tensorflow", "config": {
    "name": "small", "layers": [
        {"class_name": "Flatten", "config": {"name": "flatten", "batch_input_shape": [None, 8, 8], "dtype": "float32"}},
        {"class_name": "Dense", "config": {
            "name": "hidden", "units": 12, "activation": "relu", "use_bias": True,
            "kernel_initializer": {"class_name": "GlorotUniform", "config": {"seed": None}}}},
        {"class_name": "BatchNormalization", "config": {"name": "norm", "axis": [1], "momentum": 0.9}},
        {"class_name": "Dense", "config": {"name": "output", "units": 10, "activation": "softmax"}}]}})


@pytest.fixture
def trained(one):
    for architecture in (BY_HAND, KERAS_3, KERAS_2):
        one.load_model("trained_arch", architecture)
    one.generate_model_configs("trained_arch", "trained_configs", [1, 2, 3],
                               {**GRID, "optimizer_params_list": [{"optimizer": ["Adam"], "lr": [0.005]}]},
                               {"batch_size": [64]})
    one.fit_multiple_model("packed", "trained", "trained_configs", 2, "packed_validation")
    pixels = one.sql("SELECT pixels FROM digits ORDER BY id LIMIT 50").pixels
    return np.array(pixels.tolist(), "f4") / 16  # as the server divides by normalizing_const


def predicted(one, key):
    table = one.predict("trained", "digits", "id", "pixels", mst_key=key)
    table = table[table.id <= 50].sort_values(["id", "class_value"])
    return table.prob.to_numpy().reshape(50, 10)


def test_pull_keras(one, trained):
    for key in (1, 2, 3):
        model = one.pull_model("trained", key)
        assert isinstance(model, keras.Model)
        np.testing.assert_allclose(model.predict(trained, verbose=0), predicted(one, key), atol=1e-5)
    best = one.pull_model("trained")
    best_key = one.leaderboard("trained", 1).mst_key[0]
    np.testing.assert_allclose(best.predict(trained, verbose=0), predicted(one, best_key), atol=1e-5)
    with pytest.raises(LookupError, match="no model 9"):
        one.pull_model("trained", 9)
    with pytest.raises(ValueError, match="'torch'"):
        one.pull_model("trained", to="jax")


def test_layers_that_keras_has_not(one, tmp_path):
    one.sql("CREATE TABLE spots AS SELECT sin(i) AS a, cos(i) AS b, sin(i) > 0 AS up FROM generate_series(1, 200) AS i")
    one.auto_fit("spots", "up", "spotted", seconds=1)
    for call in (lambda: one.pull_model("spotted"), lambda: one.save_model("spotted", tmp_path / "spotted.keras")):
        with pytest.raises(ValueError, match=r'^layer "\w+" of class \w+ is none of Keras: save_model\(\) writes this model for ONNX'):
            call()
    one.sql("DROP VIEW spotted_rows, spotted_test_rows")


def test_the_best_of_those_that_are_left(one, trained, tmp_path):
    """As SQL's functions take it where the best one of the run was deleted."""
    keys = [int(key) for key in one.leaderboard("trained").mst_key]
    one.sql("DELETE FROM trained WHERE mst_key = %s", [keys[0]])
    expected = predicted(one, keys[1])
    np.testing.assert_allclose(one.pull_model("trained").predict(trained, verbose=0), expected, atol=1e-5)
    one.save_model("trained", tmp_path / "m.json")
    arch, = ask("SELECT model_arch::text FROM trained WHERE mst_key = %s", keys[1])
    assert (tmp_path / "m.json").read_text() == arch[0]
    one.save_model("trained", tmp_path / "m.safetensors")
    one.sql("DELETE FROM trained WHERE mst_key = %s", [keys[1]])
    one.save_model("trained", tmp_path / "m.json")  # the only one
    one.sql("DELETE FROM trained")
    with pytest.raises(LookupError, match='"trained" holds no model'):
        one.pull_model("trained")


def test_there_and_back(one):
    model = disturbed(keras.Sequential([keras.Input((5,)), layers.Dense(4, activation="gelu"), layers.Dense(2)]))
    one.push_model(model, "pushed")
    x = one.sql("SELECT model_arch::text AS text, model_weights FROM pushed")
    from model_hopper._keras import keras_model

    back = keras_model(x.text[0], x.model_weights[0], None)
    for before, after in zip(model.get_weights(), back.get_weights()):
        np.testing.assert_array_equal(before.astype("f4"), after)
    with pytest.raises(ValueError, match="34 weights, but 33"):
        keras_model(x.text[0], x.model_weights[0][4:], None)
    with pytest.raises(ValueError, match="input_shape"):
        keras_model(json.dumps(BY_HAND), None, None)


# ---------------------------------------------------------------- PyTorch

def some_models(torch):
    nn = torch.nn
    yield nn.Sequential(nn.Linear(5, 7), nn.BatchNorm1d(7), nn.GELU(), nn.Sequential(nn.Dropout(0.3), nn.Linear(7, 6)),
                        nn.ELU(0.5), nn.Linear(6, 3, bias=False), nn.Softmax(dim=1)), VECTORS, None
    yield nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Conv2d(4, 6, (3, 2), stride=(1, 2)), nn.Hardswish(), nn.Flatten(), nn.BatchNorm1d(24),
                        nn.Linear(24, 5), nn.Tanh(), nn.Linear(5, 3), nn.Softmax(dim=-1)), IMAGES, (2, 8, 8)
    yield nn.Sequential(nn.Conv2d(2, 4, 3, padding="same", dilation=2, groups=2), nn.LeakyReLU(0.1), nn.AvgPool2d(2),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3), nn.Softmax(dim=1)), IMAGES, (2, 8, 8)


def outputs_of(torch, model, inputs):
    if inputs.ndim == 4:
        inputs = np.moveaxis(inputs, -1, 1)
    with torch.no_grad():
        return np.from_dlpack(model.eval()(torch.from_dlpack(inputs.copy())))


def test_push_and_pull_torch(one, torch):
    from model_hopper._torch import to_torch

    for model, inputs, shape in some_models(torch):
        with torch.no_grad():
            for tensor in (*model.parameters(), *model.buffers()):
                if tensor.is_floating_point():
                    tensor.uniform_(0.05, 0.4)
        model_id = one.push_model(model, "pushed", input_shape=shape)
        expected = outputs_of(torch, model, inputs)
        np.testing.assert_allclose(servers(one, model_id, inputs, 3), expected, atol=1e-5)
        stored = one.sql("SELECT model_arch::text AS text, model_weights FROM pushed WHERE model_id = %s", [model_id])
        back = to_torch(stored.text[0], stored.model_weights[0], None)
        np.testing.assert_allclose(outputs_of(torch, back, inputs), expected, atol=1e-6)
        assert [type(module) for module in back] == [type(module) for module in model.modules()
                                                     if not isinstance(module, torch.nn.Sequential)] or shape


def test_pull_torch(one, torch, trained):
    for key in (1, 2, 3):
        model = one.pull_model("trained", key, to="torch")
        assert isinstance(model, torch.nn.Sequential)
        with torch.no_grad():
            outputs = np.from_dlpack(model(torch.from_dlpack(trained.copy())))
        np.testing.assert_allclose(outputs, predicted(one, key), atol=1e-5)


def test_what_torch_has_otherwise(one, torch):
    nn = torch.nn
    for model, shape, message in (
            (nn.Sequential(nn.LSTM(5, 3)), (5,), 'layer "0".*no counterpart'),
            (nn.Sequential(nn.Conv2d(2, 4, 3, padding=2)), (2, 8, 8), "padding must be 0"),
            (nn.Sequential(nn.Conv2d(2, 4, 3, stride=2, padding=1)), (2, 8, 8), "padding must be 0"),
            (nn.Sequential(nn.Flatten()), (2, 8, 8), "ends with a flattened picture"),
            (nn.Sequential(nn.Flatten(), nn.Linear(3, 1)), (2, 2), "its input has 4 features"),
            (nn.Sequential(nn.Linear(8, 1)), (2, 8, 8), "Flatten"),
            (nn.Sequential(nn.Flatten()), None, "give input_shape"),
            (nn.Linear(2, 1), None, "torch.nn.Sequential")):
        with pytest.raises((TypeError, ValueError), match=message):
            one.push_model(model, "pushed", input_shape=shape)
