// Ten steps of each optimizer against real Keras, fed with recorded gradients.
#include <gtest/gtest.h>

#include "baseline_table.h"
#include "optim/optimizer.h"

namespace hopper {
namespace {

const BaselineTable& Table() {
  static const BaselineTable table("keras_optimizers.safetensors");
  return table;
}

OptimizerParams Optimizer(const nlohmann::json& the_case) {
  OptimizerParams optimizer;
  const std::string name = the_case["optimizer"];
  const nlohmann::json& options = the_case["options"];
  optimizer.kind = name == "SGD"       ? OptimizerKind::kSgd
                   : name == "RMSprop" ? OptimizerKind::kRmsprop
                                       : OptimizerKind::kAdam;
  optimizer.learning_rate = options["learning_rate"];
  optimizer.momentum = options.value("momentum", 0.0);
  optimizer.nesterov = options.value("nesterov", false);
  optimizer.rho = options.value("rho", 0.9);
  optimizer.centered = options.value("centered", false);
  optimizer.beta_1 = options.value("beta_1", 0.9);
  optimizer.beta_2 = options.value("beta_2", 0.999);
  optimizer.epsilon = options.value("epsilon", 1e-7);
  optimizer.amsgrad = options.value("amsgrad", false);
  optimizer.decay = options.value("decay", 0.0);
  if (options.contains("clipnorm")) optimizer.clipnorm = options["clipnorm"].get<double>();
  if (options.contains("clipvalue")) optimizer.clipvalue = options["clipvalue"].get<double>();
  return optimizer;
}

// The tensors of a case in buffers with gaps: each starts at a multiple of 16 floats, and the
// slots lie elsewhere than the weights.
struct Buffers {
  explicit Buffers(const nlohmann::json& the_case) {
    const auto sizes = the_case["sizes"].get<std::vector<int64_t>>();
    int64_t offset = 16;
    int64_t slot_offset = 0;
    for (int64_t size : sizes) {
      TrainableSpan span;
      span.offset = offset;
      span.slot_offset = slot_offset;
      span.size = size;
      span.l1 = the_case["options"].value("l1", 0.0);
      span.l2 = the_case["options"].value("l2", 0.0);
      spans.push_back(span);
      offset += (size + 15) / 16 * 16 + 16;
      slot_offset += (size + 15) / 16 * 16;
    }
    params.assign(offset, kUntouched);
    gradients.assign(offset, kUntouched);
    slot_size = slot_offset;
  }

  void Put(const std::vector<float>& values, std::vector<float>* buffer) const {
    size_t next = 0;
    for (const TrainableSpan& span : spans) {
      std::copy_n(values.data() + next, span.size, buffer->data() + span.offset);
      next += span.size;
    }
  }

  std::vector<float> Take() const {
    std::vector<float> values;
    for (const TrainableSpan& span : spans) {
      values.insert(values.end(), params.begin() + span.offset,
                    params.begin() + span.offset + span.size);
    }
    return values;
  }

