"""Files of models: Keras' own go in with their weights, and what was trained goes out."""

import json
import pathlib
import zipfile

import h5py
import keras
import numpy as np
import onnxruntime
import psycopg
import pytest
from keras import layers

from conftest import ask

DICE = np.random.default_rng(5)


def disturbed(model):
    """With weights that no initializer makes, each another one."""
    model.set_weights([DICE.uniform(0.05, 0.4, weight.shape) for weight in model.get_weights()])
    return model


def nested(groups=False):
    """A model in whose files weights lie in every way that there is.

    groups: with a layer to which .h5 gives a name of its own.
    """
    keras.utils.clear_session()
    inner = keras.Sequential([keras.Input((4,)), layers.Dense(4, name="i1"), layers.BatchNormalization(name="i2"),
                              layers.Dense(4, name="i3")], name="inner")
    x = keras.Input((5, 4), name="steps")
    y = layers.Bidirectional(layers.LSTM(2, return_sequences=True), name="both")(x)
    y = layers.MultiHeadAttention(2, 4, name="heads")(y, y)
    if groups:
        y = layers.GroupQueryAttention(4, 2, 2, name="groups")(y, y)
    y = layers.Dropout(0.1)(y)
    y = layers.TimeDistributed(layers.Dense(4), name="each")(y)
    y = layers.LayerNormalization()(y)
    y = layers.SimpleRNN(4, return_sequences=True, name="z_first")(y)
    y = layers.GRU(4, name="a_second")(y)
    return disturbed(keras.Model(x, layers.Dense(2, name="out")(layers.Dense(4, name="between")(inner(y)))))


def flat(model):
    return np.concatenate([value.ravel() for value in model.get_weights()]).astype("f4").tobytes()


def pushed(one, path, **options):
    model_id = one.push_model(path, "pushed", **options)
    return bytes(ask("SELECT model_weights FROM pushed WHERE model_id = %s", model_id)[0][0])


def without_names(path, copy):
    """As versions of Keras wrote it that named weights by class and number only."""
    copy.write_bytes(path.read_bytes())
    with h5py.File(copy, "r+") as file:
        file.visititems(lambda _, part: part.attrs.clear())


def as_keras_2(path, copy, whole):
    """tf.keras 2 says "kernel:0", and leaves out the first layer's name in a nested model's weights."""
    with h5py.File(path) as file, h5py.File(copy, "w") as out:
        if whole:
            out.attrs["model_config"] = file.attrs["model_config"]
        root = out.create_group("model_weights") if whole else out
        names = [name for name in file["model_weights"].attrs["layer_names"]]
        root.attrs["layer_names"] = [name.encode() for name in names]
        for name in names:
            part = root.create_group(name)
            weights = []
            for weight in file["model_weights"][name].attrs["weight_names"]:
                short = weight.removeprefix("inner/") + ":0"
                part[short] = file["model_weights"][name][weight][()]
                weights.append(short.encode())
            part.attrs["weight_names"] = weights or np.zeros(0, "S1")


def test_event_files_of_tensorboard(each, tmp_path):
    """What is in them TensorBoard itself reads in test/viewers."""
    for _ in range(2):
        paths = each.write_tensorboard("models", tmp_path / "logs")
        assert len(paths) == 2 and {pathlib.Path(path).parent.name for path in paths} == {"1", "2"}
    for path in paths:
        content = pathlib.Path(path).read_bytes()
        assert int.from_bytes(content[:8], "little") == 9 + 15 and content[23:36] == b"brain.Event:2"


