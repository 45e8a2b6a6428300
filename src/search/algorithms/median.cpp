// The median stopping rule (Golovin, Solnik, Moitra, Kochanski, Karro, Sculley: "Google Vizier",
// KDD 2017, section 3.2.2): a trial stops at a step where its best so far is strictly worse than
// the median of the completed trials' running averages up to that step.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <utility>

#include "search/algorithms/common.h"
#include "search/algorithms/rows.h"

namespace hopper {
namespace {

struct MedianOptions {
  int64_t configs = 0;
  int64_t iterations = 0;
  int64_t grace = 0;
  int64_t interval = 1;
  size_t min_trials = 1;
};

class MedianStopping : public SearchAlgorithm {
 public:
  MedianStopping(std::unique_ptr<SearchProposer> proposer, MedianOptions options)
      : proposer_(std::move(proposer)), options_(options), left_(options.configs) {}

  std::optional<SearchWork> Next(SearchJournal* journal) override {
    while (!going_on_.empty()) {
      const int64_t trial = going_on_.front();
      going_on_.pop_front();
      if (!journal->trial(trial).GoesOn()) continue;
      return SearchWork{trial, StepAfter(journal->trial(trial).resource)};
    }
    if (left_ == 0) return {};
    const auto trial = journal->Propose(proposer_.get(), -1, -1, StepAfter(0));
    if (!trial) {
      left_ = 0;
      return {};
    }
    --left_;
    return SearchWork{*trial, StepAfter(0)};
  }

  void Told(int64_t id, SearchJournal* journal) override {
    const Trial& trial = journal->trial(id);
    if (!trial.GoesOn()) return;
    if (trial.resource >= options_.iterations) {
      completed_.push_back(id);
      Decision decision;
      decision.kind = DecisionKind::kCompleted;
      decision.trial = id;
      decision.resource = trial.resource;
      journal->Note(std::move(decision));
      return;
    }
    const Standing best =
        std::min_element(trial.results.begin(), trial.results.end(),
                         [](const auto& a, const auto& b) { return a.standing < b.standing; })
            ->standing;
    if (!trial.pinned && trial.resource >= options_.grace &&
        completed_.size() >= options_.min_trials) {
      const Standing median = MedianAt(trial.resource, *journal);
      if (median < best) {
        char reason[160];
        std::snprintf(reason, sizeof(reason),
                      "its best, %.6g, is worse than %.6g, the median of %zu running averages",
                      best.value, median.value, completed_.size());
        journal->Stop(id, -1, -1, reason);
        return;
      }
    }
    going_on_.push_back(id);
  }

 private:
  // Evaluations lie at the end of the grace, and every `interval` iterations after it.
  int64_t StepAfter(int64_t resource) const {
    const int64_t step = resource < options_.grace ? options_.grace : resource + options_.interval;
    return std::min(step, options_.iterations);
  }

  // Averages are of losses; one that missed a constraint counts as missed.
  Standing MedianAt(int64_t resource, const SearchJournal& journal) const {
    std::vector<Standing> averages;
    for (const int64_t id : completed_) {
      Standing average{Standing::kKept, 0, 0};
      double count = 0;
      double missed = 0;
      for (const TrialResult& result : journal.trial(id).results) {
        if (result.resource > resource) break;
        ++count;
        if (result.standing.grade == Standing::kKept) {
          average.value += result.standing.value;
        } else {
          average.grade = Standing::kMissed;
          missed += result.standing.value;
        }
      }
      if (average.grade == Standing::kMissed) average.value = missed;
      average.value /= std::max(1.0, count);
      averages.push_back(average);
    }
    std::sort(averages.begin(), averages.end());
    const size_t n = averages.size();
    Standing median = averages[n / 2];
    const Standing& below = averages[(n - 1) / 2];
    if (below.grade == median.grade) median.value = (median.value + below.value) / 2;
    return median;
  }

  std::unique_ptr<SearchProposer> proposer_;
  MedianOptions options_;
  int64_t left_;
  std::deque<int64_t> going_on_;
  std::vector<int64_t> completed_;
};

}  // namespace

AlgorithmType search_rows::Median() {
  AlgorithmType type;
  type.name = "median";
  type.meaning = "Stops what is worse than the median of those that went before.";
  type.arguments = {
      NumConfigs(),
      Integer("num_iterations", 9, 1, kMaxIterations, "iterations of what is not stopped"),
      Integer("grace", 1, 1, kMaxIterations, "iterations before anything is stopped"),
      Integer("interval", 1, 1, kMaxIterations, "iterations between two looks"),
      Integer("min_trials", 5, 1, kMaxConfigs, "completed trials before anything is stopped"),
      Proposer()};
  type.check = CheckProposer;
  type.make = [](const SearchArguments& arguments, const SearchJournal&) {
    MedianOptions options;
    options.configs = arguments.Integer("num_configs");
    options.iterations = arguments.Integer("num_iterations");
    options.grace = arguments.Integer("grace");
    options.interval = arguments.Integer("interval");
    options.min_trials = static_cast<size_t>(arguments.Integer("min_trials"));
    return std::make_unique<MedianStopping>(MakeProposer(arguments), options);
  };
  return type;
}

}  // namespace hopper
