// Packing for products of bfloat16 numbers.
#include "model/planned/planned_bf16.h"

#include <algorithm>

namespace hopper {
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
