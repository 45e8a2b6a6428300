// Packing for products of bfloat16 numbers.
#include "model/planned/planned_bf16.h"

#include <algorithm>

namespace hopper {

bool RoundsOperands(const PlanNode& node, int64_t rows, int64_t columns, int64_t length) {
  if (node.bf16 == nullptr) return false;
  if (node.bf16_everywhere) return true;
  // Measured with AMX: below these a dense layer's step took longer than in float32. Weights are
  // packed in each step, which few rows do not pay for; least of all where there are few columns,
  // to which panels of 16 are filled up. Without tiles products gain less.
  constexpr int64_t kTerms = 8;
  constexpr int64_t kOperations = 16 * 1024;
  constexpr int64_t kFewRows = 16;
  constexpr int64_t kFewColumns = 32;
  constexpr int64_t kManyRows = 1024;
  const int64_t weights = node.bf16->tiles || rows >= kManyRows ? 512 : 4096;
  return length >= kTerms && (rows >= kFewRows || columns >= kFewColumns) &&
         Product({length, columns}) >= weights && Product({rows, length, columns}) >= kOperations;
}
namespace {

// Calls pack(j, n, fill, to) for the columns j .. j + n of each panel.
template <typename Pack>
void ForPanels(int64_t columns, int64_t first, int64_t pairs, uint32_t* packed, const Pack& pack) {
  const int64_t pitch = Bf16Pitch(columns);
  for (int64_t j = 0; j < columns; j += kBf16Panel, packed += pairs * pitch) {
    pack(j, std::min(kBf16Panel, columns - j), pitch, packed + first * pitch);
  }
}

}  // namespace

void PackRows(const Bf16Kernels& kernels, const float* x, int64_t x_row, int64_t rows,
              int64_t columns, int64_t first, int64_t pairs, uint32_t* packed) {
  ForPanels(columns, first, pairs, packed, [&](int64_t j, int64_t n, int64_t pitch, uint32_t* to) {
    kernels.pair_rows(x + j, x_row, rows, n, pitch, pitch, to);
  });
}

void PackRoundedRows(const Bf16Kernels& kernels, const uint16_t* x, int64_t x_row, int64_t rows,
                     int64_t columns, int64_t first, int64_t pairs, uint32_t* packed) {
  ForPanels(columns, first, pairs, packed, [&](int64_t j, int64_t n, int64_t pitch, uint32_t* to) {
    kernels.pair_rounded_rows(x + j, x_row, rows, n, pitch, pitch, to);
  });
}

void PackColumns(const Bf16Kernels& kernels, const uint16_t* x, int64_t x_row, int64_t length,
                 int64_t columns, int64_t first, int64_t pairs, uint32_t* packed) {
  ForPanels(columns, first, pairs, packed, [&](int64_t j, int64_t n, int64_t pitch, uint32_t* to) {
    kernels.pair_columns(x + j * x_row, x_row, length, n, pitch, pitch, to);
  });
}

void RoundRows(const Bf16Kernels& kernels, const float* x, int64_t rows, int64_t length,
               uint16_t* y) {
  if (length % 2 == 0) return kernels.round(x, rows * length, y);
  for (int64_t i = 0; i < rows; ++i, x += length, y += length + 1) {
    kernels.round(x, length, y);
    y[length] = 0;
  }
}

}  // namespace hopper
