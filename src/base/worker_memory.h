// Memory of workers: blocks for tensors and planned steps, cached by each thread and counted
// against a run's limit.
//
// With glibc's malloc a worker thread hands the memory of every batch's tensors back to the kernel
// and faults it in again. Here each worker keeps what it freed, in size classes, until its scope
// ends. On threads without a scope blocks come from the system and are not counted. libtorch's CPU
// tensors lie in such blocks too (autograd/tensor_memory.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace hopper {

class MemoryAccount;
struct ReleaseAccount {
  void operator()(MemoryAccount* account) const;
};
// The owner's reference.
using OwnedAccount = std::unique_ptr<MemoryAccount, ReleaseAccount>;

// What a run's blocks take, cached ones included, against its limit. Thread-safe; kept alive by
// its owner and by every block that is counted in it.
class MemoryAccount {
 public:
  static OwnedAccount Create(int64_t limit) { return OwnedAccount(new MemoryAccount(limit)); }

  // Counts memory that is in no block (packed data, states); never fails.
  void Add(int64_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  int64_t used() const { return used_.load(std::memory_order_relaxed); }
  int64_t limit() const { return limit_; }

 private:
  friend struct WorkerBlocks;
  friend struct ReleaseAccount;
  explicit MemoryAccount(int64_t limit) : limit_(limit) {}
  ~MemoryAccount() = default;
  bool Reserve(int64_t bytes);  // and a reference for the block; false: over the limit
  void Unreserve(int64_t bytes);
  void Release();

  const int64_t limit_;
  std::atomic<int64_t> used_{0};
  std::atomic<int64_t> references_{1};
};

// What a block of so many bytes is counted as.
int64_t BlockBytes(int64_t bytes);
// 64-byte aligned; of no bytes: null.
void* TakeBlock(size_t bytes);
// On any thread; null is allowed.
void GiveBlock(void* block);

// Floats in a block.
class WorkerArray {
 public:
  explicit WorkerArray(int64_t floats = 0)
      : data_(static_cast<float*>(TakeBlock(static_cast<size_t>(floats) * sizeof(float)))) {}
  ~WorkerArray() { GiveBlock(data_); }
  WorkerArray(const WorkerArray&) = delete;
  WorkerArray& operator=(const WorkerArray&) = delete;
  WorkerArray& operator=(WorkerArray&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  float* data() const { return data_; }

 private:
  float* data_;
};

// While it lives, the blocks of this thread are cached and counted in `account` (not null), and
// a block that would pass its limit throws Error(kOutOfMemory). One a thread; blocks may outlive
// it and may be given back by any thread.
class MemoryScope {
 public:
  // `promises`: Promise() is called before the thread's first block, or that one throws
  // Error(kInternal).
  explicit MemoryScope(MemoryAccount* account, bool promises = false);
  ~MemoryScope();
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;

  // What this thread's next task was promised: what the task allocates, with what the thread has
  // cached before and meanwhile, never takes more, or what is cached is given back first. Without
  // it a cache would eat what others were promised. Without a call there is no such bound.
  static void Promise(int64_t bytes);
  // Gives this thread's cached blocks back to the system.
  static void Trim();
  // Bytes that this thread has cached.
  static int64_t CachedBytes();
};

}  // namespace hopper
