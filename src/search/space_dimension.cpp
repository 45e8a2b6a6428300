#include "search/space_dimension.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "params/text.h"
#include "search/choices.h"

namespace hopper {

namespace {

// Whole numbers beyond it are not exact as doubles.
constexpr double kLargestExactInteger = 0x1p53;

const std::vector<std::string> kTypes = {"float", "int", "choice", "constant"};

Dimension Constant(const Dimension& dimension) {
  Dimension constant;
  constant.name = dimension.name;
  constant.kind = DimensionKind::kChoice;
  constant.choices = {Value::None()};
  return constant;
}

double ReadBound(const Value& value, const std::string& key, const std::string& path,
                 const Dimension& dimension, bool* ok, SpaceProblems* problems) {
  const Value* bound = value.Find(key);
  if (bound == nullptr || !bound->IsNumber() || !std::isfinite(bound->real)) {
    problems->Fail(path + "." + key,
                   bound == nullptr ? "is missing" : "must be a number, got " + RenderJson(*bound));
    *ok = false;
    return 0;
  }
  if (dimension.kind == DimensionKind::kInteger &&
      (bound->real != std::floor(bound->real) || std::abs(bound->real) > kLargestExactInteger)) {
    problems->Fail(path + "." + key, "must be a whole number, got " + RenderJson(*bound));
    *ok = false;
  }
  return bound->real;
}

void ReadRange(const Value& value, const std::string& path, Dimension* dimension,
               SpaceProblems* problems) {
  bool ok = true;
  dimension->low = ReadBound(value, "low", path, *dimension, &ok, problems);
  dimension->high = ReadBound(value, "high", path, *dimension, &ok, problems);
  const bool integer = dimension->kind == DimensionKind::kInteger;
  if (integer) dimension->step = 1;
  if (const Value* scale = value.Find("scale")) {
    const std::vector<std::string>& names = ScaleNames();
    const auto known =
        scale->IsText() ? std::find(names.begin(), names.end(), scale->text) : names.end();
    if (known == names.end()) {
      const std::string hint = scale->IsText() ? NearestNameHint(scale->text, names) : "";
      problems->Fail(path + ".scale", "scale " + RenderJson(*scale) + " is not known",
                     hint.empty() ? "Scales are linear, log and log_near_one." : hint);
    } else {
      dimension->scale = static_cast<Scale>(known - names.begin());
    }
  }
  if (value.Find("step") != nullptr) {
    const double step = ReadBound(value, "step", path, *dimension, &ok, problems);
    if (ok && step <= 0) problems->Fail(path + ".step", "must be above zero");
    if (dimension->scale != Scale::kLinear) {
      problems->Fail(path + ".step", "only a linear scale has steps");
    }
    ok = ok && step > 0;
    if (ok) dimension->step = step;
  }
  if (!ok) {
    *dimension = Constant(*dimension);
    return;
  }
  const std::string low = RenderJson(*value.Find("low"));
  if (dimension->low > dimension->high) {
    problems->Fail(path, "the range is upside down: low " + low + " is above high " +
                             RenderJson(*value.Find("high")));
    std::swap(dimension->low, dimension->high);
  } else if (dimension->scale == Scale::kLog && dimension->low <= 0) {
    problems->Fail(path + ".low", "a log scale needs a range above zero, got " + low);
  } else if (dimension->scale == Scale::kLogNearOne && (integer || dimension->high >= 1)) {
    problems->Fail(path + ".high", "scale log_near_one needs numbers below one");
  } else if (dimension->step > 0 && (dimension->high - dimension->low) / dimension->step > 1e9) {
    problems->Fail(path, "has more than a thousand million steps");
  } else if (const std::string problem = RangeProblem(*dimension); !problem.empty()) {
    problems->Fail(path, problem);
  } else if (dimension->step > 0 && dimension->scale == Scale::kLinear) {
    // The last value that the steps reach.
    dimension->high = dimension->At(dimension->Count() - 1);
  }
}

void ReadChoices(const Value& list, const std::string& path, Dimension* dimension,
                 SpaceProblems* problems) {
  dimension->kind = DimensionKind::kChoice;
  if (list.items.empty()) problems->Fail(path, "list of choices is empty");
  std::set<std::string> seen;
  for (size_t i = 0; i < list.items.size(); ++i) {
    if (!seen.insert(RenderJson(list.items[i])).second) {
      problems->Fail(path + "[" + std::to_string(i) + "]",
                     RenderJson(list.items[i]) + " stands twice among the choices");
    }
  }
  dimension->choices = list.items;
}

void ReadObject(const Value& value, const std::string& path, Dimension* dimension,
                SpaceProblems* problems) {
  const Value* type = value.Find("type");
  if (type == nullptr || !type->IsText() ||
      std::find(kTypes.begin(), kTypes.end(), type->text) == kTypes.end()) {
    const std::string hint =
        type != nullptr && type->IsText() ? NearestNameHint(type->text, kTypes) : "";
    problems->Fail(path + ".type",
                   type == nullptr ? "is missing" : "type " + RenderJson(*type) + " is not known",
                   hint.empty() ? "Types are float, int, choice and constant." : hint);
    return;
  }
  if (type->text == "choice") {
    problems->KnownKeys(value, path, {"type", "values", "when"});
    const Value* values = value.Find("values");
    if (values == nullptr || !values->IsSequence()) {
      problems->Fail(path + ".values", "must be a list");
    } else {
      ReadChoices(*values, path + ".values", dimension, problems);
    }
  } else if (type->text == "constant") {
    problems->KnownKeys(value, path, {"type", "value", "when"});
    const Value* constant = value.Find("value");
    if (constant == nullptr) problems->Fail(path + ".value", "is missing");
    dimension->kind = DimensionKind::kChoice;
    dimension->choices = {constant == nullptr ? Value::None() : *constant};
  } else {
    problems->KnownKeys(value, path, {"type", "low", "high", "scale", "step", "when"});
    dimension->kind = type->text == "int" ? DimensionKind::kInteger : DimensionKind::kFloat;
    ReadRange(value, path, dimension, problems);
  }
}

}  // namespace

void SpaceProblems::Fail(const std::string& path, const std::string& problem,
                         const std::string& hint) {
  problems_->push_back(
      {ErrorCode::kInvalidParameter,
       "search space" + (path.empty() ? "" : " at \"" + path + "\"") + ": " + problem, "", hint});
}

void SpaceProblems::KnownKeys(const Value& dict, const std::string& path,
                              const std::vector<std::string>& keys) {
  for (const ValueEntry& entry : dict.entries) {
    if (std::find(keys.begin(), keys.end(), entry.key.text) != keys.end()) continue;
    std::string known;
    for (const std::string& key : keys) known += (known.empty() ? "" : ", ") + key;
    const std::string hint = NearestNameHint(entry.key.text, keys);
    Fail(path, "key \"" + entry.key.text + "\" is not known",
         hint.empty() ? "Known are " + known + "." : hint);
  }
}

void ReadDimension(const Value& value, const std::string& path, SpaceProblems* problems,
                   Dimension* dimension) {
  if (value.IsSequence()) {
    ReadChoices(value, path, dimension, problems);
  } else if (value.kind != Value::Kind::kDict) {
    dimension->kind = DimensionKind::kChoice;
    dimension->choices = {value};
  } else {
    ReadObject(value, path, dimension, problems);
  }
}

}  // namespace hopper
