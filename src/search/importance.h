// Which parameters matter for good results: PED-ANOVA (Watanabe, Bansal, Hutter: "PED-ANOVA:
// Efficiently Quantifying Hyperparameter Importance in Arbitrary Subspaces", IJCAI 2023, with the
// conditional form of arXiv:2601.20800). For each parameter alone, the Pearson divergence of its
// density among the best tenth of the results from that among all of them.
#pragma once

#include <string>
#include <vector>

#include "search/journal.h"

namespace hopper {

struct ParameterImportance {
  std::string name;
  double importance = 0;  // shares of one; all 0 where nothing can be told
};

// In the space's order, of parameters with more than one value. Results are compared at the largest
// resource that `enough` trials reached, as the search does: who misses a constraint stands behind
// who keeps all. Failures are left out.
std::vector<ParameterImportance> ParameterImportances(const SearchJournal& journal,
                                                      size_t enough = 10);

}  // namespace hopper
