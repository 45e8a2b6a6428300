// All losses: a row each. A LossKind is a place in it.
#pragma once

#include "loss/rows/crossentropy.h"
#include "loss/rows/divergence.h"
#include "loss/rows/errors.h"
#include "loss/rows/expression.h"
#include "loss/rows/hinges.h"
#include "loss/rows/overlap.h"
#include "loss/rows/pinball.h"

namespace hopper {

template <typename... L>
struct LossList {};

using Losses =
    LossList<loss_rows::CategoricalCrossentropy, loss_rows::SparseCategoricalCrossentropy,
             loss_rows::BinaryCrossentropy, loss_rows::MeanSquaredError,
             loss_rows::MeanAbsoluteError, loss_rows::MeanAbsolutePercentageError,
             loss_rows::MeanSquaredLogarithmicError, loss_rows::Huber, loss_rows::LogCosh,
             loss_rows::Hinge, loss_rows::SquaredHinge, loss_rows::CategoricalHinge,
             loss_rows::KlDivergence, loss_rows::Poisson, loss_rows::CosineSimilarity,
             loss_rows::BinaryFocalCrossentropy, loss_rows::CategoricalFocalCrossentropy,
             loss_rows::Dice, loss_rows::Tversky, loss_rows::GeneralizedCrossentropy,
             loss_rows::ExpressionLoss, loss_rows::Pinball>;

}  // namespace hopper
