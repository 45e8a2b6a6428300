#include "model/check/check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/cancel.h"
#include "data/dataset.h"
#include "data/label_places.h"
#include "model/check/check_problems.h"
#include "model/spec.h"
#include "params/loss_type.h"
#include "params/metric_params.h"
#include "params/metric_type.h"
#include "params/monitor.h"

namespace hopper {

namespace {

// A row as text, with some room for what else is in it; a float as two hexadecimal digits a byte.
constexpr int64_t kMaxRowText = (int64_t{1} << 30) - (1 << 16);
constexpr int64_t kTextOfFloat = 8;

// One distinct architecture.
struct Architecture {
  std::shared_ptr<const ModelSpec> spec;  // null: has problems, or its shape is not known yet
  std::vector<Problem> problems;
};

// Everything about one configuration.
class ConfigCheck {
 public:
  ConfigCheck(const ConfigSource& config, const DataDesc* data, std::vector<ConfigProblem>* out)
      : config_(config), data_(data), problems_(config.mst_key, out) {}

  void Run(const Architecture& architecture) {
    for (const Problem& problem : architecture.problems) problems_.Add(problem, false);
    std::vector<ParamProblem> found;
    CompileParams compile = ParseCompileParams(std::string(config_.compile_params), &found);
    const FitParams fit = ParseFitParams(std::string(config_.fit_params), &found);
    bool params_valid = true;
    for (const ParamProblem& problem : found) {
      params_valid = params_valid && problem.warning;
      problems_.Add(problem);
    }
    if (params_valid && architecture.spec != nullptr) {
      found.clear();
      const bool weighted = data_ != nullptr && data_->weighted;
      params_valid = FitToOutputs(architecture.spec->OutputNames(), weighted, &compile, &found);
      for (const ParamProblem& problem : found) problems_.Add(problem);
    }
    if (params_valid) CheckMonitoring(compile, fit);
    if (architecture.spec == nullptr) return;
    const ModelSpec& spec = *architecture.spec;
    CheckSize(spec);
    CheckWeights(spec);
    for (const Problem& warning : spec.warnings) problems_.Add(warning, true);
    if (spec.trainable_parameters == 0) {
      problems_.Warn("model \"" + spec.name + "\" has no weights to train",
                     "All its layers are frozen or have no weights.", "");
    }
    if (data_ != nullptr) CheckInput(spec);
    if (!params_valid) return;
    if (data_ != nullptr && !CheckOutputs(spec)) return;
    for (size_t i = 0; i < spec.outputs.size(); ++i) CheckOutput(spec, i, compile);
    if (data_ == nullptr) return;
    CheckBatchSize(fit);
    CheckClassWeights(fit, *data_, &problems_);
  }

 private:
  std::string Table() const { return Quoted(data_->table_name, "data"); }

  void CheckMonitoring(const CompileParams& compile, const FitParams& fit) {
    std::optional<bool> validation;
    if (data_ != nullptr) validation = data_->validation;
    std::vector<ParamProblem> found;
    CheckMonitors(compile, fit, validation, &found);
    for (const ParamProblem& problem : found) problems_.Add(problem);
  }

  // The data have labels for each output.
  bool CheckOutputs(const ModelSpec& spec) {
    const std::vector<DataOutput>& labels = data_->outputs;
    const std::vector<std::string> names = spec.OutputNames();
    bool all = names.size() == labels.size();
    for (size_t i = 0; all && i < names.size(); ++i) all = LabelPlace(names, i, labels).has_value();
    if (all) return true;
    std::vector<std::string> held;
    for (const DataOutput& output : labels) held.push_back(output.name);
    const auto join = [](const std::vector<std::string>& list) {
      std::string text;
      for (const std::string& name : list) text += (text.empty() ? "\"" : ", \"") + name + "\"";
      return text;
    };
    problems_.Fail(
        "model \"" + spec.name + "\" has the " + (names.size() == 1 ? "output " : "outputs ") +
            join(names) + " but " + Table() + " has " +
            (labels.size() == 1 ? "labels of one" : "labels of " + join(held)),
        "Labels are found by the names of the outputs, or all of them by their order.",
        "Name them when packing: dependent_varname => '{\"" + names[0] + "\": \"column\", ...}'.");
    return false;
  }

