"""Models for other tools: what to_onnx() and to_pytorch() write computes what we do. Numbers are those of
real Keras that the unit tests hold us to (test/baseline)."""

import inspect
import json

import keras
import numpy as np
import onnx
import onnxruntime
import psycopg
import pytest
import safetensors
from keras import layers

from conftest import SOURCE, ask, plain_connection

BASELINE = SOURCE / "test/baseline"
LAYERS = sorted(path.name for path in BASELINE.glob("keras_layers*.safetensors"))
# Layers that have no form for other tools.
LACKING = set()


class Table:
    """Cases and tensors of a table of Keras' numbers."""

    def __init__(self, name):
        with safetensors.safe_open(BASELINE / name, "numpy") as file:
            self.cases = json.loads(file.metadata()["cases"])
            self.tensors = {key: file.get_tensor(key) for key in file.keys()}

    def get(self, case, what):
        return self.tensors[f"{case['name']}/{what}"]

    def weights(self, case):
        values = [self.get(case, f"weights/{i}").ravel() for i in range(case["n_weights"])]
        return np.concatenate(values + [np.zeros(0, "f4")]).astype("f4").tobytes()


@pytest.fixture(scope="module")
def server(database):
    with plain_connection() as connection:
        yield connection


def call(connection, function, *arguments):
    """What an architecture's form is, or the class that has none."""
    types = {"to_pytorch": ["json"], "to_onnx": ["json", "bytea"], "to_safetensors": ["json", "bytea"]}[function]
    marks = ", ".join(f"%s::{kind}" for kind in types)
    try:
        return connection.execute(f"SELECT hopper.{function}({marks})", arguments).fetchone()[0], None
    except psycopg.errors.FeatureNotSupported as error:
        assert "has no export" in error.diag.message_primary
        return None, error.diag.message_primary.split("of class ")[1].split()[0]


@pytest.fixture
def torch_or_none(request):
    try:
        return request.getfixturevalue("torch")
    except pytest.skip.Exception:
        return None


def parts_of(rows, shapes):
    """What each input gets of rows that have the values of all of them."""
    if len(shapes) == 1:
        return [rows]
    sizes = [int(np.prod(shape)) for shape in shapes]
    return [part.reshape(-1, *shape)
            for part, shape in zip(np.split(rows, np.cumsum(sizes)[:-1], axis=1), shapes)]


