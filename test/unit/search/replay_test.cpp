// Searches replayed on a made-up table of learning curves: 288 configurations x 27 iterations.
#include <gtest/gtest.h>

#include <cmath>

#include "search/drive.h"

namespace hopper {
namespace {

constexpr int64_t kIterations = 27;

const std::shared_ptr<const SearchSpace>& Table() {
  static const auto space = SpaceOf(R"({
      "lr": {"type": "float", "low": -4, "high": -0.7, "step": 0.3},
      "optimizer": ["adam", "sgd"], "units": [16, 32, 64, 128],
      "dropout": {"type": "float", "low": 0, "high": 0.5, "step": 0.25}})");
  return space;
}

// Validation losses fall at a rate that depends on the learning rate towards what the configuration
// can reach: a valley in the learning rate whose place depends on the optimizer and the size, and
// noise that is part of the table.
double LossAt(const SearchPoint& p, int64_t resource) {
  const double lr = p[0];
  const double units = p[2];
  const double off = lr - (p[1] == 0 ? -2.6 : -1.2) + 0.15 * (units - 1.5);
  const Philox noise(17, Purpose::kSearch, 77,
                     static_cast<uint64_t>(std::lround(1000 * (lr + 4) + 100000 * p[1] +
                                                       200000 * units + 800000 * p[3])));
  const double final_loss = 0.2 + 0.12 * std::min(off * off, 4.0) + 0.05 * (3 - units) +
                            0.2 * std::abs(p[3] - 0.25) + (p[1] == 0 ? 0 : 0.02) +
                            0.02 * noise.UniformDouble(0);
  const double rate = 0.15 * std::exp(-0.3 * std::abs(off)) * (off > 0 ? 1.3 : 1.0);
  const double t = static_cast<double>(resource);
  return final_loss + (2.3 - final_loss) * std::exp(-rate * t) +
         0.03 * (noise.UniformDouble(1 + static_cast<uint64_t>(resource)) - 0.5);
}

double BestLoss() {
  double best = INFINITY;
  SearchPoint point = Table()->First();
  do {
    best = std::min(best, LossAt(point, kIterations));
  } while (Table()->Next(&point));
  return best;
}

// Of the configuration that a search calls the best, trained to the end.
struct Replayed {
  double regret = 0;
  double iterations = 0;
};
Replayed Replay(const std::string& algorithm, const std::string& arguments, uint64_t seeds) {
  Replayed mean;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SearchRequest request = RequestOf(Table(), algorithm, arguments, seed);
    request.seats = 4;
    Search search(std::move(request));
    Drive(&search, [](const SearchPoint& p, int64_t r) { return Loss(LossAt(p, r)); });
    const SearchPoint& best = search.journal().trial(*search.best()).point;
    mean.regret += (LossAt(best, kIterations) - BestLoss()) / static_cast<double>(seeds);
    mean.iterations += static_cast<double>(search.iterations()) / static_cast<double>(seeds);
  }
  return mean;
}

TEST(Replay, TheTableHas288Configurations) { EXPECT_EQ(Table()->CountPoints(1000), 288U); }

class Quality : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

// With the iterations that the algorithm spent, random search finds worse ones.
TEST_P(Quality, BeatsRandomSearch) {
  const auto& [algorithm, arguments] = GetParam();
  const uint64_t seeds = std::string(algorithm) == "gp" ? 5 : 20;
  const Replayed found = Replay(algorithm, arguments, seeds);
  const int64_t configs =
      std::max<int64_t>(1, std::lround(found.iterations / static_cast<double>(kIterations)));
  const Replayed random =
      Replay("random", "num_iterations=27, num_configs=" + std::to_string(configs), seeds);
  RecordProperty("regret", std::to_string(found.regret));
  RecordProperty("random", std::to_string(random.regret));
  EXPECT_LT(found.regret, random.regret) << found.iterations << " iterations";
}

INSTANTIATE_TEST_SUITE_P(
    All, Quality,
    ::testing::Values(std::pair("successive_halving", "num_configs=54, R=27"),
                      std::pair("hyperband", "R=27"), std::pair("hyperband", "R=27, variant=jmlr"),
                      std::pair("asha", "num_configs=60, R=27"),
                      std::pair("asha", "num_configs=60, R=27, proposer=tpe"),
                      std::pair("median", "num_configs=40, num_iterations=27, grace=3"),
                      std::pair("tpe", "num_configs=40, num_iterations=27"),
                      std::pair("bohb", "R=27"),
                      std::pair("gp", "num_configs=30, num_iterations=27")),
    [](const auto& info) { return std::string(info.param.first) + std::to_string(info.index); });

}  // namespace
}  // namespace hopper
