#include "model/recipes/tabular.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/keras/json_text.h"
#include "model/keras/keras_json.h"

namespace hopper {
namespace {

using Json = nlohmann::json;

// The defaults that recipes differ in; null: the recipe has no such thing.
Json RecipeDefaults(const std::string& recipe, bool classes) {
  if (recipe == "resnet") {
    return {{"hidden", {128, 128}},  {"hidden_factor", 2},   {"hidden_dropout", 0.25},
            {"dropout", 0.1},        {"embedding", 8},       {"activation", "relu"},
            {"learning_rate", 1e-3}, {"weight_decay", 0.01}, {"label_smoothing", 0.0},
            {"batch_size", 128},     {"iterations", 1000},   {"patience", 20}};
  }
  Json defaults = {{"hidden", {256, 256, 256}},
                   {"activation", classes ? "selu" : "mish"},
                   {"embedding", 8},
                   {"scale_lr_factor", 6.0},
                   {"bias_lr_factor", 0.1},
                   {"beta_2", 0.95},
                   {"batch_size", 256},
                   {"iterations", 256}};
  if (classes) defaults["label_smoothing"] = 0.1;
  if (recipe == "realmlp") {
    defaults.update({{"dropout", 0.15},
                     {"weight_decay", 0.02},
                     {"learning_rate", classes ? 0.04 : 0.2},
                     {"activation_lr_factor", 0.1},
                     {"frequencies", 16},
                     {"frequency_units", 3},
                     {"sigma", 0.1},
                     {"frequency_lr_factor", 0.1}});
  } else {
    defaults["learning_rate"] = classes ? 0.04 : 0.07;
  }
  return defaults;
}

[[noreturn]] void RefuseRecipe(const std::string& message, const std::string& hint = "") {
  throw Error(ErrorCode::kInvalidParameter, message, "", hint);
}

// A list of choices, or an object of a space's parameter.
bool IsRecipeRange(const Json& value) { return value.is_array() || value.is_object(); }

// The network and its configuration, layer by layer.
class RecipeWriter {
 public:
  RecipeWriter(const std::string& recipe, Json options, const DataDesc& data)
      : recipe_(recipe), options_(std::move(options)), data_(data), slots_(data.x_elements()) {
    const DataOutput& labels = data.outputs[0];
    classes_ = labels.kind == LabelKind::kClass ? labels.num_classes : 0;
    ReadOptions();
  }

  TabularRecipe Write() {
    const std::string end = recipe_ == "resnet" ? ResNet(Features()) : RealMLP(Features());
    Output(end);
    TabularRecipe made;
    made.architecture = Json({{"class_name", "Functional"},
                              {"config",
                               {{"name", recipe_},
                                {"layers", std::move(layers_)},
                                {"input_layers", {{"input", 0, 0}}},
                                {"output_layers", {{"output", 0, 0}}}}},
                              {"keras_version", "3.0.0"}})
                            .dump();
    const Json compile = Compile();
    const Json fit = Fit();
    if (parameters_.empty()) {
      made.compile_params = compile.dump();
      made.fit_params = fit.dump();
    }
    made.space =
        Json({{"parameters", parameters_}, {"compile_params", compile}, {"fit_params", fit}})
            .dump();
    return made;
  }

 private:
  void ReadOptions() {
    Json defaults = RecipeDefaults(recipe_, classes_ > 0);
    // A batch never crosses partitions: it is as large as it can be there, and nobody is warned.
    if (data_.n_partitions > 0) {
      const int64_t rows = (data_.n_rows + data_.n_partitions - 1) / data_.n_partitions;
      defaults["batch_size"] = std::min(defaults["batch_size"].get<int64_t>(), rows);
    }
    std::vector<std::string> known = {"categories", "texts",   "one_hot",
                                      "metrics",    "monitor", "restore_best"};
    for (const auto& [name, value] : defaults.items()) known.push_back(name);
    for (const auto& [name, value] : options_.items()) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      std::string all;
      for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
      const std::string hint = NearestNameHint(name, known);
      RefuseRecipe("recipe \"" + recipe_ + "\" has no option \"" + name + "\"",
                   hint.empty() ? "Its options are " + all + "." : hint);
    }
    for (const auto& [name, value] : defaults.items()) {
      if (!options_.contains(name) || options_[name].is_null()) options_[name] = value;
    }
    ReadSlots();
  }

