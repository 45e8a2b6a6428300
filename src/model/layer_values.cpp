// Activations, initializers and regularizers in every spelling that Keras has written.

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "model/keras/json_text.h"
#include "model/keras/keras_json.h"
#include "model/layer_config.h"
#include "model/layers/activation/activation_layer.h"
#include "params/other_names.h"

namespace hopper {

using nlohmann::json;

namespace {

bool NumberMember(const json& object, const char* key, double* out) {
  const json& value = Member(object, key);
  if (!value.is_number()) return false;
  *out = value.get<double>();
  return true;
}

// activation=LeakyReLU(0.1): a layer object where a name could stand.
bool ActivationOfLayer(const std::string& class_name, const json& config, KerasFamily family,
                       ActivationSpec* out) {
  const LayerType* type = FindLayerType(class_name);
  if (type == nullptr || !type->activates) return false;
  std::vector<Problem> problems;
  LayerConfig attributes(config, class_name, "", family, &problems);
  const std::unique_ptr<Layer> layer = type->make(attributes);
  *out = static_cast<const layers::ActivationLayer&>(*layer).activation;
  return problems.empty() && out->axis >= -64 && out->axis <= 64;
}

// Keras' extensions register their functions under the name of their package.
bool ReadActivationName(std::string name, KerasFamily family, ActivationSpec* out) {
  static const std::string kPackages[] = {"keras_hub>", "keras_nlp>"};
  for (const std::string& package : kPackages) {
    if (name.compare(0, package.size(), package) == 0) name.erase(0, package.size());
  }
  return FindActivation(name, family == KerasFamily::kKeras2, out);
}

bool ReadActivation(const json& value, KerasFamily family, ActivationSpec* out) {
  if (value.is_string()) return ReadActivationName(value.get<std::string>(), family, out);
  const std::string class_name = StringMember(value, "class_name");
  const json& config = Member(value, "config");
  // {"class_name": "function", "config": "relu"}
  if (config.is_string()) return ReadActivationName(config.get<std::string>(), family, out);
  if (class_name == "Activation") {
    const json& inner = Member(config, "activation");
    return inner.is_string() && ReadActivationName(inner.get<std::string>(), family, out);
  }
  return ActivationOfLayer(class_name, config, family, out);
}

std::string Describe(const json& value) {
  const std::string class_name = StringMember(value, "class_name");
  const json& config = Member(value, "config");
  if (config.is_string()) return ShortJson(config);
  return class_name.empty() ? ShortJson(value) : "\"" + class_name + "\"";
}

std::string Text(const ActivationSpec& spec) {
  const ActivationType& type = TypeOf(spec.kind);
  return type.names[0] + (type.keras_2 ? "2" : "") + "(" + NumberText(spec.alpha) + "," +
         NumberText(spec.max_value < 0 ? -1.0 : spec.max_value) + "," + NumberText(spec.threshold) +
         "," + std::to_string(spec.axis) + ")";
}

using Fan = InitializerSpec::FanMode;
using Draw = InitializerSpec::Distribution;
using Init = InitializerKind;

struct InitializerRow {
  const char* class_name;
  const char* name;  // as a string
  InitializerSpec defaults;
};

const InitializerRow kInitializers[] = {
    {"Zeros", "zeros", {Init::kZeros, 0, 0, Fan::kAverage, Draw::kUniform}},
    {"Ones", "ones", {Init::kOnes, 0, 0, Fan::kAverage, Draw::kUniform}},
    {"Constant", "constant", {Init::kConstant, 0, 0, Fan::kAverage, Draw::kUniform}},
    {"RandomUniform",
     "random_uniform",
     {Init::kRandomUniform, -0.05, 0.05, Fan::kAverage, Draw::kUniform}},
    {"RandomNormal",
     "random_normal",
     {Init::kRandomNormal, 0, 0.05, Fan::kAverage, Draw::kUniform}},
    {"TruncatedNormal",
     "truncated_normal",
     {Init::kTruncatedNormal, 0, 0.05, Fan::kAverage, Draw::kUniform}},
    {"VarianceScaling",
     "variance_scaling",
     {Init::kVarianceScaling, 1, 0, Fan::kIn, Draw::kTruncatedNormal}},
    {"GlorotUniform",
     "glorot_uniform",
     {Init::kVarianceScaling, 1, 0, Fan::kAverage, Draw::kUniform}},
    {"GlorotNormal",
     "glorot_normal",
     {Init::kVarianceScaling, 1, 0, Fan::kAverage, Draw::kTruncatedNormal}},
    {"HeUniform", "he_uniform", {Init::kVarianceScaling, 2, 0, Fan::kIn, Draw::kUniform}},
    {"HeNormal", "he_normal", {Init::kVarianceScaling, 2, 0, Fan::kIn, Draw::kTruncatedNormal}},
    {"LecunUniform", "lecun_uniform", {Init::kVarianceScaling, 1, 0, Fan::kIn, Draw::kUniform}},
    {"LecunNormal",
     "lecun_normal",
     {Init::kVarianceScaling, 1, 0, Fan::kIn, Draw::kTruncatedNormal}},
    {"Orthogonal", "orthogonal", {Init::kOrthogonal, 1, 0, Fan::kAverage, Draw::kUniform}},
    {"OrthogonalInitializer",
     "orthogonal_initializer",
     {Init::kOrthogonal, 1, 0, Fan::kAverage, Draw::kUniform}},
    {"Identity", "identity", {Init::kIdentity, 1, 0, Fan::kAverage, Draw::kUniform}},
    {"IdentityInitializer",
     "identity_initializer",
     {Init::kIdentity, 1, 0, Fan::kAverage, Draw::kUniform}},
    // Not of Keras: edward2's, where all are as likely.
    {"RandomSign", "random_sign", {Init::kRandomSign, 0, 0, Fan::kAverage, Draw::kUniform}},
    // Keras 1's short names, which later versions still read.
    {"uniform", "uniform", {Init::kRandomUniform, -0.05, 0.05, Fan::kAverage, Draw::kUniform}},
    {"normal", "normal", {Init::kRandomNormal, 0, 0.05, Fan::kAverage, Draw::kUniform}},
    {"zero", "zero", {Init::kZeros, 0, 0, Fan::kAverage, Draw::kUniform}},
    {"one", "one", {Init::kOnes, 0, 0, Fan::kAverage, Draw::kUniform}},
};

const InitializerRow* FindInitializer(const std::string& name) {
  for (const InitializerRow& row : kInitializers) {
    if (name == row.class_name || name == row.name) return &row;
  }
  return nullptr;
}

// What became of a value that may be of a class that is not there, or of one that is but wrong.
enum class Reading { kDone, kUnknown, kWrong };

Reading ReadVarianceScaling(const json& config, InitializerSpec* spec) {
  const json& scale = Member(config, "scale");
  if (!scale.is_null() && !NumberMember(config, "scale", &spec->a)) return Reading::kWrong;
  if (!(spec->a > 0.0)) return Reading::kWrong;
  const json& mode = Member(config, "mode");
  if (IsText(mode, "fan_in")) {
    spec->fan_mode = Fan::kIn;
  } else if (IsText(mode, "fan_out")) {
    spec->fan_mode = Fan::kOut;
  } else if (IsText(mode, "fan_avg")) {
    spec->fan_mode = Fan::kAverage;
  } else if (!mode.is_null()) {
    return Reading::kWrong;
  }
  const json& draw = Member(config, "distribution");
  if (IsText(draw, "uniform")) {
    spec->distribution = Draw::kUniform;
  } else if (IsText(draw, "truncated_normal") || IsText(draw, "normal")) {
    spec->distribution = Draw::kTruncatedNormal;
  } else if (IsText(draw, "untruncated_normal")) {
    spec->distribution = Draw::kNormal;
  } else if (!draw.is_null()) {
    return Reading::kWrong;
  }
  // Axes other than the last two are a wish that the fans would have to follow.
  const bool axes =
      !Member(config, "input_axes").is_null() || !Member(config, "output_axes").is_null();
  return axes ? Reading::kUnknown : Reading::kDone;
}

Reading ReadInitializerConfig(const json& config, InitializerSpec* spec) {
  bool right = true;
  const auto number = [&](const char* key, double* out) {
    right = right && (Member(config, key).is_null() || NumberMember(config, key, out));
  };
  switch (spec->kind) {
    case Init::kConstant:
      if (Member(config, "value").is_structured()) return Reading::kUnknown;
      number("value", &spec->a);
      break;
    case Init::kRandomUniform:
      number("minval", &spec->a);
      number("maxval", &spec->b);
      break;
    case Init::kRandomNormal:
    case Init::kTruncatedNormal:
      number("mean", &spec->a);
      number("stddev", &spec->b);
      break;
    case Init::kOrthogonal:
    case Init::kIdentity:
      number("gain", &spec->a);
      break;
    case Init::kVarianceScaling:
      return ReadVarianceScaling(config, spec);
    default:
      break;
  }
  return right ? Reading::kDone : Reading::kWrong;
}

std::string Text(const InitializerSpec& spec) {
  return std::to_string(static_cast<int>(spec.kind)) + "(" + NumberText(spec.a) + "," +
         NumberText(spec.b) + "," + std::to_string(static_cast<int>(spec.fan_mode)) + "," +
         std::to_string(static_cast<int>(spec.distribution)) + ")";
}

Reading ReadRegularizer(const json& value, RegularizerSpec* spec) {
  const bool by_name = value.is_string();
  const std::string name = by_name ? value.get<std::string>() : StringMember(value, "class_name");
  const bool both = name == "L1L2" || name == "l1_l2" || name == "L1_L2";
  const bool has_l1 = both || name == "L1" || name == "l1";
  const bool has_l2 = both || name == "L2" || name == "l2";
  if (!has_l1 && !has_l2) return Reading::kUnknown;
  // A name alone means Keras' default of 0.01; L1L2's own default is 0.
  const double fallback = both && !by_name ? 0.0 : 0.01;
  if (has_l1) spec->l1 = fallback;
  if (has_l2) spec->l2 = fallback;
  if (by_name) return Reading::kDone;
  const json& config = Member(value, "config");
  const auto factor = [&](const char* key, double* out) {
    const json& number = Member(config, key);
    if (number.is_null()) return true;
    return NumberMember(config, key, out) && *out >= 0.0;
  };
  const bool right = (!has_l1 || factor("l1", &spec->l1)) && (!has_l2 || factor("l2", &spec->l2));
  return right ? Reading::kDone : Reading::kWrong;
}

struct ConstraintRow {
  const char* class_name;
  const char* name;
  ConstraintSpec defaults;
};

const ConstraintRow kConstraints[] = {
    {"NonNeg", "non_neg", {ConstraintKind::kNonNeg, 0, 0, 1, {}}},
    {"MaxNorm", "max_norm", {ConstraintKind::kMaxNorm, 0, 2, 1, {0}}},
    {"UnitNorm", "unit_norm", {ConstraintKind::kUnitNorm, 0, 0, 1, {0}}},
    {"MinMaxNorm", "min_max_norm", {ConstraintKind::kMinMaxNorm, 0, 1, 1, {0}}},
    // Keras 1's and 2's short names.
    {"NonNegative", "nonneg", {ConstraintKind::kNonNeg, 0, 0, 1, {}}},
    {"maxnorm", "maxnorm", {ConstraintKind::kMaxNorm, 0, 2, 1, {0}}},
    {"unitnorm", "unitnorm", {ConstraintKind::kUnitNorm, 0, 0, 1, {0}}},
};

Reading ReadConstraint(const json& value, ConstraintSpec* spec) {
  const std::string name =
      value.is_string() ? value.get<std::string>() : StringMember(value, "class_name");
  const auto row = std::find_if(
      std::begin(kConstraints), std::end(kConstraints),
      [&](const ConstraintRow& known) { return name == known.class_name || name == known.name; });
  if (row == std::end(kConstraints)) return Reading::kUnknown;
  *spec = row->defaults;
  if (value.is_string() || spec->kind == ConstraintKind::kNonNeg) return Reading::kDone;
  const json& config = Member(value, "config");
  const auto number = [&](const char* key, double* out) {
    return Member(config, key).is_null() || NumberMember(config, key, out);
  };
  bool right = true;
  if (spec->kind != ConstraintKind::kUnitNorm) right = number("max_value", &spec->max);
  if (spec->kind == ConstraintKind::kMinMaxNorm) {
    right = right && number("min_value", &spec->min) && number("rate", &spec->rate);
  }
  right = right && spec->max >= 0.0 && spec->min >= 0.0 && spec->rate >= 0.0 && spec->rate <= 1.0;
  const json& axes = Member(config, "axis");
  const auto axis = [&](const json& item) {
    // No weight has more axes.
    const bool fits =
        item.is_number_integer() && item.get<double>() >= -64 && item.get<double>() <= 64;
    if (fits) spec->axes.push_back(item.get<int64_t>());
    right = right && fits;
  };
  if (!axes.is_null()) spec->axes.clear();
  if (axes.is_array()) {
    for (const json& item : axes) axis(item);
  } else if (!axes.is_null()) {
    axis(axes);
  }
  return right ? Reading::kDone : Reading::kWrong;
}

std::string Text(const ConstraintSpec& spec) {
  std::string text = std::to_string(static_cast<int>(spec.kind)) + "(" + NumberText(spec.min) +
                     "," + NumberText(spec.max) + "," + NumberText(spec.rate);
  for (const int64_t axis : spec.axes) text += "," + std::to_string(axis);
  return text + ")";
}

}  // namespace

std::unique_ptr<Layer> LayerConfig::GetLayer(const std::string& key) {
  if (!Has(key)) {
    Missing(key);
    return nullptr;
  }
  const json& entry = *Find(key);
  const std::string class_name = StringMember(entry, "class_name");
  const json& config = Member(entry, "config");
  if (class_name.empty() || !config.is_object()) {
    WrongType(key, "a layer", entry);
    return nullptr;
  }
  const std::string name = StringMember(config, "name");
  const std::string path = path_ + ".config." + key;
  switch (ClassifyEntry(entry, name_ + "/" + (name.empty() ? key : name), path, problems_)) {
    case EntryClass::kLayer:
      break;
    case EntryClass::kUnknown:
      return nullptr;
    default:
      Fail(ErrorCode::kNotSupported,
           "argument \"" + key + "\" of class " + class_name + " is not supported",
           "Give it one layer: a model by wrapping each layer of it on its own.");
      return nullptr;
  }
  LayerConfig own(config, class_name, path, family_, problems_, warnings_);
  std::unique_ptr<Layer> layer = FindLayerType(class_name)->make(own);
  own.Finish();
  if (layer->adds_to_loss()) {
    own.Fail(ErrorCode::kNotSupported,
             "a regularizer of what a layer inside of another one computes is not supported",
             "Put a layer ActivityRegularization behind the outer one.");
  }
  if (layer->has_factors()) {
    own.Fail(ErrorCode::kNotSupported,
             "factors for the weights of a layer inside of another one are not supported",
             "Give lr_factor and weight_decay_factor to the outer one.");
  }
  std::string text = class_name + "(";
  for (const auto& [argument, value] : own.fingerprint()) text += argument + "=" + value + ";";
  fingerprint_[key] = text + ")";
  return layer;
}

ActivationSpec LayerConfig::GetActivation(const std::string& key, const char* fallback) {
  ActivationSpec spec;
  if (!Has(key)) {
    if (fallback != nullptr && !IsNull(key)) FindActivation(fallback, false, &spec);
    return spec;
  }
  const json& value = *Find(key);
  if (!ReadActivation(value, family_, &spec)) {
    std::vector<std::string> names;
    for (const ActivationType& type : ActivationTypes()) {
      names.insert(names.end(), type.names.begin(), type.names.end());
    }
    const std::string described = Describe(value);
    Fail(ErrorCode::kNotSupported, "activation " + described + " is not supported",
         value.is_string()
             ? NearestNameHint(value.get<std::string>(), names, OtherActivationNames())
             : "");
    return ActivationSpec();
  }
  if (spec.kind == Activation::kGlu && class_name_ != "Activation") {
    Fail(ErrorCode::kNotSupported, "activation \"glu\" needs a layer of its own",
         "It halves the last axis. Put a layer Activation with it behind this one.");
    return ActivationSpec();
  }
  Remember(key, Text(spec), Text(ActivationSpec()));
  return spec;
}

InitializerSpec LayerConfig::GetInitializer(const std::string& key, const char* fallback) {
  const InitializerRow* row = FindInitializer(fallback);
  const InitializerSpec default_spec = row == nullptr ? InitializerSpec() : row->defaults;
  const json* found = Find(key);
  if (found == nullptr) return default_spec;
  InitializerSpec spec;
  std::string name;
  // Keras' add_weight() takes Glorot's rule where the initializer is None.
  if (found->is_null()) {
    name = "glorot_uniform";
  } else {
    name = found->is_string() ? found->get<std::string>() : StringMember(*found, "class_name");
  }
  row = FindInitializer(name);
  Reading reading = Reading::kUnknown;
  if (row != nullptr) {
    spec = row->defaults;
    reading = found->is_object() ? ReadInitializerConfig(Member(*found, "config"), &spec)
                                 : Reading::kDone;
  }
  if (reading == Reading::kWrong) {
    Fail(
        ErrorCode::kInvalidParameter,
        "argument \"" + key + "\": the arguments of initializer " + ShortJson(*found) +
            " are wrong",
        "Values must be numbers, a scale one above 0, mode and distribution names that Keras has.");
    return default_spec;
  }
  if (reading == Reading::kUnknown) {
    std::vector<std::string> names;
    for (const InitializerRow& known : kInitializers) {
      const bool by_class = !name.empty() && name[0] >= 'A' && name[0] <= 'Z';
      names.emplace_back(by_class ? known.class_name : known.name);
    }
    Fail(ErrorCode::kNotSupported,
         "argument \"" + key + "\": initializer " + ShortJson(*found) + " is not supported",
         row == nullptr ? NearestNameHint(name, names, OtherInitializerNames()) : "");
    return default_spec;
  }
  Remember(key, Text(spec), Text(default_spec));
  return spec;
}

RegularizerSpec LayerConfig::GetRegularizer(const std::string& key) {
  RegularizerSpec spec;
  if (!Has(key)) return spec;
  const json& value = *Find(key);
  switch (ReadRegularizer(value, &spec)) {
    case Reading::kDone:
      break;
    case Reading::kUnknown:
      Fail(ErrorCode::kNotSupported,
           "argument \"" + key + "\": regularizer " + ShortJson(value) + " is not supported",
           "L1, L2 and L1L2 are supported.");
      return RegularizerSpec();
    case Reading::kWrong:
      Fail(ErrorCode::kInvalidParameter, "argument \"" + key + "\": the factors of " +
                                             ShortJson(value) + " must be numbers of 0 or more");
      return RegularizerSpec();
  }
  Remember(key, NumberText(spec.l1) + "," + NumberText(spec.l2), "0,0");
  return spec;
}

ConstraintSpec LayerConfig::GetConstraint(const std::string& key) {
  ConstraintSpec spec;
  if (!Has(key)) return spec;
  const json& value = *Find(key);
  const Reading reading = ReadConstraint(value, &spec);
  if (reading == Reading::kUnknown) {
    Fail(ErrorCode::kNotSupported,
         "argument \"" + key + "\": constraint " + ShortJson(value) + " is not supported",
         "MaxNorm, MinMaxNorm, NonNeg and UnitNorm are supported.");
  } else if (reading == Reading::kWrong) {
    Fail(ErrorCode::kInvalidParameter,
         "argument \"" + key + "\": the arguments of " + ShortJson(value) + " are wrong",
         "Norms must be numbers of 0 or more, rate one between 0 and 1, axis integers.");
  }
  if (reading != Reading::kDone) return ConstraintSpec();
  Remember(key, Text(spec), "");
  return spec;
}

WeightRules LayerConfig::GetRules(const std::string& weight, const char* initializer) {
  WeightRules rules;
  rules.initializer = GetInitializer(weight + "_initializer", initializer);
  rules.regularizer = GetRegularizer(weight + "_regularizer");
  rules.constraint = GetConstraint(weight + "_constraint");
  return rules;
}

}  // namespace hopper
