// Conv2D over images of height x width x channels.
#include "model/lane_layer.h"
#include "model/layers/activation.h"
#include "model/layers/layers.h"
#include "model/layers/window.h"

#ifdef HOPPER_TORCH
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/zeros_like.h>

#include "model/layers/planned_bf16.h"
#include "model/layers/planned_conv_2d.h"
#include "model/network/lanes.h"
#endif

namespace hopper {
namespace {

#ifdef HOPPER_TORCH
// Multiply-adds up to which several models' convolutions are better off together.
constexpr double kGroupedWork = 1e7;
// Inputs times outputs of a group from which the planned form is faster than libtorch, unless
// there are few groups.
constexpr int64_t kSmallestGroup = 16;
constexpr int64_t kFewGroups = 8;
// Cells of a padded image up to which padding for cells of the window that never meet the image
// does no harm.
constexpr int64_t kSmallPadded = 4096;
#endif

class Conv2D : public Layer, public LaneLayer {
 public:
  explicit Conv2D(LayerConfig& config)
      : Layer(config),
        filters_(config.Int("filters", 0)),
        kernel_(ReadSizes(config, "kernel_size", 2, {1, 1})),
        strides_(ReadSizes(config, "strides", 2, {1, 1})),
        dilation_(ReadSizes(config, "dilation_rate", 2, {1, 1})),
        groups_(config.Int("groups", 1)),
        same_(ReadPadding(config)),
        use_bias_(config.Bool("use_bias", true)),
        activation_(config.GetActivation("activation")),
        kernel_initializer_(config.GetInitializer("kernel_initializer", "glorot_uniform")),
        bias_initializer_(config.GetInitializer("bias_initializer", "zeros")),
        kernel_regularizer_(config.GetRegularizer("kernel_regularizer")),
        bias_regularizer_(config.GetRegularizer("bias_regularizer")) {
    ReadDataFormat(config);
    if (groups_ < 1) {
      config.Fail(ErrorCode::kInvalidParameter,
                  "argument \"groups\" must be at least 1, not " + std::to_string(groups_));
      groups_ = 1;
    }
    if (filters_ < 1 || filters_ % groups_ != 0) {
      config.Fail(ErrorCode::kInvalidParameter,
                  "argument \"filters\" must be a positive multiple of groups (" +
                      std::to_string(groups_) + "), not " + std::to_string(filters_));
      filters_ = groups_;
    }
    if (!config.Has("kernel_size")) {
      config.Fail(ErrorCode::kInvalidParameter, "argument \"kernel_size\" is missing");
    }
    for (const char* key :
         {"activity_regularizer", "kernel_constraint", "bias_constraint", "lora_rank"}) {
      config.RequireUnset(key);
    }
    config.Ignore("lora_alpha");
  }

  Shape OutputShape(const std::vector<Shape>& inputs) const override {
    RequireImage(*this, inputs);
    const Shape& image = inputs[0];
    if (image[2] % groups_ != 0) {
      throw Error(ErrorCode::kInvalidParameter,
                  "layer \"" + name() + "\" of class Conv2D: " + std::to_string(image[2]) +
                      " channels cannot be divided into " + std::to_string(groups_) + " groups");
    }
    const WindowAxis height = Slide(image[0], 0);
    const WindowAxis width = Slide(image[1], 1);
    RequireFits(*this, image, kernel_, height, width);
    return {height.output, width.output, filters_};
  }

  std::vector<WeightSpec> Weights(const std::vector<Shape>& inputs) const override {
    std::vector<WeightSpec> weights(use_bias_ ? 2 : 1);
    weights[0].name = "kernel";
    weights[0].shape = {kernel_[0], kernel_[1], inputs[0][2] / groups_, filters_};
    weights[0].storage = WeightStorage::kConv;
    weights[0].initializer = kernel_initializer_;
    weights[0].regularizer = kernel_regularizer_;
    if (use_bias_) {
      weights[1].name = "bias";
      weights[1].shape = {filters_};
      weights[1].initializer = bias_initializer_;
      weights[1].regularizer = bias_regularizer_;
    }
    return weights;
  }

  int64_t Flops(const std::vector<Shape>& inputs, const Shape& output) const override {
    // ElementCount() does not overflow.
    const int64_t taps = ElementCount({kernel_[0], kernel_[1], inputs[0][2] / groups_});
    return use_bias_ && taps < INT32_MAX ? ElementCount({ElementCount(output), 2 * taps + 1})
                                         : ElementCount({ElementCount(output), 2, taps});
  }

  Activation FinalActivation() const override { return LogitActivation(activation_); }

#ifdef HOPPER_TORCH
  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                     const ForwardContext& context) const override {
    // Views: height x width x channels in memory is libtorch's channels-last format.
    at::Tensor x = inputs[0].permute({0, 3, 1, 2});
    at::Tensor y =
        Convolve(std::move(x), weights[0].permute({3, 2, 0, 1}),
                 use_bias_ ? std::optional<at::Tensor>(weights[1]) : std::nullopt, groups_);
    const bool activate = AppliesActivation(activation_, context);
    const bool by_element = ActsByElement(activation_);
    if (activate && by_element) y = ActivateOwned(std::move(y), activation_);
    y = y.permute({0, 2, 3, 1});
    if (activate && !by_element) y = Activate(y, activation_);
    return y;
  }