  // One output with its loss, its metrics and, where there are data, its labels.
  void CheckOutput(const ModelSpec& spec, size_t i, const CompileParams& all) {
    const ModelOutput& end = spec.outputs[i];
    CompileParams compile = all;
    compile.loss = all.losses[i].loss;
    compile.loss_options = all.losses[i].options;
    compile.loss_name = all.losses[i].name;
    compile.metrics.clear();
    for (const MetricParams& metric : all.metrics) {
      if (metric.part == static_cast<int>(i)) compile.metrics.push_back(metric);
    }
    CheckEnd(end, compile);
    if (end.mask_size > 0 && LossTypeOf(compile.loss).overlap != nullptr) {
      problems_.Add({ErrorCode::kNotSupported,
                     "loss \"" + compile.loss_name + "\" of an output with a mask is not supported",
                     "It adds up all steps of an example or batch.",
                     "Use a crossentropy, or leave mask_zero and Masking out."},
                    false);
    }
    const char* why = end.members == 0 ? nullptr
                                       : WhyNoLossOfMembers(compile.loss, compile.loss_options,
                                                            end.member_activation);
    if (why != nullptr) {
      problems_.Add({ErrorCode::kNotSupported,
                     "loss \"" + compile.loss_name + "\" of each member is not supported", why,
                     "Use a crossentropy or an error, or put a layer such as Identity behind "
                     "EnsembleAverage: then the loss is one of the mean."},
                    false);
    }
    CheckAxes("loss \"" + compile.loss_name + "\"", compile.loss_options, end);
    for (const MetricParams& metric : compile.metrics) CheckMetric(metric, end);
    if (data_ == nullptr) return;
    const size_t place = LabelPlace(spec.OutputNames(), i, data_->outputs).value();
    CheckLabels(end, compile, *data_, data_->outputs[place], &problems_);
  }

  // The output table has weights and architecture in one row.
  void CheckSize(const ModelSpec& spec) {
    const int64_t architecture = 2 * static_cast<int64_t>(config_.model_arch.size());
    if (spec.parameters <= (kMaxRowText - architecture) / kTextOfFloat) return;
    problems_.Add({ErrorCode::kLimitExceeded,
                   "model \"" + spec.name + "\" has " + std::to_string(spec.parameters) +
                       " parameters, more than can be stored",
                   "Written as text, as pg_dump does, the row of a model must stay below 1 GB: " +
                       std::to_string(kMaxRowText / kTextOfFloat) + " parameters.",
                   ""},
                  false);
  }

  void CheckWeights(const ModelSpec& spec) {
    if (config_.weights == nullptr && config_.n_weights == 0) return;
    try {
      hopper::CheckWeights(spec, config_.weights, config_.n_weights);
    } catch (const Error& error) {
      problems_.Add(error.problem(), false);
    }
  }

  void CheckInput(const ModelSpec& spec) {
    const auto mismatch = InputMismatch(spec, *data_);
    if (mismatch) return problems_.Add(*mismatch, false);
    if (spec.inputs.size() == 1) CheckIds(spec);
  }

