#include "params/grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "optim/optimizer_type.h"
#include "params/params.h"
#include "params/text.h"

namespace hopper {
namespace {

using Strings = std::vector<std::string>;

GridRequest Request(const std::string& compile, const std::string& fit = "{'epochs': [1]}") {
  GridRequest request;
  request.model_ids = {1};
  request.compile_grid = compile;
  request.fit_grid = fit;
  request.max_configs = 10000;
  return request;
}

GridRequest RandomRequest(const std::string& compile, const std::string& fit, int64_t n,
                          int64_t state) {
  GridRequest request = Request(compile, fit);
  request.random = true;
  request.num_configs = n;
  request.random_state = state;
  return request;
}

Strings Texts(const std::vector<Configuration>& configurations) {
  Strings texts;
  for (const Configuration& c : configurations) {
    texts.push_back(std::to_string(c.model_id) + " " + c.compile_params + " " + c.fit_params);
  }
  return texts;
}

std::string GridErrorOf(const GridRequest& request) {
  try {
    GenerateConfigs(request);
  } catch (const Error& error) {
    const Problem& p = error.problem();
    return std::to_string(static_cast<int>(p.code)) + " " + p.message +
           (p.detail.empty() ? "" : " | " + p.detail) + (p.hint.empty() ? "" : " | HINT " + p.hint);
  }
  return "no error";
}

OptimizerParams GridOptimizerOf(const Configuration& c) {
  std::vector<ParamProblem> problems;
  const CompileParams params = ParseCompileParams(c.compile_params, &problems);
  EXPECT_TRUE(problems.empty()) << c.compile_params;
  return params.optimizer;
}

const char kMadlibGrid[] = R"({
  'loss': ['categorical_crossentropy'],
  'optimizer_params_list': [ {'optimizer': ['adam', 'sgd'], 'lr': [0.001, 0.01]} ],
  'metrics': ['accuracy']
})";

// A schedule is an alternative like any other.
TEST(Grid, SchedulesAreValues) {
  const auto configurations = GenerateConfigs(
      Request("{'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [0.1, "
              "ExponentialDecay(0.2, decay_steps=10, decay_rate=0.5), 'CosineDecay(0.3, 5)']}]}"));
  ASSERT_EQ(configurations.size(), 3u);
  EXPECT_EQ(GridOptimizerOf(configurations[0]).schedule.kind, ScheduleKind::kConstant);
  EXPECT_EQ(GridOptimizerOf(configurations[1]).schedule.kind, ScheduleKind::kExponentialDecay);
  EXPECT_EQ(GridOptimizerOf(configurations[1]).learning_rate, 0.2);
  EXPECT_EQ(GridOptimizerOf(configurations[1]).schedule.decay_rate, 0.5);
  EXPECT_EQ(GridOptimizerOf(configurations[2]).schedule.kind, ScheduleKind::kCosineDecay);
}

TEST(Grid, TextsAndOrderOfMadlib) {
  GridRequest request = Request(kMadlibGrid, "{ 'batch_size': [64, 128], 'epochs': [10] }");
  request.model_ids = {1, 2};
  const Strings texts = Texts(GenerateConfigs(request));
  ASSERT_EQ(texts.size(), 16u);
  EXPECT_EQ(texts[0],
            "1 optimizer='Adam(lr=0.001)',metrics=['accuracy'],loss='categorical_crossentropy' "
            "batch_size=64,epochs=10");
  EXPECT_EQ(texts[1],
            "1 optimizer='Adam(lr=0.001)',metrics=['accuracy'],loss='categorical_crossentropy' "
            "batch_size=128,epochs=10");
  EXPECT_EQ(texts[2],
            "1 optimizer='Adam(lr=0.01)',metrics=['accuracy'],loss='categorical_crossentropy' "
            "batch_size=64,epochs=10");
  EXPECT_EQ(texts[15],
            "2 optimizer='SGD(lr=0.01)',metrics=['accuracy'],loss='categorical_crossentropy' "
            "batch_size=128,epochs=10");
}

