#include "engine/torch/lane_copies.h"

#include <algorithm>

#include "base/number_text.h"

namespace hopper {

Error DoesNotFitOnDevice(const std::string& what, const std::string& label, int64_t needed,
                         int64_t free, const char* hint) {
  return Error(ErrorCode::kOutOfMemory, what + " not fit on " + label,
               "It needs about " + BytesText(needed) + ", " +
                   BytesText(std::max<int64_t>(free, 0)) + " are free.",
               hint);
}

std::shared_ptr<const LaneCopies::Copy> LaneCopies::On(int index, const std::string& label,
                                                       const Dataset& train, const Dataset* valid,
                                                       LaneDevice* device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (std::shared_ptr<const Copy> there = copies_[index].lock()) return there;
  const int64_t needed = train.bytes() + (valid == nullptr ? 0 : valid->bytes());
  const int64_t free = device->free_bytes();
  if (free >= 0 && needed > free) {
    throw DoesNotFitOnDevice("the packed data do", label, needed, free,
                             "Use a GPU with more memory, or use_gpus => false.");
  }
  auto copy = std::make_shared<Copy>();
  copy->train = std::make_unique<LaneData>(train, device);
  if (valid != nullptr) copy->valid = std::make_unique<LaneData>(*valid, device);
  device->Synchronize();  // other workers' queues read it
  copies_[index] = copy;
  return copy;
}

}  // namespace hopper
