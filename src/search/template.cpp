#include "search/template.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "search/space.h"

namespace hopper {
namespace {

constexpr char kKey[] = "hopper";
// Blocks that a repetition makes at most, and values that all of them make.
constexpr int64_t kMaxBlocks = 1000;
constexpr int64_t kMaxValues = 1000000;

// {"hopper": ...}, with that one key.
const Value* Reference(const Value& value) {
  if (value.kind != Value::Kind::kDict || value.entries.size() != 1) return nullptr;
  return value.Find(kKey);
}

std::string Numbered(std::string text, int64_t block) {
  if (block == 0) return text;
  std::string out;
  for (char c : text) {
    if (c == '#') {
      out += std::to_string(block);
    } else {
      out += c;
    }
  }
  return out;
}

class Filler {
 public:
  explicit Filler(const std::function<std::optional<Value>(const std::string&)>& value)
      : value_(value) {}

  // `block` is the number that "#" stands for; 0 outside of repetitions.
  std::optional<Value> Fill(const Value& tree, int64_t block) {
    if (++values_ > kMaxValues) {
      throw Error(ErrorCode::kLimitExceeded, "repeated blocks make more than " +
                                                 WithThousands(static_cast<uint64_t>(kMaxValues)) +
                                                 " values");
    }
    if (const Value* reference = Reference(tree)) return value_(Numbered(reference->text, block));
    Value out = tree;
    if (tree.kind == Value::Kind::kString) out.text = Numbered(tree.text, block);
    if (tree.IsSequence()) {
      out.items.clear();
      for (const Value& item : tree.items) Append(item, block, &out.items);
    }
    if (tree.kind == Value::Kind::kDict) {
      out.entries.clear();
      for (const ValueEntry& entry : tree.entries) {
        if (std::optional<Value> filled = Fill(entry.value, block)) {
          out.entries.push_back({entry.key, std::move(*filled)});
        }
      }
    }
    return out;
  }

 private:
  void Append(const Value& item, int64_t block, std::vector<Value>* out) {
    const Value* reference = Reference(item);
    if (reference == nullptr || reference->kind != Value::Kind::kDict) {
      if (std::optional<Value> filled = Fill(item, block)) out->push_back(std::move(*filled));
      return;
    }
    const Value* layers = reference->Find("layers");
    for (int64_t i = 1, n = Times(*reference, block); i <= n; ++i) {
      ++values_;
      for (const Value& layer : layers->items) Append(layer, i, out);
    }
  }

  int64_t Times(const Value& repeat, int64_t block) const {
    const Value* times = repeat.Find("repeat");
    std::optional<Value> number = *times;
    if (times->IsText()) number = value_(Numbered(times->text, block));
    if (!number || !number->IsNumber()) return 0;
    return std::clamp<int64_t>(static_cast<int64_t>(number->real), 0, kMaxBlocks);
  }

  const std::function<std::optional<Value>(const std::string&)>& value_;
  int64_t values_ = 0;
};

class Walker {
 public:
  Walker(const std::function<void(const std::string&, const std::string&, bool)>& refer,
         const std::function<void(const std::string&, const std::string&)>& problem)
      : refer_(refer), problem_(problem) {}

  // Where in the whole a value stands.
  struct Place {
    std::string path;
    bool in_list = false;
    bool in_repeat = false;
  };

  void Walk(const Value& tree, const Place& place) const {
    if (const Value* reference = Reference(tree)) {
      if (reference->IsText()) {
        refer_(reference->text, place.path, place.in_repeat);
      } else if (reference->kind == Value::Kind::kDict) {
        WalkRepeat(*reference, place);
      } else {
        problem_(place.path,
                 "{\"hopper\": ...} needs the name of a parameter, got " + RenderJson(*reference));
      }
      return;
    }
    if (tree.kind == Value::Kind::kDict && tree.Find(kKey) != nullptr) {
      problem_(place.path, "an object with \"hopper\" may have no other key");
      return;
    }
    Place inner = place;
    inner.in_list = true;
    for (size_t i = 0; i < tree.items.size(); ++i) {
      inner.path = place.path + "[" + std::to_string(i) + "]";
      Walk(tree.items[i], inner);
    }
    inner.in_list = false;
    for (const ValueEntry& entry : tree.entries) {
      inner.path = place.path + "." + entry.key.text;
      Walk(entry.value, inner);
    }
  }

 private:
  void WalkRepeat(const Value& repeat, const Place& place) const {
    const Value* times = repeat.Find("repeat");
    const Value* layers = repeat.Find("layers");
    if (times == nullptr || layers == nullptr || repeat.entries.size() != 2 ||
        !layers->IsSequence()) {
      problem_(place.path,
               "a repeated block is written {\"hopper\": {\"repeat\": \"depth\", \"layers\": "
               "[...]}}");
      return;
    }
    if (!place.in_list) problem_(place.path, "a repeated block must stand in a list");
    if (times->IsText()) {
      refer_(times->text, place.path + ".repeat", place.in_repeat);
    } else if (times->kind != Value::Kind::kInteger || times->integer < 0 ||
               times->integer > kMaxBlocks) {
      problem_(place.path + ".repeat", "needs a parameter's name or a number from 0 to " +
                                           std::to_string(kMaxBlocks) + ", got " +
                                           RenderJson(*times));
    }
    Place inner;
    inner.in_list = true;
    inner.in_repeat = true;
    for (size_t i = 0; i < layers->items.size(); ++i) {
      inner.path = place.path + ".layers[" + std::to_string(i) + "]";
      Walk(layers->items[i], inner);
    }
  }

  const std::function<void(const std::string&, const std::string&, bool)>& refer_;
  const std::function<void(const std::string&, const std::string&)>& problem_;
};

std::string JsonString(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

void WalkTemplate(const Value& tree, const std::string& what,
                  const std::function<void(const std::string&, const std::string&, bool)>& refer,
                  const std::function<void(const std::string&, const std::string&)>& problem) {
  Walker(refer, problem).Walk(tree, {what});
}

std::optional<Value> FillTemplate(
    const Value& tree, const std::function<std::optional<Value>(const std::string&)>& value) {
  return Filler(value).Fill(tree, 0);
}

std::string RenderJson(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNone:
      return "null";
    case Value::Kind::kBool:
      return value.boolean ? "true" : "false";
    case Value::Kind::kInteger:
      return std::to_string(value.integer);
    case Value::Kind::kReal:
      return std::isfinite(value.real) ? RenderReal(value.real) : "null";
    case Value::Kind::kString:
    case Value::Kind::kName:
      return JsonString(value.text);
    case Value::Kind::kCall:
      return JsonString(Render(value));
    case Value::Kind::kList:
    case Value::Kind::kTuple:
    case Value::Kind::kDict:
      break;
  }
  const bool dict = value.kind == Value::Kind::kDict;
  std::string out = dict ? "{" : "[";
  const char* separator = "";
  for (const Value& item : value.items) {
    out += separator + RenderJson(item);
    separator = ", ";
  }
  for (const ValueEntry& entry : value.entries) {
    out += separator + RenderJson(entry.key) + ": " + RenderJson(entry.value);
    separator = ", ";
  }
  return out + (dict ? "}" : "]");
}

}  // namespace hopper
