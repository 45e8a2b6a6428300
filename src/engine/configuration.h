// One configuration as text -> a trainer.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "data/dataset.h"
#include "model_hopper/config.h"
#include "model_hopper/training.h"
#include "schedule/course.h"
#include "train/trainer.h"

namespace hopper {

// The networks of a run, one for each architecture however many configurations have it: a large one
// takes milliseconds to read, and what is planned for one serves all who share it.
class Networks {
 public:
  // Throws the architecture's first problem.
  std::shared_ptr<const Network> Of(const hopper_config& config, const DataDesc& data);

 private:
  std::map<Digest, std::shared_ptr<const Network>> by_text_;
};

// Throws the first problem of the architecture or the parameters; warnings are for check_configs.
std::unique_ptr<const Trainer> MakeTrainer(const hopper_config& config, const DataDesc& data,
                                           uint64_t run_seed, Precision precision,
                                           Networks* networks);

constexpr int32_t kMaxThreads = 1024;

// The rules of a run by its options. Throws where a number is none that they can have; that of
// threads and the memory limit are looked at, too.
RunRules RulesOf(const hopper_run_options& options, int partitions, int valid_partitions);

// The first partitions of its runs of partitions, for Ring.
std::vector<int> StartsOf(const hopper_run_options& options);

// Of a run on the CPU; fp32 where it is not given.
Precision RunPrecision(const hopper_run_options& options);

// Makes a warm start's state one of the numerics class `here`. Throws where it is of another one,
// unless `mix`; false where it may be, for which *problem is the warning.
bool FitClass(const std::string& name, const std::string& here, bool mix, ModelState* state,
              Problem* problem);

// Makes a warm start's state fit the configuration's optimizer. false: its slots were another's,
// they and the step counter start at zero, and `problem` says so. `name` is the configuration's.
bool FitSlots(const std::string& name, const Trainer& trainer, ModelState* state, Problem* problem);

// Throws where early stopping or ReduceLROnPlateau watches validation data that is not there.
void RequireWatchedData(const Trainer& trainer, bool has_validation);

// Throws where a model would be trained by fewer than 1 (0 stands for 1) or more than all threads.
void CheckThreadsPerModel(int32_t threads_per_model, int32_t threads);

}  // namespace hopper
