#include "state/state.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "base/error.h"

namespace hopper {
namespace {

// Three weights with padding between them; the second is not trainable.
StateLayout Layout() {
  StateLayout layout;
  layout.architecture = Hash("architecture", 12);
  layout.weights = {{0, 6, 0}, {16, 3, -1}, {32, 17, 16}};
  layout.flat_size = 64;
  layout.slot_size = 48;
  return layout;
}

ModelState State(float padding = 0.0F) {
  const StateLayout layout = Layout();
  ModelState state;
  state.architecture = layout.architecture;
  state.numerics_class = "torch 2.11.0, AVX512, fp32, autograd, 1 thread";
  state.optimizer = "Adam";
  state.n_slots = 2;
  state.iteration = 3;
  state.step = 1234567890123;
  state.examples = 98765;
  state.params = AlignedArray<float>(64);
  state.slots = AlignedArray<float>(96);
  for (size_t i = 0; i < 64; ++i) state.params[i] = padding;
  for (size_t i = 0; i < 96; ++i) state.slots[i] = padding;
  float value = 0.5F;
  for (const auto& weight : layout.weights) {
    for (int64_t i = 0; i < weight.size; ++i) {
      state.params[weight.offset + i] = value += 0.25F;
      if (weight.slot_offset < 0) continue;
      state.slots[weight.slot_offset + i] = -value;
      state.slots[48 + weight.slot_offset + i] = value * 1e-30F;
    }
  }
  state.params[0] = -0.0F;
  state.params[1] = std::numeric_limits<float>::denorm_min();
  return state;
}

ErrorCode CodeOf(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& e) {
    return e.code();
  }
  return ErrorCode::kInternal;
}

TEST(State, SurvivesWritingAndReading) {
  const ModelState before = State();
  const std::vector<uint8_t> image = WriteState(Layout(), before);
  const ModelState after = ReadState(Layout(), image.data(), image.size());
  EXPECT_EQ(after.architecture, before.architecture);
  EXPECT_EQ(after.numerics_class, before.numerics_class);
  EXPECT_EQ(after.optimizer, before.optimizer);
  EXPECT_EQ(after.n_slots, before.n_slots);
  EXPECT_EQ(after.iteration, before.iteration);
  EXPECT_EQ(after.step, before.step);
  EXPECT_EQ(after.examples, before.examples);
  ASSERT_EQ(after.params.size(), before.params.size());
  ASSERT_EQ(after.slots.size(), before.slots.size());
  EXPECT_EQ(std::memcmp(after.params.data(), before.params.data(), 64 * sizeof(float)), 0);
  EXPECT_EQ(std::memcmp(after.slots.data(), before.slots.data(), 96 * sizeof(float)), 0);
}

TEST(State, EqualStatesHaveEqualImages) {
  const std::vector<uint8_t> image = WriteState(Layout(), State());
  EXPECT_EQ(image, WriteState(Layout(), State().Clone()));
  // What stands between the weights is nobody's business.
  EXPECT_EQ(image, WriteState(Layout(), State(7.0F)));
}

TEST(State, EveryFieldReachesTheDigest) {
  const std::vector<uint8_t> image = WriteState(Layout(), State());
  const Digest digest = VerifyState(image.data(), image.size());
  const std::vector<std::function<void(ModelState*)>> changes = {
      [](ModelState* s) { s->architecture.bytes[0] ^= 1; },
      [](ModelState* s) { s->numerics_class += "s"; },
      [](ModelState* s) { s->optimizer = "SGD"; },
      [](ModelState* s) { ++s->iteration; },
      [](ModelState* s) { ++s->step; },
      [](ModelState* s) { ++s->examples; },
      [](ModelState* s) { s->params[0] = 0.0F; },
      [](ModelState* s) { s->params[48] += 1.0F; },
      [](ModelState* s) { s->slots[0] += 1.0F; },
      [](ModelState* s) { s->slots[48 + 32] += 1.0F; },
  };
  for (const auto& change : changes) {
    ModelState state = State();
    change(&state);
    const std::vector<uint8_t> other = WriteState(Layout(), state);
    EXPECT_NE(VerifyState(other.data(), other.size()), digest);
  }
}

TEST(State, AFlippedBitAnywhereIsNoticed) {
  std::vector<uint8_t> image = WriteState(Layout(), State());
  for (size_t i = 0; i < image.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      image[i] = static_cast<uint8_t>(image[i] ^ (1 << bit));
      EXPECT_EQ(CodeOf([&] { VerifyState(image.data(), image.size()); }), ErrorCode::kCorrupt);
      EXPECT_EQ(CodeOf([&] { ReadState(Layout(), image.data(), image.size()); }),
                ErrorCode::kCorrupt);
      image[i] = static_cast<uint8_t>(image[i] ^ (1 << bit));
    }
  }
  VerifyState(image.data(), image.size());
}

TEST(State, ACutImageIsNoticed) {
  const std::vector<uint8_t> image = WriteState(Layout(), State());
  for (size_t size = 0; size < image.size(); ++size) {
    EXPECT_EQ(CodeOf([&] { VerifyState(image.data(), size); }), ErrorCode::kCorrupt);
  }
  EXPECT_EQ(CodeOf([] { VerifyState(nullptr, 0); }), ErrorCode::kCorrupt);
}

TEST(State, AnotherArchitectureIsRefused) {
  const std::vector<uint8_t> image = WriteState(Layout(), State());
  const auto code = [&](const std::function<void(StateLayout*)>& change) {
    StateLayout layout = Layout();
    change(&layout);
    return CodeOf([&] { ReadState(layout, image.data(), image.size()); });
  };
  EXPECT_EQ(code([](StateLayout* l) { l->architecture.bytes[3] ^= 1; }),
            ErrorCode::kInvalidParameter);
  EXPECT_EQ(code([](StateLayout* l) { l->weights[1].size = 4; }), ErrorCode::kInvalidParameter);
  EXPECT_EQ(code([](StateLayout* l) { l->weights.pop_back(); }), ErrorCode::kInvalidParameter);
  EXPECT_EQ(code([](StateLayout* l) { l->weights[1].slot_offset = 0; }),
            ErrorCode::kInvalidParameter);
}

TEST(State, AStateThatDoesNotFitItsLayoutIsNotWritten) {
  ModelState state = State();
  state.slots = AlignedArray<float>(48);
  EXPECT_THROW(WriteState(Layout(), state), Error);
}

}  // namespace
}  // namespace hopper
