#include "engine/not_finite.h"

#include <cmath>
#include <cstdio>
#include <string>

#include "optim/learning_rate.h"

namespace hopper {

namespace {

std::string NumberText(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

}  // namespace

Problem NotFinite(const Trainer& trainer, double loss, const ModelState& state) {
  const int64_t step = state.step;
  OptimizerParams optimizer = trainer.compile().optimizer;
  optimizer.learning_rate = static_cast<double>(trainer.stopping().LearningRate(state.monitor));
  std::string what = "a weight became NaN or infinite";
  if (std::isnan(loss)) what = "loss became NaN";
  if (std::isinf(loss)) what = "loss became infinite";
  if (step == 0) {
    return {ErrorCode::kDataException, what + " before the first update of the weights", "",
            "Look at the loss, the labels and the range of the data; the run goes on without this "
            "configuration."};
  }
  return {ErrorCode::kDataException,
          what + " after " + std::to_string(step) + (step == 1 ? " step" : " steps") +
              " with learning rate " + NumberText(LearningRate(optimizer, step)),
          "",
          "Lower the learning rate or set clipnorm; the run goes on without this "
          "configuration."};
}

}  // namespace hopper
