// Which labels of the data belong to which output of a model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/outputs.h"

namespace hopper {

// The labels of the output at `at` of a model with the outputs `names`: a place among
// `labels`, or nothing. They are found by its name (LabelsOf()); where no output has the name of
// any labels and there are as many of both, by the order.
std::optional<size_t> LabelPlace(const std::vector<std::string>& names, size_t at,
                                 const std::vector<DataOutput>& labels);

}  // namespace hopper
