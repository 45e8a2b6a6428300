// Models of one architecture that train side by side on a device: a fixed number of lanes, some of
// which may be padding.
//
// All lanes share the architecture, batch size, loss, metrics and class weights; each has weights,
// optimizer (of any kind), learning rate, moments, step counter, seed and order of examples of its
// own. Nothing that a lane computes depends on what the others hold. A step is a fixed list of
// device work on fixed memory, recorded where the device can record it (a CUDA graph); what changes
// from step to step lies in tables on the device, and the host looks at results once a visit.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "autograd/lane_data.h"
#include "autograd/lane_device.h"
#include "autograd/tensor_objective.h"
#include "model/network/lanes.h"
#include "train/trainer.h"

namespace hopper {

struct LaneOptions {
  int lanes = 1;
  std::string precision = "fp32";  // "tf32" is the device's own; "bf16": float32 masters
};

// What one lane trains in a visit.
struct LaneVisit {
  const Trainer* trainer = nullptr;
  ModelState* state = nullptr;  // its counters are read and moved on; buffers are for Save()
  int partition = 0;
  MetricSums sums;
  VisitEnd end = VisitEnd::kDone;
};

// Trainers that can share an array have equal keys. `data` is what they train on, as below.
std::string LaneKey(const Trainer& trainer, const DataDesc& data);

// How many lanes an array has: as many models as a device needs to be busy with one step, between
// 4 and 32, fewer where they would not fit into half of `memory` bytes (-1: no limit). Depends on
// nothing else, never on how many models there are.
int LaneCount(const Trainer& trainer, const DataDesc& data, const std::string& precision,
              int64_t memory);
// Bytes on the device, without data.
int64_t LaneBytes(const Trainer& trainer, const DataDesc& data, const std::string& precision,
                  int lanes);

// Used by one thread, the one that has entered `device`.
class LaneArray {
 public:
  // `trainer` is any that shares the LaneKey(); it, `device` and the data of visits outlive the
  // array.
  LaneArray(const Trainer& trainer, const DataDesc& data, const LaneOptions& options,
            LaneDevice* device);
  ~LaneArray();
  LaneArray(const LaneArray&) = delete;
  LaneArray& operator=(const LaneArray&) = delete;

  int lanes() const { return lanes_; }

  // Weights and slots of a lane, from the host and back. A lane that was never loaded computes
  // with zeros, to no effect on the others. States have the buffers of Trainer::InitialState().
  void Load(int lane, const Trainer& trainer, const ModelState& state);
  void Save(const std::vector<ModelState*>& states) const;  // of the first lanes

  // visits[i] is that of lane i; the lanes after them are padding. All partitions have as many
  // rows. As Trainer::Visit(), on what was loaded; cancelled lanes are all lanes.
  void Train(std::vector<LaneVisit>* visits, const LaneData& data, const std::atomic<bool>& cancel,
             bool metrics);

  // Loss and metrics of fixed weights over all rows of `data`: weights[i], spec().flat_size floats
  // on the host, in lane i. What was loaded for training stays. False: cancelled.
  bool Evaluate(const std::vector<const float*>& weights, const LaneData& data,
                const std::atomic<bool>& cancel, std::vector<MetricSums>* sums);

 private:
  class Random;
  enum class Work { kTrain, kTrainWithMetrics, kEvaluate };

  void TrainStep(const LaneData& data, int64_t n, bool metrics);
  void EvaluateStep(const LaneData& data, int64_t n);
  at::Tensor Input(const LaneData& data, const at::Tensor& rows) const;
  TensorTargets TargetsOf(const LaneData& data, const at::Tensor& rows) const;
  at::Tensor ClassWeights(const LaneData& data, const TensorTargets& targets) const;
  void AddMetrics(const at::Tensor& output, const TensorTargets& targets);
  // Of output `p`: as LaneMetricSums().
  at::Tensor MetricSumsOfLanes(const MetricParams& metric, size_t p, const at::Tensor& output,
                               const TensorTargets& targets, const at::Tensor& weights) const;
  void CollectGradients();
  void UpdateWeights();
  void Constrain();
  // What regularizers of the weights in `params` add to the loss, float64 [lanes]; undefined where
  // there are none.
  at::Tensor Penalty(const at::Tensor& params) const;
  // False: cancelled.
  bool UploadEpoch(const std::vector<LaneVisit>& visits, const LaneData& data, int64_t epoch,
                   const std::atomic<bool>& cancel);
  LaneStep& StepFor(const LaneData& data, int64_t n, Work work);
  std::vector<at::Tensor*> ChangedByStep();
  void CopyIn(const at::Tensor& from, const at::Tensor& to) const;
  std::vector<MetricSums> TakeSums(int count, int64_t examples) const;
  at::TensorOptions On(at::ScalarType type) const;

  LaneDevice* const device_;
  const LaneNetwork network_;
  const CompileParams compile_;  // of any lane: loss and metrics
  const FitParams fit_;
  const Objective objective_;
  const Objective training_objective_;
  const bool bf16_;
  const int lanes_;
  const int64_t largest_partition_;
  int n_slots_;            // room in every lane
  bool clips_ = false;     // some lane clips gradients by norm
  bool by_norms_ = false;  // some lane's optimizer goes by norms
  std::vector<LaneSpan> host_spans_;
  const std::vector<double> lr_factors_;  // LrFactors()
  std::vector<LaneRule> host_rules_;

  // [lanes, ...] on the device
  at::Tensor params_;     // float32 [lanes, flat_size]
  at::Tensor gradients_;  // the same
  at::Tensor slots_;      // [lanes, n_slots, slot_size]
  at::Tensor shadow_;     // bfloat16 copy of params_, or undefined
  at::Tensor evaluated_;  // as params_: what Evaluate() looks at; undefined before the first
  at::Tensor spans_;      // LaneSpan
  at::Tensor rules_;      // LaneRule
  at::Tensor squares_;
  at::Tensor seeds_;   // int64 [lanes]
  at::Tensor steps_;   // int64 [lanes]: taken before, over all visits
  at::Tensor order_;   // int32 [lanes, rows]
  at::Tensor table_;   // LaneScalars [steps][lanes], as float32
  at::Tensor tick_;    // int64 [1]: row of table_
  at::Tensor cursor_;  // int64 [1]: column of order_, or the first row of an evaluation
  at::Tensor range_;   // 0, 1, 2 ...
  at::Tensor class_weights_;
  at::Tensor loss_sums_;    // float64 [lanes]
  at::Tensor metric_sums_;  // float64 [lanes, all metrics' sums]
  at::Tensor taken_;        // int64 [1]: steps of this visit
  at::Tensor failed_at_;    // int64 [lanes]: step whose loss was not finite, or -1

  std::vector<at::Tensor> weights_;         // what training computes with
  std::vector<at::Tensor> gradient_views_;  // of gradients_, one per weight
  std::vector<size_t> trainable_;
  std::vector<TrainableSpan> regularized_;
  std::unique_ptr<LaneRandom> random_;
  std::map<std::tuple<const LaneData*, int64_t, Work>, std::unique_ptr<LaneStep>> recorded_;
};

}  // namespace hopper
