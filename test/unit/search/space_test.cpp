#include "search/space.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "search/drive.h"

namespace hopper {
namespace {

constexpr char kSpace[] = R"({
  "parameters": {
    "lr": {"type": "float", "low": 1e-4, "high": 0.1, "scale": "log"},
    "optimizer": {"type": "choice", "values": ["Adam", "SGD"]},
    "momentum": {"type": "float", "low": 0, "high": 0.9, "step": 0.3,
                 "when": {"optimizer": "SGD"}},
    "batch": [32, 64],
    "depth": {"type": "int", "low": 1, "high": 3},
    "units1": {"type": "int", "low": 16, "high": 64, "step": 16},
    "units2": {"type": "int", "low": 16, "high": 64, "step": 16, "when": {"depth": {"from": 2}}},
    "units3": {"type": "int", "low": 16, "high": 64, "step": 16, "when": {"depth": 3}},
    "passes": 1
  },
  "model_id": 7,
  "compile_params": {
    "loss": "categorical_crossentropy",
    "optimizer": {"class_name": {"hopper": "optimizer"},
                  "config": {"learning_rate": {"hopper": "lr"},
                             "momentum": {"hopper": "momentum"}}}},
  "fit_params": {"batch_size": {"hopper": "batch"}, "epochs": {"hopper": "passes"}}
})";

const std::map<int32_t, std::string> kArchitectures = {{7, R"({"layers": [{"class_name": "Flatten"},
         {"hopper": {"repeat": "depth", "layers": [
            {"class_name": "Dense", "config": {"name": "dense_#", "units": {"hopper": "units#"}}}]}},
         {"class_name": "Softmax"}]})"},
                                                       {8, R"({"layers": []})"}};

std::vector<std::string> SpaceProblemsOf(const std::string& text,
                                         const std::map<int32_t, std::string>& architectures = {}) {
  std::vector<Problem> problems;
  ParseSearchSpace(text, architectures, &problems);
  std::vector<std::string> messages;
  for (const Problem& p : problems) {
    messages.push_back(p.message + (p.hint.empty() ? "" : " | " + p.hint));
  }
  return messages;
}

SearchSpace Example() {
  std::vector<Problem> problems;
  SearchSpace space = ParseSearchSpace(kSpace, kArchitectures, &problems);
  for (const Problem& problem : problems) ADD_FAILURE() << problem.message;
  return space;
}

TEST(SearchSpaceJson, TextsHoldTheValues) {
  const SearchSpace space = Example();
  const SearchPoint point = ParsedPoint(
      space, R"({"lr": 0.01, "optimizer": "SGD", "momentum": 0.6, "batch": 64, "depth": 2,
          "units1": 48, "units2": 16})");
  const SearchConfiguration configuration = space.Configuration(point);
  EXPECT_EQ(configuration.model_id, 7);
  EXPECT_EQ(configuration.compile_params,
            R"({"loss": "categorical_crossentropy", "optimizer": {"class_name": "SGD", )"
            R"("config": {"learning_rate": 0.01, "momentum": 0.6}}})");
  EXPECT_EQ(configuration.fit_params, R"({"batch_size": 64, "epochs": 1})");
  EXPECT_EQ(space.Architecture(point, 7),
            R"({"layers": [{"class_name": "Flatten"}, )"
            R"({"class_name": "Dense", "config": {"name": "dense_1", "units": 48}}, )"
            R"({"class_name": "Dense", "config": {"name": "dense_2", "units": 16}}, )"
            R"({"class_name": "Softmax"}]})");
  EXPECT_EQ(space.Architecture(point, 8), "");
  EXPECT_EQ(space.PointText(point),
            R"({"lr": 0.01, "optimizer": "SGD", "momentum": 0.6, "batch": 64, "depth": 2, )"
            R"("units1": 48, "units2": 16, "passes": 1})");
}

TEST(SearchSpaceJson, WhatDoesNotApplyIsLeftOut) {
  const SearchSpace space = Example();
  const SearchPoint point = ParsedPoint(
      space, R"({"lr": 0.001, "optimizer": "Adam", "batch": 32, "depth": 1, "units1": 16})");
  EXPECT_EQ(space.Configuration(point).compile_params,
            R"({"loss": "categorical_crossentropy", "optimizer": {"class_name": "Adam", )"
            R"("config": {"learning_rate": 0.001}}})");
}

