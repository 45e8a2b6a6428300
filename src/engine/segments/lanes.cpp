// What a segment does with the models that came, on a GPU: those of one shape side by side.
#include "engine/devices/lanes.h"

#include <algorithm>
#include <utility>

#include "base/cancel.h"
#include "base/clock.h"
#include "engine/segments/device.h"
#include "engine/segments/traveller.h"

namespace hopper {

// All other models that are due for the same.
void Group::AddCompanionsLocked(std::vector<Task>* tasks) {
  const Task first = tasks->front();
  if (first.kind == Task::kPack) return;
  const auto lanes =
      static_cast<size_t>(device_->Lanes(*first.model->trainer, data_.train().desc()));
  const std::string work = WorkOf(first);
  for (int64_t at = -1; tasks->size() < lanes && (at = due_.companions().NextOf(work, at)) >= 0;) {
    Traveller* other = travellers_[static_cast<size_t>(at)].get();
    Task task = NextOf(*other);
    if (first.kind == Task::kEvaluate && task.partitions != first.partitions) continue;
    task.model = other;
    TakeLocked(other);
    tasks->push_back(std::move(task));
  }
}

// As far as all that are worked on side by side have it in common. All partitions that a model
// lacks here are evaluated at once: mostly they are the same ones.
std::string Group::WorkOf(const Task& task) const {
  const Traveller& model = *task.model;
  const auto& [split, partition] = task.partitions.front();
  if (task.kind == Task::kEvaluate) {
    return model.lane_key + " evaluate " + std::to_string(split) + " " + std::to_string(partition) +
           " " + std::to_string(task.partitions.size());
  }
  return TrainWork(model.lane_key, data_.train().partition(partition).n,
                   model.rules.TakesRunningMetrics(model.course.iterations + 1));
}

void Group::DoTogether(const std::vector<Task>& tasks) {
  try {
    if (tasks.front().kind == Task::kTrain) TrainTogether(tasks);
    if (tasks.front().kind == Task::kEvaluate) EvaluateTogether(tasks);
  } catch (...) {
    if (cancel_.load()) return;  // nobody goes on with them
    const Problem problem = backend_.Describe();
    for (const Task& task : tasks) {
      if (task.model->status != ModelStatus::kFailed) Fail(task.model, problem);
    }
  }
}

void Group::TrainTogether(const std::vector<Task>& tasks) {
  const Stopwatch watch;
  std::vector<VisitBegun> begun;
  std::vector<DeviceWorker::Visit> visits;
  std::vector<Traveller*> models;
  for (const Task& task : tasks) {
    const int partition = task.partitions.front().second;
    VisitBegun visit;
    if (!BeginVisit(task.model, partition, &visit)) continue;
    begun.push_back(visit);
    models.push_back(task.model);
    DeviceWorker::Visit on_device;
    on_device.key = task.model->key;
    on_device.trainer = task.model->trainer;
    on_device.state = &task.model->state;
    on_device.partition = partition;
    visits.push_back(std::move(on_device));
  }
  if (visits.empty()) return;
  const int lanes = device_->Lanes(*visits.front().trainer, data_.train().desc());
  device_->Do(data_.train(), data_.valid(), [&](DeviceWorker* worker) {
    const CancelScope cancels(cancel_);
    for (Traveller* model : models) {
      // What the device may still have is of an earlier hop.
      if (!model->on_device) worker->Forget(model->key);
    }
    worker->Train(&visits, lanes, cancel_, begun.front().metrics);
  });
  // What the device spent on all of them.
  const double share = watch.Seconds() / static_cast<double>(visits.size());
  for (size_t i = 0; i < visits.size(); ++i) {
    models[i]->on_device = true;
    EndVisit(models[i], begun[i], visits[i].end, visits[i].sums, share);
  }
}

void Group::EvaluateTogether(const std::vector<Task>& tasks) {
  const auto& partitions = tasks.front().partitions;
  std::vector<AlignedArray<float>> copies(tasks.size());
  std::vector<const float*> pointers;
  for (size_t i = 0; i < tasks.size(); ++i) {
    pointers.push_back(EvaluatedWeights(*tasks[i].model, &copies[i]));
  }
  for (const int split : kSplits) {
    std::vector<int> here;
    for (const auto& [of, p] : partitions) {
      if (of == split) here.push_back(p);
    }
    if (here.empty()) continue;
    const Stopwatch watch;
    std::vector<MetricSums> sums(tasks.size());
    bool done = false;
    const Trainer& trainer = *tasks.front().model->trainer;
    const int lanes = device_->Lanes(trainer, data_.train().desc());
    device_->Do(data_.train(), data_.valid(), [&](DeviceWorker* worker) {
      done = worker->Evaluate(trainer, lanes, pointers, split == kValidSplit, cancel_, &sums);
    });
    if (!done) return;
    const double share = watch.Seconds() / static_cast<double>(tasks.size());
    for (size_t i = 0; i < tasks.size(); ++i) {
      Traveller* model = tasks[i].model;
      // The sums of all of this segment's partitions at once.
      for (const int p : here) model->passed[{split, p}] = MetricSums();
      model->passed[{split, here.front()}] = std::move(sums[i]);
      RecordEvaluation(split, here.front(), static_cast<int32_t>(here.size()), share, model);
    }
  }
  for (size_t i = 0; i < tasks.size(); ++i) FinishPasses(tasks[i].model, pointers[i]);
}

}  // namespace hopper
