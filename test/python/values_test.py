"""Python's and numpy's values as arguments, and tables as results."""

import builtins
import json
import re
import warnings

import numpy as np
import pandas
import pytest

import model_hopper
from conftest import GRID, MLP, ask
from model_hopper._values import as_text, convert, literal


def test_numpy_does_not_leak_into_texts():
    grid = {"optimizer_params_list": [{"optimizer": ["Adam"], "lr": np.logspace(-4, -1, 4)}],
            "batch_size": np.array([16, 64]), "rate": (np.float32(0.1), np.float16(0.5), np.bool_(True), None),
            np.str_("key"): np.int64(3)}
    assert literal(grid) == ("{'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [0.0001, 0.001, 0.01, 0.1]}],"
                             " 'batch_size': [16, 64], 'rate': (0.1, 0.5, True, None), 'key': 3}")
    assert literal({"lr": pandas.Series([0.5, 1])}) == "{'lr': [0.5, 1.0]}"
    assert literal({"lr": np.array([0.1], "f4")}) == "{'lr': [0.1]}"
    with pytest.raises(ValueError, match="nan"):
        literal({"lr": [float("nan")]})


def test_what_keras_makes_of_its_own_code():
    import keras

    def mse(y, p):
        return 2 * keras.ops.mean((y - p) ** 2)

    class Huber(keras.losses.Loss):
        def call(self, y_true, y_pred):
            return mse(y_true, y_pred)

    assert literal({"loss": keras.losses.mean_squared_error, "optimizer": keras.optimizers.SGD}) == \
        "{'loss': 'mean_squared_error', 'optimizer': 'SGD'}"
    for own in (mse, lambda y, p: p, Huber, Huber()):  # by their names the server would take Keras'
        with pytest.raises(TypeError, match="Python code, which the server does not run"):
            literal({"loss": own})


def test_callbacks_of_keras(one):
    import keras

    network = one.load_model("architectures", MLP, name="stops")
    compiled = {"loss": "categorical_crossentropy", "optimizer": "Adam(lr=0.05)", "metrics": ["accuracy"]}
    found = []
    for callbacks in ([keras.callbacks.EarlyStopping("val_accuracy", min_delta=0.01, patience=2, mode="max", restore_best_weights=True,
                                                     start_from_epoch=1),
                       keras.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, cooldown=1, min_lr=1e-5)],
                      "EarlyStopping(monitor='val_accuracy', min_delta=0.01, patience=2, mode='max', restore_best_weights=True,"
                      " start_from_epoch=1), ReduceLROnPlateau(monitor='loss', factor=0.5, patience=1, cooldown=1, min_lr=1e-5)"):
        fit_params = f"batch_size=16, callbacks=[{callbacks}]" if isinstance(callbacks, str) else {"batch_size": 16, "callbacks": callbacks}
        one.fit("packed", "stops", "architectures", network, compiled, fit_params, 30, validation_table="packed_validation", replace=True)
        found.append(one.sql("SELECT iterations, best_iteration, learning_rate, state_digest FROM stops_info").values.tolist())
    assert found[0] == found[1] and found[0][0][0] < 30
    with pytest.warns(model_hopper.HopperWarning, match='callback "ModelCheckpoint" has no effect'):
        one.fit("packed", "stops", "architectures", network, compiled, {"callbacks": [keras.callbacks.ModelCheckpoint("best.keras")]}, 1, replace=True)
    one.drop_model("stops")


class Lookup:
    """A layer of Keras whose vocabulary adapt() has learnt; it needs TensorFlow, which is not here."""

    def get_vocabulary(self):
        return ["[UNK]", np.str_("gold"), np.int64(3)]


class OuterModel:
    """A model with such a layer in a model within it."""

    def to_json(self):
        lookup = {"class_name": "StringLookup", "config": {"name": "plans", "vocabulary": None}}
        inner = {"class_name": "Functional", "config": {"name": "inner", "layers": [lookup]}}
        return json.dumps({"class_name": "Functional", "config": {"name": "outer", "layers": [inner]}})

    def get_weights(self):
        return []

    def get_layer(self, name):
        return {"inner": self, "plans": Lookup()}[name]


