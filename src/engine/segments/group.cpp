// Setting a segment's share up, and who is in it.
#include "engine/segments/group.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/cancel.h"
#include "engine/configuration.h"
#include "engine/segments/device.h"
#include "engine/segments/traveller.h"
#include "params/readings.h"
#include "train/plan_cache.h"

namespace hopper {

Group::Group(const TrainingBackend& backend, const TrainingOptions& options, const DataDesc& train,
             const DataDesc* valid, std::vector<int32_t> train_keys,
             std::vector<int32_t> valid_keys, int32_t key)
    : backend_(backend),
      settings_(options, backend),
      event_fd_(options.event_fd),
      key_(key),
      data_(train, valid),
      rules_(RulesOf(options, data_.partitions(kTrainSplit), data_.partitions(kValidSplit))),
      keys_{{std::move(train_keys), std::move(valid_keys)}},
      all_keys_(keys_.All()),
      ring_(data_.train().n_partitions(), options.starts),
      account_(MemoryAccount::Create(options.memory_limit)),
      networks_(backend) {
  ProcessReadings().Bound(account_->limit());
  if (options.use_gpus) {
    device_ =
        std::make_unique<GroupDevice>(backend_, options, settings_.precision, account_.get(),
                                      [this](const std::string& text) { WorkerWarning(text); });
    settings_.SetClass(device_->numerics_class());
  }
  for (const int split : kSplits) {
    const std::vector<int32_t>& keys = KeysOf(split);
    for (size_t p = 0; p < keys.size(); ++p) {
      if (keys[p] == key_) here_[static_cast<size_t>(split)].push_back(static_cast<int32_t>(p));
    }
  }
}

Group::~Group() {
  Cancel();
  workers_.reset();
  device_.reset();
}

void Group::RequireRest() const {
  if (workers_ == nullptr && travellers_.empty() && arrivals_.empty()) return;
  throw Error(ErrorCode::kInternal, "configurations enter and leave a segment while it rests");
}

void Group::Enter(const ConfigSource& config, int32_t iterations, int32_t done) {
  RequireRest();
  if (iterations < 1 || done < 0 || iterations > std::numeric_limits<int32_t>::max() - done) {
    throw Error(ErrorCode::kInternal,
                "configuration " + std::to_string(config.mst_key) + " cannot enter");
  }
  Config entry;
  try {
    ConfigSource bare = config;
    bare.weights = nullptr;
    bare.state = nullptr;
    auto trainer = MakeTrainer(bare, data_.train().desc(), settings_.seed, settings_.precision,
                               &networks_, settings_.data_name);
    RequireWatchedData(*trainer, data_.validates());
    entry.memory = MemoryOf(*trainer, settings_.threads_per_model, rules_.EvaluatedPartitions());
    entry.memory.task = TravellersTask(entry.memory.state, entry.memory.task);
    entry.trainer = std::move(trainer);
  } catch (const Cancelled&) {
    throw;
  } catch (...) {
    entry.problem = backend_.Describe();
  }
  entry.rules = rules_;
  entry.rules.num_iterations = done + iterations;
  entry.done = done;
  configs_[config.mst_key] = std::move(entry);
}

void Group::KeepOnly(const std::vector<int32_t>& mst_keys) {
  RequireRest();
  const std::set<int32_t> stay(mst_keys.begin(), mst_keys.end());
  for (auto at = configs_.begin(); at != configs_.end();) {
    at = stay.count(at->first) != 0 ? std::next(at) : configs_.erase(at);
  }
}

void Group::GetInfo(RunInfo* info) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  *info = RunInfo();
  info->bytes_data = data_.bytes();
  info->bytes_models = room_.most();
  loads_.Tell(info);
  info->numerics_class = settings_.numerics_class;
}

}  // namespace hopper
