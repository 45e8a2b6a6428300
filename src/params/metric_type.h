// What a metric is. Each family has a file of its own in metrics/rows: for each metric a struct
// with
//
//   Type()  this description: names, arguments, direction, and the value of its sums
//
// and, of its own or from a struct that it derives from, how they are made:
//
//   SumCount()    how many sums there are
//   Add()         a batch on the CPU
//   Lanes()       the same with tensors, for GPUs: a template over LaneCall of
//                 autograd/lane_metrics.cpp, so that descriptions need no libtorch
//
// or, where it is a mean over examples and derives from OfExamples, MetricType::loss or
//
//   Value()       the value of a position of an example on the CPU
//   PerExample()  the value of each example with tensors, for GPUs: a template over MetricCall of
//                 autograd/tensor_metrics.cpp
//
// and a row in metrics/rows/table.h. Formulas: keras.metrics.*.
//
// A metric is a number of float64 sums that are added batch by batch and merged by addition, and a
// value that is a function of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "activation/activation_type.h"
#include "params/arguments.h"
#include "params/params.h"

namespace hopper {

// Whether smaller or larger values are the better ones.
enum class Direction { kUnknown, kDown, kUp };

// What the sums were taken of.
struct SummedOver {
  int64_t examples = 0;
  int64_t width = 0;  // the model's last output axis
};

// Outputs and labels of a batch, on the CPU: [rows, width], whatever axes were before the last.
struct CountedRows {
  const float* outputs;
  const float* labels;
  int64_t rows;
  int64_t width;
};

// Outputs and labels of a batch, on the CPU: a row of outputs for each position of an example.
struct OutputRows {
  const float* outputs;  // [examples, positions, width]
  int64_t examples;
  int64_t positions;
  int64_t width;
  bool logits;  // `outputs` are what the activation `last` is to be taken of
  Activation last;
  // One of them is there: classes of examples, numbers (of classes where there are several outputs)
  // of positions, or rows of positions.
  const int64_t* classes;
  const float* numbers;
  const float* labels;

  const float* Row(int64_t position) const { return outputs + position * width; }
  // Classes become one-hot, over all of an example; of a single output they are its number.
  float Label(int64_t position, int64_t column) const;
  // The label's class; of a single output its number.
  int64_t NumberedClass(int64_t position) const;
};

// A loss of outputs as a metric.
struct MetricLoss {
  LossKind loss = LossKind::kMeanSquaredError;
  LossOptions options;
};

struct MetricType {
  std::vector<std::string> names;    // in snake case; none: only code asks for it
  std::vector<std::string> aliases;  // the same, left out of lists that people read
  Direction direction = Direction::kUnknown;
  // These the table fills in: its place there, and the struct's functions.
  int place = -1;
  int64_t (*sum_count)(const MetricParams& metric, int64_t width) = nullptr;
  void (*add)(const MetricParams& metric, const CountedRows& rows, double* sums) = nullptr;
  bool of_examples() const { return add == nullptr; }
  // The metric's value.
  double (*value)(const MetricParams& metric, const double* sums, const SummedOver& of) = nullptr;
  // The arguments that it takes, under Keras' names and in Keras' order. Null: none.
  void (*arguments)(MetricParams* metric, ArgumentList* arguments) = nullptr;
  // Of a mean over examples, one of the two: the value of one position of the batch, or what loss
  // it is of outputs of this width, whose labels may be numbers of classes.
  double (*value_at)(const MetricParams& metric, const OutputRows& rows,
                     int64_t position) = nullptr;
  MetricLoss (*loss)(const MetricParams& metric, int64_t width, bool class_numbers) = nullptr;
  bool negative_loss = false;  // minus the loss
  // Whether value_at looks at what `last` makes of logits. Null: it never does.
  bool (*of_probabilities)(const MetricParams& metric, const OutputRows& rows) = nullptr;

  // What it asks of outputs and labels.
  bool several_outputs = false;  // it says nothing of a single one
  bool of_classes = false;       // it says nothing of labels that are numbers
  bool looks_at_k = false;       // at the MetricParams::k largest outputs
  bool of_unit = false;          // it looks between 0 and 1 only
  // How it goes with the unit of labels that are numbers: 0: not at all, 1: as they do, 2: as their
  // squares, -1: in no such way.
  int power_of_unit = -1;
  // Whether it cuts outputs of this width at 0.5 where no threshold is given. Null: it never does.
  bool (*halves)(const MetricParams& metric, int64_t width) = nullptr;
};

// A row each, in the order of the table.
const std::vector<MetricType>& MetricTypes();
// By a name or alias in snake case; null where there is none.
const MetricType* FindMetric(const std::string& name);
// The value of a loss; and for evaluate() counts by label and prediction, whose sums are its value.
// Neither has a name.
const MetricType& LossMetric();
const MetricType& ConfusionMatrix();

}  // namespace hopper
