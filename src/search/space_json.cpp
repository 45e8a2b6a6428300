#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/cancel.h"
#include "params/params.h"
#include "params/text.h"
#include "search/choices.h"
#include "search/space.h"
#include "search/space_dimension.h"
#include "search/template.h"

namespace hopper {
namespace {

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
      : architectures_(architectures), check_(check), problems_(problems) {}

  SearchSpace Read(const std::string& text) {
    Value tree;
    try {
      tree = ParseJson(text, "search space");
      if (tree.kind != Value::Kind::kDict) {
        throw Error(ErrorCode::kInvalidText, "search space is not a JSON object");
      }
    } catch (const Error& error) {
      problems_.Add(error.problem());
      return SearchSpace({});
    }
    static const std::vector<std::string> kKeys = {"parameters", "model_id", "compile_params",
                                                   "fit_params"};
    problems_.KnownKeys(tree, "", kKeys);
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
    if (problems_.any()) return SearchSpace({});
    SearchSpace space(std::move(dimensions_), std::move(texts));
    try {
      CheckTexts(space, "search space at \"parameters.", check_, problems_.all());
    } catch (const Error& error) {
      problems_.Add(error.problem());
    }
    return space;
  }

 private:
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
      problems_.Fail("parameters", "must be an object, got " + RenderJson(*parameters));
      return;
    }
    for (const ValueEntry& entry : parameters->entries) {
      if (dimensions_.size() == kMaxDimensions) {
        problems_.Fail("parameters", "more than " + std::to_string(kMaxDimensions) + " parameters");
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
    if (name.empty()) problems_.Fail(path, "a parameter needs a name");
    hopper::ReadDimension(value, path, &problems_, &dimension);
    if (value.kind == Value::Kind::kDict) conditions_.back() = value.Find("when");
    dimensions_.push_back(std::move(dimension));
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
        problems_.Fail("model_id", "is a list, and a parameter of that name is there, too");
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
      problems_.Fail("model_id", RenderJson(id) + " is no model_id");
    } else if (!architectures_.empty() &&
               architectures_.count(static_cast<int32_t>(id.integer)) == 0) {
      problems_.Fail("model_id", "there is no architecture " + RenderJson(id));
    }
  }

  void ReadConditions() {
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      if (conditions_[d] == nullptr) continue;
      const std::string path = "parameters." + dimensions_[d].name + ".when";
      if (conditions_[d]->kind != Value::Kind::kDict) {
        problems_.Fail(path, "must be an object, such as {\"optimizer\": \"sgd\"}");
        continue;
      }
      for (const ValueEntry& entry : conditions_[d]->entries) {
        const size_t parent = IndexOf(entry.key.text);
        if (parent == dimensions_.size()) {
          problems_.Fail(path, "there is no parameter \"" + entry.key.text + "\"",
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
      problems_.KnownKeys(value, path, {"from", "to"});
      if (dimension.kind == DimensionKind::kChoice) {
        problems_.Fail(
            path, "\"from\" and \"to\" are of numbers, \"" + dimension.name + "\" is a choice");
      }
      for (const ValueEntry& entry : value.entries) {
        if (!entry.value.IsNumber()) {
          problems_.Fail(path + "." + entry.key.text,
                         "must be a number, got " + RenderJson(entry.value));
        } else {
          (entry.key.text == "from" ? condition.low : condition.high) = entry.value.real;
        }
      }
      if (!MayBeIn(dimension, condition)) {
        problems_.Fail(path, "\"" + dimension.name + "\" is never in that range");
      }
      return condition;
    }
    Value values = value;
    if (!value.IsSequence()) {
      values = Value();
      values.items = {value};
    }
    if (values.items.empty()) problems_.Fail(path, "list of values is empty");
    for (const Value& wanted : values.items) {
      LookAtCancel();
      const std::optional<double> number = NumberOf(parent, wanted);
      if (number) {
        condition.allowed.push_back(*number);
      } else {
        problems_.Fail(path, "\"" + dimension.name + "\" is never " + RenderJson(wanted));
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
    problems_.Fail("parameters." + dimensions_[at].name + ".when",
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
      problems_.Fail(path, "there is no parameter \"" + name + "\"",
                     NearestNameHint(name, Names()));
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
        [&](const std::string& path, const std::string& problem) {
          problems_.Fail(path, problem);
        });
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
      problems_.Fail(key, "must be an object");
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
      problems_.Add(error.problem());
    }
  }

  void RefuseUnused() {
    // Architectures that are not known may use it.
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
        problems_.Fail("parameters." + dimension.name, "the parameter is used nowhere",
                       "Write {\"hopper\": \"" + dimension.name + "\"} where its value belongs.");
      }
    }
  }

  const std::map<int32_t, std::string>& architectures_;
  const PointCheck& check_;
  SpaceProblems problems_;
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
