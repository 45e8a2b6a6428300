#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/cancel.h"
#include "params/params.h"
#include "params/text.h"
#include "search/choices.h"
#include "search/space.h"
#include "search/template.h"

namespace hopper {
namespace {

// Whole numbers beyond it are not exact as doubles.
constexpr double kLargestInteger = 0x1p53;

const std::vector<std::string> kTypes = {"float", "int", "choice", "constant"};

Value Dict(std::vector<ValueEntry> entries) {
  Value value;
  value.kind = Value::Kind::kDict;
  value.entries = std::move(entries);
  return value;
}

// Texts of configurations from JSON templates.
class TemplateTexts : public SearchTexts {
 public:
  // "model_id" is the value, or names the parameter.
  Value model_id = Dict({});
  Value compile = Dict({});
  Value fit = Dict({});
  std::map<int32_t, Value> architectures;

  SearchConfiguration Configuration(const std::vector<Dimension>& dimensions,
                                    const SearchPoint& point) const override {
    SearchConfiguration configuration;
    const std::optional<Value> id = Fill(model_id, dimensions, point);
    if (id && id->kind == Value::Kind::kInteger) {
      configuration.model_id = static_cast<int32_t>(id->integer);
    }
    configuration.compile_params = RenderJson(*Fill(compile, dimensions, point));
    configuration.fit_params = RenderJson(*Fill(fit, dimensions, point));
    return configuration;
  }

  std::string Architecture(const std::vector<Dimension>& dimensions, const SearchPoint& point,
                           int32_t id) const override {
    const auto found = architectures.find(id);
    if (found == architectures.end()) return "";
    return RenderJson(*Fill(found->second, dimensions, point));
  }

 private:
  static std::optional<Value> Fill(const Value& tree, const std::vector<Dimension>& dimensions,
                                   const SearchPoint& point) {
    return FillTemplate(tree, [&](const std::string& name) -> std::optional<Value> {
      for (size_t d = 0; d < dimensions.size(); ++d) {
        if (dimensions[d].name == name) {
          if (std::isnan(point[d])) return {};
          return dimensions[d].ValueOf(point[d]);
        }
      }
      return {};
    });
  }
};

class SpaceReader {
 public:
  SpaceReader(const std::map<int32_t, std::string>& architectures, const PointCheck& check,
              std::vector<Problem>* problems)
      : architectures_(architectures),
        check_(check),
        problems_(problems),
        before_(problems->size()) {}

  SearchSpace Read(const std::string& text) {
    Value tree;
    try {
      tree = ParseJson(text, "search space");
      if (tree.kind != Value::Kind::kDict) {
        throw Error(ErrorCode::kInvalidText, "search space is not a JSON object");
      }
    } catch (const Error& error) {
      problems_->push_back(error.problem());
      return SearchSpace({});
    }
    static const std::vector<std::string> kKeys = {"parameters", "model_id", "compile_params",
                                                   "fit_params"};
    KnownKeys(tree, "", kKeys);
    ReadParameters(tree.Find("parameters"));
    ReadModelId(tree.Find("model_id"));
    ReadConditions();
    RefuseCycles();
    auto texts = std::make_shared<TemplateTexts>();
    texts->model_id = std::move(model_id_);
    ReadTemplate(tree, "compile_params", &texts->compile);
    ReadTemplate(tree, "fit_params", &texts->fit);
    for (const auto& [id, json] : architectures_) ReadArchitecture(id, json, texts.get());
    ApplyWhereUsed();
    RefuseUnused();
    if (problems_->size() > before_) return SearchSpace({});
    SearchSpace space(std::move(dimensions_), std::move(texts));
    try {
      CheckTexts(space, "search space at \"parameters.", check_, problems_);
    } catch (const Error& error) {
      problems_->push_back(error.problem());
    }
    return space;
  }

