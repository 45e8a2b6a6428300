#include "model/layers/split/split.h"

#include <algorithm>

#include "base/product.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Split::Split(LayerConfig& config)
    : Layer(config),
      axis_(config.Int("axis", 0)),
      parts_(config.Int("parts", 1)),
      part_(config.Int("part", 0)),
      indices_(config.Ints("indices", 0, {})),
      sizes_(config.Ints("sizes", 0, {})) {
  if (axis_ == 0) {
    config.Fail(ErrorCode::kNotSupported, "axis 0 is the batch, which it would take apart",
                "Use another axis; -1 is the last.");
  }
  if (std::count_if(sizes_.begin(), sizes_.end(), [](int64_t size) { return size < 0; }) > 1) {
    config.Fail(ErrorCode::kInvalidParameter, "only one of the sizes may be open");
  }
  const auto count = static_cast<int64_t>(!indices_.empty() ? indices_.size() + 1
                                          : !sizes_.empty() ? sizes_.size()
                                                            : static_cast<size_t>(parts_));
  if (parts_ < 1 || part_ < 0 || part_ >= count) {
    config.Fail(ErrorCode::kInvalidParameter,
                "there is no part " + std::to_string(part_) + " of " + std::to_string(count));
    parts_ = 1;
    part_ = 0;
  }
}

Split::Range Split::Of(const Shape& input) const {
  Range range;
  range.axis = AxesOfExample(*this, {axis_}, input)[0];
  const int64_t all = input[static_cast<size_t>(range.axis - 1)];
  const auto part = static_cast<size_t>(part_);
  if (!indices_.empty()) {
    // As NumPy's: from the end where they are below 0, and never beyond it.
    const auto place = [&](size_t i) {
      if (i == indices_.size()) return all;
      const int64_t index = indices_[i] < 0 ? indices_[i] + all : indices_[i];
      return std::clamp<int64_t>(index, 0, all);
    };
    range.first = part == 0 ? 0 : place(part - 1);
    range.size = place(part) - range.first;
  } else if (!sizes_.empty()) {
    int64_t known = 0;
    for (const int64_t size : sizes_) known = SaturatingAdd(known, std::max<int64_t>(size, 0));
    const bool open = std::any_of(sizes_.begin(), sizes_.end(), [](int64_t n) { return n < 0; });
    if (open ? known > all : known != all) {
      ThrowUnfit(*this, "parts of " + std::to_string(known) + " together do not fit axis " +
                            std::to_string(axis_) + " of an example of shape " + ShapeText(input));
    }
    for (size_t i = 0; i <= part; ++i) {
      range.first += range.size;
      range.size = sizes_[i] < 0 ? all - known : sizes_[i];
    }
  } else {
    if (all % parts_ != 0) {
      ThrowUnfit(*this, "axis " + std::to_string(axis_) + " of an example of shape " +
                            ShapeText(input) + " does not have " + std::to_string(parts_) +
                            " equal parts");
    }
    range.size = all / parts_;
    range.first = range.size * part_;
  }
  if (range.size < 1) {
    ThrowUnfit(*this, "part " + std::to_string(part_) + " of an example of shape " +
                          ShapeText(input) + " is empty");
  }
  return range;
}

Shape Split::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  const Range range = Of(inputs[0]);
  Shape output = inputs[0];
  output[static_cast<size_t>(range.axis - 1)] = range.size;
  return output;
}

}  // namespace layers
}  // namespace hopper
