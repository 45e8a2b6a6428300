// One parameter of a search space in JSON, and the words for what is wrong with a space.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "params/value.h"
#include "search/space.h"

namespace hopper {

// Gathers the problems of a search space that is read from JSON. A path leads to a place in it:
// "parameters.lr.low".
class SpaceProblems {
 public:
  explicit SpaceProblems(std::vector<Problem>* problems)
      : problems_(problems), before_(problems->size()) {}

  void Add(const Problem& problem) { problems_->push_back(problem); }
  void Fail(const std::string& path, const std::string& problem, const std::string& hint = "");
  void KnownKeys(const Value& dict, const std::string& path, const std::vector<std::string>& keys);

  bool any() const { return problems_->size() > before_; }
  std::vector<Problem>* all() { return problems_; }

 private:
  std::vector<Problem>* const problems_;
  const size_t before_;
};

// What a parameter may be: a list of choices, a constant, or an object with a type. Where there are
// problems, *dimension has something that can be read on with.
void ReadDimension(const Value& value, const std::string& path, SpaceProblems* problems,
                   Dimension* dimension);

}  // namespace hopper
