// One visit: a model trains over a partition, step by step; and evaluation and prediction with
// fixed weights.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "model/planned/planned_network.h"
#include "optim/optimizer.h"
#include "params/params.h"
#include "params/precision.h"
#include "state/state.h"
#include "train/initial_weights.h"
#include "train/metric_sums.h"
#include "train/stopping.h"

namespace hopper {

class TrainingBackend;
struct Objective;

enum class VisitEnd { kDone, kCancelled, kNotFinite };

// All that is fixed for one configuration. Immutable and thread-safe; states are the caller's.
class Trainer {
 public:
  // `backend` outlives it and has made the network; `unplanned`: of whose layers libtorch computes
  // some.
  Trainer(std::shared_ptr<const PlannedNetwork> network, CompileParams compile, FitParams fit,
          const DataDesc& data, const TrainingBackend& backend, uint64_t run_seed,
          Precision precision = Precision::kFp32, const std::string& watched_data = "",
          bool unplanned = false);

  // The configuration's seed, or the run's.
  uint64_t seed() const { return seed_; }
  const PlannedNetwork& network() const { return *network_; }
  const std::shared_ptr<const PlannedNetwork>& shared_network() const { return network_; }
  const TrainingBackend& backend() const { return backend_; }
  // Whether libtorch computes a part, of which the numerics class tells then.
  bool needs_torch() const { return needs_torch_; }
  const CompileParams& compile() const { return compile_; }
  const FitParams& fit() const { return fit_; }
  const Stopping& stopping() const { return stopping_; }
  // What a model is evaluated by, and what it trains for: they differ where members of an ensemble
  // have losses of their own.
  const Objective& objective() const { return *objective_; }
  const Objective& training_objective() const { return *training_objective_; }

  // Initial weights (or `keras_weights` of spec().parameters floats, may be null), zero slots.
  ModelState InitialState(const float* keras_weights, const std::string& numerics_class) const;
  // The state of a configuration that starts anew in a run; false where `cancel` ended it.
  bool MakeState(InitialWeights* weights, const std::atomic<bool>& cancel,
                 const std::string& numerics_class, ModelState* state) const;

  // The weights to evaluate and to hand out, spec().flat_size floats: the state's, or their moving
  // averages where the optimizer keeps some. The state keeps both, to train on with.
  AlignedArray<float> KeptWeights(const ModelState& state) const;

  // Whether a finished model has the weights of its best iteration: the configuration asks for
  // them, and there is one.
  bool DeliversBest(const ModelState& state) const;
  // The weights of a finished model: those of its best iteration where DeliversBest() (*iteration
  // says which; it may be null), else KeptWeights().
  AlignedArray<float> DeliveredWeights(const ModelState& state, int64_t* iteration) const;
  // Which iteration's they are, counted over warm starts.
  int64_t DeliveredIteration(const ModelState& state) const;
  // What is evaluated, DeliveredWeights() or KeptWeights(): the state's own, or *copy where they
  // have to be computed. Valid as long as both are.
  const float* WeightsToEvaluate(const ModelState& state, bool delivered,
                                 AlignedArray<float>* copy) const;

  // DeliveredWeights() of a state that is not needed any more: makes no copy, and frees the rest.
  AlignedArray<float> TakeWeights(ModelState* state) const;

  // Trains `fit.epochs` passes over one partition in iteration `state->iteration`, adding the
  // running loss (weighted by class) and metrics to `sums`; without `metrics` only the loss is
  // taken. Looks at `cancel` between batches. kNotFinite: the loss or a weight is NaN or infinite
  // (sums->loss tells which); the state is then not to be used. The caller counts
  // state->iteration up when all partitions were visited.
  VisitEnd Visit(ModelState* state, const Partition& data, int partition,
                 const std::atomic<bool>& cancel, MetricSums* sums, bool metrics = true) const;

  // Loss and metrics of fixed weights (spec().flat_size floats) over one partition, in batches
  // of one fixed size, summed per buffer; in fp32 whatever the precision of training. `frozen`:
  // FrozenOf() a state with the same frozen weights, where that is known.
  VisitEnd Evaluate(const float* flat, const Partition& data, const std::atomic<bool>& cancel,
                    MetricSums* sums, const std::optional<Digest>& frozen = std::nullopt) const;

