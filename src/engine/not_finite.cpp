#include "engine/not_finite.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "optim/learning_rate.h"

namespace hopper {

namespace {

// What is followed by the step.
constexpr const char* kBadWeight = "a weight became NaN or infinite";
constexpr const char* kNanLoss = "loss became NaN";
constexpr const char* kInfiniteLoss = "loss became infinite";
constexpr const char* kAfter = " after ";

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
  std::string what = kBadWeight;
  if (std::isnan(loss)) what = kNanLoss;
  if (std::isinf(loss)) what = kInfiniteLoss;
  if (step == 0) {
    return {ErrorCode::kDataException, what + " before the first update of the weights", "",
            "Look at the loss, the labels and the range of the data; the run goes on without this "
            "configuration."};
  }
  return {ErrorCode::kDataException,
          what + kAfter + std::to_string(step) + (step == 1 ? " step" : " steps") +
              " with learning rate " + NumberText(LearningRate(optimizer, step)),
          "",
          "Lower the learning rate or set clipnorm; the run goes on without this "
          "configuration."};
}

size_t ReasonSize(const std::string& message) {
  for (const char* what : {kBadWeight, kNanLoss, kInfiniteLoss}) {
    if (message.rfind(std::string(what) + kAfter, 0) == 0) return std::strlen(what);
  }
  return message.size();
}

}  // namespace hopper
