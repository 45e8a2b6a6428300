// What the functions of libhopper_torch.so's tables begin and end with.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "capi/boundary.h"
#include "capi/structs.h"
#include "engine/failure.h"

namespace hopper {

// Functions that fail with a code.
template <typename Body>
int Call(hopper_error* error, const Body& body) {
  return Guard(error, body, DescribeException);
}

// What models are trained on or applied to.
inline DataDesc CheckedFromC(const hopper_data_desc& data) {
  DataDesc desc = FromC(data);
  desc.Check();
  return desc;
}

// None: there is no such table.
inline std::optional<DataDesc> CheckedFromC(const hopper_data_desc* data) {
  if (data == nullptr) return std::nullopt;
  return CheckedFromC(*data);
}

// The segment of each partition; none for a run of one process.
inline std::vector<int32_t> KeysOf(const int32_t* keys, const std::optional<DataDesc>& data) {
  if (keys == nullptr || !data.has_value()) return {};
  return {keys, keys + data->n_partitions};
}

}  // namespace hopper
