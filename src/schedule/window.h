// Which partitions are in memory where not all of them fit, and which one is read next.
//
// A sweep goes round the ring of training partitions. Models that need the partition at its front
// board there and ride with it, so that one reading serves all of them; partitions between the
// last and the first rider stay. What lies behind the last rider is needed last and goes first,
// so that memory for more than the window keeps other partitions for the next round.
// Evaluations have no order: they take whatever is in memory, and the sweep goes on until it has
// passed all that they want. Validation partitions have a ring of their own, which turns as fast
// as the training ring while that turns.
//
// Pure bookkeeping, no threads: the owner tells who wants what and does what NextLoad() says. No
// call's work grows with the number of models, but for those that board a partition together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace hopper {

class PartitionWindow {
 public:
  struct Place {
    int split = 0;
    int partition = 0;
  };

  // Bytes of each partition of both splits; the second may be empty. `budget`, the memory for
  // them, holds the largest one at least.
  PartitionWindow(std::vector<int64_t> train, std::vector<int64_t> valid, int64_t budget);

  // The model `key` needs the training partition next and then those that follow it, `visits` in
  // all; 0: it needs none for now.
  void SetRider(int key, int partition, int64_t visits);
  // One more (or less) evaluation needs the partition.
  void Want(int split, int partition) { Count(split, partition, 1); }
  void Unwant(int split, int partition) { Count(split, partition, -1); }
  // A task reads it; it stays.
  void Pin(int split, int partition) { At(split).pins[Index(partition)]++; }
  void Unpin(int split, int partition) {
    At(split).pins[Index(partition)]--;
    changed_ = true;
  }
  // The riders that need the training partition next.
  const std::set<int>& RidersTo(int partition) const { return next_[Index(partition)]; }

  bool IsLoaded(int split, int partition) const {
    return At(split).state[Index(partition)] == State::kLoaded;
  }

  bool IsLoading(int split, int partition) const {
    return partition >= 0 && partition < At(split).size() &&
           At(split).state[Index(partition)] == State::kLoading;
  }

  // True: *load is to be read once those in *dropped are gone. Until FinishLoad() nothing else is.
  bool NextLoad(Place* load, std::vector<Place>* dropped);
  void FinishLoad();

  int64_t bytes() const { return used_; }  // of what is loaded or being loaded

 private:
  enum class State : uint8_t { kAbsent, kLoading, kLoaded };
  struct Split {
    std::vector<int64_t> bytes;
    std::vector<State> state;
    std::vector<int> wanted;
    int64_t all_wanted = 0;  // sum of `wanted`
    std::vector<int> pins;
    int64_t front = 0;  // positions before it have been passed; position mod size = partition
    int64_t size() const { return static_cast<int64_t>(bytes.size()); }
  };
  struct Rider {
    int partition = 0;
    int64_t visits = 0;
    int64_t position = -1;  // of the sweep; -1: not aboard
  };

  static size_t Index(int64_t partition) { return static_cast<size_t>(partition); }
  Split& At(int split) { return splits_[static_cast<size_t>(split)]; }
  const Split& At(int split) const { return splits_[static_cast<size_t>(split)]; }
  void Count(int split, int partition, int change);
  int64_t Tail() const;
  int64_t Head() const;
  bool TrainingIsWanted() const;
  void Add(int key, const Rider& rider);
  void Remove(int key, const Rider& rider);
  int64_t LatestVisitOf(int64_t partition) const;
  bool MayBoard(int64_t position, int64_t visits) const;
  void Board(int64_t position);
  void Lead(int64_t position);
  bool Choose(Place* load, std::vector<Place>* dropped);
  bool AdvanceTraining(Place* load);
  bool AdvanceValidation(Place* load);
  bool MayEvict(int split, int64_t partition, int64_t tail) const;
  bool MakeRoom(int64_t bytes, std::vector<Place>* dropped);

  std::array<Split, 2> splits_;
  int64_t budget_;
  int64_t used_ = 0;
  bool valid_stays_ = false;
  bool loading_ = false;
  Place load_;
  bool changed_ = true;  // since NextLoad() found nothing to do
  std::map<int, Rider> riders_;
  std::vector<std::set<int>> next_;     // by partition: keys of riders that need it next
  std::vector<std::set<int>> waiting_;  // those of them that are not aboard
  // By position: how many riders there leave the sweep before which position.
  std::map<int64_t, std::map<int64_t, int>> aboard_;
};

}  // namespace hopper
