// Runs whose workers are GPUs: who trains where, and models that train side by side.
//
// A device's thread takes all models of one shape that are due, up to the lanes of an array. Each
// model stays on one device, in an open run for a leg. Its state is on the host, too, after each
// visit, so that checkpoints and results are taken as where threads train. Snapshots, evaluations,
// failures and reports are those of work.cpp.
#include <algorithm>
#include <utility>

#include "base/cancel.h"
#include "base/clock.h"
#include "engine/devices/device_choice.h"
#include "engine/failure.h"
#include "engine/local/run.h"
#include "engine/not_finite.h"
#include "engine/task_work.h"

namespace hopper {

// The devices that the options name, all of them where they name none.
void Run::ChooseDevices(const TrainingOptions& options) {
  DeviceChoice choice = hopper::ChooseDevices(options, settings_.precision);
  devices_ = std::move(choice.devices);
  on_devices_.resize(devices_.size());
  settings_.numerics_class = std::move(choice.numerics_class);
}

// Where an array of its shape has a lane left; else on the device with the least work.
void Run::AssignDeviceLocked(Model* model) {
  if (model->lane_key.empty()) model->lane_key = LaneKey(*model->trainer, data_.train().desc());
  const int lanes = DeviceLanes(*model->trainer, data_.train().desc(), devices_[0]);
  const auto rank = [&](OnDevice* device) {
    return std::make_pair(device->shapes[model->lane_key] % lanes == 0, device->work);
  };
  const auto best = std::min_element(on_devices_.begin(), on_devices_.end(),
                                     [&](OnDevice& a, OnDevice& b) { return rank(&a) < rank(&b); });
  model->device = static_cast<int>(best - on_devices_.begin());
  model->reloads = true;
  model->assigned = model->work;
  best->work += model->assigned;
  ++best->shapes[model->lane_key];
}

void Run::LeaveDeviceLocked(const Model& model) {
  OnDevice& device = on_devices_[static_cast<size_t>(model.device)];
  device.work -= model.assigned;
  --device.shapes[model.lane_key];
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
  std::unique_ptr<DeviceWorker> worker;
  Problem problem;
  try {
    worker = std::make_unique<DeviceWorker>(devices_[static_cast<size_t>(device)], data_.train(),
                                            data_.valid());
  } catch (...) {
    problem = DescribeException();
  }
  std::unique_lock<std::mutex> lock(mutex_);
  try {
    while (!cancel_.load()) {
      if (worker == nullptr) FailOnDeviceLocked(device, problem);
      const std::vector<Task> tasks =
          worker == nullptr ? std::vector<Task>() : NextTasksLocked(device, *worker);
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

// The next task of this device, and all others of its shape that are due as well.
std::vector<Run::Task> Run::NextTasksLocked(int device, const DeviceWorker& worker) {
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
  const auto lanes = static_cast<size_t>(worker.Lanes(*first.model->trainer));
  for (int64_t at = -1; tasks.size() < lanes && (at = companions.NextOf(work, at)) >= 0;) {
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
          &visits, cancel_,
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
    const Problem problem = DescribeException();
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
    done = worker->Evaluate(*tasks[0].model->trainer, weights, tasks[0].pass->split == kValidSplit,
                            cancel_, &sums);
  } catch (const Cancelled&) {
    done = false;
  } catch (...) {
    failure = DescribeException();
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
