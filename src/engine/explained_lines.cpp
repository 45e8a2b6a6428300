// The rows of explain_fit(): what is predicted beside what was measured.
#include <algorithm>
#include <cmath>

#include "engine/explain.h"

namespace hopper {

void Explain::AddLinesOfRun(const ExplainedRun* measured, std::vector<ExplainedLine>* lines) const {
  const auto add = [&](const char* item, std::optional<double> predicted,
                       std::optional<double> found, const char* unit) {
    lines->push_back({item, std::nullopt, predicted, found, unit});
  };
  const auto known = [&](auto ExplainedRun::*member) {
    return measured ? std::optional<double>(measured->*member) : std::nullopt;
  };
  const auto bytes_data = static_cast<double>(run_.bytes_data);
  const auto n_rows = static_cast<double>(train_.n_rows);
  const double all_rows = n_rows + (valid_ ? static_cast<double>(valid_->n_rows) : 0.0);
  const double iterations = options_.rules.num_iterations;
  double passes = 0.0;
  for (const Entry& entry : entries_) {
    passes += static_cast<double>(entry.model.n_passes) * iterations;
  }
  add("configurations", static_cast<double>(entries_.size()), {}, "configurations");
  add("iterations", iterations, {}, "iterations");
  add("passes", passes, {}, "passes");
  add("data of a pass", std::rint(bytes_data * n_rows / all_rows), {}, "bytes");
  add("rows of a pass", n_rows, {}, "rows");
  add("partitions", train_.n_partitions, {}, "partitions");
  add("workers", run_.n_workers, known(&ExplainedRun::n_workers), "workers");
  add("threads per model", threads_per_model_, {}, "threads");
  add("memory of data", bytes_data, {}, "bytes");
  add("memory of models", static_cast<double>(run_.bytes_models), {}, "bytes");
  add("memory", static_cast<double>(run_.bytes_data + run_.bytes_models), {}, "bytes");
  add("memory limit", static_cast<double>(options_.memory_limit), {}, "bytes");
  add("calibration", {}, run_.seconds_calibrating, "seconds");
  add("duration", run_.seconds, known(&ExplainedRun::seconds), "seconds");
  add("read", run_.seconds_read, known(&ExplainedRun::seconds_read), "seconds");
  add("wait", run_.seconds_wait, known(&ExplainedRun::seconds_wait), "worker seconds");
  add("hop", run_.seconds_hop, known(&ExplainedRun::seconds_hop), "worker seconds");
  add("train", run_.seconds_train, known(&ExplainedRun::seconds_train), "worker seconds");
  add("evaluate", run_.seconds_evaluate, known(&ExplainedRun::seconds_evaluate), "worker seconds");
  std::optional<double> other;
  if (measured) {
    other =
        std::max(measured->seconds * measured->n_workers - measured->seconds_wait -
                     measured->seconds_hop - measured->seconds_train - measured->seconds_evaluate,
                 0.0);
  }
  add("other", 0.0, other, "worker seconds");
  add("idle share", run_.idle_share, known(&ExplainedRun::idle_share), "of 1");
}

std::vector<ExplainedLine> Explain::Lines(const ExplainedRun* measured, const double* trained,
                                          const double* evaluated) const {
  std::vector<ExplainedLine> lines;
  AddLinesOfRun(measured, &lines);
  for (size_t i = 0; i < entries_.size(); ++i) {
    const ExplainedModel& model = entries_[i].model;
    const bool fails = model.problem.has_value();
    const double train = model.seconds_iteration * options_.rules.num_iterations;
    const auto add = [&](const char* item, std::optional<double> predicted, const double* found,
                         const char* unit) {
      lines.push_back(
          {item, model.mst_key, predicted, found ? std::optional(found[i]) : std::nullopt, unit});
    };
    add("parameters", static_cast<double>(model.n_parameters), nullptr, "numbers");
    add("memory of the state", static_cast<double>(model.bytes_state), nullptr, "bytes");
    add("memory of a visit", static_cast<double>(model.bytes_task), nullptr, "bytes");
    add("steps of an iteration", static_cast<double>(model.steps), nullptr, "steps");
    add("step", fails ? std::nullopt : std::optional(model.seconds_step), nullptr, "seconds");
    add("train", fails ? 0.0 : train, trained, "worker seconds");
    add("evaluate", fails ? 0.0 : model.seconds_evaluating, evaluated, "worker seconds");
  }
  return lines;
}

}  // namespace hopper
