// The bfloat16 shadow that the optimizer writes beside the weights.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bf16.h"
#include "base/philox.h"
#include "optim/optimizer.h"
#include "optim/optimizer_type.h"
#include "params/params.h"

namespace hopper {
namespace {

constexpr uint16_t kUntouched = 0x1234;

class Shadow : public testing::TestWithParam<std::string> {};

// Two tensors, one longer than what is written at a time, with a gap between them.
TEST_P(Shadow, HoldsTheNewWeightsAfterEachStep) {
  std::vector<ParamProblem> problems;
  const OptimizerParams optimizer =
      ParseCompileParams("loss='mse', optimizer='" + GetParam() + "'", &problems).optimizer;
  ASSERT_TRUE(problems.empty()) << problems.front().message;
  const std::vector<TrainableSpan> spans = {{16, 0, 5000, 0.001, 0.0}, {5056, 5008, 77, 0.0, 0.01}};
  const int64_t slot_size = 5088;
  const size_t flat_size = 5200;
  const Philox random(4, Purpose::kSearch, 0, 0);
  std::vector<float> params(flat_size), gradients(flat_size);
  for (size_t i = 0; i < flat_size; ++i) params[i] = random.Uniform(i) - 0.5F;
  std::vector<float> plain = params;
  std::vector<float> slots(static_cast<size_t>(SlotCount(optimizer) * slot_size));
  std::vector<float> plain_slots = slots;
  std::vector<uint16_t> shadow(flat_size, kUntouched);
  for (int64_t step = 0; step < 4; ++step) {
    for (size_t i = 0; i < flat_size; ++i) {
      gradients[i] = random.Uniform(static_cast<uint64_t>(step + 1) * 10000 + i) - 0.5F;
    }
    std::vector<float> plain_gradients = gradients;
    ApplyOptimizer(optimizer, step, spans, params.data(), gradients.data(), slots.data(), slot_size,
                   shadow.data());
    ApplyOptimizer(optimizer, step, spans, plain.data(), plain_gradients.data(), plain_slots.data(),
                   slot_size);
    EXPECT_EQ(params, plain) << "a shadow changes the weights";
    EXPECT_EQ(slots, plain_slots) << "a shadow changes the slots";
    for (size_t i = 0; i < flat_size; ++i) {
      const bool trained = (i >= 16 && i < 5016) || (i >= 5056 && i < 5133);
      ASSERT_EQ(shadow[i], trained ? ToBf16(params[i]) : kUntouched) << i << ", step " << step;
    }
  }
}

std::vector<std::string> AllNames() {
  std::vector<std::string> names;
  for (const OptimizerType& type : OptimizerTypes()) names.emplace_back(type.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Types, Shadow, testing::ValuesIn(AllNames()),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(
    All, Shadow,
    testing::Values("SGD(lr=0.1)", "SGD(lr=0.1, momentum=0.9, nesterov=True)",
                    "RMSprop(lr=0.01, centered=True, momentum=0.5)",
                    "Adam(lr=0.01, amsgrad=True, clipnorm=1.0)", "AdamW(lr=0.01, weight_decay=0.1)",
                    "Adagrad(lr=0.1)", "Adadelta(lr=1.0)", "Adamax(lr=0.01)", "Nadam(lr=0.01)",
                    "Ftrl(lr=0.1)", "Lion(lr=0.001)",
                    "SGD(lr=0.1, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=2)",
                    "Adam(lr=0.01, global_clipnorm=0.5)"),
    [](const auto& info) { return std::to_string(info.index); });

}  // namespace
}  // namespace hopper
