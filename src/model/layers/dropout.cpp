// Dropout: in training each element is 0 with probability `rate` and otherwise divided by
// 1 - rate. The mask is a pure function of (seed, layer, step, element).
#include "model/lane_layer.h"
#include "model/layers/layers.h"

#ifdef HOPPER_TORCH
#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>

#include <algorithm>
#include <cmath>

#include "base/philox.h"
#include "model/network/lanes.h"
#include "model/planned_op.h"
#endif

namespace hopper {
namespace {

#ifdef HOPPER_TORCH
// Of 24 bits, the number of values for which an element is dropped.
uint32_t DroppedValues(double rate) { return static_cast<uint32_t>(std::ceil(rate * (1 << 24))); }
float KeptScale(double rate) { return rate < 1.0 ? static_cast<float>(1.0 / (1.0 - rate)) : 0.0F; }
constexpr int64_t kChunk = 2048;  // elements whose random bits are made at a time

class PlannedDropout : public PlannedOp {
 public:
  PlannedDropout(PlanNode* node, double rate)
      : node_(*node),
        size_(node->output->size),
        dropped_(DroppedValues(rate)),
        scale_(KeptScale(rate)),
        mask_(node->Scratch({(size_ + 3) / 4}, PlanNode::During::kBoth)) {}

  void Forward(const StepArguments& step) override {
    const Philox philox(node_.seed, Purpose::kDropout, node_.stream,
                        static_cast<uint64_t>(step.step));
    const float* x = node_.inputs[0]->value->data;
    float* y = node_.output->value->data;
    uint32_t bits[kChunk];
    for (int64_t first = 0; first < size_; first += kChunk) {
      const int64_t n = std::min(kChunk, size_ - first);
      philox.Fill(static_cast<uint64_t>(first), static_cast<uint64_t>(n), bits);
      node_.kernels->dropout(x + first, bits, dropped_, scale_, n, y + first, mask() + first);
    }
  }

  void Backward(const StepArguments&) override {
    node_.kernels->dropout_gradient(node_.output->gradient->data, mask(), scale_, size_,
                                    node_.input_accumulates[0] != 0,
                                    node_.inputs[0]->gradient->data);
  }

 private:
  uint8_t* mask() { return reinterpret_cast<uint8_t*>(mask_->data); }

  const PlanNode& node_;
  const int64_t size_;
  const uint32_t dropped_;
  const float scale_;
  PlanBuffer* mask_;
};
#endif

class Dropout : public Layer, public LaneLayer {
 public:
  explicit Dropout(LayerConfig& config) : Layer(config), rate_(config.Number("rate", 0.5)) {
    if (!(rate_ >= 0.0 && rate_ <= 1.0)) {
      config.Fail(ErrorCode::kInvalidParameter, "argument \"rate\" must lie between 0 and 1");
    }
    config.RequireUnset("noise_shape");
    config.Ignore("seed");  // the configuration's seed decides
  }

  Shape OutputShape(const std::vector<Shape>& inputs) const override {
    if (inputs.size() != 1) {
      throw Error(ErrorCode::kInvalidParameter, "layer \"" + name() +
                                                    "\" of class Dropout needs one input, not " +
                                                    std::to_string(inputs.size()));
    }
    return inputs[0];
  }

#ifdef HOPPER_TORCH
  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext& context) const override {
    const at::Tensor& x = inputs[0];
    if (!context.training || rate_ == 0.0) return x;
    return at::mul(x, Mask(x, context));
  }

  LaneValue ForwardLanes(const std::vector<LaneValue>& inputs, const std::vector<at::Tensor>&,
                         const LaneContext& context) const override {
    if (!context.training || rate_ == 0.0) return inputs[0];
    std::vector<int64_t> sizes;
    if (inputs[0].is_stacked()) {
      sizes = inputs[0].Stacked().sizes().vec();
    } else {
      sizes = inputs[0].Separate()[0].sizes().vec();
      sizes.insert(sizes.begin(), static_cast<int64_t>(inputs[0].lanes()));
    }
    const at::TensorOptions options =
        inputs[0].is_stacked() ? inputs[0].Stacked().options() : inputs[0].Separate()[0].options();
    at::Tensor mask = at::empty(sizes, options.dtype(at::kFloat));
    context.random->DropoutMask(context.layer, DroppedValues(rate_), KeptScale(rate_), mask);
    mask = mask.to(options.dtype());
    if (inputs[0].is_stacked()) return LaneValue(at::mul(inputs[0].Stacked(), mask));
    std::vector<at::Tensor> outputs;
    for (size_t lane = 0; lane < inputs[0].lanes(); ++lane) {
      outputs.push_back(
          at::mul(inputs[0].Separate()[lane], mask.select(0, static_cast<int64_t>(lane))));
    }
    return LaneValue(std::move(outputs));
  }

  std::unique_ptr<PlannedOp> Plan(PlanNode* node) const override {
    node->alias = !node->training || rate_ == 0.0;
    if (node->alias) return nullptr;
    return std::make_unique<PlannedDropout>(node, rate_);
  }

 private:
  // 0 or 1 / (1 - rate), element by element in C order of the logical tensor.
  at::Tensor Mask(const at::Tensor& x, const ForwardContext& context) const {
    at::Tensor mask = at::empty(x.sizes(), at::TensorOptions().dtype(at::kFloat));
    const int64_t size = mask.numel();
    float* values = mask.mutable_data_ptr<float>();
    const Philox philox(context.seed, Purpose::kDropout, context.layer,
                        static_cast<uint64_t>(context.step));
    const uint32_t dropped = DroppedValues(rate_);
    const float scale = KeptScale(rate_);
    uint32_t bits[kChunk];
    for (int64_t first = 0; first < size; first += kChunk) {
      const int64_t n = std::min(kChunk, size - first);
      philox.Fill(static_cast<uint64_t>(first), static_cast<uint64_t>(n), bits);
      for (int64_t i = 0; i < n; ++i) values[first + i] = (bits[i] >> 8) >= dropped ? scale : 0.0F;
    }
    return x.device() == mask.device() ? mask : mask.to(x.device());
  }
#endif

 private:
  double rate_;
};

}  // namespace

std::unique_ptr<Layer> MakeDropout(LayerConfig& config) {
  return std::make_unique<Dropout>(config);
}

}  // namespace hopper
