// Searches that have used up their space.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "search/drive.h"
#include "support/cpu_clock.h"

namespace hopper {
namespace {

std::shared_ptr<const SearchSpace> Points(int64_t points) {
  return SpaceOf(R"({"x": {"type": "int", "low": 1, "high": )" + std::to_string(points) + "}}");
}

int64_t IterationsOfLoops(int64_t loops) {
  SearchRequest request =
      RequestOf(Points(60), "hyperband", "R=27, loops=" + std::to_string(loops));
  request.seats = 1;
  Search search(std::move(request));
  Drive(&search, [](const SearchPoint& point, int64_t resource) {
    return Loss(std::abs(point[0] - 33) +
                std::fmod(point[0] * 7, 5) / static_cast<double>(resource));
  });
  return search.iterations();
}

// Each loop draws configurations of its own from those that there are, so that it trains some
// further than the loops before.
TEST(SmallSpace, EachLoopOfHyperbandGoesOnWithOthers) {
  const int64_t two = IterationsOfLoops(2);
  const int64_t four = IterationsOfLoops(4);
  EXPECT_GT(four, two);
  EXPECT_GT(IterationsOfLoops(12), four);
}

TEST(SmallSpace, TakesNoTimeWhereBracketsAreLarge) {
  const double begun = CpuSeconds();
  Search search(RequestOf(Points(6000), "hyperband", "R=6561"));
  Drive(&search, [](const SearchPoint& point, int64_t) { return Loss(std::abs(point[0] - 33)); });
  EXPECT_EQ(search.journal().trials().size(), 6000U);
  EXPECT_GT(Count(search, DecisionKind::kReused), 2000);
  EXPECT_LT(CpuSeconds() - begun, 10);
}

}  // namespace
}  // namespace hopper
