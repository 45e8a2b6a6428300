// What a Keras model asks of the columns of a table that are its inputs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hopper {

struct ModelColumn {
  std::string name;  // of the input, and of its column
  int64_t slots;     // how many numbers it has; -1: the data say
  // A treatment of the column, as JSON, which makes of its values what the network reads.
  std::string treatment;
  bool is_prepared;  // a layer of the model needs this treatment, no other one will do
};

// The inputs in the model's order. `has_weights`: Normalization that adapt() fills has its numbers
// among them; else packing standardises what is read by such layers alone. Throws Error where the
// architecture is wrong.
std::vector<ModelColumn> ColumnsOfModel(std::string_view json, bool has_weights);

}  // namespace hopper
