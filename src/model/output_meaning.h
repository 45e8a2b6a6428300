// What the values of a model's output stand for: one rule for all that predicts. No libtorch.
#pragma once

#include "data/dataset.h"
#include "model/spec.h"
#include "params/params.h"

namespace hopper {

// The numbers are those of the C boundary.
enum class OutputMeaning : int32_t {
  kValues = 0,     // numbers
  kClasses = 1,    // classes of the example, which are ranked
  kClassEach = 2,  // a class at each step or pixel: the largest along the last axis, or a half
};

// Of a model that was trained with this loss on these labels. Labels of one class or number say it
// themselves. Arrays do not, and so the model's end and its loss do:
//   one axis              classes, each with a probability, by a loss of classes; but what goes in
//                         is to come out where labels are as many as features and no integers, by a
//                         loss of one value at a time: an autoencoder
//   more, the last of n   a class each, by softmax or a categorical loss
//   more, the last of 1   a class each, 0 or 1, where the labels are integers and the loss is none
//                         of numbers
// and numbers otherwise.
OutputMeaning MeaningOf(const ModelOutput& end, LossKind loss, const DataDesc& data,
                        const DataOutput& labels);

// What a prediction has the shape of: the labels' where they are as many, else the output's, of a
// class each without its last axis.
Shape ShapeOfPrediction(const ModelOutput& end, OutputMeaning meaning, const Shape& labels);

// Of a model of which only the architecture is known. `named`: somebody gave names of classes.
OutputMeaning MeaningOf(const ModelOutput& end, bool named);

}  // namespace hopper
