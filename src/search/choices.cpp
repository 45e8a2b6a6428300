#include "search/choices.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "params/params.h"

namespace hopper {
namespace {

// Points that are checked at most, of a space with very many choices: the check is only early, not
// the only one.
constexpr size_t kMaxChecks = 500;
// Of texts that are tried: large ones are not tried with each choice.
constexpr size_t kTriedBytes = size_t{1} << 22;
// What is fixed may show what it hid.
constexpr int kRounds = 3;

bool HasWord(const Value& value) {
  if (value.IsText() || value.kind == Value::Kind::kCall) return true;
  return std::any_of(value.items.begin(), value.items.end(), HasWord) ||
         std::any_of(value.entries.begin(), value.entries.end(),
                     [](const ValueEntry& entry) { return HasWord(entry.value); });
}

// Whether the message quotes a word of the value.
bool Quotes(const std::string& message, const Value& value) {
  if (value.IsText() && message.find('"' + value.text + '"') != std::string::npos) return true;
  return std::any_of(value.items.begin(), value.items.end(),
                     [&](const Value& item) { return Quotes(message, item); }) ||
         std::any_of(value.entries.begin(), value.entries.end(),
                     [&](const ValueEntry& entry) { return Quotes(message, entry.value); });
}

// The dimension and, where the message does not tell, the number of its choice.
std::string NameOf(const Dimension& dimension, size_t choice, const std::string& message) {
  if (Quotes(message, dimension.choices[choice])) return dimension.name;
  return dimension.name + "[" + std::to_string(choice + 1) + "]";
}

// The choice of a point without which it would not have the problem: an optimizer of several, whose
// arguments have names and numbers like those of the others. "" where there is none, or `check` is
// `spent` and finds nothing any more.
std::string ChoiceWith(const Problem& problem, const SearchSpace& space, const SearchPoint& point,
                       const PointCheck& check, const std::function<bool()>& spent) {
  std::vector<double> numbers;
  for (size_t d = 0; d < space.size(); ++d) {
    numbers.push_back(std::isnan(point[d]) ? space.dimensions()[d].FromUnit(0.5) : point[d]);
  }
  for (size_t d = 0; d < space.size(); ++d) {
    const Dimension& dimension = space.dimensions()[d];
    if (dimension.kind != DimensionKind::kChoice || std::isnan(point[d])) continue;
    const auto chosen = static_cast<size_t>(point[d]);
    if (!dimension.numbered && !HasWord(dimension.choices[chosen])) continue;
    for (size_t i = 0; i < dimension.choices.size(); ++i) {
      if (i == chosen) continue;
      std::vector<double> others = numbers;
      others[d] = static_cast<double>(i);
      const std::vector<Problem> found =
          check(space, space.Fill([&](size_t at) { return others[at]; }));
      if (spent()) return "";
      if (std::none_of(found.begin(), found.end(),
                       [&](const Problem& one) { return one.message == problem.message; })) {
        return NameOf(dimension, chosen, problem.message);
      }
    }
  }
  return "";
}

class Checker {
 public:
  Checker(const SearchSpace& space, const PointCheck& check) : space_(space), check_(check) {
    for (const Dimension& dimension : space.dimensions()) {
      base_.push_back(dimension.FromUnit(0.5));
    }
  }

  ChoiceCheck Run() {
    ImproveBase();
    ChoiceCheck found;
    for (size_t d = 0; d < space_.size(); ++d) {
      for (size_t i = 0; i < Choices(d) && checks_ < kMaxChecks; ++i) {
        if (HasWord(space_.dimensions()[d].choices[i])) TryChoice(d, i, &found.choices);
      }
    }
    found.everywhere = Problems(base_);
    return found;
  }

 private:
  using Numbers = std::vector<double>;

  size_t Choices(size_t d) const { return space_.dimensions()[d].choices.size(); }

  const std::vector<Problem>& Problems(const Numbers& numbers) {
    const SearchPoint point = space_.Fill([&](size_t d) { return numbers[d]; });
    const auto [known, is_new] = known_.try_emplace(space_.PointText(point));
    if (is_new) {
      ++checks_;
      known->second = check_(space_, point);
    }
    return known->second;
  }

  Numbers With(Numbers numbers, size_t d, double value) const {
    space_.Activate(d, &numbers);
    numbers[d] = value;
    return numbers;
  }

