#include "search/journal.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/cancel.h"

namespace hopper {
namespace {

// Spaces up to this size are listed when random draws keep meeting what was tried.
constexpr uint64_t kMaxListed = 200000;
constexpr int kTries = 100;

std::string KeyOf(const SearchPoint& point) {
  std::string key(point.size() * sizeof(double), '\0');
  for (size_t d = 0; d < point.size(); ++d) {
    // Zero has two signs.
    const double value = std::isnan(point[d]) ? kInactive : point[d] + 0.0;
    std::memcpy(&key[d * sizeof(double)], &value, sizeof(double));
  }
  return key;
}

}  // namespace

const TrialResult* Trial::ResultAt(int64_t at) const {
  for (const TrialResult& result : results) {
    if (result.resource >= at || result.standing.grade == Standing::kFailed) return &result;
  }
  return nullptr;
}

const char* DecisionName(DecisionKind kind) {
  static const char* const kNames[] = {"proposed",  "reused",    "promoted", "stopped",
                                       "exploited", "completed", "failed",   "exhausted",
                                       "ended",     "pinned",    "unpinned"};
  return kNames[static_cast<size_t>(kind)];
}

SearchJournal::SearchJournal(std::shared_ptr<const SearchSpace> space, uint64_t seed,
                             std::vector<SearchObjective> objectives,
                             std::vector<SearchConstraint> constraints)
    : space_(std::move(space)),
      seed_(seed),
      objectives_(std::move(objectives)),
      constraints_(std::move(constraints)) {}

Standing SearchJournal::StandingOf(const SearchOutcome& outcome) const {
  if (outcome.failed) return {};
  double missed = 0;
  for (size_t i = 0; i < constraints_.size(); ++i) {
    const double above = outcome.constraints[i] - constraints_[i].bound;
    missed += std::max(0.0, constraints_[i].at_least ? -above : above);
  }
  double loss = 0;
  for (size_t i = 0; i < objectives_.size(); ++i) {
    const double value = outcome.objectives[i] * objectives_[i].weight;
    loss += objectives_[i].ascends ? -value : value;
  }
  if (missed > 0) return {Standing::kMissed, missed, loss};
  return {Standing::kKept, loss, 0};
}

bool SearchJournal::IsTried(const SearchPoint& point) const {
  return tried_.count(KeyOf(point)) > 0;
}

int64_t SearchJournal::Add(SearchPoint point, bool earlier) {
  Trial trial;
  trial.id = static_cast<int64_t>(trials_.size());
  tried_.insert(KeyOf(point));
  trial.point = std::move(point);
  trial.earlier = earlier;
  trials_.push_back(std::move(trial));
  if (!earlier) ++own_;
  return trials_.back().id;
}

void SearchJournal::NoteExhausted(Decision decision, std::string reason) {
  if (exhausted_) return;
  exhausted_ = true;
  decision.kind = DecisionKind::kExhausted;
  decision.reason = std::move(reason);
  Note(std::move(decision));
}

bool SearchJournal::IsFull(const Decision& wanted) {
  if (max_configs_ == 0 || own_ < max_configs_) return false;
  full_ = true;
  NoteExhausted(wanted, "the budget of " + std::to_string(max_configs_) +
                            (max_configs_ == 1 ? " configuration" : " configurations") +
                            " is spent");
  return true;
}

std::optional<int64_t> SearchJournal::Propose(SearchProposer* proposer, int bracket, int rung,
                                              int64_t resource) {
  Decision decision;
  decision.bracket = bracket;
  decision.rung = rung;
  decision.resource = resource;
  while (!first_.empty() && IsTried(first_.front())) first_.pop_front();
  if (IsFull(decision)) return {};
  // Looking for what is left takes time, and there is no more of it later.
  if (first_.empty() && space_exhausted_) return {};
  if (!first_.empty()) {
    decision.trial = Add(std::move(first_.front()), false);
    first_.pop_front();
    decision.reason = "one of the first configurations";
  } else if (std::optional<Proposal> proposal = proposer->Propose(*this)) {
    decision.trial = Add(std::move(proposal->point), false);
    decision.score = proposal->score;
    decision.reason = std::move(proposal->reason);
  } else {
    space_exhausted_ = true;
    NoteExhausted(decision,
                  "the search space has no configuration that was not proposed: there " +
                      (trials_.size() == 1 ? "is 1 trial"
                                           : "are " + std::to_string(trials_.size()) + " trials"));
    return {};
  }
  const int64_t trial = decision.trial;
  Note(std::move(decision));
  return trial;
}

std::optional<int64_t> SearchJournal::Exploit(SearchPoint point, int64_t parent, int64_t resource,
                                              std::string reason) {
  Decision decision;
  decision.resource = resource;
  if (IsFull(decision)) return {};
  const int64_t id = Add(std::move(point), false);
  Trial& trial = trials_[static_cast<size_t>(id)];
  trial.parent = parent;
  trial.parent_resource = this->trial(parent).resource;
  trial.resource = trial.parent_resource;
  decision.kind = DecisionKind::kExploited;
  decision.trial = id;
  decision.parent = parent;
  decision.reason = std::move(reason);
  Note(std::move(decision));
  return id;
}

void SearchJournal::Note(Decision decision) {
  decision.time = now_;
  if (decision.trial >= 0) {
    trials_[static_cast<size_t>(decision.trial)].completed =
        decision.kind == DecisionKind::kCompleted;
  }
  decisions_.push_back(std::move(decision));
}

void SearchJournal::Stop(int64_t id, int bracket, int rung, std::string reason) {
  Trial& trial = trials_[static_cast<size_t>(id)];
  // Where another bracket trains it the state stays.
  trial.stopped = !trial.running;
  Decision decision;
  decision.kind = DecisionKind::kStopped;
  decision.trial = id;
  decision.bracket = bracket;
  decision.rung = rung;
  decision.resource = trial.resource;
  decision.reason = std::move(reason);
  Note(std::move(decision));
}

Trial* SearchJournal::Steer(int64_t id, DecisionKind kind, std::string reason) {
  if (id < 0 || id >= static_cast<int64_t>(trials_.size())) {
    throw Error(ErrorCode::kInternal, "there is no trial " + std::to_string(id));
  }
  Trial& trial = trials_[static_cast<size_t>(id)];
  // What was stopped has no state any more, and what is complete trains no further anyway.
  if (trial.earlier || trial.stopped || trial.completed || !trial.GoesOn()) return nullptr;
  Decision decision;
  decision.kind = kind;
  decision.trial = id;
  decision.resource = trial.resource;
  decision.reason = std::move(reason);
  Note(std::move(decision));
  return &trial;
}

bool SearchJournal::StopFromOutside(int64_t id, std::string reason) {
  Trial* trial = Steer(id, DecisionKind::kStopped, std::move(reason));
  if (trial == nullptr) return false;
  trial->over = true;
  return true;
}

bool SearchJournal::Pin(int64_t id, bool pinned, std::string reason) {
  Trial* trial =
      Steer(id, pinned ? DecisionKind::kPinned : DecisionKind::kUnpinned, std::move(reason));
  if (trial == nullptr) return false;
  trial->pinned = pinned;
  return true;
}

void SearchJournal::AddEarlier(SearchPoint point, int64_t resource, const SearchOutcome& outcome) {
  const int64_t id = Add(std::move(point), true);
  AddResult(id, resource, outcome);
}

void SearchJournal::Begin(int64_t id, int64_t resource) {
  Trial& trial = trials_[static_cast<size_t>(id)];
  trial.running = true;
  trial.stopped = false;
  trial.resource = resource;
}

void SearchJournal::AddResult(int64_t id, int64_t resource, SearchOutcome outcome) {
  Trial& trial = trials_[static_cast<size_t>(id)];
  const auto all_finite = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  };
  if (!outcome.failed && (outcome.objectives.size() != objectives_.size() ||
                          outcome.constraints.size() != constraints_.size())) {
    throw Error(ErrorCode::kInternal, "a trial's result has not the values that were asked for");
  }
  // Weights may be as large as they like.
  const auto judge = [&](const SearchOutcome& of) {
    const Standing standing = of.failed ? Standing{} : StandingOf(of);
    const bool finite = all_finite(of.objectives) && all_finite(of.constraints) &&
                        std::isfinite(standing.value) && std::isfinite(standing.loss);
    return finite ? standing : Standing{};
  };
  const Standing standing = judge(outcome);
  if (!outcome.failed && standing.grade == Standing::kFailed) {
    outcome.failed = true;
    outcome.reason = "the objective is not finite";
  }
  Standing at_last = standing;
  if (!outcome.failed && !outcome.last.empty()) {
    SearchOutcome last;
    const auto after = outcome.last.begin() + static_cast<std::ptrdiff_t>(objectives_.size());
    last.objectives.assign(outcome.last.begin(), after);
    last.constraints.assign(after, outcome.last.end());
    at_last = judge(last);
  }
  trial.running = false;
  trial.resource = resource;
  TrialResult result;
  result.resource = resource;
  result.iterations = outcome.iterations.value_or(resource);
  result.standing = standing;
  result.at_last = at_last;
  result.outcome = std::move(outcome);
  result.time = now_;
  trial.results.push_back(std::move(result));
  if (trial.failed() && !trial.earlier) {
    trial.stopped = true;
    Decision decision;
    decision.kind = DecisionKind::kFailed;
    decision.trial = id;
    decision.resource = resource;
    decision.reason = trial.results.back().outcome.reason;
    Note(std::move(decision));
  }
}

