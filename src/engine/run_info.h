// What a run says of itself: how its data and models share the memory limit, and where time and
// memory went.
#pragma once

#include <cstdint>
#include <string>

namespace hopper {

// Data that do not fit beside the models are read a partition at a time, in the order of the ring;
// each reading serves every model that is due. Bytes.
struct DataPlan {
  bool resident = true;      // all data stay in memory and come before the start
  int32_t max_reads = 1;     // how often a partition is read at most
  int64_t bytes_data = 0;    // training and validation data as they lie in memory
  int64_t bytes_models = 0;  // states, kept weights, and what the threads work with
  int64_t bytes_window = 0;  // left for partitions
  // Configurations that begin when others have ended; of a segment, the most that may meet there
  // where not all of them fit together, so that some wait.
  int32_t n_waiting = 0;
  // What the server may have to put into files, about: results that are taken early to make room
  // for them; of a segment, the models that one hop brings to it.
  int64_t bytes_aside = 0;
};

struct RunInfo {
  int64_t bytes_data = 0;  // packed data in memory
  int64_t bytes_models = 0;
  double seconds_busy = 0.0;  // sum over workers
  double seconds_wall = 0.0;
  std::string numerics_class;
  int64_t bytes_read = 0;        // of packed data, every reading of a partition counted
  int64_t n_loads = 0;           // partitions read
  double seconds_reading = 0.0;  // from the demand for a partition until it was there
  int32_t n_workers = 0;         // that trained at the same time
  double seconds_hop = 0.0;      // sum over workers: between two visits, not idle
  // Of the schedule: tasks that threads took, steps under the lock to find them, and how often a
  // thread that had nothing to do was woken.
  int64_t n_tasks = 0;
  int64_t n_steps = 0;
  int64_t n_wakes = 0;
};

}  // namespace hopper