  // Ids that an Embedding would cut to other ids, as Keras does.
  void CheckIds(const ModelSpec& spec) {
    const double divisor = data_->normalizing_const;
    const bool divided = divisor != 0.0 && divisor != 1.0;
    const bool fractions = IsFloat(data_->x_type);
    if (!divided && !fractions) return;
    for (const Node& node : spec.nodes) {
      const Layer& layer = *spec.layers[node.layer];
      if (std::find(node.inputs.begin(), node.inputs.end(), spec.input) == node.inputs.end() ||
          !layer.takes_ids()) {
        continue;
      }
      const std::string owner = "layer \"" + layer.name() + "\" takes ids";
      const std::string column = "column " + Quoted(data_->x_column, "x") + " of " + Table();
      if (divided) {
        return problems_.Warn(owner + " but " + column + " is divided by normalizing_const",
                              "What is left of an id is cut to a whole number.",
                              "Pack the ids without normalizing_const.");
      }
      return problems_.Warn(owner + " but " + column + " holds floating-point numbers",
                            "They are cut to whole numbers.",
                            "Treatments \"words\" and \"index\" make whole numbers. Else make the "
                            "column one of integers in a "
                            "view, and pack that.");
    }
  }

  // The model's end against the loss, whatever the data.
  void CheckEnd(const ModelOutput& end, const CompileParams& compile) {
    const int64_t units = end.shape.empty() ? 1 : end.shape.back();
    const std::string loss = LossName(compile.loss);
    if (end.ends_in == Activation::kSoftmax && units == 1) {
      problems_.Fail("softmax over one output unit is always 1", "Such a model cannot learn.",
                     "Use sigmoid with loss='binary_crossentropy', or one output unit a class.");
    }
    const bool categorical = LossTypeOf(compile.loss).categorical;
    if (categorical && units == 1 && end.ends_in != Activation::kSoftmax) {
      problems_.Fail(
          "loss \"" + loss + "\" needs one output unit a class but the model has 1 output unit", "",
          "Use loss='binary_crossentropy' for two classes, or one output unit a class.");
    } else if (compile.loss_options.from_logits) {
      if (end.final_activation == Activation::kLinear) return CheckMetricsOfLogits(units, compile);
      problems_.Warn("from_logits=True has no effect on a model that ends in an activation",
                     "The loss of softmax and sigmoid is computed from their inputs in any case.",
                     "Leave it out, or end the model without an activation.");
    } else if (LossTypeOf(compile.loss).from_logits && end.ends_in == Activation::kLinear) {
      problems_.Warn(
          "loss \"" + loss + "\" expects probabilities but the model does not end in " +
              (categorical ? "softmax" : "sigmoid"),
          "Values outside of 0 to 1 are cut off.",
          std::string("End the model with activation ") + (categorical ? "softmax." : "sigmoid."));
    }
  }

  // Metrics that cut outputs as if they were probabilities, as in Keras. Prediction knows better.
  void CheckMetricsOfLogits(int64_t units, const CompileParams& compile) {
    for (const MetricParams& metric : compile.metrics) {
      const MetricType& type = *metric.type;
      const bool halves = type.halves != nullptr && type.halves(metric, units);
      if (metric.loss_options.from_logits || metric.threshold || !(halves || type.of_unit)) {
        continue;
      }
      const char* own = type.of_classes             ? "Use BinaryAccuracy(threshold=0)"
                        : MetricId(metric) == "auc" ? "Use AUC(from_logits=True)"
                                                    : nullptr;
      problems_.Warn(
          "metric \"" + metric.name + "\" takes outputs for probabilities, but they are logits",
          type.of_unit ? "It counts outputs between 0 and 1." : "It cuts them at 0.5.",
          own == nullptr
              ? "End the model with sigmoid or softmax and leave from_logits out."
              : std::string(own) + ", or end the model with sigmoid and leave from_logits out.");
    }
  }

  // The axes of Dice and Tversky.
  void CheckAxes(const std::string& owner, const LossOptions& options, const ModelOutput& end) {
    const int rank = static_cast<int>(end.shape.size()) + 1;  // with the batch
    for (const int axis : options.axes) {
      if (axis >= -rank && axis < rank) continue;
      return problems_.Fail("axis " + std::to_string(axis) + " of " + owner +
                                " does not exist in an output of shape " + ShapeText(end.shape),
                            "Axis 0 is the batch.", "");
    }
  }

