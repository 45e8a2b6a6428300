#include "autograd/tensor_memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include "base/error.h"

namespace hopper {

namespace {

class TensorAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    void* block = TakeBlock(bytes);
    return {block, block, &GiveBlock, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &GiveBlock; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

const bool registered = [] {
  static TensorAllocator allocator;
  c10::SetCPUAllocator(&allocator, /*priority=*/1);
  return true;
}();

}  // namespace

TensorMemoryScope::TensorMemoryScope(MemoryAccount* account, bool promises)
    : MemoryScope(account, promises) {
  if (!registered) throw Error(ErrorCode::kInternal, "tensors have no memory");
}

}  // namespace hopper
