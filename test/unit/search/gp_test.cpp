#include <gtest/gtest.h>

#include <cmath>

#include "search/baseline.h"
#include "search/gaussian_process.h"

namespace hopper {
namespace {

Eigen::VectorXd VectorOf(const nlohmann::json& values) {
  Eigen::VectorXd out(static_cast<Eigen::Index>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) out[static_cast<Eigen::Index>(i)] = values[i];
  return out;
}

Eigen::MatrixXd MatrixOf(const nlohmann::json& rows) {
  Eigen::MatrixXd out(static_cast<Eigen::Index>(rows.size()),
                      static_cast<Eigen::Index>(rows[0].size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    out.row(static_cast<Eigen::Index>(i)) = VectorOf(rows[i]).transpose();
  }
  return out;
}

GpParameters ParametersOf(const nlohmann::json& c) {
  GpParameters parameters;
  parameters.amplitude = c["amplitude"];
  parameters.noise = c["noise"];
  parameters.lengths = VectorOf(c["lengths"]);
  return parameters;
}

TEST(Gp, IsScikitLearns) {
  for (const nlohmann::json& c : SearchBaseline()["gp"]) {
    const Eigen::MatrixXd x = MatrixOf(c["x"]);
    const Eigen::VectorXd y = VectorOf(c["y"]);
    const std::vector<bool> choices(static_cast<size_t>(x.cols()), false);
    Eigen::VectorXd gradient;
    EXPECT_NEAR(GpLogLikelihood(x, choices, y, ParametersOf(c), &gradient),
                c["likelihood"].get<double>(), 1e-8);
    const Eigen::VectorXd expected = VectorOf(c["gradient"]);
    ASSERT_EQ(gradient.size(), expected.size());
    EXPECT_LT((gradient - expected).cwiseAbs().maxCoeff(), 1e-7);
    GaussianProcess process(x, choices, ParametersOf(c));
    process.Observe(y);
    Eigen::VectorXd mean, deviation;
    process.Predict(MatrixOf(c["at"]), &mean, &deviation);
    EXPECT_LT((mean - VectorOf(c["mean"])).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT((deviation - VectorOf(c["deviation"])).cwiseAbs().maxCoeff(), 1e-8);
    const Eigen::VectorXd improvement = VectorOf(c["improvement"]);
    for (Eigen::Index i = 0; i < mean.size(); ++i) {
      EXPECT_NEAR(ExpectedImprovement(y.minCoeff(), mean[i], deviation[i]), improvement[i], 1e-9);
    }
    // Predictions of the rest are those of a process that has the first rows alone.
    const Eigen::Index n = y.size() - 1;
    GaussianProcess first(x.topRows(n), choices, ParametersOf(c));
    first.Observe(y.head(n));
    first.Predict(x.bottomRows(1), &mean, &deviation);
    EXPECT_NEAR(process.PredictRest(y.head(n))[0], mean[0], 1e-9);
  }
}

TEST(Gp, FitRaisesTheLikelihood) {
  const nlohmann::json& c = SearchBaseline()["gp"][2];
  const Eigen::MatrixXd x = MatrixOf(c["x"]);
  Eigen::VectorXd y = VectorOf(c["y"]);
  y.array() -= y.mean();
  y /= std::sqrt(y.squaredNorm() / static_cast<double>(y.size()));
  const std::vector<bool> choices(static_cast<size_t>(x.cols()), false);
  const double before = GpLogLikelihood(x, choices, y, FitGp(x, choices, y, 1), nullptr);
  const double after = GpLogLikelihood(x, choices, y, FitGp(x, choices, y, 35), nullptr);
  const double long_after = GpLogLikelihood(x, choices, y, FitGp(x, choices, y, 500), nullptr);
  EXPECT_GT(after, before + 5);
  EXPECT_NEAR(after, long_after, 1.5);
}

TEST(Gp, ChoicesDifferByOne) {
  Eigen::MatrixXd x(3, 1);
  x << 0, 5, 5;
  GpParameters parameters;
  parameters.lengths = Eigen::VectorXd::Constant(1, 1.0);
  GaussianProcess choices(x, {true}, parameters);
  choices.Observe(Eigen::Vector3d(1, 0, 0));
  Eigen::VectorXd mean, deviation;
  Eigen::MatrixXd at(2, 1);
  at << 1, 0;
  choices.Predict(at, &mean, &deviation);
  EXPECT_GT(mean[1], 0.9);
  EXPECT_NEAR(deviation[1], 0, 0.05);
  EXPECT_GT(deviation[0], 0.5);
}

TEST(Gp, FindsTheMinimum) {
  SearchRequest request = RequestOf(SpaceOf(R"({"x": {"type": "float", "low": 0, "high": 1},
      "y": {"type": "float", "low": 0.001, "high": 1, "scale": "log"}, "c": ["a", "b", "c"]})"),
                                    "gp", "num_configs=40");
  request.seats = 4;
  Search search(std::move(request));
  Drive(&search, [](const SearchPoint& p, int64_t) {
    if (p[0] > 0.95) return Failure("diverged");
    return Loss(std::pow(p[0] - 0.7, 2) + std::pow(std::log10(p[1]) + 1, 2) + (p[2] == 1 ? 0 : 1));
  });
  EXPECT_LT(search.journal().trial(*search.best()).results.back().outcome.objectives[0], 0.01);
}

}  // namespace
}  // namespace hopper
