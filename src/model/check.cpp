#include "model/check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "data/dataset.h"
#include "model/layers/embedding/embedding.h"
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

std::string Quoted(const char* text, const char* fallback) {
  return "\"" + std::string(text != nullptr ? text : fallback) + "\"";
}

std::string Plural(int64_t n, const std::string& one) {
  return std::to_string(n) + " " + one + (n == 1 ? "" : "s");
}

Shape ShapeOf(int32_t rank, const int64_t* sizes) {
  return Shape(sizes, sizes + std::clamp<int32_t>(rank, 0, HOPPER_MAX_RANK));
}

// Equal, but for axes of one channel at the end.
bool SameButForChannels(Shape a, Shape b) {
  while (!a.empty() && a.back() == 1) a.pop_back();
  while (!b.empty() && b.back() == 1) b.pop_back();
  return a == b;
}

// One distinct architecture.
struct Architecture {
  std::shared_ptr<const ModelSpec> spec;  // null: has problems, or its shape is not known yet
  std::vector<Problem> problems;
};

// Everything about one configuration.
class ConfigCheck {
 public:
  ConfigCheck(const hopper_config& config, const hopper_data_desc* data,
              std::vector<ConfigProblem>* out)
      : config_(config), data_(data), out_(out) {}

  void Run(const Architecture& architecture) {
    for (const Problem& problem : architecture.problems) Add(problem, false);
    std::vector<ParamProblem> found;
    CompileParams compile = ParseCompileParams(Text(config_.compile_params), &found);
    const FitParams fit = ParseFitParams(Text(config_.fit_params), &found);
    bool params_valid = true;
    for (const ParamProblem& problem : found) {
      params_valid = params_valid && problem.warning;
      out_->push_back({config_.mst_key, problem});
    }
    if (params_valid && architecture.spec != nullptr) {
      found.clear();
      const bool weighted = data_ != nullptr && data_->weighted != 0;
      params_valid = FitToOutputs(architecture.spec->OutputNames(), weighted, &compile, &found);
      for (const ParamProblem& problem : found) out_->push_back({config_.mst_key, problem});
    }
    if (params_valid) CheckMonitoring(compile, fit);
    if (architecture.spec == nullptr) return;
    const ModelSpec& spec = *architecture.spec;
    CheckSize(spec);
    CheckWeights(spec);
    for (const Problem& warning : spec.warnings) Add(warning, true);
    if (spec.trainable_parameters == 0) {
      Warn("model \"" + spec.name + "\" has no weights to train",
           "All its layers are frozen or have no weights.", "");
    }
    if (data_ != nullptr) CheckInput(spec);
    if (!params_valid) return;
    std::vector<DataOutput> labels;
    if (data_ != nullptr) {
      labels = OutputsOf(*data_);
      if (!CheckOutputs(spec, labels)) return;
    }
    for (size_t i = 0; i < spec.outputs.size(); ++i) CheckOutput(spec, i, compile, labels);
    if (data_ == nullptr) return;
    CheckBatchSize(fit);
    CheckClassWeights(fit);
  }

 private:
  static std::string Text(const char* text) { return text == nullptr ? "" : text; }

  void Add(const Problem& problem, bool warning) {
    ConfigProblem found;
    found.mst_key = config_.mst_key;
    static_cast<Problem&>(found.problem) = problem;
    found.problem.warning = warning;
    out_->push_back(std::move(found));
  }
  void Fail(const std::string& message, const std::string& detail, const std::string& hint) {
    Add({ErrorCode::kInvalidParameter, message, detail, hint}, false);
  }
  void Warn(const std::string& message, const std::string& detail, const std::string& hint) {
    Add({ErrorCode::kInvalidParameter, message, detail, hint}, true);
  }
  std::string Table() const { return Quoted(data_->table_name, "data"); }

  void CheckMonitoring(const CompileParams& compile, const FitParams& fit) {
    std::optional<bool> validation;
    if (data_ != nullptr && data_->validation != 0) validation = data_->validation > 0;
    std::vector<ParamProblem> found;
    CheckMonitors(compile, fit, validation, &found);
    for (const ParamProblem& problem : found) out_->push_back({config_.mst_key, problem});
  }

