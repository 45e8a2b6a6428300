// Which partition a model visits next: pure functions, no timing, no other models.
#pragma once

#include <cstdint>
#include <vector>

namespace hopper {

// A model's walk through the partitions: it starts at starts[(mst_key - 1) mod n] and goes on
// p, p + 1, ... mod P, iteration after iteration.
class Ring {
 public:
  // `starts` is ascending and begins with 0: the first partition of each run of partitions.
  Ring(int n_partitions, std::vector<int> starts);

  int FirstPartition(int mst_key) const;
  // Partition of the `visit`-th visit (0 .. P - 1) of any iteration.
  int PartitionOf(int mst_key, int visit) const;
  int n_partitions() const { return n_partitions_; }

 private:
  int n_partitions_;
  std::vector<int> starts_;
};

}  // namespace hopper