def test_vocabularies_that_keras_leaves_out_are_in_the_json():
    written = json.loads(as_text(OuterModel(), "model_arch"))
    inner = written["config"]["layers"][0]["config"]
    assert inner["layers"][0]["config"]["vocabulary"] == ["[UNK]", "gold", 3]


def test_conversions():
    assert convert(np.int64(3), "integer", "n") == 3 and type(convert(np.int64(3), "integer", "n")) is int
    assert convert(3.0, "bigint", "n") == 3
    assert convert(np.float32(0.2), "double precision", "x") == 0.2
    assert convert((1, np.int32(2)), "integer[]", "ids") == [1, 2]
    assert convert(7, "integer[]", "ids") == [7]
    assert convert(range(3), "integer[]", "ids") == [0, 1, 2]
    assert convert(np.array([1.5]), "bytea", "w") == np.array([1.5]).tobytes()
    assert convert([np.ones((2, 1)), np.zeros(1)], "bytea", "w") == np.array([1, 1, 0], "<f4").tobytes()
    assert convert(["age", "Monthly Fee"], "text", "independent_varname") == 'age, "Monthly Fee"'
    assert as_text({"a": True}, "model_arch") == '{"a": true}'
    for value, sql_type in ((1.5, "integer"), ("x", "bytea"), ([1, 2], "integer"), (object(), "boolean")):
        with pytest.raises(TypeError):
            convert(value, sql_type, "n")


def test_dictionaries_and_numpy_as_arguments(each):
    model = each.load_model("architectures", MLP, name="from a dictionary")
    assert type(model) is int
    shaped = {"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Dense", "config": {"units": 3, "batch_input_shape": [None, 4]}}]}}
    layers = each.describe_model("architectures", np.int64(each.load_model("architectures", shaped)))
    assert layers.parameters.iloc[-1] == 15
    grid = {**GRID, "optimizer_params_list": [{"optimizer": ["Adam"], "lr": np.logspace(-4, -2, 3)}]}
    assert each.generate_model_configs("architectures", "search", [np.int64(1)], grid,
                                         {"batch_size": np.array([16, 64])}) == 6
    best = each.fit_multiple_model("packed", "searched", "search", np.int64(1))
    assert best.models_trained == 6
    board = each.leaderboard("searched", np.int64(3))
    assert len(board) == 3
    assert set(board.learning_rate) <= {0.0001, 0.001, 0.01} and set(board.batch_size) <= {16, 64}
    one = each.fit("packed", "alone", "architectures", 1,
                     {"loss": "categorical_crossentropy", "optimizer": "Adam(lr=0.01)", "metrics": ["accuracy"]},
                     {"batch_size": 32}, 2, seed=np.int64(5))
    assert one.best_value > 0.5
    assert each.load_model_selection_table(
        "architectures", "listed", 1, [{"loss": "mse", "optimizer": "SGD"}, "loss='mae', optimizer='SGD'"],
        [{"batch_size": 8}]) is not False


def test_results(one):
    board = one.leaderboard("models")
    assert isinstance(board, pandas.DataFrame)
    columns = list(board.columns)
    assert columns[:2] == ["rank", "mst_key"]
    place = columns.index("compile_params")
    assert set(columns[:place]) >= {"optimizer", "learning_rate", "loss", "metrics", "batch_size"}
    assert sorted(board.learning_rate) == [0.001, 0.01] and board.learning_rate.dtype == float
    assert board.validation_metric.dtype == float
    curves = one.learning_curves("models")
    assert len(curves.pivot_table(index="iteration", columns=["mst_key", "split"], values="value")) == 3
    key = int(board.mst_key[0])
    assert one.evaluate("models", "packed_validation", key).loss > 0
    predicted = one.predict("models", "digits", "id", ["pixels"], pred_type="response", mst_key=key)
    assert len(predicted) == 1797 and "predicted_label" in predicted
    assert len(one.predict("models", "digits", "id", "pixels", pred_type=2, mst_key=key)) == 2 * 1797
    written = one.predict("models", "digits", "id", "pixels", "predicted", 0.5, key)
    assert ask("SELECT count(*) FROM predicted") == [(written,)]
    pixels = one.sql("SELECT pixels FROM digits WHERE id = 1").pixels[0]
    row = one.predict_row("models", np.array(pixels), key)
    assert len(row) == 10 and abs(row.prob.sum() - 1) < 1e-5
    assert len(one.explain_fit("packed", "new", "configs", 2)) > 3
    assert len(one.run_timeline("models")) > 0
    assert "Dense" in set(one.layers().iloc[:, 0])
    assert one.sql("SET work_mem = '4MB'") is None


