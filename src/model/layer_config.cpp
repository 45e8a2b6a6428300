#include "model/layer_config.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/keras/json_text.h"
#include "model/layer.h"
#include "params/other_names.h"

namespace hopper {

using nlohmann::json;

namespace {

constexpr int64_t kMaxInteger = int64_t{1} << 30;

const json& ObjectOrEmpty(const json& config) {
  static const json empty = json::object();
  return config.is_object() ? config : empty;
}

// Integers may be written as 3 or 3.0.
bool AsInteger(const json& value, int64_t* out) {
  if (value.is_number_integer()) {
    if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) return false;
    *out = value.get<int64_t>();
    return true;
  }
  if (!value.is_number_float()) return false;
  const double number = value.get<double>();
  if (!(std::fabs(number) < 9e15) || number != std::floor(number)) return false;
  *out = static_cast<int64_t>(number);
  return true;
}

bool InRange(int64_t value) { return value >= -kMaxInteger && value <= kMaxInteger; }

bool IsHarmless(const json& value) {
  return value.is_null() || (value.is_boolean() && !value.get<bool>()) ||
         (value.is_structured() && value.empty());
}

bool MakesIds(const std::string& class_name) {
  const LayerType* type = FindLayerType(class_name);
  return type != nullptr && type->makes_ids;
}

bool IsInteger(const std::string& dtype) { return dtype == "int32" || dtype == "int64"; }

// Arguments of Keras' layers that no layer here asks for, and that are no mere bookkeeping.
bool ChangesMeaning(const std::string& key) {
  static const std::set<std::string> keys = {
      "adjustment",   "logit_soft_cap", "power_iterations",   "quantization_mode", "stateful",
      "return_state", "renorm",         "virtual_batch_size", "lora_rank",         "input_length"};
  return keys.count(key) != 0;
}

// Numbers of a list, and of the lists in it, which the parser has kept from being deep.
bool AppendNumbers(const json& value, std::vector<double>* numbers) {
  if (value.is_number()) {
    numbers->push_back(value.get<double>());
    return true;
  }
  if (!value.is_array()) return false;
  for (const json& item : value) {
    if (!AppendNumbers(item, numbers)) return false;
  }
  return true;
}

std::string IntsText(const std::vector<int64_t>& values) {
  std::string text;
  for (int64_t value : values) text += std::to_string(value) + ",";
  return text;
}

bool IsToken(const json& value) { return value.is_string() || value.is_number_integer(); }
std::string TokenText(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

LayerConfig::LayerConfig(const json& config, std::string class_name, std::string path,
                         KerasFamily family, std::vector<Problem>* problems,
                         std::vector<Problem>* warnings)
    : config_(ObjectOrEmpty(config)),
      class_name_(std::move(class_name)),
      path_(std::move(path)),
      family_(family),
      problems_(problems),
      warnings_(warnings) {
  name_ = String("name", "");
  if (name_.empty()) name_ = path_;
  trainable_ = Bool("trainable", true);
  fingerprint_.clear();  // names do not count, and weights carry `trainable`
  if (const json* dtype = Find("dtype"); dtype != nullptr && !dtype->is_null()) {
    std::string policy;
    if (!DtypeName(*dtype, &policy)) {
      WrongType("dtype", "a type's name or a policy", *dtype);
    } else if (policy != "float32" && !IsMixedPolicy(policy) &&
               !(MakesIds(class_name_) && IsInteger(policy))) {
      Fail(ErrorCode::kNotSupported, "dtype \"" + policy + "\" is not supported",
           DtypeHint(policy));
    }
  }
  // What Keras writes for its own bookkeeping, or where the parser looks.
  for (const char* key : {"batch_input_shape", "batch_shape", "input_shape", "build_config",
                          "input_dtype", "autocast"}) {
    Ignore(key);
  }
  asked_.clear();  // every layer has these
}

const json* LayerConfig::Find(const std::string& key) {
  if (read_.insert(key).second) asked_.push_back(key);
  return Look(key);
}

const json* LayerConfig::Look(const std::string& key) {
  read_.insert(key);
  const auto at = config_.find(key);
  return at == config_.end() ? nullptr : &*at;
}

void LayerConfig::WrongType(const std::string& key, const char* wanted, const json& value) {
  Fail(ErrorCode::kInvalidParameter,
       "argument \"" + key + "\" must be " + wanted + ", not " + ShortJson(value));
  unusable_.insert(key);
}

void LayerConfig::Remember(const std::string& key, const std::string& value,
                           const std::string& fallback) {
  if (value != fallback) fingerprint_[key] = value;
}

void LayerConfig::Rename(const std::string& key, const std::string& name) {
  const auto at = fingerprint_.find(key);
  if (at == fingerprint_.end()) return;
  fingerprint_[name] = at->second;
  fingerprint_.erase(at);
}

bool LayerConfig::Has(const std::string& key) {
  const json* value = Find(key);
  return value != nullptr && !value->is_null();
}

bool LayerConfig::IsNull(const std::string& key) {
  const json* value = Find(key);
  return value != nullptr && value->is_null();
}

int64_t LayerConfig::Int(const std::string& key, int64_t fallback) {
  if (!Has(key)) return fallback;
  const json& value = *Find(key);
  int64_t number = 0;
  if (!AsInteger(value, &number)) {
    WrongType(key, "an integer", value);
    return fallback;
  }
  if (!InRange(number)) {
    Fail(ErrorCode::kLimitExceeded, "argument \"" + key + "\" is too large: " + ShortJson(value));
    unusable_.insert(key);
    return fallback;
  }
  Remember(key, std::to_string(number), std::to_string(fallback));
  return number;
}

double LayerConfig::Number(const std::string& key, double fallback) {
  if (!Has(key)) return fallback;
  const json& value = *Find(key);
  if (!value.is_number()) {
    WrongType(key, "a number", value);
    return fallback;
  }
  const double number = value.get<double>();
  Remember(key, NumberText(number), NumberText(fallback));
  return number;
}

double LayerConfig::Number(const std::string& key, double fallback, const Range& range) {
  const double number = Number(key, fallback);
  Require(key, number, range);
  return range.Holds(number) ? number : fallback;
}

bool LayerConfig::Bool(const std::string& key, bool fallback) {
  if (!Has(key)) return fallback;
  const json& value = *Find(key);
  if (!value.is_boolean()) {
    WrongType(key, "true or false", value);
    return fallback;
  }
  const bool flag = value.get<bool>();
  Remember(key, flag ? "true" : "false", fallback ? "true" : "false");
  return flag;
}

std::string LayerConfig::String(const std::string& key, const std::string& fallback) {
  if (!Has(key)) return fallback;
  const json& value = *Find(key);
  if (!value.is_string()) {
    WrongType(key, "a string", value);
    return fallback;
  }
  std::string text = value.get<std::string>();
  Remember(key, text, fallback);
  return text;
}

std::vector<int64_t> LayerConfig::Ints(const std::string& key, size_t count,
                                       const std::vector<int64_t>& fallback) {
  if (!Has(key)) return fallback;
  const json& value = *Find(key);
  std::vector<int64_t> numbers;
  bool valid = true;
  if (value.is_array()) {
    for (const json& item : value) {
      int64_t number = 0;
      valid = valid && AsInteger(item, &number);
      numbers.push_back(number);
    }
    valid = valid && (count == 0 || numbers.size() == count);
  } else {
    int64_t number = 0;
    valid = AsInteger(value, &number);
    numbers.assign(count == 0 ? 1 : count, number);
  }
  if (!valid) {
    const std::string wanted =
        count == 0 ? "a list of integers"
                   : "an integer or a list of " + std::to_string(count) + " integers";
    WrongType(key, wanted.c_str(), value);
    return fallback;
  }
  for (int64_t number : numbers) {
    if (InRange(number)) continue;
    Fail(ErrorCode::kLimitExceeded, "argument \"" + key + "\" is too large: " + ShortJson(value));
    unusable_.insert(key);
    return fallback;
  }
  Remember(key, IntsText(numbers), IntsText(fallback));
  return numbers;
}

std::vector<int64_t> LayerConfig::Ends(const std::string& key, size_t axes, int64_t fallback) {
  std::vector<int64_t> ends(2 * axes, fallback);
  if (!Has(key)) return ends;
  const json& value = *Find(key);
  std::vector<int64_t> numbers;
  bool valid = true;
  const auto read = [&](const json& item) {
    int64_t number = 0;
    valid = valid && AsInteger(item, &number) && number >= 0;
    numbers.push_back(number);
  };
  if (!value.is_array()) {
    read(value);
    numbers.assign(2 * axes, numbers[0]);
  } else if (axes == 1) {  // the pair of the one axis
    for (const json& item : value) read(item);
  } else {
    for (const json& item : value) {
      const bool pair = item.is_array() && item.size() == 2;
      read(pair ? item[0] : item);
      read(pair ? item[1] : item);
    }
  }
  if (!valid || numbers.size() != 2 * axes) {
    const std::string wanted =
        "an integer of 0 or more, " +
        (axes == 1 ? std::string("or a pair of them")
                   : "a list of " + std::to_string(axes) + " of them, or a list of as many pairs");
    WrongType(key, wanted.c_str(), value);
    return ends;
  }
  for (int64_t number : numbers) {
    if (InRange(number)) continue;
    Fail(ErrorCode::kLimitExceeded, "argument \"" + key + "\" is too large: " + ShortJson(value));
    unusable_.insert(key);
    return ends;
  }
  Remember(key, IntsText(numbers), IntsText(ends));
  return numbers;
}

std::vector<int64_t> LayerConfig::OpenInts(const std::string& key) {
  if (!Has(key)) return {};
  const json& value = *Find(key);
  std::vector<int64_t> numbers;
  const auto read = [&](const json& item) {
    int64_t number = -1;
    const bool valid =
        item.is_null() || (AsInteger(item, &number) && number > 0 && InRange(number));
    numbers.push_back(number);
    return valid;
  };
  const bool valid = value.is_array() ? std::all_of(value.begin(), value.end(), read) : read(value);
  if (!valid) {
    WrongType(key, "a list of positive integers and null", value);
    return {};
  }
  Remember(key, IntsText(numbers), "");
  return numbers;
}

std::vector<double> LayerConfig::Numbers(const std::string& key,
                                         const std::vector<double>& fallback) {
  if (!Has(key)) return fallback;
  const json& value = *Find(key);
  std::vector<double> numbers;
  if (!AppendNumbers(value, &numbers) || numbers.empty()) {
    WrongType(key, "a number or a list of numbers", value);
    return fallback;
  }
  const auto text = [](const std::vector<double>& list) {
    std::string joined;
    for (const double number : list) joined += (joined.empty() ? "" : ",") + NumberText(number);
    return joined;
  };
  Remember(key, text(numbers), text(fallback));
  return numbers;
}

std::vector<std::string> LayerConfig::Strings(const std::string& key) {
  std::vector<std::string> texts;
  if (!Has(key)) return texts;
  const json& value = *Find(key);
  if (value.is_number_integer()) {
    texts.push_back(TokenText(value));
  } else if (value.is_array() && std::all_of(value.begin(), value.end(), IsToken)) {
    for (const json& one : value) texts.push_back(TokenText(one));
  } else {
    WrongType(key, "a list of texts or whole numbers", value);
  }
  std::string all;
  for (const std::string& text : texts) all += std::to_string(text.size()) + ":" + text;
  Remember(key, all, "");
  return texts;
}

std::optional<std::string> LayerConfig::Token(const std::string& key) {
  if (!Has(key)) return std::nullopt;
  const json& value = *Find(key);
  if (!IsToken(value)) {
    WrongType(key, "a text or a whole number", value);
    return std::nullopt;
  }
  Remember(key, ":" + TokenText(value), "");
  return TokenText(value);
}

WeightFactors LayerConfig::Factors(const std::string& key) {
  WeightFactors factors;
  if (!Has(key)) return factors;
  const json& value = *Find(key);
  bool valid = value.is_number() || value.is_object();
  const auto add = [&](const std::string& weight, const json& factor) {
    valid = valid && factor.is_number() && kNotNegative.Holds(factor.get<double>());
    if (valid) factors[weight] = factor.get<double>();
  };
  if (value.is_number()) add("", value);
  if (value.is_object()) {
    for (const auto& [weight, factor] : value.items()) add(weight, factor);
  }
  if (!valid) {
    WrongType(key, "a number of 0 or more, or an object of such numbers by names of weights",
              value);
    return {};
  }
  std::string text;
  for (const auto& [weight, factor] : factors) text += weight + "=" + NumberText(factor) + ",";
  Remember(key, text, "");
  return factors;
}

void LayerConfig::Ignore(const std::string& key) { read_.insert(key); }

void LayerConfig::RequireUnset(const std::string& key) {
  const json* value = Look(key);
  if (value == nullptr || IsHarmless(*value)) return;
  Fail(ErrorCode::kNotSupported, "argument \"" + key + "\" is not supported",
       "Build the layer without it.");
}

void LayerConfig::Fail(ErrorCode code, const std::string& message, const std::string& hint) {
  // The layer then got a default, about which there is nothing to say.
  for (const std::string& key : unusable_) {
    if (message.rfind("argument \"" + key + "\"", 0) == 0) return;
  }
  problems_->push_back({code, "layer \"" + name_ + "\" of class " + class_name_ + ": " + message,
                        "The layer is " + path_ + " of the architecture.", hint});
}

void LayerConfig::Require(const std::string& key, double value, const Range& range) {
  if (range.Holds(value)) return;
  Fail(ErrorCode::kInvalidParameter, "argument \"" + key + "\" " + range.rule);
}

void LayerConfig::RequireCount(const std::string& key, int64_t* value) {
  if (*value >= 1) return;
  Fail(ErrorCode::kInvalidParameter,
       "argument \"" + key + "\" must be at least 1, not " + std::to_string(*value));
  *value = 1;
}

void LayerConfig::RequireGivenCount(const std::string& key, int64_t* value) {
  if (Has(key)) return RequireCount(key, value);
  Missing(key);
  *value = std::max(*value, int64_t{1});
}

void LayerConfig::Missing(const std::string& key) {
  std::string hint;
  for (const auto& [given, value] : config_.items()) {
    if (hint.empty() &&
        NearestNameHint(given, {key}, OtherLayerArguments()).find('"' + key + '"') !=
            std::string::npos) {
      hint = "Perhaps you meant \"" + key + "\" where \"" + given + "\" stands.";
      Ignore(given);
    }
  }
  Fail(ErrorCode::kInvalidParameter, "argument \"" + key + "\" is missing", hint);
}

void LayerConfig::Finish() {
  OtherNames known;  // of arguments that this class has
  for (const OtherName& other : OtherLayerArguments()) {
    if (read_.count(other.ours[0]) != 0) known.push_back(other);
  }
  for (const auto& [key, value] : config_.items()) {
    if (read_.count(key) != 0 || IsHarmless(value)) continue;
    // An operation's argument is one of Keras.
    const std::string message = "argument \"" + key + "\" = " + ShortJson(value) +
                                (warnings_ == nullptr ? " is not supported" : " is not known");
    const std::string hint = NearestNameHint(key, {read_.begin(), read_.end()}, known);
    if (warnings_ == nullptr || !hint.empty() || ChangesMeaning(key)) {
      Fail(ErrorCode::kNotSupported, message, hint);
      continue;
    }
    warnings_->push_back(
        {ErrorCode::kNotSupported,
         "layer \"" + name_ + "\" of class " + class_name_ + ": " + message + " and has no effect",
         "The layer is " + path_ + " of the architecture.",
         "SELECT * FROM hopper.layers() says which arguments count."});
  }
}

}  // namespace hopper
