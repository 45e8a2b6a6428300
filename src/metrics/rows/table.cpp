#include "metrics/rows/table.h"

#include <algorithm>

#include "base/place_in.h"

namespace hopper {
namespace {

template <typename... M>
std::vector<MetricType> TypesOf(MetricList<M...> /*metrics*/) {
  std::vector<MetricType> types = {M::Type()...};
  for (size_t i = 0; i < types.size(); ++i) types[i].place = static_cast<int>(i);
  return types;
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
