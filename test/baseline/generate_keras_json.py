#!/usr/bin/env python3
"""Writes architectures as a real Keras writes them, with what that Keras says about them.

Usage: KERAS_BACKEND=numpy python generate_keras_json.py [--package tf_keras] [--h5]

Run it once for each version of Keras, each in an environment of its own; it writes
keras_json/<package>-<version>.json beside itself. test/unit/model compares the parser with it.

The families that the versions write (see docs/reference/architectures.md):
    B  tensorflow.keras 2.12           --package tensorflow.keras
    C  tensorflow.keras 2.15, tf-keras --package tensorflow.keras, --package tf_keras
    D  keras 3.0 to 3.3
    E  keras 3.4 to 3.10
    F  keras 3.11 and later
    G  keras 3, attribute model_config of an .h5 file          --h5
No installable version writes family A; handwritten.json has files of it.
"""
import argparse
import importlib
import json
import os
import tempfile

os.environ.setdefault("KERAS_BACKEND", "numpy")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

HERE = os.path.dirname(os.path.abspath(__file__))


def mlp(k):
    return k.Sequential(
        [
            k.Input((784,)),
            k.layers.Dense(64, activation="relu", kernel_regularizer=k.regularizers.l2(1e-4)),
            k.layers.Dropout(0.25),
            k.layers.Dense(10, activation="softmax"),
        ],
        name="mlp",
    )