def run_onnx(content, rows):
    """The only output of a file that the format's own checker accepts."""
    onnx.checker.check_model(content, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    inputs = session.get_inputs()
    parts = parts_of(rows, [node.shape[1:] for node in inputs])
    return session.run(None, {node.name: part for node, part in zip(inputs, parts)})[0]


def assert_close(made, expected, name, tolerance=1e-5):
    assert made.shape == expected.shape, name
    assert np.abs(made - expected).max() <= tolerance * np.abs(expected).max(), name


@pytest.mark.parametrize("file", LAYERS)
def test_onnx_of_each_layer(server, file):
    table, lacking = Table(file), set()
    for case in table.cases:
        content, missing = call(server, "to_onnx", case["architecture"], table.weights(case))
        if missing:
            lacking.add(missing)
            continue
        rows = table.get(case, "input")
        assert_close(run_onnx(content, rows), table.get(case, "inference"), case["name"])
        # The batch is free.
        assert_close(run_onnx(content, rows[:1]), table.get(case, "inference")[:1], case["name"])
    assert lacking <= LACKING


def shapes_of(architecture, names):
    """By the names of arguments, which are those of the input layers but for what Python does not allow."""
    shapes = {}
    for layer in json.loads(architecture)["config"]["layers"]:
        if layer["class_name"] == "InputLayer":
            config = layer["config"]
            shapes[config["name"]] = (config.get("batch_shape") or config["batch_input_shape"])[1:]
    return [shapes[name] for name in names]


def module_of(source, path):
    space = {}
    exec(compile(source, "generated", "exec"), space)
    return space["Model"](path), space


@pytest.mark.parametrize("file", LAYERS)
def test_pytorch_is_python(server, file):
    for case in Table(file).cases:
        source, _ = call(server, "to_pytorch", case["architecture"])
        if source:
            compile(source, case["name"], "exec")
            assert max(map(len, source.splitlines())) < 2000 or "torch.tensor(" in source


@pytest.mark.parametrize("file", LAYERS)
def test_pytorch_of_each_layer(server, torch, tmp_path, file):
    table = Table(file)
    for case in table.cases:
        source, missing = call(server, "to_pytorch", case["architecture"])
        if missing:
            continue
        path = tmp_path / "weights.safetensors"
        path.write_bytes(call(server, "to_safetensors", case["architecture"], table.weights(case))[0])
        model, _ = module_of(source, path)
        names = list(inspect.signature(model.forward).parameters)
        shapes = [None] if len(names) == 1 else shapes_of(case["architecture"], names)
        parts = parts_of(table.get(case, "input"), shapes)
        with torch.no_grad():
            made = model(*(torch.from_dlpack(part.copy()) for part in parts))
        assert_close(np.from_dlpack(made), table.get(case, "inference"), case["name"])


def hashed(w, n, scale, shift):
    """Values of generate_keras_applications.py."""
    with np.errstate(over="ignore"):
        z = (np.uint64(w) << np.uint64(32)) + np.arange(n, dtype=np.uint64)
        z = (z + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = (z ^ (z >> np.uint64(31))) >> np.uint64(40)
    return (shift + scale * (z.astype("f8") / (1 << 24) - 0.5)).astype("f4")


def application(name):
    """Architecture, weights and input (by the formula of generate_keras_applications.py), output."""
    table = Table("keras_applications.safetensors")
    case = next(case for case in table.cases if case["name"] == name)
    architecture = json.dumps(case["architecture"])
    with plain_connection() as connection:
        sizes = sizes_of_weights(connection, architecture)
    scales, shifts = table.get(case, "scales"), table.get(case, "shifts")
    values = [hashed(w, n, float(scales[w]), float(shifts[w])) for w, n in enumerate(sizes)]
    images = hashed(1 << 20, case["batch"] * 64 * 64 * 3, case["image_scale"], case["image_shift"])
    return (architecture, np.concatenate(values).tobytes(), images.reshape(-1, 64, 64, 3),
            table.get(case, "inference"))


def sizes_of_weights(connection, architecture):
    """Numbers of values, from the names that a file of zeros has."""
    n = connection.execute("SELECT max(parameters) FROM hopper.describe_model(%s::json)", [architecture]).fetchone()[0]
    content = call(connection, "to_safetensors", architecture, bytes(4 * n))[0]
    size = int.from_bytes(content[:8], "little")
    entries = json.loads(content[8:8 + size])
    return [int(np.prod(entry["shape"])) for name, entry in entries.items() if name != "__metadata__"]


# Images are turned on their way in, and what squeezes them to a pixel when it comes back.
@pytest.mark.parametrize("name, turns", [("MobileNetV2", 3), ("EfficientNetB0", 20)])
def test_applications(server, name, turns):
    architecture, weights, images, expected = application(name)
    content, _ = call(server, "to_onnx", architecture, weights)
    assert_close(run_onnx(content, images), expected, name)
    turned = [node for node in onnx.load_from_string(content).graph.node
              if node.op_type == "Transpose" and "kernel" not in node.input[0]]
    assert len(turned) <= turns


def test_several_outputs(server, torch_or_none, tmp_path):
    """Each by its name, in the model's order."""
    keras.utils.clear_session()
    x, more = keras.Input((6,), name="left"), keras.Input((2, 3), name="right")
    shared = layers.Dense(5, "tanh")(layers.Concatenate()([x, layers.Flatten()(more)]))
    model = keras.Model([x, more], [layers.Dense(3, "softmax", name="kind")(shared),
                                    layers.Reshape((2, 2), name="size")(layers.Dense(4)(shared))])
    rows = [np.random.default_rng(1).normal(size=(4, *shape)).astype("f4") for shape in ((6,), (2, 3))]
    expected = model.predict(rows, verbose=0)
    weights = np.concatenate([value.ravel() for value in model.get_weights()]).tobytes()
    content, _ = call(server, "to_onnx", model.to_json(), weights)
    onnx.checker.check_model(content, full_check=True)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    assert [node.name for node in session.get_outputs()] == ["kind", "size"]
    made = session.run(None, {"left": rows[0], "right": rows[1]})
    for one, other in zip(made, expected):
        assert_close(one, other, "onnx")
    source, _ = call(server, "to_pytorch", model.to_json())
    compile(source, "generated", "exec")
    if torch_or_none is None:
        return
    path = tmp_path / "weights.safetensors"
    path.write_bytes(call(server, "to_safetensors", model.to_json(), weights)[0])
    module, _ = module_of(source, path)
    with torch_or_none.no_grad():
        for one, other in zip(module(*(torch_or_none.from_dlpack(part.copy()) for part in rows)), expected):
            assert_close(np.from_dlpack(one), other, "pytorch")


def rows_of_digits():
    rows = ask("SELECT id, pixels FROM digits ORDER BY id LIMIT 50")
    return [row[0] for row in rows], np.array([row[1] for row in rows], "f4")


def predictions(one, ids):
    one.sql("DROP TABLE IF EXISTS predicted")
    one.call("predict", "models", "digits", "id", "pixels", "predicted", "prob", mst_key=1)
    table = one.sql("SELECT id, class_value, prob FROM predicted ORDER BY id, class_value::int")
    table = table[table.id.isin(ids)]
    return table.prob.to_numpy().reshape(len(ids), 10)


def test_rows_as_they_stand_in_the_table(one, tmp_path):
    """The constant by which training divided is part of the model."""
    ids, rows = rows_of_digits()
    content = bytes(ask("SELECT hopper.to_onnx('models', 1)")[0][0])
    np.testing.assert_allclose(run_onnx(content, rows), predictions(one, ids), atol=1e-5)
    model = onnx.load_from_string(content)
    said = {entry.key: entry.value for entry in model.metadata_props}
    assert json.loads(said["classes"]) == [str(digit) for digit in range(10)]
    assert json.loads(said["features"]) == ["pixels"]
    assert said["label"] == "label" and float(said["normalizing_const"]) == 16
    assert json.loads(said["model_arch"])["class_name"] == "Sequential"
    assert [entry.version for entry in model.opset_import] == [17]
    best = bytes(ask("SELECT hopper.to_onnx('models')")[0][0])
    assert len(best) == len(content)


def test_columns_with_treatments_and_a_number(one, torch_or_none, tmp_path, monkeypatch):
    """Files take rows as transform_rows() encodes them, and give the label in its own unit, within that of training."""
    one.sql("CREATE TABLE houses AS SELECT i AS id, (i * 37 % 101)::float8 AS area, (ARRAY['north', 'south'])[1 + i % 2] AS side,"
            " (500 + 20 * (i * 37 % 101) + 300 * (i % 2))::float8 AS price FROM generate_series(1, 300) AS i")
    one.training_preprocessor("houses", "houses_packed", "price", ["area", "side"])
    one.fit("houses_packed", "houses_models", "houses_nets", one.mlp("houses_nets", "houses_packed", hidden=[8]),
            {"loss": "mse", "optimizer": "Adam(lr=0.02)", "metrics": ["mae"]}, {"batch_size": 32}, 20)
    expected = one.predict("houses_models", "houses", "id").sort_values("id").predicted_price.to_numpy()
    prices = one.read_table("houses").price
    assert expected.std() > 100 and expected.max() <= prices.max()
    rows = np.array(one.transform_rows("houses_models", "houses").features.tolist(), "f4")
    heard = []
    monkeypatch.setattr(one, "progress", heard.append)
    one.save_model("houses_models", tmp_path / "houses.onnx")
    assert [(said.message, said.detail) for said in heard] == [
        ('the file of "houses_models" takes columns as their treatments encode them', "Of 2 columns an example has 3 numbers.")]
    content = (tmp_path / "houses.onnx").read_bytes()
    np.testing.assert_allclose(run_onnx(content, rows)[:, 0], expected, rtol=1e-5)
    far = run_onnx(content, rows * 100)[:, 0]
    assert far.max() == pytest.approx(prices.max())
    said = {entry.key: entry.value for entry in onnx.load_from_string(content).metadata_props}
    assert json.loads(said["features"]) == ["area", "side"]
    assert json.loads(said["schema"]) == json.loads(one.sql("SELECT schema::text AS schema FROM houses_models_summary").schema[0])
    one.save_model("houses_models", tmp_path / "houses.py")
    source = (tmp_path / "houses.py").read_text()
    assert "as hopper.transform_rows() gives it.\nFEATURES = [\"area\", \"side\"]" in source
    if torch_or_none is not None:
        one.save_model("houses_models", tmp_path / "houses.safetensors")
        model, _ = module_of(source, tmp_path / "houses.safetensors")
        with torch_or_none.no_grad():
            made = np.from_dlpack(model(torch_or_none.from_dlpack(rows.copy())))
        np.testing.assert_allclose(made[:, 0], expected, rtol=1e-5)


def test_rows_for_pytorch(one, torch, tmp_path):
    ids, rows = rows_of_digits()
    source, content = ask("SELECT hopper.to_pytorch('models', 1), hopper.to_safetensors(model_arch, model_weights,"
                          " ARRAY[64]) FROM models WHERE mst_key = 1")[0]
    path = tmp_path / "weights.safetensors"
    path.write_bytes(bytes(content))
    model, space = module_of(source, path)
    with torch.no_grad():
        made = np.from_dlpack(model(torch.from_dlpack(rows.copy())))
    np.testing.assert_allclose(made, predictions(one, ids), atol=1e-5)
    assert space["CLASSES"] == [str(digit) for digit in range(10)]
    assert space["FEATURES"] == ["pixels"]
    # Weights are trained in place, in Keras' shapes.
    assert all(tuple(getattr(model, name).shape) == shape for name, (_, shape, _) in model.WEIGHTS.items())
    assert sum(parameter.numel() for parameter in model.parameters()) == len(bytes(
        ask("SELECT model_weights FROM models WHERE mst_key = 1")[0][0])) // 4
