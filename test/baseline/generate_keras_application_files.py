#!/usr/bin/env python3
"""Writes the architectures of keras.applications as a real Keras writes them, and what it says of them.

    venv/bin/python test/baseline/generate_keras_application_files.py
    venv-2.15/bin/python test/baseline/generate_keras_application_files.py tensorflow.keras

writes keras_application_files/<package>-<version>.tar.xz with a file for each model and index.json, a
list of {"name", "file", "parameters", "trainable", "layers"}: layers is a list of [name, parameters] of
those that have some. Models of one family say nearly the same, so xz makes few bytes of them.

With Keras 3 some models are there a second time, small: of one of each family, for ten classes without
the last activation and the smallest images that it takes, there is the output in inference, too, for the
weights and images of generate_keras_applications.py ("scales" and "shifts" of weights, "image_scale" and
"image_shift"). It is computed in float64; "spread" is how far Keras in float32 is off it.
test/unit/network/application_files_test.cpp reads all of this.
"""

import importlib
import inspect
import io
import json
import lzma
import os
import sys
import tarfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keras_application_files")

# The side of the smallest images that each takes.
SMALL = {
    "ConvNeXtTiny": 32,
    "DenseNet121": 32,
    "EfficientNetB0": 32,
    "EfficientNetV2B0": 32,
    "EfficientNetV2S": 32,
    "InceptionResNetV2": 75,
    "InceptionV3": 75,
    "MobileNet": 32,
    "MobileNetV2": 32,
    "MobileNetV3Large": 32,
    "MobileNetV3Small": 32,
    "NASNetMobile": 32,
    "ResNet50": 32,
    "ResNet50V2": 32,
    "VGG16": 32,
    "Xception": 71,
}
BATCH = 2


def without_numbers(k):
    """Lets all weights begin as zeros: what is written says how they begin and not with what, and
    drawing hundreds of millions of numbers takes most of the time."""
    kinds = [kind for _, kind in inspect.getmembers(k.initializers, inspect.isclass)]

    def zeros(self, shape, dtype=None, **kwargs):
        import numpy as np

        return np.zeros([int(axis) for axis in shape], "float32")

    for kind in kinds:
        kind.__call__ = zeros


def by_shapes():
    """Lets tf.keras connect layers by the shapes that they say their outputs have; to find them it
    computes with each layer otherwise, in a graph of its own. What to_json() writes is the same."""
    import tensorflow as tf
    from keras.src.engine import base_layer, keras_tensor

    computing = base_layer.Layer._infer_output_signature

    def shaped(self, inputs, args, kwargs, input_masks):
        kind = type(self)
        says = kind.compute_output_shape is not base_layer.Layer.compute_output_shape
        # A nested model makes its layers' weights by calling them.
        calls = isinstance(self, tf.keras.Model) or kind.__name__ in ("TFOpLambda", "SlicingOpLambda")
        if calls or not says:
            return computing(self, inputs, args, kwargs, input_masks)
        self._maybe_build(inputs)
        shape = self.compute_output_shape(tf.nest.map_structure(lambda one: one.shape, inputs))
        return keras_tensor.KerasTensor(tf.TensorSpec(shape, self.compute_dtype))

    base_layer.Layer._infer_output_signature = shaped


def count(weights):
    total = 0
    for weight in weights:
        size = 1
        for axis in weight.shape:
            size *= int(axis)
        total += size
    return total


def described(model, name, file):
    return {
        "name": name,
        "file": file,
        "parameters": count(model.weights),
        "trainable": count(model.trainable_weights),
        "layers": [[layer.name, count(layer.weights)] for layer in model.layers if layer.weights],
    }


def small(name):
    """The case of a small model, and its architecture."""
    import generate_keras_applications as formulas
    import numpy as np

    keras = formulas.keras
    keras.backend.clear_session()
    keras.backend.set_floatx("float32")
    make = getattr(keras.applications, name)
    side = SMALL[name]
    model = make(weights=None, input_shape=(side, side, 3), classes=10, classifier_activation=None)
    document = json.loads(model.to_json())
    case = described(model, name, f"{name}.small.json")
    ranges = [formulas.range_of(weight) for weight in model.weights]
    scale, shift = formulas.RANGES.get(name, (2.0, 0.0))
    case.update(
        batch=BATCH,
        scales=[float(np.float32(one[0])) for one in ranges],
        shifts=[float(np.float32(one[1])) for one in ranges],
        image_scale=scale,
        image_shift=shift,
    )
    images = formulas.spread_evenly(formulas.IMAGES, BATCH * side * side * 3, scale, shift)
    images = images.reshape(BATCH, side, side, 3)
    outputs = {}
    for dtype in ("float32", "float64"):
        made = formulas.load(document, dtype)
        outputs[dtype] = np.asarray(made(images.astype(dtype), training=False), np.float64)
    exact = outputs["float64"]
    assert np.isfinite(exact).all()
    case["spread"] = float(np.abs(outputs["float32"] - exact).max() / np.abs(exact).max())
    case["output"] = [float(value) for value in exact.ravel()]
    print(name, "small", case["parameters"], "off in float32:", case["spread"], flush=True)
    return case, document


def main():
    package = sys.argv[1] if len(sys.argv) > 1 else "keras"
    k = importlib.import_module(package)
    without_numbers(k)
    if package == "tensorflow.keras":
        by_shapes()
    version = importlib.import_module("keras").__version__
    index, files = [], {}
    for name in sorted(dir(k.applications)):
        make = getattr(k.applications, name)
        if not inspect.isfunction(make):
            continue
        k.backend.clear_session()
        model = make(weights=None)
        index.append(described(model, name, f"{name}.json"))
        files[f"{name}.json"] = json.loads(model.to_json())
        print(name, index[-1]["parameters"], flush=True)
    if package == "keras":
        for name in SMALL:
            case, document = small(name)
            index.append(case)
            files[case["file"]] = document
    files["index.json"] = index
    path = os.path.join(FOLDER, f"{package.replace('.', '-')}-{version}.tar.xz")
    os.makedirs(FOLDER, exist_ok=True)
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, document in files.items():
            text = json.dumps(document, separators=(",", ":")).encode()
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 26}]
    with open(path, "wb") as file:
        file.write(lzma.compress(tar.getvalue(), check=lzma.CHECK_CRC64, filters=filters))
    print(path, len(files), "files,", len(tar.getvalue()), "bytes in", os.path.getsize(path))


if __name__ == "__main__":
    main()
