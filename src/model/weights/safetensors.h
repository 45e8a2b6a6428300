// Weights as a .safetensors file: the length of a header (8 bytes, little-endian), the header as
// JSON (name -> dtype, shape, data_offsets; "__metadata__"), the tensors.
// https://github.com/huggingface/safetensors#format
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/spec.h"

namespace hopper {

// The weights' names in a file, "<layer>/<weight>", in get_weights() order; each is another one.
std::vector<std::string> TensorNames(const ModelSpec& spec);

// The header of spec.parameters float32 values in get_weights() order. The metadata have the
// architecture, `json`.
std::string SafetensorsHeader(const ModelSpec& spec, std::string_view json);

// Fills `keras` (spec.parameters floats, get_weights() order) from a file of F32, F64, F16 or BF16
// tensors: those of the model's names or, where the file has other names, all in the order in which
// they lie in it. Throws Error, which names the weight, where shapes differ, where the file is not
// one, its tensors overlap or leave it, or a value is not finite.
void ReadSafetensors(const ModelSpec& spec, std::string_view bytes, float* keras);

}  // namespace hopper
