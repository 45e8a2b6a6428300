#include "search/gaussian_process.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace hopper {
namespace {

const double kRootFive = std::sqrt(5.0);

// Squared differences in one dimension.
Eigen::MatrixXd Squares(const Eigen::VectorXd& a, const Eigen::VectorXd& b, bool choice) {
  const Eigen::ArrayXXd difference =
      a.replicate(1, b.size()).array() - b.transpose().replicate(a.size(), 1).array();
  if (choice) return (difference != 0).cast<double>();
  return difference.square();
}

// Of r^2, in place.
void Matern(double amplitude, Eigen::MatrixXd* squares) {
  const Eigen::ArrayXXd r = squares->array().sqrt() * kRootFive;
  *squares = (amplitude * (1 + r + r.square() / 3) * (-r).exp()).matrix();
}

Eigen::MatrixXd Kernel(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                       const std::vector<bool>& choices, const GpParameters& parameters) {
  Eigen::MatrixXd kernel = Eigen::MatrixXd::Zero(a.rows(), b.rows());
  for (Eigen::Index d = 0; d < a.cols(); ++d) {
    const double length = parameters.lengths[d];
    kernel += Squares(a.col(d), b.col(d), choices[static_cast<size_t>(d)]) / (length * length);
  }
  Matern(parameters.amplitude, &kernel);
  return kernel;
}

Eigen::MatrixXd Factor(Eigen::MatrixXd kernel, double noise) {
  kernel.diagonal().array() += noise;
  const Eigen::LLT<Eigen::MatrixXd> factor(kernel);
  if (factor.info() != Eigen::Success) {
    throw Error(ErrorCode::kInternal, "the model of the results cannot be computed");
  }
  return factor.matrixL();
}

// K^-1 b from Cholesky's factor of K.
Eigen::MatrixXd Solved(const Eigen::Ref<const Eigen::MatrixXd>& factor, Eigen::MatrixXd b) {
  factor.triangularView<Eigen::Lower>().solveInPlace(b);
  factor.transpose().triangularView<Eigen::Upper>().solveInPlace(b);
  return b;
}

// Middle and width of the logarithms: lengths of half the range, little noise.
struct Prior {
  double middle;
  double width;
};
constexpr Prior kAmplitudePrior = {0.0, 1.0};
constexpr Prior kLengthPrior = {-0.7, 1.0};
constexpr Prior kNoisePrior = {-6.9, 2.0};
constexpr double kLeastNoise = 1e-6;

}  // namespace

GaussianProcess::GaussianProcess(Eigen::MatrixXd x, std::vector<bool> choices,
                                 GpParameters parameters)
    : x_(std::move(x)), choices_(std::move(choices)), parameters_(std::move(parameters)) {
  factor_ = Factor(Kernel(x_, x_, choices_, parameters_), parameters_.noise);
}

void GaussianProcess::Observe(const Eigen::VectorXd& y) { alpha_ = Solved(factor_, y); }

Eigen::VectorXd GaussianProcess::PredictRest(const Eigen::VectorXd& y) const {
  const Eigen::Index n = y.size();
  // The first rows' factor is the corner of the whole one.
  const Eigen::VectorXd alpha = Solved(factor_.topLeftCorner(n, n), y);
  return Kernel(x_.bottomRows(x_.rows() - n), x_.topRows(n), choices_, parameters_) * alpha;
}

void GaussianProcess::Predict(const Eigen::MatrixXd& at, Eigen::VectorXd* mean,
                              Eigen::VectorXd* deviation) const {
  Eigen::MatrixXd kernel = Kernel(x_, at, choices_, parameters_);
  *mean = kernel.transpose() * alpha_;
  factor_.triangularView<Eigen::Lower>().solveInPlace(kernel);
  *deviation =
      (parameters_.amplitude - kernel.colwise().squaredNorm().transpose().array()).max(0.0).sqrt();
}

