// What a run would take, without running it: a few steps of each distinct configuration are timed
// on made-up examples, and the engine's schedule is played through with those times.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "engine/configuration.h"
#include "engine/memory_plan.h"
#include "engine/training_options.h"
#include "schedule/forecast.h"
#include "schedule/ring.h"
#include "train/trainer.h"

namespace hopper {

// Costs that a forecast cannot measure by itself.
struct ExplainCosts {
  double read_bytes_per_second = 0.0;  // packed data into memory, by one process
  double statement = 0.0;  // seconds of a hop statement without its training; segments only
  double hop_bytes_per_second = 0.0;  // states through a hop statement; segments only
  double patience = 0.0;              // SegmentPlaces::patience, where all data fit; segments only
  double seconds = 0.0;               // for the calibration, in all
  int32_t threads_per_segment = 0;    // segments only
};

// One configuration.
struct ExplainedModel {
  int32_t mst_key = 0;
  std::optional<Problem> problem;  // why it would fail
  int64_t n_parameters = 0;
  int64_t bytes_state = 0;
  int64_t bytes_task = 0;           // beside the state, while it trains or is evaluated
  int64_t steps = 0;                // of one iteration
  bool measured = false;            // its steps were; else reckoned from another model's
  double seconds_step = 0.0;        // of a full batch
  double seconds_iteration = 0.0;   // of training, on one worker
  double seconds_evaluation = 0.0;  // on one worker: training data
  double seconds_validation = 0.0;
  double seconds_evaluating = 0.0;  // of the whole run, on one worker
  int64_t n_passes = 0;             // over the training data in one iteration
};

// The whole run. Seconds by cause are sums over workers; `seconds` is what the clock shows.
struct ExplainedRun {
  int32_t n_workers = 0;
  int64_t bytes_data = 0;
  int64_t bytes_models = 0;  // all states, and what trains at the same time
  double seconds_calibrating = 0.0;
  double seconds = 0.0;
  double seconds_read = 0.0;
  double seconds_wait = 0.0;  // workers without work
  double seconds_hop = 0.0;
  double seconds_train = 0.0;
  double seconds_evaluate = 0.0;
  double idle_share = 0.0;  // of the workers' time
};

// What explain_fit() shows: a number that was predicted beside the one that was measured.
struct ExplainedLine {
  const char* item = nullptr;
  std::optional<int32_t> mst_key;  // none: it is the run's
  std::optional<double> predicted;
  std::optional<double> measured;
  const char* unit = nullptr;
};

// Functions are for one thread, the caller's. Results are valid once Poll() was true.
class Explain {
 public:
  // `train_keys` and `valid_keys` name the segment of each partition; both empty: one process.
  Explain(const TrainingBackend& backend, const TrainingOptions& options, const DataDesc& train,
          const DataDesc* valid, std::vector<int32_t> train_keys, std::vector<int32_t> valid_keys,
          const ExplainCosts& costs);
  ~Explain();  // cancels and joins
  Explain(const Explain&) = delete;
  Explain& operator=(const Explain&) = delete;
  // What computes.
  const TrainingBackend& backend() const { return backend_; }

  // A configuration that could not be trained is the result's problem, not the call's.
  void AddConfig(const ConfigSource& config);
  void Start();
  // Throws what the calibration could not handle.
  bool Poll();
  // `index`: in the order of AddConfig().
  const ExplainedModel& Model(int32_t index) const;
  const ExplainedRun& Run() const { return run_; }
  // Of the run, then of each configuration. `measured`: what a run took that has ended, and worker
  // seconds of each model; null: not known. (engine/explained_lines.cpp)
  std::vector<ExplainedLine> Lines(const ExplainedRun* measured, const double* trained,
                                   const double* evaluated) const;

 private:
  // Seconds of one distinct configuration; a visit of n steps takes setup + n * step. Beside them,
  // what the frozen part of a model gives of an example.
  struct Pace {
    bool measured = false;
    double setup = 0.0;
    double step = 0.0;        // a full batch
    double evaluation = 0.0;  // an example
    double feature = 0.0;     // an example
  };
  struct Entry {
    std::unique_ptr<const Trainer> trainer;  // null: `model.problem` says why
    ModelMemory memory;
    ExplainedModel model;
    int64_t epochs = 1;
    int visits_together = 1;
    std::string kind;  // equal for configurations of equal pace
    Pace pace;
  };

  void AddLinesOfRun(const ExplainedRun* measured, std::vector<ExplainedLine>* lines) const;
  void Work();
  void Calibrate();
  Pace MeasureAlone(const Entry& entry, double seconds) const;
  Pace Measure(const Trainer& trainer, double seconds) const;
  void Finish();
  void Predict();
  // Seconds of one model on one worker, from its pace.
  void PredictModel(double kept, Entry* entry) const;
  // Of one model on the schedule, whose frozen part gives an example's features in `once` seconds
  // that are spent in its first visit and evaluation.
  ModelCost CostOf(const Entry& entry, double once) const;
  void PredictRun(const std::vector<ModelCost>& costs);
  // The memory of the run, as the engines plan it. Each segment is taken with the models that begin
  // there, though it plans for all groups of models that pass by; where each has all data, one with
  // all models, as it plans for them.
  struct Plans {
    int64_t models = 0;          // of all processes
    bool resident = true;        // in each of them
    bool together = true;        // all models are there at a time
    double kept_features = 0.0;  // of what frozen parts give, from the first iteration on: 0 to 1
  };
  Plans PlanMemories() const;
  // The process's partitions; `key`: its segment.
  std::vector<int32_t> PartitionsOf(int split, int32_t key) const;
  const DataDesc* DataOf(int split) const { return split == kTrainSplit ? &train_ : valid_.get(); }
  bool HasAllData() const { return !OnSegments() || places_.patience > 0.0; }
  bool OnSegments() const { return !places_.keys.of[kTrainSplit].empty(); }
  int32_t OwnWorkers() const;  // of the process, or of each segment
  int64_t RowsOfPartition() const {
    return PartitionRange(train_.n_rows, train_.n_partitions, 0).count;
  }

  const TrainingBackend& backend_;
  const TrainingOptions options_;
  const DataDesc train_;
  std::unique_ptr<const DataDesc> valid_;
  SegmentPlaces places_;
  const ExplainCosts costs_;
  const RunRules rules_;
  const Ring ring_;
  const Precision precision_;
  const int32_t threads_per_model_;
  OwnedAccount account_;
  int64_t largest_partition_ = 0;  // bytes; the engines train nobody who does not fit beside it
  std::vector<Entry> entries_;
  Networks networks_;
  Plans plans_;
  ExplainedRun run_;

  std::atomic<bool> cancel_{false};
  std::atomic<bool> ended_{false};
  bool started_ = false;
  std::optional<Problem> failure_;
  Workers workers_;  // last: joined before anything above goes
};

}  // namespace hopper
