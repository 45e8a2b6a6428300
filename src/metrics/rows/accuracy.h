// Accuracies.
#pragma once

#include "base/finite.h"
#include "metrics/largest.h"
#include "metrics/rows/rows.h"

namespace hopper {
namespace metric_rows {

struct BinaryAccuracy : OfExamples {
  static MetricType Type() {
    MetricType type = Mean(Direction::kUp);
    type.arguments = [](MetricParams* metric, ArgumentList* arguments) {
      arguments->AddThreshold("threshold", &metric->threshold);
    };
    type.of_probabilities = OfProbabilities;
    type.of_classes = true;
    type.halves = [](const MetricParams& /*metric*/, int64_t /*width*/) { return true; };
    return Named(type, {"binary_accuracy"});
  }
  // Whether it is sigmoid(x) > 0.5, which is x > 0.
  static bool OfSigmoid(const MetricParams& metric, bool logits, Activation last) {
    return logits && last == Activation::kSigmoid && !metric.threshold;
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    const auto bound = static_cast<float>(c.metric.threshold.value_or(0.5));
    const auto predicted =
        OfSigmoid(c.metric, c.logits, c.last) ? gt(c.output, 0.0) : gt(c.Probabilities(), bound);
    return c.Mean(eq(c.Labels(), c.Numbers(predicted)));
  }
  static bool OfProbabilities(const MetricParams& metric, const OutputRows& rows) {
    return !OfSigmoid(metric, rows.logits, rows.last);
  }
  static double Value(const MetricParams& metric, const OutputRows& rows, int64_t position) {
    const bool of_sigmoid = OfSigmoid(metric, rows.logits, rows.last);
    const auto bound = of_sigmoid ? 0.0F : static_cast<float>(metric.threshold.value_or(0.5));
    const float* row = rows.Row(position);
    int64_t right = 0;
    for (int64_t j = 0; j < rows.width; ++j) {
      right += rows.Label(position, j) == (row[j] > bound ? 1.0F : 0.0F);
    }
    return static_cast<double>(right) / static_cast<double>(rows.width);
  }
};

// Labels may be rows, or numbers of classes.
struct CategoricalAccuracy : OfExamples {
  static MetricType Type() {
    MetricType type = Mean(Direction::kUp);
    type.of_classes = true;
    return Named(type, {"categorical_accuracy"});
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    return c.Mean(eq(argmax(c.output, -1), c.Classes()));
  }
  static double Value(const MetricParams& /*metric*/, const OutputRows& rows, int64_t position) {
    const int64_t found = LargestPlace(rows.Row(position), rows.width);
    return found == (rows.width == 1 ? 0 : rows.NumberedClass(position)) ? 1.0 : 0.0;
  }
};

// CategoricalAccuracy but for a single output, whose label is a class's number too.
struct SparseCategoricalAccuracy : OfExamples {
  static MetricType Type() {
    return Named(CategoricalAccuracy::Type(), {"sparse_categorical_accuracy"});
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    return c.Mean(eq(argmax(c.output, -1), c.NumberedClasses()));
  }
  static double Value(const MetricParams& /*metric*/, const OutputRows& rows, int64_t position) {
    const int64_t found = LargestPlace(rows.Row(position), rows.width);
    return found == rows.NumberedClass(position) ? 1.0 : 0.0;
  }
};

// Keras resolves the name: binary with a single output, categorical (or sparse, by the labels) with
// several.
struct Accuracy : OfExamples {
  static bool IsBinary(int64_t width) { return width == 1; }
  static MetricType Type() {
    MetricType type = Mean(Direction::kUp);
    type.of_probabilities = [](const MetricParams& metric, const OutputRows& rows) {
      return IsBinary(rows.width) && BinaryAccuracy::OfProbabilities(metric, rows);
    };
    type.of_classes = true;
    type.halves = [](const MetricParams& /*metric*/, int64_t width) { return IsBinary(width); };
    return Named(type, {"accuracy"}, {"acc"});
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    return IsBinary(c.width()) ? BinaryAccuracy::PerExample(c) : CategoricalAccuracy::PerExample(c);
  }
  static double Value(const MetricParams& metric, const OutputRows& rows, int64_t position) {
    return IsBinary(rows.width) ? BinaryAccuracy::Value(metric, rows, position)
                                : CategoricalAccuracy::Value(metric, rows, position);
  }
};

// TensorFlow's in_top_k: fewer than k outputs lie above the class's, and all are finite.
struct TopK : OfExamples {
  static MetricType Type() {
    MetricType type = Mean(Direction::kUp);
    type.arguments = [](MetricParams* metric, ArgumentList* arguments) {
      arguments->AddInteger("k", 1, &metric->k);
    };
    type.looks_at_k = true;
    return Named(type,
                 {"top_k", "top_k_categorical_accuracy", "sparse_top_k_categorical_accuracy"});
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    const auto own = gather(c.output, -1, c.Classes().unsqueeze(-1));
    const auto above = sum(gt(c.output, own), {-1});
    return c.Mean(lt(above, c.metric.k).logical_and_(isfinite(c.output).all(-1)));
  }
  static double Value(const MetricParams& metric, const OutputRows& rows, int64_t position) {
    const float* row = rows.Row(position);
    const int64_t own = rows.width == 1 ? 0 : rows.NumberedClass(position);
    if (own < 0 || own >= rows.width) return 0.0;
    const bool finite = FirstNotFinite(row, rows.width) == rows.width;
    const auto above = std::count_if(row, row + rows.width, [&](float x) { return x > row[own]; });
    return finite && above < metric.k ? 1.0 : 0.0;
  }
};

}  // namespace metric_rows
}  // namespace hopper
