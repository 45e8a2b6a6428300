// docs/reference/parameters.md says the truth: its examples are read, its messages compared.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "optim/optimizer_type.h"
#include "params/grid.h"
#include "params/problems.h"
#include "params/value.h"

namespace hopper {
namespace {

using Lines = std::vector<std::string>;

// The blocks between ``` fences, by what stands behind the opening fence.
std::map<std::string, std::vector<Lines>> Blocks() {
  std::ifstream file(std::string(HOPPER_TEST_DIR) + "/../docs/reference/parameters.md");
  std::map<std::string, std::vector<Lines>> blocks;
  std::string line, open;
  while (std::getline(file, line)) {
    const bool fence = line.rfind("```", 0) == 0;
    if (fence && open.empty()) {
      open = line.substr(3);
      blocks[open].emplace_back();
    } else if (fence) {
      open.clear();
    } else if (!open.empty()) {
      blocks[open].back().push_back(line);
    }
  }
  return blocks;
}

Lines AllLines(const std::string& kind) {
  Lines lines;
  auto blocks = Blocks();
  for (const Lines& block : blocks[kind]) lines.insert(lines.end(), block.begin(), block.end());
  EXPECT_FALSE(lines.empty()) << "no examples of " << kind;
  return lines;
}

std::vector<ParamProblem> ProblemsOf(const std::string& text, bool compile) {
  std::vector<ParamProblem> problems;
  if (compile) {
    ParseCompileParams(text, &problems);
  } else {
    ParseFitParams(text, &problems);
  }
  return problems;
}

OptimizerParams OptimizerOf(const std::string& text) {
  std::vector<ParamProblem> problems;
  const OptimizerParams params = ParseCompileParams(text, &problems).optimizer;
  EXPECT_EQ(Describe(problems), Lines{}) << text;
  return params;
}

TEST(Reference, ExamplesAreAccepted) {
  for (const std::string& text : AllLines("compile_params")) {
    EXPECT_EQ(Describe(ProblemsOf(text, true)), Lines{}) << text;
  }
  for (const std::string& text : AllLines("fit_params")) {
    EXPECT_EQ(Describe(ProblemsOf(text, false)), Lines{}) << text;
  }
}

// A text, then its messages, indented.
void ExpectMessages(const std::string& kind, bool compile, bool warnings) {
  std::string text;
  Lines expected;
  const auto compare = [&] {
    Lines messages;
    for (const ParamProblem& problem : ProblemsOf(text, compile)) {
      messages.push_back(problem.message);
      EXPECT_EQ(problem.warning, warnings) << text;
    }
    EXPECT_EQ(messages, expected) << text;
    expected.clear();
  };
  for (const std::string& line : AllLines(kind)) {
    if (line.rfind("    ", 0) == 0) {
      expected.push_back(line.substr(4));
      continue;
    }
    if (!text.empty()) compare();
    text = line;
  }
  compare();
}

TEST(Reference, MessagesAreTheRealOnes) {
  ExpectMessages("compile_params_errors", true, false);
  ExpectMessages("fit_params_errors", false, false);
  ExpectMessages("fit_params_warnings", false, true);
}

TEST(Reference, DefaultsAreTheDefaults) {
  const Lines lines = AllLines("compile_params_defaults");
  ASSERT_EQ(lines.size(), OptimizerTypes().size());
  for (const std::string& line : lines) {
    const size_t open = line.find('(');
    const OptimizerParams written = OptimizerOf(line);
    const OptimizerParams plain = OptimizerOf(line.substr(0, open) + "'");
    EXPECT_EQ(written.type, plain.type);
    EXPECT_EQ(written.learning_rate, plain.learning_rate);
    EXPECT_EQ(written.own, plain.own);
    EXPECT_EQ(written.decay, plain.decay);
    EXPECT_EQ(written.weight_decay, plain.weight_decay);
    EXPECT_EQ(written.clipnorm, plain.clipnorm);
    EXPECT_EQ(written.clipvalue, plain.clipvalue);
    EXPECT_EQ(written.global_clipnorm, plain.global_clipnorm);
    EXPECT_EQ(written.use_ema, plain.use_ema);
    EXPECT_EQ(written.ema_momentum, plain.ema_momentum);
    EXPECT_EQ(written.ema_overwrite_frequency, plain.ema_overwrite_frequency);
    // Nothing is left out: every argument stands in the line, or in the first if it is of all.
    std::vector<ParamProblem> problems;
    ParseCompileParams(line.substr(0, open) + "(nothing=1)'", &problems);
    ASSERT_FALSE(problems.empty());
    std::istringstream names(problems[0].hint.substr(problems[0].hint.find("are ") + 4));
    std::string name;
    while (names >> name) {
      name.pop_back();  // comma or full stop
      if (name != "lr") {
        const auto stands_in = [&name](const std::string& text) {
          return text.find(", " + name + "=") != std::string::npos ||
                 text.find("(" + name + "=") != std::string::npos;
        };
        EXPECT_TRUE(stands_in(line) || stands_in(lines[0])) << name;
      }
    }
  }
  const Lines fit = AllLines("fit_params_defaults");
  ASSERT_EQ(fit.size(), 1u);
  std::vector<ParamProblem> problems;
  const FitParams written = ParseFitParams(fit[0], &problems),
                  plain = ParseFitParams("", &problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(written.batch_size, plain.batch_size);
  EXPECT_EQ(written.epochs, plain.epochs);
  EXPECT_EQ(written.shuffle, plain.shuffle);
  EXPECT_EQ(written.class_weight, plain.class_weight);
  EXPECT_EQ(written.seed, plain.seed);
}

std::string Joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(Reference, GridsGiveConfigurations) {
  auto blocks = Blocks();
  ASSERT_EQ(blocks["compile_params_grid"].size(), 2u);
  ASSERT_EQ(blocks["fit_params_grid"].size(), 2u);
  const size_t counts[] = {12, 24};
  for (size_t i = 0; i < 2; ++i) {
    GridRequest request;
    request.model_ids = {1};
    request.compile_grid = Joined(blocks["compile_params_grid"][i]);
    request.fit_grid = Joined(blocks["fit_params_grid"][i]);
    const auto configurations = GenerateConfigs(request);
    EXPECT_EQ(configurations.size(), counts[i]);
    if (i > 0) continue;
    const Lines shown = blocks["configurations"].at(0);
    for (size_t row = 0; row < shown.size(); ++row) {
      const Configuration& c = configurations.at(row);
      EXPECT_EQ(std::to_string(c.model_id) + " | " + c.compile_params + " | " + c.fit_params,
                shown[row]);
    }
  }
  GridRequest request;
  request.model_ids = {1};
  request.random = true;
  request.num_configs = 50;
  request.compile_grid = Joined(blocks["compile_params_grid_random"].at(0));
  request.fit_grid = Joined(blocks["fit_params_grid_random"].at(0));
  EXPECT_EQ(GenerateConfigs(request).size(), 50u);
}

TEST(Reference, TheSameIsTheSame) {
  const Lines lines = AllLines("same");
  for (const std::string& line : lines) EXPECT_EQ(CanonicalParams(line), CanonicalParams(lines[0]));
}

}  // namespace
}  // namespace hopper
