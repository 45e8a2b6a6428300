#include "support/failing_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <random>

#include "model_hopper/basics.h"
#include "params/readings.h"

extern "C" {
void* __real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void* pointer);
void* __real_malloc(size_t size);
void* __real_mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset);
int __real_munmap(void* address, size_t size);
void* __wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void* pointer);
void* __wrap_malloc(size_t size);
void* __wrap_mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void* address, size_t size);
}

namespace {

std::atomic<int64_t> countdown{0};  // the allocation at which it comes to 0 fails
std::atomic<bool> persistent{false};
std::atomic<int64_t> living{0};

bool Fails() {
  if (countdown.load() <= 0) return countdown.load() < 0 && persistent.load();
  const int64_t before = countdown.fetch_sub(1);
  if (before == 1 && persistent.load()) countdown.store(-1);
  return before == 1;
}

// Before each block: how far behind the beginning of the memory it is.
constexpr size_t kHeader = 64;

void* Allocate(size_t size, size_t alignment) {
  if (Fails()) return nullptr;
  const size_t before = std::max(alignment, kHeader);
  auto* block =
      static_cast<char*>(__real_aligned_alloc(before, (size + 2 * before - 1) / before * before));
  if (block == nullptr) return nullptr;
  reinterpret_cast<size_t*>(block + before)[-1] = before;
  ++living;
  return block + before;
}

void Free(void* pointer) {
  if (pointer == nullptr) return;
  --living;
  __real_free(static_cast<char*>(pointer) - static_cast<size_t*>(pointer)[-1]);
}

void* AllocateOrThrow(size_t size, size_t alignment) {
  void* block = Allocate(size, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

// Blocks of malloc() and aligned_alloc() that were given out here; free() comes for others, too.
std::array<std::atomic<void*>, 8192> blocks{};
std::atomic<size_t> blocks_end{0};  // none behind it

void* Noted(void* block) {
  if (block == nullptr) return nullptr;
  for (size_t i = 0; i < blocks.size(); ++i) {
    void* none = nullptr;
    if (!blocks[i].compare_exchange_strong(none, block)) continue;
    for (size_t end = blocks_end; end <= i && !blocks_end.compare_exchange_weak(end, i + 1);) {
    }
    ++living;
    break;
  }
  return block;
}

}  // namespace

void* __wrap_aligned_alloc(size_t alignment, size_t size) {
  return Fails() ? nullptr : Noted(__real_aligned_alloc(alignment, size));
}
void* __wrap_malloc(size_t size) { return Fails() ? nullptr : Noted(__real_malloc(size)); }
void __wrap_free(void* pointer) {
  for (size_t i = 0; pointer != nullptr && i < blocks_end; ++i) {
    void* block = pointer;
    if (!blocks[i].compare_exchange_strong(block, nullptr)) continue;
    --living;
    break;
  }
  __real_free(pointer);
}
void* __wrap_mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  if (Fails()) return MAP_FAILED;
  void* block = __real_mmap(address, size, protection, flags, fd, offset);
  if (block != MAP_FAILED) ++living;
  return block;
}
int __wrap_munmap(void* address, size_t size) {
  --living;
  return __real_munmap(address, size);
}

void* operator new(size_t size) { return AllocateOrThrow(size, 16); }
void* operator new[](size_t size) { return AllocateOrThrow(size, 16); }
void* operator new(size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, static_cast<size_t>(alignment));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return Allocate(size, 16); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return Allocate(size, 16); }
void operator delete(void* pointer) noexcept { Free(pointer); }
void operator delete[](void* pointer) noexcept { Free(pointer); }
void operator delete(void* pointer, size_t) noexcept { Free(pointer); }
void operator delete[](void* pointer, size_t) noexcept { Free(pointer); }
void operator delete(void* pointer, std::align_val_t) noexcept { Free(pointer); }
void operator delete[](void* pointer, std::align_val_t) noexcept { Free(pointer); }
void operator delete(void* pointer, size_t, std::align_val_t) noexcept { Free(pointer); }
void operator delete[](void* pointer, size_t, std::align_val_t) noexcept { Free(pointer); }
void operator delete(void* pointer, const std::nothrow_t&) noexcept { Free(pointer); }
void operator delete[](void* pointer, const std::nothrow_t&) noexcept { Free(pointer); }

namespace hopper {

namespace {

// Which allocations fail: all, or where there are many the first ones and others all over.
class Numbers {
 public:
  Numbers(int64_t count, int most) {
    if (std::getenv("HOPPER_ALL_FAULTS") != nullptr || count <= most) return;
    first_ = most / 4;
    step_ = static_cast<double>(count - first_) / (most - first_);
  }
  int64_t After(int64_t n) {
    if (n <= first_ || step_ <= 1.0) return n + 1;
    const double next = std::uniform_real_distribution<double>(1.0, 2.0 * step_ - 1.0)(random_);
    return n + std::max<int64_t>(1, std::llround(next));
  }

 private:
  int64_t first_ = 0;
  double step_ = 1.0;
  std::mt19937_64 random_{1};
};

}  // namespace

void FailEachAllocation(const std::function<Outcome()>& one_call, int most) {
  // Each call reads its configurations anew, and keeps nothing of them.
  const auto body = [&one_call] {
    const Outcome outcome = one_call();
    ProcessReadings().Forget();
    return outcome;
  };
  ASSERT_EQ(body().code, 0);
  constexpr int64_t kMany = int64_t{1} << 62;
  countdown = kMany;
  const uint64_t answer = body().answer;
  const int64_t allocations = kMany - countdown.exchange(0);
  int64_t before = living.load();
  for (const bool always : {false, true}) {
    persistent = always;
    Numbers numbers(allocations, always ? most / 4 : most);
    int calls = 0;
    int errors = 0;
    bool again = false;  // a library may keep something once, but not each time
    int64_t n = 1;
    for (bool failed = true; failed;) {
      countdown = n;
      const Outcome outcome = body();
      failed = countdown.exchange(0) <= 0;
      const auto at = [&] {
        return (always ? "from allocation " : "allocation ") + std::to_string(n);
      };
      ++calls;
      if (outcome.code == 0) {
        ASSERT_EQ(outcome.answer, answer) << at();
      } else {
        ASSERT_EQ(outcome.code, HOPPER_OUT_OF_MEMORY) << at();
        ++errors;
      }
      const int64_t after = living.load();
      if (after != before && !again) {
        before = after;
        again = true;
        continue;
      }
      ASSERT_EQ(after, before) << at();
      again = false;
      n = numbers.After(n);
    }
    EXPECT_GT(errors, 0);
    std::printf("%s failing: %d of %lld allocations, %d errors\n", always ? "from one on" : "one",
                calls, static_cast<long long>(allocations), errors);
  }
  persistent = false;
  const Outcome outcome = body();
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.answer, answer);
}

}  // namespace hopper
