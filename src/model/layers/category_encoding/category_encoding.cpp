#include "model/layers/category_encoding/category_encoding.h"

#include <algorithm>
#include <cmath>

#include "base/product.h"
#include "model/keras/json_text.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Encoding::Mode ReadEncodingMode(LayerConfig& config, const char* fallback, bool may_be_numbers) {
  const std::string mode = config.String("output_mode", fallback);
  if (mode == "one_hot") return Encoding::Mode::kOneHot;
  if (mode == "multi_hot" || mode == "binary") return Encoding::Mode::kMultiHot;
  if (mode == "count") return Encoding::Mode::kCount;
  if (mode == "int" && may_be_numbers) return Encoding::Mode::kNumbers;
  config.Fail(ErrorCode::kNotSupported, "output_mode \"" + mode + "\" is not supported",
              may_be_numbers ? "Use \"int\", \"one_hot\", \"multi_hot\" or \"count\"."
                             : "Use \"one_hot\", \"multi_hot\" or \"count\".");
  return Encoding::Mode::kMultiHot;
}

Shape Encoding::OutputShape(const Layer& layer, const Shape& input) const {
  if (mode == Mode::kNumbers) return input;
  Shape output = input;
  if (mode == Mode::kOneHot) {
    if (!output.empty() && output.back() == 1) output.pop_back();
  } else {
    if (input.size() != 1) {
      ThrowUnfit(layer, "output_mode \"multi_hot\" or \"count\" needs an input of one axis, not " +
                            ShapeText(input));
    }
    output.pop_back();
  }
  output.push_back(depth);
  return output;
}

CategoryEncoding::CategoryEncoding(LayerConfig& config) : IdLayer(config) {
  encoding.mode = ReadEncodingMode(config, "multi_hot", false);
  encoding.depth = config.Int("num_tokens", 1);
  config.RequireGivenCount("num_tokens", &encoding.depth);
  config.RequireUnset("sparse");
}

Shape IdLayer::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  return encoding.OutputShape(*this, inputs[0]);
}

int64_t IdLayer::AutogradFloats(const std::vector<Shape>& inputs, const Shape&) const {
  const int64_t depth = encoding.mode == Encoding::Mode::kNumbers ? 1 : encoding.depth;
  return Product({4, ElementCount(inputs[0]), depth});
}

void CategoryEncoding::ThrowNoId(float id) const {
  ThrowUnfit(*this, "there is no id " + NumberText(id),
             "Its ids are 0 to " + std::to_string(encoding.depth - 1) +
                 "; give num_tokens the largest id plus 1.");
}

Discretization::Discretization(LayerConfig& config)
    : Layer(config), boundaries(config.Numbers("bin_boundaries", {0.0})) {
  if (!config.Has("bin_boundaries")) {
    config.Fail(ErrorCode::kNotSupported,
                "argument \"bin_boundaries\" is missing, and a layer that adapt() is to fill is "
                "not supported",
                "Give bin_boundaries, for example those of a layer that was adapted.");
  }
  for (double& boundary : boundaries) boundary = static_cast<double>(static_cast<float>(boundary));
  if (!std::is_sorted(boundaries.begin(), boundaries.end()) ||
      !std::all_of(boundaries.begin(), boundaries.end(),
                   [](double b) { return std::isfinite(b); })) {
    config.Fail(ErrorCode::kInvalidParameter,
                "argument \"bin_boundaries\" must be in ascending order");
    boundaries = {0.0};
  }
  encoding.mode = ReadEncodingMode(config, "int", true);
  encoding.depth = static_cast<int64_t>(boundaries.size()) + 1;
  config.RequireUnset("sparse");
  config.Ignore("num_bins");  // how the boundaries were found
  config.Ignore("epsilon");
}

Shape Discretization::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  return encoding.OutputShape(*this, inputs[0]);
}

int64_t Discretization::AutogradFloats(const std::vector<Shape>& inputs, const Shape&) const {
  const int64_t depth = encoding.mode == Encoding::Mode::kNumbers ? 1 : encoding.depth;
  return Product({4, ElementCount(inputs[0]), depth});
}

}  // namespace layers
}  // namespace hopper
