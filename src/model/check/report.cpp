#include "model/check/report.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/cancel.h"

namespace hopper {
namespace {

// A report longer than this helps nobody; check_configs() has the rest.
constexpr size_t kMostShown = 50;
constexpr size_t kMostKeyText = 200;

// Equal problems of one severity.
struct Group {
  const ParamProblem* problem;
  std::vector<int64_t> keys;  // ascending
};

// In the order in which the first of each appears.
std::vector<Group> GroupsOf(const std::vector<ConfigProblem>& problems, bool warnings) {
  std::vector<Group> groups;
  std::map<std::tuple<ErrorCode, std::string_view, std::string_view, std::string_view>, size_t>
      known;
  for (const ConfigProblem& found : problems) {
    LookAtCancel();
    const ParamProblem& problem = found.problem;
    if (problem.warning != warnings) continue;
    const auto [at, is_new] = known.try_emplace(
        {problem.code, problem.message, problem.detail, problem.hint}, groups.size());
    if (is_new) groups.push_back({&problem, {}});
    std::vector<int64_t>& keys = groups[at->second].keys;
    if (keys.empty() || keys.back() != found.mst_key) keys.push_back(found.mst_key);
  }
  return groups;
}

// "configuration 3", "configurations 1-4, 7"
std::string KeysText(const std::vector<int64_t>& keys) {
  std::string text = keys.size() == 1 ? "configuration " : "configurations ";
  size_t next = 0;
  for (size_t first = 0; first < keys.size(); first = next) {
    for (next = first + 1; next < keys.size() && keys[next] == keys[next - 1] + 1;) ++next;
    if (first > 0) text += ", ";
    if (text.size() > kMostKeyText) return text + "...";
    text += std::to_string(keys[first]);
    if (next > first + 1) text += "-" + std::to_string(keys[next - 1]);
  }
  return text;
}

// The problem, and whom it concerns where that is not obvious.
ParamProblem Alone(const Group& group, size_t n) {
  ParamProblem problem = *group.problem;
  if (n == 1) return problem;
  if (!problem.detail.empty()) problem.detail += " ";
  problem.detail += "This concerns " + KeysText(group.keys) + ".";
  return problem;
}

size_t CountFailing(const std::vector<ConfigProblem>& problems) {
  size_t count = 0;
  const ConfigProblem* last = nullptr;
  for (const ConfigProblem& found : problems) {
    if (found.problem.warning || (last != nullptr && last->mst_key == found.mst_key)) continue;
    last = &found;
    ++count;
  }
  return count;
}

ParamProblem Together(const std::vector<ConfigProblem>& problems, const std::vector<Group>& groups,
                      size_t n) {
  ParamProblem all = *groups[0].problem;
  all.message = n == 1 ? "the configuration has " + std::to_string(groups.size()) + " problems"
                       : std::to_string(CountFailing(problems)) + " of " + std::to_string(n) +
                             " configurations have problems";
  all.detail.clear();
  all.hint = "hopper.check_configs() lists the problems of a selection table as rows.";
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i > 0) all.detail += "\n";
    if (i == kMostShown) {
      all.detail += "There are " + std::to_string(groups.size() - i) + " more.";
      break;
    }
    const ParamProblem& problem = *groups[i].problem;
    std::string whose = n == 1 ? std::to_string(i + 1) + ". " : KeysText(groups[i].keys) + ": ";
    whose[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(whose[0])));
    all.detail += whose + problem.message + ".";
    if (!problem.detail.empty()) all.detail += " " + problem.detail;
    if (!problem.hint.empty()) all.detail += " " + problem.hint;
  }
  return all;
}

}  // namespace

std::vector<ConfigProblem> Sorted(std::vector<ConfigProblem> problems) {
  std::stable_sort(
      problems.begin(), problems.end(), [](const ConfigProblem& a, const ConfigProblem& b) {
        return std::tie(a.mst_key, a.problem.warning) < std::tie(b.mst_key, b.problem.warning);
      });
  return problems;
}

std::vector<ParamProblem> ReportOf(const std::vector<ConfigProblem>& problems, size_t n) {
  const std::vector<Group> errors = GroupsOf(problems, false);
  if (errors.size() > 1) return {Together(problems, errors, n)};
  if (errors.size() == 1) return {Alone(errors[0], n)};
  std::vector<ParamProblem> report;
  const std::vector<Group> warnings = GroupsOf(problems, true);
  for (size_t i = 0; i < std::min(warnings.size(), kMostShown); ++i) {
    report.push_back(Alone(warnings[i], n));
  }
  if (warnings.size() > kMostShown) {
    ParamProblem more;
    more.warning = true;
    more.message = "there are " + std::to_string(warnings.size() - kMostShown) +
                   " more warnings about configurations";
    more.hint = "hopper.check_configs() lists the problems of a selection table as rows.";
    report.push_back(more);
  }
  return report;
}

}  // namespace hopper