def test_one_row_by_the_names_of_its_columns(each):
    each.sql("CREATE TABLE IF NOT EXISTS flats AS SELECT i AS id, i % 5 AS rooms, (i % 9 / 9.0)::real AS \"Share %s\","
             " ARRAY[i % 2, i % 3]::real[] AS near, (i % 5 * 2)::real AS price FROM generate_series(1, 100) i")
    each.training_preprocessor("flats", "flats_packed", "price", '{"near": "near", "own": ["rooms", "Share %s"]}', replace=True)
    network = {"class_name": "Functional", "keras_version": "2.15.0", "config": {"name": "flats", "layers": [
        *({"class_name": "InputLayer", "name": name, "inbound_nodes": [],
           "config": {"name": name, "batch_input_shape": [None, 2]}} for name in ("own", "near")),
        {"class_name": "Concatenate", "name": "all", "config": {"name": "all"},
         "inbound_nodes": [[["own", 0, 0, {}], ["near", 0, 0, {}]]]},
        {"class_name": "Dense", "name": "price", "config": {"name": "price", "units": 1},
         "inbound_nodes": [[["all", 0, 0, {}]]]}],
        "input_layers": [["own", 0, 0], ["near", 0, 0]], "output_layers": [["price", 0, 0]]}}
    model = each.load_model("flat_networks", network)
    each.fit("flats_packed", "flat_models", "flat_networks", model, "loss='mse', optimizer='SGD(lr=0.01)'", "batch_size=8", 1,
             replace=True)
    rows = each.sql("SELECT (source).*, value FROM hopper.predict_rows('flat_models', NULL::flats)")
    for row in rows.to_dict("records")[:3]:
        for near in (row["near"], tuple(row["near"]), np.array(row["near"], "f4")):
            example = {"near": near, "Share %s": np.float32(row["Share %s"]), "rooms": np.int64(row["rooms"])}
            for key in (None, 1):
                assert each.predict_row("flat_models", example, key).value[0] == pytest.approx(row["value"], rel=1e-6)
    with pytest.raises(Exception, match='lack the feature "rooms"'):
        each.predict_row("flat_models", {"near": [1, 2], "Share %s": 0.5})


def test_a_row_of_pandas_is_taken_by_its_names(each):
    each.sql("CREATE TABLE slopes AS SELECT i AS id, (i % 7 / 7.0)::real AS a, (i % 5 / 5.0)::real AS b,"
             " (i % 7 - 3 * (i % 5))::real AS y, 'kind ' || i % 2 AS kind FROM generate_series(1, 100) i")
    each.training_preprocessor("slopes", "slopes_packed", "y", "a, b", replace=True)
    model = each.load_model("slope_networks", {"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Dense", "config": {"units": 1, "batch_input_shape": [None, 2]}}]}})
    each.fit("slopes_packed", "slope_models", "slope_networks", model, "loss='mse', optimizer='SGD(lr=0.1)'", "batch_size=8", 2,
             replace=True)
    expected = each.predict_row("slope_models", {"a": 0.9, "b": -0.9}).value[0]
    assert abs(each.predict_row("slope_models", [-0.9, 0.9]).value[0] - expected) > 0.1  # the order matters
    frame = pandas.DataFrame({"b": [-0.9], "a": [0.9]})
    mixed = pandas.DataFrame({"kind": ["kind 1"], "b": [-0.9], "id": [7], "a": [0.9], "day": [pandas.Timestamp("2024-01-02")]})
    for example in (frame.iloc[0], frame, next(frame.itertuples()), frame.loc[0].astype("f4"), mixed.iloc[0], mixed,
                    next(mixed.itertuples(index=False)), pandas.Series([0.9, -0.9]), np.array([0.9, -0.9])):
        assert each.predict_row("slope_models", example).value[0] == pytest.approx(expected, rel=1e-6)
    with pytest.raises(Exception, match='lack the feature "a"'):
        each.predict_row("slope_models", frame.iloc[0].drop("a"))
    with pytest.raises(TypeError, match="one example.* has 2"):
        each.predict_row("slope_models", pandas.concat([frame, frame]))
    for example in ({"a": None, "b": 1.0}, frame.assign(a=np.nan).iloc[0], [None, 1.0], np.array([np.nan, 1])):
        with pytest.raises(Exception, match='null for "a"|NULL|NaN'):
            each.predict_row("slope_models", example)
        for key in (None, 1):
            row = each.predict_row("slope_models", example, key, on_null="null")
            assert len(row) == 1 and row.isna().all(axis=None)
    with pytest.raises(ValueError, match='"a" is there twice'):
        each.predict_row("slope_models", pandas.Series([1.0, 2.0, 3.0], index=["a", "b", "a"]))


