// All metrics that are no losses, or have a form of their own: a row each.
#pragma once

#include "metrics/rows/accuracy.h"
#include "metrics/rows/at_bound.h"
#include "metrics/rows/auc.h"
#include "metrics/rows/balanced_accuracy.h"
#include "metrics/rows/class_matrix.h"
#include "metrics/rows/confusion.h"
#include "metrics/rows/correlation.h"
#include "metrics/rows/f_beta.h"
#include "metrics/rows/iou.h"
#include "metrics/rows/losses.h"
#include "metrics/rows/matthews_correlation.h"
#include "metrics/rows/r2.h"

namespace hopper {

template <typename... M>
struct MetricList {};

using Metrics =
    MetricList<metric_rows::Accuracy, metric_rows::BinaryAccuracy, metric_rows::CategoricalAccuracy,
               metric_rows::SparseCategoricalAccuracy, metric_rows::TopK,
               metric_rows::RootMeanSquaredError, metric_rows::CosineSimilarity,
               metric_rows::Crossentropy, metric_rows::TruePositives, metric_rows::TrueNegatives,
               metric_rows::FalsePositives, metric_rows::FalseNegatives, metric_rows::Precision,
               metric_rows::Recall, metric_rows::F1Score, metric_rows::FBetaScore, metric_rows::Auc,
               metric_rows::R2Score, metric_rows::MeanIoU, metric_rows::IoU, metric_rows::BinaryIoU,
               metric_rows::PrecisionAtRecall, metric_rows::RecallAtPrecision,
               metric_rows::SensitivityAtSpecificity, metric_rows::SpecificityAtSensitivity,
               metric_rows::PearsonCorrelation, metric_rows::ConcordanceCorrelation,
               metric_rows::MatthewsCorrelation, metric_rows::BalancedAccuracy,
               metric_rows::AnyLoss, metric_rows::ClassCounts>;

}  // namespace hopper