  int64_t Slot(int64_t place, const char* option) {
    if (place < 1 || place > slots_) {
      RefuseRecipe(std::string("option \"") + option + "\" names the place " +
                   std::to_string(place) + " of rows that have " + std::to_string(slots_));
    }
    if (!taken_.insert(place).second) {
      RefuseRecipe("place " + std::to_string(place) +
                   " is named twice among categories, texts and one_hot");
    }
    return place - 1;
  }

  // Of a column of ids: the first of its places in a row, how many ids there are, and how many
  // places it has, which share them.
  struct Ids {
    int64_t place;
    int64_t count;
    int64_t length;
  };

  // "3": 20, or of texts "3": {"ids": 20, "length": 9}.
  void ReadIds(const std::string& name, const std::string& place, const Json& ids) {
    const bool is_text = name == "texts";
    const Json& count = is_text ? Member(ids, "ids") : ids;
    const Json length = is_text ? Member(ids, "length") : Json(1);
    const bool digits = !place.empty() && place.size() < 10 &&
                        place.find_first_not_of("0123456789") == std::string::npos;
    if (!digits || !count.is_number_integer() || count.get<int64_t>() < 1 ||
        !length.is_number_integer() || length.get<int64_t>() < 1 ||
        length.get<int64_t>() > slots_) {
      RefuseRecipe("option \"" + name + "\" must hold numbers of ids by places in the row",
                   is_text ? "Write {\"texts\": {\"3\": {\"ids\": 1000, \"length\": 20}}}: 20 "
                             "places from 3 on hold ids of words."
                           : "");
    }
    const int64_t first = std::stoll(place);
    ids_.push_back({first - 1, count.get<int64_t>(), length.get<int64_t>()});
    for (int64_t i = 0; i < ids_.back().length; ++i) Slot(first + i, name.c_str());
  }