  static constexpr float kUntouched = -12345.0F;
  std::vector<TrainableSpan> spans;
  std::vector<float> params;
  std::vector<float> gradients;
  int64_t slot_size = 0;
};

class KerasOptimizer : public testing::TestWithParam<nlohmann::json> {};

TEST_P(KerasOptimizer, TenSteps) {
  const nlohmann::json& the_case = GetParam();
  const OptimizerParams optimizer = Optimizer(the_case);
  Buffers buffers(the_case);
  std::vector<float> slots(SlotCount(optimizer) * buffers.slot_size, 0.0F);
  const std::vector<float>& initial = Table().Get(the_case, "initial").values;
  buffers.Put(initial, &buffers.params);
  if (the_case.contains("regularization")) {
    EXPECT_NEAR(RegularizationLoss(buffers.spans, buffers.params.data()),
                the_case["regularization"].get<double>(), 1e-6);
  }
  const int n_steps = BaselineTable::Count(the_case, "gradients");
  ASSERT_EQ(n_steps, 10);
  for (int step = 0; step < n_steps; ++step) {
    buffers.Put(Table().Get(the_case, "gradients", step).values, &buffers.gradients);
    ApplyOptimizer(optimizer, step, buffers.spans, buffers.params.data(), buffers.gradients.data(),
                   slots.data(), buffers.slot_size);
    const std::vector<float>& expected = Table().Get(the_case, "after", step).values;
    const std::vector<float> actual = buffers.Take();
    EXPECT_LE(RelativeDifference(actual.data(), expected), 1e-6) << "step " << step;
    // The way covered, which small learning rates hide behind the weights.
    std::vector<float> moved(actual.size());
    std::vector<float> expected_move(actual.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      moved[i] = actual[i] - initial[i];
      expected_move[i] = expected[i] - initial[i];
    }
    EXPECT_LE(RelativeDifference(moved.data(), expected_move), 3e-5) << "step " << step;
  }
  // Nothing between the weights was written.
  size_t written = 0;
  for (float value : buffers.params) written += value != Buffers::kUntouched;
  EXPECT_EQ(written, initial.size());
}

INSTANTIATE_TEST_SUITE_P(All, KerasOptimizer,
                         testing::ValuesIn(Table().cases().begin(), Table().cases().end()),
                         [](const auto& info) { return CaseName(info.param); });

TEST(Optimizer, SlotsAndNames) {
  OptimizerParams optimizer;
  optimizer.kind = OptimizerKind::kSgd;
  EXPECT_EQ(SlotCount(optimizer), 0);
  optimizer.momentum = 0.5;
  EXPECT_EQ(SlotCount(optimizer), 1);
  optimizer.kind = OptimizerKind::kRmsprop;
  optimizer.centered = true;
  EXPECT_EQ(SlotCount(optimizer), 3);
  optimizer.kind = OptimizerKind::kAdam;
  EXPECT_EQ(SlotCount(optimizer), 2);
  optimizer.amsgrad = true;
  EXPECT_EQ(SlotCount(optimizer), 3);
  EXPECT_STREQ(OptimizerName(OptimizerKind::kRmsprop), "RMSprop");
}

// A NaN must reach the weights, where training looks for it, whatever the clipping.
TEST(Optimizer, ClippingKeepsNan) {
  for (bool by_norm : {false, true}) {
    OptimizerParams optimizer;
    optimizer.kind = OptimizerKind::kSgd;
    (by_norm ? optimizer.clipnorm : optimizer.clipvalue) = 1.0;
    TrainableSpan span;
    span.size = 20;
    std::vector<float> params(20, 1.0F);
    std::vector<float> gradients(20, 0.5F);
    gradients[7] = NAN;
    ApplyOptimizer(optimizer, 0, {span}, params.data(), gradients.data(), nullptr, 0);
    EXPECT_TRUE(std::isnan(params[7]));
  }
}

// The bits do not depend on where a span starts or on how long it is.
TEST(Optimizer, SameBitsAtAnyLengthAndOffset) {
  OptimizerParams optimizer;
  optimizer.kind = OptimizerKind::kAdam;
  const int n = 101;
  std::vector<float> values(n);
  std::vector<float> gradients(n);
  for (int i = 0; i < n; ++i) {
    values[i] = std::sin(static_cast<float>(i));
    gradients[i] = std::cos(static_cast<float>(3 * i));
  }
  const auto run = [&](const std::vector<TrainableSpan>& spans) {
    std::vector<float> params = values;
    std::vector<float> slots(2 * n, 0.01F);
    for (int step = 0; step < 3; ++step) {
      std::vector<float> scratch = gradients;
      ApplyOptimizer(optimizer, step, spans, params.data(), scratch.data(), slots.data(), n);
    }
    return params;
  };
  std::vector<TrainableSpan> pieces;
  for (int first = 0, size = 1; first < n; first += size, size += 3) {
    TrainableSpan span;
    span.offset = span.slot_offset = first;
    span.size = std::min(size, n - first);
    pieces.push_back(span);
  }
  TrainableSpan whole;
  whole.size = n;
  const std::vector<float> a = run({whole});
  const std::vector<float> b = run(pieces);
  EXPECT_EQ(std::memcmp(a.data(), b.data(), n * sizeof(float)), 0);
}

}  // namespace
}  // namespace hopper
