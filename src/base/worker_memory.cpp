#include "base/worker_memory.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <string>

#include "base/blocks.h"
#include "base/error.h"

namespace hopper {

namespace {

// Stands before each block, so that a block can be given back from its address alone.
struct alignas(64) BlockHeader {
  MemoryAccount* account;  // null: not counted, never cached
  BlockHeader* next;       // in a cache
  size_t bytes;            // of the block without this header
  uint32_t size_class;
  uint32_t task;  // that has it or had it last
};
static_assert(sizeof(BlockHeader) == 64, "keeps blocks aligned");

int64_t Counted(const BlockHeader& header) {
  return static_cast<int64_t>(header.bytes + sizeof(BlockHeader));
}

// Four size classes between neighbouring powers of two: at most a quarter of a block is unused.
constexpr uint32_t kClasses = 4 * 64;

uint32_t SizeClass(size_t bytes, size_t* rounded) {
  if (bytes <= 256) {
    const size_t units = bytes == 0 ? 1 : (bytes + 63) / 64;
    *rounded = units * 64;
    return static_cast<uint32_t>(units - 1);
  }
  const int top = 63 - __builtin_clzll(bytes - 1);  // 2^top <= bytes - 1 < 2^(top + 1)
  const size_t quarter = size_t{1} << (top - 2);
  const size_t step = (bytes - 1) / quarter;  // 4 .. 7
  *rounded = (step + 1) * quarter;
  return static_cast<uint32_t>(4 * (top - 7) + static_cast<int>(step) - 4);
}

constexpr int64_t kNotPromised = -1;

struct ThreadCache {
  MemoryAccount* account = nullptr;
  int64_t cached = 0;  // bytes with their headers, as they are counted
  // Of the task, and what it took of that: its fresh blocks and those that were cached before.
  int64_t promised = std::numeric_limits<int64_t>::max();
  int64_t held = 0;
  uint32_t task = 0;
  std::array<BlockHeader*, kClasses> free{};
};

// Set by a MemoryScope; a plain pointer, so that threads that end need no destructor.
thread_local ThreadCache* thread_cache = nullptr;

// Of all threads: a block may be freed by another one than took it.
std::atomic<uint32_t> tasks{0};

}  // namespace

int64_t BlockBytes(int64_t bytes) {
  if (bytes <= 0) return 0;
  size_t rounded = 0;
  SizeClass(static_cast<size_t>(bytes), &rounded);
  return static_cast<int64_t>(rounded + sizeof(BlockHeader));
}

void ReleaseAccount::operator()(MemoryAccount* account) const { account->Release(); }

void MemoryAccount::Release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

bool MemoryAccount::Reserve(int64_t bytes) {
  // Never beyond the limit, not even for a moment: another thread must not be refused for that.
  int64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_ - used) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  references_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void MemoryAccount::Unreserve(int64_t bytes) {
  used_.fetch_sub(bytes, std::memory_order_relaxed);
  Release();
}

struct WorkerBlocks {
  static void FreeBlock(BlockHeader* header) {
    MemoryAccount* account = header->account;
    const int64_t bytes = Counted(*header);
    hopper::FreeBlock(header, header->bytes + sizeof(BlockHeader));
    if (account != nullptr) account->Unreserve(bytes);
  }

  static void* Allocate(size_t bytes) {
    if (bytes > (size_t{1} << 46)) throw std::bad_alloc();
    size_t rounded = 0;
    const uint32_t size_class = SizeClass(bytes, &rounded);
    ThreadCache* cache = thread_cache;
    if (cache == nullptr) return Fresh(nullptr, rounded, size_class);
    BlockHeader*& first = cache->free[size_class];
    if (first != nullptr) {
      BlockHeader* header = first;
      first = header->next;
      cache->cached -= Counted(*header);
      header->task = cache->task;
      return header + 1;
    }
    if (cache->promised == kNotPromised) {
      throw Error(ErrorCode::kInternal, "a task takes memory that it was not promised");
    }
    const auto counted = static_cast<int64_t>(rounded + sizeof(BlockHeader));
    if (cache->held > cache->promised - counted) MemoryScope::Trim();
    if (!cache->account->Reserve(counted)) {
      MemoryScope::Trim();
      if (!cache->account->Reserve(counted)) {
        throw Error(ErrorCode::kOutOfMemory, "out of memory",
                    "A tensor of " + std::to_string(bytes) +
                        " bytes would pass hopper.memory_limit, of which " +
                        std::to_string(std::max<int64_t>(
                            cache->account->limit() - cache->account->used(), 0)) +
                        " bytes are free.",
                    "Lower batch_size, or raise hopper.memory_limit.");
      }
    }
    try {
      void* block = Fresh(cache, rounded, size_class);
      cache->held += counted;
      return block;
    } catch (...) {
      cache->account->Unreserve(counted);
      throw;
    }
  }

  static void* Fresh(const ThreadCache* cache, size_t rounded, uint32_t size_class) {
    bool zeroed = false;
    auto* header = static_cast<BlockHeader*>(AllocateBlock(rounded + sizeof(BlockHeader), &zeroed));
    header->account = cache == nullptr ? nullptr : cache->account;
    header->task = cache == nullptr ? 0 : cache->task;
    header->next = nullptr;
    header->bytes = rounded;
    header->size_class = size_class;
    return header + 1;
  }

  static void Deallocate(void* block) {
    if (block == nullptr) return;
    BlockHeader* header = static_cast<BlockHeader*>(block) - 1;
    ThreadCache* cache = thread_cache;
    // What earlier tasks left is not of this one's promise.
    if (cache == nullptr || header->account != cache->account || header->task != cache->task) {
      FreeBlock(header);
      return;
    }
    header->next = cache->free[header->size_class];
    cache->free[header->size_class] = header;
    cache->cached += Counted(*header);
  }
};

void* TakeBlock(size_t bytes) { return bytes == 0 ? nullptr : WorkerBlocks::Allocate(bytes); }

void GiveBlock(void* block) { WorkerBlocks::Deallocate(block); }

MemoryScope::MemoryScope(MemoryAccount* account, bool promises) {
  if (thread_cache != nullptr) {
    throw Error(ErrorCode::kInternal, "a thread has memory twice");
  }
  auto* cache = new ThreadCache;
  cache->account = account;
  if (promises) cache->promised = kNotPromised;
  thread_cache = cache;
}

MemoryScope::~MemoryScope() {
  Trim();
  delete thread_cache;
  thread_cache = nullptr;
}

void MemoryScope::Trim() {
  ThreadCache* cache = thread_cache;
  if (cache == nullptr) return;
  for (BlockHeader*& first : cache->free) {
    while (first != nullptr) {
      BlockHeader* header = first;
      first = header->next;
      WorkerBlocks::FreeBlock(header);
    }
  }
  cache->held = std::max<int64_t>(cache->held - cache->cached, 0);
  cache->cached = 0;
}

void MemoryScope::Promise(int64_t bytes) {
  ThreadCache* cache = thread_cache;
  if (cache == nullptr) return;
  if (cache->cached > bytes) Trim();
  cache->promised = bytes;
  cache->held = cache->cached;
  cache->task = tasks.fetch_add(1, std::memory_order_relaxed) + 1;
}

int64_t MemoryScope::CachedBytes() { return thread_cache == nullptr ? 0 : thread_cache->cached; }

}  // namespace hopper
