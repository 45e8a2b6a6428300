#include <algorithm>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "params/optimizer_params.h"
#include "params/other_names.h"
#include "params/output_params.h"
#include "params/readings.h"
#include "params/text.h"

namespace hopper {
namespace {

const std::vector<std::string> kCompileKeys = {
    "optimizer", "loss", "metrics", "loss_weights", "weighted_metrics", "sample_weight_mode"};

const char* const kExample =
    "Write, for example, "
    "loss='categorical_crossentropy', optimizer='Adam(lr=0.001)', metrics=['accuracy'].";

// Arguments of Keras' compile() that are read and have no effect here, with the reason.
const char* ReasonWithoutEffect(const std::string& key) {
  if (key == "sample_weight_mode") return "Examples have one weight each, whatever their shape.";
  if (key == "target_tensors") return "Labels come from the packed table.";
  if (key == "run_eagerly" || key == "steps_per_execution" || key == "jit_compile" ||
      key == "auto_scale_loss") {
    return "It concerns Keras' own execution.";
  }
  return nullptr;
}

CompileParams ReadCompile(std::string_view text, std::vector<ParamProblem>* problems) {
  CompileParams params;
  ProblemList list(problems);
  std::vector<ValueEntry> entries;
  try {
    entries = ParseArguments(text, "compile_params");
  } catch (const Error& error) {
    Problem problem = error.problem();
    if (problem.hint.empty()) problem.hint = kExample;
    list.Add(problem);
    return params;
  }
  bool has_optimizer = false, has_loss = false;
  const Value* weighted_metrics = nullptr;
  for (const ValueEntry& entry : entries) {
    const std::string& key = entry.key.text;
    if (key == "optimizer") {
      has_optimizer = !entry.value.IsNone();
      if (has_optimizer) ReadOptimizer(entry.value, &params.optimizer, &list);
    } else if (key == "loss") {
      has_loss = !entry.value.IsNone();
      if (has_loss) ReadLosses(entry.value, &params, &list);
    } else if (key == "metrics") {
      ReadMetrics(entry.value, false, &params, &list);
    } else if (key == "weighted_metrics") {
      weighted_metrics = &entry.value;
    } else if (key == "loss_weights") {
      ReadLossWeights(entry.value, &params, &list);
    } else if (const char* reason = ReasonWithoutEffect(key)) {
      if (!entry.value.IsNone()) {
        list.Warning("compile parameter \"" + key + "\" has no effect", reason);
      }
    } else {
      const std::string hint =
          IsOptimizerArgument(key)
              ? "It is the optimizer's: write optimizer='Adam(" + key + "=...)'."
          : IsFitArgument(key) ? "It belongs to the fit parameters."
                               : NearestNameHint(key, kCompileKeys, OtherCompileKeys());
      list.Error(ErrorCode::kInvalidParameter, "compile_params has no argument \"" + key + "\"", "",
                 hint.empty() ? "Its arguments are optimizer, loss and metrics." : hint);
    }
  }
  // Behind metrics, wherever it stands.
  if (weighted_metrics != nullptr) ReadMetrics(*weighted_metrics, true, &params, &list);
  AddOutputLosses(&params);
  if (!has_optimizer) {
    list.Error(ErrorCode::kInvalidParameter, "compile_params names no optimizer", "",
               "Add optimizer='Adam(lr=0.001)', for example.");
  }
  if (!has_loss) {
    list.Error(ErrorCode::kInvalidParameter, "compile_params names no loss", "",
               "Add loss='categorical_crossentropy', for example.");
  }
  return params;
}

int64_t SizeOfCompile(const CompileReading& reading) {
  const CompileParams& params = reading.params;
  return static_cast<int64_t>(sizeof(reading) + params.loss_name.size() +
                              params.losses.size() * sizeof(OutputLoss) +
                              params.loss_weights.size() * sizeof(LossWeight) +
                              params.metrics.size() * sizeof(MetricParams)) +
         SizeOfProblems(reading.problems);
}

}  // namespace

bool IsCompileArgument(const std::string& key) {
  return std::find(kCompileKeys.begin(), kCompileKeys.end(), key) != kCompileKeys.end();
}

CompileParams ParseCompileParams(std::string_view text, std::vector<ParamProblem>* problems) {
  LookAtCancel();
  const auto reading = ProcessReadings().compile.Of(
      text,
      [&] {
        CompileReading made;
        made.params = ReadCompile(text, &made.problems);
        return made;
      },
      SizeOfCompile);
  problems->insert(problems->end(), reading->problems.begin(), reading->problems.end());
  return reading->params;
}

}  // namespace hopper
