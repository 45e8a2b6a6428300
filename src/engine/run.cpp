// Setting a run up, and its results.
#include "engine/run.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/clock.h"
#include "engine/configuration.h"
#include "engine/failure.h"
#include "engine/lane_devices.h"

namespace hopper {

namespace {

constexpr int32_t kMaxThreads = 1024;
// A backward pass costs about twice the forward pass.
constexpr double kTrainingFactor = 3.0;

std::vector<int> StartsOf(const hopper_run_options& options) {
  if (options.n_starts < 1) return {0};
  return {options.starts, options.starts + options.n_starts};
}

void RequirePositive(int32_t value, const char* name) {
  if (value >= 1) return;
  throw Error(ErrorCode::kInvalidParameter, std::string(name) + " must be at least 1",
              "It is " + std::to_string(value) + ".");
}

}  // namespace

Run::Run(const hopper_run_options& options, const hopper_data_desc& train,
         const hopper_data_desc* valid)
    : seed_(options.seed),
      num_iterations_(options.num_iterations),
      metrics_frequency_(options.metrics_compute_frequency),
      training_metrics_(static_cast<hopper_training_metrics>(options.training_metrics)),
      threads_(options.threads),
      threads_per_model_(std::max(options.threads_per_model, 1)),
      mix_numerics_(options.mix_numerics != 0),
      precision_(RunPrecision(options)),
      train_(train),
      valid_(valid == nullptr ? nullptr : std::make_unique<Dataset>(*valid)),
      ring_(train_.n_partitions(), StartsOf(options)),
      account_(nullptr),
      events_(options.event_fd) {
  RequirePositive(options.num_iterations, "num_iterations");
  RequirePositive(options.metrics_compute_frequency, "metrics_compute_frequency");
  RequirePositive(options.threads, "threads");
  threads_ = std::min(threads_, kMaxThreads);
  CheckThreadsPerModel(options.threads_per_model, threads_);
  n_workers_ = threads_ / threads_per_model_;
  if (training_metrics_ < HOPPER_METRICS_RUNNING || training_metrics_ > HOPPER_METRICS_EVERY) {
    throw Error(ErrorCode::kInvalidParameter, "training_metrics has the unknown value " +
                                                  std::to_string(options.training_metrics));
  }
  if (options.memory_limit < 1) {
    throw Error(ErrorCode::kInvalidParameter, "memory limit must be at least one byte");
  }
  PrepareLaneDevices();
  numerics_class_ = NumericsClass(PrecisionName(precision_), threads_per_model_);
  if (options.use_gpus != 0) {
    ChooseDevices(options);
    n_workers_ = static_cast<int32_t>(devices_.size());
  }
  account_ = MemoryAccount::Create(options.memory_limit);
}

Run::~Run() {
  Cancel();
  workers_.Join();
  account_->Release();
}

void Run::AddConfig(const hopper_config& config) {
  if (started_) throw Error(ErrorCode::kInternal, "the run has been started already");
  for (const auto& other : models_) {
    if (other->key == config.mst_key) {
      throw Error(ErrorCode::kInvalidParameter,
                  "configuration " + std::to_string(config.mst_key) + " was given twice");
    }
  }
  auto model = std::make_unique<Model>();
  model->key = config.mst_key;
  try {
    ReadConfig(config, model.get());
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kCorrupt || e.code() == ErrorCode::kNotReady) throw;
    model->status = HOPPER_MODEL_FAILED;
    model->failure = e.problem();
  } catch (...) {
    model->status = HOPPER_MODEL_FAILED;
    model->failure = DescribeException();
  }
  models_.push_back(std::move(model));
}

void Run::ReadConfig(const hopper_config& config, Model* model) {
  model->trainer = MakeTrainer(config, train_.desc(), seed_, precision_);
  model->state_bytes = model->trainer->StateBytes();
  model->task_bytes = model->trainer->MemoryEstimate() - model->state_bytes;
  RequireWatchedData(*model->trainer, valid_ != nullptr);
  if (model->trainer->MemoryEstimate() > account_->limit()) return;  // AdmitModels() says it
  if (config.state != nullptr) {
    TakeState(config, model);
  } else if (config.weights != nullptr) {
    model->state = model->trainer->InitialState(config.weights, numerics_class_);
    model->has_state = true;
  }
}

