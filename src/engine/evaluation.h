// One model over a packed table: loss and metrics with fixed weights, a task a partition. Under a
// memory limit partitions come and go while it works.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/error.h"
#include "data/dataset.h"
#include "engine/configuration.h"
#include "engine/events.h"
#include "model/weights/import.h"
#include "train/backend.h"
#include "train/trainer.h"

namespace hopper {

// For one thread, the caller's. The values equal those of a run's evaluation pass over the same
// table, bit for bit.
class Evaluation {
 public:
  // The weights are the configuration's, or those of its state; without either come
  // config.n_weights by AddWeights().
  Evaluation(const TrainingBackend& backend, const ConfigSource& config, const DataDesc& data,
             int32_t threads, int32_t event_fd);
  ~Evaluation();  // cancels and joins
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;
  // What computes.
  const TrainingBackend& backend() const { return backend_; }

  // Floats of Keras' get_weights() in pieces of any size, in order, before Start(). Throws the
  // users' message where one of them is not finite.
  void AddWeights(const float* weights, int64_t n);

  // Before Start(); partitions then come after it, in their order, each once Room() says so, and go
  // when they are evaluated. Throws kOutOfMemory where not even one fits beside the model.
  void Limit(int64_t memory_limit);
  // Whether `partition` may come; the number of partitions: whether all have come. Throws where one
  // before it lacks rows, and what a worker threw.
  bool Room(int partition);
  // Before Limit() and the first buffer: only these partitions come to this process. They must
  // ascend.
  void Choose(std::vector<int32_t> partitions);
  void AddBuffer(const PackedBuffer& buffer);
  void Start();
  // True and loss and metrics when all is done, false before; throws what a worker threw.
  bool Poll(Event* event);
  // Poll() with the sums of the chosen partitions, for Total().
  bool Sums(const uint8_t** bytes, size_t* size);
  // Loss and metrics of the sums of all partitions, which several processes gave, in any order;
  // nothing has to be started. Throws kCorrupt where a partition is missing.
  void Total(const uint8_t* bytes, size_t size, Event* event);
  // After Poll() or Total(), where the configuration asks for it: *n x *n numbers of examples, a
  // row a label and a column a prediction; valid as long as this.
  const int64_t* Confusion(int32_t* n) const;

 private:
  void Work();
  bool IsChosen(int32_t partition) const;
  bool Evaluate(int partition, MetricSums* sums, Problem* problem);
  bool Finished() const;
  void Finish(const std::vector<MetricSums>& sums, Event* event);
  int64_t SumCount() const;  // of all metrics, in one partition
  int64_t OutputUnits() const;

  const TrainingBackend& backend_;
  Dataset data_;
  bool confusion_;
  std::vector<int64_t> matrix_;
  int32_t threads_;
  int32_t event_fd_;
  std::unique_ptr<const Trainer> trainer_;
  ModelState state_;
  std::optional<WeightsImport> import_;  // into state_, where its weights come in pieces
  OwnedAccount account_;
  std::atomic<bool> cancel_{false};
  std::vector<int32_t> chosen_;  // the partitions of this process
  std::vector<uint8_t> bytes_;   // of their sums
  bool started_ = false;
  bool limited_ = false;
  int64_t room_ = 0;  // bytes for partitions where they come in turns
  double start_time_ = 0.0;

  std::mutex mutex_;  // guards all that follows, and data_ where partitions come in turns
  std::condition_variable wake_;
  std::deque<int> ready_;  // partitions that wait for a worker
  size_t taken_ = 0;
  int come_ = 0;  // partitions before it are complete
  std::vector<MetricSums> sums_;
  size_t unfinished_ = 0;
  std::optional<Problem> failure_;

  Workers workers_;  // last: joined before anything above goes
};

}  // namespace hopper
