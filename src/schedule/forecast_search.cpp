#include "schedule/forecast_search.h"

#include <algorithm>

#include "schedule/forecast.h"

namespace hopper {

SearchForecast ForecastSearch(const std::vector<TriedConfiguration>& known,
                              const PlayedSearch& played) {
  SearchForecast forecast;
  const auto n = static_cast<double>(known.size());
  double longest = 0.0;
  double mean_to_end = 0.0;
  double longest_to_end = 0.0;
  double iterations = 0.0;
  for (const TriedConfiguration& one : known) {
    const double trained = one.seconds_iteration * static_cast<double>(one.iterations);
    const double evaluated = one.seconds_evaluation * static_cast<double>(one.evaluations);
    const double to_end =
        one.seconds_iteration * static_cast<double>(played.longest) + one.seconds_evaluation;
    mean_to_end += to_end / n;
    longest_to_end = std::max(longest_to_end, to_end);
    forecast.iteration += one.seconds_iteration / n;
    forecast.training += trained;
    forecast.evaluating += evaluated;
    longest = std::max(longest, trained + evaluated);
    iterations += static_cast<double>(one.iterations);
  }
  const double share = iterations > 0.0 ? static_cast<double>(played.iterations) / iterations : 0.0;
  forecast.training *= share;
  forecast.evaluating *= share;
  forecast.seconds = SharedOut(forecast.training + forecast.evaluating, played.workers, longest);
  forecast.all_to_end =
      SharedOut(static_cast<double>(played.tried) * mean_to_end, played.workers, longest_to_end);
  return forecast;
}

}  // namespace hopper
