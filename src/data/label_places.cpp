#include "data/label_places.h"

#include <algorithm>

namespace hopper {

std::optional<size_t> LabelPlace(const std::vector<std::string>& names, size_t at,
                                 const std::vector<DataOutput>& labels) {
  const auto place = LabelsOf(names[at], names.size(), labels);
  if (place || names.size() != labels.size()) return place;
  const bool named = std::any_of(labels.begin(), labels.end(), [&](const DataOutput& output) {
    return std::find(names.begin(), names.end(), output.name) != names.end();
  });
  return named ? std::nullopt : std::optional<size_t>(at);
}

}  // namespace hopper
