// A space as describe_space shows it.
#include <cmath>
#include <utility>

#include "params/text.h"
#include "search/space.h"

namespace hopper {
namespace {

std::string ConditionText(const std::vector<Dimension>& dimensions, const Dimension& dimension) {
  std::string text;
  for (const DimensionCondition& condition : dimension.conditions) {
    const Dimension& parent = dimensions[condition.parent];
    if (!text.empty()) text += " and ";
    text += parent.name;
    if (condition.allowed.empty()) {
      if (std::isfinite(condition.low)) text += " from " + RenderReal(condition.low);
      if (std::isfinite(condition.high)) text += " to " + RenderReal(condition.high);
      continue;
    }
    const char* separator = condition.allowed.size() == 1 ? " = " : " in ";
    for (const double allowed : condition.allowed) {
      text += separator + RenderJson(parent.ValueOf(allowed));
      separator = ", ";
    }
  }
  return text;
}

}  // namespace

std::vector<DimensionRow> DescribeSpace(const SearchSpace& space) {
  std::vector<DimensionRow> rows;
  for (const Dimension& dimension : space.dimensions()) {
    DimensionRow row;
    row.name = dimension.name;
    const uint64_t count = dimension.Count();
    if (count > 0) row.count = count;
    if (dimension.kind == DimensionKind::kChoice) {
      row.type = count == 1 ? "constant" : "choice";
      Value list;
      list.kind = Value::Kind::kList;
      list.items = dimension.choices;
      row.choices = RenderJson(list);
    } else {
      row.type = dimension.kind == DimensionKind::kInteger ? "int" : "float";
      row.scale = ScaleNames()[static_cast<size_t>(dimension.scale)];
      row.low = dimension.low;
      row.high = dimension.high;
      if (dimension.step > 0) row.step = dimension.step;
    }
    row.condition = ConditionText(space.dimensions(), dimension);
    for (const std::string& place : dimension.used_in) {
      row.used_in += (row.used_in.empty() ? "" : ", ") + place;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace hopper
