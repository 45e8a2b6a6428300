#include "search/choices.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "params/text.h"

namespace hopper {
namespace {

SearchSpace ChoiceSpace(const std::string& parameters) {
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
  const SearchSpace space = ChoiceSpace(
      R"({"activation": ["relu", "rleu"], "optimizer": ["adm", "adam"], "metrics": [["mae"], ["mea"]]})");
  EXPECT_EQ(Found(space, {"rleu", "adm", "mea"}),
            (std::vector<std::string>{"activation=\"rleu\": unknown rleu",
                                      "optimizer=\"adm\": unknown adm",
                                      "metrics=[\"mea\"]: unknown mea"}));
  EXPECT_TRUE(Found(space, {}).empty());
}

TEST(CheckChoices, LooksWhereAParameterApplies) {
  const SearchSpace space = ChoiceSpace(
      R"({"kind": ["a", "b", "c"], "depth": {"type": "int", "low": 1, "high": 3},
          "inner": {"type": "choice", "values": ["tanh", "thna"], "when": {"kind": "c", "depth": {"from": 3}}}})");
  EXPECT_EQ(Found(space, {"thna"}), std::vector<std::string>{"inner=\"thna\": unknown thna"});
}

TEST(CheckChoices, LeavesNumbersAndWhatGoesWithSomethingElse) {
  const SearchSpace space = ChoiceSpace(R"({"window": [3, 99], "last": ["softmax", "sigmoid"],
                                        "loss": ["categorical", "binary"]})");
  EXPECT_TRUE(Found(space, {"99"}).empty());
  // Each loss goes with one of the activations.
  EXPECT_TRUE(
      Found(space, {R"("softmax", "loss": "binary")", R"("sigmoid", "loss": "categorical")"})
          .empty());
}

TEST(CheckChoices, SaysWhatIsWrongEverywhere) {
  const SearchSpace space =
      ChoiceSpace(R"({"activation": ["rleu"], "optimizer": ["adam", "adm"]})");
  size_t everywhere = 0;
  EXPECT_EQ(Found(space, {"rleu", "adm"}, &everywhere),
            std::vector<std::string>{"optimizer=\"adm\": unknown adm"});
  EXPECT_EQ(everywhere, 1U);
}

// --- texts of a search: which of several is wrong ---

std::vector<std::string> Messages(const std::vector<Problem>& problems) {
  std::vector<std::string> messages;
  for (const Problem& problem : problems) messages.push_back(problem.message);
  return messages;
}

std::vector<std::string> SaidOfGrid(const std::string& optimizers,
                                    const std::string& loss = "'mse'") {
  std::vector<Problem> problems;
  const SearchSpace space = ParseSearchGrid(
      {1}, "{'loss': [" + loss + "], 'optimizer_params_list': [" + optimizers + "]}",
      "{'batch_size': [8]}", &problems);
  if (problems.empty()) CheckTexts(space, "grid at \"", {}, &problems);
  return Messages(problems);
}

std::vector<std::string> SaidOfSpace(const std::string& parameters, const std::string& optimizer) {
  std::vector<Problem> problems;
  ParseSearchSpace("{\"parameters\": {" + parameters +
                       "}, \"compile_params\": {\"loss\": \"mse\", \"optimizer\": " + optimizer +
                       "}, \"fit_params\": {}}",
                   {{1, "{}"}}, &problems);
  return Messages(problems);
}

using Texts = std::vector<std::string>;

TEST(CheckTexts, NamesTheOptimizerOfSeveralWhoseArgumentIsWrong) {
  const std::string good = "{'optimizer': ['Adam'], 'lr': [0.1, 0.01]}";
  const std::string bad = "{'optimizer': ['Adam'], 'lr': [0.1, -1]}";
  const std::string wrong = "learning rate must be positive, got -1";
  EXPECT_EQ(SaidOfGrid(good + ", " + good), Texts{});
  const auto at = [&](const std::string& place) { return "grid at \"" + place + "\": " + wrong; };
  EXPECT_EQ(SaidOfGrid(good + ", " + bad + ", " + good), Texts{at("optimizer_params_list[2]")});
  EXPECT_EQ(SaidOfGrid(bad + ", " + good + ", " + bad),
            (Texts{at("optimizer_params_list[1]"), at("optimizer_params_list[3]")}));
  // Of one there is nothing to tell.
  EXPECT_EQ(SaidOfGrid(bad), Texts{wrong});
}

// It is not the middle of the space that the others are tried from.
TEST(CheckTexts, LooksWhereAnArgumentApplies) {
  EXPECT_EQ(SaidOfGrid("{'optimizer': ['Adam'], 'lr': [-1, 0.1]}, {'optimizer': ['SGD']},"
                       " {'optimizer': ['RMSprop']}"),
            Texts{"grid at \"optimizer_params_list[1]\": learning rate must be positive, got -1"});
}

TEST(CheckTexts, NamesTheDictionaryThatCannotBeRead) {
  EXPECT_EQ(SaidOfGrid("{'optimizer': ['Adam'], 'lr': [0.1]}, {'optimizer': ['Adam'], 'lr': 0.1}"),
            Texts{"grid at \"optimizer_params_list[2]\": value of \"lr\" must be a list, got 0.1"});
  EXPECT_EQ(SaidOfGrid("{'optimizer': ['Adam'], 'lr': 0.1}"),
            Texts{"value of \"lr\" must be a list, got 0.1"});
}

TEST(CheckTexts, BlamesNoOptimizerForTheLoss) {
  const std::string two = "{'optimizer': ['Adam']}, {'optimizer': ['SGD']}";
  for (const std::string& message : SaidOfGrid(two, "'mze'")) {
    EXPECT_EQ(message.find("optimizer"), std::string::npos) << message;
  }
}

TEST(CheckTexts, NamesTheChoiceOfAParameter) {
  const std::vector<std::string> said =
      SaidOfSpace(R"x("how": ["SGD(lr=0.1)", "SGD(lr=-1)"])x", R"x({"hopper": "how"})x");
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].rfind("search space at \"parameters.how[2]\": ", 0), 0U) << said[0];
  // A word that the message has is said once.
  EXPECT_EQ(SaidOfSpace(R"x("how": ["sgd", "adm"])x", R"x({"hopper": "how"})x"),
            Texts{"search space at \"parameters.how\": optimizer \"adm\" is not known"});
}

}  // namespace
}  // namespace hopper