// As in Keras, a list of names is one list; MADlib's alternatives are lists of their own.
TEST(Grid, AFlatListOfMetricsIsOneList) {
  const auto texts = [](const std::string& metrics, Problem* notice) {
    Strings compile;
    for (const Configuration& c : GenerateConfigs(
             Request("{'loss': ['bce'], 'optimizer': ['sgd'], 'metrics': " + metrics + "}", ""),
             notice)) {
      compile.push_back(c.compile_params.substr(c.compile_params.find("metrics")));
    }
    return compile;
  };
  Problem notice;
  EXPECT_EQ(texts("['accuracy', AUC(curve='PR')]", &notice),
            Strings({"metrics=['accuracy',AUC(curve='PR')],loss='bce'"}));
  EXPECT_EQ(notice.message,
            "each configuration computes all 2 metrics: 'accuracy', AUC(curve='PR')");
  EXPECT_EQ(texts("[['accuracy'], ['auc']]", &notice),
            Strings({"metrics=['accuracy'],loss='bce'", "metrics=['auc'],loss='bce'"}));
  EXPECT_EQ(
      notice.message,
      "the lists of metrics are alternatives, one for each configuration: ['accuracy'], ['auc']");
  EXPECT_EQ(texts("['accuracy', ['auc']]", &notice).size(), 2u);
  EXPECT_EQ(texts("[\"['accuracy']\", \"['auc']\"]", &notice).size(), 2u);
  EXPECT_EQ(texts("['accuracy', None]", &notice).size(), 2u);
  // One name, or one list, can be understood in one way only.
  for (const char* one : {"['accuracy']", "[['accuracy', 'auc']]", "[None]"}) {
    EXPECT_EQ(texts(one, &notice).size(), 1u);
    EXPECT_EQ(notice.message, "");
  }
}

// 2 models x (2 x 2 + 1 x 2) optimizers x 2 batch sizes.
TEST(Grid, SeveralOptimizerDictionariesGive24Rows) {
  GridRequest request = Request(R"({
      'loss': ['categorical_crossentropy'],
      'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [0.1, 0.01], 'momentum': [0.9, 0.95]},
                                {'lr': [0.001, 0.002]}],
      'metrics': ['accuracy']})",
                                "{'batch_size': [16, 32]}");
  request.model_ids = {1, 2};
  const auto configurations = GenerateConfigs(request);
  EXPECT_EQ(configurations.size(), 24u);
  // A dictionary without an optimizer is RMSprop, as in MADlib.
  EXPECT_EQ(configurations[8].compile_params,
            "optimizer='RMSprop(lr=0.001)',metrics=['accuracy'],loss='categorical_crossentropy'");
  const Strings texts = Texts(configurations);
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), 24u);
}

TEST(Grid, EveryKindOfValue) {
  const auto configurations = GenerateConfigs(Request(R"({
      'loss': [mse], 'optimizer': ['Adam(lr=0.1)', SGD(nesterov=False), 'rmsprop'],
      'metrics': [['mae', 'top_k(3)'], None, []]})",
                                                      R"({
      'shuffle': [False], 'class_weight': [{0: 1, 1: 2.5}, '{0: 2}'], 'callbacks': [None]})"));
  EXPECT_EQ(configurations.size(), 18u);
  EXPECT_EQ(configurations[0].compile_params,
            "optimizer='Adam(lr=0.1)',metrics=['mae','top_k(3)'],loss='mse'");
  EXPECT_EQ(configurations[0].fit_params, "shuffle=False,class_weight={0:1,1:2.5},callbacks=None");
  EXPECT_EQ(configurations[1].fit_params, "shuffle=False,class_weight={0:2},callbacks=None");
  EXPECT_EQ(configurations[17].compile_params, "optimizer='rmsprop',metrics=[],loss='mse'");
}

TEST(Grid, WithoutFitGridTheDefaultsAreUsed) {
  EXPECT_EQ(Texts(GenerateConfigs(Request("{'loss': ['mse'], 'optimizer': ['sgd']}", ""))),
            Strings{"1 optimizer='sgd',loss='mse' "});
  EXPECT_EQ(
      GenerateConfigs(Request("{\"loss\": [\"mse\"], \"optimizer\": [\"sgd\"]}", "{}")).size(), 1u);
}

