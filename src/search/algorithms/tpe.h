// The tree-structured Parzen estimator (Bergstra, Bardenet, Bengio, Kegl: "Algorithms for
// Hyper-Parameter Optimization", NeurIPS 2011): draws candidates where good results lie dense, and
// takes the one whose density among good results is the largest multiple of that among the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "search/model_history.h"
#include "search/parzen.h"

namespace hopper {

// Optuna's defaults (gamma, 24 candidates, 10 random ones first, a joint model).
struct TpeOptions {
  size_t startup = 10;  // results at one resource before the model is asked
  int64_t candidates = 24;
  double good_share = 0.1;  // of the results, rounded up
  size_t most_good = 25;
  size_t least_good = 1;
  double random_share = 0;  // of the proposals
  double width = 1;         // of kernels that candidates are drawn from
  uint32_t stream = kTpeStream;
};

// The two densities of a history. What runs counts as bad (the constant liar of Ginsbourger, Le
// Riche, Carraro 2010, with the worst value), so that seats do not all try the same.
class TpeModel {
 public:
  TpeModel(const SearchJournal& journal, const ModelHistory& history, const TpeOptions& options);
  // log l(x) - log g(x).
  double Score(const SearchPoint& point) const {
    return good_.LogDensity(point) - bad_.LogDensity(point);
  }
  const ParzenEstimator& good() const { return good_; }

 private:
  struct Split {
    std::vector<const SearchPoint*> good, bad;
  };
  TpeModel(const SearchSpace& space, const Split& split)
      : good_(space, split.good), bad_(space, split.bad) {}
  static Split SplitOf(const SearchJournal& journal, const ModelHistory& history,
                       const TpeOptions& options);

  ParzenEstimator good_;
  ParzenEstimator bad_;
};

std::unique_ptr<SearchProposer> MakeTpeProposer(const TpeOptions& options);

}  // namespace hopper
