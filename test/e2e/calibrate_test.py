"""calibrate(): the temperature that scipy finds for the same logits, in a model that is one of its table as any other."""

import json
import pathlib

import numpy
import psycopg2
import pytest
from digits import ADAM, create_database, dense, drop_database, layer, query, select, sequential, value

DATABASE = "hopper_calibrate"
TABLE = json.loads((pathlib.Path(__file__).resolve().parents[1] / "baseline" / "calibration.json").read_text())
CASES = [case for case in TABLE if "shares" not in case]
ENSEMBLES = [case for case in TABLE if "shares" in case]


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    query(connection, "SET client_min_messages = warning")
    select(connection, "configs", [(key, 1 + key % 2, ADAM, "batch_size=16") for key in (1, 2, 3)])
    query(connection, "SELECT hopper.fit_multiple_model('packed', 'models', 'configs', 12, seed => 3,"
                      " validation_table => 'packed_validation')")
    yield connection
    connection.close()
    drop_database(DATABASE)


def probabilities(connection, model, key, rows="digits"):
    query(connection, "DROP TABLE IF EXISTS predicted")
    query(connection, f"SELECT hopper.predict('{model}', '{rows}', 'id', output_table => 'predicted', pred_type => 'prob',"
                      f" mst_key => {key})")
    return numpy.array([row[0] for row in query(
        connection, "SELECT array_agg(prob ORDER BY class_value::int) FROM predicted GROUP BY id ORDER BY id")])


def give(connection, case):
    for table in ("given", "given_packed", "given_packed_summary", "given_models", "given_models_summary", "given_models_info",
                  "given_models_state", "given_archs"):
        query(connection, f"DROP TABLE IF EXISTS {table}")
    query(connection, "CREATE TABLE given (id integer, label integer, x real[])")
    for i, (row, label) in enumerate(zip(case["logits"], case["labels"])):
        query(connection, "INSERT INTO given VALUES (%s, %s, %s::real[])", i, label, row)
    query(connection, "SELECT hopper.training_preprocessor('given', 'given_packed', 'label', 'x')")


@pytest.mark.parametrize("form", ["in the layer", "of its own", "of the loss"])
@pytest.mark.parametrize("number", range(len(CASES)))
def test_as_scipy_finds(database, number, form):
    case = CASES[number]
    logits, labels = numpy.array(case["logits"]), numpy.array(case["labels"])
    width = logits.shape[1]
    last = "sigmoid" if width == 1 else "softmax"
    give(database, case)
    # A layer that gives on what it is given, and has learnt nothing.
    ends = {"in the layer": [dense("output", width, last, kernel_initializer="identity")],
            "of its own": [dense("output", width, "linear", kernel_initializer="identity"),
                           layer("Activation", "end", activation=last)],
            "of the loss": [dense("output", width, "linear", kernel_initializer="identity")]}[form]
    query(database, "SELECT hopper.load_model('given_archs', %s)", sequential(*ends, shape=(width,)))
    loss = "binary_crossentropy" if width == 1 else "categorical_crossentropy"
    if form == "of the loss":
        loss = f"{loss}(from_logits=True)"
    query(database, "SELECT hopper.fit('given_packed', 'given_models', 'given_archs', 1, %s, 'batch_size=64', 1)",
          f"loss='{loss}', optimizer='SGD(lr=1e-12)', metrics=['accuracy']")
    key, source, temperature, found, before, error, error_before = query(
        database, "SELECT * FROM hopper.calibrate('given_models', 'given_packed')")[0]
    assert (key, source) == (2, 1)
    assert temperature == pytest.approx(case["temperature"], rel=1e-5)
    assert (found, before) == pytest.approx((case["loss"], case["loss_before"]), abs=1e-6)
    assert (error, error_before) == pytest.approx((case["error"], case["error_before"]), abs=1e-5)
    scaled = logits / case["temperature"]
    if width == 1:
        second = 1 / (1 + numpy.exp(-scaled[:, 0]))
        expected = numpy.stack([1 - second, second], axis=1)
    else:
        expected = numpy.exp(scaled) / numpy.exp(scaled).sum(1, keepdims=True)
    assert probabilities(database, "given_models", key, "given") == pytest.approx(expected, abs=1e-5)
    if form == "of the loss" and width == 1:
        return  # Keras' accuracy compares a single logit with 0.5
    accuracy = [value(database, f"SELECT metric FROM hopper.evaluate('given_models', 'given_packed', mst_key => {i})") for i in (1, 2)]
    assert accuracy[0] == accuracy[1] == pytest.approx((expected.argmax(1) == labels).mean())