 private:
  void Fail(const std::string& path, const std::string& problem, const std::string& hint = "") {
    problems_->push_back(
        {ErrorCode::kInvalidParameter,
         "search space" + (path.empty() ? "" : " at \"" + path + "\"") + ": " + problem, "", hint});
  }

  void KnownKeys(const Value& dict, const std::string& path, const std::vector<std::string>& keys) {
    for (const ValueEntry& entry : dict.entries) {
      if (std::find(keys.begin(), keys.end(), entry.key.text) != keys.end()) continue;
      std::string known;
      for (const std::string& key : keys) known += (known.empty() ? "" : ", ") + key;
      const std::string hint = NearestNameHint(entry.key.text, keys);
      Fail(path, "key \"" + entry.key.text + "\" is not known",
           hint.empty() ? "Known are " + known + "." : hint);
    }
  }

  size_t IndexOf(const std::string& name) const {
    size_t d = 0;
    while (d < dimensions_.size() && dimensions_[d].name != name) ++d;
    return d;
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const Dimension& dimension : dimensions_) names.push_back(dimension.name);
    return names;
  }

  void ReadParameters(const Value* parameters) {
    if (parameters == nullptr) return;
    if (parameters->kind != Value::Kind::kDict) {
      Fail("parameters", "must be an object, got " + RenderJson(*parameters));
      return;
    }
    for (const ValueEntry& entry : parameters->entries) {
      if (dimensions_.size() == kMaxDimensions) {
        Fail("parameters", "more than " + std::to_string(kMaxDimensions) + " parameters");
        return;
      }
      ReadDimension(entry.key.text, entry.value, "parameters." + entry.key.text);
    }
  }

  // A dimension is kept also where there are problems, so that what refers to it is understood.
  void ReadDimension(const std::string& name, const Value& value, const std::string& path) {
    Dimension dimension;
    dimension.name = name;
    conditions_.push_back(nullptr);
    if (name.empty()) Fail(path, "a parameter needs a name");
    if (value.IsSequence()) {
      ReadChoices(value, path, &dimension);
    } else if (value.kind != Value::Kind::kDict) {
      dimension.kind = DimensionKind::kChoice;
      dimension.choices = {value};
    } else {
      ReadObject(value, path, &dimension);
      conditions_.back() = value.Find("when");
    }
    dimensions_.push_back(std::move(dimension));
  }

  void ReadObject(const Value& value, const std::string& path, Dimension* dimension) {
    const Value* type = value.Find("type");
    if (type == nullptr || !type->IsText() ||
        std::find(kTypes.begin(), kTypes.end(), type->text) == kTypes.end()) {
      const std::string hint =
          type != nullptr && type->IsText() ? NearestNameHint(type->text, kTypes) : "";
      Fail(path + ".type",
           type == nullptr ? "is missing" : "type " + RenderJson(*type) + " is not known",
           hint.empty() ? "Types are float, int, choice and constant." : hint);
      return;
    }
    if (type->text == "choice") {
      KnownKeys(value, path, {"type", "values", "when"});
      const Value* values = value.Find("values");
      if (values == nullptr || !values->IsSequence()) {
        Fail(path + ".values", "must be a list");
      } else {
        ReadChoices(*values, path + ".values", dimension);
      }
    } else if (type->text == "constant") {
      KnownKeys(value, path, {"type", "value", "when"});
      const Value* constant = value.Find("value");
      if (constant == nullptr) Fail(path + ".value", "is missing");
      dimension->kind = DimensionKind::kChoice;
      dimension->choices = {constant == nullptr ? Value::None() : *constant};
    } else {
      KnownKeys(value, path, {"type", "low", "high", "scale", "step", "when"});
      dimension->kind = type->text == "int" ? DimensionKind::kInteger : DimensionKind::kFloat;
      ReadRange(value, path, dimension);
    }
  }

