// Intersection over union: keras.metrics.MeanIoU, IoU, OneHotIoU, BinaryIoU.
#pragma once

#include "metrics/rows/rows.h"

namespace hopper {
namespace metric_rows {

// The mean over the classes that are asked for. Those that neither labels nor predictions have are
// left out.
inline double IoUOf(const MetricParams& metric, const double* sums, int64_t classes) {
  double sum = 0.0, present = 0.0;
  const auto add = [&](int64_t i) {
    double labels = 0.0, predictions = 0.0;
    for (int64_t j = 0; j < classes; ++j) {
      if (metric.ignore_class != i) labels += sums[i * classes + j];
      if (metric.ignore_class != j) predictions += sums[j * classes + i];
    }
    const double hits = metric.ignore_class == i ? 0.0 : sums[i * classes + i];
    const double all = labels + predictions - hits;
    if (all == 0.0) return;
    sum += hits / (all + kKerasEpsilon);
    present += 1.0;
  };
  for (const int i : metric.class_ids) {
    if (i < classes) add(i);
  }
  for (int64_t i = 0; i < classes && metric.class_ids.empty(); ++i) add(i);
  return Divide(sum, present);
}

template <bool kWantsIds>
void AddIoUArguments(MetricParams* metric, ArgumentList* arguments) {
  const auto any_bool = [](const Value& value, const std::string& label, ProblemList* problems) {
    ReadBool(value, label, problems);
  };
  arguments->AddUnused("num_classes",
                       [](const Value& value, const std::string& label, ProblemList* problems) {
                         ReadInteger(value, 2, std::numeric_limits<int>::max(), label, problems);
                       });
  if (kWantsIds) {
    arguments->AddIntegers("target_class_ids", 0, std::numeric_limits<int>::max(),
                           &metric->class_ids, /*required=*/true);
  }
  arguments->AddInteger("ignore_class", 0, &metric->ignore_class);
  arguments->AddUnused("sparse_y_true", any_bool);  // labels and outputs are read as they are
  arguments->AddUnused("sparse_y_pred", any_bool);
}

struct MeanIoU {
  static MetricType Type() {
    MetricType type;
    type.direction = Direction::kUp;
    type.summed = Summed::kClassMatrix;
    type.value = [](const MetricParams& metric, const double* sums, const SummedOver& of) {
      return IoUOf(metric, sums, ClassCount(of.width));
    };
    type.arguments = AddIoUArguments<false>;
    return Named(type, {"mean_io_u"}, {"one_hot_mean_io_u"});
  }
};

struct IoU {
  static MetricType Type() {
    MetricType type = Named(MeanIoU::Type(), {"io_u"}, {"one_hot_io_u"});
    type.arguments = AddIoUArguments<true>;
    return type;
  }
};

struct BinaryIoU {
  static MetricType Type() {
    MetricType type;
    type.names = {"binary_io_u"};
    type.direction = Direction::kUp;
    type.summed = Summed::kBinaryMatrix;
    type.value = [](const MetricParams& metric, const double* sums, const SummedOver& /*of*/) {
      return IoUOf(metric, sums, 2);
    };
    type.arguments = [](MetricParams* metric, ArgumentList* arguments) {
      arguments->AddIntegers("target_class_ids", 0, 1, &metric->class_ids);
      arguments->AddThreshold("threshold", &metric->threshold);
    };
    return type;
  }
};

}  // namespace metric_rows
}  // namespace hopper