void Run::TakeState(const hopper_config& config, Model* model) {
  const ModelSpec& spec = model->trainer->network().spec();
  ModelState state = ReadState(StateLayoutOf(spec), config.state, config.state_size);
  const std::string name = "configuration " + std::to_string(config.mst_key);
  if (state.numerics_class != numerics_class_) {
    if (!mix_numerics_) {
      throw Error(
          ErrorCode::kNotReady, "state of " + name + " is of another numerics class",
          "It was made by \"" + state.numerics_class + "\"; here it would go on with \"" +
              numerics_class_ + "\".",
          "Train without warm start, or with the precision, libtorch and CPU of that class.");
    }
    state.numerics_class = numerics_class_;
  }
  Problem problem;
  if (!FitSlots(name, *model->trainer, &state, &problem)) Warn(config.mst_key, problem);
  model->total_iterations = state.iteration;
  model->state = std::move(state);
  model->has_state = true;
}

bool Run::WantsPasses(hopper_split split) const {
  return split == HOPPER_SPLIT_VALID ? valid_ != nullptr
                                     : training_metrics_ != HOPPER_METRICS_RUNNING;
}

std::vector<ModelMemory> Run::ModelsMemory() const {
  const bool evaluated = WantsPasses(HOPPER_SPLIT_TRAIN) || WantsPasses(HOPPER_SPLIT_VALID);
  std::vector<ModelMemory> models;
  for (const auto& model : models_) {
    if (model->status != HOPPER_MODEL_FAILED) {
      models.push_back(MemoryOf(*model->trainer, evaluated));
    }
  }
  return models;
}

void Run::PlanData(hopper_data_plan* plan) {
  if (started_ || train_.bytes() > 0) {
    throw Error(ErrorCode::kInternal, "data were planned after they had come");
  }
  const std::vector<ModelMemory> models = ModelsMemory();
  const std::vector<int64_t> train = train_.AllPartitionBytes();
  std::vector<int64_t> valid;
  if (valid_ != nullptr) valid = valid_->AllPartitionBytes();
  int64_t data = 0;
  int64_t largest = 0;
  for (const std::vector<int64_t>* split : {&train, &std::as_const(valid)}) {
    for (const int64_t bytes : *split) {
      data += bytes;
      largest = std::max(largest, bytes);
    }
  }
  plan_ =
      std::make_unique<MemoryPlan>(PlanMemory(account_->limit(), threads_, models, data, largest));
  const bool any_fits = std::any_of(models.begin(), models.end(), [&](const ModelMemory& model) {
    return model.alone() <= account_->limit();
  });
  const auto& admitted = plan_->admitted;
  if (any_fits && std::find(admitted.begin(), admitted.end(), true) == admitted.end()) {
    throw Error(NoRoomForData(account_->limit(), models, train_, valid_.get()));
  }
  if (!plan_->resident && !devices_.empty()) {
    throw Error(ErrorCode::kOutOfMemory,
                "\"" + train_.desc().table_name + "\" does not fit into memory",
                "The data take " + BytesText(data) + ", the models " + BytesText(plan_->models) +
                    "; hopper.memory_limit is " + BytesText(account_->limit()) + ".",
                "Raise hopper.memory_limit, or train without use_gpus, which reads data in turns.");
  }
  if (!plan_->resident) {
    window_ = std::make_unique<PartitionWindow>(train, valid, plan_->window);
  }
  *plan = hopper_data_plan{};
  plan->resident = plan_->resident ? 1 : 0;
  plan->bytes_data = data;
  plan->bytes_models = plan_->models;
  plan->bytes_window = plan_->window;
  // Models that start elsewhere than at the sweep's begin need another round, as does an
  // evaluation behind the last iteration.
  const bool spread = std::any_of(models_.begin(), models_.end(), [&](const auto& model) {
    return ring_.FirstPartition(model->key) != ring_.FirstPartition(models_.front()->key);
  });
  plan->max_reads = plan_->resident ? 1
                                    : num_iterations_ + (spread ? 1 : 0) +
                                          (WantsPasses(HOPPER_SPLIT_TRAIN) ? 1 : 0);
}