  // The data have labels for each output.
  bool CheckOutputs(const ModelSpec& spec, const std::vector<DataOutput>& labels) {
    if (spec.outputs.size() == 1 && labels.size() == 1) return true;
    const std::vector<std::string> names = spec.OutputNames();
    std::vector<std::string> held;
    bool all = names.size() == labels.size();
    for (const DataOutput& output : labels) {
      held.push_back(output.name);
      all = all && std::find(names.begin(), names.end(), output.name) != names.end();
    }
    if (all) return true;
    const auto join = [](const std::vector<std::string>& list) {
      std::string text;
      for (const std::string& name : list) text += (text.empty() ? "\"" : ", \"") + name + "\"";
      return text;
    };
    Fail("model \"" + spec.name + "\" has the " + (names.size() == 1 ? "output " : "outputs ") +
             join(names) + " but " + Table() + " has " +
             (labels.size() == 1 ? "labels of one" : "labels of " + join(held)),
         "Labels are found by the names of the outputs.",
         "Name them when packing: dependent_varname => '{\"" + names[0] + "\": \"column\", ...}'.");
    return false;
  }

  // One output with its loss, its metrics and, where there are data, its labels.
  void CheckOutput(const ModelSpec& spec, size_t i, const CompileParams& all,
                   const std::vector<DataOutput>& labels) {
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
    CheckAxes("loss \"" + compile.loss_name + "\"", compile.loss_options, end);
    for (const MetricParams& metric : compile.metrics) CheckMetric(metric, end);
    if (data_ == nullptr) return;
    const auto of = std::find_if(labels.begin(), labels.end(), [&](const DataOutput& output) {
      return labels.size() == 1 || output.name == end.name;
    });
    // What the table would say if it had no other labels.
    hopper_data_desc own = *data_;
    std::vector<const char*> classes;
    if (data_->n_outputs > 0) {
      for (const std::string& name : of->class_values) classes.push_back(name.c_str());
      own.n_outputs = 0;
      own.y_kind = of->kind;
      own.y_column = of->column.c_str();
      own.y_type = of->kind == HOPPER_LABEL_CLASS ? HOPPER_INT32 : HOPPER_FLOAT32;
      own.y_rank = static_cast<int32_t>(of->shape.size());
      std::copy(of->shape.begin(), of->shape.end(), own.y_shape);
      own.num_classes = of->num_classes;
      own.n_class_values = static_cast<int32_t>(classes.size());
      own.class_values = classes.data();
    }
    ConfigCheck check(config_, &own, out_);
    check.CheckLabels(end, compile);
    check.CheckTopK(end, compile);
  }

