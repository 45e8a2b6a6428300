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

void CheckHyperband(std::optional<int64_t> max_resource, std::optional<int64_t> eta,
                    std::optional<int64_t> skip_last, std::vector<Problem>* problems) {
  const auto fail = [&](const std::string& message) {
    problems->push_back({ErrorCode::kInvalidParameter, message, "", ""});
  };
  const int64_t least = eta.value_or(2);
  if (least < 2) fail("eta must be at least 2, got " + std::to_string(least));
  const int64_t base = std::max<int64_t>(2, least);
  const std::string with = eta && least >= 2 ? " and eta = " + std::to_string(base) : "";
  const int64_t most = max_resource.value_or(base);
  if (most < base) fail("R must be at least eta, got R = " + std::to_string(most) + with);
  const int64_t skipped = skip_last.value_or(0);
  const std::string got = ", got " + std::to_string(skipped);
  if (!max_resource || most < base) {
    if (skipped < 0) fail("skip_last must be at least 0" + got);
    return;
  }
  const int64_t levels = HyperbandLevels(most, base);
  if (skipped >= 0 && skipped <= levels) return;
  fail("skip_last must be from 0 to " + std::to_string(levels) +
       " for R = " + std::to_string(most) + with + got);
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
