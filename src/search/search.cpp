#include "search/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/cancel.h"

namespace hopper {
namespace {

SearchArguments ArgumentsOf(const SearchRequest& request) {
  std::vector<Problem> ignored;
  return ReadSearchArguments(*FindAlgorithm(request.algorithm), request.arguments, &ignored);
}

SearchRequest Checked(SearchRequest request) {
  std::vector<Problem> problems;
  CheckSearch(request, &problems);
  if (!problems.empty()) throw Error(problems.front());
  return request;
}

}  // namespace

void CheckSearch(const SearchRequest& request, std::vector<Problem>* problems) {
  const size_t told_before = problems->size();
  const auto fail = [&](const std::string& message, const std::string& hint = "") {
    problems->push_back({ErrorCode::kInvalidParameter, message, "", hint});
  };
  const AlgorithmType* type = FindAlgorithm(request.algorithm);
  if (type == nullptr) {
    std::string known;
    for (const std::string& name : AlgorithmNames()) known += (known.empty() ? "" : ", ") + name;
    const std::string hint = NearestNameHint(request.algorithm, AlgorithmNames());
    fail("there is no search algorithm \"" + request.algorithm + "\"",
         hint.empty() ? "Algorithms are " + known + "." : hint);
  } else {
    const SearchArguments arguments = ReadSearchArguments(*type, request.arguments, problems);
    if (type->check) type->check(arguments, request.space.get(), problems);
  }
  // What is wrong with those that are named has been said.
  if (request.objectives.empty() && told_before == 0) fail("a search needs an objective");
  for (const SearchObjective& objective : request.objectives) {
    if (!(objective.weight > 0) || !std::isfinite(objective.weight)) {
      fail("the weight of objective \"" + objective.name + "\" must be above zero",
           "Of each metric it is known whether more or less of it is better.");
    }
  }
  for (const SearchConstraint& constraint : request.constraints) {
    if (!std::isfinite(constraint.bound)) {
      fail("the bound of constraint \"" + constraint.name + "\" is not finite");
    }
  }
  if (request.seats < 1) fail("parallel must be at least 1, got " + std::to_string(request.seats));
  if (request.max_configs && *request.max_configs < 1) {
    fail("the budget of configurations must be above zero");
  }
  if (request.max_iterations && *request.max_iterations < 1) {
    fail("the budget of iterations must be above zero");
  }
  if (request.target && !std::isfinite(*request.target)) fail("the target is not finite");
}

Search::Search(SearchRequest request)
    : request_(Checked(std::move(request))),
      journal_(request_.space, request_.seed, request_.objectives, request_.constraints) {
  for (const SearchRequest::Earlier& earlier : request_.history) {
    journal_.AddEarlier(earlier.point, earlier.resource, earlier.outcome);
  }
  for (const SearchPoint& point : request_.first) journal_.AddFirst(point);
  journal_.LimitConfigs(request_.max_configs.value_or(0));
  algorithm_ = FindAlgorithm(request_.algorithm)->make(ArgumentsOf(request_), journal_);
  Fill();
}

void Search::End(const std::string& reason) {
  if (ended_) return;
  ended_ = true;
  end_reason_ = reason;
  Decision decision;
  decision.kind = DecisionKind::kEnded;
  decision.reason = reason;
  journal_.Note(std::move(decision));
  // What was proposed and will not be trained.
  if (held_ && journal_.trial(held_->trial).results.empty()) {
    journal_.Stop(held_->trial, -1, -1, reason);
  }
  held_.reset();
}

void Search::Stop(const std::string& reason) { End(reason); }

bool Search::StopTrial(int64_t trial, const std::string& reason) {
  if (!journal_.StopFromOutside(trial, reason)) return false;
  if (held_ && held_->trial == trial) held_.reset();
  Fill();
  return true;
}

void Search::Enqueue(SearchPoint point) {
  const auto fail = [](const std::string& message) {
    throw Error(ErrorCode::kInvalidParameter, message);
  };
  if (ended_) fail("nothing more begins: " + end_reason_);
  if (journal_.IsTried(point)) fail("these parameters were tried before");
  journal_.AddFirst(std::move(point));
  Fill();
}

bool Search::PinTrial(int64_t trial, bool pinned, const std::string& reason) {
  if (!journal_.Pin(trial, pinned, reason)) return false;
  Fill();
  return true;
}

namespace {

std::string IterationsText(int64_t n) {
  return std::to_string(n) + (n == 1 ? " iteration" : " iterations");
}

}  // namespace

void Search::RefuseBudget(int64_t needed) const {
  throw Error(ErrorCode::kInvalidParameter,
              "the budget of " + IterationsText(*request_.max_iterations) +
                  " is too small for one configuration",
              "The first one is to be trained for " + IterationsText(needed) + ".",
              "Raise max_iterations, or train each for less: see the algorithm's arguments.");
}

void Search::Fill() {
  while (!ended_ && static_cast<int64_t>(seats_.size()) < request_.seats) {
    const std::optional<SearchWork> work = held_ ? held_ : algorithm_->Next(&journal_);
    if (!work) {
      if (seats_.empty()) End("nothing is left to train");
      return;
    }
    const Trial& trial = journal_.trial(work->trial);
    const int64_t from = trial.stopped ? 0 : trial.resource;
    const int64_t more = work->resource - from;
    held_ = work;
    if (request_.max_iterations && iterations_ + more > *request_.max_iterations) {
      if (begun_ == 0) RefuseBudget(more);
      if (seats_.empty()) {
        End("the budget of " + IterationsText(*request_.max_iterations) + " is spent");
      }
      return;
    }
    held_.reset();
    Begin(*work, from);
  }
}

void Search::Begin(const SearchWork& work, int64_t from) {
  const Trial& trial = journal_.trial(work.trial);
  double cost = request_.cost ? request_.cost(trial.point) : 1.0;
  if (!(cost > 0) || !std::isfinite(cost)) cost = 1;
  Seat seat;
  seat.trial = work.trial;
  seat.resource = work.resource;
  seat.more = work.resource - from;
  seat.before = TrainedBefore(trial, from);
  seat.end = journal_.now() + cost * static_cast<double>(seat.more);
  seat.number = begun_++;
  const bool first = trial.results.empty();
  waiting_.push_back({work.trial, from, work.resource, first ? trial.parent : -1});
  iterations_ += seat.more;
  journal_.Begin(work.trial, work.resource);
  seats_.push_back(std::move(seat));
}

// What a state has trained that goes on where `from` iterations were asked for.
int64_t Search::TrainedBefore(const Trial& trial, int64_t from) const {
  if (from == 0) return 0;
  if (!trial.results.empty()) return trial.results.back().iterations;
  if (trial.parent < 0) return from;
  const std::vector<TrialResult>& parent = journal_.trial(trial.parent).results;
  return parent.empty() ? from : parent.back().iterations;
}

std::vector<SearchAssignment> Search::Ask() { return std::exchange(waiting_, {}); }

void Search::Tell(int64_t trial, SearchOutcome outcome) {
  const auto seat = std::find_if(seats_.begin(), seats_.end(),
                                 [&](const Seat& s) { return s.trial == trial && !s.outcome; });
  if (seat == seats_.end()) {
    throw Error(ErrorCode::kInternal, "trial " + std::to_string(trial) + " does not run");
  }
  seat->outcome = std::move(outcome);
  Settle();
}

void Search::Settle() {
  while (!seats_.empty()) {
    const auto next =
        std::min_element(seats_.begin(), seats_.end(), [](const Seat& a, const Seat& b) {
          return a.end != b.end ? a.end < b.end : a.number < b.number;
        });
    if (!next->outcome) return;
    Seat seat = std::move(*next);
    seats_.erase(next);
    journal_.SetTime(seat.end);
    // What early stopping or a failure left out is there for others.
    const int64_t trained = seat.outcome->iterations.value_or(seat.before + seat.more);
    iterations_ -= seat.more - std::max<int64_t>(0, trained - seat.before);
    journal_.AddResult(seat.trial, seat.resource, std::move(*seat.outcome));
    algorithm_->Told(seat.trial, &journal_);
    if (ReachesTarget(journal_.trial(seat.trial).results.back())) End("the target is reached");
    Fill();
  }
}

bool Search::ReachesTarget(const TrialResult& result) const {
  if (!request_.target || result.standing.grade != Standing::kKept) return false;
  const double value = result.outcome.objectives[0];
  return request_.objectives[0].ascends ? value >= *request_.target : value <= *request_.target;
}

std::optional<int64_t> Search::best() const {
  for (const int64_t trial : RankTrials(journal_)) {
    // A model of an earlier search is not here.
    if (journal_.trial(trial).earlier) continue;
    if (journal_.trial(trial).failed()) return {};
    return trial;
  }
  return {};
}

std::vector<int64_t> ParetoSet(const SearchJournal& journal) {
  std::vector<int64_t> kept;
  for (const Trial& trial : journal.trials()) {
    if (!trial.results.empty() && trial.results.back().standing.grade == Standing::kKept) {
      kept.push_back(trial.id);
    }
  }
  const std::vector<SearchObjective>& objectives = journal.objectives();
  const auto loss = [&](int64_t id, size_t i) {
    const double value = journal.trial(id).results.back().outcome.objectives[i];
    return objectives[i].ascends ? -value : value;
  };
  const auto dominates = [&](int64_t a, int64_t b) {
    bool better = false;
    for (size_t i = 0; i < objectives.size(); ++i) {
      if (loss(a, i) > loss(b, i)) return false;
      better = better || loss(a, i) < loss(b, i);
    }
    return better;
  };
  // In the order of their losses no one is beaten by a later one, and where somebody beats it,
  // one of the front does.
  std::sort(kept.begin(), kept.end(), [&](int64_t a, int64_t b) {
    for (size_t i = 0; i < objectives.size(); ++i) {
      if (loss(a, i) != loss(b, i)) return loss(a, i) < loss(b, i);
    }
    return a < b;
  });
  std::vector<int64_t> front;
  for (const int64_t id : kept) {
    LookAtCancel();
    // Of two objectives the last one of the front has the least of the second.
    const size_t looked = objectives.size() <= 2 ? std::min<size_t>(1, front.size()) : front.size();
    if (std::none_of(front.rbegin(), front.rbegin() + static_cast<std::ptrdiff_t>(looked),
                     [&](int64_t other) { return dominates(other, id); })) {
      front.push_back(id);
    }
  }
  std::sort(front.begin(), front.end());
  return front;
}

}  // namespace hopper
