// A team shares the rows. Sums are taken block by block and added in the blocks' order, so that
// their bits do not depend on who took them.
#include <algorithm>
#include <cmath>
#include <vector>

#include "model/layers/batch_normalization/batch_normalization.h"
#include "model/planned/planned_activation.h"

namespace hopper {
namespace layers {
namespace {

constexpr int64_t kBlock = 256;  // rows whose sum is taken in float32; blocks are added in float64

constexpr int64_t kInCache = 4096;  // floats of a piece that two loops go over

struct NormSizes {
  bool scale = true;  // the node's weights: gamma and beta as there are, then the moving statistics
  bool center = true;
  bool batch_statistics = false;  // otherwise the moving ones
  double momentum = 0.0;
  double epsilon = 0.0;
};

class PlannedBatchNorm : public PiecewiseOp {
 public:
  PlannedBatchNorm(PlanNode* node, const NormSizes& sizes)
      : PiecewiseOp(node->batch),
        node_(*node),
        kernels_(*node->kernels),
        activation_(node),
        s_(sizes),
        columns_(node->output->shape.back()),
        rows_(node->output->size / columns_),
        statistics_((sizes.scale ? 1 : 0) + (sizes.center ? 1 : 0)),
        mean_(columns_),
        inverse_deviation_(columns_),
        factor_(columns_),
        offset_(columns_),
        by_x_(columns_),
        shift_(columns_),
        block_sums_(2 * columns_ * (node->team == nullptr ? 1 : Blocks())),
        sums_(2 * columns_) {
    args_.columns = columns_;
    args_.factor = factor_.data();
    args_.offset = offset_.data();
    args_.clipped = activation_.Clips(&args_.least, &args_.most);
    node->keeps_inputs = true;
    node->gradient_in_place = true;
    node->keeps_output = activation_.keeps_output() && !args_.clipped;
  }

  bool surveys() const override { return true; }
  bool recomputes() const override { return activation_.none() || args_.clipped; }

  // Of a block: its sum, and that of squares around its own mean, so that one pass does.
  void SurveyForward(int64_t first, int64_t last) override {
    if (!s_.batch_statistics) return;
    const float* x = node_.inputs[0]->value->data;
    Survey(
        first, last,
        [&](int64_t row, int64_t n, float* sums) {
          const float* at = x + row * columns_;
          float* mean = sums + columns_;
          kernels_.column_sums(at, n, columns_, sums);
          const float share = 1.0F / static_cast<float>(n);
          kernels_.scale(sums, share, 0.0F, columns_, mean);
          kernels_.column_products(at, mean, at, mean, n, columns_, mean);
        },
        [&](int64_t n, const float* block) {
          const double share = 1.0 / static_cast<double>(n);
          for (int64_t j = 0; j < columns_; ++j) {
            const auto sum = static_cast<double>(block[j]);
            sums_[j] += sum;
            sums_[columns_ + j] += static_cast<double>(block[columns_ + j]) + sum * sum * share;
          }
        });
  }

  void BeginForward(const StepArguments& step) override {
    float* moving_mean = step.params + node_.weights[statistics_].offset;
    float* moving_variance = step.params + node_.weights[statistics_ + 1].offset;
    if (s_.batch_statistics) {
      TakeStatistics(moving_mean, moving_variance);
    } else {
      for (int64_t j = 0; j < columns_; ++j) {
        mean_[j] = moving_mean[j];
        inverse_deviation_[j] = Inverse(static_cast<double>(moving_variance[j]));
      }
    }
    const float* gamma = s_.scale ? step.params + node_.weights[0].offset : nullptr;
    const float* beta = s_.center ? step.params + node_.weights[s_.scale ? 1 : 0].offset : nullptr;
    for (int64_t j = 0; j < columns_; ++j) {
      factor_[j] = inverse_deviation_[j] * (gamma == nullptr ? 1.0F : gamma[j]);
      offset_[j] = (beta == nullptr ? 0.0F : beta[j]) - mean_[j] * factor_[j];
    }
  }

