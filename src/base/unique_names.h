// Names that are to differ.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace hopper {

// Takes "name", then "name<mark>2", "name<mark>3", ...: the first that is free. However many share
// a name, each costs a few look-ups.
class UniqueNames {
 public:
  explicit UniqueNames(std::string mark) : mark_(std::move(mark)) {}

  std::string Take(const std::string& name);
  // False where it is taken.
  bool TakeAsItIs(const std::string& name) { return taken_.insert(name).second; }
  void GiveBack(const std::string& name);

 private:
  std::string mark_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;  // lower numbers of the name are taken
};

}  // namespace hopper
