#include "model/layers/pooling_2d/pooling_2d.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

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

}  // namespace

std::unique_ptr<PlannedOp> Plan(const Pooling2D& layer, PlanNode* node) {
  const Shape& image = node->inputs[0]->shape;
  const WindowAxis height = layer.Slide(image[0], 0);
  const WindowAxis width = layer.Slide(image[1], 1);
  const int64_t rows = layer.pool[0] - 2 * height.unreached;
  const int64_t columns = layer.pool[1] - 2 * width.unreached;
  if (layer.maximum && rows * columns > 256) return nullptr;  // cells are numbered in a byte
  PoolArgs args;
  args.images = node->batch;
  args.height = image[0];
  args.width = image[1];
  args.channels = image[2];
  args.out_height = height.output;
  args.out_width = width.output;
  args.window_height = rows;
  args.window_width = columns;
  args.stride_height = layer.strides[0];
  args.stride_width = layer.strides[1];
  args.before_height = height.before;
  args.before_width = width.before;
  if (!layer.maximum) return std::make_unique<PlannedAveragePool>(node, args);
  return std::make_unique<PlannedMaxPool>(node, args);
}

}  // namespace layers
}  // namespace hopper