TEST(SearchSpaceJson, DescribesItself) {
  const std::vector<DimensionRow> rows = DescribeSpace(Example());
  ASSERT_EQ(rows.size(), 9U);
  EXPECT_EQ(rows[0].type, "float");
  EXPECT_EQ(rows[0].scale, "log");
  EXPECT_FALSE(rows[0].count.has_value());
  EXPECT_EQ(rows[0].used_in, "compile_params");
  EXPECT_EQ(rows[1].choices, R"(["Adam", "SGD"])");
  EXPECT_EQ(rows[2].condition, "optimizer = \"SGD\"");
  EXPECT_EQ(rows[2].count, 4U);
  EXPECT_EQ(rows[6].condition, "depth from 2.0");
  EXPECT_EQ(rows[6].used_in, "architecture 7");
  EXPECT_EQ(rows[8].type, "constant");
}

TEST(SearchSpaceJson, NamesAllMistakesWithTheirPath) {
  EXPECT_EQ(
      SpaceProblemsOf(R"({"parameters": {
          "a": {"type": "float", "low": 1, "high": 0.1},
          "b": {"type": "float", "low": 0, "high": 0.1, "scale": "log"},
          "c": [],
          "d": {"type": "flaot", "low": 0, "high": 1},
          "e": {"type": "int", "low": 0.5, "high": 3},
          "f": {"type": "int", "low": 1, "high": 8, "sclae": "log"},
          "g": {"type": "choice", "values": [1, 1]},
          "h": {"type": "float", "low": 0, "high": 1, "step": 0},
          "i": {"type": "float", "high": 1, "scale": "logarithmic"},
          "j": {"type": "float", "low": 0, "high": 1, "scale": "log_near_one"}},
        "model_id": 1, "compile_parms": {},
        "fit_params": {"x": [{"hopper": "a"}, {"hopper": "b"}, {"hopper": "c"}, {"hopper": "d"},
           {"hopper": "e"}, {"hopper": "f"}, {"hopper": "g"}, {"hopper": "h"}, {"hopper": "i"},
           {"hopper": "j"}]}})"),
      (std::vector<std::string>{
          "search space: key \"compile_parms\" is not known | Perhaps you meant "
          "\"compile_params\".",
          "search space at \"parameters.a\": the range is upside down: low 1 is above high 0.1",
          "search space at \"parameters.b.low\": a log scale needs a range above zero, got 0",
          "search space at \"parameters.c\": list of choices is empty",
          "search space at \"parameters.d.type\": type \"flaot\" is not known | Perhaps you meant "
          "\"float\".",
          "search space at \"parameters.e.low\": must be a whole number, got 0.5",
          "search space at \"parameters.f\": key \"sclae\" is not known | Perhaps you meant "
          "\"scale\".",
          "search space at \"parameters.g.values[1]\": 1 stands twice among the choices",
          "search space at \"parameters.h.step\": must be above zero",
          "search space at \"parameters.i.low\": is missing",
          "search space at \"parameters.i.scale\": scale \"logarithmic\" is not known | Scales are "
          "linear, log and log_near_one.",
          "search space at \"parameters.j.high\": scale log_near_one needs numbers below one",
      }));
}

TEST(SearchSpaceJson, RefusesWrongReferences) {
  EXPECT_EQ(SpaceProblemsOf(R"({"parameters": {"a": [1, 2], "lr": [1]}, "model_id": [1, 3],
             "compile_params": {"loss": {"hopper": "losss"}, "x": {"hopper": 3},
                                "y": {"hopper": "lr", "z": 1}}})",
                            {{1, R"({"units": {"hopper": {"repeat": "a", "layers": []}}})"}}),
            (std::vector<std::string>{
                "search space at \"model_id\": there is no architecture 3",
                "search space at \"compile_params.loss\": there is no parameter \"losss\"",
                "search space at \"compile_params.x\": {\"hopper\": ...} needs the name of a "
                "parameter, got 3",
                "search space at \"compile_params.y\": an object with \"hopper\" may have no other "
                "key",
                "search space at \"architecture 1.units\": a repeated block must stand in a list",
                "search space at \"parameters.lr\": the parameter is used nowhere | Write "
                "{\"hopper\": \"lr\"} where its value belongs.",
            }));
}

