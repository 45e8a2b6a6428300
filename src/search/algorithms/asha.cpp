// ASHA, the promotion form (Li, Jamieson, Rostamizadeh, Gonina, Ben-tzur, Hardt, Recht, Talwalkar:
// "A System for Massively Parallel Hyperparameter Tuning", MLSys 2020, algorithm 2): a free seat
// promotes the best of the best 1/eta of the highest rung that has one, else it tries a new
// configuration. Nothing waits.
//
// Where the space has fewer configurations than were asked for, a seat for a new one promotes the
// best that waits in the lowest rung instead, as long as the search trains no more than it would
// have with all of them: as if the first rung were eta times as long from there on.
#include <algorithm>
#include <string>
#include <utility>

#include "search/algorithms/common.h"
#include "search/algorithms/rows.h"

namespace hopper {
namespace {

class Asha : public SearchAlgorithm {
 public:
  Asha(std::unique_ptr<SearchProposer> proposer, int64_t configs, std::vector<int64_t> resources,
       int64_t eta)
      : proposer_(std::move(proposer)),
        left_(configs),
        eta_(static_cast<size_t>(eta)),
        resources_(std::move(resources)),
        rungs_(resources_.size()) {
    for (size_t k = 0; k < rungs_.size(); ++k) {
      iterations_left_ += configs * StepOf(k);
      configs /= eta;
    }
  }

  std::optional<SearchWork> Next(SearchJournal* journal) override {
    for (size_t k = rungs_.size() - 1; k-- > 0;) {
      if (auto work = PromoteBest(k, journal)) return work;
    }
    if (left_ > 0) {
      if (const auto trial = journal->Propose(proposer_.get(), -1, 0, resources_[0])) {
        --left_;
        return Begin(*trial, 0);
      }
      left_ = 0;
    }
    return journal->SpaceIsExhausted() ? PromoteNext(journal) : std::nullopt;
  }

  void Told(int64_t id, SearchJournal* journal) override {
    const Trial& trial = journal->trial(id);
    size_t k = 0;
    while (resources_[k] != trial.resource) ++k;
    // Trials that failed count among those that were told.
    const Member told{id, trial.results.back().standing, !trial.GoesOn()};
    const auto behind =
        std::upper_bound(rungs_[k].begin(), rungs_[k].end(), told,
                         [](const Member& a, const Member& b) { return a.standing < b.standing; });
    rungs_[k].insert(behind, told);
    if (k + 1 == rungs_.size() && trial.GoesOn()) {
      Decision decision;
      decision.kind = DecisionKind::kCompleted;
      decision.trial = id;
      decision.rung = static_cast<int>(k);
      decision.resource = trial.resource;
      journal->Note(std::move(decision));
    }
  }

 private:
  struct Member {
    int64_t trial = 0;
    Standing standing;
    bool left = false;  // promoted, or without a way on
  };

  // Iterations of a trial in rung k, after those of the rung below.
  int64_t StepOf(size_t k) const { return resources_[k] - (k > 0 ? resources_[k - 1] : 0); }

  SearchWork Begin(int64_t trial, size_t k) {
    iterations_left_ -= StepOf(k);
    return {trial, resources_[k]};
  }

  SearchWork Promote(size_t k, size_t place, const std::string& reason, SearchJournal* journal) {
    Member& member = rungs_[k][place];
    member.left = true;
    Decision decision;
    decision.kind = DecisionKind::kPromoted;
    decision.trial = member.trial;
    decision.rung = static_cast<int>(k) + 1;
    decision.resource = resources_[k + 1];
    decision.reason = "place " + std::to_string(place + 1) + " of " +
                      std::to_string(rungs_[k].size()) + " told so far, " + reason;
    journal->Note(std::move(decision));
    return Begin(member.trial, k + 1);
  }

  // The best of a rung that has not left it, or of its pinned ones; its size where there is none.
  size_t BestWaiting(size_t k, const SearchJournal& journal, bool pinned = false) const {
    const std::vector<Member>& rung = rungs_[k];
    const auto waits = [&](const Member& member) {
      const Trial& trial = journal.trial(member.trial);
      return !member.left && trial.GoesOn() && (!pinned || trial.pinned);
    };
    return static_cast<size_t>(std::find_if(rung.begin(), rung.end(), waits) - rung.begin());
  }

  std::optional<SearchWork> PromoteBest(size_t k, SearchJournal* journal) {
    const size_t pinned = BestWaiting(k, *journal, /*pinned=*/true);
    if (pinned < rungs_[k].size()) return Promote(k, pinned, "pinned", journal);
    const size_t best = rungs_[k].size() / eta_;
    const size_t place = BestWaiting(k, *journal);
    if (place >= best || (fills_up_ && StepOf(k + 1) > iterations_left_)) return {};
    return Promote(k, place, "the best " + std::to_string(best) + " go on", journal);
  }

  std::optional<SearchWork> PromoteNext(SearchJournal* journal) {
    for (size_t k = 0; k + 1 < rungs_.size(); ++k) {
      const size_t place = BestWaiting(k, *journal);
      if (place == rungs_[k].size()) continue;
      if (StepOf(k + 1) > iterations_left_) return {};
      fills_up_ = true;
      return Promote(k, place, "the next to go on as nothing is left to begin", journal);
    }
    return {};
  }

  std::unique_ptr<SearchProposer> proposer_;
  int64_t left_;                 // configurations to begin
  int64_t iterations_left_ = 0;  // of what so many configurations are to cost
  bool fills_up_ = false;        // some went on in the place of configurations that are not there
  size_t eta_;
  std::vector<int64_t> resources_;
  std::vector<std::vector<Member>> rungs_;  // each from best to worst
};

}  // namespace

AlgorithmType search_rows::Asha() {
  AlgorithmType type;
  type.name = "asha";
  type.meaning = "Successive halving without waiting: a free seat promotes or begins.";
  type.arguments = RungArguments();
  type.check = CheckRungs;
  type.make = [](const SearchArguments& arguments, const SearchJournal&) {
    const int64_t eta = arguments.Integer("eta");
    return std::make_unique<hopper::Asha>(
        MakeProposer(arguments), arguments.Integer("num_configs"),
        RungResources(arguments.Integer("r"), arguments.Integer("R"), eta), eta);
  };
  return type;
}

}  // namespace hopper
