// MaxPooling2D and AveragePooling2D over images of height x width x channels.
#include "model/layers/layers.h"
#include "model/layers/window.h"

#ifdef HOPPER_TORCH
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/max_pool2d.h>

#include "model/planned_op.h"
#endif

namespace hopper {
namespace {

#ifdef HOPPER_TORCH
// Calls pool(args, inputs before, outputs before) for shares of the images.
template <typename Pool>
void SharePool(const PlanNode& node, const PoolArgs& all, const Pool& pool) {
  const int64_t in = all.height * all.width * all.channels;
  const int64_t out = all.out_height * all.out_width * all.channels;
  const double work = static_cast<double>(node.output->size) *
                      static_cast<double>(all.window_height * all.window_width);
  RunShares(node.team, all.images, work, [&](int64_t first, int64_t last, int) {
    PoolArgs args = all;
    args.images = last - first;
    pool(args, first * in, first * out);
  });
}

class PlannedMaxPool : public PlannedOp {
 public:
  PlannedMaxPool(PlanNode* node, const PoolArgs& args)
      : node_(*node),
        args_(args),
        where_(node->Scratch({(node->output->size + 3) / 4}, PlanNode::During::kBoth)) {}

  void Forward(const StepArguments&) override {
    SharePool(node_, args_, [&](const PoolArgs& args, int64_t in, int64_t out) {
      node_.kernels->max_pool(args, node_.inputs[0]->value->data + in,
                              node_.output->value->data + out, where() + out);
    });
  }
  void Backward(const StepArguments&) override {
    SharePool(node_, args_, [&](const PoolArgs& args, int64_t in, int64_t out) {
      node_.kernels->max_pool_gradient(args, node_.output->gradient->data + out, where() + out,
                                       node_.input_accumulates[0] != 0,
                                       node_.inputs[0]->gradient->data + in);
    });
  }

 private:
  uint8_t* where() { return reinterpret_cast<uint8_t*>(where_->data); }

  const PlanNode& node_;
  const PoolArgs args_;
  PlanBuffer* where_;  // bytes
};

class PlannedAveragePool : public PlannedOp {
 public:
  PlannedAveragePool(PlanNode* node, const PoolArgs& args) : node_(*node), args_(args) {}

  void Forward(const StepArguments&) override {
    SharePool(node_, args_, [&](const PoolArgs& args, int64_t in, int64_t out) {
      node_.kernels->average_pool(args, node_.inputs[0]->value->data + in,
                                  node_.output->value->data + out);
    });
  }
  void Backward(const StepArguments&) override {
    SharePool(node_, args_, [&](const PoolArgs& args, int64_t in, int64_t out) {
      node_.kernels->average_pool_gradient(args, node_.output->gradient->data + out,
                                           node_.input_accumulates[0] != 0,
                                           node_.inputs[0]->gradient->data + in);
    });
  }

 private:
  const PlanNode& node_;
  const PoolArgs args_;
};
#endif

class Pooling2D : public Layer {
 public:
  Pooling2D(LayerConfig& config, bool maximum)
      : Layer(config),
        maximum_(maximum),
        pool_(ReadSizes(config, "pool_size", 2, {2, 2})),
        strides_(ReadSizes(config, "strides", 2, pool_)),
        same_(ReadPadding(config)) {
    ReadDataFormat(config);
  }

  Shape OutputShape(const std::vector<Shape>& inputs) const override {
    RequireImage(*this, inputs);
    const WindowAxis height = Slide(inputs[0][0], 0);
    const WindowAxis width = Slide(inputs[0][1], 1);
    RequireFits(*this, inputs[0], pool_, height, width);
    return {height.output, width.output, inputs[0][2]};
  }

  int64_t Flops(const std::vector<Shape>&, const Shape& output) const override {
    return ElementCount({ElementCount(output), pool_[0], pool_[1]});
  }

#ifdef HOPPER_TORCH
  // Keras' padding cells take no part: they are less than any number for the maximum and are not
  // counted by the average, as libtorch's own padding behaves. That padding is the same at both
  // ends, and padding "same" needs up to one cell more at the end than at the start. With a
  // stride above 1, ceil_mode lets the last window reach over the end; with stride 1 both ends
  // get one cell more and the first output is dropped.
  at::Tensor Forward(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&,
                     const ForwardContext&) const override {
    const at::Tensor x = inputs[0].permute({0, 3, 1, 2});
    int64_t padding[2] = {0, 0};
    int64_t pool[2] = {0, 0};
    bool skip[2] = {false, false};
    for (int axis = 0; axis < 2; ++axis) {
      const WindowAxis window = Slide(x.size(2 + axis), axis);
      pool[axis] = pool_[axis] - 2 * window.unreached;
      skip[axis] = strides_[axis] == 1 && window.after != window.before;
      padding[axis] = skip[axis] ? window.after : window.before;
    }
    at::Tensor y = maximum_ ? at::max_pool2d(x, pool, strides_, padding, /*dilation=*/1, same_)
                            : at::avg_pool2d(x, pool, strides_, padding, same_,
                                             /*count_include_pad=*/false);
    if (skip[0]) y = y.slice(2, 1);
    if (skip[1]) y = y.slice(3, 1);
    return y.permute({0, 2, 3, 1});
  }

  std::unique_ptr<PlannedOp> Plan(PlanNode* node) const override {
    const Shape& image = node->inputs[0]->shape;
    const WindowAxis height = Slide(image[0], 0);
    const WindowAxis width = Slide(image[1], 1);
    const int64_t rows = pool_[0] - 2 * height.unreached;
    const int64_t columns = pool_[1] - 2 * width.unreached;
    if (maximum_ && rows * columns > 256) return nullptr;  // cells are numbered in a byte
    PoolArgs args;
    args.images = node->batch;
    args.height = image[0];
    args.width = image[1];
    args.channels = image[2];
    args.out_height = height.output;
    args.out_width = width.output;
    args.window_height = rows;
    args.window_width = columns;
    args.stride_height = strides_[0];
    args.stride_width = strides_[1];
    args.before_height = height.before;
    args.before_width = width.before;
    if (!maximum_) return std::make_unique<PlannedAveragePool>(node, args);
    return std::make_unique<PlannedMaxPool>(node, args);
  }
#endif

 private:
  WindowAxis Slide(int64_t size, int axis) const {
    return WithoutUnreached(SlideWindow(size, pool_[axis], strides_[axis], 1, same_), 1);
  }

  bool maximum_;
  std::vector<int64_t> pool_;
  std::vector<int64_t> strides_;
  bool same_;
};

}  // namespace

std::unique_ptr<Layer> MakeMaxPooling2D(LayerConfig& config) {
  return std::make_unique<Pooling2D>(config, /*maximum=*/true);
}
std::unique_ptr<Layer> MakeAveragePooling2D(LayerConfig& config) {
  return std::make_unique<Pooling2D>(config, /*maximum=*/false);
}

}  // namespace hopper
