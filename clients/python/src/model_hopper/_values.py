"""Python values as what the functions of hopper take: texts of parameters, arrays, bytes."""

from __future__ import annotations

import inspect
import json
import math
import numbers
import os
import re
from typing import Any, Dict, List, Mapping, Optional, Tuple


def is_array(value: Any) -> bool:
    """Whether it is an array of numpy or something that counts as one."""
    return hasattr(value, "__array__") and hasattr(value, "dtype") and getattr(value, "ndim", 0) > 0


def plain(value: Any) -> Any:
    """The value without numpy's, pandas' and torch's own types, so that it prints as Python prints it."""
    if value is None or type(value) in (str, bytes, bool, int, float):
        return value
    if type(value).__name__ in ("NAType", "NaTType"):  # pandas.NA, pandas.NaT
        return None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, range, set, frozenset)):
        items = [plain(item) for item in (sorted(value) if isinstance(value, (set, frozenset)) else value)]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind in ("m", "M") and hasattr(value, "astype"):
        return plain(value.astype(f"{kind}8[us]").tolist())  # Python's own; of nanoseconds it would be a number
    if hasattr(value, "dtype") and getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        # A float32 of 0.1 is to print as 0.1.
        return float(str(value)) if value.dtype.kind == "f" and value.dtype.itemsize < 8 else plain(value.item())
    if hasattr(value, "tolist"):
        if is_array(value) and value.dtype.kind == "f" and value.dtype.itemsize < 8:
            return [plain(item) for item in value]
        return plain(value.tolist())
    if isinstance(value, bool):
        return bool(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, type) or inspect.isroutine(value):
        return _of_keras(value)
    if callable(getattr(value, "get_config", None)):  # an optimizer, loss or metric
        return {"class_name": _of_keras(type(value)), "config": plain(value.get_config())}
    if any(base.__name__ == "Callback" for base in type(value).__mro__):
        known = {name: item for name, item in vars(value).items() if name in _OF_CALLBACKS}
        return {"class_name": type(value).__name__, "config": plain(known)}
    if hasattr(value, "__iter__"):
        return [plain(item) for item in value]
    return value


# Callbacks of Keras have no get_config(): which of their attributes are arguments.
_OF_CALLBACKS = ("monitor", "mode", "patience", "min_delta", "baseline", "start_from_epoch", "restore_best_weights", "factor",
                 "cooldown", "min_lr")


def _of_keras(code: Any) -> str:
    """The name of a class or function of Keras, by which the server has its own; TypeError for code of others."""
    name = str(code.__name__)
    if str(code.__module__).partition(".")[0] not in ("keras", "tf_keras", "tensorflow"):
        raise TypeError(f"{name} is Python code, which the server does not run: of losses and metrics it knows Keras' own, and"
                        " expressions, such as 'expr: mean(square(y - p))'")
    return name


def literal(value: Any) -> str:
    """A dictionary or list in Python's syntax, which hopper's parameters and grids are read in."""
    value = plain(value)
    _refuse_infinite(value)
    return repr(value)


