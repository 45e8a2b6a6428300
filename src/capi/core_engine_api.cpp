// The core's table: its engine, and what that leaves to libhopper_torch.so's.
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capi/boundary.h"
#include "capi/core_parts.h"
#include "capi/engine_api.h"
#include "capi/rows.h"
#include "capi/structs.h"
#include "engine/build_info.h"
#include "loss/objective.h"
#include "model/spec.h"
#include "params/params.h"
#include "predict/backend.h"
#include "train/backend.h"

namespace hopper {
namespace {

// Quoted as messages have it; empty for none.
std::string LayerText(const Layer* layer) {
  return layer == nullptr ? "" : "layer \"" + layer->name() + "\"";
}

// An architecture and the layer of it that wants libtorch: whoever reads configurations reads it
// once.
struct Architecture {
  std::shared_ptr<const ModelSpec> spec;  // null: it has a fault
  std::string layer;                      // empty: none
};

Architecture ReadArchitecture(std::string_view json, const DataDesc& data) {
  std::vector<Problem> problems;
  Architecture read;
  read.spec = ParseModelFor(json, data.inputs, &problems);
  if (read.spec != nullptr) read.layer = LayerText(UnplannedLayer(read.spec, /*training=*/true));
  return read;
}

// What of the configuration wants libtorch; empty: nothing. What is wrong with it is for whoever
// trains it to say.
std::string WantingOf(const Architecture& architecture, std::string_view compile_params,
                      const DataDesc& data) {
  if (architecture.spec == nullptr || !architecture.layer.empty()) return architecture.layer;
  const ModelSpec& spec = *architecture.spec;
  std::vector<ParamProblem> problems;
  CompileParams compile = ParseCompileParams(compile_params, &problems);
  for (const ParamProblem& problem : problems) {
    if (!problem.warning) return "";
  }
  if (!FitToOutputs(spec.OutputNames(), data.weighted, &compile, &problems)) return "";
  try {
    const Objective evaluated = MakeObjective(compile, spec, data, /*training=*/false);
    const Objective trained = MakeObjective(compile, spec, data, /*training=*/true);
    if (!LossesNeedTorch(compile, spec, evaluated, trained)) return "";
    compile.metrics.clear();
    return LossesNeedTorch(compile, spec, evaluated, trained) ? "the loss" : "a metric";
  } catch (const Error&) {
    return "";
  }
}

hopper_rows* OneCellOrNone(const std::string& text) {
  auto table = std::make_unique<Rows>(1);
  if (!text.empty()) table->Add({text});
  return Rows::Release(std::move(table));
}

int WantsLibtorch(const hopper_config* configs, int32_t n, const hopper_data_desc* data,
                  hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    RequireAll(data, rows);
    const DataDesc desc = FromC(*data);
    std::string wanting;
    std::map<std::string_view, Architecture> read;
    for (int32_t i = 0; i < n && wanting.empty(); ++i) {
      const ConfigSource config = FromC(configs[i]);
      const auto [known, is_new] = read.try_emplace(config.model_arch);
      if (is_new) known->second = ReadArchitecture(config.model_arch, desc);
      wanting = WantingOf(known->second, config.compile_params, desc);
      if (!wanting.empty()) wanting += " of configuration " + std::to_string(config.mst_key);
    }
    *rows = OneCellOrNone(wanting);
  });
}

int PredictorWantsLibtorch(const char* model_arch, size_t model_arch_size,
                           const hopper_data_desc* data, const char* layer, hopper_rows** rows,
                           hopper_error* error) {
  return Guard(error, [&] {
    RequireAll(model_arch, data, rows);
    const DataDesc desc = FromC(*data);
    const std::string_view json(model_arch, model_arch_size);
    const auto spec = layer == nullptr ? ParseModelFor(json, desc.inputs)
                                       : ParseModelUpTo(json, desc.inputs, layer);
    *rows = OneCellOrNone(LayerText(UnplannedLayer(spec, /*training=*/false)));
  });
}

int TellBuildInfo(hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    RequireAll(rows);
    auto table = std::make_unique<Rows>(2);
    for (const auto& [name, value] : BuildInfo()) table->Add({name, value});
    *rows = Rows::Release(std::move(table));
  });
}

}  // namespace

void SetEngineFunctions(hopper_core_api* api) {
  api->engine = MakeEngineApi<TrainingBackend>();
  api->wants_libtorch = WantsLibtorch;
  api->predictor_wants_libtorch = PredictorWantsLibtorch;
  api->build_info = TellBuildInfo;
}

}  // namespace hopper
