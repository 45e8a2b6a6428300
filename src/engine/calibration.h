// Temperature scaling: the number T > 0 by which a model's logits are divided so that its
// probabilities are as sure as they are right (Guo, Pleiss, Sun and Weinberger, "On Calibration of
// Modern Neural Networks", ICML 2017).
//
// T makes the mean log-loss of softmax(z / T), or of sigmoid(z / T), least on rows that the model
// was not trained on. That loss is convex in 1 / T.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "model/config_source.h"
#include "train/backend.h"
#include "train/trainer.h"

namespace hopper {

// Rows that are all predicted rightly want a T of 0, others one without end: these are the bounds.
constexpr double kLeastTemperature = 0.01;
constexpr double kMostTemperature = 100.0;

struct Calibrated {
  double temperature = 1.0;
  // The mean log-loss with it and without, and the expected calibration error: the mean distance of
  // confidence and accuracy, by 15 bins of confidence of one width.
  double loss = 0.0;
  double loss_before = 0.0;
  double error = 0.0;
  double error_before = 0.0;
};

// For one thread.
class Calibration {
 public:
  // `config` needs no weights. Throws kNotSupported where such a model has no temperature. Outputs
  // take at most `memory_limit` bytes.
  Calibration(const TrainingBackend& backend, const ConfigSource& config, const DataDesc& data,
              int64_t memory_limit);

  const TrainingBackend& backend() const { return backend_; }
  // Validation data, all of them before Find().
  void AddBuffer(const PackedBuffer& buffer) { data_.AddBuffer(buffer); }
  // `config` as before, with its weights. Looks at cancel between batches.
  Calibrated Find(const ConfigSource& config) const;

  // The first and the number of the weights that make the logits, in Keras' get_weights() order,
  // which are linear in them: divided by T they make a calibrated model. None where the outputs are
  // made of no such logits, as those of an ensemble: then Architecture() does.
  std::pair<int64_t, int64_t> LogitWeights() const { return {first_weight_, n_weights_}; }
  std::string Architecture(const ConfigSource& config, double temperature) const;

 private:
  // Of all rows, in the order of their logits.
  struct Labels {
    std::vector<int64_t> classes;
    std::vector<float> weights;  // of examples; empty: all 1
  };
  Labels ReadLabels() const;
  // Of outputs that are probabilities; throws where they are not.
  void TakeLogits(const ConfigSource& config, std::vector<float>* outputs) const;

  const TrainingBackend& backend_;
  Dataset data_;
  std::unique_ptr<const Trainer> trainer_;
  int64_t width_ = 0;  // 1: a sigmoid's
  int64_t first_weight_ = 0;
  int64_t n_weights_ = 0;
};

}  // namespace hopper
