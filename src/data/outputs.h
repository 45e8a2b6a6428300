// What a model is to learn of one example: one label, or several that have names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model_hopper/data.h"

namespace hopper {

struct DataOutput {
  std::string name;  // of the architecture's output; a single output needs none
  std::string column;
  int32_t kind = HOPPER_LABEL_VALUE;
  std::vector<int64_t> shape;  // HOPPER_LABEL_ARRAY
  int32_t num_classes = 0;
  std::vector<std::string> class_values;
  int64_t first = 0;  // its place among the labels of an example
  int64_t size = 1;   // values there
};

// The outputs of packed data, at least one. Throws Error where they cannot be any.
std::vector<DataOutput> OutputsOf(const hopper_data_desc& desc);

// Whose labels are those of a model's output: a place among `outputs`, or nothing. They are found
// by its name; the only ones are those of the only output, whatever their name.
std::optional<size_t> LabelsOf(const std::string& output, size_t n_model_outputs,
                               const std::vector<DataOutput>& outputs);

}  // namespace hopper
