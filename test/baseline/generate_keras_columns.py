#!/usr/bin/env python3
"""Writes keras_columns.json: what Keras models of structured data, which have inputs of strings and
layers that prepare them, predict for rows of a table.

  pip install tensorflow-cpu==2.21.0 keras==3.15.1
  test/baseline/generate_keras_columns.py

Of each model: to_json() with the vocabularies that adapt() has learnt, weights, columns, predictions.
"""
import json
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import layers  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
N = 60
CHANCE = np.random.default_rng(29)


def chosen(values):
    return [values[i] for i in CHANCE.integers(0, len(values), N)]


COLUMNS = {
    "age": [round(float(x), 3) for x in CHANCE.normal(40, 15, N)],
    "fee": [round(float(x), 3) for x in CHANCE.exponential(30, N)],
    "code": [int(x) for x in CHANCE.integers(-5, 30, N)],
    "plan": chosen(["basic", "gold", "Größe M", "never seen", ""]),
    "city": chosen(["Oslo", "Zürich", "New York", "x" * 70, "Ulm", ""]),
    "note": chosen(["Good, very GOOD!", "bad service", "the price is good", "", "unknown words only?", "bad bad bad bad bad"])}
SQL_TYPES = {"age": "float8", "fee": "float8", "code": "int4", "plan": "text", "city": "text", "note": "text"}
DTYPES = {"float8": "float32", "int4": "int64", "text": "string"}
WORDS = ["good", "bad", "price", "the", "very"]


def inputs_of(*names, shape=(1,)):
    return {name: keras.Input(shape, name=name, dtype=DTYPES[SQL_TYPES[name]]) for name in names}


def write_vocabularies(model, config):
    """What adapt() has learnt goes into the JSON, which to_json() leaves out."""
    for entry in config["layers"]:
        lookup = entry["class_name"] in ("StringLookup", "IntegerLookup", "TextVectorization")
        if not lookup and "layers" not in entry["config"]:
            continue
        layer = model.get_layer(entry["config"]["name"])
        if lookup:
            entry["config"]["vocabulary"] = [
                token.item() if hasattr(token, "item") else token for token in layer.get_vocabulary()]
        else:
            write_vocabularies(layer, entry["config"])


def case(name, model, columns):
    for weight in model.trainable_variables:
        weight.assign(CHANCE.normal(0, 0.5, weight.shape))
    written = json.loads(model.to_json())
    write_vocabularies(model, written["config"])
    tensors = {c: tf.constant(np.array(COLUMNS[c], dtype=object if SQL_TYPES[c] == "text" else None)[:, None].tolist(),
                              dtype=DTYPES[SQL_TYPES[c]]) for c in columns}
    for one, tensor in zip(model.inputs, [tensors[c] for c in columns]):
        if len(one.shape) == 1:
            tensors[one.name] = tf.squeeze(tensor, -1)
    given = tensors if len(columns) > 1 else tensors[columns[0]]
    predictions = model(given).numpy().astype(float)
    return {"name": name, "model": json.dumps(written), "columns": list(columns),
            "weights": [float(x) for w in model.get_weights() for x in np.asarray(w).ravel()],
            "predictions": predictions.tolist()}


def given_vocabularies():
    x = inputs_of("age", "plan", "code", "fee", "city", "note")
    parts = [layers.Normalization(mean=[38.0], variance=[200.0])(x["age"]),
             layers.StringLookup(vocabulary=["basic", "gold", "Größe M"], output_mode="one_hot")(x["plan"]),
             layers.IntegerLookup(vocabulary=[1, 2, 3, 28], output_mode="multi_hot")(x["code"]),
             layers.Discretization(bin_boundaries=[5.0, 20.0, 60.0], output_mode="one_hot")(x["fee"]),
             layers.Flatten()(layers.Embedding(12, 3)(layers.Hashing(12)(x["city"]))),
             layers.GlobalAveragePooling1D()(layers.Embedding(7, 2)(
                 layers.TextVectorization(vocabulary=WORDS, output_sequence_length=4)(x["note"])))]
    joined = layers.Dense(8, activation="relu")(layers.Concatenate()(parts))
    return keras.Model(list(x.values()), layers.Dense(3, activation="softmax")(joined)), list(x)


def adapted_in_a_nested_model():
    x = inputs_of("age", "plan", "code", "city")
    scale = layers.Normalization()
    scale.adapt(np.array(COLUMNS["age"])[:, None])
    plan = layers.StringLookup(mask_token="", output_mode="one_hot")
    plan.adapt(COLUMNS["plan"])
    code = layers.IntegerLookup(num_oov_indices=3)
    code.adapt([c for c in COLUMNS["code"] if c > 3])
    city = layers.StringLookup(num_oov_indices=4, mask_token="Ulm", vocabulary=["Oslo"])
    encode = layers.CategoryEncoding(num_tokens=6, output_mode="one_hot")
    embed = layers.Embedding(3 + len(set(c for c in COLUMNS["code"] if c > 3)), 2)
    prepared = keras.Model(list(x.values()), layers.Concatenate()([
        scale(x["age"]), plan(x["plan"]), layers.Flatten()(embed(code(x["code"]))), encode(city(x["city"]))]))
    body = keras.Sequential([layers.Dense(6, activation="tanh"), layers.Dense(1, activation="sigmoid")])
    outer = inputs_of("age", "plan", "code", "city")
    return keras.Model(list(outer.values()), body(prepared(list(outer.values())))), list(outer)


def counted_words():
    x = {**inputs_of("note", shape=()), **inputs_of("fee")}
    arguments = {"vocabulary": WORDS, "standardize": "lower"}
    return keras.Model(list(x.values()), layers.Dense(2)(layers.Concatenate()([
        layers.TextVectorization(output_mode="count", **arguments)(x["note"]), x["fee"]]))), list(x)


def one_text(mode, shape, **arguments):
    x = inputs_of("note", shape=shape)["note"]
    words = layers.TextVectorization(output_mode=mode, vocabulary=WORDS, **arguments)(x)
    return keras.Model(x, layers.Dense(2, activation="softmax")(words)), ["note"]


def a_feature_space():
    space = keras.utils.FeatureSpace(
        features={"age": "float_normalized", "fee": keras.utils.FeatureSpace.float_discretized(num_bins=4),
                  "plan": "string_categorical", "code": "integer_categorical",
                  "city": keras.utils.FeatureSpace.string_hashed(num_bins=16)}, output_mode="concat")
    names = ["age", "city", "code", "fee", "plan"]
    space.adapt(tf.data.Dataset.from_tensor_slices({c: COLUMNS[c] for c in names}))
    return keras.Model(space.get_inputs(), layers.Dense(1)(space.get_encoded_features())), names


def main():
    cases = [case("given vocabularies", *given_vocabularies()),
             case("adapted, in a nested model", *adapted_in_a_nested_model()),
             case("counted words", *counted_words()),
             case("words that are there", *one_text("multi_hot", ())),
             case("words by their weights", *one_text("tf_idf", (), idf_weights=[0.5, 0.25, 1.5, 2.0, 0.75])),
             case("a feature space", *a_feature_space())]
    written = {"columns": COLUMNS, "types": SQL_TYPES, "cases": cases}
    (HERE / "keras_columns.json").write_text(json.dumps(written, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
