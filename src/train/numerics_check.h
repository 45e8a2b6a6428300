// What this process computes, as a short text: libraries choose code by processor model, vendor
// and environment variables, and compilers and versions of ours round differently.
#pragma once

#include <string>

namespace hopper {

// Eight hexadecimal digits: a checksum of two steps of small networks in fp32 and in bf16, with
// their forward pass by libtorch beside it. Computed once a process, in some hundredths of a
// second, on a thread of its own that leaves nothing behind.
const std::string& NumericsCheck();

}  // namespace hopper
