#include "schedule/companions.h"

namespace hopper {

void Companions::Set(size_t model, const std::string& kind) {
  if (model < kinds_.size() && kinds_[model] == kind) return;
  Remove(model);
  if (model >= kinds_.size()) kinds_.resize(model + 1);
  due_[kind].insert(model);
  kinds_[model] = kind;
}

void Companions::Remove(size_t model) {
  if (model >= kinds_.size() || kinds_[model].empty()) return;
  const auto of = due_.find(kinds_[model]);
  of->second.erase(model);
  if (of->second.empty()) due_.erase(of);
  kinds_[model].clear();
}

int64_t Companions::NextOf(const std::string& kind, int64_t after) const {
  ++looks_;
  const auto of = due_.find(kind);
  if (of == due_.end()) return -1;
  const auto next =
      after < 0 ? of->second.begin() : of->second.upper_bound(static_cast<size_t>(after));
  return next == of->second.end() ? -1 : static_cast<int64_t>(*next);
}

}  // namespace hopper
