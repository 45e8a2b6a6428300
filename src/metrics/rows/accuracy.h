// Accuracies.
#pragma once

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
    type.sum_rows = SumRows;
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
  static bool SumRows(const MetricParams& metric, const OutputRows& rows, double* sum) {
    if (rows.width != 1 || metric.threshold) return false;
    const bool of_sigmoid = OfSigmoid(metric, rows.logits, rows.last);
    if (rows.logits && !of_sigmoid) return false;
    const float bound = of_sigmoid ? 0.0F : 0.5F;
    int64_t right = 0;
    if (rows.classes != nullptr) {
      for (int64_t i = 0; i < rows.rows; ++i) {
        right += rows.classes[i] == (rows.outputs[i] > bound ? 1 : 0);
      }
    } else if (rows.numbers != nullptr) {
      for (int64_t i = 0; i < rows.rows; ++i) {
        right += rows.numbers[i] == (rows.outputs[i] > bound ? 1.0F : 0.0F);
      }
    } else {
      return false;
    }
    *sum = static_cast<double>(right);
    return true;
  }
};

// Labels may be rows, or numbers of classes.
struct CategoricalAccuracy : OfExamples {
  static MetricType Type() {
    MetricType type = Mean(Direction::kUp);
    type.sum_rows = SumRows;
    type.of_classes = true;
    return Named(type, {"categorical_accuracy"});
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    return c.Mean(eq(argmax(c.output, -1), c.Classes()));
  }
  static bool SumRows(const MetricParams& /*metric*/, const OutputRows& rows, double* sum) {
    if (rows.width == 1 || rows.classes == nullptr) return false;
    int64_t right = 0;
    for (int64_t i = 0; i < rows.rows; ++i) {
      right += LargestPlace(rows.outputs + i * rows.width, rows.width) == rows.classes[i];
    }
    *sum = static_cast<double>(right);
    return true;
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
};

// Keras resolves the name: binary with a single output, categorical (or sparse, by the labels) with
// several.
struct Accuracy : OfExamples {
  static bool IsBinary(int64_t width) { return width == 1; }
  static MetricType Type() {
    MetricType type = Mean(Direction::kUp);
    type.sum_rows = [](const MetricParams& metric, const OutputRows& rows, double* sum) {
      return IsBinary(rows.width) ? BinaryAccuracy::SumRows(metric, rows, sum)
                                  : CategoricalAccuracy::SumRows(metric, rows, sum);
    };
    type.of_classes = true;
    type.halves = [](const MetricParams& /*metric*/, int64_t width) { return IsBinary(width); };
    return Named(type, {"accuracy"}, {"acc"});
  }
  template <typename Call>
  static auto PerExample(const Call& c) {
    return IsBinary(c.width()) ? BinaryAccuracy::PerExample(c) : CategoricalAccuracy::PerExample(c);
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
};

}  // namespace metric_rows
}  // namespace hopper
