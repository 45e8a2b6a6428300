#include "search/space.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "base/cancel.h"
#include "params/text.h"
#include "search/keep_best.h"

namespace hopper {
namespace {

// Steps that fit into a range whose length is nearly a multiple of them.
constexpr double kStepSlack = 1e-9;
// Of the largest number: less is not told apart by 12 digits.
constexpr double kLeastStep = 1e-11;
// A model looks at the shares of the range that are halfway to the next numbers.
constexpr double kLargestInteger = 1e12;
// Choices of a parameter whose texts are tried before a search begins.
constexpr uint64_t kProbedChoices = 100;

// 12 significant digits: too few for the last bits in which mathematical libraries differ.
double Rounded(double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.12g", value);
  return std::strtod(text, nullptr);
}

}  // namespace

double Warped(Scale scale, double value) {
  switch (scale) {
    case Scale::kLog:
      return std::log(value);
    case Scale::kLogNearOne:
      return -std::log(1 - value);
    case Scale::kLinear:
      break;
  }
  return value;
}

double Unwarped(Scale scale, double warped) {
  switch (scale) {
    case Scale::kLog:
      return std::exp(warped);
    case Scale::kLogNearOne:
      return 1 - std::exp(-warped);
    case Scale::kLinear:
      break;
  }
  return warped;
}

std::string RangeProblem(const Dimension& dimension) {
  if (dimension.kind == DimensionKind::kChoice || dimension.low == dimension.high) return "";
  const double largest = std::max(std::abs(dimension.low), std::abs(dimension.high));
  if (!std::isfinite(dimension.high - dimension.low)) {
    return "the range is wider than the largest number";
  }
  if (dimension.kind == DimensionKind::kInteger) {
    return largest > kLargestInteger ? "whole numbers must be from -1e12 to 1e12" : "";
  }
  if (dimension.step > 0) {
    return dimension.step < kLeastStep * largest
               ? "the step is too small to tell numbers as large as these apart"
               : "";
  }
  return Rounded(dimension.low) == Rounded(dimension.high)
             ? "the ends of the range are the same number in their first 12 digits"
             : "";
}

uint64_t Dimension::Count() const {
  if (kind == DimensionKind::kChoice) return choices.size();
  if (low == high) return 1;
  if (step <= 0) return 0;
  const double steps = (high - low) / step;
  const double slack = std::max(kStepSlack, 4 * std::numeric_limits<double>::epsilon() * steps);
  return static_cast<uint64_t>(std::floor(steps + slack)) + 1;
}

double Dimension::At(uint64_t i) const {
  if (kind == DimensionKind::kChoice) return static_cast<double>(i);
  if (i == 0) return low;
  const double value = low + static_cast<double>(i) * step;
  // 0.3 is a step of 0.1, which three times 0.1 is not.
  return std::min(high, kind == DimensionKind::kFloat ? Rounded(value) : value);
}

double Dimension::FromUnit(double u) const {
  if (IsDiscrete() && scale == Scale::kLinear) {
    const uint64_t count = Count();
    return At(std::min(count - 1, static_cast<uint64_t>(u * static_cast<double>(count))));
  }
  // Whole numbers have the half before and after them for their share.
  const double half = kind == DimensionKind::kInteger ? 0.5 : 0;
  const double from = Warped(scale, low - half);
  const double to = Warped(scale, high + half);
  return Nearest(Unwarped(scale, from + u * (to - from)));
}

double Dimension::ToUnit(double value) const {
  if (IsDiscrete() && scale == Scale::kLinear) {
    const double place = kind == DimensionKind::kChoice ? value : std::round((value - low) / step);
    return (place + 0.5) / static_cast<double>(Count());
  }
  if (low == high) return 0.5;
  const double half = kind == DimensionKind::kInteger ? 0.5 : 0;
  const double from = Warped(scale, low - half);
  const double to = Warped(scale, high + half);
  return std::clamp((Warped(scale, value) - from) / (to - from), 0.0, 1.0);
}

double Dimension::Nearest(double value) const {
  if (kind == DimensionKind::kChoice) {
    return std::clamp(std::round(value), 0.0, static_cast<double>(choices.size()) - 1);
  }
  if (step <= 0) return std::clamp(Rounded(value), low, high);
  const double place =
      std::clamp(std::round((value - low) / step), 0.0, static_cast<double>(Count()) - 1);
  return At(static_cast<uint64_t>(place));
}

Value Dimension::ValueOf(double value) const {
  switch (kind) {
    case DimensionKind::kChoice:
      return choices[static_cast<size_t>(value)];
    case DimensionKind::kInteger:
      return Value::Integer(static_cast<int64_t>(value));
    case DimensionKind::kFloat:
      break;
  }
  return Value::Real(value);
}

SearchSpace::SearchSpace(std::vector<Dimension> dimensions,
                         std::shared_ptr<const SearchTexts> texts)
    : dimensions_(std::move(dimensions)), texts_(std::move(texts)) {
  std::vector<bool> placed(size(), false);
  while (order_.size() < size()) {
    const size_t before = order_.size();
    for (size_t d = 0; d < size(); ++d) {
      const std::vector<DimensionCondition>& conditions = dimensions_[d].conditions;
      conditional_ = conditional_ || !conditions.empty();
      if (!placed[d] && std::all_of(conditions.begin(), conditions.end(),
                                    [&](const auto& c) { return placed[c.parent]; })) {
        placed[d] = true;
        order_.push_back(d);
      }
    }
    if (order_.size() == before) {
      throw Error(ErrorCode::kInternal, "conditions of a search space form a cycle");
    }
  }
  shapes_network_.resize(size());
  for (auto d = order_.rbegin(); d != order_.rend(); ++d) {
    shapes_network_[*d] = shapes_network_[*d] || dimensions_[*d].structural;
    if (!shapes_network_[*d]) continue;
    for (const DimensionCondition& c : dimensions_[*d].conditions) shapes_network_[c.parent] = true;
  }
}

bool SearchSpace::IsActive(size_t dimension, const SearchPoint& point) const {
  for (const DimensionCondition& condition : dimensions_[dimension].conditions) {
    const double value = point[condition.parent];
    if (std::isnan(value)) return false;
    const std::vector<double>& allowed = condition.allowed;
    const bool holds = allowed.empty()
                           ? condition.low <= value && value <= condition.high
                           : std::find(allowed.begin(), allowed.end(), value) != allowed.end();
    if (!holds) return false;
  }
  return true;
}

SearchPoint SearchSpace::First() const {
  return Fill([this](size_t d) { return dimensions_[d].At(0); });
}

bool SearchSpace::Next(SearchPoint* point) const {
  LookAtCancel();
  // An odometer whose wheels are there or not, as wheels before them stand.
  for (size_t k = size(); k-- > 0;) {
    const size_t turned = order_[k];
    if (std::isnan((*point)[turned])) continue;
    const Dimension& dimension = dimensions_[turned];
    const uint64_t count = dimension.Count();
    // The place is exact: a value is At() of it.
    const double value = (*point)[turned];
    uint64_t place = 0;
    if (dimension.kind == DimensionKind::kChoice) {
      place = static_cast<uint64_t>(value);
    } else if (dimension.step > 0) {
      place = static_cast<uint64_t>(std::round((value - dimension.low) / dimension.step));
    }
    if (place + 1 >= count) continue;
    (*point)[turned] = dimension.At(place + 1);
    for (size_t after = k + 1; after < size(); ++after) {
      const size_t d = order_[after];
      (*point)[d] = IsActive(d, *point) ? dimensions_[d].At(0) : kInactive;
    }
    return true;
  }
  return false;
}

uint64_t SearchSpace::CountPoints(uint64_t limit) const {
  uint64_t product = 1;
  bool many = false;
  for (const Dimension& dimension : dimensions_) {
    const uint64_t count = dimension.Count();
    if (count == 0) return 0;
    many = many || __builtin_mul_overflow(product, count, &product);
  }
  if (!conditional_) return many ? limit : std::min(product, limit);
  uint64_t points = 1;
  for (SearchPoint point = First(); points < limit && Next(&point);) ++points;
  return points;
}

std::string SearchSpace::PointText(const SearchPoint& point) const { return TextOf(point, false); }

std::string SearchSpace::StructureText(const SearchPoint& point) const {
  return TextOf(point, true);
}

std::string SearchSpace::TextOf(const SearchPoint& point, bool only_structure) const {
  std::string text = "{";
  for (size_t d = 0; d < size(); ++d) {
    if (std::isnan(point[d])) continue;
    if (only_structure && (!dimensions_[d].structural || dimensions_[d].name == "model_id"))
      continue;
    if (text.size() > 1) text += ", ";
    text += RenderJson(Value::String(dimensions_[d].name)) + ": " +
            RenderJson(dimensions_[d].ValueOf(point[d]));
  }
  return text + "}";
}

namespace {

// The number of a point; nothing where the dimension has no such value.
std::optional<double> NumberOf(const Dimension& dimension, const Value& given) {
  if (dimension.kind == DimensionKind::kChoice) {
    const std::string wanted = RenderJson(given);
    for (size_t i = 0; i < dimension.choices.size(); ++i) {
      if (RenderJson(dimension.choices[i]) == wanted) return static_cast<double>(i);
    }
  } else if (given.IsNumber()) {
    const double nearest = dimension.Nearest(given.real);
    const double slack = 1e-9 * std::max(1.0, std::abs(given.real));
    if (std::abs(nearest - given.real) <= slack) return nearest;
  }
  return std::nullopt;
}

}  // namespace

SearchPoint SearchSpace::ParsePoint(const std::string& text, std::vector<Problem>* problems) const {
  Value value;
  try {
    value = ParseJson(text, "the configuration");
  } catch (const Error& error) {
    problems->push_back(error.problem());
    return {};
  }
  if (value.kind != Value::Kind::kDict) {
    problems->push_back({ErrorCode::kInvalidText, "it is not an object: " + text, "", ""});
    return {};
  }
  const auto fail = [&](const std::string& message, const std::string& hint = "") {
    problems->push_back({ErrorCode::kInvalidParameter, message, "", hint});
  };
  std::vector<std::string> names;
  for (const Dimension& dimension : dimensions_) names.push_back(dimension.name);
  for (const ValueEntry& entry : value.entries) {
    if (std::find(names.begin(), names.end(), entry.key.text) == names.end()) {
      fail("the search space has no parameter \"" + entry.key.text + "\"",
           NearestNameHint(entry.key.text, names));
    }
  }
  return Fill([&](size_t d) {
    const Dimension& dimension = dimensions_[d];
    const Value* given = value.Find(dimension.name);
    // What has one value only need not be said.
    if (given == nullptr && dimension.Count() == 1) return dimension.At(0);
    const auto number = given == nullptr ? std::nullopt : NumberOf(dimension, *given);
    if (number) return *number;
    fail("parameter \"" + dimension.name + "\" " +
         (given == nullptr ? "is missing" : "cannot be " + RenderJson(*given)));
    return kInactive;  // nor does it ask for others
  });
}

std::vector<SearchPoint> ProbePoints(const SearchSpace& space) {
  std::vector<SearchPoint> points;
  std::vector<double> middle;
  for (const Dimension& dimension : space.dimensions()) middle.push_back(dimension.FromUnit(0.5));
  const auto add = [&](size_t changed, double value) {
    std::vector<double> numbers = middle;
    space.Activate(changed, &numbers);
    numbers[changed] = value;
    points.push_back(space.Fill([&](size_t d) { return numbers[d]; }));
  };
  for (size_t d = 0; d < space.size(); ++d) {
    const Dimension& dimension = space.dimensions()[d];
    if (dimension.kind == DimensionKind::kChoice) {
      for (uint64_t i = 0; i < std::min(dimension.Count(), kProbedChoices); ++i) {
        add(d, dimension.At(i));
      }
    } else {
      add(d, dimension.low);
      add(d, dimension.high);
    }
  }
  if (space.size() == 0) points.push_back(space.Fill([](size_t) { return kInactive; }));
  return points;
}

void SearchSpace::Activate(size_t dimension, std::vector<double>* numbers) const {
  // From what depends to what it depends on, each once: there may be many ways up to a parent.
  std::vector<bool> wanted(size(), false);
  wanted[dimension] = true;
  for (auto d = order_.rbegin(); d != order_.rend(); ++d) {
    if (!wanted[*d]) continue;
    for (const DimensionCondition& condition : dimensions_[*d].conditions) {
      wanted[condition.parent] = true;
      double& parent = (*numbers)[condition.parent];
      const std::vector<double>& allowed = condition.allowed;
      if (allowed.empty()) {
        parent = dimensions_[condition.parent].Nearest(
            std::clamp(parent, condition.low, condition.high));
      } else if (std::find(allowed.begin(), allowed.end(), parent) == allowed.end()) {
        parent = allowed.front();
      }
    }
  }
}

SearchConfiguration SearchSpace::Configuration(const SearchPoint& point) const {
  SearchConfiguration configuration = texts_->Configuration(dimensions_, point);
  if (!monitor_.empty()) configuration.fit_params = KeepBest(configuration.fit_params, monitor_);
  return configuration;
}

std::string SearchSpace::Architecture(const SearchPoint& point, int32_t model_id) const {
  return texts_->Architecture(dimensions_, point, model_id);
}

}  // namespace hopper
