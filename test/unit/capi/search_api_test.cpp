// Searches as the glue drives them, through the core's table.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "capi/core_library.h"
#include "model_hopper/search.h"

namespace hopper {
namespace {

const hopper_search_api& SearchApi() { return Api().search; }

// A pool keeps a trial's state from one stint to the next, and drops it when the search says so.
// What is told last may have begun first, so that several results count at once.
class RestingStates {
 public:
  RestingStates(int64_t max_configs, uint64_t seed) {
    static const int32_t kModel = 1;
    hopper_search_options options = {};
    options.n_models = 1;
    options.model_ids = &kModel;
    options.compile_grid =
        "{'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [0.1, 0.2]}]}";
    options.fit_grid = "{'batch_size': [8, 16]}";
    options.algorithm = "hyperband";
    options.arguments = "R=9, eta=3";
    options.objective = "loss";
    options.seed = seed;
    options.seats = 4;
    options.max_configs = max_configs;
    options.max_iterations = options.keep = HOPPER_NO_BUDGET;
    options.max_seconds = options.target = std::numeric_limits<double>::quiet_NaN();
    hopper_error error = {};
    EXPECT_EQ(SearchApi().start(&options, &search_, &error), 0) << error.message << error.detail;
  }
  ~RestingStates() { SearchApi().free(search_); }
  RestingStates(const RestingStates&) = delete;
  RestingStates& operator=(const RestingStates&) = delete;

  // How many stints went on from a state.
  int Run() {
    Begin();
    while (!running_.empty()) {
      const hopper_search_assignment stint = running_.back();
      running_.pop_back();
      resting_.insert(stint.trial);
      const double loss = std::fmod(static_cast<double>((stint.trial + 1) * 7919), 31.0);
      hopper_error error = {};
      const hopper_search_told told = {&loss, nullptr, 1, -1, nullptr};
      EXPECT_EQ(SearchApi().tell(search_, stint.trial, &told, &error), 0)
          << error.message << error.detail;
      for (int64_t trial = 0; (trial = SearchApi().next_stopped(search_)) >= 0;)
        resting_.erase(trial);
      Begin();
    }
    EXPECT_EQ(SearchApi().done(search_), 1);
    return went_on_;
  }

 private:
  void Begin() {
    hopper_search_assignment stints[4];
    int32_t n = 0;
    hopper_error error = {};
    do {
      ASSERT_EQ(SearchApi().ask(search_, stints, 4, &n, &error), 0)
          << error.message << error.detail;
      for (int32_t i = 0; i < n; ++i) {
        if (stints[i].from > 0) {
          EXPECT_EQ(resting_.count(stints[i].trial), 1U) << "trial " << stints[i].trial;
          ++went_on_;
        }
        running_.push_back(stints[i]);
      }
    } while (n > 0);
  }

  hopper_search* search_ = nullptr;
  std::deque<hopper_search_assignment> running_;
  std::set<int64_t> resting_;
  int went_on_ = 0;
};

// In a small space one bracket goes on with what another one has stopped with.
TEST(SearchApi, WhatGoesOnHasNotBeenDropped) {
  int went_on = 0;
  for (int64_t max_configs = 1; max_configs <= 4; ++max_configs) {
    for (uint64_t seed = 0; seed < 25; ++seed) went_on += RestingStates(max_configs, seed).Run();
  }
  EXPECT_GT(went_on, 100);
}

constexpr int kRows = 100;

std::string Network(int units) {
  return R"({"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config":
      {"units": )" +
         std::to_string(units) + R"(, "activation": "relu", "batch_input_shape": [null, 4]}},
      {"class_name": "Dense", "config": {"units": 2, "activation": "softmax"}}]}})";
}

// Three forward passes of each row and epoch.
double CostOf(const std::string& network, int epochs) {
  hopper_model_info info = {};
  hopper_error error = {};
  EXPECT_EQ(Api().inspect_model(network.data(), network.size(), &info, &error), 0);
  return 3.0 * static_cast<double>(info.flops + 1) * kRows * epochs;
}

// A grid on two seats: in virtual time each trial begins as soon as one of them is free.
class TwoArchitectures {
 public:
  explicit TwoArchitectures(bool with_architectures) {
    static const int32_t kModels[] = {1, 2};
    const char* const archs[] = {networks_[0].c_str(), networks_[1].c_str()};
    hopper_data_desc data = {};
    data.x_type = HOPPER_FLOAT32;
    data.x_rank = 1;
    data.x_shape[0] = 4;
    data.y_kind = HOPPER_LABEL_CLASS;
    data.y_type = HOPPER_INT32;
    data.num_classes = 2;
    data.n_partitions = 2;
    data.n_rows = kRows;
    hopper_search_options options = {};
    options.n_models = 2;
    options.model_ids = kModels;
    options.model_archs = with_architectures ? archs : nullptr;
    options.data = &data;
    options.compile_grid =
        "{'loss': ['categorical_crossentropy'], 'optimizer_params_list': [{'optimizer': ['SGD'], "
        "'lr': [0.1, 0.2]}]}";
    options.fit_grid = "{'batch_size': [8], 'epochs': [1, 3]}";
    options.algorithm = "grid";
    options.arguments = "num_iterations=5";
    options.objective = "loss";
    options.seats = 2;
    options.max_configs = options.max_iterations = options.keep = HOPPER_NO_BUDGET;
    options.max_seconds = options.target = std::numeric_limits<double>::quiet_NaN();
    hopper_error error = {};
    EXPECT_EQ(SearchApi().start(&options, &search_, &error), 0) << error.message << error.detail;
  }
  ~TwoArchitectures() { SearchApi().free(search_); }
  TwoArchitectures(const TwoArchitectures&) = delete;
  TwoArchitectures& operator=(const TwoArchitectures&) = delete;

