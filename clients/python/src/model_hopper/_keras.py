"""Keras models from stored architectures and weights."""

from __future__ import annotations

import copy
import json
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

_MODELS = {"Sequential": "keras", "Functional": "keras.src.models.functional", "Model": "keras.src.models.functional"}


def complete(architecture: Any, input_shape: Optional[Sequence[int]]) -> Dict[str, Any]:
    """An architecture as Keras 3 reads it: with modules, and with an input of a known shape.

    Also for what people write by hand, and for what earlier versions wrote.
    """
    model: Dict[str, Any] = copy.deepcopy(json.loads(architecture) if isinstance(architecture, str) else architecture)
    _complete_layer(model)
    if model["class_name"] == "Sequential":
        _give_input(model["config"]["layers"], input_shape)
    return model


def _complete_layer(layer: Dict[str, Any]) -> None:
    name = layer["class_name"]
    if isinstance(layer.get("config"), list):  # Keras 2.0's Sequential
        layer["config"] = {"layers": layer["config"]}
    config = layer.setdefault("config", {})
    if name in _MODELS:
        config.setdefault("name", name.lower())
        for inner in config.get("layers", []):
            _complete_layer(inner)
    if layer.get("module"):
        return
    layer["module"] = _MODELS.get(name, "keras.layers")
    layer["registered_name"] = None
    if name == "Model":
        layer["class_name"] = "Functional"
    if name == "BatchNormalization" and isinstance(config.get("axis"), list):
        config["axis"] = config["axis"][0]
    if name == "LeakyReLU" and "alpha" in config:
        config["negative_slope"] = config.pop("alpha")
    if name == "InputLayer" and "batch_input_shape" in config:
        config["batch_shape"] = config.pop("batch_input_shape")
    for key in ("sparse", "ragged") if name == "InputLayer" else ():
        config.pop(key, None)


def _give_input(layers: List[Dict[str, Any]], input_shape: Optional[Sequence[int]]) -> None:
    shape = None
    for layer in layers:
        given = layer["config"].pop("batch_input_shape", None)
        shape = shape or given
    if layers and layers[0]["class_name"] == "InputLayer":
        config = layers[0]["config"]
        if None in (config.get("batch_shape") or [None, None])[1:] and input_shape is not None:
            config["batch_shape"] = [None, *input_shape]
        return
    if layers and layers[0]["class_name"] in _MODELS:
        return
    if shape is None or None in shape[1:]:
        if input_shape is None:
            raise ValueError("the model does not state its input shape: give input_shape")
        shape = [None, *input_shape]
    layers.insert(0, {"class_name": "InputLayer", "config": {"batch_shape": shape}, "module": "keras.layers",
                      "registered_name": None})


_WITH_VOCABULARY = ("IntegerLookup", "StringLookup", "TextVectorization")


def architecture_of(model: Any) -> str:
    """What model.to_json() writes, with the vocabularies that adapt() has learnt, which that leaves out."""
    written: str = model.to_json()
    if not any(name in written for name in _WITH_VOCABULARY):
        return written
    architecture = json.loads(written)
    _write_vocabularies(model, architecture["config"])
    return json.dumps(architecture)


def _write_vocabularies(model: Any, config: Dict[str, Any]) -> None:
    for entry in config.get("layers", []):
        inner = entry["config"]
        if entry["class_name"] in _WITH_VOCABULARY:
            tokens = model.get_layer(inner["name"]).get_vocabulary()
            inner["vocabulary"] = [token.item() if hasattr(token, "item") else token for token in tokens]
        elif "layers" in inner:
            _write_vocabularies(model.get_layer(inner["name"]), inner)


def split_weights(values: bytes, shapes: Sequence[Sequence[int]]) -> List[Any]:
    """The arrays of these shapes that lie one after the other in the bytes of a model's weights."""
    numbers = np.frombuffer(values, "<f4")
    sizes = [int(np.prod(shape)) for shape in shapes]
    if sum(sizes) != numbers.size:
        raise ValueError(f"the architecture has {sum(sizes)} weights, but {numbers.size} are stored")
    places = np.cumsum([0, *sizes])
    return [numbers[start:start + size].reshape(shape) for start, size, shape in zip(places, sizes, shapes)]


def _refuse_others(model: Dict[str, Any], known: Any) -> None:
    """ValueError where a layer is not one of Keras', such as those of auto_fit()'s networks: Keras calls them no saveable subclass."""
    for layer in model["config"].get("layers", []):
        if layer["class_name"] in _MODELS:
            _refuse_others(layer, known)
        elif layer["module"] == "keras.layers" and not hasattr(known, layer["class_name"]):
            raise ValueError(f'layer "{layer["config"].get("name")}" of class {layer["class_name"]} is none of Keras: save_model() writes'
                             " this model for ONNX (a file that ends in .onnx) and as source for PyTorch (.py, with its weights in"
                             " .safetensors)")


def keras_model(architecture: Any, weights: Optional[bytes], input_shape: Optional[Sequence[int]]) -> Any:
    """A model of Keras with its weights."""
    import keras

    completed = complete(architecture, input_shape)
    _refuse_others(completed, keras.layers)
    model = keras.models.model_from_json(json.dumps(completed))
    if weights is not None:
        model.set_weights(split_weights(weights, [weight.shape for weight in model.get_weights()]))
    return model
