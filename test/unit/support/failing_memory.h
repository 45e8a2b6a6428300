// Memory that fails on purpose: once at the n-th time that somebody asks for some, or always from
// then on. A test program with failing_memory.cpp in it has these operators new and delete, and
// these aligned_alloc() and mmap().
#pragma once

#include <cstdint>
#include <functional>

namespace hopper {

// Calls `body` again and again; each time the next allocation of the whole process fails. It
// returns a code, and its answer to compare: where nothing was said to have failed, the answer has
// to be the one that it gives with memory. Then the same with all allocations failing from there
// on. After each call as much memory is in use as before. `body` itself must take none.
struct Outcome {
  int code = 0;  // 0, HOPPER_OUT_OF_MEMORY, or another one, which is a failure of the test
  uint64_t answer = 0;
};
void FailEachAllocation(const std::function<Outcome()>& body);

}  // namespace hopper
