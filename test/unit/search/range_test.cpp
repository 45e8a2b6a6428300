// Ranges, steps and results at the ends of what numbers can say.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "search/drive.h"

namespace hopper {
namespace {

// The first problem of a parameter "x"; "" where there is none.
std::string ProblemOf(const std::string& parameter) {
  try {
    SpaceOf("{\"x\": " + parameter + "}");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Range, StepsAreWhatTheUserWouldWrite) {
  const auto space = SpaceOf(R"({"rate": {"type": "float", "low": 0, "high": 0.5, "step": 0.1},
      "units": {"type": "int", "low": 1, "high": 2, "when": {"rate": {"from": 0.2, "to": 0.3}}}})");
  std::string points;
  SearchPoint point = space->First();
  do {
    points += space->PointText(point);
  } while (space->Next(&point));
  EXPECT_EQ(points,
            R"({"rate": 0.0}{"rate": 0.1}{"rate": 0.2, "units": 1}{"rate": 0.2, "units": 2})"
            R"({"rate": 0.3, "units": 1}{"rate": 0.3, "units": 2}{"rate": 0.4}{"rate": 0.5})");
}

TEST(Range, TheLastStepIsReached) {
  for (const auto& [high, step, count] :
       std::vector<std::tuple<std::string, std::string, uint64_t>>{{"1", "1e-9", 1000000001},
                                                                   {"0.3", "1e-8", 30000001},
                                                                   {"0.7", "1e-7", 7000001},
                                                                   {"0.9", "0.1", 10},
                                                                   {"1", "0.3", 4}}) {
    const auto space = SpaceOf(R"({"x": {"type": "float", "low": 0, "high": )" + high +
                               R"(, "step": )" + step + "}}");
    const Dimension& x = space->dimensions()[0];
    EXPECT_EQ(x.Count(), count) << high << " " << step;
    EXPECT_EQ(x.high, high == "1" && step == "0.3" ? 0.9 : std::stod(high));
    EXPECT_EQ(x.At(count - 1), x.high);
  }
}

TEST(Range, WhatCannotBeToldApartIsRefused) {
  EXPECT_EQ(ProblemOf(R"({"type": "float", "low": 1e17, "high": 1.000000000000001e17, "step": 1})"),
            "search space at \"parameters.x\": the step is too small to tell numbers as large as "
            "these apart");
  EXPECT_EQ(ProblemOf(R"({"type": "float", "low": 1000, "high": 1000.0000000000001,
                          "scale": "log"})"),
            "search space at \"parameters.x\": the ends of the range are the same number in their "
            "first 12 digits");
  EXPECT_EQ(ProblemOf(R"({"type": "float", "low": -1e308, "high": 1e308})"),
            "search space at \"parameters.x\": the range is wider than the largest number");
  EXPECT_EQ(ProblemOf(R"({"type": "int", "low": 9007199254740000, "high": 9007199254740992})"),
            "search space at \"parameters.x\": whole numbers must be from -1e12 to 1e12");
  EXPECT_EQ(ProblemOf(R"({"type": "int", "low": 999999999000, "high": 1000000000000})"), "");
  EXPECT_EQ(ProblemOf(R"({"type": "float", "low": 1e-300, "high": 1e300, "scale": "log"})"), "");
  std::vector<Problem> problems;
  ParseSearchGrid({1},
                  "{'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['SGD'], "
                  "'lr': [1000, 1000.0000000000001, 'log']}]}",
                  "{'batch_size': [8]}", &problems);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].message,
            "parameter \"lr\": the ends of the range are the same number in their first 12 digits");
}

TEST(Range, NoWholeNumberLiesBetween) {
  const auto problem = [](const std::string& when) -> std::string {
    try {
      SpaceOf(
          R"({"a": {"type": "int", "low": 0, "high": 5}, "b": {"type": "int", "low": 0, "high": 1,
                 "when": {"a": )" +
          when + "}}}");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string never = "search space at \"parameters.b.when.a\": \"a\" is never in that range";
  EXPECT_EQ(problem(R"({"from": 1.2, "to": 1.8})"), never);
  EXPECT_EQ(problem(R"({"from": 5.1})"), never);
  EXPECT_EQ(problem(R"({"from": 1.2, "to": 2})"), "");
  EXPECT_EQ(problem(R"({"from": 0.7, "to": 1.3})"), "");
  EXPECT_EQ(problem(R"({"to": 0.3})"), "");
}

// Each of sixty layers depends on both of the layer before: there are 2^60 ways up.
TEST(Range, ConditionsOnConditionsAreFollowedOnce) {
  std::string parameters;
  for (int layer = 0; layer < 60; ++layer) {
    for (const char* side : {"a", "b"}) {
      parameters += (parameters.empty() ? "\"" : ", \"") + (side + std::to_string(layer)) +
                    R"(": {"type": "int", "low": 0, "high": 3)";
      const std::string above = std::to_string(layer - 1);
      if (layer > 0) {
        parameters +=
            R"(, "when": {"a)" + above + R"(": {"from": 1}, "b)" + above + R"(": [2, 3]})";
      }
      parameters += "}";
    }
  }
  const auto space = SpaceOf("{" + parameters + "}");
  std::vector<double> numbers(space->size(), 0.0);
  space->Activate(space->size() - 1, &numbers);
  const SearchPoint point = space->Fill([&](size_t d) { return numbers[d]; });
  EXPECT_FALSE(std::isnan(point.back()));
}

// Results that no sum can hold are failures, and large ones do not end a model.
TEST(Range, LargeLossesAreCompared) {
  for (const char* algorithm : {"random", "tpe", "gp", "median"}) {
    SearchRequest request = RequestOf(SpaceOf(R"({"x": {"type": "float", "low": 0, "high": 1}})"),
                                      algorithm, "num_configs=30");
    Search search(std::move(request));
    Drive(&search, [](const SearchPoint& point, int64_t) { return Loss(point[0] * 1.7e308); });
    for (const Decision& decision : search.journal().decisions()) {
      EXPECT_TRUE(std::isfinite(decision.score.value_or(0))) << algorithm;
    }
    const double best = search.journal().trial(*search.best()).point[0];
    for (const Trial& trial : search.journal().trials()) EXPECT_GE(trial.point[0], best);

    request = RequestOf(SpaceOf(R"({"x": [1, 2, 3, 4]})"), algorithm, "num_configs=4");
    request.objectives = {{"a", false, 1e300}, {"b", true, 1e300}};
    Search weighted(std::move(request));
    Drive(&weighted, [](const SearchPoint& point, int64_t) {
      SearchOutcome outcome;
      // Infinity less infinity, but for the first.
      outcome.objectives = {point[0] * 1e10, point[0] * 2e10};
      return outcome;
    });
    ASSERT_TRUE(weighted.best()) << algorithm;
    EXPECT_EQ(weighted.journal().trial(*weighted.best()).point[0], 0.0) << algorithm;
    EXPECT_EQ(Count(weighted, DecisionKind::kFailed), 3) << algorithm;
  }
}

}  // namespace
}  // namespace hopper