std::vector<int64_t> RankTrials(const SearchJournal& journal) {
  std::vector<int64_t> ranked;
  for (const Trial& trial : journal.trials()) {
    if (!trial.results.empty()) ranked.push_back(trial.id);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [&](int64_t a, int64_t b) {
    return journal.trial(a).results.back().standing < journal.trial(b).results.back().standing;
  });
  return ranked;
}

std::optional<SearchPoint> DrawUntried(const SearchJournal& journal, uint32_t stream,
                                       uint64_t draw) {
  const SearchSpace& space = journal.space();
  const Philox random = journal.Random(stream, draw);
  const size_t size = space.size();
  for (uint64_t attempt = 0; attempt < kTries; ++attempt) {
    LookAtCancel();
    SearchPoint point = space.Fill([&](size_t d) {
      return space.dimensions()[d].FromUnit(random.UniformDouble(attempt * size + d));
    });
    if (!journal.IsTried(point)) return point;
  }
  const uint64_t count = space.CountPoints(kMaxListed + 1);
  if (count == 0 || count > kMaxListed) return {};
  std::vector<SearchPoint> left;
  SearchPoint point = space.First();
  do {
    if (!journal.IsTried(point)) left.push_back(point);
  } while (space.Next(&point));
  if (left.empty()) return {};
  return left[random.Below(kTries * size, left.size())];
}

}  // namespace hopper
