// What the places of an encoded row are to a network that is written for it.
#pragma once

#include <cstdint>
#include <vector>

namespace hopper {

// Of a column of ids: the first of its places in a row, how many ids there are, and how many
// places it has, which share them.
struct RecipeIds {
  int64_t place;
  int64_t count;
  int64_t length;
  bool of_words = false;
};

// Places from 0 on, in order; what is not named is a number.
struct RowLayout {
  std::vector<RecipeIds> ids;
  std::vector<int64_t> one_hot;  // and indicators
};

}  // namespace hopper
