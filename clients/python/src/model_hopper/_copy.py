"""Arrays and data frames as the bytes of COPY ... (FORMAT binary)."""

from __future__ import annotations

import datetime
import decimal
import itertools
import struct
import uuid
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ._values import is_array

HEADER = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0)
TRAILER = struct.pack(">h", -1)
NULL = struct.pack(">i", -1)
CHUNK_BYTES = 4 << 20
_EPOCH = np.datetime64("2000-01-01", "us")
_FIRST_DAY = datetime.date(2000, 1, 1).toordinal()
_INT8_LIMIT = 1 << 63

# SQL type: its OID and the form of its bytes
_SCALARS = {
    "boolean": (16, "?"), "smallint": (21, ">i2"), "integer": (23, ">i4"), "bigint": (20, ">i8"),
    "real": (700, ">f4"), "double precision": (701, ">f8"),
    "timestamp": (1114, ">i8"), "timestamp with time zone": (1184, ">i8"), "date": (1082, ">i4"), "time": (1083, ">i8"),
    "interval": (1186, ">i8,>i4,>i4"),  # microseconds, days and months
}
_OF_NUMPY = {
    "b1": "boolean", "i1": "smallint", "u1": "smallint", "i2": "smallint", "u2": "integer", "i4": "integer",
    "u4": "bigint", "i8": "bigint", "u8": "bigint", "f2": "real", "f4": "real", "f8": "double precision",
    "f16": "double precision",
}


class Column(NamedTuple):
    """A column as it is to be written."""

    name: str
    sql_type: str
    values: Any  # an array of numbers, one more axis for arrays and bytea; a list for text, bytea, numeric and uuid
    missing: Any = None  # where it is NULL, or None
    shape: Tuple[int, ...] = ()  # of one example

    @property
    def is_fixed(self) -> bool:
        """Whether all its values take the same number of bytes."""
        return isinstance(self.values, np.ndarray) and self.missing is None

    @property
    def n_rows(self) -> int:
        """How many values."""
        return len(self.values)


def _head(shape: Sequence[int], oid: int, size: int) -> bytes:
    """Of an array's field: its length, and what comes before the elements, of `size` bytes each."""
    dimensions = b"".join(struct.pack(">ii", extent, 1) for extent in shape)
    return struct.pack(">iiii", 12 + len(dimensions) + int(np.prod(shape)) * (4 + size), len(shape), 0, oid) + dimensions


def _field(column: Column) -> Tuple[List[Tuple[Any, ...]], Dict[str, Any]]:
    """Fields of a row for a column of numbers: numpy's description, and what is the same in all rows."""
    name = column.name
    if column.sql_type == "bytea":
        size = int(np.prod(column.shape))
        return [(f"{name} length", ">i4"), (name, "u1", column.values.shape[1:])], {f"{name} length": size}
    base = column.sql_type[:-2] if column.sql_type.endswith("[]") else column.sql_type
    oid, form = _SCALARS[base]
    size = np.dtype(form).itemsize
    if base == column.sql_type:
        return [(f"{name} length", ">i4"), (name, form)], {f"{name} length": size}
    count = int(np.prod(column.shape))
    head = _head(column.shape, oid, size)
    return ([(f"{name} head", "u1", (len(head),)), (name, [("length", ">i4"), ("value", form)], (count,))],
            {f"{name} head": np.frombuffer(head, "u1")})


def _rows(columns: Sequence[Column], start: int, end: int, count: Optional[int]) -> Any:
    """Rows of some columns of numbers as one array of bytes; with the number of fields where it is given."""
    description: List[Tuple[Any, ...]] = [] if count is None else [("fields", ">i2")]
    constants: Dict[str, Any] = {} if count is None else {"fields": count}
    for column in columns:
        fields, same = _field(column)
        description += fields
        constants.update(same)
    rows = np.empty(end - start, np.dtype(description))
    for name, value in constants.items():
        rows[name] = value
    for column in columns:
        values = column.values[start:end]
        if column.sql_type.endswith("[]"):
            rows[column.name]["length"] = rows.dtype[column.name].base["value"].itemsize
            rows[column.name]["value"] = values.reshape(end - start, -1)
        else:
            rows[column.name] = values
    return rows


