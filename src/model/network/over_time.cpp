#include "model/network/over_time.h"

#include <utility>
#include <vector>

#include "model/network/lanes.h"

namespace hopper {
namespace {

class OfSeries : public Operator {
 public:
  OfSeries(std::unique_ptr<Operator> image, size_t kernels)
      : image_(std::move(image)), kernels_(kernels) {}

  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext& context) const override {
    return image_->Forward({inputs[0].unsqueeze(1)}, WithHeight(weights, 0), context).squeeze(1);
  }

  LaneValue ForwardLanes(const std::vector<LaneValue>& inputs,
                         const std::vector<at::Tensor>& weights,
                         const LaneContext& context) const override {
    const LaneValue y = image_->ForwardLanes(
        {Apply(inputs[0],
               [](const at::Tensor& x, int64_t batch) { return x.unsqueeze(batch + 1); })},
        WithHeight(weights, 1), context);
    return Apply(y, [](const at::Tensor& x, int64_t batch) { return x.squeeze(batch + 1); });
  }

 private:
  // `change` gets each tensor and the place of its batch.
  template <typename Change>
  static LaneValue Apply(const LaneValue& value, const Change& change) {
    if (value.is_stacked()) return LaneValue(change(value.Stacked(), 1));
    std::vector<at::Tensor> lanes;
    for (const at::Tensor& lane : value.Separate()) lanes.push_back(change(lane, 0));
    return LaneValue(std::move(lanes));
  }

  std::vector<at::Tensor> WithHeight(std::vector<at::Tensor> weights, int64_t axis) const {
    for (size_t i = 0; i < kernels_; ++i) weights[i] = weights[i].unsqueeze(axis);
    return weights;
  }

  std::unique_ptr<Operator> image_;
  const size_t kernels_;
};

}  // namespace

std::unique_ptr<Operator> OverTime(std::unique_ptr<Operator> image, size_t kernels) {
  return std::make_unique<OfSeries>(std::move(image), kernels);
}

}  // namespace hopper