def test_files_of_keras(one, tmp_path):
    model = nested()
    model.save(tmp_path / "model.keras")
    model.save(tmp_path / "model.h5")
    model.save_weights(tmp_path / "model.weights.h5")
    without_names(tmp_path / "model.weights.h5", tmp_path / "older.weights.h5")
    as_keras_2(tmp_path / "model.h5", tmp_path / "keras_2.h5", whole=True)
    as_keras_2(tmp_path / "model.h5", tmp_path / "keras_2.weights.h5", whole=False)
    expected, architecture = flat(model), model.to_json()
    for name in ("model.keras", "model.h5", "keras_2.h5"):
        assert pushed(one, tmp_path / name) == expected, name
    for name in ("model.weights.h5", "older.weights.h5", "keras_2.weights.h5"):
        assert pushed(one, str(tmp_path / name), model_arch=architecture) == expected, name
        assert pushed(one, tmp_path / name, model_arch=json.loads(architecture)) == expected, name
    model = nested(groups=True)
    model.save(tmp_path / "groups.keras")
    model.save_weights(tmp_path / "groups.weights.h5")
    without_names(tmp_path / "groups.weights.h5", tmp_path / "older_groups.weights.h5")
    assert pushed(one, tmp_path / "groups.keras") == flat(model)
    assert pushed(one, tmp_path / "older_groups.weights.h5", model_arch=model.to_json()) == flat(model)
    one.push_model(tmp_path / "model.keras", "pushed", "no weights", weights=False)
    assert ask("SELECT count(*) FROM pushed WHERE model_weights IS NULL AND name = 'no weights'") == [(1,)]


def others():
    """Layers whose weights lie in files in ways of their own, and operations."""
    yield [keras.Input((3, 5, 5, 1)), layers.ConvLSTM2D(2, 3, name="cells"), layers.Flatten()]
    yield [keras.Input((6, 5, 2)), layers.SpectralNormalization(layers.Conv2D(3, 2), name="conv"), layers.Flatten(),
           layers.SpectralNormalization(layers.Dense(2, use_bias=False), name="dense")]
    adapted = layers.Normalization(name="adapted")
    adapted.adapt(DICE.normal(size=(20, 5)))
    yield [keras.Input((5,)), adapted]
    x = keras.Input((6, 4))
    y = (x + 1.0) * layers.Dense(4, name="dense")(x)
    y = layers.Add()([layers.Attention(use_scale=True, name="seen")([y, y]), y])
    y = keras.ops.concatenate([keras.ops.mean(y, axis=1), keras.ops.reshape(y, (-1, 24))[:, ::5]], axis=-1)
    y = keras.ops.stack([keras.ops.sqrt(keras.ops.abs(y)), 2.0 - y, keras.ops.exp(-y), y / 3.0], axis=1)
    y = keras.ops.softmax(keras.ops.transpose(y, (0, 2, 1)) ** 2)
    y = keras.activations.gelu(keras.ops.maximum(keras.activations.relu(y), 0.01))
    yield keras.Model(x, layers.Dense(2, name="out")(keras.ops.max(keras.ops.squeeze(y[:, None], 1), axis=1)))


def test_files_of_other_layers(one, tmp_path):
    for place, made in enumerate(others()):
        if isinstance(made, list):
            made = keras.Sequential([*made, layers.Dense(2, name="out")])
        model = disturbed(made)
        for name in ("model.keras", "model.h5", "model.weights.h5"):
            path = tmp_path / f"{place}.{name}"
            weights_only = name == "model.weights.h5"
            (model.save_weights if weights_only else model.save)(path)
            options = {"model_arch": model.to_json()} if weights_only else {}
            assert pushed(one, path, **options) == flat(model), path.name


