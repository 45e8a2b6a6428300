#include "schedule/wanted_states.h"

namespace hopper {

int64_t WantedStates::Next(const std::function<bool(size_t, bool)>& wanted) {
  for (const bool admitted : {false, true}) {
    std::deque<size_t>& models = admitted ? admitted_ : to_check_;
    for (; !models.empty(); models.pop_front()) {
      ++looks_;
      if (wanted(models.front(), admitted)) return static_cast<int64_t>(models.front());
    }
  }
  return -1;
}

}  // namespace hopper