def _refuse_infinite(value: Any) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} cannot be a parameter")
    if isinstance(value, Mapping):
        for item in value.values():
            _refuse_infinite(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _refuse_infinite(item)


def by_names(example: Any) -> Optional[Dict[str, Any]]:
    """One example as its values by name, where it has names: None for arrays, lists and bytes, which go by position."""
    if isinstance(example, Mapping):
        return {str(name): value for name, value in example.items()}
    if isinstance(example, tuple) and hasattr(example, "_asdict"):
        return by_names(example._asdict())
    if hasattr(example, "iloc") and hasattr(example, "columns"):  # a DataFrame
        if len(example) != 1:
            raise TypeError(f"one example is predicted, and this DataFrame has {len(example)}: give one row, frame.iloc[0],"
                            " or call predict()")
        return by_names(example.iloc[0])
    if not hasattr(example, "iloc") or not hasattr(example, "items"):
        return None
    if not all(isinstance(name, str) for name in example.index):  # a Series whose index counts
        return None
    doubled = example.index[example.index.duplicated()]
    if len(doubled):
        raise ValueError(f'"{doubled[0]}" is there twice')
    return {name: None if missing else value for name, value, missing in zip(example.index, example, example.isna())}


def _for_json(value: Any) -> Any:
    """One value, which the server reads by its column's type; ValueError where JSON has no word for it: bytes, infinity."""
    if is_array(value) and value.dtype == "uint8" and value.ndim > 1:
        raise ValueError("an image")
    value = plain(value)
    if isinstance(value, (list, tuple)):
        return [_for_json(item) for item in value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise ValueError("bytes")
    if isinstance(value, numbers.Number) and not isinstance(value, (int, float)):
        value = float(value)  # type: ignore[arg-type]
    if isinstance(value, float):
        if math.isinf(value):
            raise ValueError("infinity")
        # What is whole may be of a column of integers: a row of pandas has one type for all numbers.
        return None if math.isnan(value) else int(value) if value.is_integer() and abs(value) < 2**53 else value
    return value if value is None or isinstance(value, (int, str)) else str(value)


def as_json(example: Mapping[str, Any]) -> Optional[str]:
    """One example as a JSON object; None where JSON has no word for a value."""
    try:
        return json.dumps({name: _for_json(value) for name, value in example.items()})
    except ValueError:
        return None


def as_row(example: Any, argument: str) -> Tuple[str, List[Any]]:
    """One example as a row of SQL, and its parameters: values as JSON, which functions that take a row read by the columns' types."""
    named = by_names(example)
    if named is None:
        raise TypeError(f'argument "{argument}" must be one row with names: a row of pandas (frame.iloc[0]), a dictionary or a'
                        f" named tuple, not {type(example).__name__}")
    columns, parameters = [], []
    for name, value in named.items():
        try:
            sql_type, parameter = "jsonb", json.dumps(_for_json(value))
        except ValueError:
            sql_type, parameter = feature(value)
        columns.append(f"CAST(%s AS {sql_type}) AS {identifier(name).replace('%', '%%')}")
        parameters.append(parameter)
    return f"(SELECT r FROM (SELECT {', '.join(columns)}) AS r)", parameters


def feature(value: Any) -> Tuple[str, Any]:
    """SQL type and value of one column of an example: double precision holds every number that a model computes with."""
    if is_array(value) and value.dtype == "uint8" and value.ndim > 1:
        return "bytea", value.tobytes()  # an image, as write_table() stores it
    value = plain(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "bytea", bytes(value)
    if isinstance(value, list):
        return "double precision[]", json.dumps(value).replace("[", "{").replace("]", "}").replace("true", "1").replace("false", "0")
    if isinstance(value, tuple):
        return feature(list(value))
    try:
        return "double precision", None if value is None else float(value)
    except (TypeError, ValueError):
        return "text", str(value)  # of a column that is no feature, or the server says what it should be


def identifier(name: str) -> str:
    """A name in double quotes, which SQL takes as it is."""
    return '"' + name.replace('"', '""') + '"'


def names(value: Any) -> str:
    """A list of columns as one text: hopper's functions need quotes for capitals and special characters alone."""
    return ", ".join(name if re.fullmatch(r"[a-z_][a-z0-9_$]*", name) else identifier(name) for name in map(str, value))


def _is_names(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(item, str) for item in value)


def as_text(value: Any, argument: str) -> str:
    """For an argument of type text."""
    if isinstance(value, str):
        return value
    if argument.endswith("_table"):
        raise TypeError(f'argument "{argument}" must be the name of a table, not a value of type {type(value).__name__}'
                        + (": pack data with training_preprocessor() or validation_preprocessor() first"
                           if argument in ("packed_table", "validation_table") else
                           ": write_table() makes one" if argument == "source_table" else ""))
    if argument.endswith("varname") and (hasattr(value, "iloc") or is_array(value) and value.dtype.kind in "biuf"):
        raise TypeError(f'argument "{argument}" names columns of the data, and is none itself: put it into them, such as'
                        f" frame.assign(label=values), and give {argument}=\"label\"")
    if callable(getattr(value, "to_json", None)) and hasattr(value, "get_weights"):
        from ._keras import architecture_of

        return architecture_of(value)
    value = plain(value)
    if argument == "automl_params" and isinstance(value, Mapping):
        return ", ".join(f"{name}={literal(item)}" for name, item in value.items())
    if "param" in argument or "grid" in argument:
        return literal(value)
    if isinstance(value, Mapping):
        return json.dumps(value)
    if _is_names(value) or (isinstance(value, (list, tuple)) and argument.endswith("varname")):
        return names(value)
    if isinstance(value, (list, tuple)):
        return json.dumps(value)
    return str(value)


def as_bytes(value: Any) -> bytes:
    """For bytea: bytes as they are, arrays as what they hold, a list of arrays (weights) as float32."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if is_array(value):
        import numpy

        return bytes(numpy.ascontiguousarray(value).tobytes())
    if isinstance(value, (list, tuple)) and all(hasattr(item, "__array__") and hasattr(item, "dtype") for item in value):
        return weights_to_bytes(value)  # one of no axes among them, too: Normalization counts its examples
    raise TypeError(f"{type(value).__name__} cannot be bytes: give bytes, an array, or a list of arrays")


def weights_to_bytes(arrays: Any) -> bytes:
    """Weights, as model.get_weights() returns them, as load_model takes them."""
    import numpy

    return b"".join(numpy.ascontiguousarray(array, dtype="<f4").tobytes() for array in arrays)


def _as_number(value: Any, kind: Any, argument: str) -> Any:
    value = plain(value)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        return value
    if kind is int and isinstance(value, float) and not value.is_integer():
        raise TypeError(f'argument "{argument}" must be a whole number, not {value}')
    if isinstance(value, (int, float)):
        return kind(value)
    raise TypeError(f'argument "{argument}" must be a number, not {type(value).__name__}')


def _as_list(value: Any, argument: str) -> List[Any]:
    value = plain(value)
    return list(value) if isinstance(value, (list, tuple)) else [value]


_INTEGERS = ("integer", "bigint", "smallint")
_FLOATS = ("double precision", "real", "numeric")
_LENGTH = "hopper.pad_length"  # a number, "longest" or a dictionary of these
_PRED_TYPE = "hopper.pred_type"  # "prob", "response" or a number
_REPLACEMENT = "hopper.replacement"  # True, False or "rows"
_TEXTS = ("text", "hopper.text_or_json", "hopper.columns")
_LISTS = ("anyarray", "hopper.texts", "hopper.integers")
_UNTYPED = "hopper.untyped"  # of a function that says what is missing


def convert(value: Any, sql_type: str, argument: str) -> Any:
    """A value for a parameter of this type, as the drivers can send it."""
    if value is None:
        return None
    if sql_type in (*_TEXTS, _LENGTH):
        return as_text(value, argument)
    if sql_type in _INTEGERS:
        return _as_number(value, int, argument)
    if sql_type in _FLOATS:
        return _as_number(value, float, argument)
    if sql_type == "boolean":
        value = plain(value)
        if not isinstance(value, (bool, int, str)):
            raise TypeError(f'argument "{argument}" must be True or False, not {type(value).__name__}')
        return value if isinstance(value, str) else bool(value)
    if sql_type == "bytea":
        return as_bytes(value)
    if sql_type in ("json", "jsonb"):
        return value if isinstance(value, str) else json.dumps(plain(value))
    if sql_type.endswith("[]") or sql_type in _LISTS:
        return value if isinstance(value, str) else _as_list(value, argument)
    return plain(value)


def array_type(value: Any) -> str:
    """The SQL type of an array that is given for anyarray."""
    if is_array(value) and value.dtype.kind in "iub":
        return "bigint[]" if value.dtype.itemsize > 4 else "integer[]"
    if is_array(value) and value.dtype.itemsize > 4:
        return "double precision[]"
    return "real[]" if is_array(value) else "double precision[]"


def fitness(value: Any, sql_type: str) -> int:
    """How well a value suits a parameter of this type; 0 where not at all. Decides between overloads."""
    if sql_type == _UNTYPED:
        return 0
    if value is None or sql_type in (_LENGTH, _PRED_TYPE, _REPLACEMENT) or (sql_type in _TEXTS and hasattr(value, "columns")):  # a data frame
        return 1
    if isinstance(value, Mapping) or callable(getattr(value, "to_json", None)):
        return 3 if sql_type in _TEXTS else 2 if sql_type in ("json", "jsonb", "record") else 0
    if is_array(value) or isinstance(value, (list, tuple, range)):
        return 3 if sql_type.endswith("[]") or sql_type in _LISTS else 1
    value = plain(value)
    if isinstance(value, bool):
        return 3 if sql_type == "boolean" else 1 if sql_type in _TEXTS else 0
    if isinstance(value, int):
        return 3 if sql_type in _INTEGERS else 2 if sql_type in _FLOATS else 1 if sql_type not in _TEXTS else 0
    if isinstance(value, float):
        return 3 if sql_type in _FLOATS else 0
    if isinstance(value, (bytes, bytearray, memoryview)):
        return 3 if sql_type == "bytea" else 0
    return 3 if sql_type in _TEXTS else 2 if sql_type == "hopper.texts" else 1
