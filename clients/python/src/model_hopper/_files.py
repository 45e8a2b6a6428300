"""Models in files: Keras' .keras, .h5 and .weights.h5, and .safetensors."""

from __future__ import annotations

import io
import json
import pathlib
import re
import struct
import zipfile
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

import numpy as np

Path = Union[str, "pathlib.PurePath"]
# Where Keras 3 keeps the weights of layers that consist of layers, in the order of get_weights().
_PARTS = {
    **dict.fromkeys(("LSTM", "GRU", "SimpleRNN", "ConvLSTM1D", "ConvLSTM2D"), ("cell",)),
    **dict.fromkeys(("MultiHeadAttention", "GroupQueryAttention"),
                    ("query_dense", "key_dense", "value_dense", "output_dense")),
}
# Classes that have another name within Keras.
_WRITTEN = {"model": "functional", "group_query_attention": "grouped_query_attention"}
_WRAPPERS = {"Bidirectional": ("forward_layer", "backward_layer"), "TimeDistributed": ("layer",)}


class ModelFile(NamedTuple):
    """An architecture as JSON, where the file has one, and a .safetensors file of its weights."""

    architecture: Optional[str]
    weights: bytes


def read_model(path: Path, architecture: Optional[str] = None) -> ModelFile:
    """architecture: of a file that has weights only."""
    name = pathlib.PurePath(path).name
    if name.endswith(".safetensors"):
        return _read_safetensors(pathlib.Path(path).read_bytes(), architecture, name)
    if name.endswith(".keras"):
        return _read_keras(path, name)
    if name.endswith((".h5", ".hdf5")):
        return _read_hdf5(path, architecture, name)
    raise ValueError(f"{name} is no file of a model: its name ends in .keras, .h5, .weights.h5 or .safetensors")


def safetensors_bytes(tensors: List[Tuple[str, Any]]) -> bytes:
    """A .safetensors file of these arrays, in their order."""
    header: Dict[str, Any] = {}
    place = 0
    arrays = [np.asarray(array, "<f4", order="C") for _, array in tensors]  # scalars stay scalars
    for (name, _), array in zip(tensors, arrays):
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [place, place + array.nbytes]}
        place += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *(array.tobytes() for array in arrays)])


def _read_safetensors(content: bytes, architecture: Optional[str], name: str) -> ModelFile:
    if architecture is None:
        try:
            size = struct.unpack("<Q", content[:8])[0]
            architecture = json.loads(content[8:8 + size])["__metadata__"]["model_arch"]
        except (KeyError, TypeError, ValueError, struct.error):
            raise ValueError(f"{name} says nothing of an architecture: give model_arch") from None
    return ModelFile(architecture, content)


def _hdf5(source: Any, name: str) -> Any:
    try:
        import h5py
    except ImportError:
        raise ImportError(f"reading {name} needs the package h5py: pip install h5py") from None
    try:
        return h5py.File(source, "r")
    except OSError as error:
        raise ValueError(f"{name} is not an HDF5 file: {error}") from None


def _read_keras(path: Path, name: str) -> ModelFile:
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile:
        raise ValueError(f"{name} is not an archive as Keras 3 writes it") from None
    with archive:
        missing = {"config.json", "model.weights.h5"} - set(archive.namelist())
        if missing:
            raise ValueError(f"{name} has no {', '.join(sorted(missing))}")
        architecture = archive.read("config.json").decode()
        content = io.BytesIO(archive.read("model.weights.h5"))
    with _hdf5(content, name) as file:
        return ModelFile(architecture, safetensors_bytes(list(_of_keras_3(file, json.loads(architecture), name))))


def _read_hdf5(path: Path, architecture: Optional[str], name: str) -> ModelFile:
    with _hdf5(path, name) as file:
        written = _text(file.attrs["model_config"]) if "model_config" in file.attrs else None
        architecture = written if architecture is None else architecture
        if architecture is None:
            raise ValueError(f"{name} has weights only: give model_arch")
        model = json.loads(architecture)
        root = file["model_weights"] if "model_weights" in file else file
        tensors = _of_keras_2 if "layer_names" in root.attrs else _of_keras_3
        return ModelFile(architecture, safetensors_bytes(list(tensors(root, model, name))))


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _layers(model: Dict[str, Any]) -> List[Dict[str, Any]]:
    config = model.get("config", {})
    return list(config if isinstance(config, list) else config.get("layers", []))


