// Setting a run up, and its results.
#include "engine/local/run.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/cancel.h"
#include "base/clock.h"
#include "engine/configuration.h"
#include "engine/task_work.h"
#include "engine/warm_start.h"
#include "params/readings.h"
#include "schedule/workers.h"
#include "train/plan_cache.h"

namespace hopper {

Run::Run(const TrainingBackend& backend, const TrainingOptions& options, const DataDesc& train,
         const DataDesc* valid)
    : backend_(backend),
      settings_(options, backend),
      data_(train, valid),
      rules_(RulesOf(options, data_.partitions(kTrainSplit), data_.partitions(kValidSplit))),
      ring_(data_.train().n_partitions(), options.starts),
      events_(options.event_fd),
      networks_(backend) {
  CheckThreadsPerModel(settings_.threads, settings_.threads_per_model);
  n_workers_ = WorkersOf(settings_.threads, settings_.threads_per_model);
  if (options.use_gpus) {
    ChooseDevices(options);
    n_workers_ = static_cast<int32_t>(devices_.size());
  }
  turns_ = std::make_shared<Turns>(n_workers_);
  admitted_tasks_ = LargestSum(n_workers_);
  account_ = MemoryAccount::Create(options.memory_limit);
  ProcessReadings().Bound(account_->limit());
}

Run::~Run() {
  Cancel();
  workers_.Join();
}

void Run::AddConfig(const ConfigSource& config) {
  if (started_ && !open_) throw Error(ErrorCode::kInternal, "the run has been started already");
  if (by_key_.count(config.mst_key) > 0) {
    throw Error(ErrorCode::kInvalidParameter,
                "configuration " + std::to_string(config.mst_key) + " was given twice");
  }
  auto model = std::make_unique<Model>();
  model->key = config.mst_key;
  model->rules = rules_;
  try {
    ReadConfig(config, model.get());
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kCorrupt || e.code() == ErrorCode::kNotReady) throw;
    model->status = ModelStatus::kFailed;
    model->failure = e.problem();
  } catch (const Cancelled&) {
    throw;
  } catch (...) {
    model->status = ModelStatus::kFailed;
    model->failure = backend_.Describe();
  }
  if (pool_ && started_) RequirePlannedRoom(*model);
  const Books books(this);
  model->index = models_.size();
  by_key_[config.mst_key] = model->index;
  SetStatusLocked(model.get(), model->status);
  if (model->stored.bytes > 0 && !model->stored.checked) wanted_states_.AddToCheck(model->index);
  if (pool_) {
    EnterLocked(std::move(model));
  } else {
    models_.push_back(std::move(model));
  }
}

void Run::ReadConfig(const ConfigSource& config, Model* model) {
  model->trainer = MakeTrainer(config, data_.train().desc(), settings_.seed, settings_.precision,
                               &networks_, settings_.data_name);
  RequireWatchedData(*model->trainer, data_.validates());
  model->watching = model->trainer->stopping().watching();
  model->memory =
      MemoryOf(*model->trainer, settings_.threads_per_model, rules_.EvaluatedPartitions());
  if (model->memory.alone() > account_->limit()) return;  // PlanModels() says it
  if (config.state_size > 0) {
    model->stored.bytes = config.state_size;
    model->stored.checked = config.state != nullptr || started_;
    if (config.state == nullptr) return;
    AdoptState(model, ReadStored(*model->trainer, config.state, config.state_size));
  } else if (config.weights != nullptr) {
    model->given_weights = config.weights;
    if (given_.known.insert(config.weights).second) {
      const int64_t bytes = config.n_weights * int64_t{sizeof(float)};
      const std::lock_guard<std::mutex> lock(mutex_);
      given_.bytes += bytes;
      if (started_) account_->Add(bytes);
    }
  } else {
    model->new_weights = true;
  }
}

void Run::AdoptState(Model* model, ModelState state) {
  const auto warn = [&](const Problem& problem) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!model->stored.warned) Warn(model->key, problem);
    model->stored.warned = true;
  };
  AdaptStored(model->key, *model->trainer, settings_.ClassOf(*model->trainer),
              settings_.mix_numerics, warn, &state);
  model->total_iterations = state.iteration;
  model->state = std::move(state);
  model->has_state = true;
}

std::vector<ModelMemory> Run::ModelsMemory() const {
  std::vector<ModelMemory> models;
  for (const auto& model : models_) {
    if (model->status != ModelStatus::kFailed) models.push_back(model->memory);
  }
  return models;
}

