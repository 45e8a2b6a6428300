// How long a search will take, by what its played configurations are trained and what their steps
// cost. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

namespace hopper {

// A configuration whose costs are known; seconds of one worker.
struct TriedConfiguration {
  int64_t iterations = 0;
  int64_t evaluations = 0;
  double seconds_iteration = 0.0;
  double seconds_evaluation = 0.0;
};

// All configurations of the search, also those whose costs are not known.
struct PlayedSearch {
  int64_t tried = 0;
  int64_t iterations = 0;
  int64_t longest = 0;  // iterations of the one that has most
  int workers = 1;
};

struct SearchForecast {
  double iteration = 0.0;   // seconds of one, a mean
  double training = 0.0;    // seconds of workers
  double evaluating = 0.0;  // seconds of workers
  double seconds = 0.0;
  double all_to_end = 0.0;  // seconds, were all of them trained as long as the longest one
};

// Configurations without known costs cost as much an iteration as the others.
SearchForecast ForecastSearch(const std::vector<TriedConfiguration>& known,
                              const PlayedSearch& played);

}  // namespace hopper
