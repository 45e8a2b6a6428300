// A team shares the images, and for the kernel's gradient the channels: bits do not depend on it.
#include "model/layers/depthwise_conv_2d/planned.h"

#include <algorithm>
#include <cstring>

namespace hopper {
namespace {

using During = PlanNode::During;

// Channels that a member of a team takes at least: whole vectors, and a cache line of each pixel.
constexpr int64_t kChannelBlock = 16;

class PlannedDepthwise : public PiecewiseOp {
 public:
  PlannedDepthwise(PlanNode* node, const layers::ConvWindow& window, const DepthwiseForm& form)
      : PiecewiseOp(node->batch),
        node_(*node),
        kernels_(*node->kernels),
        use_bias_(form.use_bias),
        activation_(node, form.activation),
        channels_(node->output->shape[2]),
        taps_(window.kernel[0] * window.kernel[1]) {
    const Shape& image = node->inputs[0]->shape;
    const WindowAxis height = window.Slide(image[0], 0);
    const WindowAxis width = window.Slide(image[1], 1);
    args_.height = image[0];
    args_.width = image[1];
    args_.channels = args_.some_channels = channels_;
    args_.out_height = height.output;
    args_.out_width = width.output;
    args_.kernel_height = window.kernel[0];
    args_.kernel_width = window.kernel[1];
    args_.stride_height = window.strides[0];
    args_.stride_width = window.strides[1];
    args_.dilation_height = window.dilation[0];
    args_.dilation_width = window.dilation[1];
    args_.before_height = height.before;
    args_.before_width = width.before;
    if (form.by_channel) {
      turned_ =
          node->Scratch({taps_, channels_}, node->backward ? During::kBoth : During::kForward);
    }
    if (!node->backward) return;
    node->keeps_output = activation_.keeps_output();
    node->keeps_inputs = node->weights[0].trainable;
    if (use_bias_ && node->weights[1].trainable) {
      sums_ = node->Scratch({2, channels_}, During::kBackward);
    }
    if (node->weights[0].trainable) {
      kernel_gradient_ = node->Scratch({taps_, channels_}, During::kBackward);
      if (form.by_channel) stored_gradient_ = node->Scratch({taps_, channels_}, During::kBackward);
    }
  }

  void BeginForward(const StepArguments& step) override {
    if (turned_ == nullptr) return;
    kernels_.transpose(step.params + node_.weights[0].offset, channels_, taps_, turned_->data);
  }

  void ForwardPiece(const StepArguments& step, int64_t begin, int64_t end) override {
    const float* kernel = Kernel(step);
    const float* bias = use_bias_ ? step.params + node_.weights[1].offset : nullptr;
    const float* x = node_.inputs[0]->value->data;
    float* y = node_.output->value->data;
    ShareImages(begin, end, [&](const DepthwiseArgs& args, int64_t in, int64_t out) {
      kernels_.depthwise(args, x + in, kernel, bias, activation_.relu(), y + out);
    });
    if (activation_.none() || activation_.relu()) return;
    const int64_t first = begin * OutFloats();
    activation_.ForwardPart(first, end * OutFloats() - first, y + first);
  }

  void BeginBackward(const StepArguments& /*step*/) override {
    for (PlanBuffer* sums : {sums_, kernel_gradient_}) {
      if (sums == nullptr) continue;
      std::memset(sums->data, 0, static_cast<size_t>(sums->size) * sizeof(float));
    }
  }

