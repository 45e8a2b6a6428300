// Algorithms of a search: each says what a free seat is to train next.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "search/journal.h"

namespace hopper {

// A trial and the resource that it is to reach, counted from its beginning.
struct SearchWork {
  int64_t trial = 0;
  int64_t resource = 0;
};

class SearchAlgorithm {
 public:
  virtual ~SearchAlgorithm() = default;
  // The next work for a free seat; nothing: none before another result is told, or none at all
  // where nothing runs. It never names a trial that runs, is past the resource or does not
  // go on (Trial::GoesOn).
  virtual std::optional<SearchWork> Next(SearchJournal* journal) = 0;
  // The trial's last result is new.
  virtual void Told(int64_t trial, SearchJournal* journal) = 0;
};

// An argument of an algorithm.
struct SearchArgument {
  std::string name;
  double standard = 0;  // the default; of words: its place
  double low = 0;
  double high = 0;
  bool integer = true;
  std::vector<std::string> words;  // not empty: one of these
  std::string meaning;
};

// Their values: the user's, or the defaults.
class SearchArguments {
 public:
  SearchArguments() = default;
  SearchArguments(const std::vector<SearchArgument>* arguments, std::vector<double> values,
                  std::vector<char> wrong)
      : arguments_(arguments), values_(std::move(values)), wrong_(std::move(wrong)) {}
  double Real(const std::string& name) const;
  int64_t Integer(const std::string& name) const { return static_cast<int64_t>(Real(name)); }
  const std::string& Word(const std::string& name) const;
  bool Has(const std::string& name) const;
  // What the user gave was refused: the default is in its place.
  bool IsWrong(const std::string& name) const { return wrong_[IndexOf(name)] != 0; }
  // Nothing where it was refused.
  std::optional<int64_t> IntegerIfRight(const std::string& name) const;

 private:
  size_t IndexOf(const std::string& name) const;
  const std::vector<SearchArgument>* arguments_ = nullptr;
  std::vector<double> values_;
  std::vector<char> wrong_;
};

// A row of the table of algorithms.
struct AlgorithmType {
  std::string name;
  std::string meaning;  // a sentence
  std::vector<SearchArgument> arguments;
  // What is wrong with the arguments together, those left out that are wrong by themselves, or with
  // this space (null: it is not known); may be empty.
  std::function<void(const SearchArguments&, const SearchSpace*, std::vector<Problem>*)> check;
  std::function<std::unique_ptr<SearchAlgorithm>(const SearchArguments&, const SearchJournal&)>
      make;
};

const std::vector<AlgorithmType>& AlgorithmTypes();
const AlgorithmType* FindAlgorithm(const std::string& name);
std::vector<std::string> AlgorithmNames();

// The values of named arguments (keys of kind string). Unknown names, wrong types and numbers out
// of range are appended to the problems.
SearchArguments ReadSearchArguments(const AlgorithmType& type, const std::vector<ValueEntry>& given,
                                    std::vector<Problem>* problems);

}  // namespace hopper
