#include "model/recipes/tabular_options.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "model/keras/json_text.h"
#include "params/json_writer.h"

namespace hopper {
namespace {

using Json = nlohmann::json;

// A batch never crosses partitions: it is as large as it can be there, and nobody is warned.
std::string BatchSize(int64_t rows, const DataDesc& data) {
  if (data.n_partitions < 1) return std::to_string(rows);
  const int64_t of_partition = (data.n_rows + data.n_partitions - 1) / data.n_partitions;
  return std::to_string(std::min(rows, of_partition));
}

// What recipes differ in.
std::string DefaultsOf(const std::string& recipe, bool classes, const DataDesc& data) {
  JsonObjectText defaults;
  defaults.Add("embedding", "8");
  if (recipe == "resnet") {
    return defaults.Add("hidden", "[128, 128]")
        .Add("hidden_factor", "2")
        .Add("hidden_dropout", "0.25")
        .Add("dropout", "0.1")
        .Add("activation", "\"relu\"")
        .Add("learning_rate", "0.001")
        .Add("weight_decay", "0.01")
        .Add("label_smoothing", "0.0")
        .Add("batch_size", BatchSize(128, data))
        .Add("iterations", "1000")
        .Add("patience", "20")
        .Text();
  }
  if (recipe == "tabm" || recipe == "tabm_mini") {
    return defaults.Add("hidden", "[512, 512, 512]")
        .Add("members", "32")
        .Add("dropout", "0.1")
        .Add("activation", "\"relu\"")
        .Add("frequencies", "0")
        .Add("frequency_units", "3")
        .Add("sigma", "0.1")
        .Add("frequency_lr_factor", "1.0")
        .Add("learning_rate", "0.002")
        .Add("weight_decay", "0.0")
        .Add("label_smoothing", "0.0")
        .Add("batch_size", BatchSize(256, data))
        .Add("iterations", "1000")
        .Add("patience", "16")
        .Text();
  }
  defaults.Add("hidden", "[256, 256, 256]")
      .Add("activation", classes ? "\"selu\"" : "\"mish\"")
      .Add("scale_lr_factor", "6.0")
      .Add("bias_lr_factor", "0.1")
      .Add("beta_2", "0.95")
      .Add("batch_size", BatchSize(256, data))
      .Add("iterations", "256");
  if (classes) defaults.Add("label_smoothing", "0.1");
  if (recipe == "realmlp_small") {
    return defaults.Add("learning_rate", classes ? "0.04" : "0.07").Text();
  }
  return defaults.Add("dropout", "0.15")
      .Add("weight_decay", "0.02")
      .Add("learning_rate", classes ? "0.04" : "0.2")
      .Add("activation_lr_factor", "0.1")
      .Add("frequencies", "16")
      .Add("frequency_units", "3")
      .Add("sigma", "0.1")
      .Add("frequency_lr_factor", "0.1")
      .Text();
}

// What a number may be; of a list of choices each.
struct NumberRule {
  const char* name;
  bool whole;
  double least;
  double below;  // infinite: there is no limit
};

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr NumberRule kNumberRules[] = {
    {"activation_lr_factor", false, 0.0, kNoLimit},
    {"batch_size", true, 1.0, kNoLimit},
    {"beta_2", false, 0.0, 1.0},
    {"bias_lr_factor", false, 0.0, kNoLimit},
    {"dropout", false, 0.0, 1.0},
    {"embedding", true, 1.0, kNoLimit},
    {"frequencies", true, 0.0, kNoLimit},
    {"frequency_lr_factor", false, 0.0, kNoLimit},
    {"frequency_units", true, 1.0, kNoLimit},
    {"hidden_dropout", false, 0.0, 1.0},
    {"hidden_factor", true, 1.0, kNoLimit},
    {"iterations", true, 1.0, kNoLimit},
    {"label_smoothing", false, 0.0, 1.0},
    {"learning_rate", false, 0.0, kNoLimit},
    {"members", true, 1.0, kNoLimit},
    {"patience", true, 1.0, kNoLimit},
    {"scale_lr_factor", false, 0.0, kNoLimit},
    {"sigma", false, 0.0, kNoLimit},
    {"weight_decay", false, 0.0, kNoLimit},
};

void CheckNumber(const NumberRule& rule, const Json& value) {
  if (value.is_object()) return;  // the space checks it
  if (value.is_array()) {
    for (const Json& one : value) CheckNumber(rule, one);
    return;
  }
  const bool fits = rule.whole ? value.is_number_integer() : value.is_number();
  const double number = fits ? value.get<double>() : 0.0;
  if (fits && number >= rule.least && number < rule.below) return;
  std::string wanted = rule.whole ? "a whole number of " : "a number ";
  if (rule.whole) {
    wanted += NumberText(rule.least) + " or more";
  } else if (rule.below < kNoLimit) {
    wanted += "from " + NumberText(rule.least) + " to below " + NumberText(rule.below);
  } else {
    wanted += "of " + NumberText(rule.least) + " or more";
  }
  RefuseRecipe(std::string("option \"") + rule.name + "\" must be " + wanted + ", not " +
               ShortJson(value));
}

void ParseOptions(std::string_view text, JsonDocument* document) {
  std::vector<Problem> problems;
  if (!ParseAnyJson(text, document, &problems)) {
    throw Error(ErrorCode::kInvalidText, "options are not valid JSON", problems.front().detail);
  }
  if (!document->root()->is_object()) RefuseRecipe("options must be a JSON object");
}

}  // namespace

void RefuseRecipe(const std::string& message, const std::string& hint) {
  throw Error(ErrorCode::kInvalidParameter, message, "", hint);
}

std::string JsonOf(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RecipeOptions::RecipeOptions(const std::string& recipe, std::string_view given,
                             const DataDesc& data, const RowLayout& layout)
    : recipe_(recipe), slots_(data.x_elements()) {
  ParseOptions(given, &given_);
  ParseOptions(DefaultsOf(recipe, data.outputs[0].kind == LabelKind::kClass, data), &defaults_);
  RefuseUnknown();
  for (const NumberRule& rule : kNumberRules) {
    const Json& value = Member(*given_.root(), rule.name);
    if (!value.is_null()) CheckNumber(rule, value);
  }
  ReadSlots(layout);
}

const Json& RecipeOptions::Value(const char* name) const {
  const Json& given = Member(*given_.root(), name);
  return given.is_null() ? Member(*defaults_.root(), name) : given;
}

bool RecipeOptions::Has(const char* name) const { return !Value(name).is_null(); }

bool RecipeOptions::IsOn(const char* name) const {
  const Json& value = Value(name);
  return value.is_number() ? value.get<double>() != 0.0 : !value.is_null();
}

bool RecipeOptions::IsRange(const Json& value) { return value.is_array() || value.is_object(); }

int64_t RecipeOptions::Whole(const char* name, int64_t least) const {
  const Json& value = Value(name);
  if (value.is_number_integer() && value.get<int64_t>() >= least) return value.get<int64_t>();
  RefuseRecipe(std::string("option \"") + name + "\" must be a whole number of " +
               std::to_string(least) + " or more, not " + ShortJson(value));
}

void RecipeOptions::RefuseUnknown() const {
  std::vector<std::string> known = {"categories", "texts",   "one_hot",
                                    "metrics",    "monitor", "restore_best"};
  for (const auto& [name, value] : defaults_.root()->items()) known.push_back(name);
  for (const auto& [name, value] : given_.root()->items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string all;
    for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
    const std::string hint = NearestNameHint(name, known);
    RefuseRecipe("recipe \"" + recipe_ + "\" has no option \"" + name + "\"",
                 hint.empty() ? "Its options are " + all + "." : hint);
  }
}

int64_t RecipeOptions::Slot(int64_t place, const char* option) {
  if (place < 1 || place > slots_) {
    RefuseRecipe(std::string("option \"") + option + "\" names the place " + std::to_string(place) +
                 " of rows that have " + std::to_string(slots_));
  }
  if (!taken_.insert(place).second) {
    RefuseRecipe("place " + std::to_string(place) +
                 " is named twice among categories, texts and one_hot");
  }
  return place - 1;
}

// "3": 20, or of texts "3": {"ids": 20, "length": 9}.
void RecipeOptions::ReadIds(const char* name, const std::string& place, const Json& ids) {
  const bool is_text = name == std::string_view("texts");
  const Json& count = is_text ? Member(ids, "ids") : ids;
  const Json one = 1;
  const Json& length = is_text ? Member(ids, "length") : one;
  const bool digits = !place.empty() && place.size() < 10 &&
                      place.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || !count.is_number_integer() || count.get<int64_t>() < 1 ||
      !length.is_number_integer() || length.get<int64_t>() < 1 || length.get<int64_t>() > slots_) {
    RefuseRecipe(
        std::string("option \"") + name + "\" must hold numbers of ids by places in the row",
        is_text ? "Write {\"texts\": {\"3\": {\"ids\": 1000, \"length\": 20}}}: 20 "
                  "places from 3 on hold ids of words."
                : "");
  }
  TakeIds({std::stoll(place) - 1, count.get<int64_t>(), length.get<int64_t>(), is_text}, name);
}

void RecipeOptions::TakeIds(const RecipeIds& ids, const char* option) {
  ids_.push_back(ids);
  for (int64_t i = 1; i <= ids.length; ++i) Slot(ids.place + i, option);
}

// Which places of a row are ids of categories or words, which are one-hot, and which are numbers.
void RecipeOptions::ReadSlots(const RowLayout& layout) {
  for (const char* name : {"categories", "texts"}) {
    const bool of_words = name == std::string_view("texts");
    if (!given_.root()->contains(name)) {
      for (const RecipeIds& ids : layout.ids) {
        if (ids.of_words == of_words) TakeIds(ids, name);
      }
    }
    const Json& columns = Value(name);
    if (columns.is_null()) continue;
    if (!columns.is_object()) {
      RefuseRecipe(std::string("option \"") + name +
                       "\" must be an object: the number of ids by the place in the row",
                   "Write {\"categories\": {\"3\": 20}}, for example.");
    }
    for (const auto& [place, ids] : columns.items()) ReadIds(name, place, ids);
  }
  std::sort(ids_.begin(), ids_.end(),
            [](const RecipeIds& a, const RecipeIds& b) { return a.place < b.place; });
  if (!given_.root()->contains("one_hot")) {
    for (const int64_t place : layout.one_hot) one_hot_.push_back(Slot(place + 1, "one_hot"));
  }
  if (const Json& one_hot = Value("one_hot"); !one_hot.is_null()) {
    const bool list = one_hot.is_array() &&
                      std::all_of(one_hot.begin(), one_hot.end(),
                                  [](const Json& place) { return place.is_number_integer(); });
    if (!list) RefuseRecipe("option \"one_hot\" must be a list of places in the row");
    for (const Json& place : one_hot) one_hot_.push_back(Slot(place.get<int64_t>(), "one_hot"));
    std::sort(one_hot_.begin(), one_hot_.end());
  }
  for (int64_t place = 1; place <= slots_; ++place) {
    if (taken_.count(place) == 0) numbers_.push_back(place - 1);
  }
}

}  // namespace hopper