  // A digest of the frozen part and its weights, by which partitions keep what it gives; taken once
  // of a state, whose weights those are in all its training. Nothing where no part is apart.
  const std::optional<Digest>& FrozenOf(ModelState* state) const;
  // Has the partition keep what the frozen part makes of its rows, as far as it keeps any; false:
  // cancelled.
  bool KeepFeatures(ModelState* state, const Partition& data,
                    const std::atomic<bool>& cancel) const;
  // What is trained in steps: the model, or what is behind its frozen part.
  const ModelSpec& SteppedSpec() const;

  // The metrics' values of their sums, and the mean loss.
  void Finish(const MetricSums& sums, double* loss, std::vector<double>* metrics) const;

  // Bytes that training and evaluation need: the state, and what is larger, a visit or an
  // evaluation. `parts`: threads that share the work.
  int64_t MemoryEstimate(int parts = 1) const;
  // Bytes that an evaluation needs beside the weights.
  int64_t EvaluationEstimate() const;
  // Bytes of the state alone.
  int64_t StateBytes() const;
  // Bytes of the features of so many rows; 0 where nothing of the model is frozen.
  int64_t FeatureBytes(int64_t rows) const;
  // Bytes of the sums of one MetricSums; some metrics have the square of the classes' number.
  int64_t SumsBytes() const;

 private:
  ModelState EmptyState(const std::string& numerics_class) const;
  double BatchBytes(int64_t batch) const;
  double PlanBytes(int64_t batch, bool training, int parts) const;
  double VisitBytes(int parts) const;
  double InitializationBytes() const;

  // features.cpp
  void MakeHead(uint64_t run_seed);
  DataDesc FeatureDesc() const;
  Digest FrozenDigest(const float* flat) const;
  double PrefixBytes() const;
  FeatureStore::Features ComputeFeatures(const float* flat, const Partition& data,
                                         const std::atomic<bool>& cancel) const;
  // `frozen`: null where it is not known. Null: cancelled.
  FeatureStore::Features FeaturesOf(const float* flat, const std::optional<Digest>& frozen,
                                    const Partition& data, const std::atomic<bool>& cancel) const;

  std::shared_ptr<const PlannedNetwork> network_;
  const TrainingBackend& backend_;
  CompileParams compile_;
  FitParams fit_;
  Stopping stopping_;
  DataDesc data_;
  uint64_t seed_;
  std::vector<TrainableSpan> spans_;
  std::vector<std::pair<int64_t, int64_t>> changing_;  // ChangingWeights()
  std::string loss_text_;                              // LossText()
  std::vector<float> class_weights_;                   // empty: all 1
  Precision precision_;                                // of training; evaluation is in fp32
  std::shared_ptr<const Objective> objective_;
  std::shared_ptr<const Objective> training_objective_;
  bool needs_torch_;
  // Trains and evaluates on features what is behind the frozen part; null: nothing is frozen.
  std::unique_ptr<const Trainer> head_;
};

// Whether trainers made from now on compute what is frozen apart; benchmarks compare.
void UseFrozenPrefixes(bool use);
// How often weights of frozen parts were digested since the start.
int64_t FrozenDigests();

// "kernels 11 (gcc 12.2.0, 1a2b3c4d), AVX512, fp32, planned, 1 thread": equal classes give equal
// bits. The digits are NumericsCheck(). bf16 is "bf16 emulated" where the processor does not
// multiply bfloat16 numbers itself, and "bf16 AMX" where it does so in tiles. `threads` share the
// arithmetic of one model. `torch`: TrainingBackend::Numerics() of one that computes a part of it,
// which stands behind the kernels; empty: planned steps and loops compute all.
std::string NumericsClass(const std::string& precision, int threads = 1,
                          const std::string& torch = "");
// Whether `older` is what version 0.1 called the class `here`: without its beginning, so that the
// bits may be others.
bool IsOlderNameOf(const std::string& older, const std::string& here);
// Whether products of that precision are computed in another one here, slower.
bool IsEmulated(Precision precision);
// How many times as fast as in fp32 this processor makes products, measured once a process.
double Gain(Precision precision);

}  // namespace hopper
