#include "model/layers/pooling_2d/pooling_2d.h"
#include "model/planned/planned_op.h"

namespace hopper {
namespace layers {
namespace {

class PlannedPool : public PiecewiseOp {
 public:
  PlannedPool(PlanNode* node, const PoolArgs& args)
      : PiecewiseOp(node->batch), node_(*node), args_(args) {}

 protected:
  // Calls pool(args, inputs before, outputs before) for shares of the images.
  template <typename Pool>
  void Share(int64_t begin, int64_t end, const Pool& pool) const {
    const int64_t in = args_.height * args_.width * args_.channels;
    const int64_t out = args_.out_height * args_.out_width * args_.channels;
    const double work = static_cast<double>(node_.output->size) *
                        static_cast<double>(args_.window_height * args_.window_width);
    RunShares(node_.team, end - begin, work, [&](int64_t first, int64_t last, int) {
      PoolArgs args = args_;
      args.images = last - first;
      pool(args, (begin + first) * in, (begin + first) * out);
    });
  }

  const PlanNode& node_;

 private:
  const PoolArgs args_;
};

class PlannedMaxPool : public PlannedPool {
 public:
  PlannedMaxPool(PlanNode* node, const PoolArgs& args)
      : PlannedPool(node, args),
        where_(node->Scratch({(node->output->size + 3) / 4}, PlanNode::During::kBoth)) {}

  void ForwardPiece(const StepArguments&, int64_t begin, int64_t end) override {
    Share(begin, end, [&](const PoolArgs& args, int64_t in, int64_t out) {
      node_.kernels->max_pool(args, node_.inputs[0]->value->data + in,
                              node_.output->value->data + out, where() + out);
    });
  }
  void BackwardPiece(const StepArguments&, int64_t begin, int64_t end) override {
    Share(begin, end, [&](const PoolArgs& args, int64_t in, int64_t out) {
      node_.kernels->max_pool_gradient(args, node_.output->gradient->data + out, where() + out,
                                       node_.input_accumulates[0] != 0,
                                       node_.inputs[0]->gradient->data + in);
    });
  }

 private:
  uint8_t* where() { return reinterpret_cast<uint8_t*>(where_->data); }

  PlanBuffer* where_;  // bytes
};

class PlannedAveragePool : public PlannedPool {
 public:
  using PlannedPool::PlannedPool;

  void ForwardPiece(const StepArguments&, int64_t begin, int64_t end) override {
    Share(begin, end, [&](const PoolArgs& args, int64_t in, int64_t out) {
      node_.kernels->average_pool(args, node_.inputs[0]->value->data + in,
                                  node_.output->value->data + out);
    });
  }
  void BackwardPiece(const StepArguments&, int64_t begin, int64_t end) override {
    Share(begin, end, [&](const PoolArgs& args, int64_t in, int64_t out) {
      node_.kernels->average_pool_gradient(args, node_.output->gradient->data + out,
                                           node_.input_accumulates[0] != 0,
                                           node_.inputs[0]->gradient->data + in);
    });
  }
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
