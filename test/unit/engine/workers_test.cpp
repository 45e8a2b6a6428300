#include "engine/torch/workers.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"

namespace hopper {
namespace {

TEST(Workers, CaptureWarningsAndLetNothingOut) {
  const OwnedAccount account = MemoryAccount::Create(std::numeric_limits<int64_t>::max());
  std::mutex mutex;
  std::vector<std::string> warnings;
  std::atomic<int> ran{0};
  testing::internal::CaptureStderr();
  {
    Workers workers;
    const auto warn = [&](const std::string& text) {
      const std::lock_guard<std::mutex> lock(mutex);
      warnings.push_back(text);
    };
    workers.Start(3, TorchSetting({account.get(), warn}), [&] {
      ++ran;
      TORCH_WARN("this is slow");
      throw std::runtime_error("not for the outside");
    });
    workers.Join();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(ran.load(), 3);
  ASSERT_EQ(warnings.size(), 3U);
  EXPECT_EQ(warnings[0], "this is slow");
}

// Whoever waits for the bodies' ends must know of those that never begin.
TEST(Workers, AThreadWithoutItsNeedsIsAnErrorOfTheStart) {
  const OwnedAccount account = MemoryAccount::Create(std::numeric_limits<int64_t>::max());
  std::atomic<int> ran{0};
  {
    Workers workers;
    constexpr int kTooLarge = 1025;
    EXPECT_THROW(workers.Start(2, TorchSetting({account.get(), {}, kTooLarge}), [&] { ++ran; }),
                 Error);
  }
  EXPECT_EQ(ran.load(), 0);
}

}  // namespace
}  // namespace hopper
