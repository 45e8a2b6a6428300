#include "metrics/rows/table.h"

#include <algorithm>
#include <type_traits>

#include "base/place_in.h"
#include "metrics/largest.h"

namespace hopper {
namespace {

template <typename M>
MetricType FilledIn() {
  MetricType type = M::Type();
  type.place = PlaceIn<M>(Metrics());
  type.sum_count = M::SumCount;
  if constexpr (!std::is_base_of_v<metric_rows::OfExamples, M>) {
    type.add = M::Add;
  } else if constexpr (!std::is_base_of_v<metric_rows::OfLoss, M>) {
    type.value_at = M::Value;
  }
  return type;
}

template <typename... M>
std::vector<MetricType> TypesOf(MetricList<M...> /*metrics*/) {
  return {FilledIn<M>()...};
}

template <typename M>
const MetricType& RowOf() {
  return MetricTypes()[static_cast<size_t>(PlaceIn<M>(Metrics()))];
}

}  // namespace

const std::vector<MetricType>& MetricTypes() {
  static const std::vector<MetricType> types = TypesOf(Metrics());
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

float OutputRows::Label(int64_t position, int64_t column) const {
  if (labels != nullptr) return labels[position * width + column];
  if (width == 1 && positions == 1) {
    return classes != nullptr ? static_cast<float>(classes[position]) : numbers[position];
  }
  if (classes == nullptr) return NumberedClass(position) == column ? 1.0F : 0.0F;
  const int64_t place = position % positions * width + column;
  return classes[position / positions] == place ? 1.0F : 0.0F;
}

int64_t OutputRows::NumberedClass(int64_t position) const {
  if (labels != nullptr) {
    return width == 1 ? static_cast<int64_t>(labels[position])
                      : LargestPlace(labels + position * width, width);
  }
  return classes != nullptr ? classes[position / positions]
                            : static_cast<int64_t>(numbers[position]);
}

const MetricType& LossMetric() { return RowOf<metric_rows::AnyLoss>(); }
const MetricType& ConfusionMatrix() { return RowOf<metric_rows::ClassCounts>(); }

}  // namespace hopper
