#include "autograd/tensor_memory.h"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/error.h"

namespace hopper {
namespace {

class TensorMemory : public ::testing::Test {
 protected:
  explicit TensorMemory(int64_t limit = 1 << 20) : account_(MemoryAccount::Create(limit)) {}
  OwnedAccount account_;
};

at::Tensor FloatTensor(int64_t n) { return at::empty({n}, at::kFloat); }

TEST_F(TensorMemory, IsUsedAgainAndGivenBack) {
  {
    const TensorMemoryScope scope(account_.get());
    const void* first = nullptr;
    {
      const at::Tensor tensor = FloatTensor(1000);
      first = tensor.data_ptr();
      EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0U);
      EXPECT_GE(account_->used(), 4000);
      EXPECT_LE(account_->used(), 5000 + 64);
    }
    const int64_t used = account_->used();
    EXPECT_GE(TensorMemoryScope::CachedBytes(), 4000);
    {
      const at::Tensor tensor = FloatTensor(990);  // of the same size class
      EXPECT_EQ(tensor.data_ptr(), first);
      EXPECT_EQ(account_->used(), used);
      EXPECT_EQ(TensorMemoryScope::CachedBytes(), 0);
    }
    TensorMemoryScope::Trim();
    EXPECT_EQ(account_->used(), 0);
    const at::Tensor tensor = FloatTensor(10);
    EXPECT_GT(account_->used(), 0);
  }
  EXPECT_EQ(account_->used(), 0);
}

TEST_F(TensorMemory, AllSizesAreRoomyAndAligned) {
  const TensorMemoryScope scope(account_.get());
  for (int64_t n = 0; n < 3000; n += 7) {
    const at::Tensor tensor = FloatTensor(n);
    if (n == 0) continue;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data_ptr()) % 64, 0U);
    std::fill_n(tensor.data_ptr<float>(), n, 1.0F);
  }
}

TEST_F(TensorMemory, TheLimitIsAnErrorThatSparesTheRest) {
  const TensorMemoryScope scope(account_.get());
  const at::Tensor small = FloatTensor(1000);
  try {
    FloatTensor(1 << 20);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kOutOfMemory);
  }
  // What is cached gives way.
  FloatTensor(200000);
  EXPECT_GE(TensorMemoryScope::CachedBytes(), 800000);
  FloatTensor(110000);
  EXPECT_LE(account_->used(), account_->limit());
  EXPECT_THROW(FloatTensor(int64_t{1} << 50), std::bad_alloc);
}

// Tasks run at a time whose promises add up to the limit: none may keep what another was promised.
TEST_F(TensorMemory, ATaskWithWhatIsCachedTakesNoMoreThanItWasPromised) {
  const TensorMemoryScope scope(account_.get());
  TensorMemoryScope::Promise(20000);
  FloatTensor(1000);
  const int64_t cached = TensorMemoryScope::CachedBytes();
  EXPECT_EQ(account_->used(), cached);
  TensorMemoryScope::Promise(cached);
  EXPECT_EQ(TensorMemoryScope::CachedBytes(), cached);
  FloatTensor(500);  // what is cached of another size gives way
  EXPECT_LE(account_->used(), cached);
  TensorMemoryScope::Promise(cached / 4);
  EXPECT_EQ(account_->used(), 0);

  TensorMemoryScope::Promise(100000);
  at::Tensor kept = FloatTensor(1000);
  for (const int64_t n : {2000, 4000, 8000, 16000}) {
    FloatTensor(n);
    EXPECT_LE(account_->used(), 100000) << n;
  }
  TensorMemoryScope::Promise(100000);
  kept.reset();  // an earlier task's, whose promise is over
  EXPECT_LE(account_->used(), 100000);
  EXPECT_EQ(account_->used(), TensorMemoryScope::CachedBytes());
}

TEST_F(TensorMemory, WhatWasNotPromisedIsAnError) {
  const TensorMemoryScope scope(account_.get(), /*promises=*/true);
  try {
    FloatTensor(1);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInternal);
  }
  EXPECT_EQ(account_->used(), 0);
  TensorMemoryScope::Promise(1000);
  FloatTensor(1);
}

// Another thread's impossible tensors must not stand in the way of those that fit.
TEST_F(TensorMemory, WhatIsRefusedTakesNoRoomMeanwhile) {
  std::atomic<bool> stop{false};
  std::thread greedy([&] {
    const TensorMemoryScope scope(account_.get());
    while (!stop.load()) {
      EXPECT_THROW(FloatTensor(1 << 20), Error);
    }
  });
  {
    const TensorMemoryScope scope(account_.get());
    int refused = 0;
    for (int i = 0; i < 300000 && refused == 0; ++i) {
      try {
        FloatTensor(1000);
        TensorMemoryScope::Trim();
      } catch (const Error&) {
        ++refused;
      }
    }
    EXPECT_EQ(refused, 0);
  }
  stop.store(true);
  greedy.join();
}

TEST_F(TensorMemory, TensorsMayOutliveTheirScopeAndTheirThread) {
  at::Tensor survivor;
  std::thread([&] {
    const TensorMemoryScope scope(account_.get());
    survivor = FloatTensor(1000);
  }).join();
  EXPECT_GT(account_->used(), 0);
  survivor.fill_(1.0);
  std::thread([&] {
    const OwnedAccount other = MemoryAccount::Create(1 << 20);
    {
      const TensorMemoryScope scope(other.get());
      survivor.reset();  // into a cache that is not its own
      EXPECT_EQ(TensorMemoryScope::CachedBytes(), 0);
    }
  }).join();
  EXPECT_EQ(account_->used(), 0);
}

TEST_F(TensorMemory, ThreadsWithoutAScopeAreNotCounted) {
  const at::Tensor tensor = FloatTensor(1000);
  EXPECT_EQ(account_->used(), 0);
  EXPECT_EQ(TensorMemoryScope::CachedBytes(), 0);
}

}  // namespace
}  // namespace hopper