  void ForwardPiece(const StepArguments& /*step*/, int64_t first, int64_t last) override {
    float* y = node_.output->value->data;
    Share(first, last, [&](const NormArgs& args, int64_t at) {
      kernels_.norm(args, y + at);
      if (!activation_.none() && !args.clipped) {
        activation_.ForwardPart(at, args.rows * columns_, y + at);
      }
    });
  }

  // With batch statistics, n rows, h = (x - mean) / deviation:
  //   dx = gamma / deviation * (dy - sum(dy) / n - h * sum(dy * h) / n)
  void SurveyBackward(int64_t first, int64_t last) override {
    const float* x = node_.inputs[0]->value->data;
    float* dy = node_.output->gradient->data;
    Survey(
        first, last,
        [&](int64_t row, int64_t n, float* sums) {
          const int64_t at = row * columns_;
          if (!activation_.none() && !args_.clipped) {
            activation_.BackwardPart(at, n * columns_, dy + at);
          }
          NormArgs args = args_;
          args.rows = n;
          args.x = x + at;
          kernels_.norm_sums(args, mean_.data(), dy + at, sums);
        },
        [&](int64_t /*n*/, const float* block) {
          for (int64_t j = 0; j < 2 * columns_; ++j) sums_[j] += static_cast<double>(block[j]);
        });
  }

  void BeginBackward(const StepArguments& step) override {
    const double* sums = sums_.data();
    const double* products = sums + columns_;
    float* part = block_sums_.data();
    if (s_.scale && node_.weights[0].trainable) {
      for (int64_t j = 0; j < columns_; ++j) {
        part[j] = static_cast<float>(products[j]) * inverse_deviation_[j];
      }
      node_.DeliverGradient(part, columns_, 0, step);
    }
    const size_t beta = s_.scale ? 1 : 0;
    if (s_.center && node_.weights[beta].trainable) {
      for (int64_t j = 0; j < columns_; ++j) part[j] = static_cast<float>(sums[j]);
      node_.DeliverGradient(part, columns_, beta, step);
    }
    const double n = static_cast<double>(rows_);
    for (int64_t j = 0; j < columns_; ++j) {
      if (!s_.batch_statistics) {
        by_x_[j] = shift_[j] = 0.0F;
        continue;
      }
      const auto inverse = static_cast<double>(inverse_deviation_[j]);
      const auto factor = static_cast<double>(factor_[j]);
      const double by_x = -factor * inverse * inverse * products[j] / n;
      by_x_[j] = static_cast<float>(by_x);
      shift_[j] = static_cast<float>(-factor * sums[j] / n - by_x * static_cast<double>(mean_[j]));
    }
  }

  void BackwardPiece(const StepArguments& /*step*/, int64_t first, int64_t last) override {
    if (!node_.InputNeedsGradient(0)) return;
    const float* dy = node_.output->gradient->data;
    float* dx = node_.inputs[0]->gradient->data;
    Share(first, last, [&](const NormArgs& args, int64_t at) {
      kernels_.norm_gradient(args, dy + at, by_x_.data(), shift_.data(),
                             node_.input_accumulates[0] != 0, dx + at);
    });
  }

 private:
  int64_t Blocks() const { return (rows_ + kBlock - 1) / kBlock; }

  float Inverse(double variance) const {
    return static_cast<float>(1.0 / std::sqrt(variance + s_.epsilon));
  }

  // Of one pass over all numbers; memory is what it waits for.
  double Work() const { return 4.0 * static_cast<double>(rows_ * columns_); }