  // Lanes whose own convolution would not fill a device are groups of one: groups x channels.
  LaneValue ForwardLanes(const std::vector<LaneValue>& inputs,
                         const std::vector<at::Tensor>& weights,
                         const LaneContext& context) const override {
    const int64_t lanes = static_cast<int64_t>(inputs[0].lanes());
    const at::Tensor& kernel = weights[0];  // [lanes, height, width, in, out]
    const auto work =                       // multiply-adds of a lane, where padding adds no output
        static_cast<double>(inputs[0].lane_elements()) * static_cast<double>(kernel.size(1)) *
        static_cast<double>(kernel.size(2)) * static_cast<double>(filters_);
    if (lanes == 1 || groups_ != 1 || work > kGroupedWork || !inputs[0].is_stacked() ||
        !ActsByElement(activation_)) {
      return ForwardLanesPlainly(*this, inputs, weights, context);
    }
    const at::Tensor& input = inputs[0].Stacked();  // [lanes, batch, height, width, channels]
    at::Tensor y =
        Convolve(input.permute({1, 0, 4, 2, 3})
                     .reshape({input.size(1), lanes * input.size(4), input.size(2), input.size(3)}),
                 kernel.permute({0, 4, 3, 1, 2})
                     .reshape({lanes * filters_, kernel.size(3), kernel.size(1), kernel.size(2)}),
                 use_bias_ ? std::optional<at::Tensor>(weights[1].reshape({lanes * filters_}))
                           : std::nullopt,
                 lanes);
    if (AppliesActivation(activation_, context.linear)) {
      y = ActivateOwned(std::move(y), activation_);
    }
    y = y.reshape({input.size(1), lanes, filters_, y.size(2), y.size(3)});
    return LaneValue(y.permute({1, 0, 3, 4, 2}));
  }

  std::unique_ptr<PlannedOp> Plan(PlanNode* node) const override {
    const bool applies = AppliesActivation(activation_, *node);
    if (!PlannedActivation::Supports(activation_, applies, node->output->shape)) return nullptr;
    const Shape& image = node->inputs[0]->shape;
    ConvSizes sizes;
    sizes.kernel_height = kernel_[0];
    sizes.kernel_width = kernel_[1];
    sizes.stride_height = strides_[0];
    sizes.stride_width = strides_[1];
    sizes.height = Slide(image[0], 0);
    sizes.width = Slide(image[1], 1);
    sizes.use_bias = use_bias_;
    // The planned forms pad for the whole window.
    const bool reached = sizes.height.unreached == 0 && sizes.width.unreached == 0;
    if (!reached && PaddedCells(image, sizes) > kSmallPadded) return nullptr;
    if (groups_ != 1 || dilation_[0] != 1 || dilation_[1] != 1) {
      // A product for each group is slow where they are many and tiny, as in a depthwise
      // convolution (bench/step_bench).
      const int64_t group = (image[2] / groups_) * (filters_ / groups_);
      if (groups_ > kFewGroups && group < kSmallestGroup) return nullptr;
      sizes.dilation_height = dilation_[0];
      sizes.dilation_width = dilation_[1];
      sizes.groups = groups_;
      return MakePlannedSparseConv2D(node, sizes, activation_);
    }
    if (node->bf16 != nullptr) return MakePlannedConv2DBf16(node, sizes, activation_);
    return MakePlannedConv2D(node, sizes, activation_);
  }
#endif

 private:
  WindowAxis Slide(int64_t size, int axis) const {
    return SlideWindow(size, kernel_[axis], strides_[axis], dilation_[axis], same_);
  }

#ifdef HOPPER_TORCH
  static int64_t PaddedCells(const Shape& image, const ConvSizes& sizes) {
    return ElementCount({image[0] + sizes.height.before + sizes.height.after,
                         image[1] + sizes.width.before + sizes.width.after});
  }

  // libtorch's order: images [batch][channels][height][width], kernel [out][in][height][width].
  at::Tensor Convolve(at::Tensor x, at::Tensor kernel, const std::optional<at::Tensor>& bias,
                      int64_t groups) const {
    WindowAxis axes[2];
    int64_t dilation[2];
    for (int i = 0; i < 2; ++i) {
      const int64_t size = x.size(2 + i);
      const WindowAxis whole = Slide(size, i);
      axes[i] = WithoutUnreached(whole, dilation_[i]);
      int64_t cells = kernel_[i] - 2 * whole.unreached;
      if (cells == 0) {  // no input is ever under the window: one cell of it over zeros
        cells = 1;
        axes[i].before = 0;
        axes[i].after = (axes[i].output - 1) * strides_[i] + 1 - size;
        x = at::zeros_like(x);
      }
      if (cells != kernel_[i]) kernel = kernel.narrow(2 + i, whole.unreached, cells);
      dilation[i] = cells == 1 ? 1 : dilation_[i];
    }
    const WindowAxis& height = axes[0];
    const WindowAxis& width = axes[1];
    int64_t padding[2] = {height.before, width.before};
    if (height.before != height.after || width.before != width.after || height.before < 0 ||
        width.before < 0) {
      x = at::constant_pad_nd(x, {width.before, width.after, height.before, height.after});
      padding[0] = padding[1] = 0;
    }
    return at::convolution(x, kernel, bias, strides_, padding, dilation, /*transposed=*/false,
                           /*output_padding=*/{0, 0}, groups);
  }
#endif

  int64_t filters_;
  std::vector<int64_t> kernel_;
  std::vector<int64_t> strides_;
  std::vector<int64_t> dilation_;
  int64_t groups_;
  bool same_;
  bool use_bias_;
  ActivationSpec activation_;
  InitializerSpec kernel_initializer_;
  InitializerSpec bias_initializer_;
  RegularizerSpec kernel_regularizer_;
  RegularizerSpec bias_regularizer_;
};

}  // namespace

std::unique_ptr<Layer> MakeConv2D(LayerConfig& config) { return std::make_unique<Conv2D>(config); }

}  // namespace hopper
