// What a run's memory is promised to, who waits for it, and how results leave it.
//
// Nothing is begun that was not promised its memory: data or the window of partitions, the state of
// each admitted model with room for one copy of its weights, and what the tasks work with that run
// at a time. Configurations that do not fit beside the others wait, in their order, until others
// have ended and their results were taken. Which of them fail depends on nothing but sizes.
#include <algorithm>
#include <numeric>
#include <utility>

#include "base/clock.h"
#include "base/number_text.h"
#include "engine/configuration.h"
#include "engine/events.h"
#include "engine/local/run.h"
#include "engine/warm_start.h"

namespace hopper {

void Run::PlanModels(const DataMemory& data) {
  const std::vector<ModelMemory> models = ModelsMemory();
  const std::array<int64_t, 2> features = WantedFeatures();
  for (const auto& model : models_) {
    // Of an open run they come one after another.
    if (open_ || !model->new_weights) continue;
    initial_weights_.Expect(model->trainer->network().spec(), model->trainer->seed());
  }
  const auto plan = [&](const DataMemory& of) {
    // Devices are planned by their own memory.
    const int32_t threads = devices_.empty() ? n_workers_ : settings_.threads;
    plan_ = std::make_unique<MemoryPlan>(PlanMemory(budget(), threads, models, of,
                                                    initial_weights_.SharedBytes(), open_,
                                                    features[kTrainSplit] + features[kValidSplit]));
    least_data_ = of.largest;
  };
  const auto any = [&] {
    return std::find(plan_->fits.begin(), plan_->fits.end(), true) != plan_->fits.end();
  };
  plan(data);
  if (!devices_.empty() && !plan_->resident) {
    plan({data.all, data.all, 0});  // in turns is not for them
    if (!any() || !plan_->resident) {
      throw Error(
          ErrorCode::kOutOfMemory,
          "\"" + data_.train().desc().table_name + "\" does not fit into memory",
          "The data take " + BytesText(data.all) + ", the models " + BytesText(plan_->models) +
              "; hopper.memory_limit is " + BytesText(account_->limit()) + ".",
          "Raise hopper.memory_limit, or train without use_gpus, which reads data in turns.");
    }
  }
  const bool without_data = std::any_of(
      models.begin(), models.end(), [&](const auto& model) { return model.alone() <= budget(); });
  if (without_data && !any() && data.all > 0) {
    throw Error(NoRoomForData(budget(), models, data_.train(), data_.valid()));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  size_t at = 0;
  for (const auto& model : models_) {
    if (model->status == ModelStatus::kFailed) continue;
    const bool fits = plan_->fits[at];
    const int64_t free = plan_->free[at++];
    if (fits) continue;
    SetStatusLocked(model.get(), ModelStatus::kFailed);
    model->state = ModelState();
    model->failure = DoesNotFit(model->memory, free);
  }
  resident_ = plan_->fixed();
  for (const auto& model : models_) {
    if (model->status == ModelStatus::kTraining) waiting_.push_back(model->index);
  }
  AdmitLocked();
  for (const auto& model : models_) {
    if (model->admitted || !model->has_state) continue;
    model->state = ModelState();
    model->has_state = false;
  }
}

// What frozen parts of models make of all data, by split.
std::array<int64_t, 2> Run::WantedFeatures() const {
  std::array<int64_t, 2> bytes = {0, 0};
  if (!devices_.empty()) return bytes;  // which compute all of a step
  std::vector<const Trainer*> trainers;
  for (const auto& model : models_) trainers.push_back(model->trainer.get());
  for (const int split : kSplits) {
    if (split == kValidSplit && !data_.validates()) continue;
    const Dataset& data = data_.of(split);
    std::vector<int32_t> all(static_cast<size_t>(data.n_partitions()));
    std::iota(all.begin(), all.end(), 0);
    bytes[static_cast<size_t>(split)] = FeaturesOf(trainers, data.desc(), all);
  }
  return bytes;
}

// How many groups of models follow one another at most.
int32_t Run::Waves() const {
  if (plan_->together || open_) return 1;
  int32_t waves = 0;
  int64_t lasting = 0;
  LargestSum tasks(n_workers_);
  for (const auto& model : models_) {
    if (model->status == ModelStatus::kFailed) continue;
    const ModelMemory& memory = model->memory;
    const int64_t all =
        plan_->fixed() + lasting + memory.lasting() + tasks.SumWith(memory.task, kTasksOfAModel);
    if (waves == 0 || all > budget()) {
      ++waves;
      lasting = 0;
      tasks = LargestSum(n_workers_);
    }
    lasting += memory.lasting();
    for (int i = 0; i < kTasksOfAModel; ++i) tasks.Add(memory.task);
  }
  return std::max(waves, 1);
}

bool Run::HasRoomLocked(const Model& model) const {
  const int64_t others = resident_ - model.counted_bytes;
  if (plan_->together || others == plan_->fixed()) return true;
  return others + model.memory.lasting() +
             admitted_tasks_.SumWith(model.memory.task, kTasksOfAModel) <=
         budget();
}

bool Run::AnyWaitsLocked() {
  // Models that have failed meanwhile are met once.
  while (!waiting_.empty() && models_[waiting_.front()]->status != ModelStatus::kTraining) {
    waiting_.pop_front();
  }
  return !waiting_.empty();
}

void Run::SetStatusLocked(Model* model, ModelStatus status) {
  const bool trained = model->status == ModelStatus::kTraining && status != model->status;
  if (trained && model->device != kNoDevice) LeaveDeviceLocked(*model);
  model->status = status;
  const int64_t bytes = status == ModelStatus::kFailed ? 0 : model->memory.state;
  state_bytes_ += bytes - model->state_bytes;
  model->state_bytes = bytes;
  NoteRestLocked(*model);
}

void Run::NoteRestLocked(const Model& model) {
  if (!pool_) return;
  resting_.Set(model.index, model.status == ModelStatus::kDone && model.counted_bytes > 0);
}

void Run::AdmitOneLocked(Model* model) {
  model->admitted = true;
  for (int i = 0; i < kTasksOfAModel; ++i) admitted_tasks_.Add(model->memory.task);
  if (model->stored.bytes > 0 && !model->has_state) wanted_states_.AddAdmitted(model->index);
  CountLocked(model, model->memory.lasting());
  if (started_) BeginLocked(model);
}

void Run::AdmitLocked() {
  while (!waiting_.empty()) {
    Model* model = models_[waiting_.front()].get();
    const bool trains = model->status == ModelStatus::kTraining;
    if (trains && !HasRoomLocked(*model)) return;
    waiting_.pop_front();  // before BeginLocked(), at whose end others may be admitted
    if (trains) AdmitOneLocked(model);
  }
}

// What an admitted model begins with; called again once its stored state has come.
void Run::BeginLocked(Model* model) {
  model->ready_since = MonotonicSeconds();
  model->stored.awaited = model->stored.bytes > 0 && !model->has_state;
  if (model->stored.awaited) {
    events_.Push(NewEventLocked(EventType::kState, model));
    return;
  }
  if (Stopping::Stopped(model->state.monitor)) {
    StopLocked(model);
    TellStoppedLocked(*model);
    CountReportedLocked(model);
    DoneLocked(model);
  }
  UpdateLocked(model);
}

void Run::CountLocked(Model* model, int64_t bytes) {
  resident_ += bytes - model->counted_bytes;
  account_->Add(bytes - model->counted_bytes);
  model->counted_bytes = bytes;
  NoteRestLocked(*model);
}

// ---------------------------------------------------------------- snapshots

// Whether the visit that is next on the course ends an iteration whose weights somebody wants to
// see.
bool Run::EndsWithSnapshot(const Model& model, const Course& course) {
  return EndsIteration(model.rules, course) &&
         model.rules.KeepsWeights(course.iterations + 1, model.watching);
}

// A second copy of the weights beside one that is being evaluated is made where there is room. Not
// where partitions come in turns: a model that waits for room would hold its own.
bool Run::HasRoomForVisitLocked(const Model& model) const {
  if (model.passes.empty() || !EndsWithSnapshot(model, model.course)) return true;
  return window_ == nullptr &&
         resident_ + tasks_.bytes() + model.memory.task + model.memory.kept <= budget();
}

void Run::CountSnapshotsLocked(Model* model) {
  if (model->counted_bytes == 0 || model->status != ModelStatus::kTraining) return;
  int64_t snapshots = model->busy && EndsWithSnapshot(*model, model->course) ? 1 : 0;
  const Snapshot* last = nullptr;
  for (const auto& pass : model->passes) {
    if (pass->snapshot.get() != last) ++snapshots;
    last = pass->snapshot.get();
  }
  CountLocked(model,
              model->memory.lasting() + std::max<int64_t>(snapshots - 1, 0) * model->memory.kept);
}

// ---------------------------------------------------------------- the end

// The model trains no more: its state stays until it is taken, with room for a copy on the way.
void Run::EndLocked(Model* model) {
  if (!model->admitted) return;
  model->admitted = false;
  for (int i = 0; i < kTasksOfAModel; ++i) admitted_tasks_.Remove(model->memory.task);
  if (started_) AdmitLocked();
}

void Run::ReleaseStateLocked(Model* model) {
  model->state = ModelState();
  model->has_state = false;
  CountLocked(model, 0);
  if (started_ && !cancel_.load()) AdmitLocked();
}

// A visit or an evaluation on another thread may still be at work on what a failed model has; the
// last one releases it.
void Run::ReleaseIfIdleLocked(Model* model) {
  if (model->status != ModelStatus::kFailed || model->busy || model->tasks > 0) return;
  ReleaseStateLocked(model);
}

bool Run::NextEvent(Event* event) {
  bool has_room_again = false;
  if (!events_.Pop(event, &has_room_again)) return false;
  if (has_room_again) {
    // Under the lock, so that no worker misses it between its look and its wait.
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.WakeAll();
  }
  if (event->type == EventType::kFinished) ReleaseData();
  return true;
}

// Nobody reads data any more; the results need room.
void Run::ReleaseData() {
  workers_.Join();
  const std::lock_guard<std::mutex> lock(mutex_);
  bytes_data_ += data_.bytes();
  for (const int split : kSplits) {
    for (int p = 0; p < data_.partitions(split); ++p) data_.of(split).Drop(p);
  }
}

// ---------------------------------------------------------------- stored states

bool Run::WantedState(int32_t* mst_key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // Models that wait are looked at first, while there is room.
  const int64_t next = wanted_states_.Next([this](size_t index, bool admitted) {
    const Model& model = *models_[index];
    return model.status == ModelStatus::kTraining && model.stored.bytes > 0 && !model.has_state &&
           model.admitted == admitted && (admitted || !model.stored.checked);
  });
  if (next < 0) return false;
  *mst_key = models_[static_cast<size_t>(next)]->key;
  return true;
}

void Run::AddState(int32_t mst_key, const uint8_t* bytes, size_t size) {
  Model& model = Find(mst_key);
  if (model.stored.bytes == 0 || model.has_state) {
    throw Error(ErrorCode::kInternal,
                "no state of configuration " + std::to_string(mst_key) + " was asked for");
  }
  if (model.stored.reader == nullptr) {
    model.stored.reader = StoredReader(*model.trainer, model.stored.bytes);
  }
  model.stored.reader->Add(bytes, size);
  if (!model.stored.reader->complete()) return;
  const std::unique_ptr<StateReader> reader = std::move(model.stored.reader);
  std::optional<Problem> failure;
  try {
    AdoptState(&model, reader->Finish());
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kCorrupt || e.code() == ErrorCode::kNotReady) throw;
    failure = e.problem();
  }
  model.stored.checked = true;
  const Books books(this);
  if (failure.has_value()) {
    if (started_) {
      FailLocked(&model, *std::move(failure));
    } else {
      SetStatusLocked(&model, ModelStatus::kFailed);
      model.failure = *std::move(failure);
      EndLocked(&model);
      ReleaseStateLocked(&model);
    }
  } else if (!model.admitted) {
    model.state = ModelState();
    model.has_state = false;
  } else if (started_) {
    BeginLocked(&model);
  }
  if (started_) {
    RequestLoadLocked();
    idle_.WakeAll();
  }
}

// ---------------------------------------------------------------- results

Run::Model& Run::Find(int32_t mst_key) {
  const auto at = by_key_.find(mst_key);
  if (at == by_key_.end()) {
    throw Error(ErrorCode::kInvalidParameter,
                "the run has no configuration " + std::to_string(mst_key));
  }
  return *models_[at->second];
}

TrainingResult Run::Result(int32_t mst_key) {
  const Model& model = Find(mst_key);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (books_lost_) {
    throw Error(ErrorCode::kOutOfMemory, "out of memory", "The run could not keep its books.",
                "Train fewer configurations at once, or lower hopper.memory_limit.");
  }
  TrainingResult result = ResultOf(model);
  if (model.checkpoint.halt == Halt::kHalted) {
    result.state_size =
        StateWriter(StateLayoutOf(model.trainer->network().spec()), model.state).size();
    result.digest = model.checkpoint.digest;
    result.stopping = StoppingOf(*model.trainer, model.state);
  }
  if (model.status != ModelStatus::kDone) return result;
  result.n_weights = result.n_parameters;
  result.state_size = model.delivery.state_size;
  result.digest = model.delivery.state_taken ? model.delivery.digest : model.checkpoint.digest;
  result.stopping = model.delivery.stopping;
  return result;
}

Run::Model& Run::FindDone(int32_t mst_key) {
  Model& model = Find(mst_key);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (model.status == ModelStatus::kDone && !model.delivery.weights_taken) return model;
  throw Error(ErrorCode::kInternal,
              "configuration " + std::to_string(mst_key) + " has no result, or it was taken");
}

// No worker touches a model that is done.
size_t Run::TakeState(int32_t mst_key, uint8_t* bytes, size_t size) {
  Model& model = FindDone(mst_key);
  if (model.delivery.state_taken) return 0;
  if (model.delivery.writer == nullptr) {
    model.delivery.writer =
        std::make_unique<StateWriter>(StateLayoutOf(model.trainer->network().spec()), model.state);
  }
  const size_t n = model.delivery.writer->Read(bytes, size);
  if (n > 0 || size == 0) return n;
  model.delivery.digest = model.delivery.writer->digest().Hex();
  model.delivery.writer.reset();
  model.delivery.state_taken = true;
  // Weights are all that is left to be taken.
  model.state.params = model.trainer->TakeWeights(&model.state);
  const std::lock_guard<std::mutex> lock(mutex_);
  CountLocked(&model, static_cast<int64_t>(model.state.params.size() * sizeof(float)));
  return 0;
}

void Run::TakeWeights(int32_t mst_key, float* weights, int64_t n) {
  Model& model = FindDone(mst_key);
  const ModelSpec& spec = model.trainer->network().spec();
  if (!model.delivery.state_taken || n != spec.parameters) {
    throw Error(ErrorCode::kInternal, "weights of configuration " + std::to_string(mst_key) +
                                          " come after its state, all of them at once");
  }
  ExportWeights(spec, model.state.params.data(), weights);
  model.delivery.weights_taken = true;
  if (pool_) model.stored.bytes = model.delivery.state_size;  // it may come back
  const Books books(this);
  ReleaseStateLocked(&model);
  RequestLoadLocked();
  idle_.WakeAll();
}

}  // namespace hopper
