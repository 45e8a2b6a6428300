#include "schedule/window.h"

#include <algorithm>

namespace hopper {

namespace {

constexpr int kTrain = 0;
constexpr int kValid = 1;

int64_t Sum(const std::vector<int64_t>& values) {
  int64_t sum = 0;
  for (const int64_t value : values) sum += value;
  return sum;
}

int64_t Largest(const std::vector<int64_t>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

}  // namespace

PartitionWindow::PartitionWindow(std::vector<int64_t> train, std::vector<int64_t> valid,
                                 int64_t budget)
    : budget_(budget) {
  // Beside two training partitions, the one in work and the next.
  valid_stays_ = Sum(valid) <= budget - 2 * Largest(train);
  At(kTrain).bytes = std::move(train);
  At(kValid).bytes = std::move(valid);
  for (Split& split : splits_) {
    split.state.resize(split.bytes.size(), State::kAbsent);
    split.wanted.resize(split.bytes.size(), 0);
    split.pins.resize(split.bytes.size(), 0);
  }
  next_.resize(At(kTrain).bytes.size());
  waiting_.resize(At(kTrain).bytes.size());
}

void PartitionWindow::Count(int split, int partition, int change) {
  At(split).wanted[Index(partition)] += change;
  At(split).all_wanted += change;
  changed_ = true;
}

// Position of the last rider.
int64_t PartitionWindow::Tail() const {
  const int64_t front = At(kTrain).front;
  return aboard_.empty() ? front : std::min(front, aboard_.begin()->first);
}

// Position of the first one, or -1.
int64_t PartitionWindow::Head() const { return aboard_.empty() ? -1 : aboard_.rbegin()->first; }

bool PartitionWindow::TrainingIsWanted() const {
  return !riders_.empty() || At(kTrain).all_wanted > 0;
}

void PartitionWindow::Add(int key, const Rider& rider) {
  next_[Index(rider.partition)].insert(key);
  if (rider.position < 0) {
    waiting_[Index(rider.partition)].insert(key);
  } else {
    ++aboard_[rider.position][rider.position + rider.visits];
  }
}

void PartitionWindow::Remove(int key, const Rider& rider) {
  next_[Index(rider.partition)].erase(key);
  if (rider.position < 0) {
    waiting_[Index(rider.partition)].erase(key);
    return;
  }
  const auto at = aboard_.find(rider.position);
  const auto end = at->second.find(rider.position + rider.visits);
  if (--end->second == 0) at->second.erase(end);
  if (at->second.empty()) aboard_.erase(at);
}

// Takes those along who wait for the partition at the position, which is loaded.
void PartitionWindow::Board(int64_t position) {
  const size_t partition = Index(position % At(kTrain).size());
  for (const int key : waiting_[partition]) {
    Rider& rider = riders_[key];
    rider.position = position;
    ++aboard_[position][position + rider.visits];
  }
  waiting_[partition].clear();
}

// The last position before the front at which the sweep was at the partition; it may be negative.
int64_t PartitionWindow::LatestVisitOf(int64_t partition) const {
  const int64_t n = At(kTrain).size();
  const int64_t last = At(kTrain).front - 1;
  return last - ((last - partition) % n + n) % n;
}

// Whether all that it will read on its way to the front is there. The sweep passes over partitions
// that nobody aboard needs, and does not come back for them: behind the front, a rider that
// boarded before such a gap would wait for ever, and hold the window.
bool PartitionWindow::MayBoard(int64_t position, int64_t visits) const {
  if (position < 0 || position < Tail()) return false;
  const Split& train = At(kTrain);
  const int64_t end = std::min(train.front, position + visits);
  for (int64_t at = position; at < end; ++at) {
    if (!IsLoaded(kTrain, static_cast<int>(at % train.size()))) return false;
  }
  return true;
}

// Where all of the ring is in memory the front waits for the last rider, and the first one goes
// past it over what is there. The front comes with it: nobody would read for whoever is beyond it.
void PartitionWindow::Lead(int64_t position) {
  for (int64_t& front = At(kTrain).front; front < position; ++front) {
    if (IsLoaded(kTrain, static_cast<int>(front % At(kTrain).size()))) Board(front);
  }
}

void PartitionWindow::SetRider(int key, int partition, int64_t visits) {
  const auto known = riders_.find(key);
  Rider before;
  if (known != riders_.end()) {
    before = known->second;
    if (before.partition == partition && before.visits == visits) return;
    Remove(key, before);
  } else if (visits <= 0) {
    return;
  }
  changed_ = true;
  if (visits <= 0) {
    riders_.erase(known);
    return;
  }
  Rider rider = {partition, visits, -1};
  if (before.position >= 0) {
    const int64_t position = before.position + (visits < before.visits ? 1 : 0);
    if (position % At(kTrain).size() == partition) {
      rider.position = position;
      Lead(position);
    }
  }
  if (rider.position < 0) {
    // The last time that the sweep was there: aboard, if that is in its window still.
    const int64_t position = LatestVisitOf(partition);
    if (MayBoard(position, visits)) rider.position = position;
  }
  riders_[key] = rider;
  Add(key, rider);
}

bool PartitionWindow::AdvanceTraining(Place* load) {
  Split& train = At(kTrain);
  const int64_t n = train.size();
  int64_t position = train.front;
  // Where the last of those leaves who are at the position or before it.
  int64_t reach = -1;
  auto next = aboard_.begin();
  for (const int64_t end = position + n; position < end; ++position) {
    if (position - Tail() >= n) return false;  // all of the ring is in the window
    for (; next != aboard_.end() && next->first <= position; ++next) {
      reach = std::max(reach, next->second.rbegin()->first);
    }
    const size_t partition = Index(position % n);
    const bool reached = position < reach || !waiting_[partition].empty();
    if (train.state[partition] == State::kLoaded) {
      // Evaluations are served while the sweep stands still.
      if (!reached) continue;
      if (!waiting_[partition].empty()) {
        Board(position);
        reach = std::max(reach, aboard_[position].rbegin()->first);
      }
      train.front = position + 1;
      continue;
    }
    if (!reached && train.wanted[partition] == 0) continue;
    // Reading further ahead than one partition would drop those kept for the next round.
    const bool fits = used_ + train.bytes[partition] <= budget_;
    if (!fits && Head() >= 0 && position > Head() + 1) return false;
    train.front = position;
    *load = {kTrain, static_cast<int>(partition)};
    return true;
  }
  return false;
}

bool PartitionWindow::AdvanceValidation(Place* load) {
  Split& valid = At(kValid);
  const int64_t n = valid.size();
  if (n == 0) return false;
  const auto absent = [&](int64_t position) {
    const size_t partition = Index(position % n);
    return valid.wanted[partition] > 0 && valid.state[partition] == State::kAbsent;
  };
  // As far round its ring as training is; a segment may have validation partitions alone.
  const Split& train = At(kTrain);
  const int64_t pace = train.size() == 0 ? valid.front : train.front * n / train.size();
  int64_t position = valid.front;
  while (position < valid.front + n && !absent(position)) ++position;
  if (position == valid.front + n) {  // nobody waits: it keeps up
    valid.front = std::max(valid.front, pace);
    return false;
  }
  if (!valid_stays_ && position >= pace && TrainingIsWanted()) return false;
  valid.front = position;
  *load = {kValid, static_cast<int>(position % n)};
  return true;
}

bool PartitionWindow::MayEvict(int split, int64_t partition, int64_t tail) const {
  const Split& data = At(split);
  const size_t at = Index(partition);
  if (data.state[at] != State::kLoaded || data.wanted[at] > 0 || data.pins[at] > 0) return false;
  if (split == kValid) return !valid_stays_;
  return LatestVisitOf(partition) < tail && waiting_[at].empty();
}

// False where too little can be dropped; then nothing is.
bool PartitionWindow::MakeRoom(int64_t bytes, std::vector<Place>* dropped) {
  int64_t free = budget_ - used_;
  std::vector<Place> chosen;
  const auto take = [&](int split, int64_t partition) {
    chosen.push_back({split, static_cast<int>(partition)});
    free += At(split).bytes[Index(partition)];
  };
  const int64_t tail = Tail();
  for (int64_t p = 0; p < At(kValid).size() && free < bytes; ++p) {
    if (MayEvict(kValid, p, tail)) take(kValid, p);
  }
  // Partitions just behind the sweep are needed last.
  const int64_t n = At(kTrain).size();
  for (int64_t back = 1; back <= n && free < bytes; ++back) {
    const int64_t p = ((tail - back) % n + n) % n;
    if (MayEvict(kTrain, p, tail)) take(kTrain, p);
  }
  if (free < bytes) return false;
  for (const Place& place : chosen) {
    At(place.split).state[Index(place.partition)] = State::kAbsent;
    used_ -= At(place.split).bytes[Index(place.partition)];
    dropped->push_back(place);
  }
  return true;
}

bool PartitionWindow::NextLoad(Place* load, std::vector<Place>* dropped) {
  dropped->clear();
  if (!changed_) return false;
  const int64_t front = At(kTrain).front;
  const bool loads = Choose(load, dropped);
  changed_ = loads || At(kTrain).front != front;
  return loads;
}

bool PartitionWindow::Choose(Place* load, std::vector<Place>* dropped) {
  // The sweep goes over what is in memory also while a validation partition is being read.
  Place train;
  const bool sweeps = !(loading_ && load_.split == kTrain) && AdvanceTraining(&train);
  if (loading_) return false;
  // Validation first: it asks for no more than its share, and training would leave it no room.
  // Where its room is not free yet training waits, and empties its window meanwhile.
  if (!AdvanceValidation(load)) {
    if (!sweeps) return false;
    *load = train;
  }
  Split& data = At(load->split);
  const size_t at = Index(load->partition);
  if (!MakeRoom(data.bytes[at], dropped)) return false;
  data.state[at] = State::kLoading;
  used_ += data.bytes[at];
  loading_ = true;
  load_ = *load;
  return true;
}

void PartitionWindow::FinishLoad() {
  Split& data = At(load_.split);
  data.state[Index(load_.partition)] = State::kLoaded;
  loading_ = false;
  changed_ = true;
  if (load_.split == kTrain) Board(data.front);
  ++data.front;
}

}  // namespace hopper