def test_columns_of_none_alone_say_what_to_do(one):
    """They have no type; whoever does as the message says gets predictions."""
    frame = pandas.DataFrame({"fee": [None if i % 9 == 0 else i / 7 for i in range(90)], "n": range(90), "flag": [i % 2 == 0 for i in range(90)],
                              "seen": pandas.date_range("2024-01-01", periods=90), "y": [i % 3 == 0 for i in range(90)]})
    one.write_table("nones", frame, replace=True)
    one.training_preprocessor("nones", "nones_packed", "y", ["fee", "n", "flag", "seen"], treatments={})
    one.fit("nones_packed", "nones_models", "nones_networks", one.mlp("nones_networks", "nones_packed"),
            "loss=binary_crossentropy, optimizer=Adam, metrics=[auc]", "batch_size=32", 1)
    for name, type_ in {"fee": "float64", "n": "Int64", "flag": "boolean", "seen": "datetime64[us]"}.items():
        untyped = frame.head(2).drop(columns="y").assign(**{name: None})
        for data in (untyped, {column: list(untyped[column]) for column in untyped}):
            with pytest.raises(TypeError, match=f'column "{name}" holds nothing but None.*{re.escape(type_)}'):
                one.predict("nones_models", data)
        assert len(one.predict("nones_models", untyped.astype({name: type_}), pred_type="response")) == 2


