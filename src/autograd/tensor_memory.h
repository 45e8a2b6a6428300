// libtorch's CPU tensors lie in workers' blocks.
#pragma once

#include "base/worker_memory.h"

namespace hopper {

// A MemoryScope that also has this thread's tensors. The allocator is registered with c10 when the
// library is loaded: a block must be given back to the allocator that it came from.
class TensorMemoryScope : public MemoryScope {
 public:
  explicit TensorMemoryScope(MemoryAccount* account, bool promises = false);
};

}  // namespace hopper
