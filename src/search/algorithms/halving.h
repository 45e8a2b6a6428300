// One bracket of successive halving (Jamieson, Talwalkar: "Non-stochastic Best Arm Identification
// and Hyperparameter Optimization", AISTATS 2016): when all of a rung are told, the best go on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "search/algorithm.h"
#include "search/hyperband_schedule.h"

namespace hopper {

class HalvingBracket {
 public:
  // `number` tells decisions of several brackets apart, `draw` what they draw at random: each has
  // another one. `rungs` is not empty. Of each rung the best floor(1 / eta), at least one, go on.
  HalvingBracket(int number, uint64_t draw, std::vector<Rung> rungs, int64_t eta);

  // The next of the bracket's work that can begin.
  std::optional<SearchWork> Next(SearchJournal* journal, SearchProposer* proposer);
  bool done() const { return rung_ == rungs_.size(); }

 private:
  bool Recruit(SearchJournal* journal, SearchProposer* proposer);
  bool Reuse(SearchJournal* journal);
  void Promote(SearchJournal* journal);
  int rung() const { return static_cast<int>(rung_); }

  int number_;
  uint64_t draw_;
  std::vector<Rung> rungs_;
  int64_t eta_;
  size_t rung_ = 0;
  bool recruited_ = false;
  std::vector<int64_t> members_;  // of the rung
  size_t next_ = 0;               // those before it were looked at
  std::vector<int64_t> open_;     // of those, without a result that was seen
};

}  // namespace hopper
