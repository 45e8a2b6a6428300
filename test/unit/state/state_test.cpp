#include "state/state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "base/error.h"
#include "state/iterations.h"

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

// With what early stopping and ReduceLROnPlateau remember.
ModelState Monitored() {
  ModelState state = State();
  MonitorState& monitor = state.monitor;
  monitor.stop_rule = "val_loss min 0.0 from 0";
  monitor.has_best = true;
  monitor.best = 0.125;
  monitor.best_iteration = 2;
  monitor.wait = 1;
  monitor.stopped_by = 1;
  monitor.plateau_rule = "loss min 0.0001";
  monitor.plateau_has_best = true;
  monitor.plateau_best = 0.25;
  monitor.plateau_wait = 3;
  monitor.cooldown = 4;
  monitor.reduced = true;
  monitor.learning_rate = 0.0625F;
  monitor.best_weights = AlignedArray<float>(64);
  for (const auto& weight : Layout().weights) {
    for (int64_t i = 0; i < weight.size; ++i) {
      monitor.best_weights[weight.offset + i] = static_cast<float>(weight.offset + i);
    }
  }
  return state;
}

uint32_t VersionOf(const std::vector<uint8_t>& image) {
  uint32_t version = 0;
  std::memcpy(&version, image.data() + 8, sizeof(version));
  return version;
}

TEST(State, PiecesOfAnySizeAreTheSame) {
  for (const bool monitored : {false, true}) {
    const ModelState state = monitored ? Monitored() : State();
    const std::vector<uint8_t> image = WriteState(Layout(), state);
    for (const size_t piece : {size_t{1}, size_t{7}, size_t{64}, image.size(), 2 * image.size()}) {
      StateWriter writer(Layout(), state);
      EXPECT_EQ(writer.size(), image.size());
      std::vector<uint8_t> written;
      std::vector<uint8_t> bytes(piece);
      for (size_t n = 0; (n = writer.Read(bytes.data(), piece)) > 0;) {
        written.insert(written.end(), bytes.begin(), bytes.begin() + static_cast<long>(n));
      }
      EXPECT_EQ(written, image) << piece;
      EXPECT_EQ(writer.digest(), VerifyState(image.data(), image.size()));

      StateReader reader(Layout(), image.size());
      for (size_t at = 0; at < image.size(); at += piece) {
        EXPECT_FALSE(reader.complete());
        reader.Add(image.data() + at, std::min(piece, image.size() - at));
      }
      ASSERT_TRUE(reader.complete());
      EXPECT_EQ(WriteState(Layout(), reader.Finish()), image) << piece;
    }
  }
}

TEST(State, DamageInPiecesIsFound) {
  const std::vector<uint8_t> image = WriteState(Layout(), Monitored());
  for (size_t i = 0; i < image.size(); ++i) {
    std::vector<uint8_t> damaged = image;
    damaged[i] ^= 0x40;
    EXPECT_EQ(CodeOf([&] {
                StateReader reader(Layout(), damaged.size());
                for (size_t at = 0; at < damaged.size(); at += 11) {
                  reader.Add(damaged.data() + at, std::min<size_t>(11, damaged.size() - at));
                }
                reader.Finish();
              }),
              ErrorCode::kCorrupt)
        << i;
  }
  StateReader longer(Layout(), image.size());
  longer.Add(image.data(), image.size());
  EXPECT_EQ(CodeOf([&] { longer.Add(image.data(), 1); }), ErrorCode::kCorrupt);
  StateReader shorter(Layout(), image.size());
  shorter.Add(image.data(), image.size() - 1);
  EXPECT_EQ(CodeOf([&] { shorter.Finish(); }), ErrorCode::kCorrupt);
}

TEST(State, SlotsOfAnotherOptimizerTakeNoMemory) {
  const ModelState before = Monitored();
  ASSERT_GT(before.n_slots, 0);
  const std::vector<uint8_t> image = WriteState(Layout(), before);
  const auto read = [&](const std::string& optimizer, int32_t n_slots) {
    return ReadState(Layout(), image.data(), image.size(), optimizer, n_slots);
  };
  EXPECT_EQ(read(before.optimizer, before.n_slots).slots.size(), before.slots.size());
  for (const ModelState& state :
       {read("Other", before.n_slots), read(before.optimizer, before.n_slots + 1)}) {
    EXPECT_EQ(state.slots.size(), 0U);
    EXPECT_EQ(state.optimizer, before.optimizer);
    EXPECT_EQ(state.n_slots, before.n_slots);
    EXPECT_EQ(state.step, before.step);
    EXPECT_TRUE(std::equal(state.params.data(), state.params.data() + state.params.size(),
                           before.params.data()));
    EXPECT_EQ(state.monitor.stop_rule, before.monitor.stop_rule);
    EXPECT_EQ(state.monitor.best, before.monitor.best);
  }
}

