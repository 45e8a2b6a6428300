#include "search/importance.h"

#include <gtest/gtest.h>

#include "search/baseline.h"

namespace hopper {
namespace {

TEST(Importance, IsOptunas) {
  const nlohmann::json& table = SearchBaseline()["importance"];
  const auto space = SpaceOf(table["space"].get<std::string>());
  for (const nlohmann::json& c : table["cases"]) {
    const SearchJournal journal = JournalOf(space, c["history"]);
    const std::vector<ParameterImportance> found = ParameterImportances(journal);
    ASSERT_EQ(found.size(), 7U);
    for (const ParameterImportance& one : found) {
      EXPECT_NEAR(one.importance, c["importance"][one.name].get<double>(), 1e-8) << one.name;
    }
  }
}

TEST(Importance, NothingCanBeToldOfNothing) {
  const auto space = SpaceOf(R"({"x": {"type": "float", "low": 0, "high": 1}, "c": [1]})");
  SearchJournal journal(space, 1, {{"loss", false, 1.0}}, {});
  ASSERT_EQ(ParameterImportances(journal).size(), 1U);
  EXPECT_EQ(ParameterImportances(journal)[0].importance, 0);
  journal.AddEarlier({0.5, 0}, 1, Failure("diverged"));
  EXPECT_EQ(ParameterImportances(journal)[0].importance, 0);
}

// Good are those that the search prefers: first of all those that keep the constraints, or miss
// them by least where nobody does.
TEST(Importance, ConstraintsDecideWhoIsGood) {
  const auto space = SpaceOf(R"({"x": {"type": "float", "low": 0, "high": 1},
      "y": {"type": "float", "low": 0, "high": 1}})");
  for (const double bound : {0.3, -1.0}) {
    SearchJournal journal(space, 1, {{"loss", false, 1.0}}, {{"gap", bound, false}});
    for (int i = 0; i < 100; ++i) {
      const double x = i / 100.0;
      const double y = (37 * i % 100) / 100.0;
      SearchOutcome outcome = Loss(y);
      outcome.constraints = {x};
      journal.AddEarlier({x, y}, 1, outcome);
    }
    const std::vector<ParameterImportance> found = ParameterImportances(journal);
    EXPECT_GT(found[0].importance, bound > 0 ? 0.1 : 0.8) << bound;
    EXPECT_NEAR(found[0].importance + found[1].importance, 1, 1e-12);
  }
}

// What only some trials have counts by its share of them.
TEST(Importance, ConditionalParametersCount) {
  const auto space = SpaceOf(R"({"c": ["x", "y"],
      "m": {"type": "float", "low": 0, "high": 1, "when": {"c": "y"}},
      "n": {"type": "float", "low": 0, "high": 1}})");
  SearchJournal journal(space, 1, {{"loss", false, 1.0}}, {});
  for (int i = 0; i < 100; ++i) {
    const double m = i % 2 == 0 ? kInactive : i / 100.0;
    const double n = (37 * i % 100) / 100.0;
    journal.AddEarlier({i % 2 == 0 ? 0.0 : 1.0, m, n}, 1, Loss(i % 2 == 0 ? 2 + n : m));
  }
  const std::vector<ParameterImportance> found = ParameterImportances(journal);
  EXPECT_GT(found[1].importance, 0.5);
  EXPECT_GT(found[0].importance, found[2].importance);
}

}  // namespace
}  // namespace hopper
