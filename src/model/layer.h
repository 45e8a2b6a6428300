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
  bool trainable = true;     // false: moving statistics, and every weight of a frozen layer
  int layer = 0;             // index in ModelSpec::layers; filled in by the model
  int64_t offset = 0;        // floats from the start of the flat buffer, a multiple of 16
  int64_t slot_offset = -1;  // floats from the start of one slot array; -1: not trainable

  int64_t size() const { return ElementCount(shape); }
};

class Layer {
 public:
  static constexpr bool kActivates = false;

  explicit Layer(const LayerConfig& config);
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  const std::string& name() const { return name_; }
  const std::string& class_name() const { return class_name_; }
  bool trainable() const { return trainable_; }
  // Of its class in LayerTable().
  size_t place() const { return place_; }

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

 private:
  std::string name_;
  std::string class_name_;
  bool trainable_;
  size_t place_;
};

// A row of the layer table.
struct LayerType {
  const char* class_name;   // Keras' class name
  const char* weights;      // "kernel, bias"; "" for none
  const char* description;  // one line for hopper.layers()
  bool activates;           // an ActivationLayer, which can stand in an activation's place
  // Reads the attributes; problems go to the configuration.
  std::unique_ptr<Layer> (*make)(LayerConfig& config);
};

const std::vector<LayerType>& LayerTable();
// nullptr where the class is not known.
const LayerType* FindLayerType(const std::string& class_name);

}  // namespace hopper
