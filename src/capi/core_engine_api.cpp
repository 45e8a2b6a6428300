// The core's table: its engine, and what that leaves to libhopper_torch.so's.
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capi/boundary.h"
#include "capi/core_parts.h"
#include "capi/engine_api.h"
#include "capi/rows.h"
#include "capi/structs.h"
#include "engine/build_info.h"
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

// What of the configuration wants libtorch; empty: nothing. What is wrong with it is for whoever
// trains it to say.
std::string WantingOf(const ConfigSource& config, const DataDesc& data) {
  std::vector<Problem> problems;
  const auto spec = ParseModelFor(config.model_arch, data.inputs, &problems);
  if (spec == nullptr) return "";
  std::string layer = LayerText(UnplannedLayer(spec, /*training=*/true));
  if (!layer.empty()) return layer;
  std::vector<ParamProblem> of_params;
  CompileParams compile = ParseCompileParams(config.compile_params, &of_params);
  for (const ParamProblem& problem : of_params) {
    if (!problem.warning) return "";
  }
  if (!FitToOutputs(spec->OutputNames(), data.weighted, &compile, &of_params)) return "";
  try {
    if (!NeedsTorch(compile, spec, data)) return "";
    compile.metrics.clear();
    return NeedsTorch(compile, spec, data) ? "the loss" : "a metric";
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
    std::set<std::pair<std::string_view, std::string_view>> known;
    for (int32_t i = 0; i < n && wanting.empty(); ++i) {
      const ConfigSource config = FromC(configs[i]);
      if (!known.emplace(config.model_arch, config.compile_params).second) continue;
      wanting = WantingOf(config, desc);
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
