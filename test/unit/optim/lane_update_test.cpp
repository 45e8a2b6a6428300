// The optimizer step for models side by side against ApplyOptimizer(), whose own oracle is Keras.
#include "optim/lane_update.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "base/bf16.h"
#include "base/philox.h"

namespace hopper {
namespace {

std::vector<OptimizerParams> ManyOptimizers() {
  std::vector<OptimizerParams> all;
  for (const OptimizerType& type : OptimizerTypes()) {
    all.push_back(DefaultOptimizer(type));
    all.back().learning_rate = 0.003 * static_cast<double>(all.size());
  }
  OptimizerParams optimizer = DefaultOptimizer("Sgd");
  optimizer.Own("momentum") = 0.9;
  all.push_back(optimizer);
  optimizer.Own("nesterov") = true;
  optimizer.decay = 0.1;
  optimizer.clipvalue = 0.5;
  all.push_back(optimizer);
  optimizer = DefaultOptimizer("Rmsprop");
  optimizer.Own("centered") = true;
  all.push_back(optimizer);
  optimizer.Own("momentum") = 0.5;
  all.push_back(optimizer);
  optimizer.Own("centered") = false;
  all.push_back(optimizer);
  optimizer = DefaultOptimizer("Adam");
  optimizer.Own("amsgrad") = true;
  optimizer.weight_decay = 0.02;
  optimizer.weight_decay_schedule.kind = ScheduleKind::kFlatCosine;
  optimizer.weight_decay_schedule.decay_steps = 4;
  optimizer.use_ema = true;
  optimizer.ema_overwrite_frequency = 2;
  all.push_back(optimizer);
  optimizer = DefaultOptimizer("Ftrl");
  optimizer.Own("learning_rate_power") = -0.3;
  optimizer.Own("l1_regularization_strength") = 0.01;
  all.push_back(optimizer);
  return all;
}

// All optimizers at once, each in a lane of its own.
class LaneUpdateTest : public ::testing::Test {
 protected:
  void Run(std::vector<OptimizerParams> optimizers, double tolerance) {
    const auto lanes = static_cast<int>(optimizers.size());
    std::vector<TrainableSpan> spans = {
        {16, 0, 37, 0.0, 0.0}, {64, 48, 5, 0.002, 0.0}, {96, 64, 130, 0.0, 0.03}};
    spans[0].lr_factor = 6.0;
    spans[0].decay_factor = 0.5;
    spans[1].lr_factor = 0.1;
    spans[1].decay_factor = 0.0;
    const std::vector<double> factors = LrFactors(spans);
    constexpr int64_t kFlat = 240, kSlots = 208, kMaxSlots = 4;
    const Philox random(5, Purpose::kPack, 0, 0);
    std::vector<float> params(static_cast<size_t>(lanes * kFlat));
    for (size_t i = 0; i < params.size(); ++i) params[i] = random.Uniform(i) - 0.5F;
    std::vector<float> expected = params;
    std::vector<float> slots(static_cast<size_t>(lanes * kMaxSlots * kSlots), 0.0F);
    std::vector<float> expected_slots = slots;
    std::vector<uint16_t> shadow(params.size(), 0);
    const std::vector<LaneSpan> lane_spans = MakeLaneSpans(spans);
    std::vector<LaneRule> rules;
    for (const OptimizerParams& optimizer : optimizers) rules.push_back(MakeLaneRule(optimizer));
    LaneUpdate update;
    update.lanes = lanes;
    update.n_spans = static_cast<int32_t>(spans.size());
    update.n_slots = kMaxSlots;
    update.clips = 1;
    update.flat_size = kFlat;
    update.slot_size = kSlots;
    update.spans = lane_spans.data();
    update.rules = rules.data();
    update.params = params.data();
    update.slots = slots.data();
    update.shadow = shadow.data();
    // Lanes have taken different numbers of steps before.
    constexpr int kSteps = 5;
    std::vector<LaneScalars> table;
    for (int step = 0; step < kSteps; ++step) {
      for (int lane = 0; lane < lanes; ++lane) {
        for (const double factor : factors) {
          table.push_back(MakeLaneScalars(optimizers[static_cast<size_t>(lane)],
                                          step + (lane % 3) * 7, factor));
        }
      }
    }
    update.table = table.data();
    update.n_rates = static_cast<int32_t>(factors.size());
    for (int64_t step = 0; step < kSteps; ++step) {
      std::vector<float> gradients(params.size());
      for (size_t i = 0; i < gradients.size(); ++i) {
        gradients[i] = random.Uniform(100000 * static_cast<size_t>(step + 1) + i) * 4.0F - 2.0F;
      }
      std::vector<float> scratch = gradients;
      update.gradients = scratch.data();
      update.row = &step;
      UpdateLanes(update);
      for (int lane = 0; lane < lanes; ++lane) {
        ApplyOptimizer(optimizers[static_cast<size_t>(lane)], step + (lane % 3) * 7, spans,
                       expected.data() + lane * kFlat, gradients.data() + lane * kFlat,
                       expected_slots.data() + lane * kMaxSlots * kSlots, kSlots);
      }
      for (int lane = 0; lane < lanes; ++lane) {
        for (int64_t i = 0; i < kFlat; ++i) {
          const float a = params[static_cast<size_t>(lane * kFlat + i)];
          const float e = expected[static_cast<size_t>(lane * kFlat + i)];
          ASSERT_LE(std::fabs(a - e), tolerance)
              << OptimizerName(optimizers[static_cast<size_t>(lane)]) << " lane " << lane
              << " float " << i << " step " << step;
        }
      }
    }
    if (tolerance == 0.0) {
      EXPECT_EQ(std::memcmp(slots.data(), expected_slots.data(), slots.size() * sizeof(float)), 0);
    }
    for (const TrainableSpan& span : spans) {
      EXPECT_EQ(shadow[static_cast<size_t>(span.offset)],
                ToBf16(params[static_cast<size_t>(span.offset)]));
    }
    EXPECT_EQ(shadow[0], 0);  // between the weights
  }
};

TEST_F(LaneUpdateTest, EveryOptimizerHasTheBitsOfApplyOptimizer) {
  std::vector<OptimizerParams> optimizers;
  for (const OptimizerParams& optimizer : ManyOptimizers()) {
    // Norms are summed in another order.
    if (!KernelAt(KernelPlace(optimizer)).by_norms) optimizers.push_back(optimizer);
  }
  Run(optimizers, 0.0);
}

TEST_F(LaneUpdateTest, ClipsByNormAsApplyOptimizer) {
  std::vector<OptimizerParams> optimizers = ManyOptimizers();
  for (size_t i = 0; i < optimizers.size(); ++i) {
    if (i % 3 == 0) optimizers[i].clipnorm = 0.7;
    if (i % 3 == 1) optimizers[i].global_clipnorm = 1.5;
  }
  Run(optimizers, 1e-6);
}

}  // namespace
}  // namespace hopper
