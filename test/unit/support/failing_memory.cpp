#include "support/failing_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "model_hopper/basics.h"

extern "C" {
void* __real_aligned_alloc(size_t alignment, size_t size);
void* __real_mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset);
void* __wrap_aligned_alloc(size_t alignment, size_t size);
void* __wrap_mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset);
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
  std::free(static_cast<char*>(pointer) - static_cast<size_t*>(pointer)[-1]);
}

void* AllocateOrThrow(size_t size, size_t alignment) {
  void* block = Allocate(size, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

void* __wrap_aligned_alloc(size_t alignment, size_t size) {
  return Fails() ? nullptr : __real_aligned_alloc(alignment, size);
}
void* __wrap_mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  return Fails() ? MAP_FAILED : __real_mmap(address, size, protection, flags, fd, offset);
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

void FailEachAllocation(const std::function<Outcome()>& body) {
  ASSERT_EQ(body().code, 0);
  const uint64_t answer = body().answer;
  const int64_t before = living.load();
  for (const bool always : {false, true}) {
    persistent = always;
    int errors = 0;
    int64_t n = 1;
    for (bool failed = true; failed; ++n) {
      countdown = n;
      const Outcome outcome = body();
      failed = countdown.exchange(0) <= 0;
      const auto at = [&] {
        return (always ? "from allocation " : "allocation ") + std::to_string(n);
      };
      ASSERT_EQ(living.load(), before) << at();
      if (outcome.code == 0) {
        ASSERT_EQ(outcome.answer, answer) << at();
      } else {
        ASSERT_EQ(outcome.code, HOPPER_OUT_OF_MEMORY) << at();
        ++errors;
      }
    }
    EXPECT_GT(errors, 0);
    std::printf("%s failing: %d allocations, %d errors\n", always ? "from one on" : "one",
                static_cast<int>(n), errors);
  }
  persistent = false;
  const Outcome outcome = body();
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.answer, answer);
}

}  // namespace hopper