  void ReadChoices(const Value& list, const std::string& path, Dimension* dimension) {
    dimension->kind = DimensionKind::kChoice;
    if (list.items.empty()) Fail(path, "list of choices is empty");
    std::set<std::string> seen;
    for (size_t i = 0; i < list.items.size(); ++i) {
      if (!seen.insert(RenderJson(list.items[i])).second) {
        Fail(path + "[" + std::to_string(i) + "]",
             RenderJson(list.items[i]) + " stands twice among the choices");
      }
    }
    dimension->choices = list.items;
  }

  double ReadBound(const Value& value, const std::string& key, const std::string& path,
                   const Dimension& dimension, bool* ok) {
    const Value* bound = value.Find(key);
    if (bound == nullptr || !bound->IsNumber() || !std::isfinite(bound->real)) {
      Fail(path + "." + key,
           bound == nullptr ? "is missing" : "must be a number, got " + RenderJson(*bound));
      *ok = false;
      return 0;
    }
    if (dimension.kind == DimensionKind::kInteger &&
        (bound->real != std::floor(bound->real) || std::abs(bound->real) > kLargestInteger)) {
      Fail(path + "." + key, "must be a whole number, got " + RenderJson(*bound));
      *ok = false;
    }
    return bound->real;
  }

  void ReadRange(const Value& value, const std::string& path, Dimension* dimension) {
    bool ok = true;
    dimension->low = ReadBound(value, "low", path, *dimension, &ok);
    dimension->high = ReadBound(value, "high", path, *dimension, &ok);
    const bool integer = dimension->kind == DimensionKind::kInteger;
    if (integer) dimension->step = 1;
    if (const Value* scale = value.Find("scale")) {
      const std::vector<std::string>& names = ScaleNames();
      const auto known =
          scale->IsText() ? std::find(names.begin(), names.end(), scale->text) : names.end();
      if (known == names.end()) {
        const std::string hint = scale->IsText() ? NearestNameHint(scale->text, names) : "";
        Fail(path + ".scale", "scale " + RenderJson(*scale) + " is not known",
             hint.empty() ? "Scales are linear, log and log_near_one." : hint);
      } else {
        dimension->scale = static_cast<Scale>(known - names.begin());
      }
    }
    if (value.Find("step") != nullptr) {
      const double step = ReadBound(value, "step", path, *dimension, &ok);
      if (ok && step <= 0) Fail(path + ".step", "must be above zero");
      if (dimension->scale != Scale::kLinear) {
        Fail(path + ".step", "only a linear scale has steps");
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
      Fail(path, "the range is upside down: low " + low + " is above high " +
                     RenderJson(*value.Find("high")));
      std::swap(dimension->low, dimension->high);
    } else if (dimension->scale == Scale::kLog && dimension->low <= 0) {
      Fail(path + ".low", "a log scale needs a range above zero, got " + low);
    } else if (dimension->scale == Scale::kLogNearOne && (integer || dimension->high >= 1)) {
      Fail(path + ".high", "scale log_near_one needs numbers below one");
    } else if (dimension->step > 0 && (dimension->high - dimension->low) / dimension->step > 1e9) {
      Fail(path, "has more than a thousand million steps");
    } else if (const std::string problem = RangeProblem(*dimension); !problem.empty()) {
      Fail(path, problem);
    } else if (dimension->step > 0 && dimension->scale == Scale::kLinear) {
      // The last value that the steps reach.
      dimension->high = dimension->At(dimension->Count() - 1);
    }
  }

  static Dimension Constant(const Dimension& dimension) {
    Dimension constant;
    constant.name = dimension.name;
    constant.kind = DimensionKind::kChoice;
    constant.choices = {Value::None()};
    return constant;
  }

  void ReadModelId(const Value* model_id) {
    Value all;
    all.kind = Value::Kind::kList;
    if (model_id == nullptr) {
      if (architectures_.empty()) return;
      for (const auto& [id, json] : architectures_) all.items.push_back(Value::Integer(id));
      model_id = all.items.size() == 1 ? &all.items.front() : &all;
    }
    if (model_id->IsSequence()) {
      const std::string name = "model_id";
      if (IndexOf(name) < dimensions_.size()) {
        Fail("model_id", "is a list, and a parameter of that name is there, too");
        return;
      }
      ReadDimension(name, *model_id, name);
      dimensions_.back().structural = true;
      dimensions_.back().used_in = {"model_id"};
      chosen_model_ = dimensions_.size() - 1;
      for (const Value& id : model_id->items) RequireModelId(id);
      model_id_ = Dict({{Value::String("hopper"), Value::String(name)}});
      return;
    }
    model_id_ = *model_id;
    const Value* reference = model_id->Find("hopper");
    if (reference == nullptr) {
      RequireModelId(*model_id);
    } else if (Refer(reference->text, "model_id", false, "model_id", true)) {
      for (const Value& id : dimensions_[IndexOf(reference->text)].choices) RequireModelId(id);
    }
  }

  void RequireModelId(const Value& id) {
    if (id.kind != Value::Kind::kInteger || id.integer < 1 || id.integer > INT32_MAX) {
      Fail("model_id", RenderJson(id) + " is no model_id");
    } else if (!architectures_.empty() &&
               architectures_.count(static_cast<int32_t>(id.integer)) == 0) {
      Fail("model_id", "there is no architecture " + RenderJson(id));
    }
  }

  void ReadConditions() {
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      if (conditions_[d] == nullptr) continue;
      const std::string path = "parameters." + dimensions_[d].name + ".when";
      if (conditions_[d]->kind != Value::Kind::kDict) {
        Fail(path, "must be an object, such as {\"optimizer\": \"sgd\"}");
        continue;
      }
      for (const ValueEntry& entry : conditions_[d]->entries) {
        const size_t parent = IndexOf(entry.key.text);
        if (parent == dimensions_.size()) {
          Fail(path, "there is no parameter \"" + entry.key.text + "\"",
               NearestNameHint(entry.key.text, Names()));
          continue;
        }
        dimensions_[d].conditions.push_back(
            ReadCondition(entry.value, path + "." + entry.key.text, parent));
        LookAtCancel();
      }
    }
  }

