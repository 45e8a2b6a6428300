// Choices that no configuration can be trained with, such as an activation that is spelt wrong.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "search/space.h"

namespace hopper {

struct NeverPossible {
  size_t dimension = 0;
  size_t choice = 0;
  Problem problem;  // the first that comes with it
};

struct ChoiceCheck {
  std::vector<NeverPossible> choices;
  // What is wrong with the best configuration that was found; empty where it can be trained.
  std::vector<Problem> everywhere;
};

// Words are right or wrong, whereas a number that does not fit here may fit elsewhere: so this
// looks at choices with a word in them, each beside what is otherwise as good as can be, and, where
// that fails, beside every choice of every other dimension. `check` gives what is wrong with a
// point.
ChoiceCheck CheckChoices(const SearchSpace& space, const PointCheck& check);

// What compile and fit parameters of a point say by themselves.
std::vector<Problem> ReadTexts(const SearchSpace& space, const SearchPoint& point);

// Appends the words that no configuration can be trained with, each with its place, which begins
// with `place` (and ends with a quotation mark), and numbers that no configuration may have.
// `check` is ReadTexts where it is empty.
void CheckTexts(const SearchSpace& space, const std::string& place, const PointCheck& check,
                std::vector<Problem>* problems);

}  // namespace hopper
