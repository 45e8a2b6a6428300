// Runs the graph of a model over shapes, which yields its tensors, nodes and weights. Internal to
// model/.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/graph/masks.h"
#include "model/keras/keras_json.h"
#include "model/spec.h"

namespace hopper {

class GraphBuilder {
 public:
  // All outlive it.
  GraphBuilder(KerasModel* keras, ModelSpec* spec, std::vector<Problem>* problems)
      : keras_(keras),
        spec_(spec),
        problems_(problems),
        weights_(keras->layers.size()),
        masks_(spec, problems),
        own_layers_(static_cast<int>(keras->layers.size())) {}

  int AddTensor(const Shape& shape);
  // One evaluation of a graph. `inputs` are tensor ids; an id of -1, here and in `outputs`,
  // stands for what cannot be known because of a problem that is recorded already. False: there
  // are no outputs.
  bool Run(const ModelGraph& graph, const std::vector<int>& inputs, bool inference,
           std::vector<int>* outputs);
  // The output of a layer that no file names, or -1.
  int CallOwn(const char* class_name, const nlohmann::json& config, const std::string& fingerprint,
              const std::vector<int>& inputs);

  const Masks& masks() const { return masks_; }
  // A tensor of 0 and 1 of what layers of our own make of a mask; -1 where they cannot, or with a
  // problem. `name`: what their names begin with.
  int MaskTensor(const std::string& name, const Mask& mask);
  // Takes a tensor's mask away, so that no layer of our own gets or loses it.
  Mask TakeMask(int tensor);
  // Whether a layer came from a file.
  bool IsNamed(int layer) const { return layer < own_layers_; }
  // A layer's weights; it must have been called.
  std::vector<WeightSpec>& weights(size_t layer) { return *weights_[layer]; }

 private:
  void Fail(ErrorCode code, const std::string& message, const std::string& detail = "",
            const std::string& hint = "");
  bool CheckTensor(const Shape& shape, const std::string& what);
  // A nested model sees the masks that its call names. `arguments` are the call's inputs and masks.
  bool CallModel(const GraphLayer& layer, const Call& call, const std::vector<int>& arguments,
                 bool inference, std::vector<int>* outputs);
  // One layer for each output; -1 for those that nobody reads.
  void CallParts(const GraphLayer& layer, const std::vector<bool>& read, const Call& call,
                 const std::vector<int>& arguments, bool inference, std::vector<int>* outputs);
  // The numbers and arrays of an operation become tensors among the others.
  bool AddConstants(const GraphLayer& at, std::vector<int>* arguments, std::vector<Shape>* shapes);
  // A tensor of 0 and 1 for a mask that an operation calculates with; its own id where there is
  // none.
  int TensorOfMask(const GraphLayer& at, int id);
  // The shapes of a call's inputs. False with a problem, or where they have one already; masks that
  // an operation calculates with become tensors.
  bool ShapesOf(const GraphLayer& at, const Call& call, std::vector<int>* arguments,
                std::vector<Shape>* shapes);
  // False with problems; the weights are the layer's, whichever call needs them.
  bool TakeOutputAndWeights(const GraphLayer& at, const std::vector<Shape>& shapes, Shape* output);
  // The id of the output, or -1. `arguments` are the call's inputs and masks.
  int CallLayer(const GraphLayer& at, const Call& call, std::vector<int> arguments, bool inference);
  bool CheckInput(const GraphLayer& layer, int tensor, bool taken);
  bool CheckAxes(const GraphLayer& at, const std::vector<Shape>& shapes);
  bool CheckWeights(const std::vector<WeightSpec>& weights, const std::string& shown);

  KerasModel* keras_;
  ModelSpec* spec_;
  std::vector<Problem>* problems_;
  std::vector<std::optional<std::vector<WeightSpec>>> weights_;
  Masks masks_;
  const int own_layers_;  // those from it on are ours
  size_t calls_ = 0;
};

}  // namespace hopper
