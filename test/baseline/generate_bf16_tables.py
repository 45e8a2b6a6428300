#!/usr/bin/env python3
"""Writes bf16.safetensors: rounding to bfloat16 and products of bfloat16 numbers, by NumPy.

    python3 -m venv venv
    venv/bin/pip install ml_dtypes numpy
    venv/bin/python test/baseline/generate_bf16_tables.py

    rounding    numbers, and the nearest bfloat16 by ml_dtypes; subnormal numbers count as zeros, as
                the instruction VCVTNEPS2BF16 takes them
    product/*   a [rows, segments, length] and b [segments, length, columns] as float32, bias, and
                the product of their bfloat16 roundings: float32 sums in the order k = 1, 0, 3, 2...
                of each segment, which is that of the instruction VDPBF16PS. A product of two
                bfloat16 numbers is exact in float32. c_tiles: the same in the order of TDPBF16PS,
                by chunks of pairs (src/kernels/bf16_tiles.h)
"""

import json
import os
import struct

import ml_dtypes
import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))


def rounded(x):
    with np.errstate(over="ignore"):
        y = x.astype(ml_dtypes.bfloat16).astype(np.float32)
    return np.where(np.abs(x) < np.float32(2.0**-126), np.copysign(np.float32(0), x), y)


def rounding_inputs(random):
    upper = random.integers(0, 2**16, 3000, dtype=np.uint32)
    # Exact, just below and above a tie, ties, and anything.
    lower = np.concatenate(
        [np.tile([0, 0x7FFF, 0x8000, 0x8001], 600), random.integers(0, 2**16, 600)]
    ).astype(np.uint32)
    bits = upper << 16 | lower
    special = [0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F7F7FFF,
               0x7F7F8000, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFFFFFFF]
    return np.concatenate([bits, np.array(special, np.uint32)]).view(np.float32)


def product(a, b, bias):
    rows, segments, length = a.shape
    columns = b.shape[2]
    a, b = rounded(a), rounded(b)
    c = np.broadcast_to(bias, (rows, columns)).astype(np.float32)
    for s in range(segments):
        for pair in range(0, length, 2):
            for k in (pair + 1, pair):
                if k < length:
                    c = c + a[:, s, k, None] * b[s, k]
    assert c.dtype == np.float32
    return c


def chunks(pairs):
    """(first, pairs) of the chunks that all segments begin with, and of the rest of each."""
    n = -(-pairs // 16)
    if pairs % n == 0:
        return [(i * (pairs // n), pairs // n) for i in range(n)], []
    whole = pairs // 16
    return [(i * 16, 16) for i in range(whole)], [(whole * 16, pairs - whole * 16)]


def tile_product(a, b, bias):
    rows, segments, length = a.shape
    columns = b.shape[2]
    a, b = rounded(a), rounded(b)
    c = np.broadcast_to(bias, (rows, columns)).astype(np.float32)
    for part in chunks((length + 1) // 2):
        for s in range(segments):
            for first, pairs in part:
                sums = np.zeros((2, rows, columns), np.float32)
                for k in range(2 * first, min(2 * (first + pairs), length)):
                    sums[k % 2] = sums[k % 2] + a[:, s, k, None] * b[s, k]
                c = c + (sums[0] + sums[1])
    assert c.dtype == np.float32
    return c


def main():
    random = np.random.default_rng(7)
    tensors = {}
    x = rounding_inputs(random)
    tensors["rounding/input"], tensors["rounding/output"] = x, rounded(x)
    cases = []
    for rows, columns, segments, length in [
        (1, 1, 1, 1), (5, 3, 1, 2), (7, 16, 1, 19), (13, 33, 1, 8), (6, 64, 3, 9), (15, 48, 5, 6),
        (29, 130, 1, 40), (4, 70, 3, 14), (9, 64, 1, 333), (3, 20, 40, 12),
        (35, 34, 4, 70), (17, 530, 1, 6),
    ]:
        name = f"product/{rows}x{columns}x{segments}x{length}"
        a = random.standard_normal((rows, segments, length)).astype(np.float32)
        b = random.standard_normal((segments, length, columns)).astype(np.float32)
        bias = random.standard_normal(columns).astype(np.float32)
        tensors |= {f"{name}/a": a, f"{name}/b": b, f"{name}/bias": bias,
                    f"{name}/c": product(a, b, bias),
                    f"{name}/c_tiles": tile_product(a, b, bias)}
        cases.append({"name": name, "rows": rows, "columns": columns, "segments": segments,
                      "length": length})
    header = {"__metadata__": {"cases": json.dumps(cases)}}
    data = b""
    for name, tensor in tensors.items():
        bytes_ = tensor.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(FOLDER, "bf16.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


if __name__ == "__main__":
    main()
