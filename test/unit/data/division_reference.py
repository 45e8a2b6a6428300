#!/usr/bin/env python3
"""Writes division_reference.h: numpy's float32 quotients of all uint8 values, as bits.

    python3 test/unit/data/division_reference.py > test/unit/data/division_reference.h
"""
import numpy as np

CONSTANTS = (255.0, 256.0, 3.7, 0.1)


def main():
    values = np.arange(256, dtype=np.uint8).astype(np.float32)
    print("// Written by division_reference.py with numpy; quotients as the bits of float32.")
    print("#pragma once\n\n#include <cstdint>\n")
    print("struct DivisionReference {\n  double constant;\n  uint32_t bits[256];\n};\n")
    print("// clang-format off")
    print("constexpr DivisionReference kDivisions[] = {")
    for constant in CONSTANTS:
        bits = (values / np.float32(constant)).view(np.uint32)
        print(f"    {{{constant!r}, {{")
        for at in range(0, 256, 8):
            print("        " + " ".join(f"0x{b:08x}," for b in bits[at:at + 8]))
        print("    }},")
    print("};\n// clang-format on")


main()
