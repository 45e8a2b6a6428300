// BOHB (Falkner, Klein, Hutter: "BOHB: Robust and Efficient Hyperparameter Optimization at Scale",
// ICML 2018): Hyperband whose configurations come from a model of the results at the largest
// resource that has enough of them. Defaults are the authors' code's (HpBandSter).
#include <utility>

#include "search/algorithms/common.h"
#include "search/algorithms/rows.h"
#include "search/algorithms/tpe.h"

namespace hopper {

AlgorithmType search_rows::Bohb() {
  AlgorithmType type;
  type.name = "bohb";
  type.meaning = "Hyperband with a model's proposals.";
  type.arguments = HyperbandArguments();
  type.arguments.push_back(Integer("num_candidates", 64, 1, 10000, "candidates of a proposal"));
  type.arguments.push_back(
      Real("random_fraction", 1.0 / 3, 0, 1, "share of proposals that are random"));
  type.arguments.push_back(
      Integer("top_n_percent", 15, 1, 99, "percent of the results that count as good"));
  type.arguments.push_back(
      Real("bandwidth_factor", 3, 0.1, 100, "how much wider candidates are drawn"));
  type.check = [](const SearchArguments& arguments, const SearchSpace*,
                  std::vector<Problem>* problems) { CheckHyperbandArguments(arguments, problems); };
  type.make = [](const SearchArguments& arguments, const SearchJournal& journal) {
    TpeOptions options;
    const size_t points = journal.space().size() + 1;
    options.candidates = arguments.Integer("num_candidates");
    options.random_share = arguments.Real("random_fraction");
    options.good_share = arguments.Real("top_n_percent") / 100;
    options.most_good = static_cast<size_t>(kMaxConfigs);
    options.least_good = points;
    options.startup = points + 2;
    options.width = arguments.Real("bandwidth_factor");
    options.stream = kBohbStream;
    return MakeHyperband(MakeTpeProposer(options), arguments);
  };
  return type;
}

}  // namespace hopper
