// Losses for tests that go over them.
#pragma once

#include <string>
#include <vector>

namespace hopper {

// Every loss that labels of classes can have, but those of which tests choose the arguments; then
// `more`.
inline std::vector<std::string> LossesAnd(const std::vector<std::string>& more) {
  std::vector<std::string> losses = {"categorical_crossentropy",
                                     "sparse_categorical_crossentropy",
                                     "binary_crossentropy",
                                     "mse",
                                     "mae",
                                     "mape",
                                     "msle",
                                     "huber",
                                     "log_cosh",
                                     "hinge",
                                     "squared_hinge",
                                     "categorical_hinge",
                                     "kl_divergence",
                                     "poisson",
                                     "cosine_similarity",
                                     "binary_focal_crossentropy",
                                     "categorical_focal_crossentropy",
                                     "Tversky(axis=-1)"};
  losses.insert(losses.end(), more.begin(), more.end());
  return losses;
}

}  // namespace hopper
