#include "capi/torch_api_structs.h"

#include <algorithm>

#include "base/field_text.h"

namespace hopper {

static_assert(static_cast<int>(EventType::kMetrics) == HOPPER_EVENT_METRICS);
static_assert(static_cast<int>(EventType::kIteration) == HOPPER_EVENT_ITERATION);
static_assert(static_cast<int>(EventType::kModelFailed) == HOPPER_EVENT_MODEL_FAILED);
static_assert(static_cast<int>(EventType::kModelDone) == HOPPER_EVENT_MODEL_DONE);
static_assert(static_cast<int>(EventType::kWarning) == HOPPER_EVENT_WARNING);
static_assert(static_cast<int>(EventType::kFinished) == HOPPER_EVENT_FINISHED);
static_assert(static_cast<int>(EventType::kLoad) == HOPPER_EVENT_LOAD);
static_assert(static_cast<int>(EventType::kModelStopped) == HOPPER_EVENT_MODEL_STOPPED);
static_assert(static_cast<int>(EventType::kState) == HOPPER_EVENT_STATE);
static_assert(kTrainSplit == HOPPER_SPLIT_TRAIN && kValidSplit == HOPPER_SPLIT_VALID);

void ToC(const Event& event, hopper_event* out) {
  *out = hopper_event{};
  out->type = static_cast<int32_t>(event.type);
  out->mst_key = event.mst_key;
  out->iteration = event.iteration;
  out->split = event.split;
  out->running = event.running ? 1 : 0;
  out->n_live = event.n_live;
  out->loss = event.loss;
  // A configuration with more metrics is refused.
  out->n_metrics = static_cast<int32_t>(std::min(event.metrics.size(), size_t{HOPPER_MAX_METRICS}));
  std::copy_n(event.metrics.begin(), out->n_metrics, out->metrics);
  out->elapsed = event.elapsed;
  out->partition = event.partition;
  out->take = event.take ? 1 : 0;
  CopyText(event.problem.message, out->message);
  CopyText(event.problem.detail, out->detail);
  CopyText(event.problem.hint, out->hint);
}

static_assert(static_cast<int>(VisitKind::kTrain) == HOPPER_VISIT_TRAIN);
static_assert(static_cast<int>(VisitKind::kEvaluate) == HOPPER_VISIT_EVALUATE);

void ToC(const VisitRecord& visit, hopper_visit* out) {
  out->mst_key = visit.mst_key;
  out->iteration = visit.iteration;
  out->kind = static_cast<int32_t>(visit.kind);
  out->split = visit.split;
  out->worker = visit.worker;
  out->hop = visit.hop;
  out->first_partition = visit.first_partition;
  out->n_partitions = visit.n_partitions;
  out->started = visit.started;
  out->read = visit.read;
  out->wait = visit.wait;
  out->moved = visit.moved;
  out->train = visit.train;
  out->evaluate = visit.evaluate;
  out->bytes_written = visit.bytes_written;
}

static_assert(static_cast<int>(ModelStatus::kTraining) == HOPPER_MODEL_TRAINING);
static_assert(static_cast<int>(ModelStatus::kDone) == HOPPER_MODEL_DONE);
static_assert(static_cast<int>(ModelStatus::kFailed) == HOPPER_MODEL_FAILED);

void ToC(const TrainingResult& result, hopper_model_result* out) {
  *out = hopper_model_result{};
  out->status = static_cast<int32_t>(result.status);
  out->iterations = result.iterations;
  out->seconds_training = result.seconds_training;
  out->seconds_evaluating = result.seconds_evaluating;
  out->seconds_waiting = result.seconds_waiting;
  out->examples = result.examples;
  out->n_parameters = result.n_parameters;
  out->n_weights = result.n_weights;
  out->state_size = result.state_size;
  CopyText(result.digest, out->digest);
  CopyText(result.loss_type, out->loss_type);
  out->n_metrics =
      static_cast<int32_t>(std::min(result.metrics_type.size(), size_t{HOPPER_MAX_METRICS}));
  for (size_t i = 0; i < static_cast<size_t>(out->n_metrics); ++i) {
    CopyText(result.metrics_type[i], out->metrics_type[i]);
  }
  CopyText(result.failure.message, out->error);
  CopyText(result.failure.detail, out->error_detail);
  out->stopped = result.stopping.stopped ? 1 : 0;
  out->best_iteration = result.stopping.best_iteration;
  out->kept_iteration = result.stopping.kept_iteration;
  out->learning_rate = result.stopping.learning_rate;
}

}  // namespace hopper