def _is_model(layer: Dict[str, Any]) -> bool:
    return bool(_layers(layer))


def _name(layer: Dict[str, Any]) -> str:
    return str(layer.get("config", {}).get("name") or layer.get("name") or "")


# ---------------------------------------------------------------- Keras 3

def _snake(class_name: str) -> str:
    """keras.src.utils.naming.to_snake_case"""
    name = re.sub(r"\W+", "", class_name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def _of_keras_3(group: Any, model: Dict[str, Any], file: str) -> Iterator[Tuple[str, Any]]:
    if "layers" not in group:
        raise ValueError(f"{file} has no weights of layers at {group.name}")
    stored = group["layers"]
    # Newer files say the layers' own names; all name groups by class, and count.
    by_name = {_text(part["vars"].attrs["name"]): part for part in stored.values()
               if "vars" in part and "name" in part["vars"].attrs}
    layers = _layers(model)
    own = {_name(layer) for layer in layers}
    if not set(by_name) <= own:
        by_name = {}
    counts: Dict[str, int] = {}
    for layer in layers:
        kind = _snake(layer["class_name"].rpartition(">")[2])
        kind = _WRITTEN.get(kind, kind)
        counts[kind] = counts.get(kind, -1) + 1
        place = f"{kind}_{counts[kind]}" if counts[kind] else kind
        part = by_name.get(_name(layer)) if by_name else stored.get(place)
        if part is not None:
            yield from _of_layer(part, layer, file)


def _of_layer(group: Any, layer: Dict[str, Any], file: str) -> Iterator[Tuple[str, Any]]:
    if _is_model(layer):
        yield from _of_keras_3(group, layer, file)
        return
    kind = layer["class_name"].rpartition(">")[2]
    if kind == "SpectralNormalization":  # its kernel is that of the layer inside
        yield from _variables(group)
        yield from list(_variables(_part(group, "layer", layer, file)))[1:]
        return
    for part in _WRAPPERS.get(kind, ()):
        inner = layer["config"].get(part) or layer["config"]["layer"]
        yield from _of_layer(_part(group, part, layer, file), inner, file)
    for part in _PARTS.get(kind, ()):
        yield from _variables(_part(group, part, layer, file))
    if kind not in _WRAPPERS and kind not in _PARTS:
        yield from _variables(group)


def _part(group: Any, name: str, layer: Dict[str, Any], file: str) -> Any:
    for known in (name, f"_{name}"):
        if known in group:
            return group[known]
    raise ValueError(f'{file} has no {group.name}/{name} for layer "{_name(layer)}" of class {layer["class_name"]}')


def _variables(group: Any) -> Iterator[Tuple[str, Any]]:
    variables = group["vars"] if "vars" in group else {}
    for place in sorted(variables, key=int):
        yield f"{group.name}/vars/{place}", variables[place][()]


# ---------------------------------------------------------------- Keras 2

def _of_keras_2(group: Any, model: Dict[str, Any], file: str) -> Iterator[Tuple[str, Any]]:
    layers = {_name(layer): layer for layer in _layers(model)}
    for name in map(_text, group.attrs["layer_names"]):
        part = group[name]
        paths = [_text(path) for path in part.attrs["weight_names"]]
        for path in _in_order(_vector_second(paths), layers.get(name)):
            yield f"{part.name}/{path}", part[path][()]


def _vector_second(paths: List[str]) -> List[str]:
    """In Keras 3 a SpectralNormalization has its vector behind the kernel, but not in .h5 files."""
    vectors = [path for path in paths if path.endswith("/vector_u")]
    if len(vectors) != 1:
        return paths
    others = [path for path in paths if path not in vectors]
    return others[:1] + vectors + others[1:]


def _in_order(paths: List[str], layer: Optional[Dict[str, Any]]) -> List[str]:
    """A nested model's weights, of which those that are trained come first, layer by layer."""
    if layer is None or not _is_model(layer):
        return paths
    ordered: List[str] = []
    for inner in _layers(layer):
        ordered += _in_order([path for path in paths if _name(inner) in path.split("/")[:-1]], inner)
    return ordered if sorted(ordered) == sorted(paths) else paths
