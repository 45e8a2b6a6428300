// How alike an example's outputs and labels are.
#pragma once

#include "metrics/rows/rows.h"

namespace hopper {
namespace metric_rows {

inline MetricType CosineSimilarity() {
  return Named(OfExamples(ExampleValue::kCosineSimilarity, Direction::kUp), {},
               {"cosine_similarity", "cosine_proximity"});
}

inline MetricType PearsonCorrelation() {
  MetricType type = OfExamples(ExampleValue::kPearsonCorrelation, Direction::kUp);
  type.several_outputs = true;
  return Named(type, {"pearson_correlation"});
}

inline MetricType ConcordanceCorrelation() {
  MetricType type = OfExamples(ExampleValue::kConcordanceCorrelation, Direction::kUp);
  type.several_outputs = true;
  return Named(type, {"concordance_correlation"});
}

}  // namespace metric_rows
}  // namespace hopper