void Run::AddBuffer(const hopper_buffer& buffer) {
  if (window_ != nullptr ? !started_ : started_) {
    throw Error(ErrorCode::kInternal, "a buffer came when none was wanted");
  }
  Dataset* data = nullptr;
  if (buffer.split == HOPPER_SPLIT_TRAIN) data = &train_;
  if (buffer.split == HOPPER_SPLIT_VALID) data = valid_.get();
  if (data == nullptr) {
    throw Error(ErrorCode::kInvalidParameter,
                "the run has no split " + std::to_string(buffer.split));
  }
  if (window_ != nullptr) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!window_->IsLoading(buffer.split, buffer.partition_id)) {
      throw Error(ErrorCode::kInternal, "a buffer of another partition than the wanted one came");
    }
  }
  data->AddBuffer(buffer);
}

double Run::VisitWork(const Model& model) const {
  const double rows = static_cast<double>(train_.desc().n_rows) / train_.n_partitions();
  // One more operation an example: a model without arithmetic is work, too.
  return kTrainingFactor * static_cast<double>(model.trainer->network().spec().flops + 1) * rows *
         static_cast<double>(model.trainer->fit().epochs);
}

double Run::PassWork(const Model& model, const Dataset& data) const {
  return static_cast<double>(model.trainer->network().spec().flops + 1) *
         static_cast<double>(data.desc().n_rows);
}

// Fails the configurations that do not fit into the memory limit beside the data and the
// configurations before them.
void Run::AdmitModels() {
  resident_ = train_.bytes() + (valid_ ? valid_->bytes() : 0);
  account_->Add(resident_);
  if (window_ == nullptr) {
    bytes_read_ = resident_;
    n_loads_ = train_.n_partitions() + (valid_ ? valid_->n_partitions() : 0);
  }
  if (plan_ == nullptr) {
    plan_ = std::make_unique<MemoryPlan>(
        PlanMemory(account_->limit(), threads_, ModelsMemory(), resident_, resident_));
  }
  size_t at = 0;
  for (const auto& model : models_) {
    if (model->status == HOPPER_MODEL_FAILED) continue;
    const bool admitted = plan_->admitted[at];
    const int64_t free = plan_->free[at];
    ++at;
    if (admitted) {
      model->counted_bytes = model->state_bytes;
      resident_ += model->counted_bytes;
      account_->Add(model->counted_bytes);
      continue;
    }
    model->status = HOPPER_MODEL_FAILED;
    model->failure = {ErrorCode::kOutOfMemory, "configuration does not fit into memory",
                      "It needs about " + BytesText(model->trainer->MemoryEstimate()) + ", " +
                          BytesText(std::max<int64_t>(free, 0)) +
                          " of hopper.memory_limit are free.",
                      "Lower batch_size, train fewer configurations at once, or raise "
                      "hopper.memory_limit."};
  }
}

void Run::Start() {
  if (started_) throw Error(ErrorCode::kInternal, "the run has been started already");
  if (window_ == nullptr) {
    train_.CheckComplete();
    if (valid_) valid_->CheckComplete();
  }
  started_ = true;
  start_time_ = MonotonicSeconds();
  train_.orders().Keep(KeptOrderBytes(account_->limit()));
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    AdmitModels();
    for (const auto& model : models_) {
      model->ready_since = start_time_;
      if (model->status != HOPPER_MODEL_FAILED) ++live_;
    }
    for (const auto& model : models_) {
      if (model->status == HOPPER_MODEL_FAILED) {
        FailLocked(model.get(), model->failure);
      } else {
        model->target = num_iterations_;
        model->work = VisitWork(*model) * train_.n_partitions() * num_iterations_;
        if (Stopping::Stopped(model->state.monitor)) {
          StopLocked(model.get());
          ReportPassesLocked(model.get());
        }
        TravelLocked(*model);
      }
    }
    if (!devices_.empty()) AssignDevicesLocked();
    running_workers_ = n_workers_;
    RequestLoadLocked();
  }
  int started = 0;
  try {
    for (; started < n_workers_; ++started) {
      workers_.Start(
          1, account_, [this](const std::string& text) { WorkerWarning(text); },
          [this, started] { devices_.empty() ? Work(started) : DeviceWork(started); },
          threads_per_model_);
    }
  } catch (...) {
    const std::lock_guard<std::mutex> lock(mutex_);
    running_workers_ -= n_workers_ - started;
    cancel_.store(true);
    wake_.notify_all();
    throw;
  }
}

