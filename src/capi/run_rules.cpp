#include "capi/run_rules.h"

namespace hopper {

static_assert(static_cast<int>(TrainingMetrics::kRunning) == HOPPER_METRICS_RUNNING);
static_assert(static_cast<int>(TrainingMetrics::kFinal) == HOPPER_METRICS_FINAL);
static_assert(static_cast<int>(TrainingMetrics::kEvery) == HOPPER_METRICS_EVERY);

RunRules RulesFromC(const hopper_run_options& options) {
  RunRules rules;
  rules.num_iterations = options.num_iterations;
  rules.frequency.fill(options.metrics_compute_frequency);
  if (options.validation_freq != 0) rules.frequency[kValidSplit] = options.validation_freq;
  rules.training_metrics = static_cast<TrainingMetrics>(options.training_metrics);
  return rules;
}

std::vector<int> StartsFromC(const hopper_run_options& options) {
  if (options.n_starts < 1) return {0};
  return {options.starts, options.starts + options.n_starts};
}

}  // namespace hopper
