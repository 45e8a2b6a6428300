// What a search knows: trials with their results, and each decision with its reason. It is all
// that proposers and algorithms look at, so that the same results in the same order of virtual time
// lead to the same decisions.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/philox.h"
#include "search/space.h"

namespace hopper {

// What a search looks for: a metric, or several with weights.
struct SearchObjective {
  std::string name;
  bool ascends = false;  // larger is better
  double weight = 1;
};
// A metric that is to be at most `bound` (at least, where it ascends).
struct SearchConstraint {
  std::string name;
  double bound = 0;
  bool at_least = false;
};

// What came of training a trial: the values of the weights that it would deliver, which may be
// those of its best iteration.
struct SearchOutcome {
  std::vector<double> objectives;   // as the search's objectives
  std::vector<double> constraints;  // values of the search's constraints
  // Of objectives, then constraints, where its state is: after its last iteration. Empty: the same.
  std::vector<double> last;
  // That it has trained, from its beginning; nothing: as many as were asked for.
  std::optional<int64_t> iterations;
  bool failed = false;
  std::string reason;  // of a failure
};

// How a result compares: smaller is better. Results that keep the constraints come first, by their
// loss (the weighted sum of objectives, those that ascend negated); then those that do not, by how
// far they miss them, and by their loss where that is equal; then failures (Gelbart, Snoek, Adams
// 2014 and Deb 2000 compare this way).
struct Standing {
  enum Grade { kKept, kMissed, kFailed };
  Grade grade = kFailed;
  double value = 0;
  double loss = 0;  // kMissed

  bool operator<(const Standing& other) const {
    return std::tie(grade, value, loss) < std::tie(other.grade, other.value, other.loss);
  }
};

struct TrialResult {
  int64_t resource = 0;    // iterations from the beginning, as they were asked for
  int64_t iterations = 0;  // as they were trained: early stopping ends them
  SearchOutcome outcome;
  Standing standing;
  Standing at_last;  // of its state: who goes on from it begins there
  double time = 0;   // virtual
};

struct Trial {
  int64_t id = 0;  // its place among the search's trials
  SearchPoint point;
  std::vector<TrialResult> results;  // resources ascend
  int64_t resource = 0;              // trained so far, or will be when what runs is done
  bool running = false;
  bool stopped = false;    // its state is of no more use; if it comes back, it trains anew
  bool over = false;       // stopped from outside: it trains no further, and its results stay
  bool pinned = false;     // it goes on whatever its results are
  bool completed = false;  // by the last decision about it
  bool earlier = false;    // of an earlier search: known, never trained
  int64_t parent = -1;     // whose state it began from, at parent_resource
  int64_t parent_resource = 0;

  bool failed() const {
    return !results.empty() && results.back().standing.grade == Standing::kFailed;
  }
  // It may be given more iterations.
  bool GoesOn() const { return !over && !failed(); }
  // The first result of at least this resource, a failure in any case; nullptr: there is none yet.
  const TrialResult* ResultAt(int64_t at) const;
};

enum class DecisionKind {
  kProposed,
  kReused,
  kPromoted,
  kStopped,
  kExploited,
  kCompleted,
  kFailed,
  kExhausted,
  kEnded,
  kPinned,
  kUnpinned,
};
const char* DecisionName(DecisionKind kind);

struct Decision {
  DecisionKind kind = DecisionKind::kProposed;
  int64_t trial = -1;  // -1: of the search
  int bracket = -1;
  int rung = -1;
  int64_t resource = 0;
  std::optional<double> score;  // a proposal's; larger is better
  int64_t parent = -1;
  std::string reason;
  double time = 0;  // virtual
};

// A rung of successive halving that was decided: all of its trials have a result.
struct RungEnd {
  int bracket = -1;
  int rung = -1;
  int64_t resource = 0;
  int64_t configs = 0;
  int64_t failed = 0;  // of them
  int64_t go_on = 0;
  int64_t best = -1;  // -1: all failed
};

struct Proposal {
  SearchPoint point;
  std::optional<double> score;
  std::string reason;
};

class SearchJournal;

// Where configurations come from.
class SearchProposer {
 public:
  virtual ~SearchProposer() = default;
  // A point that no trial has; nothing where there is none left.
  virtual std::optional<Proposal> Propose(const SearchJournal& journal) = 0;
};

class SearchJournal {
 public:
  SearchJournal(std::shared_ptr<const SearchSpace> space, uint64_t seed,
                std::vector<SearchObjective> objectives, std::vector<SearchConstraint> constraints);

