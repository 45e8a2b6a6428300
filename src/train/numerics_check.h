// What this process computes, as a short text: libraries choose code by processor model, vendor
// and environment variables, and compilers and versions of ours round differently.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "model/planned/planned_network.h"
#include "params/precision.h"

namespace hopper {

// Eight hexadecimal digits: a checksum of two planned steps of small networks in fp32 and in bf16.
// Computed once a process, in some hundredths of a second.
const std::string& NumericsCheck();

// For checks of other arithmetic: the networks, as Keras' JSON,
std::vector<std::string> CheckModels();
// two steps of one in a plan, whose numbers go into `result`,
void ComputeCheck(const PlannedNetwork& network, Precision precision, ByteWriter* result);
// and the digits of what `compute` writes, on a thread of its own that leaves nothing behind.
std::string DigitsOf(const std::function<void(ByteWriter*)>& compute);

}  // namespace hopper
