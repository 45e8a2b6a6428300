// A search with made-up results: how many configurations it tries, and how far they are trained,
// hardly depends on what they are.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/forecast_search.h"
#include "search/search.h"

namespace hopper {

struct PlayedTrials {
  std::vector<TriedConfiguration> trials;  // by number: iterations and evaluations alone
  int64_t iterations = 0;                  // of all of them
  int64_t longest = 0;                     // to which one of them is trained
};

// Plays a search that has just been made to its end.
PlayedTrials PlaySearch(Search* search);

}  // namespace hopper