TEST(Grid, AppendingSkipsWhatExists) {
  GridRequest request = Request(kMadlibGrid, "{'batch_size': [64, 128]}");
  request.existing = {
      {1, "loss='categorical_crossentropy', metrics=['accuracy'], optimizer=Adam(lr=1e-3)",
       " batch_size = 64 "},
      {2, "loss='categorical_crossentropy', metrics=['accuracy'], optimizer=Adam(lr=1e-3)",
       "batch_size=128"}};
  EXPECT_EQ(GenerateConfigs(request).size(), 7u);
  request.existing = GenerateConfigs(Request(kMadlibGrid, "{'batch_size': [64, 128]}"));
  EXPECT_TRUE(GenerateConfigs(request).empty());
}

TEST(Grid, EqualValuesCountOnce) {
  GridRequest request = Request("{'loss': ['mse', 'mse'], 'optimizer': ['sgd', 'sgd()', SGD]}");
  request.model_ids = {1, 1};
  // Only blanks, quotes and order are looked through: 'sgd' and SGD are two texts.
  EXPECT_EQ(GenerateConfigs(request).size(), 2u);
}

TEST(Grid, Messages) {
  const std::string compile = "{'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['SGD'], ";
  EXPECT_EQ(GridErrorOf(Request("{'loss': 'mse', 'optimizer': ['sgd']}")),
            "1 value of \"loss\" must be a list, got 'mse' | HINT Write 'loss': ['mse'].");
  EXPECT_EQ(GridErrorOf(Request("{'loss': [], 'optimizer': ['sgd']}")),
            "1 list of \"loss\" is empty");
  EXPECT_EQ(GridErrorOf(Request("{'loss': ['mse']}")),
            "1 compile_params_grid names no optimizer | HINT Add 'optimizer_params_list': "
            "[{'optimizer': ['Adam'], 'lr': [0.01, 0.001]}].");
  EXPECT_EQ(GridErrorOf(Request("{'loss': ['mse'], 'optimizer_params_list': [{}]}")),
            "1 \"optimizer_params_list\" holds an empty dictionary");
  EXPECT_EQ(GridErrorOf(Request("{'optimizer': ['sgd'], 'optimizer_params_list': [{'lr': [1]}]}")),
            "1 compile_params_grid holds \"optimizer\" and \"optimizer_params_list\" | HINT Move "
            "\"optimizer\" into the dictionaries of \"optimizer_params_list\".");
  EXPECT_EQ(
      GridErrorOf(Request(compile + "'lr': [0.1]}], 'lr': [0.1]}")),
      "1 compile_params_grid has no argument \"lr\" | It is an argument of optimizers. | HINT "
      "Move it into 'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [...]}].");
  EXPECT_EQ(
      GridErrorOf(Request("{'loss': ['mse'], 'optimizer': ['sgd'], 'momentum': [0.9]}")),
      "1 compile_params_grid has no argument \"momentum\" | It is an argument of optimizers. | "
      "HINT Move it into 'optimizer_params_list': [{'optimizer': ['Adam'], 'momentum': "
      "[...]}].");
  // All of them, those of the form and those of the values.
  EXPECT_EQ(GridErrorOf(Request("{'loss': 'mse', 'metrics': []}")),
            "1 value of \"loss\" must be a list, got 'mse' | There are 3 problems:\n1. value of "
            "\"loss\" must be a list, got 'mse'\n2. list of \"metrics\" is empty\n3. "
            "compile_params_grid names no optimizer. Add 'optimizer_params_list': [{'optimizer': "
            "['Adam'], 'lr': [0.01, 0.001]}]. | HINT Write 'loss': ['mse'].");
  // Also those of one optimizer, and of the other grid where this one is no dictionary.
  EXPECT_EQ(
      GridErrorOf(Request("{'loss': ['mse'], 'optimizer_params_list': [{'optimizer': [3], 'lr': "
                          "0.1}, {'lr': []}, 7]}")),
      "1 grid at \"optimizer_params_list[1]\": \"optimizer\" must hold names of optimizers, got 3 "
      "| "
      "There are 4 problems:\n1. grid at \"optimizer_params_list[1]\": \"optimizer\" must hold "
      "names "
      "of optimizers, got 3\n2. grid at \"optimizer_params_list[1]\": value of \"lr\" must be a "
      "list, "
      "got 0.1. Write 'lr': [0.1].\n3. grid at \"optimizer_params_list[2]\": list of \"lr\" is "
      "empty\n4. grid at \"optimizer_params_list[3]\": \"optimizer_params_list\" must hold "
      "dictionaries, got 7. Write [{'optimizer': ['Adam'], 'lr': [0.01, 0.001]}], for example.");
  EXPECT_NE(GridErrorOf(Request("['mse']", "{'batch_size': 16}")).find("There are 2 problems:"),
            std::string::npos);
  EXPECT_EQ(
      GridErrorOf(Request("{'loss': ['log_loss', 'mse'], 'metrics': ['roc_auc'], "
                          "'optimizer': ['sgd']}")),
      "1 metric \"roc_auc\" is not known | There are 2 problems:\n1. metric \"roc_auc\" is not "
      "known\n2. loss \"log_loss\" is not known. Perhaps you meant "
      "\"categorical_crossentropy\" or \"binary_crossentropy\". | HINT Perhaps you meant "
      "\"auc\".");
  EXPECT_EQ(GridErrorOf(Request(compile + "'lr': [1/1000]}]}")),
            "2 compile_params_grid cannot be parsed: expected \",\" or \"]\", not \"/\" | Position "
            "76, near \", 'lr': [1/1000]}]}\". | HINT There is no arithmetic: write 0.001, not "
            "1/1000, for example.");
  EXPECT_EQ(
      GridErrorOf(Request(compile + "'lr': [0.001, 0.1, 'log']}]}")),
      "1 \"lr\" has the distribution \"log\" in a grid search | A grid needs lists of values. "
      "| HINT List the values, or use search_type 'random'.");
  EXPECT_EQ(GridErrorOf(Request(compile + "'lr': [0.1}]}")),
            "2 compile_params_grid cannot be parsed: expected \",\" or \"]\", not \"}\" | Position "
            "78, near \"'lr': [0.1}]}\".");
  EXPECT_EQ(GridErrorOf(Request("optimizer='sgd'")),
            "2 compile_params_grid cannot be parsed: it is not a dictionary | Position 1, near "
            "\"optimizer=\". | HINT Write a dictionary of lists, for example {'batch_size': [32, "
            "64]}.");
  // The first configuration that does not parse is named.
  EXPECT_EQ(GridErrorOf(Request(compile + "'lr_rate': [0.1]}]}")),
            "1 optimizer \"SGD\" has no argument \"lr_rate\" | The compile_params are "
            "\"optimizer='SGD(lr_rate=0.1)',loss='mse'\". | HINT Perhaps you meant "
            "\"learning_rate\".");
  EXPECT_EQ(GridErrorOf(Request(compile + "'lr': [0.1]}]}", "{'batch_size': [32, 0]}")),
            "1 batch_size must be a positive integer, got 0 | The fit_params are "
            "\"batch_size=0\".");
  GridRequest request = Request(kMadlibGrid);
  request.num_configs = 3;
  EXPECT_EQ(GridErrorOf(request),
            "1 num_configs is for random search only | A grid search takes every combination. | "
            "HINT Leave it out, or use search_type 'random'.");
  request.num_configs = 0;
  request.random_state = 1;
  EXPECT_EQ(GridErrorOf(request).substr(0, 35), "1 seed is for random search only | ");
  request.model_ids.clear();
  EXPECT_EQ(GridErrorOf(request), "1 model_id_list is empty");
}

