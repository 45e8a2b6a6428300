// What models of a search's results learn from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/journal.h"

namespace hopper {

struct ModelHistory {
  int64_t resource = 0;           // at which results are compared
  std::vector<int64_t> finished;  // trials with a result there, in their order
  std::vector<Standing> standings;
  std::vector<int64_t> running;  // without one, under way
};

// Of results at different resources those at the largest count that at least `enough` trials have
// (BOHB, section 3.2), at the largest that has any where none has so many. Failures count.
ModelHistory HistoryOf(const SearchJournal& journal, size_t enough);

}  // namespace hopper
