#include <gtest/gtest.h>

#include <algorithm>
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
      EXPECT_NEAR(std::exp(LogExpectedImprovement(y.minCoeff(), mean[i], deviation[i])),
                  improvement[i], 1e-9);
    }
    // Predictions of the rest are those of a process that has the first rows alone.
    const Eigen::Index n = y.size() - 1;
    GaussianProcess first(x.topRows(n), choices, ParametersOf(c));
    first.Observe(y.head(n));
    first.Predict(x.bottomRows(1), &mean, &deviation);
    EXPECT_NEAR(process.PredictRest(y.head(n))[0], mean[0], 1e-9);
  }
}

TEST(Gp, LogImprovementIsOptunas) {
  for (const nlohmann::json& c : SearchBaseline()["log_improvement"]) {
    const double z = c["z"], expected = c["value"];
    EXPECT_NEAR(LogExpectedImprovement(0, -z, 1), expected, 1e-9 * std::max(1.0, -expected)) << z;
    EXPECT_NEAR(LogExpectedImprovement(3, 3 - 0.1 * z, 0.1), expected + std::log(0.1),
                1e-9 * std::max(1.0, -expected))
        << z;
  }
  EXPECT_EQ(LogExpectedImprovement(2, 1, 0), 0);
  EXPECT_EQ(LogExpectedImprovement(1, 2, 0), -INFINITY);
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

// What is proposed is where the improvement is largest, of all points that were not tried.
TEST(Gp, ASmallSpaceIsLookedAtAsAWhole) {
  const auto space = SpaceOf(R"({"x": {"type": "int", "low": 0, "high": 6},
      "y": {"type": "int", "low": 0, "high": 6}, "z": {"type": "int", "low": 0, "high": 5}})");
  const auto encoded = [&](const std::vector<SearchPoint>& points) {
    Eigen::MatrixXd x(static_cast<Eigen::Index>(points.size()), 3);
    for (size_t i = 0; i < points.size(); ++i) {
      for (size_t d = 0; d < 3; ++d) {
        x(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(d)) =
            space->dimensions()[d].ToUnit(points[i][d]);
      }
    }
    return x;
  };
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SearchRequest request = RequestOf(space, "gp", "num_configs=11, num_startup=10", seed);
    request.seats = 1;
    Search search(std::move(request));
    Drive(&search, [](const SearchPoint& p, int64_t) {
      return Loss(std::sin(2.1 * p[0] + 1.3 * p[1]) + std::cos(1.7 * p[2] - p[1]));
    });
    std::vector<Trial> known(search.journal().trials().begin(),
                             search.journal().trials().begin() + 10);
    std::sort(known.begin(), known.end(), [](const Trial& a, const Trial& b) {
      return a.results[0].standing < b.results[0].standing;
    });
    std::vector<SearchPoint> points;
    Eigen::VectorXd y(10);
    for (const Trial& trial : known) {
      y[static_cast<Eigen::Index>(points.size())] = trial.results[0].standing.value;
      points.push_back(trial.point);
    }
    y.array() -= y.mean();
    y /= std::sqrt(y.squaredNorm() / 10);
    const std::vector<bool> choices(3, false);
    GaussianProcess process(encoded(points), choices, FitGp(encoded(points), choices, y, 35));
    process.Observe(y);
    const auto improvement = [&](const SearchPoint& point) {
      Eigen::VectorXd mean, deviation;
      process.Predict(encoded({point}), &mean, &deviation);
      return LogExpectedImprovement(y.minCoeff(), mean[0], deviation[0]);
    };
    const Trial& proposed = search.journal().trial(10);
    const double found = improvement(proposed.point);
    SearchPoint point = space->First();
    do {
      const bool is_known =
          std::any_of(known.begin(), known.end(), [&](const Trial& t) { return t.point == point; });
      if (!is_known) {
        EXPECT_LE(improvement(point), found + 1e-6) << seed;
      }
    } while (space->Next(&point));
    EXPECT_NEAR(*search.journal().decisions()[20].score, std::exp(found), 1e-6) << seed;
  }
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