TEST(Grid, TooManyCombinations) {
  std::string list = "[";
  for (int i = 1; i <= 108; ++i) list += std::to_string(i) + ",";
  list += "]";
  GridRequest request =
      Request("{'loss': ['mse'], 'optimizer_params_list': [{'lr': " + list + "}]}",
              "{'batch_size': " + list + ", 'seed': " + list + "}");
  EXPECT_EQ(GridErrorOf(request),
            "5 grid has 1,259,712 combinations | The product of the list lengths: 1 models x 108 "
            "optimizers x 1 loss x 108 batch_size x 108 seed. | HINT Use random search, or raise "
            "hopper.max_configs.");
  std::string huge = "{";
  for (int i = 0; i < 40; ++i) huge += "'k" + std::to_string(i) + "': " + list + ",";
  EXPECT_EQ(
      GridErrorOf(Request("{'loss': ['mse'], 'optimizer': ['sgd']}", huge + "}")).substr(0, 54),
      "5 grid has more than 18,446,744,073,709,551,615 combin");
  request.max_configs = 108;
  request.fit_grid = "{'batch_size': [1]}";
  EXPECT_EQ(GenerateConfigs(request).size(), 108u);
  request.max_configs = 107;
  EXPECT_EQ(GridErrorOf(request).substr(0, 29), "5 grid has 108 combinations |");
}