  // The output table has weights and architecture in one row.
  void CheckSize(const ModelSpec& spec) {
    const int64_t architecture = 2 * static_cast<int64_t>(config_.model_arch_size);
    if (spec.parameters <= (kMaxRowText - architecture) / kTextOfFloat) return;
    Add({ErrorCode::kLimitExceeded,
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
      Add(error.problem(), false);
    }
  }

  void CheckInput(const ModelSpec& spec) {
    if (spec.inputs.size() > 1) return;  // found by their names, or the model was not parsed
    const Shape held = ShapeOf(data_->x_rank, data_->x_shape);
    if (SameButForChannels(spec.input_shape(), held)) return CheckIds(spec);
    const std::string holds =
        held.size() == 1 ? Plural(held[0], "value") : "values of shape " + ShapeText(held);
    Fail("model expects input of shape " + ShapeText(spec.input_shape()) + " but column " +
             Quoted(data_->x_column, "x") + " holds " + holds,
         "The packed table is " + Table() + ".",
         "Reshape when packing, or start the model with Reshape.");
  }

  // Ids that an Embedding would cut to other ids, as Keras does.
  void CheckIds(const ModelSpec& spec) {
    const double divisor = data_->normalizing_const;
    const bool divided = divisor != 0.0 && divisor != 1.0;
    const bool fractions = data_->x_type == HOPPER_FLOAT32 || data_->x_type == HOPPER_FLOAT64;
    if (!divided && !fractions) return;
    for (const Node& node : spec.nodes) {
      const Layer& layer = *spec.layers[node.layer];
      if (std::find(node.inputs.begin(), node.inputs.end(), spec.input) == node.inputs.end() ||
          dynamic_cast<const layers::Embedding*>(&layer) == nullptr) {
        continue;
      }
      const std::string owner = "layer \"" + layer.name() + "\" takes ids";
      const std::string column = "column " + Quoted(data_->x_column, "x") + " of " + Table();
      if (divided) {
        return Warn(owner + " but " + column + " is divided by normalizing_const",
                    "What is left of an id is cut to a whole number.",
                    "Pack the ids without normalizing_const.");
      }
      return Warn(owner + " but " + column + " holds floating-point numbers",
                  "They are cut to whole numbers.",
                  "Make the column one of integers in a view, and pack that.");
    }
  }

  // The model's end against the loss, whatever the data.
  void CheckEnd(const ModelOutput& end, const CompileParams& compile) {
    const int64_t units = end.shape.empty() ? 1 : end.shape.back();
    const std::string loss = LossName(compile.loss);
    if (end.final_activation == Activation::kSoftmax && units == 1) {
      Fail("softmax over one output unit is always 1", "Such a model cannot learn.",
           "Use sigmoid with loss='binary_crossentropy', or one output unit a class.");
    }
    const bool categorical = LossTypeOf(compile.loss).categorical;
    if (categorical && units == 1 && end.final_activation != Activation::kSoftmax) {
      Fail("loss \"" + loss + "\" needs one output unit a class but the model has 1 output unit",
           "", "Use loss='binary_crossentropy' for two classes, or one output unit a class.");
    } else if (compile.loss_options.from_logits) {
      if (end.final_activation == Activation::kLinear) return CheckMetricsOfLogits(units, compile);
      Warn("from_logits=True has no effect on a model that ends in an activation",
           "The loss of softmax and sigmoid is computed from their inputs in any case.",
           "Leave it out, or end the model without an activation.");
    } else if (LossTypeOf(compile.loss).from_logits &&
               end.final_activation == Activation::kLinear) {
      Warn("loss \"" + loss + "\" expects probabilities but the model does not end in " +
               (categorical ? "softmax" : "sigmoid"),
           "Values outside of 0 to 1 are cut off.",
           std::string("End the model with activation ") + (categorical ? "softmax." : "sigmoid."));
    }
  }

  // Metrics that cut outputs as if they were probabilities, as in Keras. Prediction knows better.
  void CheckMetricsOfLogits(int64_t units, const CompileParams& compile) {
    for (const MetricParams& metric : compile.metrics) {
      const ExampleValue value = metric.type->example;
      const bool accuracy = value == ExampleValue::kBinaryAccuracy ||
                            (value == ExampleValue::kAccuracy && units == 1);
      const Summed summed = metric.type->summed;
      const bool counts = summed == Summed::kConfusion || summed == Summed::kClassConfusion;
      const bool curve = summed == Summed::kBuckets || summed == Summed::kBucketsAndZero;
      if (metric.loss_options.from_logits) continue;
      if (metric.threshold || !(accuracy || curve || (counts && !metric.top_k))) continue;
      const char* own = accuracy                    ? "Use BinaryAccuracy(threshold=0)"
                        : MetricId(metric) == "auc" ? "Use AUC(from_logits=True)"
                                                    : nullptr;
      Warn("metric \"" + metric.name + "\" takes outputs for probabilities, but they are logits",
           curve ? "It counts outputs between 0 and 1." : "It cuts them at 0.5.",
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
      return Fail("axis " + std::to_string(axis) + " of " + owner +
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
      Fail(owner + " names the class " + std::to_string(*metric.class_id) + " but the model has " +
               Plural(units, "output unit"),
           "Classes are counted from 0.", "");
    }
    const int64_t classes = units == 1 ? 2 : units;
    for (const int id : metric.class_ids) {
      if (metric.type->summed != Summed::kClassMatrix || id < classes) continue;
      Fail(owner + " names the class " + std::to_string(id) + " of " + std::to_string(classes),
           "Classes are counted from 0.", "");
    }
    if (metric.type->several_outputs && units == 1) {
      Fail(owner + " needs several output units but the model has 1 output unit",
           "It compares the outputs of one example with its labels, as in Keras.", "Use r2_score.");
    }
  }

  void CheckLabels(const ModelOutput& end, const CompileParams& compile) {
    switch (data_->y_kind) {
      case HOPPER_LABEL_CLASS:
        return CheckClassLabels(end, compile);
      case HOPPER_LABEL_VALUE:
        return CheckValueLabels(end, compile);
      case HOPPER_LABEL_ARRAY:
        return CheckArrayLabels(end, compile);
      default:
        return Fail("labels of " + Table() + " are of an unknown kind", "", "Pack them again.");
    }
  }

  // One row of units an example, for labels that are one value an example.
  bool CheckOutputRank(const ModelOutput& end) {
    if (end.shape.size() == 1) return true;
    Fail("model output has shape " + ShapeText(end.shape) + " but column " +
             Quoted(data_->y_column, "y") + " holds one label an example",
         "The packed table is " + Table() + ".",
         "End the model with Flatten or a global pooling layer, and Dense.");
    return false;
  }

  void CheckClassLabels(const ModelOutput& end, const CompileParams& compile) {
    if (!CheckOutputRank(end)) return;
    const int64_t units = end.shape[0];
    const int64_t classes = data_->num_classes;
    if (classes == 1) {
      return Fail(
          "column " + Quoted(data_->y_column, "y") + " of " + Table() + " holds one class only",
          "There is nothing to learn. " + FoundClasses(0), "Pack rows of other classes, too.");
    }
    if (units == 1) {
      // Softmax and categorical losses over one unit have their own message.
      if (LossTypeOf(compile.loss).categorical) return;
      if (end.final_activation == Activation::kLinear && LossTypeOf(compile.loss).of_numbers) {
        return CheckRegression(compile);
      }
      if (classes == 2) return;
      return Fail(DoNotFit(units), FoundClasses(2) + " One output unit tells two classes apart.",
                  "Use one output unit a class.");
    }
    if (units == classes) return CheckExclusive(end, compile);
    if (units < classes) {
      return Fail(DoNotFit(units), FoundClasses(units), "Use one output unit a class.");
    }
    Fail(DoNotFit(units), FoundClasses(units),
         "Give the last layer " + Plural(classes, "unit") + ", or pack with num_classes => " +
             std::to_string(units) + ".");
  }

  // Softmax says which of several classes it is, and a binary loss asks of each whether it is. Of
  // two classes both say the same.
  void CheckExclusive(const ModelOutput& end, const CompileParams& compile) {
    const LossType& type = LossTypeOf(compile.loss);
    if (end.final_activation != Activation::kSoftmax || end.shape[0] < 3) return;
    if (type.categorical || !type.from_logits) return;
    Warn("loss \"" + compile.loss_name + "\" takes each of the " + Plural(end.shape[0], "output") +
             " of softmax for a question of its own",
         "Column " + Quoted(data_->y_column, "y") + " of " + Table() + " holds one of " +
             std::to_string(data_->num_classes) + " classes.",
         std::string("Use loss='") +
             (type.of_sigmoid ? "categorical_focal_crossentropy" : "categorical_crossentropy") +
             "'.");
  }

  // A linear output and a loss of numbers, for labels that were packed as classes: the numbers
  // would be the classes' places, not what the user sees in the column.
  void CheckRegression(const CompileParams& compile) {
    bool integers = data_->n_class_values > 0, places = true;
    for (int32_t i = 0; i < data_->n_class_values; ++i) {
      const std::string value = data_->class_values[i] != nullptr ? data_->class_values[i] : "";
      const size_t digits = value.find_first_not_of('-');
      integers = integers && digits != std::string::npos &&
                 value.find_first_not_of("0123456789", digits) == std::string::npos;
      places = places && value == std::to_string(i);
    }
    const std::string owner = "loss \"" + compile.loss_name + "\"";
    const std::string column = "column " + Quoted(data_->y_column, "y");
    if (data_->num_classes != 2 || (integers && !places)) {
      return Fail(
          owner + " needs numbers but " + column + " of " + Table() + " holds " +
              std::to_string(data_->num_classes) +
              (data_->num_classes == 1 ? " class" : " classes"),
          integers ? "Integers are packed as classes, of which a model sees only the place." : "",
          integers ? "Pack with label_kind => 'value'."
                   : "Use one output unit a class with softmax, and "
                     "loss='categorical_crossentropy'.");
    }
    Warn(owner + " of a linear output takes the classes of " + column + " for the numbers 0 and 1",
         "The packed table is " + Table() + ".",
         "For two classes end the model with sigmoid and use loss='binary_crossentropy'; for a "
         "regression pack with label_kind => 'value'.");
  }

  std::string DoNotFit(int64_t units) const {
    return "label values of " + Table() + " do not fit " + Plural(units, "output unit");
  }

  // Names a label that has no output unit, where the table's list of classes has one.
  std::string FoundClasses(int64_t units) const {
    std::string found = "Found " + Plural(data_->num_classes, "distinct value");
    if (units < data_->n_class_values && data_->class_values[units] != nullptr) {
      found += ", for example " + std::string(data_->class_values[units]);
    }
    return found + ".";
  }

  void CheckValueLabels(const ModelOutput& end, const CompileParams& compile) {
    if (LossTypeOf(compile.loss).categorical) {
      return Fail("loss \"" + std::string(LossName(compile.loss)) + "\" needs classes but column " +
                      Quoted(data_->y_column, "y") + " holds numbers",
                  "The packed table is " + Table() + ".",
                  "Pack integer or text labels, or use loss='mse'.");
    }
    if (!CheckOutputRank(end)) return;
    const int64_t units = end.shape[0];
    if (units != 1) {
      Fail(DoNotFit(units), "The labels are one number an example.",
           "Give the last layer one unit.");
    }
    if (!LossTypeOf(compile.loss).of_numbers) return;
    if (end.final_activation == Activation::kSigmoid) {
      Warn("model ends in sigmoid, which gives numbers between 0 and 1 only",
           "Values of column " + Quoted(data_->y_column, "y") + " of " + Table() +
               " outside of that are never reached.",
           "End the model without an activation, unless all values are between 0 and 1.");
    }
    for (const MetricParams& metric : compile.metrics) {
      switch (metric.type->example) {
        case ExampleValue::kAccuracy:
        case ExampleValue::kBinaryAccuracy:
        case ExampleValue::kCategoricalAccuracy:
        case ExampleValue::kSparseCategoricalAccuracy:
          Warn("metric \"" + metric.name + "\" says nothing of numbers",
               "Column " + Quoted(data_->y_column, "y") + " of " + Table() +
                   " holds numbers, which are hardly ever equal.",
               "Use mae or r2_score.");
          break;
        default:
          break;
      }
    }
  }

  void CheckArrayLabels(const ModelOutput& end, const CompileParams& compile) {
    const Shape labels = ShapeOf(data_->y_rank, data_->y_shape);
    const Shape& output = end.shape;
    if (LossTypeOf(compile.loss).class_numbers) {
      const std::string name = LossName(compile.loss);
      const bool integers = data_->y_type != HOPPER_FLOAT32 && data_->y_type != HOPPER_FLOAT64;
      if (!integers) {
        return Fail("loss \"" + name + "\" needs classes but column " +
                        Quoted(data_->y_column, "y") + " holds arrays of floating-point numbers",
                    "The packed table is " + Table() + ".",
                    "Use loss='categorical_crossentropy' for one-hot labels.");
      }
      const Shape positions(output.begin(), output.end() - (output.empty() ? 0 : 1));
      if (positions == labels || (positions.empty() && labels == Shape{1})) return;
      return Fail(
          "label arrays of " + Table() + " do not fit an output of shape " + ShapeText(output),
          "The labels have shape " + ShapeText(labels) + ", one class number each; " + name +
              " needs shape " + ShapeText(positions) + ".",
          "Use loss='categorical_crossentropy' for one-hot labels.");
    }
    if (SameButForChannels(labels, output)) return;
    Fail("label arrays of " + Table() + " do not fit an output of shape " + ShapeText(output),
         "The labels have shape " + ShapeText(labels) + ".",
         "Give the last layer as many units as a label has values.");
  }

  void CheckTopK(const ModelOutput& end, const CompileParams& compile) {
    const int64_t units = end.shape.empty() ? 1 : end.shape.back();
    for (const MetricParams& metric : compile.metrics) {
      if (metric.type->example != ExampleValue::kTopK || metric.k < units) continue;
      Warn("metric \"" + metric.name + "\" is always 1 with " + Plural(units, "output unit"),
           "It looks at the " + std::to_string(metric.k) + " largest outputs.", "Use a smaller k.");
    }
  }

  void CheckBatchSize(const FitParams& fit) {
    if (data_->n_partitions < 1) return;
    const int64_t rows = (data_->n_rows + data_->n_partitions - 1) / data_->n_partitions;
    if (fit.batch_size <= rows) return;
    // Neither was chosen where a small table's partitions are smaller than the default batch.
    if (fit.batch_size == FitParams{}.batch_size && data_->n_rows < 4 * fit.batch_size) return;
    Warn("batch_size " + std::to_string(fit.batch_size) + " is larger than a partition of " +
             Table(),
         "A partition has " + Plural(rows, "row") + "; a batch never crosses partitions.",
         "Lower batch_size, or pack with partitions => " +
             std::to_string(std::max<int64_t>(data_->n_rows / fit.batch_size, 1)) + ".");
  }

  void CheckClassWeights(const FitParams& fit) {
    if (fit.class_weight.empty()) return;
    if (data_->n_outputs > 0) {
      const bool several = data_->n_outputs > 1;
      return Add({ErrorCode::kNotSupported,
                  several ? "class_weight needs a model with one output"
                          : "class_weight and weights of rows exclude each other",
                  several ? "Keras knows no other, either." : "So they do in Keras.",
                  "Pack a column of weights that a view computes from the class."},
                 false);
    }
    if (data_->y_kind != HOPPER_LABEL_CLASS) {
      return Add({ErrorCode::kNotSupported,
                  "class_weight needs class labels but column " + Quoted(data_->y_column, "y") +
                      (data_->y_kind == HOPPER_LABEL_ARRAY ? " holds arrays" : " holds numbers"),
                  "The packed table is " + Table() + ".",
                  "Pack integer, boolean or text labels, or leave class_weight out."},
                 false);
    }
    std::vector<std::string> labels;
    for (int32_t i = 0; i < data_->n_class_values; ++i) {
      if (data_->class_values[i] != nullptr) labels.push_back(data_->class_values[i]);
    }
    for (const auto& entry : fit.class_weight) {
      const std::string& key = entry.first;
      const bool quoted = key.size() >= 2 && (key.front() == '\'' || key.front() == '"');
      const std::string label = quoted ? key.substr(1, key.size() - 2) : key;
      if (quoted) {
        if (std::find(labels.begin(), labels.end(), label) != labels.end()) continue;
        Fail("class_weight names the class \"" + label + "\", which " + Table() + " does not have",
             ClassesOf(labels), NearestNameHint(label, labels));
        continue;
      }
      const bool is_number = label.find_first_not_of("0123456789") == std::string::npos;
      const bool in_range = is_number && !label.empty() && label.size() <= 9 &&
                            std::stoll(label) < data_->num_classes;
      const bool is_label = std::find(labels.begin(), labels.end(), label) != labels.end();
      const std::string hint =
          is_label ? "Write '" + label + "' in quotes for the class with that label." : "";
      if (!in_range) {
        Fail("class_weight names the class " + label + " of " + std::to_string(data_->num_classes),
             "Classes are counted from 0.", hint);
        continue;
      }
      const int64_t index = std::stoll(label);
      if (!is_label || index >= data_->n_class_values) continue;
      const char* meant = data_->class_values[index];
      if (meant != nullptr && meant == label) continue;
      Warn("class_weight of " + label + " is that of the class " +
               (meant == nullptr ? std::string("NULL") : "'" + std::string(meant) + "'"),
           "Numbers without quotes are indexes, and classes are counted from 0.", hint);
    }
  }

  // 'Its classes are 'f', 't'.', the way class_weight is to write them.
  static std::string ClassesOf(const std::vector<std::string>& labels) {
    constexpr size_t kShown = 20;
    std::string text;
    for (size_t i = 0; i < labels.size() && i < kShown; ++i) {
      text += (text.empty() ? "Its classes are '" : ", '") + labels[i] + "'";
    }
    if (text.empty()) return "";
    return text + (labels.size() > kShown ? ", ..." : ".");
  }

  const hopper_config& config_;
  const hopper_data_desc* data_;
  std::vector<ConfigProblem>* out_;
};

}  // namespace

std::vector<ConfigProblem> CheckConfigs(const std::vector<hopper_config>& configs,
                                        const hopper_data_desc* data) {
  std::vector<ConfigProblem> problems;
  std::map<Digest, Architecture> architectures;
  std::vector<DataInput> inputs;
  if (data != nullptr) inputs = InputsOf(*data);
  for (const hopper_config& config : configs) {
    const Digest key = Hash(config.model_arch, config.model_arch_size);
    auto [at, is_new] = architectures.try_emplace(key);
    Architecture& architecture = at->second;
    if (is_new) {
      const std::string_view json{config.model_arch, config.model_arch_size};
      architecture.spec = data != nullptr ? ParseModelFor(json, inputs, &architecture.problems)
                                          : ParseModel(json, nullptr, &architecture.problems);
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
