#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "params/callable.h"
#include "params/optimizer_params.h"
#include "params/other_names.h"
#include "params/readings.h"
#include "params/schedule_params.h"
#include "params/stopping_params.h"
#include "params/text.h"

namespace hopper {
namespace {

const std::vector<std::string> kFitKeys = {"batch_size",
                                           "epochs",
                                           "shuffle",
                                           "class_weight",
                                           "seed",
                                           "dropout_schedule",
                                           "verbose",
                                           "initial_epoch",
                                           "steps_per_epoch",
                                           "callbacks",
                                           "validation_split",
                                           "validation_data",
                                           "validation_steps",
                                           "validation_freq",
                                           "sample_weight",
                                           "validation_batch_size",
                                           "max_queue_size",
                                           "workers",
                                           "use_multiprocessing"};

struct Ignored {
  const char* key;
  const char* reason;
  const char* hint;
};

// Arguments of Keras' fit() that cannot be honoured.
const Ignored kIgnored[] = {
    {"initial_epoch", "Iterations are counted from the model's own state.",
     "Use warm_start to go on with a trained model."},
    {"steps_per_epoch", "A model trains on every batch of a partition.", ""},
    {"validation_split", "Validation data is a table of its own.",
     "Split when packing, with validation_fraction, and pass validation_table."},
    {"validation_data", "Validation data is a table of its own.", "Pass validation_table."},
    {"validation_steps", "Validation uses the whole validation table.", ""},
    {"validation_freq", "All models of a run are validated at the same iterations.",
     "Pass validation_freq to the function that trains."},
    {"validation_batch_size", "Evaluation uses batches of one fixed size.", ""},
    {"sample_weight", "Weights of examples are a column of the source table.",
     "Name it in weight_varname when packing, or weigh classes by class_weight."},
    {"max_queue_size", "It concerns Keras' own data loading.", ""},
    {"workers", "It concerns Keras' own data loading.", ""},
    {"use_multiprocessing", "It concerns Keras' own data loading.", ""},
};

// Values that ask for nothing: None, [], and the defaults of Keras.
bool AsksForNothing(const std::string& key, const Value& value) {
  if (value.IsNone()) return true;
  if (value.IsSequence()) return value.items.empty();
  if (value.IsNumber()) {
    return value.real == 0 ? key == "initial_epoch" || key == "validation_split"
                           : value.real == 1 && key == "validation_freq";
  }
  return value.kind == Value::Kind::kBool && !value.boolean;
}

void ReadClassWeight(const Value& value, FitParams* params, ProblemList* problems) {
  if (value.IsNone()) return;
  if (value.IsText() && value.text == "balanced") {
    params->balanced_classes = true;
    return;
  }
  if (value.kind != Value::Kind::kDict) {
    problems->Error(ErrorCode::kInvalidParameter,
                    "class_weight must be a dictionary or 'balanced', got " + Render(value), "",
                    "Write class_weight={0: 1.0, 1: 2.5}, for example, or 'balanced', which gives "
                    "rare classes more weight.");
    return;
  }
  for (const ValueEntry& entry : value.entries) {
    std::string key;
    if (entry.key.kind == Value::Kind::kInteger && entry.key.integer >= 0) {
      key = std::to_string(entry.key.integer);
    } else if (entry.key.kind == Value::Kind::kString) {
      key = "'" + entry.key.text + "'";
    } else {
      problems->Error(ErrorCode::kInvalidParameter, "class_weight has the key " + Render(entry.key),
                      "Keys are class indexes from 0, or class labels in quotes.");
      continue;
    }
    const auto weight =
        ReadNumber(entry.value, kNotNegative, "class_weight of " + Render(entry.key), problems);
    if (!weight) continue;
    if (!params->class_weight.emplace(key, *weight).second) {
      problems->Error(ErrorCode::kInvalidParameter,
                      "class_weight has two weights for class " + Render(entry.key));
    }
  }
}

void ReadShuffle(const Value& value, FitParams* params, ProblemList* problems) {
  if (value.IsText() && value.text == "batch") {
    params->shuffle = true;
    problems->Warning("shuffle 'batch' shuffles single examples",
                      "Whole batches are never shuffled as units.", "Use True or False.");
  } else if (!value.IsNone()) {
    if (const auto shuffle = ReadBool(value, "shuffle", problems)) params->shuffle = *shuffle;
  }
}

FitParams ReadFit(std::string_view text, std::vector<ParamProblem>* problems) {
  FitParams params;
  ProblemList list(problems);
  std::vector<ValueEntry> entries;
  try {
    entries = ParseArguments(text, "fit_params");
  } catch (const Error& error) {
    Problem problem = error.problem();
    if (problem.hint.empty()) problem.hint = "Write, for example, batch_size=32, epochs=1.";
    list.Add(problem);
    return params;
  }
  constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();
  StoppingReader stopping(&params, &list);
  for (const ValueEntry& entry : entries) {
    const std::string& key = entry.key.text;
    const Value& value = entry.value;
    const auto ignored = std::find_if(std::begin(kIgnored), std::end(kIgnored),
                                      [&key](const Ignored& i) { return key == i.key; });
    if (ignored != std::end(kIgnored)) {
      if (!AsksForNothing(key, value)) {
        const bool validates = key == "validation_freq" && value.IsNumber();
        list.Warning(
            "fit parameter \"" + key + "\" has no effect", ignored->reason,
            validates ? "Pass validation_freq => " + Render(value) + " to the function that trains."
                      : ignored->hint);
      }
    } else if (key == "batch_size") {
      if (value.IsNone()) continue;
      if (const auto n = ReadInteger(value, 1, kMaxInt, key, &list)) params.batch_size = *n;
    } else if (key == "epochs") {
      if (value.IsNone()) continue;
      if (const auto n = ReadInteger(value, 1, kMaxInt, key, &list)) params.epochs = *n;
    } else if (key == "shuffle") {
      ReadShuffle(value, &params, &list);
    } else if (key == "class_weight") {
      ReadClassWeight(value, &params, &list);
    } else if (key == "seed") {
      if (value.IsNone()) continue;
      const auto n = ReadInteger(value, 0, std::numeric_limits<int64_t>::max(), key, &list);
      if (n) params.seed = static_cast<uint64_t>(*n);
    } else if (key == "dropout_schedule") {
      if (!value.IsNone()) ReadSchedule(value, "dropout", nullptr, &params.dropout_schedule, &list);
    } else if (key == "verbose") {
      const bool fine = value.IsNone() || value.kind == Value::Kind::kInteger ||
                        value.kind == Value::Kind::kBool ||
                        (value.IsText() && value.text == "auto");
      if (!fine) {
        list.Error(ErrorCode::kInvalidParameter,
                   "verbose must be an integer, got " + Render(value));
      }
    } else if (!stopping.Read(key, value)) {
      std::vector<std::string> keys = kFitKeys;
      keys.insert(keys.end(), StoppingReader::Keys().begin(), StoppingReader::Keys().end());
      const std::string hint =
          IsOptimizerArgument(key) ? "It is the optimizer's, and belongs to the compile parameters."
          : IsCompileArgument(key) ? "It belongs to the compile parameters."
                                   : NearestNameHint(key, keys, OtherFitKeys());
      list.Error(ErrorCode::kInvalidParameter, "fit_params has no argument \"" + key + "\"", "",
                 hint.empty() ? "Its arguments are batch_size, epochs, shuffle, class_weight, "
                                "seed, patience, restore_best, monitor, mode, min_delta, baseline, "
                                "start_from_epoch, reduce_lr_on_plateau and dropout_schedule."
                              : hint);
    }
  }
  stopping.Finish();
  return params;
}

int64_t SizeOfFit(const FitReading& reading) {
  int64_t bytes = sizeof(reading) + SizeOfProblems(reading.problems);
  // A node of a map has three pointers and a color.
  for (const auto& [key, weight] : reading.params.class_weight) {
    bytes +=
        static_cast<int64_t>(sizeof(std::string) + sizeof(weight) + 4 * sizeof(void*) + key.size());
  }
  return bytes;
}

}  // namespace

bool IsFitArgument(const std::string& key) {
  const std::vector<std::string>& stopping = StoppingReader::Keys();
  return std::find(kFitKeys.begin(), kFitKeys.end(), key) != kFitKeys.end() ||
         std::find(stopping.begin(), stopping.end(), key) != stopping.end();
}

std::optional<std::string> BalanceClasses(std::string_view text,
                                          const std::vector<int64_t>& class_counts) {
  std::vector<ParamProblem> problems;
  if (!ParseFitParams(text, &problems).balanced_classes) return std::nullopt;
  double rows = 0.0, classes = 0.0;
  for (const int64_t count : class_counts) {
    rows += static_cast<double>(count);
    classes += count > 0 ? 1.0 : 0.0;
  }
  Value weights;
  weights.kind = Value::Kind::kDict;
  for (size_t i = 0; i < class_counts.size(); ++i) {
    if (class_counts[i] <= 0) continue;
    weights.entries.push_back(
        {Value::Integer(static_cast<int64_t>(i)),
         Value::Real(rows / (classes * static_cast<double>(class_counts[i])))});
  }
  std::vector<ValueEntry> entries = ParseArguments(text, "fit_params");
  for (ValueEntry& entry : entries) {
    if (entry.key.text == "class_weight") entry.value = weights;
  }
  return RenderArguments(entries);
}

FitParams ParseFitParams(std::string_view text, std::vector<ParamProblem>* problems) {
  LookAtCancel();
  const auto reading = ProcessReadings().fit.Of(
      text,
      [&] {
        FitReading made;
        made.params = ReadFit(text, &made.problems);
        return made;
      },
      SizeOfFit);
  problems->insert(problems->end(), reading->problems.begin(), reading->problems.end());
  return reading->params;
}

}  // namespace hopper
