// Engines at the C boundary, which both libraries have: one by planned steps alone, one by libtorch
// too.
#pragma once

#include "capi/predictor_api.h"
#include "model_hopper/engine.h"
#include "train/backend.h"

namespace hopper {

// All functions but those that make a handle, of one kind each.
void SetRunFunctions(hopper_run_api* api);
void SetGroupFunctions(hopper_group_api* api);
void SetEvaluationFunctions(hopper_evaluation_api* api);
void SetEnsembleFunctions(hopper_ensemble_api* api);
void SetCalibrationFunctions(hopper_calibration_api* api);
void SetExplainFunctions(hopper_explain_api* api);
// Of all kinds, with what needs no handle.
hopper_engine_api EngineFunctions();

// What makes a handle, of which `backend` computes: `create` of its table.
int CreateRun(const TrainingBackend& backend, const hopper_run_options* options,
              const hopper_data_desc* train, const hopper_data_desc* valid, hopper_run** run,
              hopper_error* error);
int CreateGroup(const TrainingBackend& backend, const hopper_run_options* options,
                const hopper_data_desc* train, const hopper_data_desc* valid,
                const int32_t* train_keys, const int32_t* valid_keys, int32_t key,
                hopper_group** group, hopper_error* error);
int CreateEvaluation(const TrainingBackend& backend, const hopper_config* config,
                     const hopper_data_desc* data, int32_t threads, int32_t event_fd,
                     hopper_evaluation** evaluation, hopper_error* error);
int CreateEnsemble(const TrainingBackend& backend, const hopper_config* judge,
                   const hopper_data_desc* data, int32_t metric, int64_t memory_limit,
                   hopper_ensemble** ensemble, hopper_error* error);
int CreateCalibration(const TrainingBackend& backend, const hopper_config* config,
                      const hopper_data_desc* data, int64_t memory_limit,
                      hopper_calibration** calibration, hopper_error* error);
int CreateExplain(const TrainingBackend& backend, const hopper_run_options* options,
                  const hopper_data_desc* train, const hopper_data_desc* valid,
                  const int32_t* train_keys, const int32_t* valid_keys,
                  const hopper_explain_costs* costs, hopper_explain** explain, hopper_error* error);

// An engine by a backend of this class.
template <typename Backend>
hopper_engine_api MakeEngineApi() {
  hopper_engine_api api = EngineFunctions();
  api.run.create = [](auto... arguments) { return CreateRun(The<Backend>(), arguments...); };
  api.group.create = [](auto... arguments) { return CreateGroup(The<Backend>(), arguments...); };
  api.evaluation.create = [](auto... arguments) {
    return CreateEvaluation(The<Backend>(), arguments...);
  };
  api.predictor.create = [](auto... arguments) {
    return CreatePredictor(The<Backend>(), arguments...);
  };
  api.explain.create = [](auto... arguments) {
    return CreateExplain(The<Backend>(), arguments...);
  };
  api.ensemble.create = [](auto... arguments) {
    return CreateEnsemble(The<Backend>(), arguments...);
  };
  api.calibration.create = [](auto... arguments) {
    return CreateCalibration(The<Backend>(), arguments...);
  };
  return api;
}

}  // namespace hopper