const char kRandomGrid[] = R"({
  'loss': ['categorical_crossentropy'], 'metrics': ['accuracy'],
  'optimizer_params_list': [
    {'optimizer': ['SGD'], 'lr': [0.0001, 0.1, 'log'], 'momentum': [0.9, 0.999, 'log_near_one']},
    {'optimizer': ['Adam', 'RMSprop'], 'lr': [0.001, 0.1, linear]}]})";
const char kRandomFit[] = "{'batch_size': [8, 128, 'linear'], 'epochs': [1, 64, 'log']}";

TEST(RandomSearch, SeedsRepeatAndDiffer) {
  for (const int64_t state : {0, 1, 2, -7}) {
    const Strings first = Texts(GenerateConfigs(RandomRequest(kRandomGrid, kRandomFit, 20, state)));
    EXPECT_EQ(first.size(), 20u);
    EXPECT_EQ(Texts(GenerateConfigs(RandomRequest(kRandomGrid, kRandomFit, 20, state))), first);
    const Strings next =
        Texts(GenerateConfigs(RandomRequest(kRandomGrid, kRandomFit, 20, state + 1)));
    // Neighbouring states share no draws: MADlib's are one stream shifted by one.
    for (const std::string& text : next) {
      EXPECT_EQ(std::count(first.begin(), first.end(), text), 0) << text;
    }
    EXPECT_EQ(std::set<std::string>(first.begin(), first.end()).size(), 20u);
  }
  GridRequest without = RandomRequest(kRandomGrid, kRandomFit, 5, 0);
  const Strings zero = Texts(GenerateConfigs(without));
  without.random_state.reset();
  EXPECT_EQ(Texts(GenerateConfigs(without)), zero);
}

TEST(RandomSearch, MoreConfigurationsBeginWithTheSameOnes) {
  const Strings few = Texts(GenerateConfigs(RandomRequest(kRandomGrid, kRandomFit, 5, 3)));
  Strings many = Texts(GenerateConfigs(RandomRequest(kRandomGrid, kRandomFit, 12, 3)));
  many.resize(5);
  EXPECT_EQ(many, few);
}

TEST(RandomSearch, AParameterThatIsAddedChangesNoOther) {
  const auto plain =
      GenerateConfigs(RandomRequest(kRandomGrid, "{'batch_size': [8, 128, 'linear']}", 10, 5));
  const auto more = GenerateConfigs(RandomRequest(
      kRandomGrid, "{'seed': [1, 1000000, 'linear'], 'batch_size': [8, 128, 'linear']}", 10, 5));
  for (size_t i = 0; i < plain.size(); ++i) {
    EXPECT_EQ(more[i].compile_params, plain[i].compile_params);
    EXPECT_NE(more[i].fit_params.find(plain[i].fit_params), std::string::npos);
  }
}

TEST(RandomSearch, AppendingGoesOn) {
  GridRequest request = RandomRequest(kRandomGrid, kRandomFit, 6, 4);
  const auto first = GenerateConfigs(request);
  request.existing = first;
  const auto second = GenerateConfigs(request);
  Strings texts = Texts(first);
  for (const std::string& text : Texts(second)) texts.push_back(text);
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), 12u);
}