def ensemble_of(shares, width, last):
    """Members that give on their part of a row."""
    size = width * len(shares)
    layers = [("InputLayer", "x", {"batch_input_shape": [None, size]}, [])]
    for m, share in enumerate(shares):
        layers += [("Take", f"part_{m}", {"axis": 1, "indices": list(range(m * width, (m + 1) * width))}, ["x"]),
                   ("Dense", f"member_{m}", {"units": width, "activation": last, "kernel_initializer": "identity"}, [f"part_{m}"]),
                   ("Rescaling", f"share_{m}", {"scale": share, "offset": 0}, [f"member_{m}"])]
    layers.append(("Add", "ensemble", {}, [f"share_{m}" for m in range(len(shares))]))
    return json.dumps({"class_name": "Functional", "keras_version": "2.4.0", "backend": "tensorflow", "config": {
        "name": "ensemble_model", "input_layers": [["x", 0, 0]], "output_layers": [["ensemble", 0, 0]], "layers": [
            {"class_name": kind, "registered_name": "model_hopper>" + kind if kind == "Take" else kind, "name": name, "config": {"name": name, **config}, "inbound_nodes": [[[on, 0, 0, {}] for on in ons]] if ons else []}
            for kind, name, config, ons in layers]}})


@pytest.mark.parametrize("case", ENSEMBLES)
def test_an_ensemble_as_scipy_finds(database, case):
    """Its logits are those of its mean probabilities."""
    shares, labels = numpy.array(case["shares"]), numpy.array(case["labels"])
    width = len(case["logits"][0]) // len(shares)
    give(database, case)
    query(database, "SELECT hopper.load_model('given_archs', %s)", ensemble_of(case["shares"], width, "sigmoid" if width == 1 else "softmax"))
    query(database, "SELECT hopper.fit('given_packed', 'given_models', 'given_archs', 1, %s, 'batch_size=64', 1)",
          f"loss='{'binary' if width == 1 else 'categorical'}_crossentropy', optimizer='SGD(lr=1e-12)', metrics=['accuracy']")
    key, source, temperature, found, before, error, error_before = query(
        database, "SELECT * FROM hopper.calibrate('given_models', 'given_packed')")[0]
    assert (key, source) == (2, 1)
    assert temperature == pytest.approx(case["temperature"], rel=1e-4)
    assert (found, before) == pytest.approx((case["loss"], case["loss_before"]), abs=1e-5)
    assert (error, error_before) == pytest.approx((case["error"], case["error_before"]), abs=1e-4)
    logits = numpy.array(case["logits"]).reshape(len(labels), len(shares), width)
    if width == 1:
        second = 1 / (1 + numpy.exp(-logits[:, :, 0])) @ shares
        each = numpy.stack([1 - second, second], axis=1)
    else:
        sharp = numpy.exp(logits)
        each = numpy.einsum("nmc,m->nc", sharp / sharp.sum(2, keepdims=True), shares)
    sharp = each ** (1 / case["temperature"])
    assert probabilities(database, "given_models", 2, "given") == pytest.approx(sharp / sharp.sum(1, keepdims=True), abs=1e-5)
    assert value(database, "SELECT loss FROM hopper.evaluate('given_models', 'given_packed', mst_key => 2)") == pytest.approx(case["loss"], abs=1e-5)


def test_is_a_model_as_any_other(database):
    before = probabilities(database, "models", 1)
    key, source, temperature, loss, loss_before, _, _ = query(
        database, "SELECT * FROM hopper.calibrate('models', 'packed_validation', 1)")[0]
    assert (key, source) == (4, 1) and loss < loss_before and abs(temperature - 1) > 0.01
    sharp = before ** (1 / temperature)
    after = probabilities(database, "models", key)
    assert after == pytest.approx(sharp / sharp.sum(1, keepdims=True), abs=1e-5)
    assert (after.argmax(1) == before.argmax(1)).all()
    evaluated = query(database, "SELECT loss, metric FROM hopper.evaluate('models', 'packed_validation', mst_key => 4)")[0]
    told = query(database, "SELECT validation_loss_final, validation_metrics_final FROM models_info WHERE mst_key = 4")[0]
    assert evaluated == pytest.approx(told) and evaluated[0] == pytest.approx(loss, abs=1e-5)
    # What is calibrated already has a temperature of 1.
    again = query(database, "SELECT temperature, loss, loss_before FROM hopper.calibrate('models', 'packed_validation', 4)")[0]
    assert again == pytest.approx((1, loss, loss), abs=1e-5)
    assert query(database, "SELECT model_arch::text FROM models WHERE mst_key = 1") == query(
        database, "SELECT model_arch::text FROM models WHERE mst_key = 4")
    assert len(value(database, "SELECT hopper.to_onnx('models', 4)")) > 1000
    assert value(database, "SELECT count(*) FROM hopper.predict_row('models', 4, (SELECT pixels FROM digits LIMIT 1)::real[])") > 0
    assert value(database, "SELECT hopper.copy_model('models', 'copied', 4)") == 1
    assert value(database, "SELECT count(*) FROM models_state WHERE mst_key >= 4") == 0
    query(database, "SELECT hopper.calibrate('models', 'packed_validation', 2)")
    assert set(value(database, "SELECT members FROM hopper.ensemble('models', 'packed_validation', 2, ARRAY[4, 6])")) <= {4, 6}