void Run::PlanData(DataPlan* plan) {
  if (started_ || data_.train().bytes() > 0) {
    throw Error(ErrorCode::kInternal, "data were planned after they had come");
  }
  const std::vector<int64_t> train = data_.train().AllPartitionBytes();
  std::vector<int64_t> valid;
  if (data_.validates()) valid = data_.valid()->AllPartitionBytes();
  DataMemory data;
  for (const int split : kSplits) {
    for (int32_t p = 0; p < data_.partitions(split); ++p) data.Add(data_.of(split), p);
  }
  PlanModels(data);
  if (!plan_->resident) {
    window_ = std::make_unique<PartitionWindow>(train, valid, plan_->window);
  }
  *plan = DataPlan();
  plan->resident = plan_->resident;
  plan->bytes_data = data.all;
  plan->bytes_models = plan_->models;
  plan->bytes_window = plan_->window;
  // Models that start elsewhere than at the sweep's begin need another round, as does an
  // evaluation behind the last iteration.
  const bool spread = std::any_of(models_.begin(), models_.end(), [&](const auto& model) {
    return ring_.FirstPartition(model->key) != ring_.FirstPartition(models_.front()->key);
  });
  const int64_t reads = Waves() * (int64_t{rules_.num_iterations} + (spread ? 1 : 0) +
                                   (rules_.EverEvaluates(kTrainSplit) ? 1 : 0));
  plan->max_reads = plan_->resident ? 1 : static_cast<int32_t>(std::min<int64_t>(reads, INT32_MAX));
  for (const auto& model : models_) {
    if (model->status != ModelStatus::kTraining || model->admitted) continue;
    ++plan->n_waiting;
    // As much as each of them needs has to go before.
    plan->bytes_aside += model->memory.state + model->trainer->network().spec().flat_size *
                                                   static_cast<int64_t>(sizeof(float));
  }
}

void Run::AddBuffer(const PackedBuffer& buffer) {
  if (window_ != nullptr ? !started_ : started_) {
    throw Error(ErrorCode::kInternal, "a buffer came when none was wanted");
  }
  Dataset& data = data_.Taking(buffer);
  if (window_ != nullptr) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!window_->IsLoading(buffer.split, buffer.partition_id)) {
      throw Error(ErrorCode::kInternal, "a buffer of another partition than the wanted one came");
    }
  }
  data.AddBuffer(buffer);
}

void Run::Start() {
  if (started_) throw Error(ErrorCode::kInternal, "the run has been started already");
  if (window_ == nullptr) {
    data_.train().CheckComplete();
    if (data_.validates()) data_.valid()->CheckComplete();
  }
  const int64_t data = data_.bytes();
  if (plan_ == nullptr) PlanModels({data, data, 0});
  started_ = true;
  start_time_ = MonotonicSeconds();
  const int64_t features = std::min(plan_->features, WantedFeatures()[kTrainSplit]);
  data_.Keep(plan_->orders, {features, plan_->features - features});
  initial_weights_.Keep(plan_->initial);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    account_->Add(data + given_.bytes + plan_->orders + plan_->initial + plan_->features);
    if (window_ == nullptr) {
      loads_.AddAll(data_.partitions(kTrainSplit) + data_.partitions(kValidSplit), data);
    }
    std::vector<int64_t> needs;
    for (const auto& model : models_) {
      needs.push_back(model->memory.task);
      if (model->status == ModelStatus::kFailed) continue;
      ++live_;
      if (model->status == ModelStatus::kDone) continue;  // it rests
      ++training_;
      model->work = VisitWork(*model->trainer, data_.train().desc()) *
                    data_.train().n_partitions() *
                    (model->rules.num_iterations - model->course.iterations);
      CountProgressLocked(model.get());
    }
    if (!devices_.empty()) AssignDevicesLocked();
    due_.assign(devices_.size() + 1, DueModels(needs));
    for (const int split : kSplits) {
      lacking_[static_cast<size_t>(split)].resize(static_cast<size_t>(data_.partitions(split)));
    }
    for (const auto& model : models_) {
      if (model->status == ModelStatus::kFailed) FailLocked(model.get(), model->failure);
    }
    // One that ends at once may admit others, which begin by themselves.
    std::vector<Model*> begin;
    for (const auto& model : models_) {
      if (model->admitted) begin.push_back(model.get());
    }
    for (Model* model : begin) BeginLocked(model);
    running_workers_ = n_workers_;
    RequestLoadLocked();
  }
  const WorkerSetting setting =
      backend_.Setting({account_.get(), [this](const std::string& text) { WorkerWarning(text); },
                        settings_.threads_per_model, /*promises=*/devices_.empty()});
  int started = 0;
  try {
    for (; started < n_workers_; ++started) {
      workers_.Start(1, setting, [this, started] {
        PlanCache plans(plan_->plans / n_workers_);
        const PlanCacheScope scope(&plans);
        devices_.empty() ? Work(started) : DeviceWork(started);
      });
    }
  } catch (...) {
    const std::lock_guard<std::mutex> lock(mutex_);
    running_workers_ -= n_workers_ - started;
    StopWorkersLocked();
    throw;
  }
}

void Run::Cancel() {
  // Under the lock, so that no worker misses it between its look and its wait.
  const std::lock_guard<std::mutex> lock(mutex_);
  StopWorkersLocked();
}

void Run::GetInfo(RunInfo* info) {
  const std::lock_guard<std::mutex> lock(mutex_);
  *info = RunInfo();
  info->bytes_data = bytes_data_ + data_.bytes();
  info->bytes_models = state_bytes_;
  info->seconds_busy = tally_.seconds_busy;
  loads_.Tell(info);
  info->seconds_hop = tally_.seconds_hop;
  info->n_workers = n_workers_;
  info->n_tasks = tally_.tasks;
  info->n_wakes = idle_.wakes();
  for (const DueModels& due : due_) info->n_steps += due.ready().looks();
  if (started_) info->seconds_wall = (end_time_ > 0 ? end_time_ : MonotonicSeconds()) - start_time_;
  info->numerics_class = settings_.numerics_class;
}

}  // namespace hopper