  // The virtual time of each trial's result; what is told first began last.
  std::map<int64_t, double> Run() {
    std::vector<int64_t> running;
    hopper_error error = {};
    while (SearchApi().done(search_) == 0) {
      hopper_search_assignment stints[4];
      int32_t n = 0;
      EXPECT_EQ(SearchApi().ask(search_, stints, 4, &n, &error), 0) << error.message;
      for (int32_t i = 0; i < n; ++i) running.push_back(stints[i].trial);
      const double loss = 1;
      const hopper_search_told told = {&loss, nullptr, 1, -1, nullptr};
      EXPECT_EQ(SearchApi().tell(search_, running.back(), &told, &error), 0) << error.message;
      running.pop_back();
    }
    std::map<int64_t, double> times;
    hopper_rows* rows = nullptr;
    EXPECT_EQ(SearchApi().results(search_, &rows, &error), 0) << error.message;
    for (int row = 0; row < rows->n_rows; ++row) {
      const char* const* cells = rows->cells + static_cast<ptrdiff_t>(row) * rows->n_columns;
      times[std::stoll(cells[0])] = std::stod(cells[6]);
    }
    Api().rows_free(rows);
    return times;
  }

  // What each trial's iterations cost by its row of trials().
  std::vector<double> Costs(bool known) {
    std::vector<double> costs;
    hopper_rows* rows = nullptr;
    hopper_error error = {};
    EXPECT_EQ(SearchApi().trials(search_, 0, &rows, &error), 0) << error.message;
    for (int row = 0; row < rows->n_rows; ++row) {
      const char* const* cells = rows->cells + static_cast<ptrdiff_t>(row) * rows->n_columns;
      const int epochs = std::string(cells[3]).find("epochs=3") == std::string::npos ? 1 : 3;
      const std::string& network = networks_[cells[1][0] - '1'];
      costs.push_back(5 * (known ? CostOf(network, epochs) : 1.0));
    }
    Api().rows_free(rows);
    return costs;
  }

 private:
  const std::string networks_[2] = {Network(64), Network(8)};
  hopper_search* search_ = nullptr;
};

TEST(SearchApi, MeasuresSayWhatTheyAre) {
  hopper_rows* rows = nullptr;
  hopper_error error = {};
  static const int32_t kModel = 1;
  hopper_search_options options = {};
  options.n_models = 1;
  options.model_ids = &kModel;
  options.compile_grid =
      "{'loss': ['mse'], 'optimizer': ['sgd'], 'metrics': [['AUC(name=\"prc\", curve=\"PR\")']]}";
  options.objective = "parameters, 0.1 * loss, auc(num_thresholds=9), mae, prc";
  options.constraints = "overfit_gap <= 0.1, accuracy >= 0.5";
  ASSERT_EQ(SearchApi().measures(&options, &rows, &error), 0) << Show(error);
  const auto number = [](hopper_measure measure) { return std::to_string(measure); };
  EXPECT_EQ(Take(rows), (Table{{"parameters", number(HOPPER_MEASURE_PARAMETERS), "t", "f"},
                               {"loss", number(HOPPER_MEASURE_LOSS), "t", "f"},
                               {"auc(num_thresholds=9)", number(HOPPER_MEASURE_METRIC), "t", "t"},
                               {"mae", number(HOPPER_MEASURE_METRIC), "t", "f"},
                               {"prc", number(HOPPER_MEASURE_METRIC), "t", "t"},
                               {"overfit_gap", number(HOPPER_MEASURE_GAP), "f", "f"},
                               {"accuracy", number(HOPPER_MEASURE_METRIC), "f", "f"}}));
}

TEST(SearchApi, VirtualTimeCountsFloatingPointOperations) {
  EXPECT_NEAR(CostOf(Network(64), 1) / CostOf(Network(8), 1), 8.0, 0.2);
  for (const bool known : {true, false}) {
    TwoArchitectures search(known);
    const std::map<int64_t, double> times = search.Run();
    const std::vector<double> costs = search.Costs(known);
    ASSERT_EQ(times.size(), 8U);
    ASSERT_EQ(costs.size(), 8U);
    EXPECT_EQ(std::set<double>(costs.begin(), costs.end()).size(), known ? 4U : 1U);
    double free[2] = {0, 0};
    for (size_t trial = 0; trial < costs.size(); ++trial) {
      double* seat = std::min_element(free, free + 2);
      *seat += costs[trial];
      EXPECT_DOUBLE_EQ(times.at(static_cast<int64_t>(trial)), *seat) << trial;
    }
  }
}

}  // namespace
}  // namespace hopper
