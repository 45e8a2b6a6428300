// What a training run is told beside its data and its configurations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "params/precision.h"
#include "schedule/course.h"

namespace hopper {

// Numbers are as the caller gave them; RulesOf() refuses those that cannot be.
struct TrainingOptions {
  uint64_t seed = 0;
  RunRules rules;  // all but the partitions
  int32_t threads = 1;
  // Threads that share the arithmetic of one model's visit; part of the numerics class.
  int32_t threads_per_model = 1;
  std::vector<int> starts = {0};  // first partition of each run of partitions, for Ring
  int64_t memory_limit = 0;       // bytes, for data and models together
  Precision precision = Precision::kFp32;
  // What tells its data, those of validation with them, from others: what early stopping counted on
  // others counts no more.
  std::string data_name;
  bool mix_numerics = false;  // warm start from a state of another numerics class
  int event_fd = -1;      // eventfd that is written to when there is something to take; not owned
  bool use_gpus = false;  // the workers are GPUs:
  std::vector<int> gpus;  // to use, by their index; empty: all
  bool fuse = true;       // models of one shape train side by side
  // Of a group: the number of its process among those of its host, from 0. It takes one GPU: that
  // one of `gpus`, modulo their number.
  int32_t device_number = 0;
};

}  // namespace hopper
