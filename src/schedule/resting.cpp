#include "schedule/resting.h"

namespace hopper {

void RestingModels::Set(size_t model, bool rests) {
  if (rests) {
    models_.insert(model);
  } else {
    models_.erase(model);
  }
}

int64_t RestingModels::FirstBeside(size_t model) const {
  for (const size_t other : models_) {
    ++looks_;
    if (other != model) return static_cast<int64_t>(other);
  }
  return -1;
}

}  // namespace hopper