def test_a_row_of_text_and_dates(each):
    """What a model with treatments reads, as pandas and Python have it, in whatever time zone."""
    each.sql("CREATE TABLE IF NOT EXISTS visits AS SELECT i AS id, CASE WHEN i % 7 > 0 THEN 'plan ' || i % 3 END AS plan, i % 2 = 0 AS flag,"
             " date '2024-01-01' + i AS day, timestamp '2024-01-01 00:30' + i * interval '1 hour' AS at, CASE WHEN i % 5 > 0 THEN i % 9 / 4.0 END AS paid,"
             " i % 50 * interval '17 hours' AS stay, time '07:00' + i * interval '1 minute' AS opens, 9007199254740990 + i % 4 AS code, i % 24 > 11 AS late FROM generate_series(1, 300) AS i")
    each.training_preprocessor("visits", "visits_packed", "late", "*", treatments={"id": "drop", "code": {"treatment": "index", "min_frequency": 1}}, replace=True)
    each.fit("visits_packed", "visit_models", "visit_networks", each.mlp("visit_networks", "visits_packed", hidden=[8], replace=True),
             "loss='binary_crossentropy', optimizer='Adam(lr=0.02)'", "batch_size=16", 5, replace=True)
    frame = each.sql("SELECT * FROM visits ORDER BY id LIMIT 20")
    frame["code"] = frame["code"].astype("int64")
    rows = each.sql("SELECT prob FROM hopper.predict_rows('visit_models', NULL::visits, pred_type => 'prob') WHERE class_value = 'true'"
                    " ORDER BY (source).id LIMIT 20")
    each.sql("SET timezone = 'Asia/Tokyo'")
    for place, expected in enumerate(rows.prob):
        for example in (frame.iloc[place], dict(frame.iloc[place]), next(frame.iloc[[place]].itertuples()),
                        {**frame.iloc[place], "stay": frame.stay[place].to_timedelta64()}):
            guessed = each.predict_row("visit_models", example)
            assert guessed.prob[guessed.class_value == "true"].iloc[0] == pytest.approx(expected, rel=1e-6)
    each.sql("RESET timezone")

    # Whoever explains one gives the same, also with what pandas has for nothing, and numbers of one type.
    explain = "SELECT feature, feature_value, contribution FROM hopper.explain_row('visit_models', (SELECT v FROM visits AS v WHERE id = %s), 'visits', samples => 4)"
    for place in (0, 6):
        expected = each.sql(explain, [place + 1])
        row = frame.iloc[place]
        gaps = {name: pandas.NaT if name == "paid" else pandas.NA for name in row.index[row.isna()]}
        for example in (row, {**row, **gaps}, frame.iloc[[place]], next(frame.iloc[[place]].itertuples()),
                        {**row, "at": row["at"].to_datetime64(), "stay": row["stay"].to_timedelta64(), "code": np.int64(row["code"]), "flag": np.bool_(row["flag"])}):
            found = each.explain_row("visit_models", example, "visits", samples=4)
            assert list(found.feature) == list(expected.feature)
            np.testing.assert_allclose(found.contribution, expected.contribution, rtol=1e-9)
    with pytest.raises(TypeError, match='argument "source_row" must be one row with names'):
        each.explain_row("visit_models", [1.0, 2.0], "visits")


def test_a_row_of_numbers_alone_is_explained(one):
    """A row of a frame of numbers has one type for all of them, and the table has integers."""
    one.sql("CREATE TABLE counts AS SELECT i % 11 AS n, ARRAY[i % 3, i % 5] AS pair, i % 7 / 7.0 AS share, (i % 11 * 2)::real AS y FROM generate_series(1, 200) AS i")
    one.training_preprocessor("counts", "counts_packed", "y", ["n", "pair", "share"], treatments={}, replace=True)
    one.fit("counts_packed", "count_models", "count_networks", one.mlp("count_networks", "counts_packed", hidden=[4], replace=True),
            "loss='mse', optimizer='Adam(lr=0.02)'", "batch_size=16", 2, replace=True)
    row = one.sql("SELECT n, share FROM counts LIMIT 1").astype(float).iloc[0]
    assert row.dtype == float
    pair = one.sql("SELECT pair FROM counts LIMIT 1").pair[0]
    expected = one.sql("SELECT * FROM hopper.explain_row('count_models', (SELECT c FROM counts AS c LIMIT 1), 'counts')")
    for given in (pair, np.array(pair), np.array(pair, float), tuple(pair)):
        found = one.explain_row("count_models", {**row, "pair": given}, "counts")
        np.testing.assert_allclose(found.contribution, expected.contribution, rtol=1e-9)


def test_models_are_things(each):
    assert each.copy_model("models", "copied", [1, np.int64(2)]) == 2
    assert each.copy_model("models", "copied", 1, replace=True) == 1
    each.rename_model("copied", "renamed")
    assert set(each.models().model_table) == {"models", "renamed"}
    assert each.copy_model("models", "renamed", replace=True) == 2
    assert each.keep_best("renamed") == 1
    each.grant_model("renamed", "public")
    each.revoke_model("renamed", "public", "predict")
    for _ in range(2):
        each.fit_multiple_model("packed", "renamed", "configs", 1, replace=True)
    assert each.drop_model("renamed") == 4
    assert list(each.models().model_table) == ["models"]


def test_networks_by_name(each):
    small = each.mlp("networks", "packed", [16], name="small")
    wide = each.mlp("networks", "packed", np.array([32, 16]), dropout=np.float32(0.1), name="wide")
    assert each.model_ids("networks", ["wide", "small"]) == [wide, small]
    assert each.model_ids("networks", "wide") == [wide]
    assert each.model_id("networks", "wide") == wide


