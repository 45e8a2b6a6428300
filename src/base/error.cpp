#include "base/error.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <new>

#include "base/cancel.h"

namespace hopper {
namespace {

// ASCII only: names of parameters, columns and layers; other bytes compare as they are.
std::string Lower(const std::string& s) {
  std::string lower = s;
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// Insertions, deletions, substitutions and swaps of neighbours ("optimal string alignment").
size_t EditDistance(const std::string& a, const std::string& b) {
  const size_t columns = b.size() + 1;
  std::vector<size_t> before(columns), previous(columns), row(columns);
  for (size_t j = 0; j < columns; ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before.swap(previous);
    previous.swap(row);
    row[0] = i;
    for (size_t j = 1; j < columns; ++j) {
      const bool same = a[i - 1] == b[j - 1];
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row.back();
}

// "lr_rate" in "learning_rate": an abbreviation that begins alike.
bool IsAbbreviation(const std::string& name, const std::string& candidate) {
  if (name.size() < 3 || candidate.empty() || name[0] != candidate[0]) return false;
  size_t at = 0;
  for (const char c : candidate) {
    if (at < name.size() && c == name[at]) ++at;
  }
  return at == name.size();
}

// Names longer than this are no slips of the keyboard; keeps the quadratic distance cheap.
constexpr size_t kMaxNameLength = 256;
// Any slip is nearer than any abbreviation.
constexpr size_t kAbbreviationPenalty = 1000;

}  // namespace

std::optional<std::string> NearestName(const std::string& name,
                                       const std::vector<std::string>& candidates) {
  if (name.empty() || name.size() > kMaxNameLength) return std::nullopt;
  const std::string lower = Lower(name);
  const std::string* nearest = nullptr;
  size_t nearest_score = 0;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kMaxNameLength) continue;
    LookAtCancel();
    const std::string other = Lower(candidate);
    size_t score = EditDistance(lower, other);
    const size_t allowed = std::max<size_t>(1, std::max(lower.size(), other.size()) / 3);
    const bool slip = score <= allowed && score < std::max(lower.size(), other.size());
    if (!slip) {
      if (!IsAbbreviation(lower, other)) continue;
      score += kAbbreviationPenalty;
    }
    if (nearest == nullptr || score < nearest_score) {
      nearest = &candidate;
      nearest_score = score;
    }
  }
  if (nearest == nullptr) return std::nullopt;
  return *nearest;
}

std::string NearestNameHint(const std::string& name, const std::vector<std::string>& candidates,
                            const OtherNames& others) {
  std::string plain;
  for (const char c : Lower(name)) {
    if (c != '_' && c != '-' && c != ' ') plain += c;
  }
  for (const OtherName& other : others) {
    if (plain != other.theirs) continue;
    std::string choice;
    for (const std::string& ours : other.ours) {
      choice += (choice.empty() ? "\"" : " or \"") + ours + "\"";
    }
    return "Perhaps you meant " + choice + ".";
  }
  const std::optional<std::string> nearest = NearestName(name, candidates);
  return nearest ? "Perhaps you meant \"" + *nearest + "\"." : "";
}

Problem DescribeCaught() {
  constexpr const char* kHint = "Please report this as a bug.";
  try {
    throw;
  } catch (const Error& e) {
    return e.problem();
  } catch (const std::bad_alloc&) {
    return {ErrorCode::kOutOfMemory, "out of memory", "", ""};
  } catch (const std::exception& e) {
    return {ErrorCode::kInternal, std::string("unexpected error: ") + e.what(), "", kHint};
  } catch (...) {
    return {ErrorCode::kInternal, "unexpected error", "", kHint};
  }
}

Problem InWords(Problem (*describe)()) noexcept {
  try {
    return describe();
  } catch (...) {
    Problem problem;
    problem.code = ErrorCode::kOutOfMemory;
    problem.message = "out of memory";  // short enough to need none
    return problem;
  }
}

Problem SummaryOf(const std::vector<Problem>& problems) {
  Problem summary = problems[0];
  if (problems.size() == 1) return summary;
  constexpr size_t kShown = 20;
  std::string detail = "There are " + std::to_string(problems.size()) + " problems:";
  for (size_t i = 0; i < problems.size() && i < kShown; ++i) {
    detail += "\n" + std::to_string(i + 1) + ". " + problems[i].message;
    if (i > 0 && !problems[i].hint.empty() && problems[i].hint != summary.hint) {
      detail += ". " + problems[i].hint;
    }
  }
  if (problems.size() > kShown) {
    detail += "\nand " + std::to_string(problems.size() - kShown) + " more";
  }
  summary.detail = detail;
  return summary;
}

}  // namespace hopper
