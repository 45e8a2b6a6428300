#include "model/recipes/tabular.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/keras/json_text.h"
#include "model/recipes/tabular_options.h"
#include "model/recipes/written_layers.h"
#include "params/json_writer.h"

namespace hopper {
namespace {

using Json = nlohmann::json;
using Fields = JsonObjectText;

std::string OfClass(const char* class_name, const Fields& config) {
  return Fields().Add("class_name", JsonString(class_name)).Add("config", config.Text()).Text();
}

std::string Normal(double deviation) {
  return OfClass("RandomNormal", Fields().Add("mean", "0.0").Add("stddev", JsonNumber(deviation)));
}

// PyTorch's own of a kernel: even numbers between -1 and 1, divided by the root of its inputs.
std::string UniformOfInputs() {
  return OfClass("VarianceScaling", Fields()
                                        .Add("scale", JsonNumber(1.0 / 3.0))
                                        .Add("mode", "\"fan_in\"")
                                        .Add("distribution", "\"uniform\""));
}

// A factor for the bias alone.
std::string OfBias(const std::string& factor) { return Fields().Add("bias", factor).Text(); }

// The network and its configuration, layer by layer, as text.
class RecipeWriter {
 public:
  RecipeWriter(const std::string& recipe, std::string_view options, const DataDesc& data,
               const RowLayout& layout)
      : recipe_(recipe), options_(recipe, options, data, layout), data_(data) {
    const DataOutput& labels = data.outputs[0];
    classes_ = labels.kind == LabelKind::kClass ? labels.num_classes : 0;
  }

  TabularRecipe Write() {
    const std::string features = Features();
    if (is("resnet")) {
      PlainOutput(ResNet(features));
    } else if (tabm()) {
      TabM(features);
    } else {
      NTKDense("output", RealMLP(features), std::to_string(Units()), true);
    }
    TabularRecipe made;
    made.architecture = layers_.Model(recipe_, {"output"}).Add("keras_version", "\"3.0.0\"").Text();
    const std::string compile = Compile();
    const std::string fit = Fit();
    if (parameters_.empty()) {
      made.compile_params = compile;
      made.fit_params = fit;
    }
    Fields parameters;
    for (const auto& [name, range] : parameters_) parameters.Add(name, range);
    made.space = Fields()
                     .Add("compile_params", compile)
                     .Add("fit_params", fit)
                     .Add("parameters", parameters.Text())
                     .Text();
    return made;
  }

 private:
  bool is(const char* recipe) const { return recipe_ == recipe; }
  bool tabm() const { return is("tabm") || is("tabm_mini"); }

  // An option, or what stands for it in a search.
  std::string Option(const char* name) { return Placed(name, options_.Value(name)); }
  std::string Placed(const std::string& name, const Json& value) {
    if (!RecipeOptions::IsRange(value)) return JsonOf(value);
    parameters_[name] = JsonOf(value);
    return Fields().Add("hopper", JsonString(name)).Text();
  }
  // One that may not be a range.
  std::string Fixed(const char* name) const { return JsonOf(options_.Value(name)); }

  std::string Add(const char* class_name, const std::string& name,
                  const std::vector<std::string>& inputs, const Fields& config) {
    return layers_.Add(class_name, name, inputs, config);
  }

  std::string Take(const char* name, const std::vector<int64_t>& places) {
    return Add("Take", name, {"input"},
               Fields().Add("axis", "1").Add("indices", WholeNumbers(places)));
  }

  // Whether numbers are embedded, by cosines of them.
  bool embeds_numbers() const { return options_.IsOn("frequencies"); }

