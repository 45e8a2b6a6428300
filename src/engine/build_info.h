// What this build of the library is and which machine it found, for build_info().
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hopper {

// Name and value of each property, in the order in which they are shown.
std::vector<std::pair<std::string, std::string>> BuildInfo();

}  // namespace hopper
