// Successive halving, alone (Jamieson, Talwalkar, AISTATS 2016).
#include <algorithm>
#include <utility>

#include "search/algorithms/common.h"
#include "search/algorithms/halving.h"
#include "search/algorithms/rows.h"

namespace hopper {
namespace {

class SuccessiveHalving : public SearchAlgorithm {
 public:
  SuccessiveHalving(std::unique_ptr<SearchProposer> proposer, std::vector<Rung> rungs, int64_t eta)
      : proposer_(std::move(proposer)), bracket_(0, 0, std::move(rungs), eta) {}

  std::optional<SearchWork> Next(SearchJournal* journal) override {
    return bracket_.Next(journal, proposer_.get());
  }
  void Told(int64_t /*trial*/, SearchJournal* /*journal*/) override {}

 private:
  std::unique_ptr<SearchProposer> proposer_;
  HalvingBracket bracket_;
};

}  // namespace

// Resources r, r eta, r eta^2, ... and R at the end.
std::vector<int64_t> RungResources(int64_t first, int64_t last, int64_t eta) {
  std::vector<int64_t> resources;
  for (int64_t r = first; r < last; r *= eta) resources.push_back(r);
  resources.push_back(last);
  return resources;
}

std::vector<SearchArgument> RungArguments() {
  using search_rows::Integer;
  using search_rows::kMaxIterations;
  return {search_rows::NumConfigs(), Integer("R", 9, 1, kMaxIterations, "iterations of the last"),
          Integer("r", 1, 1, kMaxIterations, "iterations of the first rung"),
          Integer("eta", 3, 2, 1e6, "one of so many goes on"), search_rows::Proposer()};
}

void CheckRungs(const SearchArguments& arguments, const SearchSpace* space,
                std::vector<Problem>* problems) {
  const auto first = arguments.IntegerIfRight("r"), last = arguments.IntegerIfRight("R");
  if (first && last && *first > *last) {
    problems->push_back({ErrorCode::kInvalidParameter,
                         "r must be at most R, got r = " + std::to_string(*first) +
                             " and R = " + std::to_string(*last),
                         "", ""});
  }
  CheckProposer(arguments, space, problems);
}

AlgorithmType search_rows::SuccessiveHalving() {
  AlgorithmType type;
  type.name = "successive_halving";
  type.meaning = "Trains all for a while, and the best 1/eta of them on and on.";
  type.arguments = RungArguments();
  type.check = CheckRungs;
  type.make = [](const SearchArguments& arguments, const SearchJournal&) {
    const int64_t eta = arguments.Integer("eta");
    std::vector<Rung> rungs;
    int64_t configs = arguments.Integer("num_configs");
    for (int64_t r : RungResources(arguments.Integer("r"), arguments.Integer("R"), eta)) {
      rungs.push_back({configs, r, r});
      configs = std::max<int64_t>(1, configs / eta);
    }
    return std::make_unique<hopper::SuccessiveHalving>(MakeProposer(arguments), std::move(rungs),
                                                       eta);
  };
  return type;
}

}  // namespace hopper
