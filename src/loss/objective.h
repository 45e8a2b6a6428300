// What a model is trained for: the losses of its outputs, weighed and added up, with the weights of
// the examples.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "loss/loss.h"
#include "loss/planned_loss.h"
#include "model/spec.h"

namespace hopper {

// One output with its labels.
struct ObjectivePart {
  LossKind loss = LossKind::kMeanSquaredError;
  LossOptions options;
  float weight = 1.0F;
  bool logits = false;  // the loss and the metrics work on the output's logits
  Activation last = Activation::kLinear;
  Shape shape;           // of the output
  int64_t first = 0;     // in a row of the model's outputs
  int64_t size = 1;      // values there
  bool classes = false;  // the label is a class's number
  Shape label_shape;
  int64_t label_first = 0;  // in a row of labels
  int64_t label_size = 1;
  int64_t num_classes = 0;
  double unit = 0.0;  // DataOutput::unit
  std::optional<LabelRange>
      bounds;  // DataOutput::bounds, for metrics; losses are of what is put out
  // Which of its steps count, in a row of the model's outputs; size 0: all do.
  int64_t mask_first = 0;
  int64_t mask_size = 0;
  // In training: members of an ensemble, of whose losses it is the mean, each as large as the
  // output, and their place in a row of the model's outputs; 0: its loss is the output's. Metrics
  // are the output's in any case.
  int64_t members = 0;
  int64_t members_first = 0;
  Activation member_last = Activation::kLinear;
  bool member_logits = false;

  // The last axis, as metrics see it.
  int64_t width() const { return shape.empty() ? 1 : shape.back(); }
  // Rows of the last axis: steps or pixels.
  int64_t rows() const { return size / width(); }
  // Whether rows count or not, each with a loss of its own (loss/part_rows.h).
  bool by_row() const { return mask_size > 0 || options.ignore_class.has_value(); }
};

struct Objective {
  std::vector<ObjectivePart> parts;  // in the model's order
  // One output, whose labels are those of the examples, and nothing is weighed or left out.
  bool plain = true;
  bool weighted = false;  // the last label of an example is its weight
  int64_t outputs = 0;    // values of an example, with its masks and members
  uint64_t linear = 0;    // bit i: part i takes logits
};

// `compile` has gone through FitToOutputs(). `training`: where an output averages members, each of
// them has a loss of its own. Throws Error where the data have no such outputs.
Objective MakeObjective(const CompileParams& compile, const ModelSpec& spec, const DataDesc& data,
                        bool training);

// What is a part's of a batch.
at::Tensor PartOutput(const Objective& objective, size_t part, const at::Tensor& output);
Targets PartTargets(const Objective& objective, size_t part, const Targets& targets);
// Float32 [batch, steps], 1 where a step counts; not defined where the part has no mask.
at::Tensor PartMask(const Objective& objective, size_t part, const at::Tensor& output);
// The examples' weights, float32 [batch]; not defined where they have none.
at::Tensor ExampleWeights(const Objective& objective, const Targets& targets);

// Loss of each example, float32 [batch], of one part, before it is weighed; differentiable.
at::Tensor PartLossPerExample(const Objective& objective, size_t part, const at::Tensor& output,
                              const Targets& targets);
// Loss of each example, float32 [batch], of all parts together; differentiable.
at::Tensor LossPerExample(const Objective& objective, const at::Tensor& output,
                          const Targets& targets);
bool LooksAtBatch(const Objective& objective);

// Losses of the raw output of a planned step, and the gradient. For one batch size; used by one
// thread at a time.
class PlannedObjective {
 public:
  PlannedObjective(const Objective& objective, int64_t batch, const Kernels& kernels);

  // As PlannedLoss::Run().
  void Run(const float* output, const Targets& targets, const float* factors, float* gradient);
  const float* losses() const { return objective_.plain ? parts_[0]->losses() : losses_.data(); }
  // Of the latest Run(): a part's output in C order, its labels, and its losses before they were
  // weighed by output.
  const float* output(size_t part) const {
    return objective_.plain ? output_ : outputs_[part].data();
  }
  const Targets& targets(size_t part) const { return targets_[part]; }
  const float* losses(size_t part) const { return part_losses_[part].data(); }
  at::Tensor mask(size_t part) const;
  // The examples' weights; not defined where they have none.
  const at::Tensor& weights() const { return weights_; }

 private:
  // A part whose rows count or not: factors_ and gradient_ as of the others.
  void RunRows(size_t part, bool gradient);
  // A part of members, alike.
  void RunMembers(size_t part, bool gradient);

  const Objective objective_;
  const int64_t batch_;
  std::vector<std::unique_ptr<PlannedLoss>> parts_;
  const float* output_ = nullptr;
  std::vector<Targets> targets_;
  at::Tensor weights_;
  std::vector<AlignedArray<float>> outputs_;
  std::vector<AlignedArray<float>> part_losses_;
  AlignedArray<float> gradient_;  // as large as the largest part's output
  AlignedArray<float> factors_;
  AlignedArray<float> losses_;
  AlignedArray<float> row_factors_;  // of the largest part by rows or members
  AlignedArray<float> members_;      // of the largest part
};

}  // namespace hopper
