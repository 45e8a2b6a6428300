// A run that models enter and leave while it runs: stints of one model follow one another, others
// come and go beside it.
//
// A model rests when it has entered and when its stint is done: its state stays in memory while
// that lasts, until its result is taken. A model that waits for memory holds none; so whoever is in
// the way has its result taken first, and comes back as a stored state.
#include <utility>

#include "base/number_text.h"
#include "engine/local/run.h"
#include "engine/task_work.h"

namespace hopper {

void Run::StayOpen() {
  if (started_ || !models_.empty()) {
    throw Error(ErrorCode::kInternal, "a run is open from its first configuration on");
  }
  pool_ = true;
  open_ = true;
}

// Whether it fits depends on sizes only, as in a run of its own. That the run has planned for
// smaller ones is not its fault.
void Run::RequirePlannedRoom(const Model& model) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const int64_t needed = model.memory.alone();
  if (model.status == ModelStatus::kFailed || needed > budget() - least_data_) return;
  if (needed <= budget() - plan_->fixed()) return;
  throw Error(ErrorCode::kLimitExceeded,
              "configuration " + std::to_string(model.key) + " needs a run of its own",
              "It takes " + BytesText(needed) + ", the run has planned for smaller ones.");
}

void Run::EnterLocked(std::unique_ptr<Model> entering) {
  Model* model = entering.get();
  models_.push_back(std::move(entering));
  model->delivery.state_taken = model->delivery.weights_taken = true;  // it has no result yet
  if (!started_) {
    if (model->status == ModelStatus::kTraining) SetStatusLocked(model, ModelStatus::kDone);
    return;
  }
  for (DueModels& due : due_) due.Add(model->memory.task);
  ++live_;
  const int64_t free = budget() - least_data_;
  if (model->status == ModelStatus::kTraining && model->memory.alone() <= free) {
    SetStatusLocked(model, ModelStatus::kDone);
    return;
  }
  Problem problem = model->status == ModelStatus::kFailed ? std::move(model->failure)
                                                          : DoesNotFit(model->memory, free);
  SetStatusLocked(model, ModelStatus::kTraining);
  ++training_;
  FailLocked(model, std::move(problem));
}

// Another model whose result keeps memory, or the model's own; false: none does.
bool Run::MayGiveWayLocked(const Model& model, int32_t* key) const {
  const int64_t other = resting_.FirstBeside(model.index);
  *key = other < 0 ? model.key : models_[static_cast<size_t>(other)]->key;
  return other >= 0 || resting_.Contains(model.index);
}

bool Run::GoOn(const Stint& stint, int32_t* take) {
  Model& model = Find(stint.mst_key);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool dropped =
        model.delivery.state_taken && !model.delivery.weights_taken && !stint.restart;
    if (!open_ || stint.iterations < 1 || stint.done < 0 ||
        model.status == ModelStatus::kTraining || dropped) {
      throw Error(ErrorCode::kInternal,
                  "configuration " + std::to_string(stint.mst_key) + " cannot go on");
    }
  }
  const Books books(this);
  if (model.status == ModelStatus::kFailed) {
    if (started_) TellFailureLocked(model);  // otherwise the start does
    return true;
  }
  if (stint.restart) {
    ReleaseStateLocked(&model);
    model.stored.bytes = 0;
    model.total_iterations = 0;
  }
  // Before the start the run plans for all who train.
  const bool has_room = !started_ || (!AnyWaitsLocked() && HasRoomLocked(model));
  if (!has_room && MayGiveWayLocked(model, take)) return false;

  model.rules.num_iterations = stint.done + stint.iterations;
  model.course = Course();
  model.course.iterations = stint.done;
  BeginCheckpoint(&model);
  model.observed = Observed();
  model.running = MetricSums();
  model.reported = stint.done;
  model.delivery = Delivery();
  SetStatusLocked(&model, ModelStatus::kTraining);
  if (!started_) return true;
  ++training_;
  model.work = VisitWork(*model.trainer, data_.train().desc()) * data_.train().n_partitions() *
               stint.iterations;
  if (!devices_.empty()) AssignDeviceLocked(&model);
  if (has_room) {
    if (model.has_state) model.trainer->stopping().Adopt(&model.state.monitor);
    AdmitOneLocked(&model);
  } else {
    model.state = ModelState();
    model.has_state = false;
    waiting_.push_back(model.index);
  }
  RequestLoadLocked();
  WakeNextLocked();
  return true;
}

void Run::Close() {
  const Books books(this);
  open_ = false;
  idle_.WakeAll();
}

}  // namespace hopper
