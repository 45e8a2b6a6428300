// What users of other tools type for things that have another name here. Unknown names get them as
// hints; they are not understood, so that one thing keeps one name in configurations and results.
#pragma once

#include <string>

#include "base/error.h"

namespace hopper {

const OtherNames& OtherLossNames();
const OtherNames& OtherMetricNames();
const OtherNames& OtherCompileKeys();
const OtherNames& OtherFitKeys();
const OtherNames& OtherOptimizerArguments();
const OtherNames& OtherLayerNames();
const OtherNames& OtherLayerArguments();
const OtherNames& OtherActivationNames();
const OtherNames& OtherInitializerNames();

// Right names in the wrong of the two texts.
bool IsCompileArgument(const std::string& key);
bool IsFitArgument(const std::string& key);

}  // namespace hopper
