// An optimizer step that a team shares.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/philox.h"
#include "base/team.h"
#include "optim/optimizer.h"
#include "optim/optimizer_type.h"
#include "params/params.h"

namespace hopper {
namespace {

class TeamUpdate : public testing::TestWithParam<std::string> {};

// Tensors of sizes that no number of members divides; shares end within and between them.
TEST_P(TeamUpdate, HasTheBitsOfOneThread) {
  std::vector<ParamProblem> problems;
  const OptimizerParams optimizer =
      ParseCompileParams("loss='mse', optimizer='" + GetParam() + "'", &problems).optimizer;
  ASSERT_TRUE(problems.empty()) << problems.front().message;
  const std::vector<TrainableSpan> spans = {
      {16, 0, 50001, 0.001, 0.0}, {50032, 50016, 7, 0.0, 0.0}, {50048, 50032, 33333, 0.0, 0.01}};
  const int64_t slot_size = 83376;
  const size_t flat_size = 83392;
  struct Buffers {
    std::vector<float> params, gradients, slots;
    std::vector<uint16_t> shadow;
    bool operator==(const Buffers& other) const {
      return params == other.params && gradients == other.gradients && slots == other.slots &&
             shadow == other.shadow;
    }
  };
  const Philox random(6, Purpose::kSearch, 0, 0);
  Buffers alone;
  alone.params.resize(flat_size);
  alone.gradients.resize(flat_size);
  alone.shadow.resize(flat_size);
  alone.slots.resize(static_cast<size_t>(SlotCount(optimizer) * slot_size));
  for (size_t i = 0; i < flat_size; ++i) alone.params[i] = random.Uniform(i) - 0.5F;
  const Buffers start = alone;
  for (const int members : {2, 3, 7}) {
    for (const bool with_shadow : {false, true}) {
      Team team(members, [] {});
      alone = start;
      Buffers shared = start;
      for (int64_t step = 0; step < 3; ++step) {
        for (size_t i = 0; i < flat_size; ++i) {
          const auto at = static_cast<uint64_t>(step + 1) * 100000 + i;
          alone.gradients[i] = shared.gradients[i] = random.Uniform(at) - 0.5F;
        }
        ApplyOptimizer(optimizer, step, spans, alone.params.data(), alone.gradients.data(),
                       alone.slots.data(), slot_size, with_shadow ? alone.shadow.data() : nullptr);
        ApplyOptimizer(optimizer, step, spans, shared.params.data(), shared.gradients.data(),
                       shared.slots.data(), slot_size, with_shadow ? shared.shadow.data() : nullptr,
                       &team);
        ASSERT_TRUE(shared == alone) << members << " members, step " << step;
      }
      EXPECT_NE(alone.params, start.params);
    }
  }
}

std::vector<std::string> TeamNames() {
  std::vector<std::string> names;
  for (const OptimizerType& type : OptimizerTypes()) names.emplace_back(type.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Types, TeamUpdate, testing::ValuesIn(TeamNames()),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(
    All, TeamUpdate,
    testing::Values("SGD(lr=0.1)", "SGD(lr=0.1, momentum=0.9)",
                    "SGD(lr=0.1, momentum=0.9, nesterov=True, clipvalue=0.2)", "RMSprop(lr=0.01)",
                    "RMSprop(lr=0.01, momentum=0.5)", "RMSprop(lr=0.01, centered=True)",
                    "RMSprop(lr=0.01, centered=True, momentum=0.5)", "Adam(lr=0.01)",
                    "Adam(lr=0.01, amsgrad=True, clipnorm=1.0)", "AdamW(lr=0.01, weight_decay=0.1)",
                    "Adagrad(lr=0.1)", "Adadelta(lr=1.0)", "Adamax(lr=0.01)", "Nadam(lr=0.01)",
                    "Ftrl(lr=0.1)", "Ftrl(lr=0.1, learning_rate_power=-0.3)", "Lion(lr=0.001)",
                    "SGD(lr=0.1, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=2)",
                    "Adam(lr=0.01, global_clipnorm=0.5)"));

}  // namespace
}  // namespace hopper
