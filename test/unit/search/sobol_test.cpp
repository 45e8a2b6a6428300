#include "search/sobol.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "search/baseline.h"

namespace hopper {
namespace {

TEST(Sobol, IsScipys) {
  const nlohmann::json& table = SearchBaseline()["sobol"];
  for (size_t column = 0; column < table["columns"].size(); ++column) {
    const size_t dimension = table["columns"][column];
    for (uint32_t i = 0; i < table["points"].size(); ++i) {
      EXPECT_EQ(SobolBits(i, dimension), table["points"][i][column].get<uint32_t>())
          << i << " " << dimension;
    }
  }
}

// Of 2^k points each interval of 2^-k has one, in each dimension, and each of the 2^k boxes of any
// shape in the first two.
TEST(Sobol, StaysANetWhenScrambled) {
  constexpr uint32_t kBits = 6;
  for (const uint64_t seed : {1U, 2U}) {
    for (const size_t dimension : {0U, 1U, 17U, 255U}) {
      std::set<uint32_t> intervals;
      for (uint32_t i = 0; i < 1U << kBits; ++i) {
        intervals.insert(OwenScrambled(SobolBits(i, dimension), dimension, seed) >> (32 - kBits));
      }
      EXPECT_EQ(intervals.size(), 1U << kBits);
    }
    for (uint32_t split = 1; split < kBits; ++split) {
      std::set<std::pair<uint32_t, uint32_t>> boxes;
      for (uint32_t i = 0; i < 1U << kBits; ++i) {
        boxes.insert({OwenScrambled(SobolBits(i, 0), 0, seed) >> (32 - split),
                      OwenScrambled(SobolBits(i, 1), 1, seed) >> (32 - (kBits - split))});
      }
      EXPECT_EQ(boxes.size(), 1U << kBits) << split;
    }
  }
  EXPECT_NE(OwenScrambled(0, 0, 1), OwenScrambled(0, 0, 2));
  EXPECT_NE(OwenScrambled(0, 0, 1), OwenScrambled(0, 1, 1));
}

TEST(Sobol, SearchFillsTheSpaceEvenly) {
  Search search(RequestOf(SpaceOf(R"({"x": {"type": "float", "low": 0, "high": 1},
      "c": ["a", "b"]})"),
                          "sobol", "num_configs=32"));
  Drive(&search, [](const SearchPoint& point, int64_t) { return Loss(point[0]); });
  std::set<std::pair<int, int>> boxes;
  for (const Trial& trial : search.journal().trials()) {
    boxes.insert({static_cast<int>(trial.point[0] * 16), static_cast<int>(trial.point[1])});
  }
  EXPECT_EQ(boxes.size(), 32U);
}

}  // namespace
}  // namespace hopper