  void ImproveBase() {
    for (int round = 0; round < kRounds; ++round) {
      bool better = false;
      for (size_t d = 0; d < space_.size(); ++d) {
        size_t fewest = Problems(With(base_, d, base_[d])).size();
        for (size_t i = 0; fewest > 0 && i < Choices(d) && checks_ < kMaxChecks; ++i) {
          const Numbers tried = With(base_, d, static_cast<double>(i));
          const size_t problems = Problems(tried).size();
          if (problems >= fewest) continue;
          fewest = problems;
          base_[d] = static_cast<double>(i);
          better = true;
        }
      }
      if (!better) return;
    }
  }

  // Whether the choice fails beside everything; its first problem is appended.
  void TryChoice(size_t d, size_t i, std::vector<NeverPossible>* found) {
    const double choice = static_cast<double>(i);
    const std::vector<Problem> usual = Problems(With(base_, d, base_[d]));
    const Numbers tried = With(base_, d, choice);
    const std::vector<Problem> problems = Problems(tried);
    if (problems.size() <= usual.size()) return;
    for (size_t other = 0; other < space_.size(); ++other) {
      for (size_t k = 0; other != d && k < Choices(other); ++k) {
        if (checks_ >= kMaxChecks) return;
        Numbers pair = With(tried, other, static_cast<double>(k));
        space_.Activate(d, &pair);
        pair[d] = choice;
        if (Problems(pair).size() <= usual.size()) return;
      }
    }
    const auto is_new = [&](const Problem& problem) {
      return std::none_of(usual.begin(), usual.end(),
                          [&](const Problem& known) { return known.message == problem.message; });
    };
    const auto first = std::find_if(problems.begin(), problems.end(), is_new);
    found->push_back({d, i, first == problems.end() ? problems.front() : *first});
  }

  const SearchSpace& space_;
  const PointCheck& check_;
  Numbers base_;
  std::map<std::string, std::vector<Problem>> known_;
  size_t checks_ = 0;
};

}  // namespace

ChoiceCheck CheckChoices(const SearchSpace& space, const PointCheck& check) {
  return Checker(space, check).Run();
}

std::vector<Problem> ReadTexts(const SearchSpace& space, const SearchPoint& point) {
  const SearchConfiguration one = space.Configuration(point);
  std::vector<ParamProblem> found;
  ParseCompileParams(one.compile_params, &found);
  ParseFitParams(one.fit_params, &found);
  std::vector<Problem> problems;
  for (const ParamProblem& problem : found) {
    if (!problem.warning) problems.push_back(problem);
  }
  return problems;
}

void CheckTexts(const SearchSpace& space, const std::string& place, const PointCheck& check,
                std::vector<Problem>* problems) {
  const size_t before = problems->size();
  std::set<std::string> said;
  const auto add = [&](const Problem& problem) {
    if (said.insert(problem.message).second) problems->push_back(problem);
  };
  size_t bytes = 0;
  const auto if_small = [&](const PointCheck& to_do) -> PointCheck {
    return [&bytes, to_do](const SearchSpace& of, const SearchPoint& point) {
      if (bytes > kTriedBytes) return std::vector<Problem>();
      const SearchConfiguration one = of.Configuration(point);
      bytes += one.compile_params.size() + one.fit_params.size();
      return to_do(of, point);
    };
  };
  const ChoiceCheck found = CheckChoices(space, if_small(check ? check : PointCheck(ReadTexts)));
  for (const NeverPossible& one : found.choices) {
    Problem problem = one.problem;
    said.insert(problem.message);
    problem.message = place +
                      NameOf(space.dimensions()[one.dimension], one.choice, problem.message) +
                      "\": " + problem.message;
    problems->push_back(problem);
  }
  bytes = 0;
  const PointCheck read = if_small(ReadTexts);
  const auto spent = [&] { return bytes > kTriedBytes; };
  std::set<std::string> of_choices;
  for (const SearchPoint& point : ProbePoints(space)) {
    for (Problem problem : read(space, point)) {
      // Several choices may have it.
      if (!said.insert(problem.message).second && of_choices.count(problem.message) == 0) continue;
      const std::string with = ChoiceWith(problem, space, point, read, spent);
      if (!with.empty()) {
        of_choices.insert(problem.message);
        problem.message = place + with + "\": " + problem.message;
        if (!said.insert(problem.message).second) continue;
      } else if (of_choices.count(problem.message) > 0) {
        continue;
      }
      problems->push_back(problem);
    }
  }
  // Alone it is said of the configurations, where none of them can be trained.
  if (problems->size() == before) return;
  for (const Problem& problem : found.everywhere) add(problem);
}

}  // namespace hopper
