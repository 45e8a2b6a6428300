// A search from outside: ask what to train, tell what came of it.
//
//   Search search(std::move(request));
//   while (!search.done()) {
//     for (const SearchAssignment& work : search.Ask()) begin(work);
//     search.Tell(trial, outcome) for one or more of what runs, in any order
//   }
//
// `seats` trials are under way at once. Decisions follow virtual time: a trial takes a seat for
// cost x iterations, and results count in the order in which seats become free in that time, never
// in the order in which they are told. So the same results give the same search, whatever trains
// them and however fast. Nothing here looks at a clock; not safe for several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "search/algorithm.h"
#include "search/journal.h"

namespace hopper {

struct SearchRequest {
  std::shared_ptr<const SearchSpace> space;
  std::string algorithm;
  std::vector<ValueEntry> arguments;  // as ParseArguments() reads them; defaults for the rest
  std::vector<SearchObjective> objectives;
  std::vector<SearchConstraint> constraints;
  uint64_t seed = 0;
  int64_t seats = 8;
  // Ends of the search; nothing: none.
  std::optional<int64_t> max_configs;
  std::optional<int64_t> max_iterations;  // of all trials together
  std::optional<double> target;           // of the first objective: ends when a trial reaches it
  // The cost of one iteration of a trial in any unit, the same at each call; absent: 1. automl()
  // counts floating-point operations (capi/search_cost).
  std::function<double(const SearchPoint&)> cost;
  std::vector<SearchPoint> first;  // proposed before all others
  struct Earlier {
    SearchPoint point;
    int64_t resource = 0;
    SearchOutcome outcome;
  };
  std::vector<Earlier> history;  // of an earlier search: known, not trained again
};

// Appends everything that is wrong with a request. Without a space what the algorithm asks of it is
// left out.
void CheckSearch(const SearchRequest& request, std::vector<Problem>* problems);

// Train the trial from where it is (from another one's state where parent is not -1 and it has not
// begun) until it has `resource` iterations, and evaluate it. Assignments are begun in their order:
// a parent is asked to go on only after those that begin from its state. `from` is 0 also for a
// trial that was stopped and comes back: it trains anew.
struct SearchAssignment {
  int64_t trial = 0;
  int64_t from = 0;
  int64_t resource = 0;
  int64_t parent = -1;
};

class Search {
 public:
  // Throws Error with the first problem of CheckSearch(), or where max_iterations allows nothing.
  explicit Search(SearchRequest request);

  // What is to begin now: each assignment is returned once.
  std::vector<SearchAssignment> Ask();
  // What came of the assignment of a trial that runs.
  void Tell(int64_t trial, SearchOutcome outcome);
  // From outside, at any time. A trial that is stopped is given no more iterations; what came of
  // the ones that it trains now is still told. One that is pinned goes on whatever its results are,
  // beside those that the algorithm lets go on, until it is unpinned. False, and nothing changes,
  // where the trial is complete, has failed or was stopped. Throws Error where there is no such
  // trial.
  bool StopTrial(int64_t trial, const std::string& reason);
  bool PinTrial(int64_t trial, bool pinned, const std::string& reason);
  // Proposed before all others, once a new configuration is to begin. Throws Error
  // (kInvalidParameter) where it was tried before, or nothing more begins.
  void Enqueue(SearchPoint point);
  // Begins nothing more; what runs may still be told.
  void Stop(const std::string& reason);
  // Nothing runs, and nothing is left to begin.
  bool done() const { return seats_.empty() && waiting_.empty() && ended_; }

  const SearchJournal& journal() const { return journal_; }
  // Why it ended; "" while it goes on.
  const std::string& end_reason() const { return end_reason_; }
  // Iterations trained, of all trials; of those that run, begun.
  int64_t iterations() const { return iterations_; }
  // The best of this search's own trials by its last result; nothing where all failed.
  std::optional<int64_t> best() const;

 private:
  struct Seat {
    int64_t trial = 0;
    int64_t resource = 0;
    int64_t more = 0;    // iterations that it was given
    int64_t before = 0;  // that it had
    double end = 0;      // virtual
    int64_t number = 0;  // in the order of beginning
    std::optional<SearchOutcome> outcome;
  };

  void Fill();
  void Begin(const SearchWork& work, int64_t from);
  int64_t TrainedBefore(const Trial& trial, int64_t from) const;
  [[noreturn]] void RefuseBudget(int64_t needed) const;
  void Settle();
  void End(const std::string& reason);
  bool ReachesTarget(const TrialResult& result) const;

  SearchRequest request_;
  SearchJournal journal_;
  std::unique_ptr<SearchAlgorithm> algorithm_;
  std::vector<Seat> seats_;
  std::vector<SearchAssignment> waiting_;  // not asked for yet
  // For which the budget is too small, until what runs has ended: it may train less than planned.
  std::optional<SearchWork> held_;
  int64_t begun_ = 0;
  int64_t iterations_ = 0;
  bool ended_ = false;
  std::string end_reason_;
};

// Trials of which no other is at least as good in all objectives and better in one, among those
// that keep the constraints; by their last results, in their order.
std::vector<int64_t> ParetoSet(const SearchJournal& journal);

}  // namespace hopper
