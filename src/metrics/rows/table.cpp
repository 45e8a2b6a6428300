// All metrics that are no losses, or have a form of their own: a row each.
#include <algorithm>

#include "metrics/rows/accuracy.h"
#include "metrics/rows/at_bound.h"
#include "metrics/rows/auc.h"
#include "metrics/rows/confusion.h"
#include "metrics/rows/correlation.h"
#include "metrics/rows/errors.h"
#include "metrics/rows/f_beta.h"
#include "metrics/rows/iou.h"
#include "metrics/rows/matthews_correlation.h"
#include "metrics/rows/r2.h"

namespace hopper {

const std::vector<MetricType>& MetricTypes() {
  namespace rows = metric_rows;
  static const std::vector<MetricType> types = {
      rows::Accuracy(),
      rows::BinaryAccuracy(),
      rows::CategoricalAccuracy(),
      rows::SparseCategoricalAccuracy(),
      rows::TopK(),
      rows::MeanSquaredError(),
      rows::MeanAbsoluteError(),
      rows::RootMeanSquaredError(),
      rows::CosineSimilarity(),
      rows::Crossentropy(),
      rows::TruePositives(),
      rows::TrueNegatives(),
      rows::FalsePositives(),
      rows::FalseNegatives(),
      rows::Precision(),
      rows::Recall(),
      rows::F1Score(),
      rows::FBetaScore(),
      rows::Auc(),
      rows::R2Score(),
      rows::MeanIoU(),
      rows::IoU(),
      rows::BinaryIoU(),
      rows::PrecisionAtRecall(),
      rows::RecallAtPrecision(),
      rows::SensitivityAtSpecificity(),
      rows::SpecificityAtSensitivity(),
      rows::PearsonCorrelation(),
      rows::ConcordanceCorrelation(),
      rows::MatthewsCorrelation(),
  };
  return types;
}

const MetricType* FindMetric(const std::string& name) {
  const auto holds = [&name](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const MetricType& type : MetricTypes()) {
    if (holds(type.names) || holds(type.aliases)) return &type;
  }
  return nullptr;
}

const MetricType& LossMetric() {
  static const MetricType type = metric_rows::OfExamples(ExampleValue::kLoss, Direction::kDown);
  return type;
}

const MetricType& ConfusionMatrix() {
  static const MetricType type = [] {
    MetricType matrix;
    matrix.summed = Summed::kClassMatrix;
    matrix.value = [](const MetricParams& /*metric*/, const double* /*sums*/,
                      const SummedOver& /*of*/) { return 0.0; };
    return matrix;
  }();
  return type;
}

}  // namespace hopper
