#include "schedule/ready.h"

#include <algorithm>
#include <numeric>

namespace hopper {

ReadyModels::ReadyModels(const std::vector<int64_t>& needs)
    : place_(needs.size()), model_(needs.size()), work_(needs.size()), ready_(needs.size(), false) {
  std::iota(model_.begin(), model_.end(), size_t{0});
  std::stable_sort(model_.begin(), model_.end(),
                   [&](size_t a, size_t b) { return needs[a] < needs[b]; });
  for (size_t place = 0; place < model_.size(); ++place) {
    place_[model_[place]] = place;
    needs_.push_back(needs[model_[place]]);
  }
  while (leaves_ < model_.size()) leaves_ *= 2;
  winner_.assign(2 * leaves_, kNobody);
}

void ReadyModels::Add(int64_t needs) {
  const auto at = std::upper_bound(needs_.begin(), needs_.end(), needs) - needs_.begin();
  needs_.insert(needs_.begin() + at, needs);
  model_.insert(model_.begin() + at, model_.size());
  work_.insert(work_.begin() + at, 0.0);
  ready_.insert(ready_.begin() + at, false);
  place_.resize(model_.size());
  while (leaves_ < model_.size()) leaves_ *= 2;
  winner_.assign(2 * leaves_, kNobody);
  for (size_t place = 0; place < model_.size(); ++place) {
    place_[model_[place]] = place;
    if (ready_[place]) winner_[leaves_ + place] = static_cast<int32_t>(place);
  }
  for (size_t node = leaves_ - 1; node > 0; --node) {
    winner_[node] = Better(winner_[2 * node], winner_[2 * node + 1]);
  }
}

int32_t ReadyModels::Better(int32_t a, int32_t b) const {
  ++looks_;
  if (a == kNobody) return b;
  if (b == kNobody) return a;
  const auto first = static_cast<size_t>(a);
  const auto second = static_cast<size_t>(b);
  if (work_[first] != work_[second]) return work_[first] > work_[second] ? a : b;
  return model_[first] < model_[second] ? a : b;
}

void ReadyModels::Update(size_t place) {
  size_t node = leaves_ + place;
  winner_[node] = ready_[place] ? static_cast<int32_t>(place) : kNobody;
  for (node /= 2; node > 0; node /= 2) {
    winner_[node] = Better(winner_[2 * node], winner_[2 * node + 1]);
  }
}

void ReadyModels::Set(size_t model, double work) {
  const size_t place = place_[model];
  if (ready_[place] && work_[place] == work) return;
  ready_[place] = true;
  work_[place] = work;
  Update(place);
}

void ReadyModels::Remove(size_t model) {
  const size_t place = place_[model];
  if (!ready_[place]) return;
  ready_[place] = false;
  Update(place);
}

int64_t ReadyModels::Best(int64_t room) const {
  int32_t best = kNobody;
  if (needs_.empty() || needs_.back() <= room) {
    ++looks_;
    best = winner_[1];
  } else {
    // The best of the places before the first that needs too much.
    size_t end =
        leaves_ +
        static_cast<size_t>(std::upper_bound(needs_.begin(), needs_.end(), room) - needs_.begin());
    for (size_t begin = leaves_; begin < end; begin /= 2, end /= 2) {
      if (begin % 2 == 1) best = Better(best, winner_[begin++]);
      if (end % 2 == 1) best = Better(best, winner_[--end]);
    }
  }
  return best == kNobody ? -1 : static_cast<int64_t>(model_[static_cast<size_t>(best)]);
}

}  // namespace hopper
