// A layer that computes: its forward pass, as in inference, in operations of other tools. Each
// layer that has them declares its Export() in its header and defines it in exported.cpp beside it.
#pragma once

#include <string>
#include <vector>

#include "activation/activation_type.h"
#include "model/exported/op_graph.h"
#include "model/layer.h"

namespace hopper {

// One call of a layer.
struct ExportCall {
  ops::Graph* graph;
  std::vector<ops::Value> inputs;   // [batch, shape...]; those that masks are made of come last
  std::vector<ops::Value> weights;  // in Keras' order and shapes
  const CallForm* form;             // null: all inputs are data, without masks

  const ops::Value& x() const { return inputs[0]; }
  size_t DataInputs() const { return form == nullptr ? inputs.size() : form->data; }
  bool causal() const { return form != nullptr && form->causal; }
  // Bool, [batch, steps]; not defined where all of it counts.
  ops::Value MaskOf(size_t input = 0) const;
  // A call of this layer with other inputs, without masks.
  ExportCall With(const std::vector<ops::Value>& others) const;
};

// Exports a layer of the table by the layer's own Export(). Throws where it has none.
ops::Value ExportLayer(const Layer& layer, const ExportCall& call);
// The Export() of a layer that declares none of its own: throws.
[[noreturn]] ops::Value Export(const Layer& layer, const ExportCall& call);
// Throws 'layer "x" of class Y <why>'.
[[noreturn]] void RefuseExport(const Layer& layer, const std::string& why,
                               const std::string& hint = "");

ops::Value Activate(const ops::Value& x, const ActivationSpec& activation);

// Of shape [batch, height, width, channels] or [batch, steps, features], channels first and back.
ops::Value ChannelsFirst(const ops::Value& x);
ops::Value ChannelsLast(const ops::Value& x);

}  // namespace hopper
