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

class PlannedBatchNorm : public PlannedOp {
 public:
  PlannedBatchNorm(PlanNode* node, const NormSizes& sizes)
      : node_(*node),
        kernels_(*node->kernels),
        activation_(node),
        s_(sizes),
        columns_(node->output->shape.back()),
        rows_(node->output->size / columns_),
        statistics_((sizes.scale ? 1 : 0) + (sizes.center ? 1 : 0)),
        mean_(columns_),
        inverse_deviation_(columns_),
        factor_(columns_),
        other_(columns_),
        shift_(columns_),
        part_(2 * columns_),
        block_sums_(node->team == nullptr ? 0 : (rows_ + kBlock - 1) / kBlock * 2 * columns_),
        sums_(columns_),
        both_(2 * columns_) {
    node->keeps_inputs = true;
    node->keeps_output = activation_.keeps_output();
  }

  void Forward(const StepArguments& step) override {
    const float* x = node_.inputs[0]->value->data;
    float* moving_mean = step.params + node_.weights[statistics_].offset;
    float* moving_variance = step.params + node_.weights[statistics_ + 1].offset;
    if (s_.batch_statistics) {
      TakeStatistics(x, moving_mean, moving_variance);
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
      shift_[j] = (beta == nullptr ? 0.0F : beta[j]) - mean_[j] * factor_[j];
    }
    float* y = node_.output->value->data;
    RunShares(node_.team, rows_, Work(), [&](int64_t first, int64_t last, int) {
      // What one writes the other finds in the first cache.
      const int64_t some = std::max<int64_t>(1, kInCache / columns_);
      for (; first < last; first += some) {
        const int64_t n = std::min(some, last - first);
        const int64_t at = first * columns_;
        kernels_.affine_rows(x + at, factor_.data(), shift_.data(), n, columns_, y + at);
        if (!activation_.none()) activation_.ForwardPart(at, n * columns_, y + at);
      }
    });
  }

  // With batch statistics, n rows, h = (x - mean) / deviation:
  //   dx = gamma / deviation * (dy - sum(dy) / n - h * sum(dy * h) / n)
  void Backward(const StepArguments& step) override {
    const float* x = node_.inputs[0]->value->data;
    float* dy = node_.output->gradient->data;
    // Block by block, so that what the first reads of dy the next ones find in a cache.
    Sum(&both_, [&](int64_t first, int64_t n, float* to) {
      if (!activation_.none()) {
        activation_.BackwardPart(first * columns_, n * columns_, dy + first * columns_);
      }
      kernels_.column_sums(dy + first * columns_, n, columns_, to);
      kernels_.column_products(x + first * columns_, mean_.data(), dy + first * columns_, nullptr,
                               n, columns_, to + columns_);
    });
    const double* sums = both_.data();
    const double* products = sums + columns_;
    if (s_.scale && node_.weights[0].trainable) {
      for (int64_t j = 0; j < columns_; ++j) {
        part_[j] = static_cast<float>(products[j]) * inverse_deviation_[j];
      }
      node_.DeliverGradient(part_.data(), columns_, 0, step);
    }
    const size_t beta = s_.scale ? 1 : 0;
    if (s_.center && node_.weights[beta].trainable) {
      for (int64_t j = 0; j < columns_; ++j) part_[j] = static_cast<float>(sums[j]);
      node_.DeliverGradient(part_.data(), columns_, beta, step);
    }
    if (!node_.InputNeedsGradient(0)) return;
    const double n = static_cast<double>(rows_);
    for (int64_t j = 0; j < columns_; ++j) {
      if (!s_.batch_statistics) {
        other_[j] = shift_[j] = 0.0F;
        continue;
      }
      const auto inverse = static_cast<double>(inverse_deviation_[j]);
      const auto factor = static_cast<double>(factor_[j]);
      const double by_x = -factor * inverse * inverse * products[j] / n;
      other_[j] = static_cast<float>(by_x);
      shift_[j] = static_cast<float>(-factor * sums[j] / n - by_x * static_cast<double>(mean_[j]));
    }
    float* dx = node_.inputs[0]->gradient->data;
    RunShares(node_.team, rows_, Work(), [&](int64_t first, int64_t last, int) {
      const int64_t at = first * columns_;
      kernels_.affine_rows_2(dy + at, factor_.data(), x + at, other_.data(), shift_.data(),
                             last - first, columns_, node_.input_accumulates[0] != 0, dx + at);
    });
  }

 private:
  float Inverse(double variance) const {
    return static_cast<float>(1.0 / std::sqrt(variance + s_.epsilon));
  }

  // Of one pass over all numbers; memory is what it waits for.
  double Work() const { return 4.0 * static_cast<double>(rows_ * columns_); }

  // Calls block(first row, rows, sums) for all blocks and adds up their sums, as many as `sums`
  // has.
  template <typename Block>
  void Sum(std::vector<double>* sums, const Block& block) {
    std::fill(sums->begin(), sums->end(), 0.0);
    const auto width = static_cast<int64_t>(sums->size());
    const auto add = [&](const float* part) {
      for (int64_t j = 0; j < width; ++j) (*sums)[j] += static_cast<double>(part[j]);
    };
    if (node_.team == nullptr) {
      for (int64_t first = 0; first < rows_; first += kBlock) {
        block(first, std::min(kBlock, rows_ - first), part_.data());
        add(part_.data());
      }
      return;
    }
    const int64_t blocks = (rows_ + kBlock - 1) / kBlock;
    RunShares(node_.team, blocks, Work(), [&](int64_t from, int64_t to, int) {
      for (int64_t b = from; b < to; ++b) {
        block(b * kBlock, std::min(kBlock, rows_ - b * kBlock), &block_sums_[b * width]);
      }
    });
    for (int64_t b = 0; b < blocks; ++b) add(&block_sums_[b * width]);
  }

  // Keras' rule: moving = moving * momentum + batch * (1 - momentum), with the biased variance.
  void TakeStatistics(const float* x, float* moving_mean, float* moving_variance) {
    const double n = static_cast<double>(rows_);
    Sum(&sums_, [&](int64_t first, int64_t count, float* to) {
      kernels_.column_sums(x + first * columns_, count, columns_, to);
    });
    for (int64_t j = 0; j < columns_; ++j) mean_[j] = static_cast<float>(sums_[j] / n);
    Sum(&sums_, [&](int64_t first, int64_t count, float* to) {
      const float* at = x + first * columns_;
      kernels_.column_products(at, mean_.data(), at, mean_.data(), count, columns_, to);
    });
    const auto keep = static_cast<float>(s_.momentum);
    const auto add = static_cast<float>(1.0 - s_.momentum);
    for (int64_t j = 0; j < columns_; ++j) {
      const double variance = sums_[j] / n;
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
  std::vector<float> mean_;
  std::vector<float> inverse_deviation_;
  std::vector<float> factor_;  // gamma / deviation
  std::vector<float> other_;
  std::vector<float> shift_;
  std::vector<float> part_;
  std::vector<float> block_sums_;  // [block][sums of a block], of a team
  std::vector<double> sums_;
  std::vector<double> both_;  // of gradients, then of their products with x - mean
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
