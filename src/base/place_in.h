// Where a type stands in a list of types, such as a row in a table.
#pragma once

#include <type_traits>

namespace hopper {

template <typename T, template <typename...> class List, typename... All>
constexpr int PlaceIn(List<All...> /*list*/) {
  int place = 0;
  (void)((std::is_same_v<T, All> || (++place, false)) || ...);
  return place;
}

}  // namespace hopper
