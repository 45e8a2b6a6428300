// Runs whose workers are GPUs: who trains where, and models that train side by side.
//
// A device has several workers, each with a thread and a queue of its own, so that it computes
// steps of several arrays at once. A worker takes all models of one shape that are due, up to the
// lanes of an array. Each model stays with one worker, in an open run for a stint. Its state is on
// the host, too, after each visit, so that checkpoints and results are taken as where threads
// train. Snapshots, evaluations, failures and reports are those of work.cpp.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/cancel.h"
#include "base/clock.h"
#include "engine/devices/device_choice.h"
#include "engine/devices/lanes.h"
#include "engine/local/run.h"
#include "engine/not_finite.h"
#include "engine/task_work.h"

namespace hopper {

// The devices that the options name, all of them where they name none.
void Run::ChooseDevices(const TrainingOptions& options) {
  DeviceChoice choice = hopper::ChooseDevices(backend_.devices(), options, settings_.precision);
  device_data_ = backend_.devices()->NewData();
  devices_ = std::move(choice.devices);
  settings_.SetClass(choice.numerics_class);
}

// Workers of all devices, and who trains with which: of a run that is closed by now all models are
// known, and workers that none needs are not started.
void Run::AssignDevicesLocked() {
  devices_ = WorkersOf(devices_, data_.bytes());
  on_devices_.assign(devices_.size(), OnDevice());
  if (!open_) {
    std::map<std::string, size_t> shapes;
    for (const auto& model : models_) {
      if (model->status != ModelStatus::kTraining) continue;
      model->lane_key = backend_.devices()->LaneKey(*model->trainer, data_.train().desc());
      ++shapes[model->lane_key];
    }
    for (const auto& model : models_) {
      if (model->status != ModelStatus::kTraining) continue;
      model->lanes = EvenLanes(shapes[model->lane_key], LanesOn(*model));
      AssignDeviceLocked(model.get());
    }
    while (on_devices_.size() > 1 && on_devices_.back().models == 0) on_devices_.pop_back();
    devices_.resize(on_devices_.size());
  }
  n_workers_ = static_cast<int32_t>(devices_.size());
}

int Run::LanesOn(const Model& model) const {
  return backend_.devices()->Lanes(*model.trainer, data_.train().desc(), devices_[0]);
}

// Where an array of its shape has a lane left; else with the worker that has the least work, of
// those in whose share of memory the array has room.
void Run::AssignDeviceLocked(Model* model) {
  const DataDesc& desc = data_.train().desc();
  const Devices& devices = *backend_.devices();
  if (model->lane_key.empty()) model->lane_key = devices.LaneKey(*model->trainer, desc);
  if (model->lanes == 0) model->lanes = LanesOn(*model);
  const int64_t bytes =
      devices.LaneBytes(*model->trainer, desc, devices_[0].precision, model->lanes);
  const auto rank = [&](size_t at) {
    OnDevice& worker = on_devices_[at];
    const int64_t share = devices_[at].share;
    return std::make_tuple(share >= 0 && share < devices_[0].share && bytes > share,
                           worker.shapes[model->lane_key] % model->lanes == 0, worker.work);
  };
  size_t best = 0;
  for (size_t at = 1; at < on_devices_.size(); ++at) {
    if (rank(at) < rank(best)) best = at;
  }
  model->device = static_cast<int>(best);
  model->reloads = true;
  model->assigned = model->work;
  OnDevice& worker = on_devices_[best];
  ++worker.models;
  worker.work += model->assigned;
  ++worker.shapes[model->lane_key];
}

void Run::LeaveDeviceLocked(const Model& model) {
  OnDevice& worker = on_devices_[static_cast<size_t>(model.device)];
  --worker.models;
  worker.work -= model.assigned;
  --worker.shapes[model.lane_key];
}

void Run::FailOnDeviceLocked(int device, const Problem& problem) {
  for (const auto& model : models_) {
    if (model->device == device && model->status == ModelStatus::kTraining) {
      FailLocked(model.get(), problem);
    }
  }
}

void Run::DeviceWork(int device) {
  const CancelScope cancels(cancel_);
  const auto at = static_cast<size_t>(device);
  std::unique_ptr<DeviceWorker> worker;
  std::optional<Problem> problem;  // why the device cannot be used
  std::unique_lock<std::mutex> lock(mutex_);
  try {
    while (!cancel_.load()) {
      if (problem.has_value()) {
        FailOnDeviceLocked(device, *problem);
      } else if (worker == nullptr && on_devices_[at].models > 0) {
        lock.unlock();
        try {
          worker = backend_.devices()->Open(devices_[at], data_.train(), data_.valid(),
                                            device_data_.get());
        } catch (...) {
          problem = backend_.Describe();
        }
        lock.lock();
        continue;
      }
      const std::vector<Task> tasks =
          worker == nullptr ? std::vector<Task>() : NextTasksLocked(device);
      if (tasks.empty()) {
        if (!AnyLeftLocked()) break;
        idle_.Wait(&lock);
        continue;
      }
      lock.unlock();
      const Stopwatch watch;
      if (tasks[0].pass != nullptr) {
        EvaluateTogether(tasks, worker.get());
      } else {
        TrainTogether(tasks, worker.get());
      }
      lock.lock();
      tally_.seconds_busy += watch.Seconds();
      idle_.WakeAll();
    }
  } catch (...) {
    // Only the bookkeeping can bring us here, for lack of memory.
    if (!lock.owns_lock()) lock.lock();
    LoseBooksLocked();
  }
  if (worker != nullptr) {
    lock.unlock();
    worker.reset();
    lock.lock();
  }
  EndWorkerLocked();
}

// What a model is to do next, as far as all that are worked on side by side have it in common.
// `pass`: null for a visit.
std::string Run::WorkOf(const Model& model, const EvaluationPass* pass) const {
  if (pass != nullptr) return model.lane_key + " evaluate " + std::to_string(pass->split);
  const int64_t rows = data_.train().partition(ring_.PartitionOf(model.key, model.course.visit)).n;
  return TrainWork(model.lane_key, rows,
                   model.rules.TakesRunningMetrics(model.course.iterations + 1));
}

// The next task of this worker, and all others of its shape that are due as well.
std::vector<Run::Task> Run::NextTasksLocked(int device) {
  const Companions& companions = DueOn(device).companions();
  Task first;
  first.worker = device;
  if (!NextTaskLocked(&first, device)) return {};
  std::vector<Task> tasks{first};
  const std::string work = WorkOf(*first.model, first.pass.get());
  if (first.pass != nullptr) {
    TakeWholePassLocked(first.pass.get());
    UpdateLocked(first.model);
  }
  OnDevice& here = on_devices_[static_cast<size_t>(device)];
  const int lanes = LanesFor(here.shapes[first.model->lane_key], first.model->lanes);
  tasks[0].lanes = lanes;
  for (int64_t at = -1;
       static_cast<int>(tasks.size()) < lanes && (at = companions.NextOf(work, at)) >= 0;) {
    Model* model = models_[static_cast<size_t>(at)].get();
    if (model == first.model) continue;
    Task task;
    task.model = model;
    task.worker = device;
    task.started = first.started;
    if (first.pass != nullptr) {
      task.pass = OpenPassLocked(*model);
      if (task.pass == nullptr) continue;
      TakeWholePassLocked(task.pass.get());
      task.wait = task.started - task.pass->ready_since;
    } else {
      if (!TrainsNextLocked(*model)) continue;  // there was room for its snapshot once
      TakeVisitLocked(&task);
    }
    UpdateLocked(model);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

void Run::TrainTogether(const std::vector<Task>& tasks, DeviceWorker* worker) {
  const Stopwatch watch;
  std::vector<VisitOutcome> outcomes(tasks.size());
  std::vector<DeviceWorker::Visit> visits;
  bool cancelled = false;
  try {
    for (size_t i = 0; i < tasks.size(); ++i) {
      Model* model = tasks[i].model;
      outcomes[i].examples_before = model->state.examples;
      cancelled = cancelled || !HasState(model);
      if (std::exchange(model->reloads, false)) worker->Forget(model->key);
      DeviceWorker::Visit visit;
      visit.key = model->key;
      visit.trainer = model->trainer.get();
      visit.state = &model->state;
      visit.partition = ring_.PartitionOf(model->key, model->course.visit);
      visits.push_back(std::move(visit));
    }
    if (!cancelled)
      worker->Train(
          &visits, tasks[0].lanes, cancel_,
          tasks[0].model->rules.TakesRunningMetrics(tasks[0].model->course.iterations + 1));
    for (size_t i = 0; i < tasks.size(); ++i) {
      outcomes[i].sums = std::move(visits[i].sums);
      outcomes[i].end = cancelled ? VisitEnd::kCancelled : visits[i].end;
      if (visits[i].end == VisitEnd::kDone)
        outcomes[i].snapshot = SnapshotAfterVisit(*tasks[i].model, tasks[i].model->course);
    }
  } catch (const Cancelled&) {
    for (VisitOutcome& outcome : outcomes) outcome.end = VisitEnd::kCancelled;
  } catch (...) {
    const Problem problem = backend_.Describe();
    for (VisitOutcome& outcome : outcomes) {
      outcome.failure = problem;
    }
  }
  // What the device spent on all of them.
  const double share = watch.Seconds() / static_cast<double>(tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (outcomes[i].failure.has_value()) worker->Forget(tasks[i].model->key);
    outcomes[i].laps.Add(share);
    FinishVisit(tasks[i], std::move(outcomes[i]));
  }
}

void Run::EvaluateTogether(const std::vector<Task>& tasks, DeviceWorker* worker) {
  const Stopwatch watch;
  std::vector<MetricSums> sums(tasks.size());
  bool done = false;
  std::optional<Problem> failure;
  try {
    std::vector<const float*> weights;
    for (const Task& task : tasks) weights.push_back(task.pass->snapshot->weights.data());
    done = worker->Evaluate(*tasks[0].model->trainer, tasks[0].lanes, weights,
                            tasks[0].pass->split == kValidSplit, cancel_, &sums);
  } catch (const Cancelled&) {
    done = false;
  } catch (...) {
    failure = backend_.Describe();
  }
  const double share = watch.Seconds() / static_cast<double>(tasks.size());
  Books books(this);
  for (size_t i = 0; i < tasks.size(); ++i) {
    Model* model = tasks[i].model;
    VisitRecord visit;
    visit.kind = VisitKind::kEvaluate;
    visit.split = tasks[i].pass->split;
    visit.iteration = tasks[i].pass->total_iteration;
    visit.evaluate = share;
    RecordVisitLocked(tasks[i], visit);
    model->spent.seconds_evaluating += share;
    if (model->status != ModelStatus::kTraining) continue;
    if (failure.has_value()) {
      FailLocked(model, *failure);
    } else if (done) {
      // The sums of all partitions at once.
      EvaluationPass& pass = *tasks[i].pass;
      pass.sums[0] = std::move(sums[i]);
      pass.unfinished = 0;
      model->work -= PassWork(*model->trainer, data_.of(pass.split).desc());
      Settle(model, &books);
      UpdateLocked(model);
    }
  }
}

}  // namespace hopper