  const SearchSpace& space() const { return *space_; }
  uint64_t seed() const { return seed_; }
  const std::vector<Trial>& trials() const { return trials_; }
  const Trial& trial(int64_t id) const { return trials_[static_cast<size_t>(id)]; }
  const std::vector<Decision>& decisions() const { return decisions_; }
  const std::vector<RungEnd>& rungs() const { return rungs_; }
  const std::vector<SearchObjective>& objectives() const { return objectives_; }
  const std::vector<SearchConstraint>& constraints() const { return constraints_; }
  double now() const { return now_; }
  Standing StandingOf(const SearchOutcome& outcome) const;
  bool IsTried(const SearchPoint& point) const;
  // A proposal was wanted, and no point was left.
  bool SpaceIsExhausted() const { return space_exhausted_; }
  // A proposal was wanted, and there were max_configs trials already.
  bool IsSpent() const { return full_; }
  // How many trials were made here, the ones of earlier searches left out.
  int64_t CountOwn() const { return own_; }
  // Draw number `draw` of a stream that only this use has.
  Philox Random(uint32_t stream, uint64_t draw) const {
    return Philox(seed_, Purpose::kSearch, stream, draw);
  }

  // A new trial: one of the user's first configurations while there are some, else the proposer's.
  // Nothing where no point is left; that is noted once.
  std::optional<int64_t> Propose(SearchProposer* proposer, int bracket, int rung, int64_t resource);
  // A trial that goes on from another's state; nothing where the budget is spent.
  std::optional<int64_t> Exploit(SearchPoint point, int64_t parent, int64_t resource,
                                 std::string reason);
  void Note(Decision decision);
  void EndRung(RungEnd end) { rungs_.push_back(end); }
  void Stop(int64_t trial, int bracket, int rung, std::string reason);

  // For the search that owns the journal.
  // No more proposals after so many trials: what was proposed may still go on.
  void LimitConfigs(int64_t max_configs) { max_configs_ = max_configs; }
  void AddFirst(SearchPoint point) { first_.push_back(std::move(point)); }
  void AddEarlier(SearchPoint point, int64_t resource, const SearchOutcome& outcome);
  void Begin(int64_t trial, int64_t resource);
  // As Search says. False where the trial goes on no more: nothing changes.
  bool StopFromOutside(int64_t trial, std::string reason);
  bool Pin(int64_t trial, bool pinned, std::string reason);
  void AddResult(int64_t trial, int64_t resource, SearchOutcome outcome);
  void SetTime(double now) { now_ = now; }

 private:
  int64_t Add(SearchPoint point, bool earlier);
  // The trial, and a decision about it, where it may be steered; else nullptr.
  Trial* Steer(int64_t trial, DecisionKind kind, std::string reason);
  // Whether the budget of configurations is spent, which is noted once, where a trial was wanted.
  bool IsFull(const Decision& wanted);
  void NoteExhausted(Decision decision, std::string reason);

  std::shared_ptr<const SearchSpace> space_;
  uint64_t seed_;
  std::vector<SearchObjective> objectives_;
  std::vector<SearchConstraint> constraints_;
  std::vector<Trial> trials_;
  std::vector<Decision> decisions_;
  std::vector<RungEnd> rungs_;
  std::deque<SearchPoint> first_;
  std::set<std::string> tried_;
  int64_t own_ = 0;         // trials that are not of an earlier search
  bool exhausted_ = false;  // that was noted
  bool full_ = false;
  bool space_exhausted_ = false;
  int64_t max_configs_ = 0;  // 0: no limit
  double now_ = 0;
};

// The trials from best to worst by their last result; those without one are left out, equals
// stand in their order.
std::vector<int64_t> RankTrials(const SearchJournal& journal);

// Uniform points that nobody tried: number `draw` of them. Nothing where there are none left, or
// where none is found in a space that is too large to list.
std::optional<SearchPoint> DrawUntried(const SearchJournal& journal, uint32_t stream,
                                       uint64_t draw);

// Streams of random numbers, so that no two uses share one.
enum SearchStream : uint32_t {
  kRandomStream = 1,
  kReuseStream = 2,
  kSobolStream = 3,
  kTpeStream = 4,
  kGpStream = 5,
  kPbtStream = 6,
  kBohbStream = 7,
  kAnyStream = 100,  // and above: another for each
};

}  // namespace hopper
