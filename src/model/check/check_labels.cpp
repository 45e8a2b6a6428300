// The end of a model, its loss and its metrics against the labels of a packed table.
#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "model/check/check_problems.h"
#include "params/loss_type.h"
#include "params/metric_params.h"
#include "params/metric_type.h"

namespace hopper {

namespace {

// From so many on, integers are taken for numbers; the packer warns of as many.
constexpr int64_t kMostIntegerClasses = 50;

std::string LabelText(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

// Against the labels of one output.
class LabelCheck {
 public:
  LabelCheck(const DataDesc& data, const DataOutput& labels, ConfigProblems* problems)
      : data_(data), labels_(labels), problems_(problems) {}

  void CheckLabels(const ModelOutput& end, const CompileParams& compile) {
    if (labels_.kind != LabelKind::kClass) CheckLabelRange(compile);
    switch (labels_.kind) {
      case LabelKind::kClass:
        return CheckClassLabels(end, compile);
      case LabelKind::kValue:
        return CheckValueLabels(end, compile);
      case LabelKind::kArray:
        return CheckArrayLabels(end, compile);
      default:
        return problems_->Fail("labels of " + Table() + " are of an unknown kind", "",
                               "Pack them again.");
    }
  }

  void CheckTopK(const ModelOutput& end, const CompileParams& compile) {
    const int64_t units = end.shape.empty() ? 1 : end.shape.back();
    for (const MetricParams& metric : compile.metrics) {
      if (!metric.type->looks_at_k || metric.k < units) continue;
      problems_->Warn(
          "metric \"" + metric.name + "\" is always 1 with " + Plural(units, "output unit"),
          "It looks at the " + std::to_string(metric.k) + " largest outputs.", "Use a smaller k.");
    }
  }

 private:
  bool LabelsAreWithin(double least, double largest) const {
    const std::optional<LabelRange>& range = labels_.range;
    return range.has_value() && range->least >= least && range->largest <= largest;
  }

  // Labels of which a loss has no minimum, or which it cuts.
  void CheckLabelRange(const CompileParams& compile) {
    const LossType& type = LossTypeOf(compile.loss);
    const double largest = type.of_amounts ? std::numeric_limits<double>::infinity() : 1.0;
    const bool standardised = labels_.unit > 0.0;
    if (type.of_shares && standardised) {
      problems_->Warn("loss \"" + compile.loss_name + "\" is a share of the labels but column " +
                          Column() + " of " + Table() + " was standardised",
                      "It has another zero, near which shares are large.",
                      "Pack it with the treatment \"none\", or use loss='mae'.");
    }
    if (!type.of_probabilities && !type.of_amounts) return;
    if (!labels_.range.has_value() || LabelsAreWithin(0.0, largest)) return;
    problems_->Warn(
        "loss \"" + compile.loss_name + "\" needs labels " +
            (type.of_amounts ? "of 0 or more" : "from 0 to 1") + " but column " + Column() +
            " of " + Table() + (standardised ? " was standardised to" : " holds") +
            " numbers from " + LabelText(labels_.range->least) + " to " +
            LabelText(labels_.range->largest),
        "What it computes of others says nothing about a model.",
        (standardised ? "Pack it with the treatment \"none\""
                      : "Bring the labels into this range in a view") +
            std::string(type.of_amounts ? ", and end the model with softplus or exponential."
                                        : ", or use loss='mse' and end the model "
                                          "without an activation."));
  }

  // One row of units an example, for labels that are one value an example.
  bool CheckOutputRank(const ModelOutput& end) {
    if (end.shape.size() == 1) return true;
    problems_->Fail("model output has shape " + ShapeText(end.shape) + " but column " + Column() +
                        " holds one label an example",
                    "The packed table is " + Table() + ".",
                    "End the model with Flatten or a global pooling layer, and Dense.");
    return false;
  }

  void CheckClassLabels(const ModelOutput& end, const CompileParams& compile) {
    if (!CheckOutputRank(end)) return;
    const int64_t units = end.shape[0];
    const int64_t classes = labels_.num_classes;
    if (classes == 1) {
      return problems_->Fail("column " + Column() + " of " + Table() + " holds one class only",
                             "There is nothing to learn. " + FoundClasses(0),
                             "Pack rows of other classes, too.");
    }
    if (units == 1) {
      // Softmax and categorical losses over one unit have their own message.
      if (LossTypeOf(compile.loss).categorical) return;
      if (end.ends_in == Activation::kLinear && LossTypeOf(compile.loss).of_numbers) {
        return CheckRegression(compile);
      }
      if (classes == 2) return;
      return problems_->Fail(DoNotFit(units),
                             FoundClasses(2) + " One output unit tells two classes apart.",
                             "Use one output unit a class.");
    }
    if (units == classes) return CheckExclusive(end, compile);
    if (units < classes) {
      return problems_->Fail(DoNotFit(units), FoundClasses(units), "Use one output unit a class.");
    }
    problems_->Fail(DoNotFit(units), FoundClasses(units),
                    "Give the last layer " + Plural(classes, "unit") +
                        ", or pack with num_classes => " + std::to_string(units) + ".");
  }

  // Softmax says which of several classes it is, and a binary loss asks of each whether it is. Of
  // two classes both say the same.
  void CheckExclusive(const ModelOutput& end, const CompileParams& compile) {
    CheckMeasures(compile);
    const LossType& type = LossTypeOf(compile.loss);
    if (end.ends_in != Activation::kSoftmax || end.shape[0] < 3) return;
    if (type.categorical || !type.from_logits) return;
    problems_->Warn(
        "loss \"" + compile.loss_name + "\" takes each of the " + Plural(end.shape[0], "output") +
            " of softmax for a question of its own",
        "Column " + Column() + " of " + Table() + " holds one of " +
            std::to_string(labels_.num_classes) + " classes.",
        std::string("Use loss='") +
            (type.of_sigmoid ? "categorical_focal_crossentropy" : "categorical_crossentropy") +
            "'.");
  }

  struct ClassNumbers {
    bool integers = false;  // each class is one
    bool places = false;    // the classes are 0, 1, ...
  };
  ClassNumbers Numbers() const {
    ClassNumbers found{!labels_.class_values.empty(), true};
    for (size_t i = 0; i < labels_.class_values.size(); ++i) {
      const std::string value = labels_.class_values[i].value_or("");
      const size_t digits = value.find_first_not_of('-');
      found.integers = found.integers && digits != std::string::npos &&
                       value.find_first_not_of("0123456789", digits) == std::string::npos;
      found.places = found.places && value == std::to_string(i);
    }
    return found;
  }

  std::string Classes() const {
    return std::to_string(labels_.num_classes) + (labels_.num_classes == 1 ? " class" : " classes");
  }

  // An output unit a class, and a loss or metric of numbers: it measures probabilities against 0
  // and 1, which passes for the error of a number where the labels are integers. So many classes
  // are hardly ever meant; a few may be, where their labels are no measurements.
  void CheckMeasures(const CompileParams& compile) {
    const ClassNumbers numbers = Numbers();
    const bool many = labels_.num_classes >= kMostIntegerClasses;
    if (!numbers.integers || labels_.num_classes < 3 || (!many && numbers.places)) return;
    const auto tell = [&](const std::string& owner) {
      const std::string column = "column " + Column() + " of " + Table() + " holds " + Classes();
      const std::string hint =
          "For numbers to be predicted pack with label_kind => 'value'; for classes use "
          "loss='categorical_crossentropy' and metrics=['accuracy'].";
      if (many) {
        return problems_->Fail(
            owner + " needs numbers but " + column,
            "Integers are packed as classes, of which a model sees only the place.", hint);
      }
      problems_->Warn(
          owner + " is not of the numbers in column " + Column(),
          "It measures the probabilities of " + Classes() + " of " + Table() + " against 0 and 1.",
          hint);
    };
    if (LossTypeOf(compile.loss).of_numbers) return tell("loss \"" + compile.loss_name + "\"");
    for (const MetricParams& metric : compile.metrics) {
      if (metric.type == &LossMetric() && LossTypeOf(metric.loss).of_numbers) {
        return tell("metric \"" + metric.name + "\"");
      }
    }
  }

  // A linear output and a loss of numbers, for labels that were packed as classes: the numbers
  // would be the classes' places, not what the user sees in the column.
  void CheckRegression(const CompileParams& compile) {
    const ClassNumbers numbers = Numbers();
    const std::string owner = "loss \"" + compile.loss_name + "\"";
    const std::string column = "column " + Column();
    if (labels_.num_classes != 2 || (numbers.integers && !numbers.places)) {
      return problems_->Fail(
          owner + " needs numbers but " + column + " of " + Table() + " holds " + Classes(),
          numbers.integers ? "Integers are packed as classes, of which a model sees only the place."
                           : "",
          numbers.integers ? "Pack with label_kind => 'value'."
                           : "Use one output unit a class with softmax, and "
                             "loss='categorical_crossentropy'.");
    }
    problems_->Warn(
        owner + " of a linear output takes the classes of " + column + " for the numbers 0 and 1",
        "The packed table is " + Table() + ".",
        "For two classes end the model with sigmoid and use loss='binary_crossentropy'; for a "
        "regression pack with label_kind => 'value'.");
  }

  std::string DoNotFit(int64_t units) const {
    return "label values of " + Table() + " do not fit " + Plural(units, "output unit");
  }

  // Names a label that has no output unit, where the table's list of classes has one.
  std::string FoundClasses(int64_t units) const {
    std::string found = "Found " + Plural(labels_.num_classes, "distinct value");
    const auto at = static_cast<size_t>(units);
    if (at < labels_.class_values.size() && labels_.class_values[at].has_value()) {
      found += ", for example " + *labels_.class_values[at];
    }
    return found + ".";
  }

  void CheckValueLabels(const ModelOutput& end, const CompileParams& compile) {
    if (LossTypeOf(compile.loss).categorical) {
      return problems_->Fail("loss \"" + std::string(LossName(compile.loss)) +
                                 "\" needs classes but column " + Column() + " holds numbers",
                             "The packed table is " + Table() + ".",
                             "Pack integer or text labels, or use loss='mse'.");
    }
    if (!CheckOutputRank(end)) return;
    const int64_t units = end.shape[0];
    if (units != 1) {
      problems_->Fail(DoNotFit(units), "The labels are one number an example.",
                      "Give the last layer one unit.");
    }
    if (!LossTypeOf(compile.loss).of_numbers) return;
    if (end.ends_in == Activation::kSigmoid && !LabelsAreWithin(0.0, 1.0)) {
      problems_->Warn(
          "model ends in sigmoid, which gives numbers between 0 and 1 only",
          "Values of column " + Column() + " of " + Table() + " outside of that are never reached.",
          "End the model without an activation, unless all values are between 0 and 1.");
    }
    for (const MetricParams& metric : compile.metrics) {
      if (labels_.unit > 0.0 && !metric.of_loss && !metric.type->of_classes &&
          PowerOfUnit(metric) < 0) {
        problems_->Fail("metric \"" + metric.name + "\" cannot be given in the unit of the labels",
                        "Column " + Column() + " of " + Table() +
                            " was standardised, and this metric goes with no power of its unit.",
                        "Use mae, rmse, mse or r2_score, or pack with treatments => '{" + Column() +
                            ": \"none\"}'.");
      }
      if (!metric.type->of_classes) continue;
      problems_->Warn(
          "metric \"" + metric.name + "\" says nothing of numbers",
          "Column " + Column() + " of " + Table() + " holds numbers, which are hardly ever equal.",
          "Use mae or r2_score.");
    }
  }

  void CheckArrayLabels(const ModelOutput& end, const CompileParams& compile) {
    const Shape& labels = labels_.shape;
    const Shape& output = end.shape;
    if (LossTypeOf(compile.loss).class_numbers) {
      const std::string name = LossName(compile.loss);
      // Joined ones are all float32, whatever their column.
      if (IsFloat(data_.y_type) && !data_.by_parts) {
        return problems_->Fail("loss \"" + name + "\" needs classes but column " + Column() +
                                   " holds arrays of floating-point numbers",
                               "The packed table is " + Table() + ".",
                               "Use loss='categorical_crossentropy' for one-hot labels.");
      }
      const Shape positions(output.begin(), output.end() - (output.empty() ? 0 : 1));
      if (positions == labels || (positions.empty() && labels == Shape{1})) return;
      return problems_->Fail(
          "label arrays of " + Table() + " do not fit an output of shape " + ShapeText(output),
          "The labels have shape " + ShapeText(labels) + ", one class number each; " + name +
              " needs shape " + ShapeText(positions) + ".",
          "Use loss='categorical_crossentropy' for one-hot labels.");
    }
    if (SameButForChannels(labels, output)) return;
    problems_->Fail(
        "label arrays of " + Table() + " do not fit an output of shape " + ShapeText(output),
        "The labels have shape " + ShapeText(labels) + ".",
        "Give the last layer as many units as a label has values.");
  }

  std::string Column() const { return Quoted(labels_.column, "y"); }
  std::string Table() const { return Quoted(data_.table_name, "data"); }

  const DataDesc& data_;
  const DataOutput& labels_;
  ConfigProblems* const problems_;
};

// 'Its classes are 'f', 't'.', the way class_weight is to write them.
std::string ClassesOf(const std::vector<std::string>& labels) {
  constexpr size_t kShown = 20;
  std::string text;
  for (size_t i = 0; i < labels.size() && i < kShown; ++i) {
    text += (text.empty() ? "Its classes are '" : ", '") + labels[i] + "'";
  }
  if (text.empty()) return "";
  return text + (labels.size() > kShown ? ", ..." : ".");
}

}  // namespace

void CheckLabels(const ModelOutput& end, const CompileParams& compile, const DataDesc& data,
                 const DataOutput& labels, ConfigProblems* problems) {
  LabelCheck check(data, labels, problems);
  check.CheckLabels(end, compile);
  check.CheckTopK(end, compile);
}

void CheckClassWeights(const FitParams& fit, const DataDesc& data, ConfigProblems* problems) {
  if (fit.class_weight.empty() && !fit.balanced_classes) return;
  const std::string table = Quoted(data.table_name, "data");
  if (data.by_parts) {
    const bool several = data.outputs.size() > 1;
    return problems->Add({ErrorCode::kNotSupported,
                          several ? "class_weight needs a model with one output"
                                  : "class_weight and weights of rows exclude each other",
                          several ? "Keras knows no other, either." : "So they do in Keras.",
                          "Pack a column of weights that a view computes from the class."},
                         false);
  }
  const DataOutput& only = data.outputs[0];
  if (only.kind != LabelKind::kClass) {
    return problems->Add({ErrorCode::kNotSupported,
                          "class_weight needs class labels but column " + Quoted(only.column, "y") +
                              (only.kind == LabelKind::kArray ? " holds arrays" : " holds numbers"),
                          "The packed table is " + table + ".",
                          "Pack integer, boolean or text labels, or leave class_weight out."},
                         false);
  }
  if (fit.balanced_classes && only.class_counts.empty()) {
    return problems->Add(
        {ErrorCode::kNotReady,
         "class_weight 'balanced' needs the rows of each class, which " + table + " does not tell",
         "It was packed by an earlier version.",
         "Pack the data again, or write a dictionary: class_weight={0: 1.0, 1: 2.5}."},
        false);
  }
  const std::vector<std::string> labels = only.ClassNames();
  for (const auto& entry : fit.class_weight) {
    const std::string& key = entry.first;
    const bool quoted = key.size() >= 2 && (key.front() == '\'' || key.front() == '"');
    const std::string label = quoted ? key.substr(1, key.size() - 2) : key;
    if (quoted) {
      if (std::find(labels.begin(), labels.end(), label) != labels.end()) continue;
      problems->Fail(
          "class_weight names the class \"" + label + "\", which " + table + " does not have",
          ClassesOf(labels), NearestNameHint(label, labels));
      continue;
    }
    const bool is_number = label.find_first_not_of("0123456789") == std::string::npos;
    const bool in_range =
        is_number && !label.empty() && label.size() <= 9 && std::stoll(label) < only.num_classes;
    const bool is_label = std::find(labels.begin(), labels.end(), label) != labels.end();
    const std::string hint =
        is_label ? "Write '" + label + "' in quotes for the class with that label." : "";
    if (!in_range) {
      problems->Fail(
          "class_weight names the class " + label + " of " + std::to_string(only.num_classes),
          "Classes are counted from 0.", hint);
      continue;
    }
    const auto index = static_cast<size_t>(std::stoll(label));
    if (!is_label || index >= only.class_values.size()) continue;
    const std::optional<std::string>& meant = only.class_values[index];
    if (meant == label) continue;
    problems->Warn("class_weight of " + label + " is that of the class " +
                       (meant.has_value() ? "'" + *meant + "'" : "NULL"),
                   "Numbers without quotes are indexes, and classes are counted from 0.", hint);
  }
}

}  // namespace hopper
