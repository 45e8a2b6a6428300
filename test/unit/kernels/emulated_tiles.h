// AMX's tiles in plain C++, bit for bit (Intel's instruction set reference: TILELOADD, TILESTORED,
// TDPBF16PS), so that the product on tiles is tested on processors that have none.
#pragma once

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "base/bf16.h"
#include "kernels/bf16_tiles.h"

namespace hopper {

// The tiles of the calling thread. What a processor answers with a fault throws std::logic_error.
class EmulatedTiles {
 public:
  static void Configure(const TileConfig& config) {
    Check(config.palette == 1 && config.start_row == 0, "palette");
    State& state = Mine();
    state = {};
    for (int tile = 0; tile < 8; ++tile) {
      Check(config.rows[tile] <= 16 && config.row_bytes[tile] <= 64, "size");
      Check((config.rows[tile] == 0) == (config.row_bytes[tile] == 0), "size");
      state.tiles[tile].rows = config.rows[tile];
      state.tiles[tile].row_bytes = config.row_bytes[tile];
    }
  }
  static void Release() { Mine() = {}; }
  static bool InUse() { return Mine().tiles[0].rows > 0; }

  template <int kTile>
  static void Zero() {
    Tile& tile = Used(kTile);
    std::memset(tile.bytes, 0, sizeof(tile.bytes));
  }
  template <int kTile>
  static void Load(const void* from, int64_t stride) {
    Zero<kTile>();
    Tile& tile = Used(kTile);
    for (int i = 0; i < tile.rows; ++i) {
      std::memcpy(tile.bytes[i], static_cast<const char*>(from) + i * stride, tile.row_bytes);
    }
  }
  template <int kTile>
  static void Store(void* to, int64_t stride) {
    const Tile& tile = Used(kTile);
    for (int i = 0; i < tile.rows; ++i) {
      std::memcpy(static_cast<char*>(to) + i * stride, tile.bytes[i], tile.row_bytes);
    }
  }
  template <int kSum, int kLeft, int kRight>
  static void Multiply() {
    Tile& sums = Used(kSum);
    const Tile& left = Used(kLeft);
    const Tile& right = Used(kRight);
    Check(sums.rows == left.rows && sums.row_bytes == right.row_bytes, "sums");
    Check(right.rows * 4 == left.row_bytes, "pairs");
    for (int i = 0; i < sums.rows; ++i) {
      for (int j = 0; j < sums.row_bytes / 4; ++j) {
        float lower = 0.0F;
        float upper = 0.0F;
        for (int k = 0; k < right.rows; ++k) {
          lower = Fused(Number(left, i, 2 * k), Number(right, k, 2 * j), lower);
          upper = Fused(Number(left, i, 2 * k + 1), Number(right, k, 2 * j + 1), upper);
        }
        float sum;
        std::memcpy(&sum, sums.bytes[i] + 4 * j, sizeof(sum));
        sum = Fused(1.0F, Fused(1.0F, lower, upper), Normal(sum));
        std::memcpy(sums.bytes[i] + 4 * j, &sum, sizeof(sum));
      }
    }
  }

 private:
  struct Tile {
    int rows = 0;
    int row_bytes = 0;
    char bytes[16][64] = {};
  };
  struct State {
    Tile tiles[8];
  };

  static State& Mine() {
    thread_local State state;
    return state;
  }
  static Tile& Used(int tile) {
    Check(Mine().tiles[tile].rows > 0, "tile");
    return Mine().tiles[tile];
  }
  static void Check(bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
  }
  // Subnormal numbers count as zeros.
  static float Normal(float x) { return std::fabs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x; }
  static float Number(const Tile& tile, int row, int place) {
    uint16_t bits;
    std::memcpy(&bits, tile.bytes[row] + 2 * place, sizeof(bits));
    return Normal(FromBf16(bits));
  }
  // x * y + z, rounded once: the product is exact in double (of two numbers of 8 digits, or of one
  // and 1), and rounding a sum of two float32 numbers to double first changes nothing (Figueroa,
  // "When is double rounding innocuous?"). What is below the normal numbers after rounding is zero.
  static float Fused(float x, float y, float z) {
    const double sum = static_cast<double>(x) * static_cast<double>(y) + static_cast<double>(z);
    constexpr double kLeast = 0x1p-126 * (1 - 0x1p-25);  // rounds to the smallest normal number
    return std::fabs(sum) < kLeast ? static_cast<float>(std::copysign(0.0, sum))
                                   : static_cast<float>(sum);
  }
};

}  // namespace hopper
