// What is told of libtorch and CUDA, for build_info().
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hopper {

// Name and value of each property, in the order in which they are shown.
std::vector<std::pair<std::string, std::string>> TorchBuildInfo();

}  // namespace hopper
