#include "search/choices.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "params/text.h"

namespace hopper {
namespace {

SearchSpace SpaceOf(const std::string& parameters) {
  std::string uses;
  std::vector<Problem> problems;
  const Value tree = ParseJson(parameters, "parameters");
  for (const ValueEntry& entry : tree.entries) {
    uses += (uses.empty() ? "" : ", ") + RenderJson(entry.key) +
            ": {\"hopper\": " + RenderJson(entry.key) + "}";
  }
  SearchSpace space =
      ParseSearchSpace("{\"parameters\": " + parameters + ", \"compile_params\": {" + uses +
                           "}, \"fit_params\": {}}",
                       {{1, "{}"}}, &problems);
  // Its texts are no compile parameters, which is nothing to these tests.
  return space;
}

// What is found where points with one of `wrong` in their texts cannot be trained.
std::vector<std::string> Found(const SearchSpace& space, const std::set<std::string>& wrong,
                               size_t* everywhere = nullptr) {
  const ChoiceCheck found =
      CheckChoices(space, [&](const SearchSpace& /*space*/, const SearchPoint& point) {
        std::vector<Problem> problems;
        const std::string text = space.PointText(point);
        for (const std::string& word : wrong) {
          if (text.find(word) != std::string::npos)
            problems.push_back({{}, "unknown " + word, "", ""});
        }
        return problems;
      });
  if (everywhere) *everywhere = found.everywhere.size();
  std::vector<std::string> texts;
  for (const NeverPossible& one : found.choices) {
    const Dimension& dimension = space.dimensions()[one.dimension];
    texts.push_back(dimension.name + "=" + RenderJson(dimension.choices[one.choice]) + ": " +
                    one.problem.message);
  }
  return texts;
}

TEST(CheckChoices, NamesEachWordThatIsWrong) {
  const SearchSpace space = SpaceOf(
      R"({"activation": ["relu", "rleu"], "optimizer": ["adm", "adam"], "metrics": [["mae"], ["mea"]]})");
  EXPECT_EQ(Found(space, {"rleu", "adm", "mea"}),
            (std::vector<std::string>{"activation=\"rleu\": unknown rleu",
                                      "optimizer=\"adm\": unknown adm",
                                      "metrics=[\"mea\"]: unknown mea"}));
  EXPECT_TRUE(Found(space, {}).empty());
}

TEST(CheckChoices, LooksWhereAParameterApplies) {
  const SearchSpace space = SpaceOf(
      R"({"kind": ["a", "b", "c"], "depth": {"type": "int", "low": 1, "high": 3},
          "inner": {"type": "choice", "values": ["tanh", "thna"], "when": {"kind": "c", "depth": {"from": 3}}}})");
  EXPECT_EQ(Found(space, {"thna"}), std::vector<std::string>{"inner=\"thna\": unknown thna"});
}

TEST(CheckChoices, LeavesNumbersAndWhatGoesWithSomethingElse) {
  const SearchSpace space = SpaceOf(R"({"window": [3, 99], "last": ["softmax", "sigmoid"],
                                        "loss": ["categorical", "binary"]})");
  EXPECT_TRUE(Found(space, {"99"}).empty());
  // Each loss goes with one of the activations.
  EXPECT_TRUE(
      Found(space, {R"("softmax", "loss": "binary")", R"("sigmoid", "loss": "categorical")"})
          .empty());
}

TEST(CheckChoices, SaysWhatIsWrongEverywhere) {
  const SearchSpace space = SpaceOf(R"({"activation": ["rleu"], "optimizer": ["adam", "adm"]})");
  size_t everywhere = 0;
  EXPECT_EQ(Found(space, {"rleu", "adm"}, &everywhere),
            std::vector<std::string>{"optimizer=\"adm\": unknown adm"});
  EXPECT_EQ(everywhere, 1U);
}

}  // namespace
}  // namespace hopper
