// Runs whose workers are GPUs: who trains where, and models that train side by side.
//
// A device's thread takes all models of one shape that are due, up to the lanes of an array. Each
// model stays on one device. Snapshots, evaluations, failures and reports are those of
// work.cpp.
#include <algorithm>
#include <map>
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
  settings_.numerics_class = std::move(choice.numerics_class);
}

// Models of one shape go to a device by arrays, the largest work first to the device with the
// least.
void Run::AssignDevicesLocked() {
  std::map<std::string, std::vector<Model*>> shapes;
  for (const auto& model : models_) {
    if (model->status == ModelStatus::kFailed) continue;
    model->lane_key = LaneKey(*model->trainer, data_.train().desc());
    shapes[model->lane_key].push_back(model.get());
  }
  struct Array {
    std::vector<Model*> models;
    double work = 0.0;
  };
  std::vector<Array> arrays;
  for (const auto& [key, models] : shapes) {
    const auto lanes =
        static_cast<size_t>(DeviceLanes(*models[0]->trainer, data_.train().desc(), devices_[0]));
    for (size_t first = 0; first < models.size(); first += lanes) {
      Array array;
      for (size_t i = first; i < std::min(first + lanes, models.size()); ++i) {
        array.models.push_back(models[i]);
        array.work += models[i]->work;
      }
      arrays.push_back(std::move(array));
    }
  }
  std::stable_sort(arrays.begin(), arrays.end(),
                   [](const Array& a, const Array& b) { return a.work > b.work; });
  std::vector<double> load(devices_.size(), 0.0);
  for (const Array& array : arrays) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += array.work;
    for (Model* model : array.models) model->device = static_cast<int>(least - load.begin());
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
    if (worker == nullptr) {
      for (const auto& model : models_) {
        if (model->device == device && model->status == ModelStatus::kTraining) {
          FailLocked(model.get(), problem);
        }
      }
    }
    while (!cancel_.load()) {
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
