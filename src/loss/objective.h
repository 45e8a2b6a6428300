// What a model is trained for: the losses of its outputs, weighed and added up, with the weights of
// the examples.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/dataset.h"
#include "loss/targets.h"
#include "model/spec.h"
#include "params/loss_type.h"
#include "params/params.h"

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

// Whether an example's loss may depend on the whole batch: the hinges ask whether all labels are
// 0 or 1, and Dice and Tversky can sum over all examples, which then share one value.
bool LooksAtBatch(LossKind loss, const LossOptions& options);
bool LooksAtBatch(const Objective& objective);

// Memory for labels of a part.
struct LabelRoom {
  std::vector<int64_t> classes;
  std::vector<float> values;
};

// A part's labels of a batch; they may lie in `room`.
Targets PartTargets(const Objective& objective, size_t part, const Targets& targets, int64_t batch,
                    LabelRoom* room);
// The weights of a batch's examples; empty where they have none.
std::vector<float> ExampleWeights(const Objective& objective, const Targets& targets,
                                  int64_t batch);

}  // namespace hopper