TEST(SearchSpaceJson, RefusesConditionsThatCannotHold) {
  EXPECT_EQ(SpaceProblemsOf(R"({"parameters": {
          "a": {"type": "constant", "value": 1, "when": {"c": 1}},
          "b": {"type": "choice", "values": [1, 2], "when": {"a": 1}},
          "c": {"type": "choice", "values": [1, 2], "when": {"b": [2]}},
          "d": {"type": "int", "low": 1, "high": 4, "when": {"c": 1, "d": 4}}},
          "model_id": 1, "fit_params": {"batch_size": {"hopper": "d"}}})"),
            (std::vector<std::string>{
                "search space at \"parameters.a.when\": conditions form a cycle: \"a\" on \"c\" on "
                "\"b\" on \"a\""}));
  EXPECT_EQ(SpaceProblemsOf(R"({"parameters": {
          "a": {"type": "choice", "values": [1, 2]},
          "n": {"type": "int", "low": 1, "high": 4},
          "b": {"type": "constant", "value": 1, "when": {"a": 3}},
          "c": {"type": "constant", "value": 1, "when": {"aa": 1}},
          "d": {"type": "constant", "value": 1, "when": {"n": {"from": 5}}},
          "e": {"type": "constant", "value": 1, "when": {"n": []}}},
          "model_id": 1, "fit_params": {"x": {"hopper": "b"}, "y": {"hopper": "c"},
                                        "z": [{"hopper": "d"}, {"hopper": "e"}]}})"),
            (std::vector<std::string>{
                "search space at \"parameters.b.when.a\": \"a\" is never 3",
                "search space at \"parameters.c.when\": there is no parameter \"aa\" | Perhaps you "
                "meant \"a\".",
                "search space at \"parameters.d.when.n\": \"n\" is never in that range",
                "search space at \"parameters.e.when.n\": list of values is empty"}));
}

// Blocks in blocks would fill any memory.
TEST(SearchSpaceJson, RepeatedBlocksAreBounded) {
  std::string blocks = R"("x")";
  for (int i = 0; i < 8; ++i) {
    blocks = R"({"hopper": {"repeat": 1000, "layers": [)" + blocks + "]}}";
  }
  EXPECT_EQ(SpaceProblemsOf(R"({"model_id": 1, "fit_params": {"x": [)" + blocks + "]}}"),
            (std::vector<std::string>{"repeated blocks make more than 1,000,000 values"}));
  EXPECT_EQ(SpaceProblemsOf(R"({"model_id": 1, "fit_params": {"x": [{"hopper": {"repeat": 1001,
                           "layers": []}}]}})"),
            (std::vector<std::string>{"search space at \"fit_params.x[0].repeat\": needs a "
                                      "parameter's name or a number from 0 to 1000, got 1001"}));
}

TEST(SearchSpaceJson, TriesTheTextsOfEachChoiceAndEnd) {
  const std::vector<std::string> problems =
      SpaceProblemsOf(R"({"parameters": {"a": {"type": "int", "low": 0, "high": 64},
                                    "b": ["mse", "msee", "mae"]}, "model_id": 1,
                     "compile_params": {"loss": {"hopper": "b"}, "optimizer": "Adam"},
                     "fit_params": {"batch_size": {"hopper": "a"}}})");
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_NE(problems[1].find("batch_size"), std::string::npos) << problems[1];
  EXPECT_NE(problems[0].find("msee"), std::string::npos) << problems[0];
  EXPECT_EQ(SpaceProblemsOf("[1]").front(), "search space is not a JSON object");
  EXPECT_EQ(SpaceProblemsOf("{").size(), 1U);
}

