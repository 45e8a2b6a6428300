#include "params/params_json.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "params/json_writer.h"
#include "params/text.h"

namespace hopper {
namespace {

// Names and the JSON texts of their values, sorted.
using Object = std::map<std::string, std::string>;

std::string TextOf(const Object& object) {
  JsonObjectText text;
  for (const auto& [name, value] : object) text.Add(name, value);
  return text.Text();
}

std::string TextOf(const Value& value);

Object EntriesOf(const std::vector<ValueEntry>& entries) {
  Object object;
  for (const ValueEntry& entry : entries) {
    object[entry.key.IsText() ? entry.key.text : Render(entry.key)] = TextOf(entry.value);
  }
  return object;
}

std::string TextOf(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNone:
      return "null";
    case Value::Kind::kBool:
      return value.boolean ? "true" : "false";
    case Value::Kind::kInteger:
      return std::to_string(value.integer);
    case Value::Kind::kReal:
      // JSON has no other numbers.
      return std::isfinite(value.real) ? JsonNumber(value.real)
                                       : JsonString(RenderReal(value.real));
    case Value::Kind::kString:
    case Value::Kind::kName:
      return JsonString(value.text);
    case Value::Kind::kList:
    case Value::Kind::kTuple: {
      std::vector<std::string> list;
      for (const Value& item : value.items) list.push_back(TextOf(item));
      return JsonList(list);
    }
    case Value::Kind::kDict:
      return TextOf(EntriesOf(value.entries));
    case Value::Kind::kCall:
      return JsonString(Render(value));
  }
  return "null";
}

// 'Adam(0.1, beta_1=0.8)' and {"class_name": "Adam", "config": {...}}: name and arguments.
void AddOptimizer(const Value& given, Object* into) {
  Value optimizer = given;
  if (given.IsText()) optimizer = ParsePythonValue(given.text, "optimizer");
  if (const Value* name = optimizer.Find("class_name"); name != nullptr) {
    (*into)["optimizer"] = TextOf(*name);
    const Value* config = optimizer.Find("config");
    if (config == nullptr) return;
    for (auto& [key, text] : EntriesOf(config->entries)) (*into)[key] = text;
    return;
  }
  if (optimizer.kind != Value::Kind::kCall) {
    (*into)["optimizer"] = TextOf(optimizer);
    return;
  }
  (*into)["optimizer"] = JsonString(optimizer.text);
  if (!optimizer.items.empty()) (*into)["learning_rate"] = TextOf(optimizer.items[0]);
  for (const ValueEntry& entry : optimizer.entries) {
    (*into)[entry.key.text] = TextOf(entry.value);
  }
}

}  // namespace

std::string ParamsJson(std::string_view text, const std::string& what) {
  Object object;
  for (const ValueEntry& entry : ParseArguments(text, what)) {
    const std::string key = entry.key.IsText() ? entry.key.text : Render(entry.key);
    if (key == "optimizer") {
      AddOptimizer(entry.value, &object);
    } else {
      object[key] = TextOf(entry.value);
    }
  }
  if (object.count("lr") != 0 && object.count("learning_rate") == 0) {
    object["learning_rate"] = object["lr"];
    object.erase("lr");
  }
  return TextOf(object);
}

}  // namespace hopper
