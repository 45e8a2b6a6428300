#include "schedule/wanted_states.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hopper {
namespace {

TEST(WantedStates, ThoseToBeLookedAtComeFirst) {
  WantedStates states;
  states.AddAdmitted(0);
  states.AddToCheck(1);
  states.AddToCheck(2);
  states.AddAdmitted(3);
  std::vector<bool> came(4, false);
  const auto next = [&] { return states.Next([&](size_t model, bool) { return !came[model]; }); };
  EXPECT_EQ(next(), 1);
  EXPECT_EQ(next(), 1);  // until it has come
  came[1] = true;
  EXPECT_EQ(next(), 2);
  came[2] = came[0] = true;
  EXPECT_EQ(next(), 3);
  came[3] = true;
  EXPECT_EQ(next(), -1);
}

TEST(WantedStates, WhoIsAdmittedUnseenIsAnAdmittedOne) {
  WantedStates states;
  states.AddToCheck(7);
  states.AddAdmitted(7);
  EXPECT_EQ(states.Next([](size_t, bool admitted) { return admitted; }), 7);
}

// Operations are counted, not seconds.
TEST(WantedStates, LookAtEachOnce) {
  WantedStates states;
  constexpr size_t kModels = 10000;
  std::vector<bool> came(kModels, false);
  for (size_t i = 0; i < kModels; ++i) i % 2 == 0 ? states.AddAdmitted(i) : states.AddToCheck(i);
  for (size_t i = 0; i < kModels; ++i) {
    const int64_t model = states.Next([&](size_t of, bool) { return !came[of]; });
    ASSERT_GE(model, 0);
    came[static_cast<size_t>(model)] = true;
  }
  EXPECT_EQ(states.Next([&](size_t of, bool) { return !came[of]; }), -1);
  EXPECT_LE(states.looks(), int64_t{2 * kModels});
}

}  // namespace
}  // namespace hopper
