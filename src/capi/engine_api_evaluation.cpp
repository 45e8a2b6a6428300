// The table of evaluations.
#include <vector>

#include "capi/engine_api.h"
#include "capi/engine_api_calls.h"
#include "capi/engine_structs.h"
#include "engine/evaluation.h"
#include "model_hopper/evaluate.h"

struct hopper_evaluation : hopper::Evaluation {
  using Evaluation::Evaluation;
};

namespace hopper {
namespace {

int EvaluationAddWeights(hopper_evaluation* evaluation, const float* weights, int64_t n,
                         hopper_error* error) {
  return Call(evaluation, error, [&] {
    RequireAll(evaluation, weights);
    evaluation->AddWeights(weights, n);
  });
}

int EvaluationAddBuffer(hopper_evaluation* evaluation, const hopper_buffer* buffer,
                        hopper_error* error) {
  return Call(evaluation, error, [&] {
    RequireAll(evaluation, buffer);
    evaluation->AddBuffer(FromC(*buffer));
  });
}

int EvaluationStart(hopper_evaluation* evaluation, hopper_error* error) {
  return Call(evaluation, error, [&] {
    RequireAll(evaluation);
    evaluation->Start();
  });
}

int EvaluationPoll(hopper_evaluation* evaluation, hopper_event* event, hopper_error* error) {
  return AskOf(evaluation, error, [&] {
    RequireAll(evaluation, event);
    Event values;
    if (!evaluation->Poll(&values)) return false;
    ToC(values, event);
    return true;
  });
}

int EvaluationLimit(hopper_evaluation* evaluation, int64_t memory_limit, hopper_error* error) {
  return Call(evaluation, error, [&] {
    RequireAll(evaluation);
    evaluation->Limit(memory_limit);
  });
}

int EvaluationRoom(hopper_evaluation* evaluation, int32_t partition, hopper_error* error) {
  return AskOf(evaluation, error, [&] {
    RequireAll(evaluation);
    return evaluation->Room(partition);
  });
}

int EvaluationConfusion(hopper_evaluation* evaluation, const int64_t** counts, int32_t* n_classes,
                        hopper_error* error) {
  return Call(evaluation, error, [&] {
    RequireAll(evaluation, counts, n_classes);
    *counts = evaluation->Confusion(n_classes);
  });
}

int EvaluationChoose(hopper_evaluation* evaluation, const int32_t* partitions, int32_t n,
                     hopper_error* error) {
  return Call(evaluation, error, [&] {
    RequireAll(evaluation, partitions);
    evaluation->Choose(std::vector<int32_t>(partitions, partitions + n));
  });
}

int EvaluationSums(hopper_evaluation* evaluation, const uint8_t** bytes, size_t* size,
                   hopper_error* error) {
  return AskOf(evaluation, error, [&] {
    RequireAll(evaluation, bytes, size);
    return evaluation->Sums(bytes, size);
  });
}

int EvaluationTotal(hopper_evaluation* evaluation, const uint8_t* bytes, size_t size,
                    hopper_event* event, hopper_error* error) {
  return Call(evaluation, error, [&] {
    RequireAll(evaluation, bytes, event);
    Event values;
    evaluation->Total(bytes, size, &values);
    ToC(values, event);
  });
}

void EvaluationFree(void* evaluation) {
  Guard(nullptr, [&] { delete static_cast<hopper_evaluation*>(evaluation); });
}

}  // namespace

int CreateEvaluation(const TrainingBackend& backend, const hopper_config* config,
                     const hopper_data_desc* data, int32_t threads, int32_t event_fd,
                     hopper_evaluation** evaluation, hopper_error* error) {
  return Guard(
      error,
      [&] {
        RequireAll(config, data, evaluation);
        *evaluation =
            new hopper_evaluation(backend, FromC(*config), CheckedFromC(*data), threads, event_fd);
      },
      By(backend));
}

void SetEvaluationFunctions(hopper_evaluation_api* api) {
  api->add_weights = EvaluationAddWeights;
  api->add_buffer = EvaluationAddBuffer;
  api->start = EvaluationStart;
  api->poll = EvaluationPoll;
  api->free = EvaluationFree;
  api->limit = EvaluationLimit;
  api->room = EvaluationRoom;
  api->confusion = EvaluationConfusion;
  api->choose = EvaluationChoose;
  api->sums = EvaluationSums;
  api->total = EvaluationTotal;
}

}  // namespace hopper