  std::string Numbers() {
    const auto n = static_cast<int64_t>(options_.numbers().size());
    const std::string numbers = Take("numbers", options_.numbers());
    width_ += n;
    if (!embeds_numbers()) return numbers;
    const int64_t units = options_.Whole("frequency_units");
    width_ += n * units;
    return Add("PeriodicEmbedding", "embedded_numbers", {numbers},
               Fields()
                   .Add("frequencies", std::to_string(options_.Whole("frequencies")))
                   .Add("units", std::to_string(units))
                   .Add("sigma", Option("sigma"))
                   .Add("lr_factor", Fixed("frequency_lr_factor"))
                   .Add("weight_decay_factor", tabm() ? "0.0" : Fixed("frequency_lr_factor")));
  }

  std::string EmbeddedIds() {
    std::vector<int64_t> places, counts, lengths;
    for (const RecipeIds& ids : options_.ids()) {
      for (int64_t i = 0; i < ids.length; ++i) places.push_back(ids.place + i);
      counts.push_back(ids.count);
      lengths.push_back(ids.length);
    }
    const int64_t size = options_.Whole("embedding");
    Fields config;
    config.Add("input_dims", WholeNumbers(counts))
        .Add("output_dim", std::to_string(size))
        .Add("embeddings_initializer", Normal(1.0));
    if (places.size() > counts.size()) config.Add("lengths", WholeNumbers(lengths));
    width_ += static_cast<int64_t>(counts.size()) * size;
    return Add("CategoryEmbedding", "embedded_categories", {Take("categories", places)}, config);
  }

  // The row as one vector of features: numbers, one-hot values, embeddings.
  std::string Features() {
    Add("InputLayer", "input", {},
        Fields().Add("batch_shape", "[null," + std::to_string(data_.x_elements()) + "]"));
    std::vector<std::string> parts;
    if (!options_.numbers().empty()) parts.push_back(Numbers());
    if (!options_.one_hot().empty()) {
      parts.push_back(Take("one_hot", options_.one_hot()));
      width_ += static_cast<int64_t>(options_.one_hot().size());
    }
    if (!options_.ids().empty()) parts.push_back(EmbeddedIds());
    if (parts.size() == 1) return parts[0];
    return Add("Concatenate", "features", parts, Fields().Add("axis", "-1"));
  }

  // Each as text, or what stands for it.
  std::vector<std::string> Hidden() {
    const Json& hidden = options_.Value("hidden");
    if (!hidden.is_array()) RefuseRecipe("option \"hidden\" must be a list of numbers of units");
    std::vector<std::string> units;
    for (const Json& one : hidden) {
      if (!RecipeOptions::IsRange(one) && !(one.is_number_integer() && one.get<int64_t>() >= 1)) {
        RefuseRecipe("option \"hidden\" must be a list of numbers of units, not " +
                     ShortJson(hidden));
      }
      units.push_back(Placed("hidden" + std::to_string(units.size() + 1), one));
    }
    return units;
  }

  // `end`: the last layer.
  std::string NTKDense(const std::string& name, const std::string& from, const std::string& units,
                       bool end) {
    Fields config;
    config.Add("units", units)
        .Add("lr_factor", OfBias(Fixed("bias_lr_factor")))
        .Add("weight_decay_factor", OfBias("0.0"));
    if (is("realmlp")) {
      config.Add("kernel_data_init", "\"std\"").Add("bias_data_init", "\"he+5\"");
    } else if (end) {
      config.Add("kernel_initializer", "\"zeros\"");
    } else {
      config.Add("bias_initializer", Normal(1.0));
    }
    if (end) config.Add("activation", JsonString(EndActivation()));
    return Add("NTKDense", name, {from}, config);
  }

  std::string RealMLP(std::string at) {
    const std::string factor = Fixed("scale_lr_factor");
    at = Add("LayerScale", "scale", {at},
             Fields()
                 .Add("projection_dim", std::to_string(width_))
                 .Add("init_values", "1.0")
                 .Add("lr_factor", factor)
                 .Add("weight_decay_factor", factor));
    const std::vector<std::string> hidden = Hidden();
    for (size_t i = 0; i < hidden.size(); ++i) {
      const std::string number = std::to_string(i + 1);
      at = NTKDense("dense_" + number, at, hidden[i], false);
      Fields config;
      config.Add("activation", Option("activation"));
      if (is("realmlp_small")) {
        at = Add("Activation", "activation_" + number, {at}, config);
        continue;
      }
      const std::string slope = Fixed("activation_lr_factor");
      config.Add("lr_factor", slope).Add("weight_decay_factor", slope);
      at = Add("ParametricActivation", "activation_" + number, {at}, config);
      at = Dropout("dropout", "dropout_" + number, at);
    }
    return at;
  }

