// The attributes of one layer of a Keras JSON: typed access with messages that name the layer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "activation/activation_type.h"
#include "base/error.h"
#include "base/range.h"
#include "model/shape.h"
#include "optim/constraint.h"

namespace hopper {

class Layer;

enum class InitializerKind {
  kZeros,
  kOnes,
  kConstant,
  kRandomUniform,
  kRandomNormal,
  kTruncatedNormal,
  kVarianceScaling,  // Glorot, He and Lecun are instances
  kOrthogonal,
  kIdentity,
  kRandomSign,  // -1 or 1
};

struct InitializerSpec {
  InitializerKind kind = InitializerKind::kZeros;
  double a = 0.0;  // constant's value; uniform's minimum; normal's mean; gain; scale
  double b = 0.0;  // uniform's maximum; normal's standard deviation
  enum class FanMode { kIn, kOut, kAverage } fan_mode = FanMode::kAverage;
  enum class Distribution {
    kUniform,
    kTruncatedNormal,
    kNormal
  } distribution = Distribution::kUniform;
};

struct RegularizerSpec {
  double l1 = 0.0;
  double l2 = 0.0;
};

// What a file says of a weight.
struct WeightRules {
  InitializerSpec initializer;
  RegularizerSpec regularizer;
  ConstraintSpec constraint;
};

// Numbers by a weight's name; under "" that of all others.
using WeightFactors = std::map<std::string, double>;

// Which rules the file was written for; see docs/reference on Keras JSON.
enum class KerasFamily { kKeras2, kKeras3 };

// Views one layer's JSON entry; lives as long as the JSON. Getters record a problem and return
// the default where a value has the wrong type, and mark the key as read; Finish() looks at the
// keys that nobody read: null, false and empty values pass; what may be a slip, or an argument that
// Keras has and we have not, is a problem, anything else a warning. Integers
// beyond 2^30 are refused, so that layers can multiply two of them.
class LayerConfig {
 public:
  // `warnings`: what is to be said of keys that mean nothing here; null: these are problems.
  LayerConfig(const nlohmann::json& config, std::string class_name, std::string path,
              KerasFamily family, std::vector<Problem>* problems,
              std::vector<Problem>* warnings = nullptr);

  const std::string& class_name() const { return class_name_; }
  const std::string& name() const { return name_; }
  const std::string& path() const { return path_; }  // "config.layers[3]"
  KerasFamily family() const { return family_; }
  bool trainable() const { return trainable_; }

  bool Has(const std::string& key);     // present and not null
  bool IsNull(const std::string& key);  // present and null
  int64_t Int(const std::string& key, int64_t fallback);
  double Number(const std::string& key, double fallback);
  // A number that is not in the range is a problem; then it is the default.
  double Number(const std::string& key, double fallback, const Range& range);
  bool Bool(const std::string& key, bool fallback);
  std::string String(const std::string& key, const std::string& fallback);
  // A list of `count` integers, or one integer for all of them; count 0: any length.
  std::vector<int64_t> Ints(const std::string& key, size_t count,
                            const std::vector<int64_t>& fallback);
  // The two ends of `axes` axes, start and end of each: from one integer for all, one for each
  // axis, or a pair for each axis.
  std::vector<int64_t> Ends(const std::string& key, size_t axes, int64_t fallback);
  // A list of integers in which null is -1.
  std::vector<int64_t> OpenInts(const std::string& key);
  // A number, or a list of them, which may have lists in it (taken one after the other).
  std::vector<double> Numbers(const std::string& key, const std::vector<double>& fallback);
  // A list of texts or whole numbers, which become texts, or one number; absent: none.
  std::vector<std::string> Strings(const std::string& key);
  // A text or a whole number as a text.
  std::optional<std::string> Token(const std::string& key);
  // A number of 0 or more for all weights, or an object of them by the weights' names.
  WeightFactors Factors(const std::string& key);
  // Linear where it is null, and where it is absent and `fallback` names no other.
  ActivationSpec GetActivation(const std::string& key, const char* fallback = nullptr);
  // A layer as an argument, under the name that it has there. Null, with a problem, where it is
  // absent or not a layer that we have.
  std::unique_ptr<Layer> GetLayer(const std::string& key);
  InitializerSpec GetInitializer(const std::string& key, const char* fallback);
  RegularizerSpec GetRegularizer(const std::string& key);
  ConstraintSpec GetConstraint(const std::string& key);
  // Rules by "<weight>_initializer", "<weight>_regularizer" and "<weight>_constraint".
  WeightRules GetRules(const std::string& weight, const char* initializer);
  // Marks a key whose value does not matter for training ("dtype", "build_config").
  void Ignore(const std::string& key);
  // A key that is fine when null, false or absent and otherwise not supported
  // ("renorm").
  void RequireUnset(const std::string& key);
  // What was read under `key` is no part of the fingerprint: the layer does not depend on it.
  void Forget(const std::string& key) { fingerprint_.erase(key); }
  // It is there under `name`, which other versions have for it.
  void Rename(const std::string& key, const std::string& name);

  // The attributes as they were read, by key, in a form that does not depend on the version that
  // wrote the file; those with their default value are left out. Part of ModelSpec::hash.
  const std::map<std::string, std::string>& fingerprint() const { return fingerprint_; }

  // The arguments that a layer's class has asked for, in that order, whether they were there or
  // not.
  const std::vector<std::string>& asked() const { return asked_; }

  // Records a problem where an argument that was read is not in the range, or below 1; makes it 1.
  void Require(const std::string& key, double value, const Range& range);
  void RequireCount(const std::string& key, int64_t* value);
  // RequireCount() of an argument without default, which may be missing.
  void RequireGivenCount(const std::string& key, int64_t* value);
  // Records that an argument without default is missing, and under which name it may stand there.
  void Missing(const std::string& key);
  // Records 'layer "<name>" of class <class>: <message>'.
  void Fail(ErrorCode code, const std::string& message, const std::string& hint = "");
  void Finish();

 private:
  const nlohmann::json* Find(const std::string& key);
  const nlohmann::json* Look(const std::string& key);  // without asking
  void WrongType(const std::string& key, const char* wanted, const nlohmann::json& value);
  void Remember(const std::string& key, const std::string& value, const std::string& fallback);
  const nlohmann::json& config_;
  std::string class_name_;
  std::string path_;
  KerasFamily family_;
  std::vector<Problem>* problems_;
  std::vector<Problem>* warnings_;
  std::string name_;
  bool trainable_ = true;
  std::set<std::string> read_;
  std::vector<std::string> asked_;
  std::set<std::string> unusable_;  // keys whose value has been refused
  std::map<std::string, std::string> fingerprint_;
};

}  // namespace hopper
