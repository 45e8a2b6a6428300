// What a layer is: attributes, shapes, weights and FLOPs, without libtorch.
//
// Each layer, or family of layers, has a folder in model/layers: its description, a struct that
// derives from Layer; and beside it in torch.cpp its tensors, for autograd and for lanes
// (model/network/operator.h), and in planned*.cpp its planned forms (model/planned/planned_op.h).
// These are built into other libraries. A row of model/layers/table.h brings them together.
//
// Tensors are laid out as Keras does: batch first, channels last. A convolution permutes views
// (which costs nothing) on its way in and out, so that the axes of Flatten, Reshape, Concatenate
// or Softmax mean what Keras means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/layer_config.h"
#include "model/shape.h"

namespace hopper {

class Operator;
class PlanNode;
class PlannedOp;
struct ExportCall;
namespace ops {
class Value;  // NOLINT(bugprone-forward-declaration-namespace): not that of params/value.h
}

// How the floats of a weight lie in a model's flat buffer.
enum class WeightStorage {
  kKeras,  // C order of the Keras shape
  kConv,   // Keras [k..., in, out] stored as [out, k..., in]: libtorch's channels-last kernel
};

struct WeightSpec {
  std::string name;  // "<layer>/kernel"
  Shape shape;       // Keras' shape
  WeightStorage storage = WeightStorage::kKeras;
  InitializerSpec initializer;
  RegularizerSpec regularizer;
  ConstraintSpec constraint;
  size_t fan_inputs = 0;  // leading axes that a kernel sums over; 0: all but the last
  int64_t ones_from = 0;  // elements that begin as 1 whatever the initializer says
  int64_t ones_to = 0;
  // What the optimizer's learning rate is multiplied with for this weight, and its weight decay
  // beside that.
  double lr_factor = 1.0;
  double decay_factor = 1.0;
  bool trainable = true;     // false: moving statistics, and every weight of a frozen layer
  int layer = 0;             // index in ModelSpec::layers; filled in by the model
  int64_t offset = 0;        // floats from the start of the flat buffer, a multiple of 16
  int64_t slot_offset = -1;  // floats from the start of one slot array; -1: not trainable

  int64_t size() const { return ElementCount(shape); }
  void Follow(const WeightRules& rules) {
    initializer = rules.initializer;
    regularizer = rules.regularizer;
    constraint = rules.constraint;
  }
};

// Which elements of a sequence count, [batch, time]: what Keras carries along as a mask. It is made
// anew from tensors wherever a layer reads it, by steps in postfix order.
struct MaskStep {
  enum class Kind {
    kNotEqual,     // inputs[input] != value
    kAnyNotEqual,  // the same anywhere along the last axis
    kAnd,          // of the two before
    kOr,
    kEvery,   // of all steps of inputs[input], which is a series
    kFollow,  // of the two before: the second's steps behind those of the first
  } kind = Kind::kNotEqual;
  int input = 0;  // among the inputs of the call
  double value = 0.0;

  // Whether it is made of the two before it, and not of an input.
  bool OfTwo() const { return kind == Kind::kAnd || kind == Kind::kOr || kind == Kind::kFollow; }
};
using Mask = std::vector<MaskStep>;  // empty: everything counts

// What a call says beside its first inputs.
struct CallForm {
  // How many of its inputs are data, which come first; the others are what masks are made of.
  size_t data = 0;
  std::vector<Mask> masks;  // by data input; empty where there are none
  bool causal = false;      // use_causal_mask=True

  bool HasMask(size_t input) const { return input < masks.size() && !masks[input].empty(); }
};

// What a layer does with the masks of its inputs.
enum class Masking {
  kLoses,    // knows nothing of masks: Keras drops them, with a warning
  kCarries,  // its output has the mask of its first input
  kTakes,    // so it is, and afterwards its inputs have none
  kMerges,   // what counts in one of the inputs counts in the output
  kJoins,    // what counts in all of the inputs that have one counts in the output
  kFollows,  // its output has the steps of all inputs behind each other, and so their masks
  kEnds,     // its output has no sequence any more
  kCannot,   // Keras' layer heeds masks in a way that is not there
};

// Whether an output is its input's values as they are, in whatever shape, order or number.
enum class Passes {
  kNothing,  // it is computed
  kValues,   // each value on its own
  kRows,     // rows of the last axis stay whole
};

// What Keras 3's call() has as its default for `training`. One that is not null Keras 3 writes at
// each call, and it says nothing: what counts is whether the model trains.
enum class TrainingDefault { kNull, kFalse, kTrue };

// LayerType::since of a layer that Keras does not have: files have it under our package's name,
// "model_hopper>NTKDense".
constexpr const char* kOwnLayer = "model_hopper";

class Layer {
 public:
  // See LayerType.
  static constexpr const char* kOtherName = "";
  static std::vector<std::string> FormerNames() { return {}; }
  static constexpr const char* kOverFeatures = "";
  static constexpr const char* kCompletion = "{}";
  static constexpr bool kMakesIds = false;
  static constexpr bool kActivates = false;
  static constexpr TrainingDefault kTraining = TrainingDefault::kNull;
  static constexpr bool kNamesInputs = false;
  static constexpr bool kCausal = false;
  static constexpr const char* kSince = "2.0";

