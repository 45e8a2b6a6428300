// What a run would take, without running it: a few steps of each distinct configuration are timed
// on made-up examples, and the engine's schedule is played through with those times.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "engine/configuration.h"
#include "engine/workers.h"
#include "model_hopper/config.h"
#include "model_hopper/data.h"
#include "model_hopper/forecast.h"
#include "model_hopper/training.h"
#include "schedule/forecast.h"
#include "schedule/ring.h"
#include "train/trainer.h"

namespace hopper {

// Functions are for one thread, the caller's. Results are valid once Poll() was true.
class Explain {
 public:
  // `train_keys` and `valid_keys` name the segment of each partition; both empty: one process.
  Explain(const hopper_run_options& options, const hopper_data_desc& train,
          const hopper_data_desc* valid, std::vector<int32_t> train_keys,
          std::vector<int32_t> valid_keys, const hopper_explain_costs& costs);
  ~Explain();  // cancels and joins
  Explain(const Explain&) = delete;
  Explain& operator=(const Explain&) = delete;

  // A configuration that could not be trained is the result's problem, not the call's.
  void AddConfig(const hopper_config& config);
  void Start();
  // Throws what the calibration could not handle.
  bool Poll();
  void Model(int32_t index, hopper_explain_model* model) const;
  void Run(hopper_explain_run* run) const { *run = run_; }

 private:
  // Seconds of one distinct configuration; a visit of n steps takes setup + n * step.
  struct Pace {
    bool measured = false;
    double setup = 0.0;
    double step = 0.0;        // a full batch
    double evaluation = 0.0;  // an example
  };
  struct Entry {
    std::unique_ptr<const Trainer> trainer;  // null: `model.problem` says why
    hopper_explain_model model = {};
    int64_t epochs = 1;
    std::string kind;  // equal for configurations of equal pace
    Pace pace;
  };

  void Work();
  void Calibrate();
  Pace Measure(const Trainer& trainer, double seconds) const;
  void Reckon();
  void Predict();
  int64_t RowsOfPartition() const {
    return PartitionRange(train_.n_rows, train_.n_partitions, 0).count;
  }

  const hopper_run_options options_;
  const DataDesc train_;
  std::unique_ptr<const DataDesc> valid_;
  SegmentPlaces places_;
  const hopper_explain_costs costs_;
  const RunRules rules_;
  const Ring ring_;
  const Precision precision_;
  const int32_t threads_per_model_;
  OwnedAccount account_;
  std::vector<Entry> entries_;
  Networks networks_;
  hopper_explain_run run_ = {};

  std::atomic<bool> cancel_{false};
  std::atomic<bool> ended_{false};
  bool started_ = false;
  bool failed_ = false;
  Problem failure_;
  Workers workers_;  // last: joined before anything above goes
};

}  // namespace hopper
