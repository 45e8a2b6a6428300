// One configuration as text -> a trainer.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "data/dataset.h"
#include "engine/training_options.h"
#include "model/config_source.h"
#include "schedule/course.h"
#include "train/backend.h"
#include "train/trainer.h"

namespace hopper {

// The networks of a run, one for each architecture however many configurations have it: a large one
// takes milliseconds to read, and what is planned for one serves all who share it.
class Networks {
 public:
  // `backend` outlives all that is made of them.
  explicit Networks(const TrainingBackend& backend) : backend_(backend) {}

  const TrainingBackend& backend() const { return backend_; }
  // Throws the architecture's first problem.
  std::shared_ptr<const PlannedNetwork> Of(const ConfigSource& config, const DataDesc& data);
  // Whether libtorch computes one of its layers.
  bool IsUnplanned(const ConfigSource& config, const DataDesc& data);

 private:
  struct Read {
    std::shared_ptr<const PlannedNetwork> network;
    bool unplanned = false;
  };
  const Read& ReadOf(const ConfigSource& config, const DataDesc& data);

  const TrainingBackend& backend_;
  std::map<Digest, Read> by_text_;
};

// Throws the first problem of the architecture or the parameters; warnings are for check_configs.
std::unique_ptr<const Trainer> MakeTrainer(const ConfigSource& config, const DataDesc& data,
                                           uint64_t run_seed, Precision precision,
                                           Networks* networks,
                                           const std::string& watched_data = "");

// The rules of a run by its options. Throws where a number is none that they can have; those of
// threads and the memory limit are looked at, too.
RunRules RulesOf(const TrainingOptions& options, int partitions, int valid_partitions);

// What an engine makes of its options, once and for all.
struct EngineSettings {
  EngineSettings(const TrainingOptions& options, const TrainingBackend& backend);

  // Of the bits of its models.
  const std::string& ClassOf(const Trainer& trainer) const {
    return trainer.needs_torch() ? torch_class : numerics_class;
  }
  // On GPUs all models have one class.
  void SetClass(const std::string& of_devices) { numerics_class = torch_class = of_devices; }

  uint64_t seed;
  int32_t threads;  // HOPPER_MAX_THREADS at most
  int32_t threads_per_model;
  Precision precision;
  std::string numerics_class;  // of models that planned steps and loops compute
  std::string torch_class;     // where libtorch computes a part
  bool mix_numerics;
  std::string data_name;
};

// Throws where early stopping or ReduceLROnPlateau watches validation data that is not there.
void RequireWatchedData(const Trainer& trainer, bool has_validation);

}  // namespace hopper
