// What a proposal of a search costs: search_propose [trials of TPE] [trials of the GP], 0: leave
// out
//
// A space of eight dimensions of all kinds, a history of random points; prints the median and the
// largest of 21 proposals in milliseconds of the
// processor. No training, no server.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "search/algorithms/common.h"
#include "search/algorithms/tpe.h"

namespace hopper {
namespace {

std::shared_ptr<const SearchSpace> EightDimensions() {
  std::vector<Dimension> dimensions;
  const auto number = [&](DimensionKind kind, Scale scale, double low, double high, double step) {
    Dimension dimension;
    dimension.name = "d" + std::to_string(dimensions.size());
    dimension.kind = kind;
    dimension.scale = scale;
    dimension.low = low;
    dimension.high = high;
    dimension.step = step;
    dimensions.push_back(dimension);
  };
  number(DimensionKind::kFloat, Scale::kLog, 1e-5, 1e-1, 0);
  number(DimensionKind::kFloat, Scale::kLogNearOne, 0.5, 0.999, 0);
  number(DimensionKind::kFloat, Scale::kLinear, 0, 0.6, 0);
  number(DimensionKind::kFloat, Scale::kLinear, 0, 0.5, 0.05);
  number(DimensionKind::kInteger, Scale::kLinear, 16, 512, 16);
  number(DimensionKind::kInteger, Scale::kLog, 8, 1024, 1);
  for (int choices : {3, 5}) {
    number(DimensionKind::kChoice, Scale::kLinear, 0, 0, 0);
    for (int i = 0; i < choices; ++i) dimensions.back().choices.push_back(Value::Integer(i));
  }
  return std::make_shared<SearchSpace>(std::move(dimensions));
}

void Measure(const char* name, int trials,
             const std::function<std::unique_ptr<SearchProposer>()>& make) {
  if (trials == 0) return;
  const auto space = EightDimensions();
  SearchJournal journal(space, 1, {{"loss", false, 1.0}}, {});
  for (int i = 0; i < trials; ++i) {
    const SearchPoint point = *DrawUntried(journal, kRandomStream, static_cast<uint64_t>(i));
    SearchOutcome outcome;
    outcome.objectives = {std::abs(std::log10(point[0]) + 3) + point[2] + 0.1 * point[6]};
    journal.AddEarlier(point, 5, outcome);
  }
  const std::unique_ptr<SearchProposer> proposer = make();
  std::vector<double> milliseconds;
  for (int i = 0; i < 21; ++i) {
    const std::clock_t start = std::clock();
    const auto proposal = proposer->Propose(journal);
    milliseconds.push_back(1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    if (!proposal) std::exit(1);
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  std::printf("%s, %d trials: %.3f ms, at most %.3f ms\n", name, trials, milliseconds[10],
              milliseconds[20]);
}

}  // namespace
}  // namespace hopper

int main(int argc, char** argv) {
  hopper::Measure("tpe", argc > 1 ? std::atoi(argv[1]) : 1000,
                  [] { return hopper::MakeTpeProposer({}); });
  hopper::Measure("gp", argc > 2 ? std::atoi(argv[2]) : 300,
                  [] { return hopper::MakeGpProposer(hopper::kGpStartup); });
  return 0;
}
