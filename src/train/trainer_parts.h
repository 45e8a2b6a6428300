// What a trainer derives from its configuration, for others that train the same way.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "loss/objective.h"
#include "model/spec.h"
#include "optim/optimizer.h"
#include "params/params.h"

namespace hopper {

// Steps that a model takes while it visits every partition once.
int64_t StepsOfIteration(const FitParams& fit, const DataDesc& data);

// The trainable weights.
std::vector<TrainableSpan> SpansOf(const ModelSpec& spec);

// Where the weights of layers that are not frozen lie, offsets and sizes, in ascending order:
// nothing else changes in training.
std::vector<std::pair<int64_t, int64_t>> ChangingWeights(const ModelSpec& spec);

// What tells a loss's options apart; `name` is the user's text, which stands for an expression.
void WriteLoss(const LossOptions& options, const std::string& name, std::ostream* to);

// Equal for configurations of equal losses.
std::string LossText(const CompileParams& compile);

// Equal where labels and outputs lie alike; nothing where they are one's.
std::string LayoutText(const Objective& objective);

// Factors of the loss by class index; empty: all 1. Throws for classes that the data do not have.
std::vector<float> ClassWeightsOf(const FitParams& fit, const DataDesc& data);

}  // namespace hopper
