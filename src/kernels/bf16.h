// Matrix products of bfloat16 operands with float32 sums, compiled for several instruction sets.
//
// A product of two bfloat16 numbers is exact in float32, and every set but AMX adds the products of
// an element of the result one by one in the same order: k = 1, 0, 3, 2, 5, 4... (the order of the
// processor's VDPBF16PS). So these give the same bits, but for subnormal numbers, which VDPBF16PS
// takes for zeros. AMX's instruction sums up a chunk of products before it adds them
// (bf16_tiles.h), in products where that is faster: a numerics class of its own.
//
// In all of them a row of the result has the same bits whichever rows and groups are asked for
// with it: threads that share a product share its rows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/product.h"
#include "kernels/kernels.h"

namespace hopper {

// The right operand is packed: panels of kBf16Panel columns, in each of them for every pair of
// neighbouring k the pairs (B[2k][j], B[2k + 1][j]) of its columns j, the lower k in the lower
// half. A row of pairs has Bf16Pitch() entries; those without a column are zero.
constexpr int64_t kBf16Panel = 64;

inline int64_t Bf16Pitch(int64_t columns) { return std::min(kBf16Panel, (columns + 15) / 16 * 16); }
// Entries (of four bytes) of a packed operand with so many rows of pairs.
inline int64_t Bf16PackedSize(int64_t columns, int64_t pairs) {
  return Product({(columns + kBf16Panel - 1) / kBf16Panel, pairs, Bf16Pitch(columns)});
}

// C[g][i][j] (+)= sum over s < segments, k < 2 * pairs of A[g][i][s][k] * B[s][k][j], then relu.
// A's pair k / 2 lies at a + g * a_group + i * a_row + s * a_segment + (k / 2) * a_pair, C's
// element at c + g * c_group + i * c_row + j. Strides count bfloat16 or float32 values; a pair of A
// may stand at any address of a bfloat16.
struct Bf16GemmArgs {
  int64_t groups = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t segments = 1;
  int64_t pairs = 0;
  const uint16_t* a = nullptr;
  int64_t a_group = 0;
  int64_t a_row = 0;
  int64_t a_segment = 0;
  int64_t a_pair = 2;
  const uint32_t* b = nullptr;  // packed: segment s begins s * pairs rows of pairs later
  int64_t b_panel = 0;          // entries from a panel to the next
  float* c = nullptr;
  int64_t c_group = 0;
  int64_t c_row = 0;
  bool accumulate = false;
  const float* bias = nullptr;  // a value for each column; null, or accumulate is false
  bool relu = false;
};

// Every function is a pure function of its arguments. Numbers are rounded as ToBf16() does.
struct Bf16Kernels {
  const char* name;
  bool native;  // the processor multiplies bfloat16 numbers itself
  bool tiles;   // sums are those of bf16_tiles.h where SumsInTiles()

  void (*gemm)(const Bf16GemmArgs& args);
  // y[i] = x[i] rounded
  void (*round)(const float* x, int64_t n, uint16_t* y);
  // out[k][j] = (x[2k][j], x[2k + 1][j]) for j < columns and zeros for columns <= j < fill; a row
  // that is missing for the last pair counts as zeros. x[i] lies at x + i * x_row, out[k] at
  // out + k * out_row.
  void (*pair_rows)(const float* x, int64_t x_row, int64_t rows, int64_t columns, int64_t fill,
                    int64_t out_row, uint32_t* out);
  void (*pair_rounded_rows)(const uint16_t* x, int64_t x_row, int64_t rows, int64_t columns,
                            int64_t fill, int64_t out_row, uint32_t* out);
  // out[k][j] = (x[j][2k], x[j][2k + 1]) for j < columns and zeros for columns <= j < fill; of an
  // odd length the last pair gets a zero.
  void (*pair_columns)(const uint16_t* x, int64_t x_row, int64_t length, int64_t columns,
                       int64_t fill, int64_t out_row, uint32_t* out);
};

// As KernelsHere() and KernelsFor().
const Bf16Kernels& Bf16KernelsHere();
const Bf16Kernels& Bf16KernelsFor(const char* capability);

// How many times as fast a matrix product is in bfloat16, with the rounding and packing of its
// operands, as in float32: the best of a few tries on the calling thread, some milliseconds.
double Bf16Gain(const Kernels& kernels, const Bf16Kernels& bf16);

// One for each instruction set; null where this build or processor has none.
const Bf16Kernels* BaselineBf16Kernels();
const Bf16Kernels* Avx2Bf16Kernels();
const Bf16Kernels* Avx512Bf16Kernels();
// Asks the system, once a process, for leave to use AMX's registers; null where it is refused.
const Bf16Kernels* AmxBf16Kernels();

}  // namespace hopper
