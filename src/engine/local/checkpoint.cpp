// Copies of models' states while a run goes on.
//
// A model halts between two iterations: its state does not change then, and all that has to be told
// of its iterations so far is told, so that the state and the values reported before it go
// together. A run that is resumed from them goes on as if it had never ended.
#include <utility>

#include "base/clock.h"
#include "engine/configuration.h"
#include "engine/local/run.h"
#include "engine/task_work.h"

namespace hopper {

// Whether the model, wherever it is in its evaluations, does not train on.
bool Run::HaltsHere(const Model& model) {
  const Checkpoint& checkpoint = model.checkpoint;
  return checkpoint.halt == Halt::kHalted ||
         (checkpoint.halt == Halt::kAsked && model.course.visit == 0 &&
          (checkpoint.at_once || model.course.iterations > checkpoint.iterations));
}

void Run::HaltIfDueLocked(Model* model) {
  if (model->checkpoint.halt != Halt::kAsked || !HaltsHere(*model)) return;
  if (model->status != ModelStatus::kTraining || model->busy || model->settling ||
      !model->passes.empty() || model->course.deciding || !HasVisits(model->rules, model->course)) {
    return;
  }
  model->checkpoint.halt = Halt::kHalted;
  model->checkpoint.writer.reset();
  model->checkpoint.digest.clear();
  Event event = NewEventLocked(EventType::kCheckpoint, model);
  event.iteration = static_cast<int32_t>(model->total_iterations);
  events_.Push(std::move(event));
}

void Run::HaltForCheckpoints(bool all) {
  if (!pool_) {
    throw Error(ErrorCode::kInternal, "models of this run do not halt");
  }
  const Books books(this);
  for (const auto& model : models_) {
    if (model->status != ModelStatus::kTraining || model->checkpoint.halt == Halt::kHalted)
      continue;
    model->checkpoint.halt = Halt::kAsked;
    model->checkpoint.at_once = model->checkpoint.at_once || all;
    HaltIfDueLocked(model.get());
    UpdateLocked(model.get());
  }
}

void Run::HaltEach(bool each) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    halts_each_ = each;
  }
  if (each) HaltForCheckpoints(false);
}

// The model goes on from here, and has nothing to tell yet.
void Run::BeginCheckpoint(Model* model) const {
  model->checkpoint = Checkpoint();
  model->checkpoint.iterations = model->course.iterations;
  if (halts_each_) model->checkpoint.halt = Halt::kAsked;
}

// No worker touches a model that has halted or is done.
size_t Run::CopyState(int32_t mst_key, uint8_t* bytes, size_t size) {
  Model& model = Find(mst_key);
  Checkpoint& checkpoint = model.checkpoint;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool done = model.status == ModelStatus::kDone && !model.delivery.state_taken;
    if (checkpoint.halt != Halt::kHalted && !done) {
      throw Error(ErrorCode::kInternal,
                  "configuration " + std::to_string(mst_key) + " has no state to copy");
    }
  }
  if (checkpoint.writer == nullptr) {
    checkpoint.writer =
        std::make_unique<StateWriter>(StateLayoutOf(model.trainer->network().spec()), model.state);
  }
  const size_t n = checkpoint.writer->Read(bytes, size);
  if (n > 0 || size == 0) return n;
  checkpoint.digest = checkpoint.writer->digest().Hex();
  checkpoint.writer.reset();
  return 0;
}

Run::Model& Run::FindHalted(int32_t mst_key) {
  Model& model = Find(mst_key);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (model.checkpoint.halt == Halt::kHalted) return model;
  throw Error(ErrorCode::kInternal, "configuration " + std::to_string(mst_key) + " has not halted");
}

void Run::CopyWeights(int32_t mst_key, float* weights, int64_t n) {
  const Model& model = FindHalted(mst_key);
  const ModelSpec& spec = model.trainer->network().spec();
  if (n != spec.parameters) {
    throw Error(ErrorCode::kInternal,
                "configuration " + std::to_string(mst_key) + " has another number of weights");
  }
  ExportWeights(spec, model.trainer->DeliveredWeights(model.state, nullptr).data(), weights);
}

void Run::SetIterations(int32_t mst_key, int32_t more) {
  Model& model = FindHalted(mst_key);
  if (more < 1) throw Error(ErrorCode::kInternal, "a model that has halted trains once more");
  const Books books(this);
  const int32_t before = model.rules.num_iterations;
  model.rules.num_iterations = static_cast<int32_t>(model.course.iterations) + more;
  model.work += VisitWork(*model.trainer, data_.train().desc()) * data_.train().n_partitions() *
                (model.rules.num_iterations - before);
}

void Run::Release(int32_t mst_key) {
  Model& model = FindHalted(mst_key);
  const Books books(this);
  BeginCheckpoint(&model);
  model.ready_since = MonotonicSeconds();
  UpdateLocked(&model);
  RequestLoadLocked();
  WakeNextLocked();
}

}  // namespace hopper
