#include "schedule/ready.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hopper {

ReadyModels::ReadyModels(const std::vector<int64_t>& needs) : place_(needs.size()) {
  if (needs.empty()) return;
  Part all;
  all.model.resize(needs.size());
  std::iota(all.model.begin(), all.model.end(), size_t{0});
  std::stable_sort(all.model.begin(), all.model.end(),
                   [&](size_t a, size_t b) { return needs[a] < needs[b]; });
  for (const size_t model : all.model) all.needs.push_back(needs[model]);
  all.work.resize(needs.size());
  all.ready.resize(needs.size(), false);
  Append(std::move(all));
}

void ReadyModels::Add(int64_t needs) {
  Part part;
  part.needs = {needs};
  part.model = {place_.size()};
  part.work = {0.0};
  part.ready = {false};
  place_.emplace_back();
  while (!parts_.empty() && parts_.back().size() <= part.size()) {
    part = Merge(parts_.back(), part);
    parts_.pop_back();
  }
  Append(std::move(part));
}

ReadyModels::Part ReadyModels::Merge(const Part& a, const Part& b) const {
  Part both;
  const auto take = [&](const Part& from, size_t* at) {
    ++looks_;
    both.needs.push_back(from.needs[*at]);
    both.model.push_back(from.model[*at]);
    both.work.push_back(from.work[*at]);
    both.ready.push_back(from.ready[*at]);
    ++*at;
  };
  size_t first = 0;
  size_t second = 0;
  while (first < a.size() || second < b.size()) {
    const bool is_first =
        second == b.size() || (first < a.size() && a.needs[first] <= b.needs[second]);
    is_first ? take(a, &first) : take(b, &second);
  }
  return both;
}

void ReadyModels::Append(Part part) {
  while (part.leaves < part.size()) part.leaves *= 2;
  part.winner.assign(2 * part.leaves, kNobody);
  for (size_t at = 0; at < part.size(); ++at) {
    place_[part.model[at]] = {parts_.size(), at};
    if (part.ready[at]) part.winner[part.leaves + at] = static_cast<int32_t>(at);
  }
  for (size_t node = part.leaves - 1; node > 0; --node) {
    part.winner[node] = Better(part, part.winner[2 * node], part.winner[2 * node + 1]);
  }
  parts_.push_back(std::move(part));
}

int32_t ReadyModels::Better(const Part& part, int32_t a, int32_t b) const {
  ++looks_;
  if (a == kNobody) return b;
  if (b == kNobody) return a;
  const auto first = static_cast<size_t>(a);
  const auto second = static_cast<size_t>(b);
  if (part.work[first] != part.work[second]) return part.work[first] > part.work[second] ? a : b;
  return part.model[first] < part.model[second] ? a : b;
}

void ReadyModels::Update(const Place& place) {
  Part& part = parts_[place.part];
  size_t node = part.leaves + place.at;
  part.winner[node] = part.ready[place.at] ? static_cast<int32_t>(place.at) : kNobody;
  for (node /= 2; node > 0; node /= 2) {
    part.winner[node] = Better(part, part.winner[2 * node], part.winner[2 * node + 1]);
  }
}

void ReadyModels::Set(size_t model, double work) {
  const Place& place = place_[model];
  Part& part = parts_[place.part];
  if (part.ready[place.at] && part.work[place.at] == work) return;
  part.ready[place.at] = true;
  part.work[place.at] = work;
  Update(place);
}

void ReadyModels::Remove(size_t model) {
  const Place& place = place_[model];
  Part& part = parts_[place.part];
  if (!part.ready[place.at]) return;
  part.ready[place.at] = false;
  Update(place);
}

int32_t ReadyModels::BestOf(const Part& part, int64_t room) const {
  if (part.needs.back() <= room) {
    ++looks_;
    return part.winner[1];
  }
  // The best of the places before the first that needs too much.
  int32_t best = kNobody;
  const auto above = std::upper_bound(part.needs.begin(), part.needs.end(), room);
  size_t end = part.leaves + static_cast<size_t>(above - part.needs.begin());
  for (size_t begin = part.leaves; begin < end; begin /= 2, end /= 2) {
    if (begin % 2 == 1) best = Better(part, best, part.winner[begin++]);
    if (end % 2 == 1) best = Better(part, best, part.winner[--end]);
  }
  return best;
}

int64_t ReadyModels::Best(int64_t room) const {
  int64_t best = -1;
  double most = 0.0;
  for (const Part& part : parts_) {
    const int32_t found = BestOf(part, room);
    if (found == kNobody) continue;
    const auto at = static_cast<size_t>(found);
    const auto model = static_cast<int64_t>(part.model[at]);
    if (best >= 0 && (part.work[at] < most || (part.work[at] == most && best < model))) continue;
    best = model;
    most = part.work[at];
  }
  return best;
}

}  // namespace hopper
