#include "base/unique_names.h"

#include <algorithm>
#include <cstdlib>

#include "base/cancel.h"

namespace hopper {

std::string UniqueNames::Take(const std::string& name) {
  LookAtCancel();
  if (TakeAsItIs(name)) return name;
  int& number = next_.try_emplace(name, 2).first->second;
  for (;;) {
    std::string unique = name + mark_ + std::to_string(number++);
    if (TakeAsItIs(unique)) return unique;
  }
}

void UniqueNames::GiveBack(const std::string& name) {
  if (taken_.erase(name) == 0) return;
  const size_t mark = name.rfind(mark_);
  if (mark == std::string::npos) return;
  const auto at = next_.find(name.substr(0, mark));
  const int number = std::atoi(name.c_str() + mark + mark_.size());
  if (at != next_.end() && number >= 2) at->second = std::min(at->second, number);
}

}  // namespace hopper
