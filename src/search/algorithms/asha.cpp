// ASHA, the promotion form (Li, Jamieson, Rostamizadeh, Gonina, Ben-tzur, Hardt, Recht, Talwalkar:
// "A System for Massively Parallel Hyperparameter Tuning", MLSys 2020, algorithm 2): a free seat
// promotes the best of the best 1/eta of the highest rung that has one, else it tries a new
// configuration. Nothing waits.
#include <algorithm>
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
        rungs_(resources_.size()) {}

  std::optional<SearchWork> Next(SearchJournal* journal) override {
    for (size_t k = rungs_.size() - 1; k-- > 0;) {
      if (auto work = Promote(k, journal)) return work;
    }
    if (left_ == 0) return {};
    const auto trial = journal->Propose(proposer_.get(), -1, 0, resources_[0]);
    if (!trial) {
      left_ = 0;
      return {};
    }
    --left_;
    return SearchWork{*trial, resources_[0]};
  }

  void Told(int64_t id, SearchJournal* journal) override {
    const Trial& trial = journal->trial(id);
    size_t k = 0;
    while (resources_[k] != trial.resource) ++k;
    // Those that failed count among those that were told.
    const Member told{id, trial.results.back().standing, trial.failed()};
    const auto behind =
        std::upper_bound(rungs_[k].begin(), rungs_[k].end(), told,
                         [](const Member& a, const Member& b) { return a.standing < b.standing; });
    rungs_[k].insert(behind, told);
    if (k + 1 == rungs_.size() && !trial.failed()) {
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
    bool left = false;  // promoted, or failed
  };

  std::optional<SearchWork> Promote(size_t k, SearchJournal* journal) {
    std::vector<Member>& rung = rungs_[k];
    const size_t best = rung.size() / eta_;
    for (size_t place = 0; place < best; ++place) {
      if (rung[place].left) continue;
      rung[place].left = true;
      Decision decision;
      decision.kind = DecisionKind::kPromoted;
      decision.trial = rung[place].trial;
      decision.rung = static_cast<int>(k) + 1;
      decision.resource = resources_[k + 1];
      decision.reason = "place " + std::to_string(place + 1) + " of " +
                        std::to_string(rung.size()) + " told so far, the best " +
                        std::to_string(best) + " go on";
      journal->Note(std::move(decision));
      return SearchWork{rung[place].trial, resources_[k + 1]};
    }
    return {};
  }

  std::unique_ptr<SearchProposer> proposer_;
  int64_t left_;
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
