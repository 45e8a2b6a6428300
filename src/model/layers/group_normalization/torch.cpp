#include <ATen/TensorOperators.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/rsqrt.h>

#include "model/layers/group_normalization/group_normalization.h"
#include "model/network/operator.h"

namespace hopper {
namespace layers {
namespace {

class GroupNormalizationOperator : public Operator {
 public:
  explicit GroupNormalizationOperator(const GroupNormalization& layer) : layer_(layer) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext&) const override {
    const auto axis = static_cast<int64_t>(
                          layer_.AxisOf({inputs[0].sizes().begin() + 1, inputs[0].sizes().end()})) +
                      1;
    const int64_t size = inputs[0].size(axis);
    const int64_t groups = layer_.GroupsOf(size);
    // The axis as groups x places; a mean goes over all axes but the batch and the groups.
    std::vector<int64_t> sizes = inputs[0].sizes().vec();
    sizes[static_cast<size_t>(axis)] = size / groups;
    sizes.insert(sizes.begin() + axis, groups);
    std::vector<int64_t> spread(sizes.size(), 1);
    spread[static_cast<size_t>(axis)] = groups;
    spread[static_cast<size_t>(axis) + 1] = size / groups;
    std::vector<int64_t> axes;
    for (int64_t i = 1; i < static_cast<int64_t>(sizes.size()); ++i) {
      if (i != axis) axes.push_back(i);
    }
    const at::Tensor x = inputs[0].to(at::kFloat).reshape(sizes);
    const at::Tensor centered = x - at::mean(x, axes, /*keepdim=*/true);
    const at::Tensor variance = at::mean(centered * centered, axes, /*keepdim=*/true);
    at::Tensor y = centered * at::rsqrt(variance + layer_.epsilon);
    size_t next = 0;
    if (layer_.scale) y = y * weights[next++].reshape(spread);
    if (layer_.center) y = y + weights[next].reshape(spread);
    return y.reshape(inputs[0].sizes()).to(inputs[0].scalar_type());
  }

  bool float_weights() const override { return true; }

 private:
  const GroupNormalization& layer_;
};

}  // namespace

std::unique_ptr<Operator> MakeOperator(const GroupNormalization& layer) {
  return std::make_unique<GroupNormalizationOperator>(layer);
}

}  // namespace layers
}  // namespace hopper
