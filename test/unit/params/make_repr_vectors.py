#!/usr/bin/env python3
"""Prints repr_vectors.h: how Python reads and writes literals.

    python3 make_repr_vectors.py > repr_vectors.h

The numbers' and strings' texts are Python's own repr(); the calendar of cases is below.
"""
import random

random.seed(20)

REALS = ["0.001", "1e-3", ".5", "1.", "1e16", "123456789012345680.0", "0.0001", "0.00001", "1e-7",
         "-0.0", "3.141592653589793", "1e22", "2.5e-310", "1.7976931348623157e308", "100.0",
         "12345.678", "0.1", "1e15", "9007199254740993.0", "5e-324"]
REALS += [repr(random.uniform(-1, 1) * 10.0 ** random.randint(-12, 20)) for _ in range(200)]

STRINGS = [r"'adam'", r'"adam"', r"'it\'s'", r'"it\'s"', r"'a\"b\'c'", r"'tab\there'", r"'\x41\u00e9'",
           r"'\\'", r"'\d'", r"'line\nbreak'", r"'\x07'", r"u'x'"]


def c_string(text):
    out = ""
    for byte in text.encode():
        c = chr(byte)
        if c in "\\\"":
            out += "\\" + c
        elif 32 <= byte < 127:
            out += c
        else:
            out += f"\\{byte:03o}"
    return f'"{out}"'


print("// Made by make_repr_vectors.py; do not edit.")
print("#pragma once")
print()
print("struct ReprVector {")
print("  const char* source;")
print("  const char* repr;")
print("};")
print()
print("constexpr ReprVector kReprVectors[] = {")
for source in REALS + STRINGS:
    # Characters above ASCII are printable for PostgreSQL; none of the cases holds a control
    # character above 127, where Python's repr would differ.
    print(f"    {{{c_string(source)}, {c_string(repr(eval(source)))}}},")
print("};")