def test_files_that_do_not_fit(one, tmp_path):
    model = disturbed(keras.Sequential([keras.Input((3,)), layers.Dense(4, name="a"), layers.Dense(2, name="b")]))
    model.save(tmp_path / "model.keras")
    model.save_weights(tmp_path / "model.weights.h5")
    other = keras.Sequential([keras.Input((3,)), layers.Dense(5, name="a"), layers.Dense(2, name="b")]).to_json()
    with pytest.raises(psycopg.Error, match='weight "a/kernel" has shape 3x5 but tensor "/layers/dense/vars/0"'):
        one.push_model(tmp_path / "model.weights.h5", "pushed", model_arch=other)
    other = keras.Sequential([keras.Input((3,)), layers.Dense(4, name="a", use_bias=False),
                              layers.Dense(2, name="b")]).to_json()
    with pytest.raises(psycopg.Error, match="The model has 3 weights, the file 4 tensors"):
        one.push_model(tmp_path / "model.weights.h5", "pushed", model_arch=other)
    with pytest.raises(ValueError, match="weights only: give model_arch"):
        one.push_model(tmp_path / "model.weights.h5", "pushed")
    with pytest.raises(ValueError, match="no file of a model"):
        one.push_model("model.pt", "pushed")
    for name, content in (("x.keras", b"PK"), ("x.h5", b"no")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match="x.keras is not an archive|x.h5 is not an HDF5 file"):
            one.push_model(tmp_path / name, "pushed")
    with zipfile.ZipFile(tmp_path / "y.keras", "w") as archive:
        archive.writestr("config.json", "{}")
    with pytest.raises(ValueError, match="y.keras has no model.weights.h5"):
        one.push_model(tmp_path / "y.keras", "pushed")
    with h5py.File(tmp_path / "model.weights.h5", "r+") as file:
        file["layers/dense/vars/1"][0] = np.nan
    with pytest.raises(psycopg.Error, match='weight "a/bias" holds values that are not finite'):
        one.push_model(tmp_path / "model.weights.h5", "pushed", model_arch=model.to_json())
    assert ask("SELECT to_regclass('pushed') IS NULL") == [(True,)]


def test_save_model(one, tmp_path):
    """What was trained, in every kind of file; what comes back in is the same."""
    expected = bytes(ask("SELECT model_weights FROM models WHERE mst_key = 1")[0][0])
    for name in ("m.keras", "m.h5", "m.safetensors"):
        one.save_model("models", tmp_path / name, 1)
        assert pushed(one, tmp_path / name, input_shape=[64]) == expected, name
    one.save_model("models", str(tmp_path / "m.weights.h5"), 1)
    one.save_model("models", tmp_path / "m.json", 1)
    architecture = (tmp_path / "m.json").read_text()
    assert pushed(one, tmp_path / "m.weights.h5", model_arch=architecture, input_shape=[64]) == expected
    one.save_model("models", tmp_path / "m.py")
    compile((tmp_path / "m.py").read_text(), "m.py", "exec")
    one.save_model("models", tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    assert session.get_modelmeta().custom_metadata_map["label"] == "label"
    with pytest.raises(ValueError, match="m.pt: a model's file ends in"):
        one.save_model("models", tmp_path / "m.pt")


def test_save_model_of_several_inputs(one, tmp_path):
    """The architecture has the shapes; the summary's is of all columns together."""
    left, right = keras.Input((2,), name="left"), keras.Input((3,), name="right")
    joined = keras.layers.Concatenate(name="joined")([left, right])
    model = keras.Model([left, right], keras.layers.Dense(1, name="output")(joined))
    one.sql("CREATE TABLE halves AS SELECT id, (id % 5)::real AS a, (id % 3)::real AS b, (id % 7)::real AS c, (id % 2)::real AS d,"
            " (id % 11)::real AS e, (id % 5 - id % 2)::real AS target FROM digits WHERE id < 200")
    one.call("training_preprocessor", "halves", "halves_packed", "target", {"left": ["a", "b"], "right": ["c", "d", "e"]})
    one.fit("halves_packed", "halves_models", "nets", one.push_model(model, "nets"), "loss='mse', optimizer='Adam()'",
            "batch_size=16", 1)
    expected = bytes(ask("SELECT model_weights FROM halves_models")[0][0])
    for name in ("m.safetensors", "m.keras"):
        one.save_model("halves_models", tmp_path / name)
        assert pushed(one, tmp_path / name) == expected, name
    one.save_model("halves_models", tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    assert json.loads(session.get_modelmeta().custom_metadata_map["features"]) == {"left": ["a", "b"], "right": ["c", "d", "e"]}
    with pytest.raises(ValueError, match=r"no torch.nn.Sequential: .* save_model\(\) into two files"):
        one.pull_model("halves_models", to="torch")