// The three distributions against their definitions: quantiles of 4000 draws.
TEST(RandomSearch, Distributions) {
  const auto configurations = GenerateConfigs([] {
    GridRequest r = RandomRequest(kRandomGrid, kRandomFit, 4000, 11);
    return r;
  }());
  std::vector<double> log_rates, momenta, rates, batches, log_epochs;
  int adam = 0, rmsprop = 0;
  for (const Configuration& c : configurations) {
    const OptimizerParams optimizer = GridOptimizerOf(c);
    if (optimizer.type == FindOptimizer("SGD")) {
      log_rates.push_back(std::log10(optimizer.learning_rate));
      momenta.push_back(std::log10(1 - optimizer.Own("momentum")));
    } else {
      rates.push_back(optimizer.learning_rate);
      ++(optimizer.type == FindOptimizer("Adam") ? adam : rmsprop);
    }
    std::vector<ParamProblem> problems;
    const FitParams fit = ParseFitParams(c.fit_params, &problems);
    ASSERT_TRUE(problems.empty());
    batches.push_back(static_cast<double>(fit.batch_size));
    log_epochs.push_back(std::log10(static_cast<double>(fit.epochs)));
    // Integers stay integers in the text.
    EXPECT_EQ(c.fit_params.find('.'), std::string::npos) << c.fit_params;
  }
  // Standard error of a proportion of 4000: 0.008.
  EXPECT_NEAR(static_cast<double>(log_rates.size()) / 4000, 0.5, 0.03);
  EXPECT_NEAR(static_cast<double>(adam) / (adam + rmsprop), 0.5, 0.04);
  const auto expect_uniform = [](std::vector<double> values, double low, double high,
                                 double tolerance) {
    std::sort(values.begin(), values.end());
    EXPECT_GE(values.front(), low - 1e-12);
    EXPECT_LE(values.back(), high + 1e-12);
    for (const double q : {0.1, 0.25, 0.5, 0.75, 0.9}) {
      const double value = values[static_cast<size_t>(q * static_cast<double>(values.size()))];
      EXPECT_NEAR((value - low) / (high - low), q, tolerance) << q;
    }
  };
  expect_uniform(log_rates, -4, -1, 0.04);
  expect_uniform(momenta, -3, -1, 0.04);
  expect_uniform(rates, 0.001, 0.1, 0.04);
  expect_uniform(batches, 8, 128, 0.04);
  // Rounded to integers, the quantile q of the log scale from 1 to 64 is 64^q.
  std::sort(log_epochs.begin(), log_epochs.end());
  for (const double q : {0.05, 0.25, 0.5, 0.75, 0.95}) {
    const double epochs = std::pow(10, log_epochs[static_cast<size_t>(q * 4000)]);
    EXPECT_NEAR(epochs / std::round(std::pow(64, q)), 1, 0.15) << q;
  }
  EXPECT_EQ(*std::min_element(batches.begin(), batches.end()), 8);
  EXPECT_EQ(*std::max_element(batches.begin(), batches.end()), 128);
}

TEST(RandomSearch, ASmallSpaceIsExhaustedAndThenSaysSo) {
  const std::string compile = "{'loss': ['mse'], 'optimizer': ['sgd', 'adam', 'sgd']}";
  const std::string fit = "{'batch_size': [1, 20, 'log']}";
  const auto all = GenerateConfigs(RandomRequest(compile, fit, 40, 1));
  const Strings texts = Texts(all);
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), 40u);
  EXPECT_EQ(GridErrorOf(RandomRequest(compile, fit, 41, 1)),
            "1 search space has 40 different configurations, but num_configs is 41 | HINT Lower "
            "num_configs, or widen the lists.");
  GridRequest request = RandomRequest(compile, fit, 31, 1);
  request.existing.assign(all.begin(), all.begin() + 10);
  EXPECT_EQ(GridErrorOf(request),
            "1 search space has 30 different configurations, but num_configs is 31 | It has 40 "
            "configurations, of which 10 exist already. | HINT Lower num_configs, or widen the "
            "lists.");
  request.num_configs = 30;
  EXPECT_EQ(GenerateConfigs(request).size(), 30u);
}

