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
}

// Position of the last traveller.
int64_t PartitionWindow::Tail() const {
  int64_t tail = At(kTrain).front;
  for (const auto& [key, traveller] : travellers_) {
    if (traveller.position >= 0) tail = std::min(tail, traveller.position);
  }
  return tail;
}

// Position of the first one, or -1.
int64_t PartitionWindow::Head() const {
  int64_t head = -1;
  for (const auto& [key, traveller] : travellers_) head = std::max(head, traveller.position);
  return head;
}

// True where a traveller comes to the position, or waits there.
bool PartitionWindow::Reaches(int64_t position) const {
  const int64_t partition = position % At(kTrain).size();
  return std::any_of(travellers_.begin(), travellers_.end(), [&](const auto& entry) {
    const Traveller& traveller = entry.second;
    if (traveller.position < 0) return traveller.partition == partition;
    return position >= traveller.position && position < traveller.position + traveller.visits;
  });
}

bool PartitionWindow::TrainingIsWanted() const {
  const std::vector<int>& wanted = At(kTrain).wanted;
  return !travellers_.empty() ||
         std::any_of(wanted.begin(), wanted.end(), [](int count) { return count > 0; });
}

// Takes those along who wait for the partition at the position, which is loaded.
void PartitionWindow::Board(int64_t position) {
  const int64_t partition = position % At(kTrain).size();
  for (auto& [key, traveller] : travellers_) {
    if (traveller.position < 0 && traveller.partition == partition) traveller.position = position;
  }
}

void PartitionWindow::SetTraveller(int key, int partition, int64_t visits) {
  if (visits <= 0) {
    travellers_.erase(key);
    return;
  }
  const Split& train = At(kTrain);
  Traveller& traveller = travellers_[key];
  const Traveller before = traveller;
  traveller = {partition, visits, -1};
  if (before.position >= 0) {
    traveller.position = before.position + (visits < before.visits ? 1 : 0);
    if (traveller.position % train.size() == partition) return;
    traveller.position = -1;
  }
  // The last time that the sweep was there: aboard, if that is in its window still.
  const int64_t n = train.size();
  const int64_t last = train.front - 1;
  const int64_t position = last - ((last - partition) % n + n) % n;
  if (position >= 0 && position >= Tail() && IsLoaded(kTrain, partition)) {
    traveller.position = position;
  }
}

bool PartitionWindow::AdvanceTraining(Place* load) {
  Split& train = At(kTrain);
  const int64_t n = train.size();
  int64_t position = train.front;
  for (const int64_t end = position + n; position < end; ++position) {
    if (position - Tail() >= n) return false;  // all of the ring is in the window
    const size_t partition = Index(position % n);
    const bool reached = Reaches(position);
    if (train.state[partition] == State::kLoaded) {
      // Evaluations are served while the sweep stands still.
      if (!reached) continue;
      Board(position);
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
  // As far round its ring as training is.
  const int64_t pace = At(kTrain).front * n / At(kTrain).size();
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
  const int64_t n = data.size();
  const int64_t last = data.front - 1;
  const int64_t position = last - ((last - partition) % n + n) % n;
  if (position >= tail) return false;
  return std::none_of(travellers_.begin(), travellers_.end(), [&](const auto& entry) {
    return entry.second.position < 0 && entry.second.partition == partition;
  });
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
  // Those just behind the sweep are needed last.
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
  if (load_.split == kTrain) Board(data.front);
  ++data.front;
}

}  // namespace hopper
