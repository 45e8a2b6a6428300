#include "metrics/rows/table.h"

#include <algorithm>
#include <type_traits>

#include "base/place_in.h"

namespace hopper {
namespace {

template <typename M>
MetricType FilledIn() {
  MetricType type = M::Type();
  type.place = PlaceIn<M>(Metrics());
  type.sum_count = M::SumCount;
  if constexpr (!std::is_base_of_v<metric_rows::OfExamples, M>) type.add = M::Add;
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

const MetricType& LossMetric() { return RowOf<metric_rows::AnyLoss>(); }
const MetricType& ConfusionMatrix() { return RowOf<metric_rows::ClassCounts>(); }

}  // namespace hopper
