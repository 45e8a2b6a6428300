#include "params/params_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "params/text.h"

namespace hopper {
namespace {

using Json = nlohmann::json;

Json JsonOf(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNone:
      return nullptr;
    case Value::Kind::kBool:
      return value.boolean;
    case Value::Kind::kInteger:
      return value.integer;
    case Value::Kind::kReal:
      // JSON has no other numbers.
      return std::isfinite(value.real) ? Json(value.real) : Json(RenderReal(value.real));
    case Value::Kind::kString:
    case Value::Kind::kName:
      return value.text;
    case Value::Kind::kList:
    case Value::Kind::kTuple: {
      Json list = Json::array();
      for (const Value& item : value.items) list.push_back(JsonOf(item));
      return list;
    }
    case Value::Kind::kDict: {
      Json object = Json::object();
      for (const ValueEntry& entry : value.entries) {
        object[entry.key.IsText() ? entry.key.text : Render(entry.key)] = JsonOf(entry.value);
      }
      return object;
    }
    case Value::Kind::kCall:
      return Render(value);
  }
  return nullptr;
}

// 'Adam(0.1, beta_1=0.8)' and {"class_name": "Adam", "config": {...}}: name and arguments.
void AddOptimizer(const Value& given, Json* into) {
  Value optimizer = given;
  if (given.IsText()) optimizer = ParsePythonValue(given.text, "optimizer");
  if (const Value* name = optimizer.Find("class_name"); name != nullptr) {
    (*into)["optimizer"] = JsonOf(*name);
    if (const Value* config = optimizer.Find("config"); config != nullptr) {
      into->update(JsonOf(*config));
    }
    return;
  }
  if (optimizer.kind != Value::Kind::kCall) {
    (*into)["optimizer"] = JsonOf(optimizer);
    return;
  }
  (*into)["optimizer"] = optimizer.text;
  if (!optimizer.items.empty()) (*into)["learning_rate"] = JsonOf(optimizer.items[0]);
  for (const ValueEntry& entry : optimizer.entries) {
    (*into)[entry.key.text] = JsonOf(entry.value);
  }
}

}  // namespace

std::string ParamsJson(std::string_view text, const std::string& what) {
  Json object = Json::object();
  for (const ValueEntry& entry : ParseArguments(text, what)) {
    const std::string key = entry.key.IsText() ? entry.key.text : Render(entry.key);
    if (key == "optimizer") {
      AddOptimizer(entry.value, &object);
    } else {
      object[key] = JsonOf(entry.value);
    }
  }
  if (object.contains("lr") && !object.contains("learning_rate")) {
    object["learning_rate"] = object["lr"];
    object.erase("lr");
  }
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hopper
