#include "search/algorithms/tpe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <utility>

#include "search/baseline.h"

namespace hopper {
namespace {

TEST(Tpe, ScoresAreOptunas) {
  const nlohmann::json& table = SearchBaseline()["tpe"];
  const auto space = SpaceOf(table["space"].get<std::string>());
  for (const nlohmann::json& c : table["cases"]) {
    const SearchJournal journal = JournalOf(space, c["history"]);
    const TpeModel model(journal, HistoryOf(journal, 1), {});
    for (size_t i = 0; i < c["candidates"].size(); ++i) {
      const SearchPoint point = PointOf(*space, c["candidates"][i]);
      EXPECT_NEAR(model.good().LogDensity(point), c["good"][i].get<double>(), 1e-8)
          << c["history"].size() << " " << i;
      EXPECT_NEAR(model.Score(point), c["score"][i].get<double>(), 1e-8)
          << c["history"].size() << " " << i;
    }
  }
}

// The density sums to one over what is drawn, and draws follow it.
TEST(Tpe, DrawsFollowTheDensity) {
  const auto space = SpaceOf(R"({"n": {"type": "int", "low": 1, "high": 9},
      "m": {"type": "int", "low": 1, "high": 200, "scale": "log", "when": {"c": "y"}},
      "c": ["x", "y", "z"]})");
  const std::vector<SearchPoint> points = {ParsedPoint(*space, R"({"n": 2, "c": "x"})"),
                                           ParsedPoint(*space, R"({"n": 3, "c": "y", "m": 7})"),
                                           ParsedPoint(*space, R"({"n": 8, "c": "y", "m": 50})")};
  const ParzenEstimator density(*space, {&points[0], &points[1], &points[2]});
  double sum = 0;
  SearchPoint point = space->First();
  std::map<std::string, double> expected;
  do {
    const double share = std::exp(density.LogDensity(point));
    sum += share;
    expected[RenderJson(Value::Real(point[0])) + std::to_string(static_cast<int>(point[2]))] +=
        share;
  } while (space->Next(&point));
  EXPECT_NEAR(sum, 1, 1e-9);
  std::map<std::string, double> drawn;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const SearchPoint p =
        density.Sample(Philox(1, Purpose::kSearch, 999, static_cast<uint64_t>(i)), 0, 1);
    EXPECT_EQ(std::isnan(p[1]), p[2] != 1.0);
    drawn[RenderJson(Value::Real(p[0])) + std::to_string(static_cast<int>(p[2]))] += 1.0 / kDraws;
  }
  for (const auto& [key, share] : expected) {
    // Five standard deviations.
    EXPECT_NEAR(drawn[key], share, 5 * std::sqrt(share / kDraws)) << key;
  }
}

TEST(Tpe, QuantilesInvertTheMass) {
  for (const auto& [a, b] : {std::pair<double, double>{-1, 2}, {0, 0.01}, {-0.5, 90}, {-8, 0.1}}) {
    for (const double u : {1e-6, 0.1, 0.5, 0.999}) {
      const double x = TruncatedNormalQuantile(u, a, b);
      EXPECT_NEAR(NormalMass(a, x) / NormalMass(a, b), u, 1e-10) << a << " " << b << " " << u;
    }
  }
}

TEST(Tpe, ProposesWithScoresAfterRandomOnes) {
  Search search(RequestOf(SpaceOf(R"({"x": {"type": "float", "low": 0, "high": 1}, "c": [1, 2]})"),
                          "tpe", "num_configs=40, num_startup=8"));
  Drive(&search, [](const SearchPoint& point, int64_t) {
    return Loss(std::abs(point[0] - 0.3) + point[1]);
  });
  int64_t scored = 0;
  for (const Decision& decision : search.journal().decisions()) scored += decision.score ? 1 : 0;
  // Eight seats are filled before the first eight results.
  EXPECT_GE(scored, 40 - 8 - 8);
  EXPECT_LT(*search.journal().trial(*search.best()).results.back().outcome.objectives.begin(),
            0.05);
}

// Of trials that end at different resources the model looks at those of which there are enough:
// the first that is trained to the end does not take it away.
TEST(Tpe, ProposesForWhatStopsTrialsEarly) {
  const std::string halving = "num_configs=60, R=27, proposer='tpe'";
  for (const auto& [algorithm, arguments] : std::map<std::string, std::string>{
           {"asha", halving},
           {"successive_halving", halving},
           {"hyperband", "R=27, loops=2, proposer='tpe'"},
           {"median", "num_configs=60, num_iterations=27, proposer='tpe'"}}) {
    SearchRequest request = RequestOf(SpaceOf(R"({"x": {"type": "float", "low": 0, "high": 1}})"),
                                      algorithm, arguments);
    request.seats = 1;
    Search search(std::move(request));
    Drive(&search, [](const SearchPoint& point, int64_t resource) {
      return Loss(std::abs(point[0] - 0.3) + 1.0 / static_cast<double>(resource));
    });
    int64_t random = 0;
    for (const Decision& decision : search.journal().decisions()) {
      random += decision.kind == DecisionKind::kProposed && !decision.score ? 1 : 0;
    }
    EXPECT_EQ(random, 10) << algorithm;
  }
}

// A small discrete space is used up without a repetition.
TEST(Tpe, NeverRepeats) {
  Search search(RequestOf(SpaceOf(R"({"a": [1, 2, 3, 4, 5], "b": [1, 2, 3, 4, 5]})"), "tpe",
                          "num_configs=100"));
  Drive(&search, [](const SearchPoint& point, int64_t) { return Loss(point[0] + point[1]); });
  EXPECT_EQ(search.journal().trials().size(), 25U);
  EXPECT_EQ(Count(search, DecisionKind::kExhausted), 1);
}

TEST(Bohb, LearnsFromTheLargestResourceThatHasEnough) {
  const auto space = SpaceOf(R"({"x": {"type": "float", "low": 0, "high": 1}})");
  SearchJournal journal(space, 1, {{"loss", false, 1.0}}, {});
  for (int i = 0; i < 6; ++i) {
    journal.AddEarlier({0.1 * i + 0.01}, 1, Loss(i));
    if (i < 4) journal.AddResult(i, 3, Loss(10 - i));
    if (i < 1) journal.AddResult(i, 9, Loss(5));
  }
  EXPECT_EQ(HistoryOf(journal, 1).resource, 9);
  EXPECT_EQ(HistoryOf(journal, 2).resource, 3);
  EXPECT_EQ(HistoryOf(journal, 2).finished.size(), 4U);
  EXPECT_EQ(HistoryOf(journal, 2).standings[0].value, 10);
  EXPECT_EQ(HistoryOf(journal, 5).resource, 1);
  EXPECT_EQ(HistoryOf(journal, 50).resource, 1);
  journal.AddEarlier({0.9}, 1, Failure("no memory"));
  EXPECT_EQ(HistoryOf(journal, 2).resource, 9);
  EXPECT_EQ(HistoryOf(journal, 2).finished.size(), 2U);
}

}  // namespace
}  // namespace hopper