  // Which places of a row are ids of categories or words, which are one-hot, and which are numbers.
  void ReadSlots() {
    for (const char* name : {"categories", "texts"}) {
      const Json& columns = Member(options_, name);
      if (columns.is_null()) continue;
      if (!columns.is_object()) {
        RefuseRecipe(std::string("option \"") + name +
                         "\" must be an object: the number of ids by the place in the row",
                     "Write {\"categories\": {\"3\": 20}}, for example.");
      }
      for (const auto& [place, ids] : columns.items()) ReadIds(name, place, ids);
    }
    std::sort(ids_.begin(), ids_.end(),
              [](const Ids& a, const Ids& b) { return a.place < b.place; });
    if (const Json& one_hot = Member(options_, "one_hot"); !one_hot.is_null()) {
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

  // An option, or what stands for it in a search.
  Json Option(const std::string& name) { return Placed(name, options_[name]); }
  Json Placed(const std::string& name, const Json& value) {
    if (!IsRecipeRange(value)) return value;
    parameters_[name] = value;
    return {{"hopper", name}};
  }
  // One that decides shapes or the length of a schedule.
  int64_t Whole(const std::string& name) const {
    const Json& value = options_[name];
    if (value.is_number_integer() && value.get<int64_t>() >= 1) return value.get<int64_t>();
    RefuseRecipe("option \"" + name + "\" must be a whole number of 1 or more, not " +
                 ShortJson(value));
  }

  std::string Add(const char* class_name, const std::string& name,
                  const std::vector<std::string>& inputs, Json config) {
    config["name"] = name;
    Json entry = {{"class_name", class_name}, {"name", name}, {"config", std::move(config)}};
    static const std::set<std::string> own = {"CategoryEmbedding", "NTKDense",
                                              "ParametricActivation", "PeriodicEmbedding", "Take"};
    if (own.count(class_name) != 0)
      entry["registered_name"] = std::string("model_hopper>") + class_name;
    Json nodes = Json::array();
    for (const std::string& input : inputs)
      nodes.push_back(Json::array({input, 0, 0, Json::object()}));
    entry["inbound_nodes"] = inputs.empty() ? Json::array() : Json::array({nodes});
    layers_.push_back(std::move(entry));
    return name;
  }

  std::string Take(const char* name, const std::vector<int64_t>& places) {
    return Add("Take", name, {"input"}, {{"axis", 1}, {"indices", places}});
  }

  // The row as one vector of features: numbers, one-hot values, embeddings.
  std::string Features() {
    Add("InputLayer", "input", {}, {{"batch_shape", {nullptr, slots_}}});
    std::vector<std::string> parts;
    if (!numbers_.empty()) {
      std::string numbers = Take("numbers", numbers_);
      width_ += static_cast<int64_t>(numbers_.size());
      if (recipe_ == "realmlp") {
        const int64_t units = Whole("frequency_units");
        const Json factor = options_["frequency_lr_factor"];
        numbers = Add("PeriodicEmbedding", "embedded_numbers", {numbers},
                      {{"frequencies", Whole("frequencies")},
                       {"units", units},
                       {"sigma", Option("sigma")},
                       {"lr_factor", factor},
                       {"weight_decay_factor", factor}});
        width_ += static_cast<int64_t>(numbers_.size()) * units;
      }
      parts.push_back(numbers);
    }
    if (!one_hot_.empty()) {
      parts.push_back(Take("one_hot", one_hot_));
      width_ += static_cast<int64_t>(one_hot_.size());
    }
    if (!ids_.empty()) {
      std::vector<int64_t> places, counts, lengths;
      for (const Ids& ids : ids_) {
        for (int64_t i = 0; i < ids.length; ++i) places.push_back(ids.place + i);
        counts.push_back(ids.count);
        lengths.push_back(ids.length);
      }
      const int64_t size = Whole("embedding");
      Json config = {
          {"input_dims", counts}, {"output_dim", size}, {"embeddings_initializer", Normal(1.0)}};
      if (places.size() > counts.size()) config["lengths"] = lengths;
      parts.push_back(Add("CategoryEmbedding", "embedded_categories", {Take("categories", places)},
                          std::move(config)));
      width_ += static_cast<int64_t>(ids_.size()) * size;
    }
    if (parts.size() == 1) return parts[0];
    return Add("Concatenate", "features", parts, {{"axis", -1}});
  }

  static Json Normal(double deviation) {
    return {{"class_name", "RandomNormal"}, {"config", {{"mean", 0.0}, {"stddev", deviation}}}};
  }

  std::vector<Json> Hidden() {
    const Json& hidden = options_["hidden"];
    if (!hidden.is_array()) RefuseRecipe("option \"hidden\" must be a list of numbers of units");
    std::vector<Json> units;
    for (const Json& one : hidden) {
      if (!IsRecipeRange(one) && !(one.is_number_integer() && one.get<int64_t>() >= 1)) {
        RefuseRecipe("option \"hidden\" must be a list of numbers of units, not " +
                     ShortJson(hidden));
      }
      units.push_back(Placed("hidden" + std::to_string(units.size() + 1), one));
    }
    return units;
  }

  bool small() const { return recipe_ == "realmlp_small"; }

  // `end`: the last layer.
  std::string NTKDense(const std::string& name, const std::string& from, const Json& units,
                       bool end) {
    Json config = {{"units", units},
                   {"lr_factor", {{"bias", options_["bias_lr_factor"]}}},
                   {"weight_decay_factor", {{"bias", 0.0}}}};
    if (!small()) {
      config["kernel_data_init"] = "std";
      config["bias_data_init"] = "he+5";
    } else if (end) {
      config["kernel_initializer"] = "zeros";
    } else {
      config["bias_initializer"] = Normal(1.0);
    }
    if (end) config["activation"] = EndActivation();
    return Add("NTKDense", name, {from}, std::move(config));
  }

  std::string RealMLP(std::string at) {
    const Json factor = options_["scale_lr_factor"];
    at = Add("LayerScale", "scale", {at},
             {{"projection_dim", width_},
              {"init_values", 1.0},
              {"lr_factor", factor},
              {"weight_decay_factor", factor}});
    const std::vector<Json> hidden = Hidden();
    for (size_t i = 0; i < hidden.size(); ++i) {
      const std::string number = std::to_string(i + 1);
      at = NTKDense("dense_" + number, at, hidden[i], false);
      if (small()) {
        at =
            Add("Activation", "activation_" + number, {at}, {{"activation", Option("activation")}});
        continue;
      }
      const Json slope = options_["activation_lr_factor"];
      at = Add("ParametricActivation", "activation_" + number, {at},
               {{"activation", Option("activation")},
                {"lr_factor", slope},
                {"weight_decay_factor", slope}});
      if (options_["dropout"] != 0) {
        at = Add("Dropout", "dropout_" + number, {at}, {{"rate", Option("dropout")}});
      }
    }
    return at;
  }

  std::string ResNet(std::string at) {
    const std::vector<Json> hidden = Hidden();
    if (hidden.empty()) return at;
    for (const Json& width : hidden) {
      if (!width.is_number_integer() || width != hidden[0]) {
        RefuseRecipe("option \"hidden\" of a ResNet must hold the same number for each block");
      }
    }
    const int64_t width = hidden[0].get<int64_t>();
    at = Add("Dense", "first", {at}, {{"units", width}});
    for (size_t i = 0; i < hidden.size(); ++i) {
      const std::string number = std::to_string(i + 1);
      std::string branch =
          Add("BatchNormalization", "norm_" + number, {at}, {{"epsilon", 1e-5}, {"momentum", 0.9}});
      branch =
          Add("Dense", "wide_" + number, {branch},
              {{"units", width * Whole("hidden_factor")}, {"activation", Option("activation")}});
      branch = Add("Dropout", "hidden_dropout_" + number, {branch},
                   {{"rate", Option("hidden_dropout")}});
      branch = Add("Dense", "narrow_" + number, {branch}, {{"units", width}});
      branch = Add("Dropout", "dropout_" + number, {branch}, {{"rate", Option("dropout")}});
      at = Add("Add", "add_" + number, {at, branch}, Json::object());
    }
    at = Add("BatchNormalization", "norm", {at}, {{"epsilon", 1e-5}, {"momentum", 0.9}});
    return Add("Activation", "activation", {at}, {{"activation", Option("activation")}});
  }

  int64_t Units() const {
    if (classes_ > 0) return classes_ == 2 ? 1 : classes_;
    return data_.y_elements();
  }
  const char* EndActivation() const {
    return classes_ == 0 ? "linear" : classes_ == 2 ? "sigmoid" : "softmax";
  }
  void Output(const std::string& from) {
    if (recipe_ == "resnet") {
      Add("Dense", "output", {from}, {{"units", Units()}, {"activation", EndActivation()}});
    } else {
      NTKDense("output", from, Units(), true);
    }
  }

  Json Schedule(const char* class_name) const {
    return {{"class_name", class_name}, {"config", {{"decay_iterations", Whole("iterations")}}}};
  }

  Json Compile() {
    Json loss = "mean_squared_error";
    if (classes_ > 0) {
      loss = {{"class_name", classes_ == 2 ? "BinaryCrossentropy" : "CategoricalCrossentropy"},
              {"config", {{"label_smoothing", Option("label_smoothing")}}}};
    }
    Json config = {{"learning_rate", Option("learning_rate")}};
    if (recipe_ != "resnet") {
      config["learning_rate_schedule"] = Schedule("CosineLogDecay");
      config["beta_2"] = Option("beta_2");
      config["epsilon"] = 1e-8;
    }
    if (options_.contains("weight_decay")) {
      config["weight_decay"] = Option("weight_decay");
      if (recipe_ == "realmlp") config["weight_decay_schedule"] = Schedule("FlatCosineDecay");
    }
    Json metrics = Member(options_, "metrics");
    if (metrics.is_null()) {
      metrics = Json::array({classes_ > 0 ? "accuracy" : "root_mean_squared_error"});
    }
    return {{"loss", loss},
            {"metrics", metrics},
            {"optimizer",
             {{"class_name", recipe_ == "resnet" ? "AdamW" : "Adam"}, {"config", config}}}};
  }

  Json Fit() {
    Json fit = {{"batch_size", Option("batch_size")}};
    if (recipe_ == "realmlp" && options_["dropout"] != 0) {
      fit["dropout_schedule"] = Schedule("FlatCosineDecay");
    }
    const Json& best = Member(options_, "restore_best");
    if (!best.is_null() && !best.is_boolean()) {
      RefuseRecipe("option \"restore_best\" must be true or false");
    }
    if (!best.is_boolean() || best.get<bool>()) {
      fit["restore_best"] = true;
      const Json& monitor = Member(options_, "monitor");
      fit["monitor"] =
          monitor.is_null() ? Json(classes_ > 0 ? "val_accuracy" : "val_loss") : monitor;
      if (options_.contains("patience")) fit["patience"] = Whole("patience");
    }
    return fit;
  }

  const std::string recipe_;
  Json options_;
  const DataDesc& data_;
  const int64_t slots_;
  int64_t classes_ = 0;  // 0: numbers
  std::vector<int64_t> numbers_;
  std::vector<int64_t> one_hot_;
  std::vector<Ids> ids_;
  std::set<int64_t> taken_;
  int64_t width_ = 0;  // of the features
  Json layers_ = Json::array();
  Json parameters_ = Json::object();
};

void RequireTabularRows(const DataDesc& data) {
  const std::string table = "\"" + data.table_name + "\"";
  if (data.inputs.size() != 1 || data.x_shape.size() != 1) {
    throw Error(ErrorCode::kNotSupported, table + " does not hold rows of numbers",
                "An example of it is " + ShapeText(data.x_shape) + ".",
                "Pack a list of columns, or one array of one dimension.");
  }
  if (data.outputs.size() != 1 || data.outputs[0].kind == LabelKind::kArray) {
    throw Error(ErrorCode::kNotSupported, table + " has several outputs, or labels that are arrays",
                "", "Build the model with Keras and store it with hopper.load_model().");
  }
  if (data.outputs[0].kind == LabelKind::kClass && data.outputs[0].num_classes < 2) {
    RefuseRecipe("labels of " + table + " are of one class only", "There is nothing to learn.");
  }
}

}  // namespace

TabularRecipe MakeTabularRecipe(const std::string& recipe, std::string_view options,
                                const DataDesc& data) {
  const std::vector<std::string> recipes = {"realmlp", "realmlp_small", "resnet"};
  if (std::find(recipes.begin(), recipes.end(), recipe) == recipes.end()) {
    const std::string hint = NearestNameHint(recipe, recipes);
    RefuseRecipe("recipe \"" + recipe + "\" is not known",
                 hint.empty() ? "Recipes are realmlp, realmlp_small and resnet." : hint);
  }
  RequireTabularRows(data);
  JsonDocument document;
  std::vector<Problem> problems;
  if (!ParseAnyJson(options, &document, &problems)) {
    throw Error(ErrorCode::kInvalidText, "options are not valid JSON", problems.front().detail);
  }
  if (!document.root()->is_object()) RefuseRecipe("options must be a JSON object");
  return RecipeWriter(recipe, *document.root(), data).Write();
}

}  // namespace hopper
