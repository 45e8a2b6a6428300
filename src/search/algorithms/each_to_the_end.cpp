#include <utility>

#include "search/algorithms/common.h"

namespace hopper {
namespace {

class EachToTheEnd : public SearchAlgorithm {
 public:
  EachToTheEnd(std::unique_ptr<SearchProposer> proposer, int64_t configs, int64_t iterations)
      : proposer_(std::move(proposer)), left_(configs), iterations_(iterations) {}

  std::optional<SearchWork> Next(SearchJournal* journal) override {
    if (left_ == 0) return {};
    const std::optional<int64_t> trial = journal->Propose(proposer_.get(), -1, -1, iterations_);
    if (!trial) {
      left_ = 0;
      return {};
    }
    --left_;
    return SearchWork{*trial, iterations_};
  }

  void Told(int64_t trial, SearchJournal* journal) override {
    if (!journal->trial(trial).GoesOn()) return;
    Decision decision;
    decision.kind = DecisionKind::kCompleted;
    decision.trial = trial;
    decision.resource = iterations_;
    journal->Note(std::move(decision));
  }

 private:
  std::unique_ptr<SearchProposer> proposer_;
  int64_t left_;
  int64_t iterations_;
};

}  // namespace

std::unique_ptr<SearchAlgorithm> MakeEachToTheEnd(std::unique_ptr<SearchProposer> proposer,
                                                  int64_t configs, int64_t iterations) {
  return std::make_unique<EachToTheEnd>(std::move(proposer), configs, iterations);
}

}  // namespace hopper