double GpLogLikelihood(const Eigen::MatrixXd& x, const std::vector<bool>& choices,
                       const Eigen::VectorXd& y, const GpParameters& parameters,
                       Eigen::VectorXd* gradient) {
  const Eigen::Index n = x.rows();
  const Eigen::Index dimensions = x.cols();
  std::vector<Eigen::MatrixXd> squares;
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index d = 0; d < dimensions; ++d) {
    const double length = parameters.lengths[d];
    squares.push_back(Squares(x.col(d), x.col(d), choices[static_cast<size_t>(d)]) /
                      (length * length));
    sum += squares.back();
  }
  Eigen::MatrixXd kernel = sum;
  Matern(parameters.amplitude, &kernel);
  const Eigen::MatrixXd factor = Factor(kernel, parameters.noise);
  const Eigen::VectorXd alpha = Solved(factor, y);
  const double likelihood = -0.5 * y.dot(alpha) - factor.diagonal().array().log().sum() -
                            0.5 * static_cast<double>(n) * std::log(2 * M_PI);
  if (gradient == nullptr) return likelihood;
  // Half the trace of (alpha alpha^T - K^-1) dK (formula 5.9).
  const Eigen::MatrixXd inverse = Solved(factor, Eigen::MatrixXd::Identity(n, n));
  const Eigen::MatrixXd weights = 0.5 * (alpha * alpha.transpose() - inverse);
  gradient->resize(dimensions + 2);
  (*gradient)[0] = weights.cwiseProduct(kernel).sum();
  const Eigen::ArrayXXd r = sum.array().sqrt() * kRootFive;
  const Eigen::MatrixXd by_length =
      weights.array() * (parameters.amplitude * 5 / 3) * (1 + r) * (-r).exp();
  for (Eigen::Index d = 0; d < dimensions; ++d) {
    (*gradient)[d + 1] = by_length.cwiseProduct(squares[static_cast<size_t>(d)]).sum();
  }
  (*gradient)[dimensions + 1] = parameters.noise * weights.trace();
  return likelihood;
}

GpParameters FitGp(const Eigen::MatrixXd& x, const std::vector<bool>& choices,
                   const Eigen::VectorXd& y, int steps) {
  const Eigen::Index n = x.cols() + 2;
  const auto prior_of = [n](Eigen::Index i) {
    return i == 0 ? kAmplitudePrior : i + 1 < n ? kLengthPrior : kNoisePrior;
  };
  Eigen::VectorXd at(n);
  for (Eigen::Index i = 0; i < n; ++i) at[i] = prior_of(i).middle;
  const auto parameters_at = [n](const Eigen::VectorXd& logarithms) {
    GpParameters parameters;
    parameters.amplitude = std::exp(logarithms[0]);
    parameters.lengths = logarithms.segment(1, n - 2).array().exp();
    parameters.noise = std::max(kLeastNoise, std::exp(logarithms[n - 1]));
    return parameters;
  };
  Eigen::VectorXd step = Eigen::VectorXd::Constant(n, 0.3);
  Eigen::VectorXd before = Eigen::VectorXd::Zero(n);
  Eigen::VectorXd best = at;
  double best_value = -INFINITY;
  for (int i = 0; i < steps; ++i) {
    Eigen::VectorXd gradient;
    double value = GpLogLikelihood(x, choices, y, parameters_at(at), &gradient);
    for (Eigen::Index k = 0; k < n; ++k) {
      const Prior prior = prior_of(k);
      const double z = (at[k] - prior.middle) / prior.width;
      value -= 0.5 * z * z;
      gradient[k] -= z / prior.width;
    }
    if (value > best_value) {
      best_value = value;
      best = at;
    }
    for (Eigen::Index k = 0; k < n; ++k) {
      const double agreement = gradient[k] * before[k];
      step[k] = std::clamp(step[k] * (agreement > 0 ? 1.3 : agreement < 0 ? 0.5 : 1.0), 1e-3, 1.0);
      before[k] = agreement < 0 ? 0 : gradient[k];
      if (before[k] != 0) at[k] += before[k] > 0 ? step[k] : -step[k];
      at[k] = std::clamp(at[k], prior_of(k).middle - 5, prior_of(k).middle + 5);
    }
  }
  return parameters_at(best);
}

double LogExpectedImprovement(double best, double mean, double deviation) {
  if (deviation <= 0) return std::log(std::max(0.0, best - mean));
  const double z = (best - mean) / deviation;
  const double log_density = -0.5 * z * z - 0.5 * std::log(2 * M_PI);
  if (z > -5) {
    const double mass = 0.5 * std::erfc(-z * M_SQRT1_2);
    return std::log(deviation) + std::log(z * mass + std::exp(log_density));
  }
  // Far below the two terms cancel. With t = -z and Mills' ratio R(t) = 1 / (t + 1 / (t + 2 / (t +
  // 3 / ...))) they are density (1 - t R(t)).
  double fraction = 0;
  for (int i = 40; i > 0; --i) fraction = i / (fraction - z);
  return std::log(deviation) + log_density + std::log(fraction / (fraction - z));
}

}  // namespace hopper
