// Which models are best together: greedy selection with replacement (Caruana, Niculescu-Mizil, Crew
// and Ksikes, "Ensemble selection from libraries of models", ICML 2004).
//
// The ensemble begins with the best models, one in a step ("sorted initialization"), so that few
// validation rows do not make one of two models by chance. Each later step adds the model with
// which the mean of all outputs so far is best on the validation data, the first of equals; a model
// may be added again. The best step from the last of the initial ones on counts, the first of
// equals.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/dataset.h"
#include "loss/objective.h"
#include "model/config_source.h"
#include "params/params.h"
#include "train/backend.h"
#include "train/trainer.h"

namespace hopper {

struct EnsembleStep {
  int32_t model = 0;   // in the order of AddModel()
  double value = 0.0;  // of the mean of all steps so far
};

// For one thread. Looks at cancel between batches and between models.
class EnsembleSelection {
 public:
  // `judge`: compile parameters and an architecture like the models'. `metric`: its place among the
  // metrics, or -1 for the loss. Outputs take at most `memory_limit` bytes.
  EnsembleSelection(const TrainingBackend& backend, const ConfigSource& judge, const DataDesc& data,
                    int metric, int64_t memory_limit);

  const TrainingBackend& backend() const { return backend_; }
  // The validation data, all of them before the first model.
  void AddBuffer(const PackedBuffer& buffer) { data_.AddBuffer(buffer); }
  // Computes a model's outputs; `config` has its weights. Throws kOutOfMemory where these are too
  // many.
  void AddModel(const ConfigSource& config);
  // Up to `steps` steps, the last one the best of them. The first `initial` of them, but no more
  // than half as many as there are models, add the best ones.
  std::vector<EnsembleStep> Select(int steps, int initial) const;

 private:
  struct Batch {
    Targets targets;  // in `labels`
    LabelRoom labels;
    int64_t n = 0;
  };
  std::vector<Batch> ReadBatches() const;
  // Of (sum + added) / n.
  double Value(const std::vector<Batch>& batches, const std::vector<float>& sum,
               const std::vector<float>& added, int n) const;

  const TrainingBackend& backend_;
  Dataset data_;
  std::unique_ptr<const Trainer> judge_;
  CompileParams judged_by_;  // with the one metric that decides, or none
  bool ascends_;
  int64_t memory_limit_;
  int64_t rows_ = 0;
  int64_t width_ = 0;                        // outputs of an example
  std::vector<std::vector<float>> outputs_;  // by model: [rows, width]
};

}  // namespace hopper
