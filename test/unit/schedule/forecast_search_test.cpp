#include "schedule/forecast_search.h"

#include <gtest/gtest.h>

namespace hopper {
namespace {

TEST(ForecastSearch, SharesOutWhatAllTake) {
  // Two of three are known: 10 and 2 iterations of 16.
  const SearchForecast two = ForecastSearch({{10, 5, 1.0, 0.5}, {2, 1, 3.0, 1.5}}, {3, 16, 10, 2});
  EXPECT_DOUBLE_EQ(two.iteration, 2.0);
  EXPECT_DOUBLE_EQ(two.training, 16.0 * 16 / 12);
  EXPECT_DOUBLE_EQ(two.evaluating, 4.0 * 16 / 12);
  EXPECT_DOUBLE_EQ(two.seconds, 20.0 * 16 / 12 / 2);
  // 10.5 and 31.5 seconds, a mean of 21.
  EXPECT_DOUBLE_EQ(two.all_to_end, 3 * 21.0 / 2);
}

TEST(ForecastSearch, ALongConfigurationIsOneWorkers) {
  const SearchForecast many =
      ForecastSearch({{10, 5, 1.0, 0.5}, {2, 1, 3.0, 1.5}}, {2, 12, 10, 100});
  EXPECT_DOUBLE_EQ(many.seconds, 12.5);
  EXPECT_DOUBLE_EQ(many.all_to_end, 31.5);
}

TEST(ForecastSearch, NothingIsKnown) {
  const SearchForecast none = ForecastSearch({}, {3, 16, 10, 0});
  EXPECT_EQ(none.seconds, 0.0);
  EXPECT_EQ(none.all_to_end, 0.0);
}

}  // namespace
}  // namespace hopper
