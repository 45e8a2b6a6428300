// What layers share about their inputs.
#pragma once

#include "model/layer.h"

namespace hopper {

// Throws unless there is one.
void RequireOneInput(const Layer& layer, const std::vector<Shape>& inputs);
// Throws where there is none.
void RequireInputs(const Layer& layer, const std::vector<Shape>& inputs);
// Throws where an argument does not fit the input: 'layer "a" of class C: <message>'.
[[noreturn]] void ThrowUnfit(const Layer& layer, const std::string& message,
                             const std::string& hint = "");
// `axes` as Keras counts them, the batch with them and negative ones from the end: ascending,
// from 1. ThrowUnfit() where one is none of an example of this shape, or is there twice.
std::vector<int64_t> AxesOfExample(const Layer& layer, const std::vector<int64_t>& axes,
                                   const Shape& input);
[[noreturn]] void ThrowDoNotFit(const Layer& layer, const Shape& a, const Shape& b);
// Broadcast as Keras does: missing axes come after the batch, axes of size 1 are repeated. Throws
// where the shapes do not fit together, or there are none.
Shape BroadcastShape(const Layer& layer, const std::vector<Shape>& inputs);
// Throws unless there are so many.
void RequireInputs(const Layer& layer, const std::vector<Shape>& inputs, size_t count);

// A layer of one input whose shape it keeps, with one operation for each element unless it says
// otherwise.
struct SameShape : Layer {
  using Layer::Layer;
  Shape OutputShape(const std::vector<Shape>& inputs) const override;
  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override;
};

}  // namespace hopper
