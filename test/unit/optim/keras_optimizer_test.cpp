// Ten steps of each optimizer against real Keras, fed with recorded gradients.
#include <gtest/gtest.h>

#include "baseline_table.h"
#include "optim/optimizer.h"
#include "optim/optimizer_type.h"
#include "params/params.h"

namespace hopper {
namespace {

const BaselineTable& Table() {
  static const BaselineTable table("keras_optimizers.safetensors");
  return table;
}

// The optimizer of a text or of the object that Keras writes.
OptimizerParams Parse(const std::string& optimizer) {
  std::vector<ParamProblem> problems;
  const OptimizerParams params =
      ParseCompileParams("{\"loss\": \"mse\", \"optimizer\": " + optimizer + "}", &problems)
          .optimizer;
  for (const ParamProblem& problem : problems) ADD_FAILURE() << problem.message;
  return params;
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
      span.l1 = the_case["l1"];
      span.l2 = the_case["l2"];
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

void TenSteps(const nlohmann::json& the_case, const OptimizerParams& optimizer) {
  Buffers buffers(the_case);
  std::vector<float> slots(SlotCount(optimizer) * buffers.slot_size, 0.0F);
  const std::vector<float>& initial = Table().Get(the_case, "initial").values;
  buffers.Put(initial, &buffers.params);
  if (the_case.contains("regularization")) {
    EXPECT_NEAR(RegularizationLoss(buffers.spans, buffers.params.data()),
                the_case["regularization"].get<double>(), 1e-6);
  }
  const auto row = [&](const char* what, int step) {
    const std::vector<float>& all = Table().Get(the_case, what).values;
    const auto size = static_cast<std::ptrdiff_t>(initial.size());
    return std::vector<float>(all.begin() + step * size, all.begin() + (step + 1) * size);
  };
  const int n_steps = 10;
  ASSERT_EQ(Table().Get(the_case, "after").values.size(), n_steps * initial.size());
  for (int step = 0; step < n_steps; ++step) {
    buffers.Put(row("gradients", step), &buffers.gradients);
    ApplyOptimizer(optimizer, step, buffers.spans, buffers.params.data(), buffers.gradients.data(),
                   slots.data(), buffers.slot_size);
    const std::vector<float> expected = row("after", step);
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
  if (optimizer.use_ema) {
    UseAverages(optimizer, n_steps, buffers.spans, slots.data(), buffers.slot_size,
                buffers.params.data());
    EXPECT_LE(RelativeDifference(buffers.Take().data(), Table().Get(the_case, "kept").values),
              1e-6);
  }
  // Nothing between the weights was written.
  size_t written = 0;
  for (float value : buffers.params) written += value != Buffers::kUntouched;
  EXPECT_EQ(written, initial.size());
}

TEST_P(KerasOptimizer, TenStepsFromText) {
  TenSteps(GetParam(), Parse(nlohmann::json(GetParam()["text"]).dump()));
}

TEST_P(KerasOptimizer, TenStepsFromKerasObject) {
  TenSteps(GetParam(), Parse(GetParam()["config"].dump()));
}

INSTANTIATE_TEST_SUITE_P(All, KerasOptimizer,
                         testing::ValuesIn(Table().cases().begin(), Table().cases().end()),
                         [](const auto& info) { return CaseName(info.param); });

TEST(Optimizer, SlotsAndNames) {
  OptimizerParams optimizer = DefaultOptimizer("Sgd");
  EXPECT_EQ(SlotCount(optimizer), 0);
  optimizer.Own("momentum") = 0.5;
  EXPECT_EQ(SlotCount(optimizer), 1);
  optimizer = DefaultOptimizer("Rmsprop");
  optimizer.Own("momentum") = 0.5;
  optimizer.Own("centered") = true;
  EXPECT_EQ(SlotCount(optimizer), 3);
  optimizer = DefaultOptimizer("Adam");
  EXPECT_EQ(SlotCount(optimizer), 2);
  optimizer.Own("amsgrad") = true;
  EXPECT_EQ(SlotCount(optimizer), 3);
  EXPECT_STREQ(OptimizerName(DefaultOptimizer("rmsprop")), "RMSprop");
  EXPECT_EQ(SlotNames(optimizer), "Adam amsgrad");
  optimizer.use_ema = true;
  EXPECT_EQ(SlotCount(optimizer), 4);
  EXPECT_EQ(SlotNames(optimizer), "Adam amsgrad ema");
  // As many slots, and others: their names differ.
  optimizer = DefaultOptimizer("RMSprop");
  optimizer.Own("centered") = true;
  EXPECT_EQ(SlotNames(optimizer), "RMSprop centered");
  optimizer.Own("centered") = false;
  optimizer.Own("momentum") = 0.1;
  EXPECT_EQ(SlotNames(optimizer), "RMSprop momentum");
}

// Training looks for NaN in the weights after a visit.
TEST(Optimizer, NanReachesTheWeights) {
  for (const OptimizerType& type : OptimizerTypes()) {
    OptimizerParams optimizer = DefaultOptimizer(type);
    TrainableSpan span;
    span.size = 20;
    std::vector<float> params(20, 1.0F);
    std::vector<float> slots(SlotCount(optimizer) * 20);
    for (int step = 0; step < 3; ++step) {
      std::vector<float> gradients(20, 0.5F);
      if (step == 1) gradients[7] = NAN;
      ApplyOptimizer(optimizer, step, {span}, params.data(), gradients.data(), slots.data(), 20);
    }
    EXPECT_TRUE(std::isnan(params[7])) << type.name;
    EXPECT_FALSE(std::isnan(params[8])) << type.name;
  }
}

// After very many steps, as after a few: nothing overflows, no rate becomes NaN.
TEST(Optimizer, ManySteps) {
  for (const OptimizerType& type : OptimizerTypes()) {
    OptimizerParams optimizer = DefaultOptimizer(type);
    TrainableSpan span;
    span.size = 4;
    std::vector<float> params(4, 1.0F);
    std::vector<float> slots(SlotCount(optimizer) * 4, 0.5F);
    for (const int64_t step : {int64_t{1} << 20, int64_t{1} << 31, int64_t{1} << 40}) {
      std::vector<float> gradients(4, 0.25F);
      ApplyOptimizer(optimizer, step, {span}, params.data(), gradients.data(), slots.data(), 4);
      EXPECT_TRUE(std::isfinite(params[0])) << type.name << " step " << step;
    }
  }
}

// A weight with factors goes as one alone whose optimizer has them in its rate and its decay.
TEST(Optimizer, FactorsAreThoseOfTheRateAndTheDecay) {
  for (const OptimizerType& type : OptimizerTypes()) {
    OptimizerParams optimizer = DefaultOptimizer(type);
    optimizer.learning_rate = 0.01;
    optimizer.weight_decay = 0.25;
    OptimizerParams own = optimizer;
    own.learning_rate = 0.04;
    own.weight_decay = 0.125;
    std::vector<TrainableSpan> spans(3);
    for (int i = 0; i < 3; ++i) {
      spans[i].size = 5;
      spans[i].offset = spans[i].slot_offset = 16 * i;
    }
    spans[1].lr_factor = 4.0;
    spans[1].decay_factor = 0.5;
    TrainableSpan alone;
    alone.size = 5;
    const auto size = static_cast<size_t>(SlotCount(optimizer));
    std::vector<float> params(48, 0.5F), slots(size * 48), single(5, 0.5F), single_slots(size * 16);
    for (int64_t step = 0; step < 4; ++step) {
      std::vector<float> gradients(48, 0.1F), single_gradients(5, 0.1F);
      ApplyOptimizer(optimizer, step, spans, params.data(), gradients.data(), slots.data(), 48);
      ApplyOptimizer(own, step, {alone}, single.data(), single_gradients.data(),
                     single_slots.data(), 16);
    }
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_FLOAT_EQ(params[16 + i], single[i]) << type.name;
      EXPECT_EQ(params[i], params[32 + i]) << type.name;
    }
    EXPECT_NE(params[0], params[16]) << type.name;
  }
}

// A NaN must reach the weights, where training looks for it, whatever the clipping.
TEST(Optimizer, ClippingKeepsNan) {
  for (auto limit : {&OptimizerParams::clipnorm, &OptimizerParams::clipvalue,
                     &OptimizerParams::global_clipnorm}) {
    OptimizerParams optimizer = DefaultOptimizer("Sgd");
    optimizer.*limit = 1.0;
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
  OptimizerParams optimizer = DefaultOptimizer("Adam");
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
