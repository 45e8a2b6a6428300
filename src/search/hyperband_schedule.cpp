#include "search/hyperband_schedule.h"

#include <algorithm>
#include <string>

namespace hopper {
namespace {

int64_t Power(int64_t base, int64_t exponent) {
  int64_t power = 1;
  for (int64_t i = 0; i < exponent; ++i) power *= base;
  return power;
}

}  // namespace

int64_t HyperbandLevels(int64_t max_resource, int64_t eta) {
  int64_t levels = 0;
  for (int64_t left = max_resource; left >= eta; left /= eta) ++levels;
  return levels;
}

void CheckHyperband(const HyperbandOptions& options, std::vector<Problem>* problems) {
  const auto fail = [&](const std::string& message) {
    problems->push_back({ErrorCode::kInvalidParameter, message, "", ""});
  };
  if (options.eta < 2) {
    fail("eta must be at least 2, got " + std::to_string(options.eta));
    return;
  }
  if (options.max_resource < options.eta) {
    fail("R must be at least eta, got R = " + std::to_string(options.max_resource) +
         " and eta = " + std::to_string(options.eta));
    return;
  }
  const int64_t levels = HyperbandLevels(options.max_resource, options.eta);
  if (options.skip_last < 0 || options.skip_last > levels) {
    fail("skip_last must be from 0 to " + std::to_string(levels) + " for R = " +
         std::to_string(options.max_resource) + " and eta = " + std::to_string(options.eta) +
         ", got " + std::to_string(options.skip_last));
  }
}

std::vector<Bracket> HyperbandSchedule(const HyperbandOptions& options) {
  const int64_t levels = HyperbandLevels(options.max_resource, options.eta);
  std::vector<Bracket> brackets;
  for (int64_t s = levels; s >= options.skip_last; --s) {
    const int64_t scale = Power(options.eta, s);
    // The product is at most R times the number of levels.
    int64_t configs = (levels + 1) / (s + 1) * scale;
    if (options.variant == HyperbandVariant::kJmlr) configs = ((levels + 1) * scale + s) / (s + 1);
    Bracket bracket;
    bracket.s = s;
    int64_t trained = 0;
    for (int64_t i = 0; i <= s - options.skip_last; ++i) {
      const int64_t divisor = Power(options.eta, s - i);
      Rung rung;
      rung.configs = configs / Power(options.eta, i);
      rung.named = std::max<int64_t>(1, (2 * options.max_resource + divisor) / (2 * divisor));
      trained = options.resource == RungResource::kAdditional ? trained + rung.named : rung.named;
      rung.resource = trained;
      bracket.rungs.push_back(rung);
    }
    brackets.push_back(std::move(bracket));
  }
  return brackets;
}

HyperbandCost CostOf(const std::vector<Bracket>& brackets) {
  HyperbandCost cost;
  for (const Bracket& bracket : brackets) {
    int64_t before = 0;
    if (!bracket.rungs.empty()) cost.configs += bracket.rungs.front().configs;
    for (const Rung& rung : bracket.rungs) {
      cost.iterations += rung.configs * (rung.resource - before);
      cost.iterations_restarted += rung.configs * rung.resource;
      before = rung.resource;
    }
  }
  return cost;
}

}  // namespace hopper
