// Hyperband (Li et al., JMLR 18(185), 2018). Brackets run side by side: a seat that one bracket has
// no work for takes the next one's.
#include <utility>

#include "search/algorithms/common.h"
#include "search/algorithms/halving.h"
#include "search/algorithms/rows.h"

namespace hopper {
namespace {

class BracketsSideBySide : public SearchAlgorithm {
 public:
  BracketsSideBySide(std::unique_ptr<SearchProposer> proposer, const std::vector<Bracket>& brackets,
                     int64_t eta, int64_t loops)
      : proposer_(std::move(proposer)) {
    for (int64_t loop = 0; loop < loops; ++loop) {
      for (const Bracket& bracket : brackets) {
        const uint64_t draw = static_cast<uint64_t>(loop) << 32 | static_cast<uint64_t>(bracket.s);
        brackets_.emplace_back(static_cast<int>(bracket.s), draw, bracket.rungs, eta);
      }
    }
  }

  std::optional<SearchWork> Next(SearchJournal* journal) override {
    for (HalvingBracket& bracket : brackets_) {
      if (auto work = bracket.Next(journal, proposer_.get())) return work;
    }
    return {};
  }
  void Told(int64_t /*trial*/, SearchJournal* /*journal*/) override {}

 private:
  std::unique_ptr<SearchProposer> proposer_;
  std::vector<HalvingBracket> brackets_;
};

HyperbandOptions ReadHyperband(const SearchArguments& arguments) {
  HyperbandOptions options;
  options.max_resource = arguments.Integer("R");
  options.eta = arguments.Integer("eta");
  options.skip_last = arguments.Integer("skip_last");
  if (arguments.Word("variant") == "jmlr") options.variant = HyperbandVariant::kJmlr;
  if (arguments.Word("resource") == "additional") options.resource = RungResource::kAdditional;
  return options;
}

}  // namespace

std::unique_ptr<SearchAlgorithm> MakeHyperband(std::unique_ptr<SearchProposer> proposer,
                                               const SearchArguments& arguments) {
  const HyperbandOptions options = ReadHyperband(arguments);
  return std::make_unique<BracketsSideBySide>(std::move(proposer), HyperbandSchedule(options),
                                              options.eta, arguments.Integer("loops"));
}

// MADlib's defaults.
std::vector<SearchArgument> HyperbandArguments() {
  using namespace search_rows;  // NOLINT(google-build-using-namespace): the rows' own words
  return {Integer("R", 6, 1, 1e6, "iterations of a configuration at most"),
          Integer("eta", 3, 2, 1e6, "one of so many goes on"),
          Integer("skip_last", 0, 0, 100, "the last rungs of each bracket that are left out"),
          Integer("loops", 1, 1, 1000, "all brackets so many times"),
          Word("variant", {"floor", "jmlr"}, "how configurations of a bracket are counted"),
          Word("resource", {"cumulative", "additional"},
               "whether r counts a configuration's iterations from its beginning")};
}

void CheckHyperbandArguments(const SearchArguments& arguments, std::vector<Problem>* problems) {
  CheckHyperband(arguments.IntegerIfRight("R"), arguments.IntegerIfRight("eta"),
                 arguments.IntegerIfRight("skip_last"), problems);
}

AlgorithmType search_rows::Hyperband() {
  AlgorithmType type;
  type.name = "hyperband";
  type.meaning = "Successive halving with several trades of configurations against iterations.";
  type.arguments = HyperbandArguments();
  type.arguments.push_back(Proposer());
  type.check = [](const SearchArguments& arguments, const SearchSpace* space,
                  std::vector<Problem>* problems) {
    CheckHyperbandArguments(arguments, problems);
    CheckProposer(arguments, space, problems);
  };
  type.make = [](const SearchArguments& arguments, const SearchJournal&) {
    return MakeHyperband(MakeProposer(arguments), arguments);
  };
  return type;
}

}  // namespace hopper
