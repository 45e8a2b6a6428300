// A model while a group has it.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "engine/group.h"

namespace hopper {

struct Group::Traveller {
  int32_t key = 0;
  size_t index = 0;                  // of those of a segment
  const Trainer* trainer = nullptr;  // null: its configuration could not be read
  ModelStatus status = ModelStatus::kTraining;
  Problem failure;

  ModelMemory memory;
  RunRules rules;
  int32_t until = 0;  // as Until(), from its arrival on
  Course course;
  Watching watching;
  bool evaluating = false;  // what was ordered is not complete: the final pass, or the iteration's
  Observed observed;        // while it is deciding
  int64_t total_iterations = 0;
  Spent spent;
  MetricSums running;
  std::map<std::pair<int32_t, int32_t>, MetricSums> passed;  // by split and partition
  std::vector<Event> events;
  int32_t hop = 0;                  // segments visited before in this iteration
  std::vector<VisitRecord> visits;  // of this iteration
  bool has_state = false;           // false: the first visit makes the initial one
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
