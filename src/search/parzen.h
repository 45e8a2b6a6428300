// A density over a search space made of kernels at observed points (Bergstra, Bardenet, Bengio,
// Kegl: "Algorithms for Hyper-Parameter Optimization", NeurIPS 2011, section 4; the joint form of
// Falkner, Klein, Hutter: "BOHB", ICML 2018): a sum over points of products over dimensions.
//
// Kernels are those of Watanabe: "Tree-Structured Parzen Estimator" (arXiv:2304.11127), and of
// Optuna with multivariate=True: Gaussians cut to the range, as wide as the distance to the farther
// neighbour but not below range / min(100, kernels + 1); choices have the share of the prior for
// each other choice. The prior is one more kernel, as wide as the range.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/philox.h"
#include "search/space.h"

namespace hopper {

// Not safe for several threads at once.
class ParzenEstimator {
 public:
  // Observations in the order of their trials: of 25 and more, older ones weigh less. A dimension
  // that does not apply to one has the prior's kernel there.
  ParzenEstimator(const SearchSpace& space, const std::vector<const SearchPoint*>& observations);

  // A point drawn from the density with widths times `width`; from uniform numbers of `random`,
  // 2 + space.size() of them from UniformDouble(first) on.
  SearchPoint Sample(const Philox& random, uint64_t first, double width) const;
  // The logarithm of the density, over the dimensions that apply to the point; of a dimension on a
  // logarithmic scale the density of its logarithm.
  double LogDensity(const SearchPoint& point) const;

 private:
  // What a dimension of numbers needs, in the coordinates of its scale.
  struct Axis {
    size_t dimension = 0;
    bool choice = false;
    bool discrete = false;
    double low = 0;  // with half a step before and after
    double high = 0;
    std::vector<double> mu;
    std::vector<double> sigma;
    std::vector<double> inverse;  // 1 / sigma
    std::vector<double> norm;     // continuous: what is added to -z^2 / 2
    // Discrete: kernels that are equal share their number. Of choices it is the chosen one, of the
    // prior the one after the last.
    std::vector<uint32_t> same;
    std::vector<double> same_mu, same_inverse, same_log_mass, same_norm;
    mutable std::map<double, std::vector<double>> cells;  // of values that were asked for
    double log_hit = 0, log_miss = 0, log_prior = 0;
  };

  static std::vector<double> CellsOf(const Axis& axis, const Dimension& dimension, double value);
  // `values` of all observations.
  void FillNumbers(const std::vector<double>& values, const Dimension& dimension, Axis* axis) const;
  void FillChoices(const std::vector<double>& values, const Dimension& dimension, Axis* axis) const;
  double DrawOf(const Axis& axis, size_t kernel, double u, double width) const;

  const SearchSpace& space_;
  size_t kernels_;
  std::vector<double> cumulated_;   // weights, summed
  std::vector<double> log_weight_;  // of each kernel
  std::vector<Axis> axes_;          // of dimensions with more than one value, in the space's order
};

// Phi(b) - Phi(a) of the normal distribution; a < b.
double NormalMass(double a, double b);
// The x with (Phi(x) - Phi(a)) / (Phi(b) - Phi(a)) = u.
double TruncatedNormalQuantile(double u, double a, double b);

}  // namespace hopper