TEST(RandomSearch, Messages) {
  const auto error = [](const std::string& list) {
    return GridErrorOf(RandomRequest(
        "{'loss': ['mse'], 'optimizer_params_list': [{'learning_rate': " + list + "}]}", "", 3, 1));
  };
  EXPECT_EQ(error("[0.1, 0.001, 'log']"),
            "1 lower bound 0.1 of \"learning_rate\" is above upper bound 0.001");
  EXPECT_EQ(error("[0.1, 0.1, 'log']"),
            "1 lower bound 0.1 of \"learning_rate\" equals the upper bound | HINT For one value "
            "write [0.1].");
  EXPECT_EQ(error("[0, 0.1, 'log']"),
            "1 log-scaled parameter \"learning_rate\" needs a lower bound above zero");
  EXPECT_EQ(error("[0.9, 1, 'log_near_one']"),
            "1 parameter \"learning_rate\" with scale log_near_one needs an upper bound below one");
  EXPECT_EQ(error("[0.1, 0.2, 'lognormal']"),
            "1 distribution \"lognormal\" of \"learning_rate\" is not known | HINT Use linear, log "
            "or log_near_one.");
  EXPECT_EQ(error("[0.1, 0.2, 'liner']"),
            "1 distribution \"liner\" of \"learning_rate\" is not known | HINT Perhaps you meant "
            "\"linear\".");
  EXPECT_EQ(
      error("[0.1, 'log']"),
      "1 distribution of \"learning_rate\" needs two numbers and a name | HINT Write [0.0001, "
      "0.1, 'log'], for example.");
  EXPECT_EQ(error("[-0.5, -0.1, 'linear']").substr(0, 39),
            "1 learning rate must be positive, got -");
  EXPECT_EQ(GridErrorOf(RandomRequest(kMadlibGrid, "", 0, 1)),
            "1 num_configs must be positive, got 0");
  EXPECT_EQ(GridErrorOf(RandomRequest(kMadlibGrid, "", 20000, 1)),
            "5 num_configs is 20,000 | At most 10,000 are allowed. | HINT Lower num_configs, or "
            "raise hopper.max_configs.");
}

// MADlib's cases: blanks and order of keys do not count.
TEST(CrossConfigs, MadlibsDeduplication) {
  const Strings fit = {"batch_size=5,epochs=1", "batch_size=10,epochs=1"};
  EXPECT_EQ(CrossConfigs({1},
                         {"optimizer=SGD(lr=0.1),loss='mse',metrics=['mae']",
                          "optimizer=Adam(lr=0.1),loss='mse',metrics=['mae']",
                          "loss = 'mse', optimizer = SGD(lr=0.1), metrics = ['mae']"},
                         fit)
                .size(),
            4u);
  const auto two =
      CrossConfigs({1},
                   {"optimizer=SGD(lr=0.1),loss='mse',metrics=['mae']",
                    "metrics=['mae'],optimizer=SGD(lr=0.1),loss='mse'"},
                   {"batch_size=5,epochs=1", "epochs=1, batch_size=5", "batch_size=10,epochs=1"});
  ASSERT_EQ(two.size(), 2u);
  // The first spelling stays as it was written.
  EXPECT_EQ(two[0].compile_params, "optimizer=SGD(lr=0.1),loss='mse',metrics=['mae']");
  EXPECT_EQ(two[0].fit_params, "batch_size=5,epochs=1");
}

TEST(CrossConfigs, OrderAndErrors) {
  const auto six =
      CrossConfigs({2, 1, 2}, {"optimizer='sgd',loss='mse'"}, {"", "epochs=2", "epochs=3"});
  EXPECT_EQ(
      Texts(six),
      (Strings{"2 optimizer='sgd',loss='mse' ", "2 optimizer='sgd',loss='mse' epochs=2",
               "2 optimizer='sgd',loss='mse' epochs=3", "1 optimizer='sgd',loss='mse' ",
               "1 optimizer='sgd',loss='mse' epochs=2", "1 optimizer='sgd',loss='mse' epochs=3"}));
  EXPECT_THROW(CrossConfigs({}, {"optimizer='sgd',loss='mse'"}, {""}), Error);
  EXPECT_THROW(CrossConfigs({1}, {}, {""}), Error);
  EXPECT_THROW(CrossConfigs({1}, {"optimizer='sgd',loss='mse'"}, {}), Error);
  EXPECT_THROW(CrossConfigs({1}, {"optimizer='sgd'"}, {""}), Error);
  EXPECT_THROW(CrossConfigs({1}, {"optimizer='sgd',loss='mse'"}, {"epochs=0"}), Error);
}

}  // namespace
}  // namespace hopper
