#include "capi/engine_structs.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/field_text.h"
#include "capi/run_rules.h"
#include "engine/not_finite.h"
#include "params/precision.h"

namespace hopper {

namespace {

// Of what a field of the boundary has room for.
int32_t ReasonSizeOf(const std::string& message, const char* field) {
  return static_cast<int32_t>(std::min(ReasonSize(message), std::strlen(field)));
}

}  // namespace

TrainingOptions FromC(const hopper_run_options& options) {
  TrainingOptions out;
  out.seed = options.seed;
  out.rules = RulesFromC(options);
  out.threads = options.threads;
  if (options.threads_per_model != 0) out.threads_per_model = options.threads_per_model;
  out.starts = StartsFromC(options);
  out.memory_limit = options.memory_limit;
  out.use_gpus = options.use_gpus != 0;
  if (options.precision != nullptr) {
    out.precision = ParsePrecision(options.precision, out.use_gpus);
  }
  if (options.data_name != nullptr) out.data_name = options.data_name;
  out.mix_numerics = options.mix_numerics != 0;
  out.event_fd = options.event_fd;
  if (options.n_gpus > 0) out.gpus.assign(options.gpus, options.gpus + options.n_gpus);
  out.fuse = options.fuse != 0;
  out.device_number = options.device_number;
  return out;
}

Stint FromC(const hopper_stint& stint) {
  return {stint.mst_key, stint.iterations, stint.restart != 0, stint.done};
}

ExplainCosts FromC(const hopper_explain_costs& costs) {
  return {costs.read_bytes_per_second,
          costs.statement,
          costs.hop_bytes_per_second,
          costs.patience,
          costs.seconds,
          costs.threads_per_segment};
}

static_assert(static_cast<int>(EventType::kMetrics) == HOPPER_EVENT_METRICS);
static_assert(static_cast<int>(EventType::kIteration) == HOPPER_EVENT_ITERATION);
static_assert(static_cast<int>(EventType::kModelFailed) == HOPPER_EVENT_MODEL_FAILED);
static_assert(static_cast<int>(EventType::kModelDone) == HOPPER_EVENT_MODEL_DONE);
static_assert(static_cast<int>(EventType::kWarning) == HOPPER_EVENT_WARNING);
static_assert(static_cast<int>(EventType::kFinished) == HOPPER_EVENT_FINISHED);
static_assert(static_cast<int>(EventType::kLoad) == HOPPER_EVENT_LOAD);
static_assert(static_cast<int>(EventType::kModelStopped) == HOPPER_EVENT_MODEL_STOPPED);
static_assert(static_cast<int>(EventType::kState) == HOPPER_EVENT_STATE);
static_assert(static_cast<int>(EventType::kCheckpoint) == HOPPER_EVENT_CHECKPOINT);
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
  out->reason_size = ReasonSizeOf(event.problem.message, out->message);
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
  out->hopping = visit.hopping;
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
  out->seconds_training = result.spent.seconds_training;
  out->seconds_evaluating = result.spent.seconds_evaluating;
  out->seconds_waiting = result.spent.seconds_waiting;
  out->examples = result.spent.examples;
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
  out->reason_size = ReasonSizeOf(result.failure.message, out->error);
  CopyText(result.failure.detail, out->error_detail);
  out->stopped = result.stopping.stopped ? 1 : 0;
  out->best_iteration = result.stopping.best_iteration;
  out->kept_iteration = result.stopping.kept_iteration;
  out->learning_rate = result.stopping.learning_rate;
  out->mixed = result.stopping.mixed ? 1 : 0;
}

void ToC(const DataPlan& plan, hopper_data_plan* out) {
  out->resident = plan.resident ? 1 : 0;
  out->max_reads = plan.max_reads;
  out->bytes_data = plan.bytes_data;
  out->bytes_models = plan.bytes_models;
  out->bytes_window = plan.bytes_window;
  out->n_waiting = plan.n_waiting;
  out->bytes_aside = plan.bytes_aside;
}

void ToC(const RunInfo& info, hopper_run_info* out) {
  out->bytes_data = info.bytes_data;
  out->bytes_models = info.bytes_models;
  out->seconds_busy = info.seconds_busy;
  out->seconds_wall = info.seconds_wall;
  CopyText(info.numerics_class, out->numerics_class);
  out->bytes_read = info.bytes_read;
  out->n_loads = info.n_loads;
  out->seconds_reading = info.seconds_reading;
  out->n_workers = info.n_workers;
  out->seconds_hop = info.seconds_hop;
  out->n_tasks = info.n_tasks;
  out->n_steps = info.n_steps;
  out->n_wakes = info.n_wakes;
}

void ToC(const ExplainedModel& model, hopper_explain_model* out) {
  *out = hopper_explain_model{};
  out->mst_key = model.mst_key;
  if (model.problem.has_value()) {
    out->code = static_cast<int32_t>(model.problem->code);
    CopyText(model.problem->message, out->problem);
    CopyText(model.problem->detail, out->detail);
    CopyText(model.problem->hint, out->hint);
  }
  out->n_parameters = model.n_parameters;
  out->bytes_state = model.bytes_state;
  out->bytes_task = model.bytes_task;
  out->steps = model.steps;
  out->measured = model.measured ? 1 : 0;
  out->seconds_step = model.seconds_step;
  out->seconds_iteration = model.seconds_iteration;
  out->seconds_evaluation = model.seconds_evaluation;
  out->seconds_validation = model.seconds_validation;
  out->seconds_evaluating = model.seconds_evaluating;
  out->n_passes = model.n_passes;
}

void ToC(const ExplainedRun& run, hopper_explain_run* out) {
  out->n_workers = run.n_workers;
  out->bytes_data = run.bytes_data;
  out->bytes_models = run.bytes_models;
  out->seconds_calibrating = run.seconds_calibrating;
  out->seconds = run.seconds;
  out->seconds_read = run.seconds_read;
  out->seconds_wait = run.seconds_wait;
  out->seconds_hop = run.seconds_hop;
  out->seconds_train = run.seconds_train;
  out->seconds_evaluate = run.seconds_evaluate;
  out->idle_share = run.idle_share;
}

ExplainedRun FromC(const hopper_explain_run& run) {
  ExplainedRun out;
  out.n_workers = run.n_workers;
  out.seconds = run.seconds;
  out.seconds_read = run.seconds_read;
  out.seconds_wait = run.seconds_wait;
  out.seconds_hop = run.seconds_hop;
  out.seconds_train = run.seconds_train;
  out.seconds_evaluate = run.seconds_evaluate;
  out.idle_share = run.idle_share;
  return out;
}

}  // namespace hopper
