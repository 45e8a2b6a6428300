// A Keras architecture as a checked graph: layers, tensors, shapes and weights. No libtorch.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "data/inputs.h"
#include "model/layer.h"
#include "state/state.h"

namespace hopper {

// One call of a layer.
struct Node {
  int layer = 0;            // index in ModelSpec::layers
  std::vector<int> inputs;  // tensor ids
  int output = 0;           // tensor id
  bool inference = false;   // called with training=False: runs as in inference at all times
  CallForm form;
};

// What a model with several inputs is given is one row of their values.
struct ModelInput {
  std::string name;
  Shape shape;
  int64_t first = 0;  // its place in the row
};

// What a model with several outputs, masks of outputs or members gives is one row of their values.
struct ModelOutput {
  std::string name;
  Shape shape;
  int tensor = 0;     // id
  int64_t first = 0;  // its place in the row
  // Softmax, sigmoid or linear: what ends it, so that a loss can work on logits.
  Activation final_activation = Activation::kLinear;
  // What its values are: of softmax or sigmoid, though layers that move values stand behind it, or
  // others read it. Softmax stands for rows of the last axis.
  Activation ends_in = Activation::kLinear;
  // Which steps count, 1 or 0 each, where it has a mask: their place in the row, behind the values
  // of all outputs.
  int64_t mask_first = 0;
  int64_t mask_size = 0;  // 0: it has none
  // Where it averages members of an ensemble (EnsembleAverage): how many, and the place of what is
  // averaged in the row, behind all outputs and masks; 0: it does not. `member_activation` is what
  // the average applies to each, which a loss of each takes logits of.
  int64_t members = 0;
  int64_t members_first = 0;
  Activation member_activation = Activation::kLinear;
};

// Immutable after parsing; shared freely between threads.
struct ModelSpec {
  std::string name;
  KerasFamily family = KerasFamily::kKeras3;
  // In the order of the JSON, nested ones expanded; parts of a model share them.
  std::vector<std::shared_ptr<const Layer>> layers;
  std::vector<std::string> fingerprints;        // per layer: what it is, not its name
  std::vector<Node> nodes;                      // in topological order
  std::vector<Shape> tensors;                   // by tensor id
  int input = 0;                                // tensor id of what the model is given
  std::vector<ModelInput> inputs;               // in the model's order; at least one
  int output = 0;                               // tensor id of what the model gives
  std::vector<ModelOutput> outputs;             // in the model's order; at least one
  std::vector<WeightSpec> weights;              // in Keras' get_weights() order
  std::vector<std::vector<int>> layer_weights;  // per layer: indexes into weights
  int64_t parameters = 0;                       // floats in get_weights()
  int64_t trainable_parameters = 0;
  int64_t flat_size = 0;  // floats of the parameter buffer, each weight padded to 64 bytes
  int64_t slot_size = 0;  // floats of one optimizer slot array: the trainable weights, padded
  int64_t flops = 0;      // one example, forward
  int64_t activation_floats = 0;  // all tensors of one example: bounds a step's memory
  Activation final_activation = Activation::kLinear;  // of a single output
  std::vector<Problem> warnings;  // what the user should know, and Keras says too
  // Hash of what determines training (structure, attributes, weight shapes), not of names.
  Digest hash;

  const Shape& input_shape() const { return tensors[input]; }
  const Shape& output_shape() const { return tensors[output]; }
  std::vector<std::string> OutputNames() const;
  // Of all outputs, without masks and members: what a prediction is.
  int64_t OutputValues() const;
};

// Of a node that makes the tensor: whether it leaves out its final activation, where bit i of
// `linear` says so of output i.
bool LeavesOutActivation(const ModelSpec& spec, uint64_t linear, int tensor);

// Parses any version's to_json() output and infers every shape. `data_shape` (may be null) is
// used where the JSON states no input shape, or leaves axes open; without it that is a problem with
// code kNotReady, and the only one where the model is fine otherwise. Throws Error: the first
// problem's code and message, all problems in the detail when there are several.
std::shared_ptr<const ModelSpec> ParseModel(std::string_view json, const Shape* data_shape);

// All problems without throwing; nullptr when there are any.
std::shared_ptr<const ModelSpec> ParseModel(std::string_view json, const Shape* data_shape,
                                            std::vector<Problem>* problems);

// As ParseModel(), for data that may have several inputs: the model's by their names. The order
// of values in a row is theirs. Without data the order is the model's.
std::shared_ptr<const ModelSpec> ParseModelFor(std::string_view json,
                                               const std::vector<DataInput>& inputs);
std::shared_ptr<const ModelSpec> ParseModelFor(std::string_view json,
                                               const std::vector<DataInput>& inputs,
                                               std::vector<Problem>* problems);

// The model up to a layer, by its name: its only output is what the layer's first call gives.
std::shared_ptr<const ModelSpec> ParseModelUpTo(std::string_view json,
                                                const std::vector<DataInput>& inputs,
                                                std::string_view layer);

// Fills `flat` (spec.flat_size floats) with initial weights, a function of (seed, architecture).
void InitializeWeights(const ModelSpec& spec, uint64_t seed, float* flat);

// Keras' flat get_weights() order to the parameter buffer and back; `keras` has
// spec.parameters floats. The padding of `flat` is set to zero.
void ImportWeights(const ModelSpec& spec, const float* keras, float* flat);
void ExportWeights(const ModelSpec& spec, const float* flat, float* keras);

StateLayout StateLayoutOf(const ModelSpec& spec);

// Throws the users' message where `n` floats do not fill the model.
void CheckWeightCount(const ModelSpec& spec, int64_t n);
// Also where one of the values (may be null: not known) is NaN or infinite. All weights that come
// from outside pass here.
void CheckWeights(const ModelSpec& spec, const float* keras, int64_t n);

}  // namespace hopper
