// What libtorch computes in this process, as a short text.
#pragma once

#include <string>

namespace hopper {

// Eight digits as NumericsCheck()'s: of the forward passes of the same networks, and of two steps
// of convolutions that have no planned form.
const std::string& TorchNumericsCheck();

}  // namespace hopper
