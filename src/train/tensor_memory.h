// Memory of tensors: a caching allocator for libtorch's CPU tensors, counted against a run's limit.
//
// With glibc's malloc a worker thread hands the memory of every batch's tensors back to the kernel
// and faults it in again. Here each worker keeps what it freed, in size classes, until its scope
// ends. The allocator is registered with c10 when this library is loaded; on threads without a
// scope it allocates from the system and does not count.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace hopper {

class MemoryAccount;
struct ReleaseAccount {
  void operator()(MemoryAccount* account) const;
};
// The owner's reference.
using OwnedAccount = std::unique_ptr<MemoryAccount, ReleaseAccount>;

// What a run's tensors take, cached blocks included, against its limit. Thread-safe; kept alive by
// its owner and by every block that is counted in it.
class MemoryAccount {
 public:
  static OwnedAccount Create(int64_t limit) { return OwnedAccount(new MemoryAccount(limit)); }

  // Counts memory that is not a tensor's (packed data, states); never fails.
  void Add(int64_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  int64_t used() const { return used_.load(std::memory_order_relaxed); }
  int64_t limit() const { return limit_; }

 private:
  friend class TensorAllocator;
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

// What a tensor of so many bytes is counted as.
int64_t TensorBytes(int64_t bytes);

// While it lives, the tensors of this thread are cached and counted in `account` (not null), and
// a tensor that would pass its limit throws Error(kOutOfMemory). One a thread; tensors may outlive
// it and may be freed by any thread.
class TensorMemoryScope {
 public:
  // `promises`: Promise() is called before the thread's first tensor, or that one throws
  // Error(kInternal).
  explicit TensorMemoryScope(MemoryAccount* account, bool promises = false);
  ~TensorMemoryScope();
  TensorMemoryScope(const TensorMemoryScope&) = delete;
  TensorMemoryScope& operator=(const TensorMemoryScope&) = delete;

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