def cnn(k):
    layers = k.layers
    return k.Sequential(
        [
            k.Input((28, 28, 1)),
            layers.Rescaling(1.0 / 255, offset=-0.5),
            layers.Conv2D(8, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(12, (5, 3), strides=(2, 1), padding="same", use_bias=False),
            layers.BatchNormalization(momentum=0.9, scale=False),
            layers.Activation("tanh"),
            layers.AveragePooling2D((3, 2), strides=2, padding="same"),
            layers.Conv2D(6, 2, dilation_rate=2, padding="same"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(10),
            layers.Softmax(),
        ],
        name="cnn",
    )


def groups(k):
    return k.Sequential(
        [
            k.Input((10, 12, 4)),
            k.layers.Conv2D(8, 3, groups=2, activation="relu"),
            k.layers.GlobalMaxPooling2D(keepdims=True),
            k.layers.Flatten(),
            k.layers.Dense(1, activation="sigmoid"),
        ],
        name="groups",
    )


def built(k):
    model = k.Sequential([k.layers.Dense(5, activation="relu"), k.layers.Dense(2)], name="built")
    model.build((None, 8))
    return model


def unbuilt(k):
    return k.Sequential([k.layers.Dense(5, activation="relu"), k.layers.Dense(2)], name="unbuilt")


def first_layer_shape(k):
    return k.Sequential(
        [k.layers.Dense(5, input_shape=(7,)), k.layers.BatchNormalization(), k.layers.Dense(3)],
        name="first_layer_shape",
    )


def residual(k):
    layers = k.layers
    x = k.Input((12, 12, 3), name="image")
    a = layers.Conv2D(8, 3, padding="same", activation="relu", name="first")(x)
    b = layers.Conv2D(8, 3, padding="same", name="second")(a)
    c = layers.Add(name="sum")([a, b])
    d = layers.Concatenate(name="both")([c, x])
    e = layers.Reshape((36, -1), name="rows")(d)
    f = layers.Concatenate(axis=1, name="below")([e, e])
    g = layers.Flatten(name="flat")(f)
    return k.Model(x, layers.Dense(4, activation="softmax", name="last")(g), name="residual")


def shared(k):
    x = k.Input((6,), name="x")
    twice = k.layers.Dense(6, activation="relu", name="twice")
    y = twice(twice(x))
    return k.Model(x, k.layers.Dense(2, name="end")(k.layers.Add(name="sum")([x, y])), name="shared")


def branch(k, name, sequential):
    if sequential:
        return k.Sequential(
            [k.Input((6,)), k.layers.Dense(6, name=name + "_a"), k.layers.ReLU(name=name + "_b")],
            name=name,
        )
    x = k.Input((6,), name=name + "_x")
    return k.Model(x, k.layers.Dense(6, name=name + "_a", activation="tanh")(x), name=name)


def nested(k):
    x = k.Input((6,), name="x")
    y = branch(k, "inner_functional", False)(x)
    z = branch(k, "inner_sequential", True)(y)
    return k.Model(x, k.layers.Dense(2, name="end")(z), name="nested")


def nested_twice(k):
    x = k.Input((6,), name="x")
    f = branch(k, "inner_functional", False)
    s = branch(k, "inner_sequential", True)
    a = s(f(x))
    b = f(s(a))
    return k.Model(x, k.layers.Dense(2, name="end")(k.layers.Add(name="sum")([a, b])), name="twice")


def nested_end(k):
    x = k.Input((6,), name="x")
    f = branch(k, "inner_functional", False)
    return k.Model(x, f(f(k.layers.Dense(6, name="first")(x))), name="nested_end")


def nested_deep(k):
    inner = k.Sequential([branch(k, "deep", False), k.layers.Dense(4)], name="middle")
    return k.Sequential([k.Input((6,)), inner, k.layers.Dense(2, activation="softmax")], name="outer")


def nested_two_inputs(k):
    a = k.Input((6,), name="a")
    b = k.Input((3,), name="b")
    c = k.layers.Concatenate(name="join")([a, b])
    p = k.layers.Dense(4, name="p")(c)
    q = k.layers.Dense(5, name="q")(c)
    inner = k.Model([a, b], [p, q], name="inner")
    x = k.Input((6,), name="x")
    p, q = inner([x, k.layers.Dense(3, name="narrow")(x)])
    return k.Model(x, k.layers.Concatenate(name="out")([q, p]), name="nested_two_inputs")


def frozen(k):
    x = k.Input((6,), name="x")
    base = branch(k, "base", True)
    base.trainable = False
    norm = k.layers.BatchNormalization(name="norm")
    norm.trainable = False
    y = norm(base(x))
    return k.Model(x, k.layers.Dense(2, name="head")(y), name="frozen")


def activations(k):
    layers = k.layers
    model = [k.Input((9,))]
    for name in (
        "linear relu elu selu softplus softsign tanh sigmoid hard_sigmoid exponential swish gelu"
    ).split():
        model.append(layers.Dense(4, activation=name))
    model.append(layers.Dense(4, activation=layers.LeakyReLU(0.1)))
    model += [layers.ReLU(6.0, negative_slope=0.1, threshold=0.5), layers.LeakyReLU(), layers.ELU()]
    model += [layers.Activation("softmax")]
    return k.Sequential(model, name="activations")


def initializers(k):
    layers, init = k.layers, k.initializers
    model = [k.Input((9,))]
    for one in (
        init.Zeros(),
        init.Ones(),
        init.Constant(0.25),
        init.RandomUniform(-0.1, 0.2),
        init.RandomNormal(0.5, 0.1),
        init.TruncatedNormal(0.0, 0.3),
        init.VarianceScaling(3.0, "fan_out", "untruncated_normal"),
        init.GlorotUniform(),
        init.GlorotNormal(),
        init.HeUniform(),
        init.HeNormal(),
        init.LecunUniform(),
        init.LecunNormal(),
        init.Orthogonal(1.5),
        init.Identity(),
    ):
        model.append(layers.Dense(9, kernel_initializer=one))
    for one in (k.regularizers.L1(1e-3), k.regularizers.L2(1e-2), k.regularizers.L1L2(1e-3, 1e-2)):
        model.append(layers.Dense(9, kernel_regularizer=one, bias_regularizer=one))
    return k.Sequential(model, name="initializers")


def dictionary(k):
    x = k.Input((6,), name="x")
    return k.Model({"x": x}, {"y": k.layers.Dense(2, name="y")(x)}, name="dictionary")


def one_element_lists(k):
    x = k.Input((6,), name="x")
    return k.Model([x], [k.layers.Dense(2, name="y")(x)], name="one_element_lists")


def inference_call(k):
    x = k.Input((6,), name="x")
    y = k.layers.BatchNormalization(name="norm")(x, training=False)
    return k.Model(x, k.layers.Dense(2, name="y")(y), name="inference_call")


def series(k):
    layers = k.layers
    return k.Sequential(
        [
            k.Input((24, 3)),
            layers.Conv1D(8, 3, padding="causal", dilation_rate=2, activation="relu"),
            layers.MaxPooling1D(2),
            layers.SeparableConv1D(6, 3, padding="same"),
            layers.SpatialDropout1D(0.1),
            layers.LSTM(5, return_sequences=True, dropout=0.1),
            layers.GRU(4, return_sequences=True),
            layers.GRU(4, return_sequences=True, reset_after=False),
            layers.Bidirectional(layers.LSTM(3, return_sequences=True)),
            layers.Bidirectional(layers.GRU(3, return_sequences=True), merge_mode="sum"),
            layers.TimeDistributed(layers.Dense(4, activation="relu")),
            layers.SimpleRNN(4, go_backwards=True),
            layers.RepeatVector(3),
            layers.ZeroPadding1D(1),
            layers.AveragePooling1D(2),
            layers.Permute((2, 1)),
            layers.GlobalMaxPooling1D(),
            layers.Dense(2),
        ],
        name="series",
    )


def ids(k):
    layers = k.layers
    return k.Sequential(
        [
            k.Input((12,)),
            layers.Embedding(30, 6, mask_zero=True),
            layers.LSTM(5),
            layers.Dense(3, activation="softmax"),
        ],
        name="ids",
    )


def ids_functional(k):
    layers = k.layers
    x = k.Input((12,), name="words", dtype="int32")
    y = layers.Embedding(30, 6, mask_zero=True, name="embedding")(x)
    y = layers.GRU(5, return_sequences=True, name="gru")(y)
    y = layers.GlobalAveragePooling1D(name="mean")(y)
    return k.Model(x, layers.Dense(3, activation="softmax", name="end")(y), name="ids_functional")


def masking(k):
    layers = k.layers
    return k.Sequential(
        [k.Input((9, 2)), layers.Masking(-1.0), layers.Bidirectional(layers.LSTM(3)), layers.Dense(1)],
        name="masking",
    )


def attention(k):
    layers = k.layers
    x = k.Input((10, 8), name="x")
    y = layers.MultiHeadAttention(2, 4, dropout=0.1, name="heads")(x, x)
    y = layers.Add(name="sum")([x, y])
    y = layers.LayerNormalization(epsilon=1e-6, name="norm")(y)
    z = layers.Dense(16, activation="gelu", name="wide")(y)
    z = layers.Dense(8, name="narrow")(z)
    y = layers.LayerNormalization(name="norm_2")(layers.Add(name="sum_2")([y, z]))
    a = layers.Attention(use_scale=True, name="attention")([y, x])
    b = layers.AdditiveAttention(name="additive")([y, x])
    y = layers.GlobalAveragePooling1D(name="mean")(layers.Concatenate(name="both")([a, b]))
    return k.Model(x, layers.Dense(3, activation="softmax", name="end")(y), name="attention")


def images(k):
    layers = k.layers
    return k.Sequential(
        [
            k.Input((16, 18, 3)),
            layers.Normalization(mean=[0.1, 0.2, 0.3], variance=[1.0, 2.0, 3.0]),
            layers.ZeroPadding2D(((0, 1), (2, 3))),
            layers.DepthwiseConv2D(3, strides=2, depth_multiplier=2),
            layers.SeparableConv2D(8, 3, padding="same", activation="swish"),
            layers.SpatialDropout2D(0.2),
            layers.Conv2DTranspose(4, 3, strides=2, padding="same"),
            layers.PReLU(shared_axes=[1, 2]),
            layers.UpSampling2D((2, 1), interpolation="bilinear"),
            layers.Cropping2D(((1, 0), (2, 1))),
            layers.Resizing(9, 9),
            layers.CenterCrop(7, 8),
            layers.LayerNormalization(axis=[1, 2, 3]),
            layers.GlobalAveragePooling2D(),
            layers.Dense(4, activation="softmax"),
        ],
        name="images",
    )


def augmentation(k):
    layers = k.layers
    return k.Sequential(
        [
            k.Input((12, 12, 3)),
            layers.RandomFlip("horizontal"),
            layers.RandomRotation(0.1, fill_mode="nearest"),
            layers.RandomTranslation(0.1, (-0.2, 0.3)),
            layers.RandomZoom(0.2),
            layers.RandomContrast(0.2),
            layers.RandomCrop(10, 10),
            layers.Flatten(),
            layers.Dense(2),
        ],
        name="augmentation",
    )


def regularized(k):
    layers = k.layers
    return k.Sequential(
        [
            k.Input((9,)),
            layers.GaussianNoise(0.1),
            layers.Dense(4, kernel_constraint=k.constraints.MaxNorm(2.0, axis=[0]), use_bias=False),
            layers.GaussianDropout(0.1),
            layers.Dense(4, kernel_constraint=k.constraints.NonNeg(),
                         bias_constraint=k.constraints.MinMaxNorm(0.1, 0.9, rate=0.5)),
            layers.AlphaDropout(0.1),
            layers.Dense(4, activity_regularizer=k.regularizers.L2(0.01),
                         kernel_constraint=k.constraints.UnitNorm()),
            layers.ActivityRegularization(l1=0.01),
            layers.Dense(2),
        ],
        name="regularized",
    )


def merges(k):
    layers = k.layers
    x = k.Input((6,), name="x")
    a = layers.Dense(4, name="a")(x)
    b = layers.Dense(4, name="b")(x)
    parts = [make(name=make.__name__.lower())([a, b]) for make in (
        layers.Multiply, layers.Subtract, layers.Average, layers.Maximum, layers.Minimum)]
    parts.append(layers.Dot(axes=1, name="dot")([a, b]))
    return k.Model(x, layers.Concatenate(name="all")(parts), name="merges")


def operations(k):
    x = k.Input((4,), name="x")
    a = k.layers.Dense(4, name="a")(x)
    b = k.layers.Dense(4, name="b")(x)
    y = (a + b) * a - b
    y = 1.0 - y * 2.0
    return k.Model(x, k.layers.Dense(2, name="end")(-y + 3.0), name="operations")


def wide_and_deep(k):
    layers = k.layers
    numbers = k.Input((5,), name="numbers")
    words = k.Input((2,), name="words")
    y = layers.Flatten(name="flat")(layers.Embedding(20, 4, name="embedding")(words))
    y = layers.Dense(8, activation="relu", name="deep")(layers.Concatenate(name="join")([numbers, y]))
    price = layers.Dense(1, name="price")(layers.Concatenate(name="wide")([numbers, y]))
    kind = layers.Dense(3, activation="softmax", name="kind")(y)
    return k.Model([numbers, words], [price, kind], name="wide_and_deep")


ACCEPTED = [
    mlp, cnn, groups, built, unbuilt, first_layer_shape, residual, shared, nested, nested_twice,
    nested_end, nested_deep, nested_two_inputs, frozen, activations, initializers, dictionary,
    one_element_lists, inference_call, series, ids, ids_functional, masking, attention, images,
    augmentation, regularized, merges, operations, wide_and_deep,
]  # fmt: skip


def lambda_layer(k):
    return k.Sequential([k.Input((4,)), k.layers.Lambda(lambda x: x * 2, name="lambda_1")])


def operation(k):
    x = k.Input((4,), name="x")
    return k.Model(x, k.layers.Dense(2)(x) ** 3.0)



def mixed_precision(k):
    return k.Sequential([k.Input((4,)), k.layers.Dense(2, dtype="mixed_float16", name="low")])


def custom(k):
    @k.utils.register_keras_serializable(package="MyPackage")
    class Attn(k.layers.Layer):
        def call(self, x):
            return x

    return k.Sequential([k.Input((4,)), Attn(), k.layers.Dense(2)])


# Model and a part of the message that refuses it.
REFUSED = [
    (lambda_layer, 'layer "lambda_1" of class Lambda is not supported'),
    (operation, "is not supported"),
    (mixed_precision, 'dtype "mixed_float16" is not supported'),
    (custom, 'layer class "MyPackage>Attn" is not known'),
]


def inner_layers(model, prefix=""):
    """Layers in the order of the JSON, nested models expanded, without input layers."""
    for layer in model.layers:
        if type(layer).__name__ == "InputLayer":
            continue
        if hasattr(layer, "layers"):
            yield from inner_layers(layer, prefix + layer.name + "/")
        else:
            yield prefix + layer.name, layer


def output_shape(layer):
    """Without the batch; None where the layer has no single output."""
    try:
        return list(layer.output.shape)[1:]
    except (AttributeError, ValueError, RuntimeError):
        return None


def count(weights):
    total = 0
    for weight in weights:
        size = 1
        for axis in weight.shape:
            size *= int(axis)
        total += size
    return total


def shapes(ends):
    """Of one input or output, of a list, or of a dictionary of them."""
    if isinstance(ends, dict):
        ends = list(ends.values())
    return [list(one)[1:] for one in (ends if isinstance(ends, list) else [ends])]


def describe(model):
    if not model.built:
        model.build((None, 8))
    trainable = {id(weight) for weight in model.trainable_weights}
    return {
        "inputs": shapes(model.input_shape),
        "outputs": shapes(model.output_shape),
        "parameters": count(model.weights),
        "trainable": count(model.trainable_weights),
        "weights": [
            {"shape": list(values.shape), "trainable": id(weight) in trainable}
            for values, weight in zip(model.get_weights(), model.weights)
        ],
        "layers": [
            {
                "name": name,
                "class_name": type(layer).__name__,
                "parameters": count(layer.weights),
                "output_shape": output_shape(layer),
            }
            for name, layer in inner_layers(model)
        ],
    }


def without_code(value):
    """Empties the byte code of Lambda layers, which names files of this machine."""
    if isinstance(value, dict):
        if value.get("class_name") == "__lambda__":
            return {"class_name": "__lambda__", "config": {"code": ""}}
        if value.get("function_type") == "lambda":
            value["function"] = [""]
        return {key: without_code(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_code(item) for item in value]
    return value


def architecture(model, from_h5):
    if not from_h5:
        return without_code(json.loads(model.to_json()))
    import h5py

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.h5")
        model.save(path)
        with h5py.File(path, "r") as file:
            return without_code(json.loads(file.attrs["model_config"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--package", default="keras")
    parser.add_argument("--h5", action="store_true")
    arguments = parser.parse_args()
    k = importlib.import_module(arguments.package)
    # Some releases of TensorFlow do not say it of their own module.
    version = getattr(k, "__version__", None) or importlib.import_module("keras").__version__
    major, minor = (int(part) for part in version.split(".")[:2])
    if arguments.h5:
        family = "G"
    elif major == 3:
        family = "D" if minor <= 3 else "E" if minor <= 10 else "F"
    else:
        family = "C" if minor >= 13 else "B"

    accepted, refused, skipped = [], [], []
    for make in ACCEPTED:
        # Of operations an .h5 file has only the class, which Keras cannot read itself.
        if arguments.h5 and make in (unbuilt, ids_functional, operations):
            continue
        k.backend.clear_session()
        try:
            model = make(k)
            text = architecture(model, arguments.h5)
        except (TypeError, ValueError, AttributeError, NotImplementedError) as error:
            skipped.append([make.__name__, str(error).splitlines()[0]])
            continue
        # Before 3.1 a layer that is frozen before it is built says that its weights are not.
        if major == 3 and minor == 0 and make is frozen:
            continue
        accepted.append({"name": make.__name__, "architecture": text, "says": describe(model)})
    for make, message in REFUSED:
        if arguments.h5 and make is operation:
            continue
        k.backend.clear_session()
        try:
            text = architecture(make(k), arguments.h5)
        except (TypeError, ValueError, AttributeError, NotImplementedError) as error:
            skipped.append([make.__name__, str(error).splitlines()[0]])
            continue
        refused.append({"name": make.__name__, "architecture": text, "message": message})
    for name, error in skipped:
        print("this version cannot write", name + ":", error)

    package = arguments.package.replace("_", "-").replace(".", "-")
    path = os.path.join(
        HERE, "keras_json", f"{package}-{version}{'-h5' if arguments.h5 else ''}.json"
    )
    document = {
        "keras_version": version,
        "family": family,
        "accepted": accepted,
        "refused": refused,
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, separators=(",", ":"))
        file.write("\n")
    print(path, len(accepted), "accepted", len(refused), "refused")


if __name__ == "__main__":
    main()
