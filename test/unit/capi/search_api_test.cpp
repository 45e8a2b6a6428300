// Searches as the glue drives them, through the core's table.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <set>

#include "model_hopper/core.h"
#include "model_hopper/search.h"

namespace {

const hopper_search_api& Api() {
  static void* library = dlopen(HOPPER_CORE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  const auto get = reinterpret_cast<hopper_core_api_get_fn>(dlsym(library, "hopper_core_api_get"));
  return get(HOPPER_API_VERSION)->search;
}

// A pool keeps a trial's state from one leg to the next, and drops it when the search says so. What
// is told last may have begun first, so that several results count at once.
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
    EXPECT_EQ(Api().start(&options, &search_, &error), 0) << error.message << error.detail;
  }
  ~RestingStates() { Api().free(search_); }
  RestingStates(const RestingStates&) = delete;
  RestingStates& operator=(const RestingStates&) = delete;

  // How many legs went on from a state.
  int Run() {
    Begin();
    while (!running_.empty()) {
      const hopper_search_assignment leg = running_.back();
      running_.pop_back();
      resting_.insert(leg.trial);
      const double loss = std::fmod(static_cast<double>((leg.trial + 1) * 7919), 31.0);
      hopper_error error = {};
      EXPECT_EQ(Api().tell(search_, leg.trial, &loss, 1, nullptr, &error), 0)
          << error.message << error.detail;
      for (int64_t trial = 0; (trial = Api().next_stopped(search_)) >= 0;) resting_.erase(trial);
      Begin();
    }
    EXPECT_EQ(Api().done(search_), 1);
    return went_on_;
  }

 private:
  void Begin() {
    hopper_search_assignment legs[4];
    int32_t n = 0;
    hopper_error error = {};
    do {
      ASSERT_EQ(Api().ask(search_, legs, 4, &n, &error), 0) << error.message << error.detail;
      for (int32_t i = 0; i < n; ++i) {
        if (legs[i].from > 0) {
          EXPECT_EQ(resting_.count(legs[i].trial), 1U) << "trial " << legs[i].trial;
          ++went_on_;
        }
        running_.push_back(legs[i]);
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

}  // namespace