  explicit Layer(LayerConfig& config);
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  const std::string& name() const { return name_; }
  const std::string& class_name() const { return class_name_; }
  bool trainable() const { return trainable_; }
  // Of its class in LayerTable().
  size_t place() const { return place_; }
  // What the outputs of its calls add to the loss, divided by the batch's size.
  const RegularizerSpec& activity_regularizer() const { return activity_regularizer_; }
  // Whether the file gives factors for its weights: an argument of every layer, `lr_factor` or
  // `weight_decay_factor`, which is a number for all weights or numbers by their names.
  bool has_factors() const { return !lr_factors_.empty() || !decay_factors_.empty(); }
  // Writes them into the layer's weights. Throws where a name is none of theirs.
  void ApplyFactors(std::vector<WeightSpec>* weights) const;

  // Output shape for these input shapes; throws Error(kInvalidParameter) that names the layer
  // where they do not fit.
  virtual Shape OutputShape(const std::vector<Shape>& inputs) const = 0;
  // Weights in Keras' get_weights() order; called once with the shapes of the first call.
  // Names are without the layer ("kernel"); `trainable` need not heed a frozen layer.
  virtual std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const;
  // Floating-point operations of one example's forward pass; a multiply-add counts two.
  virtual int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const;
  // The activation that ends this layer and that a loss from logits leaves out.
  virtual Activation FinalActivation() const { return Activation::kLinear; }

  // Of a layer that averages members of an ensemble, the first axis of its input: what it applies
  // to each before. Null: it does not.
  virtual const ActivationSpec* OfMembers() const { return nullptr; }

  // What it gives on, of an input of this shape.
  virtual Passes PassesOn(const Shape& /*input*/) const { return Passes::kNothing; }

  // Whether what it computes is part of the loss.
  virtual bool adds_to_loss() const {
    return activity_regularizer_.l1 != 0.0 || activity_regularizer_.l2 != 0.0;
  }
  virtual Masking masking() const { return Masking::kLoses; }
  // Whether Forward() looks at masks; a layer that does not never gets what they are made of.
  virtual bool reads_masks() const { return false; }
  // The mask that the layer makes of its first input; empty for none.
  virtual Mask MadeMask() const { return {}; }
  // Of an operation on several tensors: whether their axes lie above each other, as NumPy
  // broadcasts them.
  virtual bool broadcasts() const { return true; }
  // Whether it computes something else in training than in inference: draws random numbers, or
  // works on the batch's statistics.
  virtual bool changes_in_training() const { return false; }
  // Whether a call in training changes what later calls do.
  virtual bool has_moving_statistics() const { return false; }
  // Whether its input is ids, which it cuts to whole numbers.
  virtual bool takes_ids() const { return false; }
  // Floats of one example that an autograd step holds beside inputs, output and weights.
  virtual int64_t AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const;

 private:
  std::string name_;
  std::string class_name_;
  bool trainable_;
  size_t place_;
  RegularizerSpec activity_regularizer_;
  WeightFactors lr_factors_;
  WeightFactors decay_factors_;
};

// A row of the layer table.
struct LayerType {
  const char* class_name;                 // Keras' class name
  const char* other_name;                 // another name that files have for it; "" for none
  std::vector<std::string> former_names;  // names that it had, which are read as its own
  const char* weights;                    // "kernel, bias"; "" for none
  const char* description;                // one line for hopper.layers()
  // The operation along the last axis that it is where the file says channels_first; "" where it
  // reads `data_format` itself.
  const char* over_features;
  const char* completion;  // arguments that Keras' own reader misses in a file, as JSON
  bool makes_ids;  // tf.keras may write an integer dtype for it: its output is exact in float32
  bool activates;  // an ActivationLayer, which can stand in an activation's place
  TrainingDefault training;
  bool names_inputs;  // may be called with query=, value= and key=
  bool causal;        // may be called with use_causal_mask=True
  const char* since;  // the first Keras that has it, or kOwnLayer
  // Reads the attributes; problems go to the configuration.
  std::unique_ptr<Layer> (*make)(LayerConfig& config);
};

const std::vector<LayerType>& LayerTable();
// Its arguments, in Keras' order as far as possible, without those of every layer (name, trainable,
// dtype, activity_regularizer, factors of weights): what it asks a configuration for, in a file of
// Keras 3 or 2.
std::vector<std::string> ArgumentsOf(const LayerType& type);
// nullptr where the class is not known.
const LayerType* FindLayerType(const std::string& class_name);

}  // namespace hopper