  // A layer of the option's rate; none where that is 0.
  std::string Dropout(const char* option, const std::string& name, const std::string& at) {
    if (!options_.IsOn(option)) return at;
    return Add("Dropout", name, {at}, Fields().Add("rate", Option(option)));
  }

  std::string Normalization(const std::string& name, const std::string& at) {
    return Add("BatchNormalization", name, {at},
               Fields().Add("epsilon", "1e-5").Add("momentum", "0.9"));
  }

  std::string ResNet(std::string at) {
    const std::vector<std::string> hidden = Hidden();
    if (hidden.empty()) return at;
    for (const Json& width : options_.Value("hidden")) {
      if (RecipeOptions::IsRange(width) || JsonOf(width) != hidden[0]) {
        RefuseRecipe("option \"hidden\" of a ResNet must hold the same number for each block");
      }
    }
    const int64_t width = options_.Value("hidden")[0].get<int64_t>();
    at = Add("Dense", "first", {at}, Fields().Add("units", std::to_string(width)));
    for (size_t i = 0; i < hidden.size(); ++i) {
      const std::string number = std::to_string(i + 1);
      std::string branch = Normalization("norm_" + number, at);
      branch = Add("Dense", "wide_" + number, {branch},
                   Fields()
                       .Add("units", std::to_string(width * options_.Whole("hidden_factor")))
                       .Add("activation", Option("activation")));
      branch = Dropout("hidden_dropout", "hidden_dropout_" + number, branch);
      branch =
          Add("Dense", "narrow_" + number, {branch}, Fields().Add("units", std::to_string(width)));
      branch = Dropout("dropout", "dropout_" + number, branch);
      at = Add("Add", "add_" + number, {at, branch}, Fields());
    }
    at = Normalization("norm", at);
    return Add("Activation", "activation", {at}, Fields().Add("activation", Option("activation")));
  }

  void PlainOutput(const std::string& from) {
    Add("Dense", "output", {from},
        Fields()
            .Add("units", std::to_string(Units()))
            .Add("activation", JsonString(EndActivation())));
  }

  // Members differ by scales of what each layer is given and gives; of the mini variant by those of
  // the features alone. Each has a head of its own.
  void TabM(std::string at) {
    const std::vector<std::string> hidden = Hidden();
    if (hidden.empty()) RefuseRecipe("option \"hidden\" of TabM must hold a number at least");
    const bool mini = is("tabm_mini");
    for (size_t i = 0; i < hidden.size(); ++i) {
      const std::string number = std::to_string(i + 1);
      Fields config;
      config.Add("units", hidden[i])
          .Add("activation", Option("activation"))
          .Add("kernel_initializer", UniformOfInputs())
          .Add("weight_decay_factor", OfBias("0.0"));
      if (i == 0 || !mini) config.Add("ensemble_size", Option("members"));
      if (i == 0) {
        config.Add("alpha_initializer",
                   embeds_numbers() ? Normal(1.0) : OfClass("RandomSign", Fields()));
        if (mini) config.Add("use_gamma", "false").Add("use_ensemble_bias", "false");
      }
      at = Add(i == 0 || !mini ? "DenseBatchEnsemble" : "Dense", "dense_" + number, {at}, config);
      at = Dropout("dropout", "dropout_" + number, at);
    }
    at = Add("EinsumDense", "heads", {at},
             Fields()
                 .Add("equation", "\"bmi,mio->bmo\"")
                 .Add("output_shape", "[null," + std::to_string(Units()) + "]")
                 .Add("bias_axes", "\"mo\"")
                 .Add("kernel_initializer", UniformOfInputs())
                 .Add("weight_decay_factor", OfBias("0.0")));
    Add("EnsembleAverage", "output", {at}, Fields().Add("activation", JsonString(EndActivation())));
  }

