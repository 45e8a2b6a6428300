// What a metric is. Each family has a file of its own in metrics/rows, which fills this struct, and
// each metric a row in metrics/rows/table.cpp. Formulas: keras.metrics.*.
//
// A metric is a number of float64 sums that are added batch by batch and merged by addition, and a
// value that is a function of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "params/arguments.h"
#include "params/params.h"

namespace hopper {

// Whether smaller or larger values are the better ones.
enum class Direction { kUnknown, kDown, kUp };

// What is added up. How the sums lie: metrics/metric_sums.h.
enum class Summed {
  kExamples,        // a value of each example: its sum
  kConfusion,       // outputs above the threshold against labels that are not 0: counts
  kClassConfusion,  // the same of each output on its own
  kBuckets,         // positives and negatives between evenly spaced thresholds, NaN apart
  kBucketsAndZero,  // the same, with 0 apart as well
  kMoments,         // of each output: label, its square, squared error; then the rows
  kClassMatrix,     // positions by label and most likely class
  kBinaryMatrix,    // outputs by label (0 or 1) and side of the threshold
};

// Of what, where it is kExamples; metrics/metrics.h.
enum class ExampleValue {
  kNone,
  kAccuracy,  // binary, categorical or sparse: resolved by output width and labels
  kBinaryAccuracy,
  kCategoricalAccuracy,
  kSparseCategoricalAccuracy,
  kTopK,  // categorical or sparse, by the labels
  kSquaredError,
  kAbsoluteError,
  kCosineSimilarity,  // without the loss's minus
  kPearsonCorrelation,
  kConcordanceCorrelation,
  kCrossentropy,  // binary, categorical or sparse, as kAccuracy
  kLoss,          // the value of MetricParams::loss
};

// What the sums were taken of.
struct SummedOver {
  int64_t examples = 0;
  int64_t width = 0;  // the model's last output axis
};

struct MetricType {
  std::vector<std::string> names;    // in snake case
  std::vector<std::string> aliases;  // the same, left out of lists that people read
  Direction direction = Direction::kUnknown;
  Summed summed = Summed::kExamples;
  ExampleValue example = ExampleValue::kNone;
  // The metric's value.
  double (*value)(const MetricParams& metric, const double* sums, const SummedOver& of) = nullptr;
  // Those that it takes, under Keras' names and in Keras' order. Null: none.
  void (*arguments)(MetricParams* metric, ArgumentList* arguments) = nullptr;
  bool several_outputs = false;  // it says nothing of a single one
};

const std::vector<MetricType>& MetricTypes();
// By a name or alias in snake case; null where there is none.
const MetricType* FindMetric(const std::string& name);
// The value of a loss; and for evaluate() counts by label and prediction, whose sums are its value.
// Neither has a name.
const MetricType& LossMetric();
const MetricType& ConfusionMatrix();

}  // namespace hopper
