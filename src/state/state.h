// Everything a model needs to go on training, and its flat image.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/hash.h"
#include "state/monitor_state.h"

namespace hopper {

// Where a model's floats lie in its buffers; made by StateLayoutOf(spec) in model/spec.h.
struct StateLayout {
  struct Weight {
    int64_t offset = 0;        // in the parameter buffer
    int64_t size = 0;          // floats, without padding
    int64_t slot_offset = -1;  // in each slot array; -1: not trainable
  };
  Digest architecture;          // ModelSpec::hash
  std::vector<Weight> weights;  // in Keras' get_weights() order
  int64_t flat_size = 0;        // floats of the parameter buffer, padding included
  int64_t slot_size = 0;        // floats of one slot array, padding included
};

struct ModelState {
  Digest architecture;         // ModelSpec::hash
  std::string numerics_class;  // where its bits were made
  std::string optimizer;       // OptimizerName(); slots of another optimizer are of no use
  int32_t n_slots = 0;
  int64_t iteration = 0;       // finished iterations
  int64_t step = 0;            // optimizer steps
  int64_t examples = 0;        // examples trained on
  AlignedArray<float> params;  // StateLayout::flat_size
  AlignedArray<float> slots;   // n_slots * StateLayout::slot_size
  MonitorState monitor;

  ModelState Clone() const;
};

// Image, version 1: magic, version, architecture hash, numerics class, counters, optimizer, then
// parameters and slots in the order of StateLayout::weights without padding, then a checksum.
// Version 2 has the monitor state behind the slots; it is written where there is one.
// Little-endian, no addresses: equal training gives equal bytes.
std::vector<uint8_t> WriteState(const StateLayout& layout, const ModelState& state);

// Throws kCorrupt for a damaged image, kInvalidParameter for one of another architecture.
ModelState ReadState(const StateLayout& layout, const uint8_t* image, size_t size);

// Checksum and structure without a layout; the digest of the image.
Digest VerifyState(const uint8_t* image, size_t size);

}  // namespace hopper
