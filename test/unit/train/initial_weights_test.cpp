// Initial weights that a run makes: once for all that start alike, by all threads that want them,
// cancelled in a moment, and always the same bits.
#include "train/initial_weights.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "support/cpu_clock.h"
#include "support/keras_models.h"

namespace hopper {
namespace {

using Floats = std::vector<float>;

std::shared_ptr<const ModelSpec> Mlp(int units, const std::string& initializer) {
  return ParseModel(
      KerasSequential({KerasDense("first", units, "relu",
                                  "\"batch_input_shape\": [null, " + std::to_string(units) +
                                      R"(], "kernel_initializer": {"class_name": ")" + initializer +
                                      R"(", "config": {}})"),
                       KerasDense("last", 2, "softmax")}),
      nullptr);
}

Floats Expected(const ModelSpec& spec, uint64_t seed) {
  AlignedArray<float> flat(static_cast<size_t>(spec.flat_size));
  InitializeWeights(spec, seed, flat.data());
  return Floats(flat.data(), flat.data() + flat.size());
}

TEST(InitialWeights, MadeOnceByAllWhoWantThem) {
  for (const char* initializer : {"GlorotUniform", "Orthogonal", "HeNormal", "TruncatedNormal"}) {
    const auto spec = Mlp(700, initializer);
    constexpr int kConfigurations = 8;
    InitialWeights shared;
    for (int i = 0; i < kConfigurations; ++i) shared.Expect(*spec, 5);
    const std::atomic<bool> never{false};
    std::vector<Floats> got(kConfigurations, Floats(static_cast<size_t>(spec->flat_size), 7.0F));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = t; i < kConfigurations; i += 4) {
          EXPECT_TRUE(shared.Get(*spec, 5, never, got[i].data()));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Floats& weights : got) EXPECT_EQ(weights, Expected(*spec, 5)) << initializer;
    EXPECT_EQ(shared.made(), 1) << initializer;
    // Another seed, and one more than were expected.
    Floats other(static_cast<size_t>(spec->flat_size));
    EXPECT_TRUE(shared.Get(*spec, 6, never, other.data()));
    EXPECT_EQ(other, Expected(*spec, 6));
  }
}

// One structure with other initializers: one architecture to a state, but not here.
TEST(InitialWeights, InitializersCount) {
  const auto glorot = Mlp(20, "GlorotUniform");
  const auto zeros = Mlp(20, "Zeros");
  InitialWeights shared;
  const std::atomic<bool> never{false};
  for (const auto& spec : {glorot, glorot, zeros, zeros}) shared.Expect(*spec, 1);
  for (const auto& spec : {glorot, zeros, glorot, zeros}) {
    Floats got(static_cast<size_t>(spec->flat_size));
    EXPECT_TRUE(shared.Get(*spec, 1, never, got.data()));
    EXPECT_EQ(got, Expected(*spec, 1));
  }
}

TEST(InitialWeights, WithoutRoomForACopy) {
  const auto spec = Mlp(50, "GlorotUniform");
  InitialWeights shared;
  const std::atomic<bool> never{false};
  for (int i = 0; i < 3; ++i) shared.Expect(*spec, 1);
  EXPECT_EQ(shared.SharedBytes(), static_cast<int64_t>(spec->flat_size * sizeof(float)));
  shared.Keep(1000);
  for (int i = 0; i < 3; ++i) {
    Floats got(static_cast<size_t>(spec->flat_size));
    EXPECT_TRUE(shared.Get(*spec, 1, never, got.data()));
    EXPECT_EQ(got, Expected(*spec, 1));
  }
  EXPECT_EQ(shared.made(), 3);
}

// A matrix of 4000 x 4000 takes half a minute; 50 million numbers some seconds.
TEST(InitialWeights, EndInAMomentWhenCancelled) {
  for (const char* initializer : {"Orthogonal", "GlorotUniform"}) {
    for (const int configurations : {1, 2}) {
      const auto spec = Mlp(initializer == std::string("Orthogonal") ? 4000 : 7000, initializer);
      InitialWeights shared;
      for (int i = 0; i < configurations; ++i) shared.Expect(*spec, 1);
      AlignedArray<float> flat(static_cast<size_t>(spec->flat_size));
      std::atomic<bool> cancel{false};
      double asked = 0.0;
      std::thread canceller([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        cancel.store(true);
        asked = CpuSeconds();
      });
      EXPECT_FALSE(shared.Get(*spec, 1, cancel, flat.data()));
      canceller.join();
      const double ended = CpuSeconds();
      EXPECT_LT(ended - asked, 0.6) << initializer;
    }
  }
}

}  // namespace
}  // namespace hopper