TEST(State, TheMonitorSurvivesWritingAndReading) {
  EXPECT_EQ(VersionOf(WriteState(Layout(), State())), 1U);
  const ModelState before = Monitored();
  const std::vector<uint8_t> image = WriteState(Layout(), before);
  EXPECT_EQ(VersionOf(image), 2U);
  EXPECT_EQ(image, WriteState(Layout(), before.Clone()));
  const ModelState read = ReadState(Layout(), image.data(), image.size());
  const MonitorState &a = read.monitor, &b = before.monitor;
  EXPECT_EQ(a.stop_rule, b.stop_rule);
  EXPECT_EQ(a.has_best, b.has_best);
  EXPECT_EQ(a.best, b.best);
  EXPECT_EQ(a.best_iteration, b.best_iteration);
  EXPECT_EQ(a.wait, b.wait);
  EXPECT_EQ(a.stopped_by, b.stopped_by);
  EXPECT_EQ(a.plateau_rule, b.plateau_rule);
  EXPECT_EQ(a.plateau_has_best, b.plateau_has_best);
  EXPECT_EQ(a.plateau_best, b.plateau_best);
  EXPECT_EQ(a.plateau_wait, b.plateau_wait);
  EXPECT_EQ(a.cooldown, b.cooldown);
  EXPECT_EQ(a.reduced, b.reduced);
  EXPECT_EQ(a.learning_rate, b.learning_rate);
  ASSERT_EQ(a.best_weights.size(), 64U);
  EXPECT_EQ(std::memcmp(a.best_weights.data(), b.best_weights.data(), 64 * sizeof(float)), 0);
  for (size_t size = 0; size < image.size(); ++size) {
    EXPECT_EQ(CodeOf([&] { VerifyState(image.data(), size); }), ErrorCode::kCorrupt);
  }
}

TEST(State, EveryFieldOfTheMonitorReachesTheDigest) {
  const std::vector<uint8_t> image = WriteState(Layout(), Monitored());
  const std::vector<std::function<void(MonitorState*)>> changes = {
      [](MonitorState* m) { m->stop_rule = "loss"; },
      [](MonitorState* m) { m->has_best = false; },
      [](MonitorState* m) { m->best = 0.5; },
      [](MonitorState* m) { ++m->best_iteration; },
      [](MonitorState* m) { ++m->wait; },
      [](MonitorState* m) { m->stopped_by = -1; },
      [](MonitorState* m) { m->plateau_rule = ""; },
      [](MonitorState* m) { m->plateau_has_best = false; },
      [](MonitorState* m) { m->plateau_best = 0.5; },
      [](MonitorState* m) { ++m->plateau_wait; },
      [](MonitorState* m) { ++m->cooldown; },
      [](MonitorState* m) { m->reduced = false; },
      [](MonitorState* m) { m->learning_rate = 0.5F; },
      [](MonitorState* m) { m->best_weights[32] = -1.0F; },
      [](MonitorState* m) { m->best_weights = {}; },
  };
  for (const auto& change : changes) {
    ModelState state = Monitored();
    change(&state.monitor);
    EXPECT_NE(WriteState(Layout(), state), image);
  }
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

// Of a right checksum, which anybody can write.
TEST(State, CountersThatCannotBeAreDamage) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::function<void(ModelState*)>> changes = {
      [](ModelState* s) { s->iteration = -1; },
      [](ModelState* s) { s->iteration = std::numeric_limits<int32_t>::max(); },
      [](ModelState* s) { s->iteration = kMost; },
      [](ModelState* s) { s->step = kMost; },
      [](ModelState* s) { s->examples = kMost; },
      [](ModelState* s) { s->monitor.best_iteration = -1; },
      [](ModelState* s) { s->monitor.best_iteration = kMost; },
      [](ModelState* s) { s->monitor.wait = kMost; },
      [](ModelState* s) { s->monitor.stopped_by = -2; },
      [](ModelState* s) { s->monitor.stopped_by = kMost; },
      [](ModelState* s) { s->monitor.plateau_wait = -kMost; },
      [](ModelState* s) { s->monitor.cooldown = kMost; },
      [=](ModelState* s) { s->monitor.learning_rate = nan; },
      [](ModelState* s) { s->monitor.learning_rate = -1.0F; },
  };
  const std::vector<uint8_t> sound = WriteState(Layout(), Monitored());
  EXPECT_NO_THROW(ReadState(Layout(), sound.data(), sound.size()));
  for (size_t i = 0; i < changes.size(); ++i) {
    ModelState state = Monitored();
    changes[i](&state);
    const std::vector<uint8_t> image = WriteState(Layout(), state);
    EXPECT_EQ(CodeOf([&] { ReadState(Layout(), image.data(), image.size()); }), ErrorCode::kCorrupt)
        << i;
  }
}

TEST(State, EqualStatesHaveEqualImages) {
  const std::vector<uint8_t> image = WriteState(Layout(), State());
  EXPECT_EQ(image, WriteState(Layout(), State().Clone()));
  EXPECT_EQ(IterationsOfState(image.data(), image.size()), State().iteration);
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
