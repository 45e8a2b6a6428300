#!/usr/bin/env python3
"""Prints hash_vectors.h: XXH3 128 digests by the Python package xxhash, an independent binding.

    python3 make_hash_vectors.py > hash_vectors.h
"""
import xxhash

LENGTHS = [0, 1, 3, 4, 8, 9, 16, 17, 64, 128, 129, 240, 241, 256, 1024, 1025, 5000]
SEEDS = [0, 1, 0x9E3779B185EBCA87]


def message(n):
    """Byte i is (131 * i + 7) mod 251, as the test computes it."""
    return bytes((131 * i + 7) % 251 for i in range(n))


print("// Made by make_hash_vectors.py; do not edit.")
print("#pragma once")
print()
print("#include <cstddef>")
print("#include <cstdint>")
print()
print("struct HashVector {")
print("  size_t length;")
print("  uint64_t seed;")
print("  const char* hex;")
print("};")
print()
print("constexpr HashVector kHashVectors[] = {")
for n in LENGTHS:
    for seed in SEEDS:
        print(f'    {{{n}, {seed:#x}u, "{xxhash.xxh3_128_hexdigest(message(n), seed)}"}},')
print("};")
