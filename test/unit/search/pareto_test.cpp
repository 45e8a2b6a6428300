#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "search/drive.h"
#include "support/cpu_clock.h"

namespace hopper {
namespace {

// A search that has tried so many, with objectives of which the second ascends.
Search Tried(int64_t configs, size_t objectives,
             const std::function<double(const SearchPoint& point, size_t objective)>& value) {
  SearchRequest request =
      RequestOf(SpaceOf(R"({"x": {"type": "float", "low": 0, "high": 1}})"), "random",
                "num_configs=" + std::to_string(configs), /*seed=*/objectives);
  request.objectives.clear();
  for (size_t i = 0; i < objectives; ++i) {
    request.objectives.push_back({"m" + std::to_string(i), i == 1, 1.0});
  }
  Search search(std::move(request));
  Drive(&search, [&](const SearchPoint& point, int64_t) {
    SearchOutcome outcome;
    for (size_t i = 0; i < objectives; ++i) outcome.objectives.push_back(value(point, i));
    return outcome;
  });
  return search;
}

TEST(Pareto, HoldsThoseThatNoOneBeats) {
  for (const size_t objectives : {1, 2, 3, 4}) {
    // Few different values: many are equal in one objective, and some in all.
    const Search search = Tried(300, objectives, [](const SearchPoint& point, size_t i) {
      return std::floor(std::fmod(point[0] * std::pow(37, static_cast<double>(i) + 1), 1) * 12);
    });
    const std::vector<Trial>& trials = search.journal().trials();
    std::vector<int64_t> expected;
    for (const Trial& one : trials) {
      const auto beats = [&](const Trial& other) {
        bool better = false;
        for (size_t i = 0; i < objectives; ++i) {
          const double sign = i == 1 ? -1 : 1;
          const double by = sign * (other.results.back().outcome.objectives[i] -
                                    one.results.back().outcome.objectives[i]);
          if (by > 0) return false;
          better = better || by < 0;
        }
        return better;
      };
      if (std::none_of(trials.begin(), trials.end(), beats)) expected.push_back(one.id);
    }
    EXPECT_EQ(ParetoSet(search.journal()), expected) << objectives;
  }
}

TEST(Pareto, OfManyTrialsTakesNoTime) {
  const Search search = Tried(50000, 2, [](const SearchPoint& point, size_t) { return point[0]; });
  const double begun = CpuSeconds();
  EXPECT_EQ(ParetoSet(search.journal()).size(), 50000U);
  EXPECT_LT(CpuSeconds() - begun, 5);
}

}  // namespace
}  // namespace hopper
