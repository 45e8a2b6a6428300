// What a layer is: the part of it that needs no libtorch (attributes, shapes, weights, FLOPs),
// and in the libraries built with HOPPER_TORCH its forward pass.
//
// Adding a layer: one file in model/layers/ with a class and its Make function, and one row in
// the table of model/layer_table.cpp.
//
// Tensors are laid out as Keras does: batch first, channels last. A convolution permutes views
// (which costs nothing) on its way in and out, so that the axes of Flatten, Reshape, Concatenate
// or Softmax mean what Keras means.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/layer_config.h"
#include "model/shape.h"

#ifdef HOPPER_TORCH
#include <ATen/core/Tensor.h>
#endif

namespace hopper {

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

#ifdef HOPPER_TORCH
// What a forward pass needs beside its tensors.
struct ForwardContext {
  bool training = false;
  uint64_t seed = 0;    // dropout: Philox(seed, kDropout, layer, step)
  int64_t step = 0;     // optimizer steps taken before this one
  uint32_t layer = 0;   // index of the layer that runs
  bool linear = false;  // leave out the final activation: the loss wants logits
};
#endif

#ifdef HOPPER_TORCH
class PlannedOp;
class PlanNode;
#endif

class Layer {
 public:
  explicit Layer(const LayerConfig& config);
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  const std::string& name() const { return name_; }
  const std::string& class_name() const { return class_name_; }
  bool trainable() const { return trainable_; }

  // Output shape for these input shapes; throws Error(kInvalidParameter) that names the layer
  // where they do not fit.
  virtual Shape OutputShape(const std::vector<Shape>& inputs) const = 0;
  // Weights in Keras' get_weights() order; called once with the shapes of the first call.
  // Names are without the layer ("kernel"); `trainable` need not heed a frozen layer.
  virtual std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const;
  // Floating-point operations of one example's forward pass; a multiply-add counts two.
  virtual int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const;
  // The activation that ends this layer and that ForwardContext::linear leaves out.
  virtual Activation FinalActivation() const { return Activation::kLinear; }

#ifdef HOPPER_TORCH
  // Inputs and output are float32 [batch, shape...]. `weights` are this layer's, in order,
  // shaped as Keras has them (a kConv kernel as a permuted view). Moving statistics are updated
  // in place when training. Thread-safe: all state is in the arguments.
  virtual at::Tensor Forward(const std::vector<at::Tensor>& inputs,
                             const std::vector<at::Tensor>& weights,
                             const ForwardContext& context) const = 0;
  // The same on raw buffers, forward and backward; see model/planned_op.h. Null where the layer
  // has none for these shapes: autograd then runs Forward() inside the planned step.
  virtual std::unique_ptr<PlannedOp> Plan(PlanNode* node) const;
#endif

 private:
  std::string name_;
  std::string class_name_;
  bool trainable_;
};

// A row of the layer table.
struct LayerType {
  const char* class_name;   // Keras' class name
  const char* weights;      // "kernel, bias"; "" for none
  const char* description;  // one line for hopper.layers()
  // Reads the attributes; problems go to config.problems().
  std::unique_ptr<Layer> (*make)(LayerConfig& config);
};

const std::vector<LayerType>& LayerTable();
// nullptr where the class is not known.
const LayerType* FindLayerType(const std::string& class_name);

}  // namespace hopper