TEST(SearchSpacePoints, ShareTheRangeEvenly) {
  const auto space = SpaceOf(R"({"f": {"type": "float", "low": 0.01, "high": 1, "scale": "log"},
      "s": {"type": "float", "low": 0, "high": 1, "step": 0.25},
      "i": {"type": "int", "low": 1, "high": 3},
      "l": {"type": "int", "low": 1, "high": 100, "scale": "log"},
      "n": {"type": "float", "low": 0.9, "high": 0.999, "scale": "log_near_one"},
      "c": ["x", "y"]})");
  const std::vector<Dimension>& d = space->dimensions();
  EXPECT_NEAR(d[0].FromUnit(0.5), 0.1, 1e-12);
  EXPECT_EQ(d[1].FromUnit(0.19), 0.0);
  EXPECT_EQ(d[1].FromUnit(0.21), 0.25);
  EXPECT_EQ(d[1].FromUnit(0.999), 1.0);
  EXPECT_EQ(d[2].FromUnit(0.34), 2.0);
  EXPECT_EQ(d[3].FromUnit(0.0001), 1.0);
  EXPECT_EQ(d[3].FromUnit(0.9999), 100.0);
  EXPECT_NEAR(d[4].FromUnit(0.5), 0.99, 1e-12);
  EXPECT_EQ(d[5].FromUnit(0.6), 1.0);
  for (const Dimension& dimension : d) {
    for (double u = 0.05; u < 1; u += 0.1) {
      const double value = dimension.FromUnit(u);
      EXPECT_NEAR(dimension.FromUnit(dimension.ToUnit(value)), value, 1e-9) << dimension.name;
    }
  }
}

TEST(SearchSpacePoints, AreCountedAsTheyAreListed) {
  const SearchSpace space = Example();
  EXPECT_EQ(space.CountPoints(1000), 0U);  // lr
  const auto small = SpaceOf(R"({"a": [1, 2], "b": {"type": "int", "low": 1, "high": 3},
      "c": {"type": "choice", "values": ["x", "y"], "when": {"a": 2}},
      "d": {"type": "int", "low": 0, "high": 1, "when": {"c": "y", "b": {"from": 2, "to": 2}}}})");
  std::set<std::string> seen;
  SearchPoint point = small->First();
  do {
    seen.insert(small->PointText(point));
  } while (small->Next(&point));
  // a=1: 3; a=2: b=1 and b=3 have two each, b=2 has c=x and c=y with two.
  EXPECT_EQ(seen.size(), 3U + 4U + 3U);
  EXPECT_EQ(small->CountPoints(1000), 10U);
  EXPECT_EQ(small->CountPoints(4), 4U);
}

TEST(SearchSpacePoints, AreRefusedWhereTheyDoNotFit) {
  const SearchSpace space = Example();
  const auto messages = [&](const std::string& text) {
    std::vector<Problem> problems;
    space.ParsePoint(text, &problems);
    std::vector<std::string> found;
    for (const Problem& problem : problems) found.push_back(problem.message);
    return found;
  };
  using Strings = std::vector<std::string>;
  const std::string rest = R"("batch": 64, "depth": 1, "units1": 48)";
  EXPECT_EQ(
      messages("{" + rest + R"(, "lrr": 1, "lr": 0.01})"),
      (Strings{"the search space has no parameter \"lrr\"", "parameter \"optimizer\" is missing"}));
  // Everything that is wrong at once, and nothing of what only a wrong value would ask for.
  EXPECT_EQ(
      messages("{" + rest + R"(, "lr": 1, "optimizer": "RMSprop"})"),
      (Strings{"parameter \"lr\" cannot be 1", "parameter \"optimizer\" cannot be \"RMSprop\""}));
  EXPECT_EQ(messages("[1]"), Strings{"it is not an object: [1]"});
}

TEST(SearchGrid, IsMadlibs) {
  const SearchSpace space = ParseSearchGrid(
      {1, 2},
      "{'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [0.01, 0.1]}, "
      "{'optimizer': ['SGD'], 'momentum': [0.5, 0.9, 0.95]}], 'metrics': ['mae']}",
      "{'batch_size': [8, 16]}");
  EXPECT_EQ(space.CountPoints(1000), 2U * 5U * 2U);
  SearchPoint point = space.First();
  const SearchConfiguration first = space.Configuration(point);
  EXPECT_EQ(first.model_id, 1);
  EXPECT_EQ(first.compile_params, "optimizer='Adam(lr=0.01)',metrics=['mae'],loss='mse'");
  EXPECT_EQ(first.fit_params, "batch_size=8");
  while (space.Next(&point)) continue;
  EXPECT_EQ(space.Configuration(point).compile_params,
            "optimizer='SGD(momentum=0.95)',metrics=['mae'],loss='mse'");
}

}  // namespace
}  // namespace hopper