  // Calls part(args, first float) for shares of the examples, a few rows at a time: what one loop
  // writes another finds in the first cache.
  template <typename Part>
  void Share(int64_t first_example, int64_t last_example, const Part& part) {
    const int64_t rows = rows_ / node_.batch;
    const int64_t begin = first_example * rows;
    const float* x = node_.inputs[0]->value->data;
    RunShares(node_.team, last_example * rows - begin, Work(),
              [&](int64_t first, int64_t last, int) {
                NormArgs args = args_;
                const int64_t some = std::max<int64_t>(1, kInCache / columns_);
                for (int64_t row = begin + first; row < begin + last; row += args.rows) {
                  args.rows = std::min(some, begin + last - row);
                  args.x = x + row * columns_;
                  part(args, row * columns_);
                }
              });
  }

  // Calls block(first row, rows, sums) for the blocks that end within these examples, and
  // add(rows, sums) for each in their order.
  template <typename Block, typename Add>
  void Survey(int64_t first_example, int64_t last_example, const Block& block, const Add& add) {
    if (first_example == 0) std::fill(sums_.begin(), sums_.end(), 0.0);
    const int64_t rows = rows_ / node_.batch;
    const int64_t begin = first_example * rows / kBlock;
    const int64_t end = last_example == node_.batch ? Blocks() : last_example * rows / kBlock;
    const auto rows_of = [&](int64_t b) { return std::min(kBlock, rows_ - b * kBlock); };
    if (node_.team == nullptr) {
      for (int64_t b = begin; b < end; ++b) {
        block(b * kBlock, rows_of(b), block_sums_.data());
        add(rows_of(b), block_sums_.data());
      }
      return;
    }
    const auto sums_of = [&](int64_t b) { return &block_sums_[2 * b * columns_]; };
    RunShares(node_.team, end - begin, Work(), [&](int64_t first, int64_t last, int) {
      for (int64_t b = begin + first; b < begin + last; ++b) {
        block(b * kBlock, rows_of(b), sums_of(b));
      }
    });
    for (int64_t b = begin; b < end; ++b) add(rows_of(b), sums_of(b));
  }

  // Keras' rule: moving = moving * momentum + batch * (1 - momentum), with the biased variance.
  void TakeStatistics(float* moving_mean, float* moving_variance) {
    const double n = static_cast<double>(rows_);
    const auto keep = static_cast<float>(s_.momentum);
    const auto add = static_cast<float>(1.0 - s_.momentum);
    for (int64_t j = 0; j < columns_; ++j) {
      const double mean = sums_[j] / n;
      const double variance = std::max(sums_[columns_ + j] / n - mean * mean, 0.0);
      mean_[j] = static_cast<float>(mean);
      inverse_deviation_[j] = Inverse(variance);
      moving_mean[j] = moving_mean[j] * keep + mean_[j] * add;
      moving_variance[j] = moving_variance[j] * keep + static_cast<float>(variance) * add;
    }
  }

  const PlanNode& node_;
  const Kernels& kernels_;
  const PlannedActivation activation_;
  const NormSizes s_;
  const int64_t columns_;
  const int64_t rows_;
  const size_t statistics_;  // index of the moving mean among the weights
  NormArgs args_;
  std::vector<float> mean_;
  std::vector<float> inverse_deviation_;
  std::vector<float> factor_;  // gamma / deviation
  std::vector<float> offset_;
  std::vector<float> by_x_;  // of the gradient
  std::vector<float> shift_;
  std::vector<float> block_sums_;  // of a block; of a team, of all
  // Of rows and of their squares; then of gradients and of their products with x - mean.
  std::vector<double> sums_;
};

}  // namespace

std::unique_ptr<PlannedOp> Plan(const BatchNormalization& layer, PlanNode* node) {
  NormSizes sizes;
  sizes.scale = layer.scale;
  sizes.center = layer.center;
  sizes.batch_statistics = node->training && layer.trainable();
  sizes.momentum = layer.momentum;
  sizes.epsilon = layer.epsilon;
  return std::make_unique<PlannedBatchNorm>(node, sizes);
}

}  // namespace layers
}  // namespace hopper
