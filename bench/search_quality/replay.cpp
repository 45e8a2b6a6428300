// Searches replayed on a table of search_quality: what each seed finds within a budget.
//
//   search_quality TABLE ALGORITHM ARGUMENTS BUDGET SEEDS [SEATS]
//
// Prints a line a seed: seed, iterations spent, regret in points: by how much the configuration
// that the search calls the best, trained to the end, is less accurate than the table's best.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "params/text.h"
#include "search/search.h"

namespace hopper {
namespace {

constexpr size_t kParameters = 6;
const char* const kNames[kParameters] = {"width",     "activation", "dropout",
                                         "optimizer", "batch",      "lr"};

struct Table {
  std::shared_ptr<const SearchSpace> space;
  std::map<SearchPoint, std::vector<double>> curves;  // accuracies in points
  double best = 0;
};

// The table's own values in their order: numbers ascend, so that they are integers of a range; the
// others are choices.
Table ReadTable(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  std::vector<std::vector<std::string>> rows;
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    rows.push_back(cells);
  }
  std::vector<std::vector<std::string>> values(kParameters);
  std::string parameters;
  std::string used;
  for (size_t p = 0; p < kParameters; ++p) {
    for (const auto& row : rows) {
      if (std::find(values[p].begin(), values[p].end(), row[p]) == values[p].end()) {
        values[p].push_back(row[p]);
      }
    }
    const bool text = std::isalpha(static_cast<unsigned char>(values[p][0][0])) != 0;
    if (!text) {
      std::sort(values[p].begin(), values[p].end(), [](const auto& a, const auto& b) {
        return std::strtod(a.c_str(), nullptr) < std::strtod(b.c_str(), nullptr);
      });
    }
    const std::string last = std::to_string(values[p].size() - 1);
    std::string choices;
    for (size_t i = 0; i < values[p].size(); ++i) {
      choices += (i > 0 ? ", " : "") + std::to_string(i);
    }
    parameters +=
        std::string(p > 0 ? ", " : "") + "\"" + kNames[p] + "\": " +
        (text ? "[" + choices + "]" : "{\"type\": \"int\", \"low\": 0, \"high\": " + last + "}");
    used += std::string(p > 0 ? ", " : "") + "{\"hopper\": \"" + kNames[p] + "\"}";
  }
  std::vector<Problem> problems;
  Table table;
  table.space = std::make_shared<SearchSpace>(
      ParseSearchSpace("{\"parameters\": {" + parameters +
                           "}, \"model_id\": 1, \"compile_params\": {\"loss\": \"mse\", "
                           "\"optimizer\": \"sgd\"}}",
                       {{1, "{\"layers\": [" + used + "]}"}}, &problems));
  if (!problems.empty()) throw Error(problems.front());
  for (const auto& row : rows) {
    SearchPoint point;
    for (size_t p = 0; p < kParameters; ++p) {
      const auto at = std::find(values[p].begin(), values[p].end(), row[p]);
      point.push_back(static_cast<double>(at - values[p].begin()));
    }
    std::vector<double>& curve = table.curves[point];
    for (size_t i = kParameters; i < row.size(); ++i) {
      curve.push_back(std::strtod(row[i].c_str(), nullptr) / 100);
    }
    table.best = std::max(table.best, curve.back());
  }
  return table;
}

void Replay(const Table& table, SearchRequest request) {
  const uint64_t seed = request.seed;
  Search search(std::move(request));
  std::vector<SearchAssignment> running;
  while (!search.done()) {
    for (const SearchAssignment& work : search.Ask()) running.push_back(work);
    const SearchAssignment work = running.front();
    running.erase(running.begin());
    SearchOutcome outcome;
    const std::vector<double>& curve = table.curves.at(search.journal().trial(work.trial).point);
    outcome.objectives = {curve.at(static_cast<size_t>(work.resource) - 1)};
    search.Tell(work.trial, outcome);
  }
  const Trial& best = search.journal().trial(*search.best());
  std::printf("%llu,%lld,%.2f\n", static_cast<unsigned long long>(seed),
              static_cast<long long>(search.iterations()),
              table.best - table.curves.at(best.point).back());
}

int Main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr, "search_quality TABLE ALGORITHM ARGUMENTS BUDGET SEEDS [SEATS]\n");
    return 2;
  }
  const Table table = ReadTable(argv[1]);
  for (uint64_t seed = 1; seed <= std::strtoull(argv[5], nullptr, 10); ++seed) {
    SearchRequest request;
    request.space = table.space;
    request.algorithm = argv[2];
    request.arguments = ParseArguments(argv[3], "arguments");
    request.objectives = {{"accuracy", true, 1.0}};
    request.max_iterations = std::atoll(argv[4]);
    request.seats = argc > 6 ? std::atoll(argv[6]) : 1;
    request.seed = seed;
    Replay(table, std::move(request));
  }
  return 0;
}

}  // namespace
}  // namespace hopper

int main(int argc, char** argv) {
  try {
    return hopper::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
