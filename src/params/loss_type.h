// What a loss is. Each family has a file of its own in loss/rows: for each loss a struct with
//
//   Type()        this description: names, arguments, what it asks of labels, its forms in float32
//   PerExample()  the same with tensors, for autograd and for devices: a template over LossCall of
//                 loss/loss.cpp, so that descriptions need no libtorch
//
// and a row in loss/rows/table.h. Formulas: keras.losses.* on the TensorFlow back end.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "activation/activation_type.h"
#include "params/arguments.h"
#include "params/params.h"

namespace hopper {

struct Kernels;

// A batch of rows of logits, with a class each or else a row of labels.
struct LogitRows {
  const float* logits;  // [rows, width]
  int64_t rows;
  int64_t width;
  const int64_t* classes;  // null: labels are there
  const float* labels;
  float* losses;         // of each row
  float* gradient;       // times factors[row]; without factors what is there is of no use
  const float* factors;  // may be null
};

// Sums over labels y and outputs p: y p, y, p, (1 - p) y, p (1 - y).
struct OverlapSums {
  float shared = 0.0F, labelled = 0.0F, given = 0.0F, missed = 0.0F, extra = 0.0F;
};

struct LossType {
  const char* name = "";             // in snake case
  std::vector<std::string> aliases;  // the same
  bool listed = true;                // users know it by its name
  // Arguments that it takes, under Keras' names; gives the options its defaults. Null: none.
  void (*arguments)(LossOptions* options, ArgumentList* arguments) = nullptr;

  // What it asks of outputs and labels.
  bool categorical = false;    // one output unit a class
  bool class_numbers = false;  // labels are indexes of classes
  bool of_numbers = false;     // a regression's: labels are values
  bool of_classes = false;     // outputs tell classes, also where labels are arrays
  // Computed from the inputs of the model's last softmax or sigmoid.
  bool from_logits = false;
  bool of_sigmoid = false;  // of the last sigmoid alone
  // 0 and 1 become -1 and 1 where all labels of a batch are one of them.
  bool signed_labels = false;
  bool smooths_to_half = false;   // label_smoothing: else towards all classes alike
  bool of_probabilities = false;  // labels outside of 0 to 1 have no meaning for it
  bool of_amounts = false;        // labels below 0 have none, nor those with another zero
  bool of_shares = false;         // of the labels, so that those with another zero have none
  int power_of_unit = -1;         // as that of a metric

  // One row of n outputs p (probabilities, numbers, or logits where `logits` is true) against n
  // labels, smoothed and signed already: the loss, and its derivative by each output. Null: it is
  // none of rows.
  float (*row)(const LossOptions& options, bool logits, const float* p, const float* y, int64_t n,
               float* gradient) = nullptr;
  // Losses of a whole batch by the kernels, where they are so common that they are to cost little
  // beside a step: of labels as they are and, with `from_logits`, of logits. Either n single
  // outputs, with their losses and derivatives, or rows. Null: `row` it is.
  void (*elements)(const Kernels& kernels, const float* p, const float* y, int64_t n, float* losses,
                   float* derivatives) = nullptr;
  void (*logit_rows)(const Kernels& kernels, const LogitRows& rows) = nullptr;

  // 1 - above / below of sums over one example or several: above and below. Null: it is no such
  // loss.
  std::pair<float, float> (*overlap)(const LossOptions& options, const OverlapSums& sums) = nullptr;
  // Its derivative by each of n outputs times `factor`, from above / below and below.
  void (*overlap_gradient)(const LossOptions& options, const float* y, int64_t n, float quotient,
                           float below, float factor, float* gradient) = nullptr;
};

// A LossKind is a place in it.
const std::vector<LossType>& LossTypes();
inline const LossType& LossTypeOf(LossKind loss) { return LossTypes()[static_cast<size_t>(loss)]; }

// True where the loss is computed from logits when the model ends in `last`, as Keras on
// TensorFlow does: crossentropies after softmax or sigmoid. Like Keras this does not ask whether
// the two go together: after it, the loss decides. A categorical crossentropy takes a sigmoid's
// inputs as softmax's, a binary one a softmax's inputs as sigmoid's.
inline bool UsesLogits(LossKind loss, Activation last) {
  const LossType& type = LossTypeOf(loss);
  return type.from_logits &&
         (last == Activation::kSigmoid || (last == Activation::kSoftmax && !type.of_sigmoid));
}

// Why each member of an ensemble cannot have this loss, where EnsembleAverage applies `last` to
// them; null: it can. A sentence.
const char* WhyNoLossOfMembers(LossKind loss, const LossOptions& options, Activation last);

}  // namespace hopper