void Run::Cancel() {
  {
    // Under the lock, so that no worker misses it between its look and its wait.
    const std::lock_guard<std::mutex> lock(mutex_);
    cancel_.store(true);
  }
  wake_.notify_all();
}

void Run::Result(int32_t mst_key, hopper_model_result* result) {
  const auto at = std::find_if(models_.begin(), models_.end(),
                               [&](const auto& model) { return model->key == mst_key; });
  if (at == models_.end()) {
    throw Error(ErrorCode::kInvalidParameter,
                "the run has no configuration " + std::to_string(mst_key));
  }
  Model& model = **at;
  *result = hopper_model_result{};
  std::unique_lock<std::mutex> lock(mutex_);
  result->status = model.status;
  result->iterations = static_cast<int32_t>(model.total_iterations);
  result->seconds_training = model.seconds_training;
  result->seconds_evaluating = model.seconds_evaluating;
  result->seconds_waiting = model.seconds_waiting;
  result->examples = model.examples;
  if (model.trainer != nullptr) {
    const CompileParams& compile = model.trainer->compile();
    result->n_parameters = model.trainer->network().spec().parameters;
    CopyText(compile.loss_name, result->loss_type);
    result->n_metrics = static_cast<int32_t>(compile.metrics.size());
    for (size_t i = 0; i < compile.metrics.size(); ++i) {
      CopyText(compile.metrics[i].name, result->metrics_type[i]);
    }
  }
  if (model.status == HOPPER_MODEL_FAILED) {
    CopyText(model.failure.message, result->error);
    CopyText(model.failure.detail, result->error_detail);
  }
  if (model.status != HOPPER_MODEL_DONE) return;
  // No worker touches a model that is done.
  lock.unlock();
  if (model.image.empty()) {
    const ModelSpec& spec = model.trainer->network().spec();
    model.weights.resize(static_cast<size_t>(spec.parameters));
    ExportWeights(spec, model.trainer->DeliveredWeights(model.state, nullptr).data(),
                  model.weights.data());
    model.image = WriteState(StateLayoutOf(spec), model.state);
    model.digest = VerifyState(model.image.data(), model.image.size()).Hex();
  }
  SetStopping(*model.trainer, model.state, result);
  result->weights = model.weights.data();
  result->n_weights = static_cast<int64_t>(model.weights.size());
  result->state = model.image.data();
  result->state_size = model.image.size();
  CopyText(model.digest, result->digest);
}

void Run::GetInfo(hopper_run_info* info) {
  const std::lock_guard<std::mutex> lock(mutex_);
  *info = hopper_run_info{};
  info->bytes_data = train_.bytes() + (valid_ ? valid_->bytes() : 0);
  for (const auto& model : models_) {
    if (model->status != HOPPER_MODEL_FAILED) info->bytes_models += model->state_bytes;
  }
  info->seconds_busy = seconds_busy_;
  info->n_loads = n_loads_;
  info->bytes_read = bytes_read_;
  info->seconds_reading = seconds_reading_;
  info->seconds_hop = seconds_hop_;
  info->n_workers = n_workers_;
  if (started_) info->seconds_wall = (end_time_ > 0 ? end_time_ : MonotonicSeconds()) - start_time_;
  CopyText(numerics_class_, info->numerics_class);
}

}  // namespace hopper
