// Accuracies.
#pragma once

#include "metrics/rows/rows.h"

namespace hopper {
namespace metric_rows {

inline MetricType Accuracy() {
  return Named(OfExamples(ExampleValue::kAccuracy, Direction::kUp), {"accuracy"}, {"acc"});
}

inline MetricType BinaryAccuracy() {
  MetricType type = OfExamples(ExampleValue::kBinaryAccuracy, Direction::kUp);
  type.arguments = [](MetricParams* metric, ArgumentList* arguments) {
    arguments->AddThreshold("threshold", &metric->threshold);
  };
  return Named(type, {"binary_accuracy"});
}

inline MetricType CategoricalAccuracy() {
  return Named(OfExamples(ExampleValue::kCategoricalAccuracy, Direction::kUp),
               {"categorical_accuracy"});
}

inline MetricType SparseCategoricalAccuracy() {
  return Named(OfExamples(ExampleValue::kSparseCategoricalAccuracy, Direction::kUp),
               {"sparse_categorical_accuracy"});
}

inline MetricType TopK() {
  MetricType type = OfExamples(ExampleValue::kTopK, Direction::kUp);
  type.arguments = [](MetricParams* metric, ArgumentList* arguments) {
    arguments->AddInteger("k", 1, &metric->k);
  };
  return Named(type, {"top_k", "top_k_categorical_accuracy", "sparse_top_k_categorical_accuracy"});
}

}  // namespace metric_rows
}  // namespace hopper