  // What a metric asks of the number of outputs.
  void CheckMetric(const MetricParams& metric, const ModelOutput& end) {
    const int64_t units = end.shape.empty() ? 1 : end.shape.back();
    const std::string owner = "metric \"" + metric.name + "\"";
    CheckAxes(owner, metric.loss_options, end);
    if (metric.class_id && *metric.class_id >= units) {
      problems_.Fail(owner + " names the class " + std::to_string(*metric.class_id) +
                         " but the model has " + Plural(units, "output unit"),
                     "Classes are counted from 0.", "");
    }
    const int64_t classes = units == 1 ? 2 : units;
    for (const int id : metric.class_ids) {
      if (id < classes) continue;
      problems_.Fail(
          owner + " names the class " + std::to_string(id) + " of " + std::to_string(classes),
          "Classes are counted from 0.", "");
    }
    if (metric.type->several_outputs && units == 1) {
      problems_.Fail(owner + " needs several output units but the model has 1 output unit",
                     "It compares the outputs of one example with its labels, as in Keras.",
                     "Use r2_score.");
    }
  }

  void CheckBatchSize(const FitParams& fit) {
    if (data_->n_partitions < 1) return;
    const int64_t rows = (data_->n_rows + data_->n_partitions - 1) / data_->n_partitions;
    if (fit.batch_size <= rows) return;
    // Neither was chosen where a small table's partitions are smaller than the default batch.
    if (fit.batch_size == FitParams{}.batch_size && data_->n_rows < 4 * fit.batch_size) return;
    problems_.Warn("batch_size " + std::to_string(fit.batch_size) +
                       " is larger than a partition of " + Table(),
                   "A partition has " + Plural(rows, "row") + "; a batch never crosses partitions.",
                   "Lower batch_size, or pack with partitions => " +
                       std::to_string(std::max<int64_t>(data_->n_rows / fit.batch_size, 1)) + ".");
  }

  const ConfigSource& config_;
  const DataDesc* data_;
  ConfigProblems problems_;
};

}  // namespace

std::optional<Problem> InputMismatch(const ModelSpec& spec, const DataDesc& data) {
  if (spec.inputs.size() > 1) return std::nullopt;  // they are found by their names
  const Shape& held = data.x_shape;
  if (SameButForChannels(spec.input_shape(), held)) return std::nullopt;
  const std::string holds =
      held.size() == 1 ? Plural(held[0], "value") : "values of shape " + ShapeText(held);
  return Problem{ErrorCode::kInvalidParameter,
                 "model expects input of shape " + ShapeText(spec.input_shape()) + " but column " +
                     Quoted(data.x_column, "x") + " holds " + holds,
                 "The packed table is " + Quoted(data.table_name, "data") + ".",
                 "Reshape when packing, or start the model with Reshape."};
}

std::vector<ConfigProblem> CheckConfigs(const std::vector<ConfigSource>& configs,
                                        const DataDesc* data) {
  std::vector<ConfigProblem> problems;
  std::map<Digest, Architecture> architectures;
  for (const ConfigSource& config : configs) {
    LookAtCancel();
    const Digest key = Hash(config.model_arch.data(), config.model_arch.size());
    auto [at, is_new] = architectures.try_emplace(key);
    Architecture& architecture = at->second;
    if (is_new) {
      std::optional<Problem> misfit;
      if (data != nullptr && data->misfit) misfit = data->misfit(config.model_arch);
      if (misfit) {
        architecture.problems.push_back(*misfit);
      } else {
        architecture.spec =
            data != nullptr ? ParseModelFor(config.model_arch, data->inputs, &architecture.problems)
                            : ParseModel(config.model_arch, nullptr, &architecture.problems);
      }
      // Without data, a shape that is left open is no problem yet.
      auto& found = architecture.problems;
      found.erase(std::remove_if(
                      found.begin(), found.end(),
                      [](const Problem& problem) { return problem.code == ErrorCode::kNotReady; }),
                  found.end());
    }
    ConfigCheck(config, data, &problems).Run(architecture);
  }
  return problems;
}

}  // namespace hopper