def test_search(each):
    found = each.automl("packed", "found", "architectures", "found_configs", [1],
                        {"loss": ["categorical_crossentropy"], "metrics": ["accuracy"],
                         "optimizer_params_list": [{"optimizer": ["Adam"], "lr": np.logspace(-4, -1, 5)}]},
                        {"batch_size": [32]}, "hyperband", {"R": np.int64(3), "eta": 3},
                        validation_table="packed_validation", seed=1)
    assert len(each.leaderboard("found")) > 1 and found
    assert "hyperband" in set(each.search_algorithms().algorithm)
    space = {"parameters": {"lr": {"type": "float", "low": 1e-4, "high": 0.1, "scale": "log"}, "batch": [16, 32]},
             "compile_params": {"loss": "categorical_crossentropy", "metrics": ["accuracy"], "optimizer": {
                 "class_name": "Adam", "config": {"learning_rate": {"hopper": "lr"}, "amsgrad": False}}},
             "fit_params": {"batch_size": {"hopper": "batch"}}}
    assert list(each.describe_space("architectures", [1], space=space).parameter) == ["lr", "batch"]
    cost = each.explain_automl("packed", "architectures", 1, space=space, automl_params={"R": 3})
    assert "configurations" in set(cost.item)
    each.automl("packed", "found", "architectures", "found_configs", 1, space=space, automl_params={"R": 3}, objective="accuracy",
                validation_table="packed_validation", replace=True)
    assert each.best_config("found").mst_key[0] == each.leaderboard("found").mst_key[0]
    assert set(each.param_importance("found").parameter) == {"lr", "batch"}


def test_help(one, capsys):
    assert "fit_multiple_model" in set(one.help().function)
    assert one.help("leaderboard") is None
    assert "model_table" in capsys.readouterr().out


def test_methods_that_are_not_there(one):
    with pytest.raises(AttributeError, match='no method "best_confg". Perhaps you meant "best_config"'):
        one.best_confg("models")
    with pytest.raises(AttributeError, match='no method "sparklin". Perhaps you meant "sparkline"'):
        one.sparklin([1, 2])
    assert not hasattr(one, "_repr_html_")


def test_functions_of_sql_without_a_method(one):
    assert one.sparkline([1, 2], width=2) == one.call("sparkline", [1, 2], width=2)
    with pytest.raises(Exception, match='relation "nowhere" does not exist'):
        one.auto_fit("nowhere", dependent_varname="y", model_table="m")


def test_every_method_is_a_function_and_its_arguments(one):
    """Methods pass their first arguments by place: they have the names and the order of the server's."""
    import inspect

    known = set(one.help().function)
    theirs = {"close", "connection", "sql", "call", "set", "transaction", "push_model", "pull_model", "save_model",
              "plot_curves", "plot_parallel", "plot_overfit", "plot_cost", "plot_importance", "plot_gantt", "read_table", "write_table", "write_images", "help", "progress",
              "submit", "attach", "runs", "write_tensorboard"}
    for name, method in vars(model_hopper.Hopper).items():
        if name.startswith("_") or name in theirs:
            continue
        assert name in known, name
        arguments = {row for (row,) in ask("SELECT unnest(proargnames) FROM pg_proc WHERE proname = %s AND"
                                           " pronamespace = 'hopper'::regnamespace", name)}
        for argument in list(inspect.signature(method).parameters)[1:]:
            assert argument in arguments | {"options", "progress", "positional", "arguments"}, (name, argument)


def test_results_without_pandas(one, monkeypatch):
    real = builtins.__import__

    def without_pandas(name, *arguments):
        if name == "pandas":
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    board = one.leaderboard("models")
    assert [row.rank for row in board] == [1, 2]
    assert {row.learning_rate for row in board} == {0.001, 0.01}
    assert one.predict("models", "digits", "id", "pixels", pred_type="response", mst_key=1)[0].predicted_label in range(10)