def test_an_ensemble_is_a_model_as_any_other_with_its_temperature(database):
    query(database, "SELECT hopper.copy_model('models', 'several')")
    mean, members = query(database, "SELECT mst_key, members FROM hopper.ensemble('several', 'packed_validation', 20, ARRAY[1, 2, 3], 'loss')")[0]
    before = probabilities(database, "several", mean)
    key, source, temperature, loss, loss_before, _, _ = query(database, "SELECT * FROM hopper.calibrate('several', 'packed_validation', %s)", mean)[0]
    assert (key, source) == (mean + 1, mean) and len(members) > 1 and loss < loss_before and abs(temperature - 1) > 0.01
    evaluate = "SELECT loss, metric FROM hopper.evaluate('several', 'packed_validation', mst_key => %s)"
    assert query(database, evaluate, mean)[0][0] == pytest.approx(loss_before, abs=1e-5)
    evaluated = query(database, evaluate, key)[0]
    told = query(database, "SELECT validation_loss_final, validation_metrics_final FROM several_info WHERE mst_key = %s", key)[0]
    assert evaluated == pytest.approx(told) and evaluated[0] == pytest.approx(loss, abs=1e-5)
    sharp = before ** (1 / temperature)
    after = probabilities(database, "several", key)
    assert after == pytest.approx(sharp / sharp.sum(1, keepdims=True), abs=1e-5)
    again = query(database, "SELECT mst_key, temperature, loss, loss_before FROM hopper.calibrate('several', 'packed_validation', %s)", key)[0]
    assert again == pytest.approx((key + 1, 1, loss, loss), abs=1e-4)
    assert probabilities(database, "several", key + 1) == pytest.approx(after, abs=1e-4)
    for form in ("to_onnx", "to_pytorch"):
        assert len(value(database, f"SELECT hopper.{form}('several', %s)", key)) > 1000
    row = query(database, "SELECT prob FROM hopper.predict_row('several', %s, (SELECT pixels FROM digits ORDER BY id LIMIT 1)::real[])", key)
    assert [prob for prob, in row] == pytest.approx(sorted(after[0], reverse=True), abs=1e-5)
    assert value(database, "SELECT hopper.copy_model('several', 'several_copied', %s)", key) == 1
    # With a temperature, too, it is no part of another one.
    assert not set(value(database, "SELECT members FROM hopper.ensemble('several', 'packed_validation', 9)")) & {mean, key, key + 1}


def test_what_cannot_be_calibrated(database):
    with pytest.raises(psycopg2.errors.InvalidParameterValue, match="99"):
        query(database, "SELECT hopper.calibrate('models', 'packed_validation', 99)")
    query(database, "CREATE TABLE numbers AS SELECT id, label::real / 10 AS y, pixels FROM digits LIMIT 200")
    query(database, "SELECT hopper.training_preprocessor('numbers', 'numbers_packed', 'y', 'pixels')")
    query(database, "SELECT hopper.load_model('others', %s)",
          sequential(layer("Flatten", "flatten"), dense("output", 1, "linear")))
    query(database, "SELECT hopper.load_model('others', %s)",
          sequential(layer("Flatten", "flatten"), dense("hidden", 10, "linear"), layer("Dropout", "drop", rate=0.5),
                     layer("Softmax", "end")))
    query(database, "SELECT hopper.load_model('others', %s)",
          sequential(layer("Flatten", "flatten"), dense("output", 10, "sigmoid")))
    query(database, "SELECT hopper.fit('numbers_packed', 'numbers_models', 'others', 1, $$loss='mse', optimizer='SGD'$$, '', 1)")
    with pytest.raises(psycopg2.errors.FeatureNotSupported, match="configuration 1 cannot be calibrated") as error:
        query(database, "SELECT hopper.calibrate('numbers_models', 'numbers_packed')")
    assert error.value.diag.message_detail == "Its labels are no classes, one for each row."
    # Other rows than those that the model was made for.
    with pytest.raises(psycopg2.Error, match="packed table"):
        query(database, "SELECT hopper.calibrate('models', 'numbers_packed', 1)")
    for model in (2, 3):
        query(database, f"SELECT hopper.fit('packed', 'ends_{model}', 'others', {model},"
                        " $$loss='categorical_crossentropy', optimizer='SGD'$$, '', 1)")
    # No weights make the logits of the one; what the other says are no probabilities.
    assert query(database, "SELECT mst_key, loss <= loss_before FROM hopper.calibrate('ends_2', 'packed_validation')") == [(2, True)]
    with pytest.raises(psycopg2.errors.FeatureNotSupported, match="cannot be calibrated") as error:
        query(database, "SELECT hopper.calibrate('ends_3', 'packed_validation')")
    assert error.value.diag.message_detail == "Its outputs are not probabilities that add up to 1."
    assert value(database, "SELECT count(*) FROM ends_3") == 1