  DimensionCondition ReadCondition(const Value& value, const std::string& path, size_t parent) {
    DimensionCondition condition;
    condition.parent = parent;
    const Dimension& dimension = dimensions_[parent];
    if (value.kind == Value::Kind::kDict) {
      KnownKeys(value, path, {"from", "to"});
      if (dimension.kind == DimensionKind::kChoice) {
        Fail(path, "\"from\" and \"to\" are of numbers, \"" + dimension.name + "\" is a choice");
      }
      for (const ValueEntry& entry : value.entries) {
        if (!entry.value.IsNumber()) {
          Fail(path + "." + entry.key.text, "must be a number, got " + RenderJson(entry.value));
        } else {
          (entry.key.text == "from" ? condition.low : condition.high) = entry.value.real;
        }
      }
      if (!MayBeIn(dimension, condition)) {
        Fail(path, "\"" + dimension.name + "\" is never in that range");
      }
      return condition;
    }
    Value values = value;
    if (!value.IsSequence()) {
      values = Value();
      values.items = {value};
    }
    if (values.items.empty()) Fail(path, "list of values is empty");
    for (const Value& wanted : values.items) {
      LookAtCancel();
      const std::optional<double> number = NumberOf(parent, wanted);
      if (number) {
        condition.allowed.push_back(*number);
      } else {
        Fail(path, "\"" + dimension.name + "\" is never " + RenderJson(wanted));
      }
    }
    return condition;
  }

  // Whether a number of the dimension lies in the condition's range.
  static bool MayBeIn(const Dimension& dimension, const DimensionCondition& condition) {
    const double from = std::max(condition.low, dimension.low);
    const double to = std::min(condition.high, dimension.high);
    if (from > to || dimension.kind == DimensionKind::kChoice || !dimension.IsDiscrete()) {
      return from <= to;
    }
    // The nearest number may lie before it, the one after it then behind.
    const double nearest = dimension.Nearest(from);
    const double next = dimension.Nearest(nearest + dimension.step);
    return (nearest >= from && nearest <= to) || (next >= from && next <= to);
  }

