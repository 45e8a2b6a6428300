// Gaussian process regression with Matern's kernel of smoothness 5/2 (Rasmussen, Williams:
// "Gaussian Processes for Machine Learning", 2006, algorithms 2.1 and 5.1), a length for each
// dimension:
//   k(x, x') = amplitude (1 + sqrt(5) r + 5/3 r^2) exp(-sqrt(5) r),  r^2 = sum of (x - x')^2 /
//   length^2
// In a dimension of choices the difference is 0 or 1.
#pragma once

#include <vector>

#include "base/matrix_blocks.h"

namespace hopper {

struct GpParameters {
  double amplitude = 1;
  Eigen::VectorXd lengths;
  double noise = 1e-3;  // variance
};

// Of points as rows of `x`; the mean before any data is 0.
class GaussianProcess {
 public:
  // `choices` of each dimension: whether it holds numbers of choices. Throws Error(kInternal) where
  // the kernel's matrix is not positive definite, which noise above 1e-10 rules out.
  GaussianProcess(Eigen::MatrixXd x, std::vector<bool> choices, GpParameters parameters);
  void Observe(const Eigen::VectorXd& y);
  // What the first rows alone predict for the others: `y` is theirs.
  Eigen::VectorXd PredictRest(const Eigen::VectorXd& y) const;
  // Mean and standard deviation of the function, without the noise of another observation.
  void Predict(const Eigen::MatrixXd& at, Eigen::VectorXd* mean, Eigen::VectorXd* deviation) const;

 private:
  Eigen::MatrixXd x_;
  std::vector<bool> choices_;
  GpParameters parameters_;
  Eigen::MatrixXd factor_;  // of Cholesky, lower
  Eigen::VectorXd alpha_;
};

// log p(y | x), and its gradient by the logarithms of amplitude, lengths and noise, in this order.
double GpLogLikelihood(const Eigen::MatrixXd& x, const std::vector<bool>& choices,
                       const Eigen::VectorXd& y, const GpParameters& parameters,
                       Eigen::VectorXd* gradient);

// The parameters that make log p(y | x) + log p(parameters) large, found by `steps` steps of Rprop
// from the prior's middle (Riedmiller, Braun 1993). `y` has mean 0 and variance 1, numbers lie in
// [0, 1].
GpParameters FitGp(const Eigen::MatrixXd& x, const std::vector<bool>& choices,
                   const Eigen::VectorXd& y, int steps);

// The logarithm of how far a value is expected to lie below `best` (Jones, Schonlau, Welch 1998,
// formula 15): far above it improvements are too small for a number (Ament, Daulton, Eriksson,
// Balandat, Bakshy: "Unexpected Improvements to Expected Improvement", NeurIPS 2023).
double LogExpectedImprovement(double best, double mean, double deviation);

}  // namespace hopper