def test_hyperparameters():
    found = model_hopper.hyperparameters
    assert found("optimizer='Adam(lr=0.003,beta_1=0.5)',metrics=['auc'],loss='bce'") == {
        "optimizer": "Adam", "learning_rate": 0.003, "beta_1": 0.5, "metrics": ["auc"], "loss": "bce"}
    assert found("loss=mse, optimizer=SGD(0.1)") == {"optimizer": "SGD", "learning_rate": 0.1, "loss": "mse"}
    assert found("loss='mse', optimizer='SGD(lr=ExponentialDecay(0.1, decay_steps=10, decay_rate=0.9))'") == {
        "optimizer": "SGD", "learning_rate": "ExponentialDecay(0.1, decay_steps=10, decay_rate=0.9)", "loss": "mse"}
    assert found('{"loss": "mse", "optimizer": {"class_name": "SGD", "config": {"learning_rate": 0.1}}}') == {
        "optimizer": "SGD", "learning_rate": 0.1, "loss": "mse"}
    assert found("batch_size=16, class_weight={'true': 5}") == {"batch_size": 16, "class_weight": {"true": 5}}
    assert found("what is this") == {} and found(None) == {}


# ---------------------------------------------------------------- call()

def test_call_checks_arguments_before_the_server(one):
    assert one.call("version")
    with pytest.raises(TypeError, match='no argument "validaton_table".*Perhaps you meant "validation_table"'):
        one.fit_multiple_model("packed", "never", "configs", 1, validaton_table="packed_validation")
    with pytest.raises(LookupError, match='hopper.leaderbord.*Perhaps you meant "leaderboard"'):
        one.call("leaderbord", "models")
    for table in (pandas.DataFrame({"Petal": [1]}), {"a": [1]}, [1]):
        words = f"must be the name of a table, not a value of type {type(table).__name__}"
        with pytest.raises(TypeError, match=f'"packed_table" {words}: pack data with'):
            one.evaluate("models", table)
        with pytest.raises(TypeError, match=f'"validation_table" {words}: pack data with'):
            one.fit_multiple_model("packed", "never", "configs", 1, table)
        with pytest.raises(TypeError, match=f'"model_table" {words}$'):
            one.leaderboard(table)
    with pytest.raises(TypeError, match="needs the arguments .*independent_varname"):
        one.call("training_preprocessor", "digits", "x")
    with pytest.raises(TypeError, match="at most"):
        one.call("version", *range(20))
    with pytest.raises(TypeError, match="twice"):
        one.call("training_preprocessor", "digits", "x", "label", "pixels", source_table="digits")


def test_no_name_gets_into_the_sql(one):
    with pytest.raises((LookupError, TypeError)):
        one.call('version"() --')
    with pytest.raises(TypeError):
        one.call("version", **{'x" := 1) --': 1})
    for name in ("digits; DROP TABLE digits", "a b", 'x"', "", "digits--", "1a", "a.b.c.d"):
        with pytest.raises(ValueError):
            one.read_table(name)
        with pytest.raises(ValueError):
            one.write_table(name, {"x": [1]})
    one.write_table("columns", {'x"; DROP TABLE digits; --': [1], "select": [2]})
    assert list(one.read_table("columns").columns) == ["id", 'x"; DROP TABLE digits; --', "select"]
    assert len(one.read_table("digits")) == 1797


def test_functions_of_an_update_are_found(one):
    one.call("version")
    one.sql("CREATE FUNCTION hopper.brand_new(\"first\" int, second int[] DEFAULT NULL) RETURNS int LANGUAGE sql"
            " AS 'SELECT $1 + coalesce(array_length($2, 1), 0)'")
    try:
        assert one.call("brand_new", 1) == 1
        assert one.call("brand_new", first=np.int64(1), second=np.arange(3)) == 4
    finally:
        one.sql("DROP FUNCTION hopper.brand_new")


def test_a_database_without_the_extension(database):
    with model_hopper.connect(dbname="postgres") as hopper, warnings.catch_warnings():
        hopper.sql("CREATE DATABASE hopper_python_bare")
        try:
            with model_hopper.connect(dbname="hopper_python_bare") as bare:
                with pytest.raises(LookupError, match="CREATE EXTENSION"):
                    bare.leaderboard("models")
        finally:
            hopper.sql("DROP DATABASE hopper_python_bare")
