// What the functions of engines begin and end with.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "capi/boundary.h"
#include "capi/structs.h"
#include "train/backend.h"

namespace hopper {

// Puts exceptions into words as `backend` does.
inline auto By(const TrainingBackend& backend) {
  return [&backend] { return backend.Describe(); };
}

// Guard() and Ask() of a function of `handle`, whose backend describes what its parts throw.
template <typename Handle, typename Body>
int Call(const Handle* handle, hopper_error* error, const Body& body) {
  return handle == nullptr ? Guard(error, body) : Guard(error, body, By(handle->backend()));
}
template <typename Handle, typename Body>
int AskOf(const Handle* handle, hopper_error* error, const Body& body) {
  return handle == nullptr ? Ask(error, body) : Ask(error, body, By(handle->backend()));
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