def _cut(rows: Any) -> List[bytes]:
    width, data = rows.dtype.itemsize, rows.tobytes()
    return [data[place:place + width] for place in range(0, len(data), width)]


def _cells(column: Column, start: int, end: int) -> List[bytes]:
    """The fields of a column whose values are of different lengths, or missing."""
    if isinstance(column.values, np.ndarray):
        cells = _cut(_rows([column], start, end, None))
        return [NULL if missing else cell for cell, missing in zip(cells, column.missing[start:end])]
    pack = struct.Struct(">i").pack
    return [NULL if value is None else pack(len(value)) + value for value in column.values[start:end]]


def _width(column: Column) -> int:
    if isinstance(column.values, np.ndarray):
        return 8 + 2 * int(column.values.nbytes // max(1, column.n_rows))
    sample = [len(value) for value in column.values[:1000] if value is not None]
    return 8 + (sum(sample) // len(sample) if sample else 0)


def encode(columns: Sequence[Column]) -> Iterator[bytes]:
    """The bytes for COPY, a few megabytes at a time."""
    yield HEADER
    n_rows = columns[0].n_rows
    step = max(1, CHUNK_BYTES // (2 + sum(map(_width, columns))))
    for start in range(0, n_rows, step):
        end = min(n_rows, start + step)
        parts: List[List[bytes]] = []
        groups = [(fixed, list(group)) for fixed, group in itertools.groupby(columns, lambda c: c.is_fixed)]
        if len(groups) == 1 and groups[0][0]:
            yield _rows(columns, start, end, len(columns)).tobytes()
            continue
        if not groups[0][0]:
            parts.append([struct.pack(">h", len(columns))] * (end - start))
        for place, (fixed, group) in enumerate(groups):
            if fixed:
                parts.append(_cut(_rows(group, start, end, len(columns) if place == 0 else None)))
            else:
                parts += [_cells(column, start, end) for column in group]
        yield b"".join(itertools.chain.from_iterable(zip(*parts)))
    yield TRAILER


# ---------------------------------------------------------------- columns from what people have

def _type_of(name: str, values: Any) -> Tuple[str, str]:
    """numpy's code of these numbers, and their SQL type."""
    code = f"{values.dtype.kind}{values.dtype.itemsize}"
    if code not in _OF_NUMPY:
        raise TypeError(f'column "{name}": values of {values.dtype} cannot be written')
    if code == "u8" and values.size and int(values.max()) >= _INT8_LIMIT:
        raise ValueError(f'column "{name}" holds {values.max()}, which is too large for bigint')
    return code, _OF_NUMPY[code]


def _intervals(spans: Any) -> Any:
    """Spans of time as days and what is left of a day, as datetime.timedelta has them."""
    intervals: Any = np.zeros(len(spans), _SCALARS["interval"][1])
    intervals["f1"], intervals["f0"] = np.divmod(spans.astype("timedelta64[us]").astype("i8"), 86_400_000_000)
    return intervals


def _numbers(name: str, values: Any, missing: Any = None) -> Column:
    """An array of numbers, one example in each place of the first axis."""
    if values.dtype.kind in "mM" and values.ndim == 1:
        missing = np.isnat(values) if missing is None else missing | np.isnat(values)
        missing = missing if missing.any() else None
        if values.dtype.kind == "m":
            return Column(name, "interval", _intervals(values), missing)
        return Column(name, "timestamp", (values.astype("datetime64[us]") - _EPOCH).astype("i8"), missing)
    code, sql_type = _type_of(name, values)
    if missing is not None and not missing.any():
        missing = None
    if values.ndim == 1:
        return Column(name, sql_type, values, missing)
    shape = tuple(int(extent) for extent in values.shape[1:])
    if 0 in shape:
        raise ValueError(f'column "{name}" has examples of shape {shape}, without a value')
    if code == "u1":
        return Column(name, "bytea", values, missing, shape)
    return Column(name, sql_type + "[]", values, missing, shape)


def _sequences(name: str, arrays: Sequence[Any]) -> Column:
    """Arrays of numbers that differ in the length of their first axis, None where there is none."""
    filled = [array for array in arrays if array is not None and array.size]
    if len({array.shape[1:] for array in filled}) != 1:
        raise ValueError(f'column "{name}" holds arrays of different shapes: they may differ in the length of their'
                         " first axis only")
    sql_type = _type_of(name, np.concatenate(filled))[1]
    oid, form = _SCALARS[sql_type]
    element: Any = np.dtype([("length", ">i4"), ("value", form)])
    cells: List[Optional[bytes]] = []
    for array in arrays:
        if array is None:
            cells.append(None)
            continue
        elements: Any = np.empty(array.size, element)
        elements["length"] = element["value"].itemsize
        elements["value"] = array.reshape(-1)
        head = _head(array.shape if array.size else (), oid, element["value"].itemsize)
        cells.append(head[4:] + elements.tobytes())  # encode() writes the length of what is in a list
    return Column(name, sql_type + "[]", cells)


def _numeric(value: decimal.Decimal) -> bytes:
    """A finite number as the server sends it: digits to the base of 10,000, and where the point is."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)) + "0" * max(exponent, 0)
    scale = max(-exponent, 0)
    text = text.rjust(scale + 1, "0")
    whole, fraction = text[:len(text) - scale], text[len(text) - scale:]
    whole = whole.rjust(-(-len(whole) // 4) * 4, "0")
    fraction = fraction.ljust(-(-len(fraction) // 4) * 4, "0")
    groups = [int((whole + fraction)[place:place + 4]) for place in range(0, len(whole + fraction), 4)]
    return struct.pack(f">hhHh{len(groups)}h", len(groups), len(whole) // 4 - 1, 0x4000 * sign, scale, *groups)


def _objects(name: str, values: Sequence[Any]) -> Column:
    """A list of Python's values, None or NaN where there is none."""
    cells: List[Any] = [_Shaped(value) if is_array(value) else None if value is None or value != value else value
                        for value in values]
    present = [cell for cell in cells if cell is not None]
    kinds = {type(cell) for cell in present}
    missing = np.array([cell is None for cell in cells], bool)

    def filled(default: Any) -> List[Any]:
        return [default if cell is None else cell for cell in cells]

    if all(issubclass(kind, str) for kind in kinds):
        return Column(name, "text", [None if cell is None else cell.encode() for cell in cells])
    if all(issubclass(kind, (bytes, bytearray, memoryview)) for kind in kinds):
        return Column(name, "bytea", [None if cell is None else bytes(cell) for cell in cells])
    if kinds <= {_Shaped} or all(issubclass(kind, (list, tuple)) for kind in kinds):
        arrays = [cell.array if isinstance(cell, _Shaped) else np.asarray(cell) for cell in present]
        if len({array.shape for array in arrays}) > 1:
            found = iter(arrays)
            return _sequences(name, [None if cell is None else next(found) for cell in cells])
        stacked = np.zeros((len(cells), *arrays[0].shape), np.result_type(*arrays))
        stacked[~missing] = arrays
        return _numbers(name, stacked, missing)
    if all(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        return _numbers(name, np.array(filled(False), "?"), missing)
    if all(issubclass(kind, (datetime.timedelta, np.timedelta64)) for kind in kinds):  # numpy's is an integer, too
        return _numbers(name, np.array([np.timedelta64("NaT" if cell is None else cell, "us") for cell in cells]))
    if all(issubclass(kind, (int, np.integer)) for kind in kinds):
        try:
            return _numbers(name, np.array(filled(0), "i8"), missing)
        except OverflowError:
            raise ValueError(f'column "{name}" holds a number that is too large for bigint') from None
    if all(issubclass(kind, datetime.date) and not issubclass(kind, datetime.datetime) for kind in kinds):
        days = [0 if cell is None else cell.toordinal() - _FIRST_DAY for cell in cells]
        return Column(name, "date", np.array(days, "i4"), missing if missing.any() else None)
    if all(issubclass(kind, datetime.time) for kind in kinds) and not any(cell.tzinfo for cell in present):
        parts = [(0, 0, 0, 0) if cell is None else (cell.hour, cell.minute, cell.second, cell.microsecond) for cell in cells]
        return Column(name, "time", np.array(parts, "i8") @ [3_600_000_000, 60_000_000, 1_000_000, 1],
                      missing if missing.any() else None)
    if all(issubclass(kind, uuid.UUID) for kind in kinds):
        return Column(name, "uuid", [None if cell is None else cell.bytes for cell in cells])
    if all(isinstance(cell, decimal.Decimal) and cell.is_finite() for cell in present):
        return Column(name, "numeric", [None if cell is None else _numeric(cell) for cell in cells])
    if all(issubclass(kind, (datetime.datetime, datetime.date, np.datetime64)) for kind in kinds):
        times = [np.datetime64("NaT" if cell is None else cell, "us") for cell in cells]
        return _numbers(name, np.array(times, "datetime64[us]"))
    try:
        return _numbers(name, np.array([float(cell) for cell in filled(0)], "f8"), missing)
    except (TypeError, ValueError):
        kinds_text = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(f'column "{name}" holds values of type {kinds_text}: write numbers, text, bytes, dates,'
                        " times or arrays of one shape") from None


class _Shaped:
    """An array that is one value of a column."""

    def __init__(self, array: Any) -> None:
        self.array = array


def _series(name: str, series: Any) -> Column:
    """A column of pandas, whose NaN means missing."""
    missing = series.isna().to_numpy()
    arrow = str(getattr(series.dtype, "pyarrow_dtype", ""))
    if arrow.startswith("date"):
        return _objects(name, series.astype(object).where(~series.isna(), None).tolist())
    if arrow.startswith("timestamp") and "tz=" in arrow:
        series = series.dt.tz_convert("UTC").astype("datetime64[us, UTC]")
    dtype = series.dtype
    if getattr(dtype, "tz", None) is not None:
        column = _numbers(name, series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy(), missing)
        return column._replace(sql_type="timestamp with time zone")
    plain = getattr(dtype, "numpy_dtype", dtype)
    if isinstance(plain, np.dtype) and plain.kind in "iufbmM":
        if plain.kind in "mM" or not missing.any():
            return _numbers(name, series.to_numpy(plain), missing)
        return _numbers(name, series.fillna(False if plain.kind == "b" else 0).to_numpy(plain), missing)
    return _objects(name, series.astype(object).where(~series.isna(), None).tolist())


def _pandas(data: Any) -> Any:
    """A table of polars or pyarrow as a data frame of pandas, in which whole numbers stay what they are beside missing ones."""
    library = type(data).__module__.partition(".")[0]
    if library == "polars" and hasattr(data, "get_columns"):
        return data.to_pandas(use_pyarrow_extension_array=True)
    if library == "pyarrow" and hasattr(data, "column_names"):
        import pandas

        return data.to_pandas(types_mapper=pandas.ArrowDtype)
    return data


def columns_of(data: Any, left_out: Optional[Dict[str, Exception]] = None) -> List[Column]:
    """The columns of a data frame, of a dictionary of arrays and lists, or of a structured array.

    With left_out, columns that cannot be written are put there, with the reason, as long as others can.
    """
    given: List[Tuple[str, Any]]
    make: Callable[[str, Any], Column] = _any
    data = _pandas(data)
    if hasattr(data, "columns") and hasattr(data, "iloc"):
        doubled = [str(name) for name in data.columns[data.columns.duplicated()]]
        if doubled:
            raise ValueError(f'column "{doubled[0]}" is there twice')
        given = [(str(name), data[name]) for name in data.columns]
        make = _series
    elif isinstance(data, Mapping):
        given = [(str(name), values) for name, values in data.items()]
    elif is_array(data) and data.dtype.names:
        given = [(name, data[name]) for name in data.dtype.names]
    else:
        raise TypeError(f"{type(data).__name__} is not a table: give a DataFrame, or a dictionary of columns, such as"
                        " {'label': labels, 'pixels': images}")
    columns: List[Column] = []
    for name, values in given:
        try:
            columns.append(make(name, values))
        except (TypeError, ValueError) as reason:
            if left_out is None:
                raise
            left_out[name] = reason
    if not columns and left_out:
        raise next(iter(left_out.values()))
    if not columns:
        raise ValueError("a table without columns cannot be written")
    lengths = {column.name: column.n_rows for column in columns}
    if len(set(lengths.values())) > 1:
        raise ValueError("the columns have different lengths: " +
                         ", ".join(f'"{name}" {length}' for name, length in lengths.items()))
    return columns


def untyped(data: Any) -> List[str]:
    """The columns of None alone, which are written as text."""
    return [column.name for column in columns_of(data, {})
            if column.sql_type == "text" and column.n_rows > 0 and all(value is None for value in column.values)]


def _any(name: str, values: Any) -> Column:
    if hasattr(values, "isna") and hasattr(values, "iloc"):
        return _series(name, values)
    if callable(getattr(values, "detach", None)):  # a tensor of torch
        values = values.detach().cpu().numpy()
    if not is_array(values):
        values = list(values)
        return _objects(name, values)
    array = np.asarray(values)
    if array.dtype.kind in "OSU":
        return _objects(name, array.tolist())
    return _numbers(name, array)


# ---------------------------------------------------------------- images

_SUFFIXES = {".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"}


def images_of(folder: Any, size: Optional[Tuple[int, int]], mode: str) -> Dict[str, Any]:
    """The images below a folder: path, label (the folder they lie in, where there are such) and bytes.

    They are in order of their paths, height x width x channels; size is (height, width).
    """
    import concurrent.futures
    import pathlib

    from PIL import Image

    root = pathlib.Path(folder)
    paths = sorted(path for path in root.rglob("*") if path.suffix.lower() in _SUFFIXES and path.is_file())
    if not paths:
        raise ValueError(f"there are no images in {root}")

    def read(path: pathlib.Path) -> Any:
        try:
            with Image.open(path) as image:
                converted = image.convert(mode)
                if size is not None:
                    converted = converted.resize((size[1], size[0]), Image.Resampling.BILINEAR)
                return np.asarray(converted)
        except (OSError, SyntaxError) as error:
            raise ValueError(f"{path} cannot be read as an image: {error}") from error

    with concurrent.futures.ThreadPoolExecutor() as pool:  # decoding lets other threads run
        images = list(pool.map(read, paths))
    sizes = sorted({image.shape[:2] for image in images})
    if len(sizes) > 1:
        raise ValueError("the images have different sizes, give size=(height, width): " +
                         ", ".join(f"{height} x {width}" for height, width in sizes[:5]))
    stacked = np.stack(images)
    if stacked.ndim == 3:
        stacked = stacked[..., None]
    relative = [path.relative_to(root) for path in paths]
    data: Dict[str, Any] = {"path": [str(path) for path in relative]}
    if any(len(path.parts) > 1 for path in relative):
        data["label"] = [path.parts[0] if len(path.parts) > 1 else None for path in relative]
    data["image"] = stacked
    return data
