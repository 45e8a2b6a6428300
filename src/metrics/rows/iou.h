// Intersection over union: keras.metrics.MeanIoU, IoU, OneHotIoU, BinaryIoU.
#pragma once

#include "metrics/rows/class_matrix.h"

namespace hopper {
namespace metric_rows {

// The mean over the classes that are asked for. A class that neither labels nor predictions have is
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

struct MeanIoU : ClassMatrixSums {
  static MetricType Type() {
    MetricType type;
    type.direction = Direction::kUp;
    type.value = [](const MetricParams& metric, const double* sums, const SummedOver& of) {
      return IoUOf(metric, sums, ClassCount(of.width));
    };
    type.arguments = AddIoUArguments<false>;
    return Named(type, {"mean_io_u"}, {"one_hot_mean_io_u"});
  }
};

struct IoU : ClassMatrixSums {
  static MetricType Type() {
    MetricType type = Named(MeanIoU::Type(), {"io_u"}, {"one_hot_io_u"});
    type.arguments = AddIoUArguments<true>;
    return type;
  }
};

// Outputs by label (0 or 1) and side of the threshold. Other labels do not count.
struct BinaryMatrixSums {
  static int64_t SumCount(const MetricParams& /*metric*/, int64_t /*width*/) { return 4; }

  static void Add(const MetricParams& metric, const CountedRows& rows, double* sums) {
    const float threshold = static_cast<float>(metric.threshold.value_or(0.5));
    for (int64_t i = 0; i < rows.rows * rows.width; ++i) {
      const float y = std::trunc(rows.labels[i]);
      if (y != 0.0F && y != 1.0F) continue;
      sums[(y == 1.0F ? 2 : 0) + (rows.outputs[i] >= threshold ? 1 : 0)] += 1.0;
    }
  }

  template <typename Call>
  static auto Lanes(const Call& c) {
    const auto threshold = static_cast<float>(c.metric.threshold.value_or(0.5));
    const int64_t count = SumCount(c.metric, c.width());
    const auto y = c.Longs(c.labels.flatten(1));
    const auto predicted = c.Longs(ge(c.outputs.flatten(1), threshold));
    // What does not count goes into a place of its own, which is dropped.
    const auto known = ge(y, 0).logical_and(lt(y, 2));
    const auto place = where(known, add(mul(y, 2), predicted), c.Number(count, y));
    return c.Histogram(place, count + 1).narrow(1, 0, count);
  }
};

struct BinaryIoU : BinaryMatrixSums {
  static MetricType Type() {
    MetricType type;
    type.names = {"binary_io_u"};
    type.direction = Direction::kUp;
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