  void BackwardPiece(const StepArguments& step, int64_t begin, int64_t end) override {
    const float* x = node_.inputs[0]->value->data + begin * InFloats();
    float* dy = node_.output->gradient->data;
    for (int64_t n = begin; n < end; ++n) {
      float* at = dy + n * OutFloats();
      if (!activation_.none()) activation_.BackwardPart(n * OutFloats(), OutFloats(), at);
      if (sums_ == nullptr) continue;
      kernels_.column_sums(at, OutFloats() / channels_, channels_, sums_->data + channels_);
      kernels_.add(sums_->data + channels_, channels_, sums_->data);
    }
    if (kernel_gradient_ != nullptr) {
      const int64_t blocks = (channels_ + kChannelBlock - 1) / kChannelBlock;
      RunShares(node_.team, blocks, Work(), [&](int64_t first, int64_t last, int) {
        DepthwiseArgs args = args_;
        args.images = end - begin;
        args.first_channel = first * kChannelBlock;
        args.some_channels = std::min(last * kChannelBlock, channels_) - args.first_channel;
        kernels_.depthwise_kernel_gradient(args, x, dy + begin * OutFloats(),
                                           kernel_gradient_->data);
      });
    }
    if (!node_.InputNeedsGradient(0)) return;
    const float* kernel = Kernel(step);
    float* dx = node_.inputs[0]->gradient->data;
    ShareImages(begin, end, [&](const DepthwiseArgs& args, int64_t in, int64_t out) {
      kernels_.depthwise_input_gradient(args, dy + out, kernel, node_.input_accumulates[0] != 0,
                                        dx + in);
    });
  }

  void EndBackward(const StepArguments& step) override {
    if (sums_ != nullptr) node_.DeliverGradient(sums_->data, channels_, 1, step);
    if (kernel_gradient_ == nullptr) return;
    const float* sums = kernel_gradient_->data;
    if (stored_gradient_ != nullptr) {
      kernels_.transpose(sums, taps_, channels_, stored_gradient_->data);
      sums = stored_gradient_->data;
    }
    node_.DeliverGradient(sums, taps_ * channels_, 0, step);
  }

 private:
  // As [tap][channel].
  const float* Kernel(const StepArguments& step) const {
    return turned_ != nullptr ? turned_->data : step.params + node_.weights[0].offset;
  }

  // Floats of an image.
  int64_t InFloats() const { return args_.height * args_.width * channels_; }
  int64_t OutFloats() const { return args_.out_height * args_.out_width * channels_; }

  // Operations of one pass over the batch, about.
  double Work() const {
    return 2.0 * static_cast<double>(node_.output->size) * static_cast<double>(taps_);
  }

  // Calls part(args, first float of its inputs, of its outputs) for parts of some images.
  template <typename Part>
  void ShareImages(int64_t begin, int64_t end, const Part& part) const {
    RunShares(node_.team, end - begin, Work(), [&](int64_t first, int64_t last, int) {
      DepthwiseArgs args = args_;
      args.images = last - first;
      part(args, (begin + first) * InFloats(), (begin + first) * OutFloats());
    });
  }

  const PlanNode& node_;
  const Kernels& kernels_;
  const bool use_bias_;
  const PlannedActivation activation_;
  const int64_t channels_;
  const int64_t taps_;  // weights of a channel
  DepthwiseArgs args_;
  PlanBuffer* sums_ = nullptr;  // gradient of the bias, and one image's
  PlanBuffer* kernel_gradient_ = nullptr;
  // Of a kernel that lies otherwise: it and its gradient, turned.
  PlanBuffer* turned_ = nullptr;
  PlanBuffer* stored_gradient_ = nullptr;
};

}  // namespace

std::unique_ptr<PlannedOp> MakePlannedDepthwise(PlanNode* node, const layers::ConvWindow& window,
                                                const DepthwiseForm& form) {
  return std::make_unique<PlannedDepthwise>(node, window, form);
}

namespace layers {

std::unique_ptr<PlannedOp> Plan(const DepthwiseConv2D& layer, PlanNode* node) {
  const bool applies = AppliesActivation(layer.activation, *node);
  if (layer.depthwise.multiplier != 1 ||
      !PlannedActivation::Supports(layer.activation, applies, node->output->shape)) {
    return nullptr;
  }
  DepthwiseForm form;
  form.use_bias = layer.use_bias;
  form.activation = layer.activation;
  return MakePlannedDepthwise(node, layer.depthwise, form);
}

}  // namespace layers
}  // namespace hopper
