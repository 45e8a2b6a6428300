// A model while a group has it.
#pragma once

#include <utility>
#include <vector>

#include "base/bytes.h"
#include "engine/segments/envelope.h"
#include "engine/segments/group.h"

namespace hopper {

// With what it brought along, beside its state, and takes along.
struct Group::Traveller : EnvelopeHead {
  int32_t key = 0;
  size_t index = 0;                  // of those of a segment
  const Trainer* trainer = nullptr;  // null: its configuration could not be read

  ModelMemory memory;
  RunRules rules;
  int32_t until = 0;  // as Until(), from its arrival on
  Watching watching;
  ModelState state;

  bool here = false;  // its envelope has come in
  bool busy = false;  // a worker has it
  bool packed = false;
  std::string lane_key;    // on a GPU: LaneKey()
  bool on_device = false;  // the state's copy on the segment's GPU is that of its latest visit here
  std::vector<std::pair<int, int>> wanted;  // of the window, for evaluations: split and partition

  int32_t next_key = 0;
  std::vector<uint8_t> out;
  AlignedArray<float> weights;
  TrainingResult result;
};

}  // namespace hopper
