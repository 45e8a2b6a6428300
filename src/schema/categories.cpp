// Which values of a category have slots of their own.
#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "schema/treatment.h"

namespace hopper {
namespace {

// Below it a network learns little of a value: ten rows, of small tables 1 %.
int64_t LeastRows(const TreatmentOptions& options, int64_t n_rows) {
  if (options.min_frequency > 0) return options.min_frequency;
  return std::min<int64_t>(10, std::max<int64_t>(2, n_rows / 100));
}

}  // namespace

void TakeGivenValues(const Statistics& statistics, const TreatmentOptions& options, int64_t n,
                     Column* column) {
  column->values = options.values;
  const std::unordered_set<std::string_view> given(options.values.begin(), options.values.end());
  column->n_other = n;
  for (const auto& [value, count] : statistics.values) {
    if (given.count(value) != 0) column->n_other -= count;
  }
}

void CategoryTreatment::Ask(const TreatmentOptions& options, Questions* questions) const {
  questions->values = true;
  questions->least_rows = !options.values.empty()     ? 1
                          : options.min_frequency > 0 ? options.min_frequency
                                                      : 2;
}

void CategoryTreatment::Fit(const Statistics& statistics, const TreatmentOptions& options,
                            Column* column) const {
  if (!options.values.empty()) {
    // NULL is one of the others: a network that was built for these values has no id for it.
    TakeGivenValues(statistics, options, statistics.n_rows, column);
    return;
  }
  const int64_t least = LeastRows(options, statistics.n_rows);
  std::vector<std::pair<std::string, int64_t>> kept;
  for (const auto& value : statistics.values) {
    if (value.second >= least) kept.push_back(value);
  }
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (kept.size() > kMostValues) kept.resize(kMostValues);
  column->n_other = statistics.n_rows - statistics.n_nulls;
  for (auto& value : kept) {
    column->n_other -= value.second;
    column->values.push_back(std::move(value.first));
  }
  column->has_null_value = statistics.n_nulls >= least;
  if (!column->has_null_value) column->n_other += statistics.n_nulls;
}

}  // namespace hopper