  int64_t Units() const {
    if (classes_ > 0) return classes_ == 2 ? 1 : classes_;
    return data_.outputs[0].size;
  }
  const char* EndActivation() const {
    return classes_ == 0 ? "linear" : classes_ == 2 ? "sigmoid" : "softmax";
  }

  std::string Schedule(const char* class_name) const {
    return OfClass(class_name,
                   Fields().Add("decay_iterations", std::to_string(options_.Whole("iterations"))));
  }

  std::string Compile() {
    std::string loss = "\"mean_squared_error\"";
    if (classes_ > 0) {
      loss = OfClass(classes_ == 2 ? "BinaryCrossentropy" : "CategoricalCrossentropy",
                     Fields().Add("label_smoothing", Option("label_smoothing")));
    }
    // RealMLP's schedules and moments; the others have AdamW's.
    const bool scheduled = options_.Has("beta_2");
    Fields config;
    if (scheduled) config.Add("beta_2", Option("beta_2"));
    if (!is("resnet")) config.Add("epsilon", "1e-08");
    config.Add("learning_rate", Option("learning_rate"));
    if (scheduled) config.Add("learning_rate_schedule", Schedule("CosineLogDecay"));
    if (options_.Has("weight_decay")) {
      config.Add("weight_decay", Option("weight_decay"));
      if (scheduled) config.Add("weight_decay_schedule", Schedule("FlatCosineDecay"));
    }
    std::string metrics = Fixed("metrics");
    if (!options_.Has("metrics")) {
      metrics = classes_ > 0 ? R"(["accuracy"])" : R"(["root_mean_squared_error"])";
    }
    return Fields()
        .Add("loss", loss)
        .Add("metrics", metrics)
        .Add("optimizer", OfClass(scheduled ? "Adam" : "AdamW", config))
        .Text();
  }

  std::string Fit() {
    Fields fit;
    fit.Add("batch_size", Option("batch_size"));
    if (is("realmlp") && options_.IsOn("dropout")) {
      fit.Add("dropout_schedule", Schedule("FlatCosineDecay"));
    }
    const Json& best = options_.Value("restore_best");
    if (!best.is_null() && !best.is_boolean()) {
      RefuseRecipe("option \"restore_best\" must be true or false");
    }
    if (best.is_boolean() && !best.get<bool>()) return fit.Text();
    const char* watched = classes_ > 0 ? "\"val_accuracy\"" : "\"val_loss\"";
    fit.Add("monitor", options_.Has("monitor") ? Fixed("monitor") : watched);
    if (options_.Has("patience")) fit.Add("patience", std::to_string(options_.Whole("patience")));
    return fit.Add("restore_best", "true").Text();
  }

  const std::string recipe_;
  const RecipeOptions options_;
  const DataDesc& data_;
  int64_t classes_ = 0;  // 0: numbers
  int64_t width_ = 0;    // of the features
  WrittenLayers layers_{true};
  std::map<std::string, std::string> parameters_;  // ranges, by the names that stand for them
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
                                const DataDesc& data, const RowLayout& layout) {
  const std::vector<std::string> recipes = {"realmlp", "realmlp_small", "resnet", "tabm",
                                            "tabm_mini"};
  if (std::find(recipes.begin(), recipes.end(), recipe) == recipes.end()) {
    const std::string hint = NearestNameHint(recipe, recipes);
    RefuseRecipe(
        "recipe \"" + recipe + "\" is not known",
        hint.empty() ? "Recipes are realmlp, realmlp_small, resnet, tabm and tabm_mini." : hint);
  }
  RequireTabularRows(data);
  return RecipeWriter(recipe, options, data, layout).Write();
}

}  // namespace hopper
