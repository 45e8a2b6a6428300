// What rows of the table of algorithms share.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "search/algorithm.h"
#include "search/hyperband_schedule.h"

namespace hopper {
namespace search_rows {

constexpr double kMaxConfigs = 1e6;
constexpr double kMaxIterations = 1e9;

inline SearchArgument Integer(std::string name, int64_t standard, double low, double high,
                              std::string meaning) {
  return {std::move(name), static_cast<double>(standard), low, high, true, {}, std::move(meaning)};
}
inline SearchArgument Real(std::string name, double standard, double low, double high,
                           std::string meaning) {
  return {std::move(name), standard, low, high, false, {}, std::move(meaning)};
}
// The first word is the default.
inline SearchArgument Word(std::string name, std::vector<std::string> words, std::string meaning) {
  const double high = static_cast<double>(words.size()) - 1;
  return {std::move(name), 0, 0, high, true, std::move(words), std::move(meaning)};
}
inline SearchArgument NumConfigs() {
  return Integer("num_configs", 20, 1, kMaxConfigs, "configurations to try");
}
inline SearchArgument NumIterations() {
  return Integer("num_iterations", 5, 1, kMaxIterations, "iterations of each configuration");
}
// Where a halving algorithm's configurations come from.
inline SearchArgument Proposer() {
  return Word("proposer", {"random", "sobol", "grid", "tpe", "gp"},
              "how configurations are proposed");
}

}  // namespace search_rows

std::unique_ptr<SearchProposer> MakeGridProposer();
std::unique_ptr<SearchProposer> MakeRandomProposer();
std::unique_ptr<SearchProposer> MakeSobolProposer(bool scramble);
// Random before `startup` results.
std::unique_ptr<SearchProposer> MakeGpProposer(int64_t startup);
constexpr int64_t kGpStartup = 10;
// The proposer of argument "proposer", with its defaults.
std::unique_ptr<SearchProposer> MakeProposer(const SearchArguments& arguments);
// What it cannot do with a space (null: not known).
void CheckProposer(const SearchArguments& arguments, const SearchSpace* space,
                   std::vector<Problem>* problems);
// What a grid cannot be made of.
void CheckFinite(const SearchSpace* space, std::vector<Problem>* problems);

// Resources of rungs: first, first eta, first eta^2, ... and last.
std::vector<int64_t> RungResources(int64_t first, int64_t last, int64_t eta);
// Arguments of successive halving's kinds, and what is wrong with them together or with this space.
std::vector<SearchArgument> RungArguments();
void CheckRungs(const SearchArguments& arguments, const SearchSpace* space,
                std::vector<Problem>* problems);

// Hyperband's arguments but the proposer, and Hyperband with another proposer.
std::vector<SearchArgument> HyperbandArguments();
void CheckHyperbandArguments(const SearchArguments& arguments, std::vector<Problem>* problems);
std::unique_ptr<SearchAlgorithm> MakeHyperband(std::unique_ptr<SearchProposer> proposer,
                                               const SearchArguments& arguments);

// Proposes `configs` configurations (less where the space has less) and trains each to the end.
std::unique_ptr<SearchAlgorithm> MakeEachToTheEnd(std::unique_ptr<SearchProposer> proposer,
                                                  int64_t configs, int64_t iterations);

}  // namespace hopper