  std::optional<double> NumberOf(size_t d, const Value& wanted) {
    const Dimension& dimension = dimensions_[d];
    if (dimension.kind == DimensionKind::kChoice) {
      std::unordered_map<std::string, double>& places = places_[d];
      for (size_t i = 0, n = places.empty() ? dimension.choices.size() : 0; i < n; ++i) {
        places.emplace(RenderJson(dimension.choices[i]), static_cast<double>(i));
      }
      const auto at = places.find(RenderJson(wanted));
      if (at == places.end()) return {};
      return at->second;
    }
    if (!wanted.IsNumber() || !dimension.IsDiscrete()) return {};
    const double nearest = dimension.Nearest(wanted.real);
    if (std::abs(nearest - wanted.real) > 1e-9 * std::max(1.0, std::abs(nearest))) return {};
    return nearest;
  }

  // Takes away what depends on nothing that is left; what stays lies on a cycle or behind one.
  void RefuseCycles() {
    std::vector<bool> left(dimensions_.size(), true);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t d = 0; d < dimensions_.size(); ++d) {
        const auto& conditions = dimensions_[d].conditions;
        if (left[d] && std::none_of(conditions.begin(), conditions.end(),
                                    [&](const auto& c) { return left[c.parent]; })) {
          left[d] = false;
          changed = true;
        }
      }
    }
    const auto first = std::find(left.begin(), left.end(), true);
    if (first == left.end()) return;
    // Going from parent to parent ends on the cycle.
    size_t at = static_cast<size_t>(first - left.begin());
    std::vector<size_t> way;
    while (std::find(way.begin(), way.end(), at) == way.end()) {
      way.push_back(at);
      const auto& conditions = dimensions_[at].conditions;
      at = std::find_if(conditions.begin(), conditions.end(), [&](const auto& c) {
             return left[c.parent];
           })->parent;
    }
    std::string names = "\"" + dimensions_[at].name + "\"";
    for (auto step = std::find(way.begin(), way.end(), at) + 1; step != way.end(); ++step) {
      names += " on \"" + dimensions_[*step].name + "\"";
    }
    Fail("parameters." + dimensions_[at].name + ".when",
         "conditions form a cycle: " + names + " on \"" + dimensions_[at].name + "\"");
  }

  // Notes that `place` uses the parameter; false where there is none of that name.
  bool Refer(const std::string& name, const std::string& path, bool in_repeat,
             const std::string& place, bool structural) {
    bool found = false;
    const size_t mark = in_repeat ? name.find('#') : std::string::npos;
    for (Dimension& dimension : dimensions_) {
      if (!Matches(dimension.name, name, mark)) continue;
      found = true;
      dimension.structural = dimension.structural || structural;
      // All that a place uses is read before the next place.
      if (dimension.used_in.empty() || dimension.used_in.back() != place) {
        dimension.used_in.push_back(place);
      }
    }
    if (!found) {
      Fail(path, "there is no parameter \"" + name + "\"", NearestNameHint(name, Names()));
    }
    return found;
  }

  // "units2" is one of "units#".
  static bool Matches(const std::string& name, const std::string& pattern, size_t mark) {
    if (mark == std::string::npos) return name == pattern;
    const std::string end = pattern.substr(mark + 1);
    if (name.size() <= mark + end.size() || name.compare(0, mark, pattern, 0, mark) != 0 ||
        name.compare(name.size() - end.size(), end.size(), end) != 0) {
      return false;
    }
    return std::all_of(name.begin() + static_cast<std::ptrdiff_t>(mark),
                       name.end() - static_cast<std::ptrdiff_t>(end.size()),
                       [](char c) { return c >= '0' && c <= '9'; });
  }

  // False where the tree is no template.
  bool Walk(const Value& tree, const std::string& place, bool structural) {
    bool refers = false;
    WalkTemplate(
        tree, place,
        [&](const std::string& name, const std::string& path, bool in_repeat) {
          refers = true;
          Refer(name, path, in_repeat, place, structural);
        },
        [&](const std::string& path, const std::string& problem) { Fail(path, problem); });
    return refers;
  }

  // What only some of the architectures use makes no difference to the others: it does not apply
  // there, so that no configuration is tried twice.
  void ApplyWhereUsed() {
    if (!chosen_model_) return;
    const Dimension& models = dimensions_[*chosen_model_];
    for (Dimension& dimension : dimensions_) {
      DimensionCondition condition;
      condition.parent = *chosen_model_;
      const std::unordered_set<std::string> used(dimension.used_in.begin(),
                                                 dimension.used_in.end());
      for (size_t i = 0; i < models.choices.size(); ++i) {
        LookAtCancel();
        if (used.count("architecture " + RenderJson(models.choices[i])) > 0) {
          condition.allowed.push_back(static_cast<double>(i));
        }
      }
      const bool elsewhere = condition.allowed.size() < dimension.used_in.size();
      const bool said = std::any_of(dimension.conditions.begin(), dimension.conditions.end(),
                                    [&](const auto& c) { return c.parent == *chosen_model_; });
      if (elsewhere || said || condition.allowed.empty() ||
          condition.allowed.size() == models.choices.size()) {
        continue;
      }
      dimension.conditions.push_back(std::move(condition));
    }
  }

  void ReadTemplate(const Value& tree, const std::string& key, Value* out) {
    const Value* found = tree.Find(key);
    if (found == nullptr) return;
    if (found->kind != Value::Kind::kDict || found->Find("hopper") != nullptr) {
      Fail(key, "must be an object");
      return;
    }
    Walk(*found, key, /*structural=*/false);
    *out = *found;
  }

  void ReadArchitecture(int32_t id, const std::string& json, TemplateTexts* texts) {
    const std::string place = "architecture " + std::to_string(id);
    // Texts without parameters go unread: they are as large as they like.
    if (json.find("\"hopper\"") == std::string::npos) return;
    try {
      Value tree = ParseJson(json, place);
      if (Walk(tree, place, /*structural=*/true)) texts->architectures.emplace(id, std::move(tree));
    } catch (const Error& error) {
      problems_->push_back(error.problem());
    }
  }

  void RefuseUnused() {
    // Those that are not known may use it.
    for (const auto& [id, json] : architectures_) {
      if (json.empty()) return;
    }
    for (const Dimension& dimension : dimensions_) {
      // What only others depend on chooses among them.
      const bool parent = std::any_of(dimensions_.begin(), dimensions_.end(), [&](const auto& d) {
        return std::any_of(d.conditions.begin(), d.conditions.end(), [&](const auto& c) {
          return dimensions_[c.parent].name == dimension.name;
        });
      });
      if (dimension.used_in.empty() && !parent) {
        Fail("parameters." + dimension.name, "the parameter is used nowhere",
             "Write {\"hopper\": \"" + dimension.name + "\"} where its value belongs.");
      }
    }
  }

  const std::map<int32_t, std::string>& architectures_;
  const PointCheck& check_;
  std::vector<Problem>* problems_;
  size_t before_;
  std::vector<Dimension> dimensions_;
  // Of each one's choices, as JSON, where a condition has asked for them.
  std::map<size_t, std::unordered_map<std::string, double>> places_;
  std::vector<const Value*> conditions_;  // of each dimension: what is under "when"
  Value model_id_ = Dict({});
  std::optional<size_t> chosen_model_;  // the dimension of a list of model_ids
};

}  // namespace

SearchSpace ParseSearchSpace(const std::string& text,
                             const std::map<int32_t, std::string>& architectures,
                             std::vector<Problem>* problems, const PointCheck& check) {
  return SpaceReader(architectures, check, problems).Read(text);
}

}  // namespace hopper
