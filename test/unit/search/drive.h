// Runs searches against made-up losses instead of training.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "params/text.h"
#include "search/search.h"

namespace hopper {

inline std::shared_ptr<const SearchSpace> Parsed(const std::string& text) {
  std::vector<Problem> problems;
  SearchSpace space = ParseSearchSpace(text, {}, &problems);
  if (!problems.empty()) throw Error(problems.front());
  return std::make_shared<SearchSpace>(std::move(space));
}

// A space of dimensions without texts: "parameters" of the JSON form.
inline std::shared_ptr<const SearchSpace> SpaceOf(const std::string& parameters) {
  const Value tree = ParseJson(parameters, "parameters");
  std::string uses;
  for (const ValueEntry& entry : tree.entries) {
    uses += (uses.empty() ? "" : ", ") + ("{\"hopper\": \"" + entry.key.text + "\"}");
  }
  std::vector<Problem> problems;
  SearchSpace space = ParseSearchSpace("{\"parameters\": " + parameters + ", \"model_id\": 1}",
                                       {{1, "{\"layers\": [" + uses + "]}"}}, &problems);
  for (const Problem& problem : problems) {
    if (problem.message.find("compile_params") == std::string::npos &&
        problem.message.find("loss") == std::string::npos &&
        problem.message.find("optimizer") == std::string::npos) {
      throw Error(problem);
    }
  }
  return std::make_shared<SearchSpace>(space);
}

inline SearchPoint ParsedPoint(const SearchSpace& space, const std::string& text) {
  std::vector<Problem> problems;
  SearchPoint point = space.ParsePoint(text, &problems);
  if (!problems.empty()) throw Error(problems.front());
  return point;
}

inline SearchOutcome Loss(double loss) {
  SearchOutcome outcome;
  outcome.objectives = {loss};
  return outcome;
}
inline SearchOutcome Failure(const std::string& reason) {
  SearchOutcome outcome;
  outcome.failed = true;
  outcome.reason = reason;
  return outcome;
}

inline SearchRequest RequestOf(std::shared_ptr<const SearchSpace> space,
                               const std::string& algorithm, const std::string& arguments,
                               uint64_t seed = 1) {
  SearchRequest request;
  request.space = std::move(space);
  request.algorithm = algorithm;
  request.arguments = ParseArguments(arguments, "arguments");
  request.objectives = {{"loss", false, 1.0}};
  request.seed = seed;
  return request;
}

using LossOf = std::function<SearchOutcome(const SearchPoint& point, int64_t resource)>;

// Which of what runs is told next; the answer must not depend on it.
enum class TellOrder { kFirst, kLast, kMiddle };

inline void Drive(Search* search, const LossOf& loss, TellOrder order = TellOrder::kFirst) {
  std::vector<SearchAssignment> running;
  while (!search->done()) {
    for (const SearchAssignment& work : search->Ask()) running.push_back(work);
    size_t i = 0;
    if (order == TellOrder::kLast) i = running.size() - 1;
    if (order == TellOrder::kMiddle) i = running.size() / 2;
    const SearchAssignment work = running.at(i);
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    search->Tell(work.trial, loss(search->journal().trial(work.trial).point, work.resource));
  }
}

// Every decision as a line.
inline std::string Protocol(const Search& search) {
  std::string text;
  for (const Decision& d : search.journal().decisions()) {
    text +=
        std::to_string(d.time) + " " + DecisionName(d.kind) + " " + std::to_string(d.trial) + " " +
        std::to_string(d.bracket) + "/" + std::to_string(d.rung) + " @" +
        std::to_string(d.resource) + " " + std::to_string(d.score.value_or(0)) + " " +
        (d.trial >= 0 ? search.journal().space().PointText(search.journal().trial(d.trial).point)
                      : "") +
        " " + d.reason + "\n";
  }
  return text;
}

inline int64_t Count(const Search& search, DecisionKind kind) {
  const auto& decisions = search.journal().decisions();
  return std::count_if(decisions.begin(), decisions.end(),
                       [&](const Decision& d) { return d.kind == kind; });
}

}  // namespace hopper
