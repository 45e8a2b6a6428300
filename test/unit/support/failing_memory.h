// Memory that fails on purpose: once at the n-th time that somebody asks for some, or always from
// then on. A test program with failing_memory.cpp in it has these operators new and delete, and
// these malloc(), aligned_alloc() and mmap() with what gives their memory back.
#pragma once

#include <cstdint>
#include <functional>

namespace hopper {

// What a call came to: a code, and its answer to compare.
struct Outcome {
  int code = 0;  // 0, HOPPER_OUT_OF_MEMORY, or another one, which is a failure of the test
  uint64_t answer = 0;
};

// Calls `body` again and again; each time the next allocation of the whole process fails. Where
// nothing was said to have failed the answer has to be the one that it gives with memory. Then the
// same with all allocations failing from there on. After each call as much memory is in use as
// before. `body` itself must take none. Of many more allocations than `most`, in the second round a
// quarter of it, about so many fail, the first ones and others all over; HOPPER_ALL_FAULTS in the
// environment: each of them.
void FailEachAllocation(const std::function<Outcome()>& body, int most = 1 << 30);

}  // namespace hopper
