// The table of ensembles.
#include <memory>
#include <vector>

#include "capi/engine_api.h"
#include "capi/engine_api_calls.h"
#include "capi/engine_structs.h"
#include "capi/rows.h"
#include "engine/ensemble.h"
#include "model/keras/ensemble.h"
#include "model_hopper/ensemble.h"

struct hopper_ensemble : hopper::EnsembleSelection {
  using EnsembleSelection::EnsembleSelection;
};

namespace hopper {
namespace {

int EnsembleAddBuffer(hopper_ensemble* ensemble, const hopper_buffer* buffer, hopper_error* error) {
  return Call(ensemble, error, [&] {
    RequireAll(ensemble, buffer);
    ensemble->AddBuffer(FromC(*buffer));
  });
}

int EnsembleAddModel(hopper_ensemble* ensemble, const hopper_config* config, hopper_error* error) {
  return Call(ensemble, error, [&] {
    RequireAll(ensemble, config);
    ensemble->AddModel(FromC(*config));
  });
}

int EnsembleSelect(hopper_ensemble* ensemble, int32_t steps, int32_t initial,
                   hopper_ensemble_step* chosen, int32_t* n, hopper_error* error) {
  return Call(ensemble, error, [&] {
    RequireAll(ensemble, chosen, n);
    *n = 0;
    for (const EnsembleStep& step : ensemble->Select(steps, initial)) {
      chosen[(*n)++] = {step.model, step.value};
    }
  });
}

void EnsembleFree(void* ensemble) { delete static_cast<hopper_ensemble*>(ensemble); }

int EnsembleArchitecture(const hopper_config* members, const double* shares, int32_t n,
                         const hopper_data_desc* data, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    RequireAll(members, shares, data, rows);
    std::vector<EnsembleMember> parts;
    for (int32_t i = 0; i < n; ++i) {
      const ConfigSource config = FromC(members[i]);
      parts.push_back({config.model_arch, config.mst_key, shares[i]});
    }
    auto table = std::make_unique<Rows>(1);
    table->Add({EnsembleJson(parts, CheckedFromC(*data).inputs)});
    *rows = Rows::Release(std::move(table));
  });
}

}  // namespace

int CreateEnsemble(const TrainingBackend& backend, const hopper_config* judge,
                   const hopper_data_desc* data, int32_t metric, int64_t memory_limit,
                   hopper_ensemble** ensemble, hopper_error* error) {
  return Guard(
      error,
      [&] {
        RequireAll(judge, data, ensemble);
        *ensemble =
            new hopper_ensemble(backend, FromC(*judge), CheckedFromC(*data), metric, memory_limit);
      },
      By(backend));
}

void SetEnsembleFunctions(hopper_ensemble_api* api) {
  api->add_buffer = EnsembleAddBuffer;
  api->add_model = EnsembleAddModel;
  api->select = EnsembleSelect;
  api->free = EnsembleFree;
  api->architecture = EnsembleArchitecture;
}

}  // namespace hopper
