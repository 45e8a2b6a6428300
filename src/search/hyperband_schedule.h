// Hyperband's brackets (Li, Jamieson, DeSalvo, Rostamizadeh, Talwalkar: "Hyperband: A Novel
// Bandit-Based Approach to Hyperparameter Optimization", JMLR 18(185), 2018, algorithm 1), in whole
// numbers: floating-point logarithms lose a bracket where R is a power of eta.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"

namespace hopper {

enum class HyperbandVariant {
  kFloor,  // floor((s_max + 1) / (s + 1)) eta^s configurations: the authors' code, MADlib
  kJmlr,   // ceil((s_max + 1) eta^s / (s + 1)): the paper
};
enum class RungResource {
  kCumulative,  // a survivor has trained r iterations at the end of its rung: the paper
  kAdditional,  // it trains r more iterations in the rung: MADlib
};

struct HyperbandOptions {
  int64_t max_resource = 6;  // R
  int64_t eta = 3;
  int64_t skip_last = 0;  // the last rungs of each bracket that are left out
  HyperbandVariant variant = HyperbandVariant::kFloor;
  RungResource resource = RungResource::kCumulative;
};

struct Rung {
  int64_t configs = 0;
  int64_t resource = 0;  // iterations that its configurations have trained at its end
  int64_t named = 0;     // r of the paper: R eta^(i - s), rounded
};
struct Bracket {
  int64_t s = 0;
  std::vector<Rung> rungs;
};

// The largest s with eta^s <= R.
int64_t HyperbandLevels(int64_t max_resource, int64_t eta);

// R from eta on, eta from 2, skip_last from 0 to s_max; everything wrong is appended. What is wrong
// already is not given; without eta, or with a wrong one, skip_last is held to the s_max of eta
// = 2.
void CheckHyperband(std::optional<int64_t> max_resource, std::optional<int64_t> eta,
                    std::optional<int64_t> skip_last, std::vector<Problem>* problems);

// From s_max down; brackets of which skip_last leaves nothing are left out.
std::vector<Bracket> HyperbandSchedule(const HyperbandOptions& options);

struct HyperbandCost {
  int64_t configs = 0;
  int64_t iterations = 0;            // trained in all, survivors going on from their states
  int64_t iterations_restarted = 0;  // if each rung began from nothing
};
HyperbandCost CostOf(const std::vector<Bracket>& brackets);

}  // namespace hopper
