#include "model/layers/take/take.h"

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {
namespace {

// Each run is an operation of its own.
constexpr size_t kMostRuns = 256;

}  // namespace

Take::Take(LayerConfig& config)
    : Layer(config), axis_(config.Int("axis", 0)), indices_(config.Ints("indices", 0, {})) {
  if (axis_ == 0) {
    config.Fail(ErrorCode::kNotSupported, "it would take examples of a batch",
                "Give it an axis of an example, for example axis=1.");
  }
  if (indices_.empty()) config.Fail(ErrorCode::kInvalidParameter, "it takes nothing");
}

Take::Taken Take::Of(const Shape& input) const {
  Taken taken;
  taken.axis = AxesOfExample(*this, {axis_}, input)[0];
  const int64_t size = input[static_cast<size_t>(taken.axis - 1)];
  for (const int64_t index : indices_) {
    const int64_t place = index < 0 ? index + size : index;
    if (place < 0 || place >= size) {
      ThrowUnfit(*this, "there is no place " + std::to_string(index) + " along axis " +
                            std::to_string(axis_) + " of an example of shape " + ShapeText(input));
    }
    if (!taken.runs.empty() && place == taken.runs.back().first + taken.runs.back().count) {
      ++taken.runs.back().count;
    } else {
      taken.runs.push_back({place, 1});
    }
  }
  if (taken.runs.size() > kMostRuns) {
    ThrowUnfit(*this, "it takes " + std::to_string(taken.runs.size()) + " separate parts",
               "At most " + std::to_string(kMostRuns) + " are possible.");
  }
  return taken;
}

Shape Take::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  Shape output = inputs[0];
  output[static_cast<size_t>(Of(output).axis - 1)] = static_cast<int64_t>(indices_.size());
  return output;
}

}  // namespace layers
}  // namespace hopper
