// The table of forecasts.
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "capi/engine_api.h"
#include "capi/engine_api_calls.h"
#include "capi/engine_structs.h"
#include "capi/rows.h"
#include "engine/explain.h"
#include "model_hopper/forecast.h"

struct hopper_explain : hopper::Explain {
  using Explain::Explain;
};

namespace hopper {
namespace {

int ExplainAddConfig(hopper_explain* explain, const hopper_config* config, hopper_error* error) {
  return Call(explain, error, [&] {
    RequireAll(explain, config);
    explain->AddConfig(FromC(*config));
  });
}

int ExplainStart(hopper_explain* explain, hopper_error* error) {
  return Call(explain, error, [&] {
    RequireAll(explain);
    explain->Start();
  });
}

int ExplainPoll(hopper_explain* explain, hopper_error* error) {
  return AskOf(explain, error, [&] {
    RequireAll(explain);
    return explain->Poll();
  });
}

int ExplainModel(hopper_explain* explain, int32_t index, hopper_explain_model* model,
                 hopper_error* error) {
  return Call(explain, error, [&] {
    RequireAll(explain, model);
    ToC(explain->Model(index), model);
  });
}

int ExplainRun(hopper_explain* explain, hopper_explain_run* run, hopper_error* error) {
  return Call(explain, error, [&] {
    RequireAll(explain, run);
    ToC(explain->Run(), run);
  });
}

// A number that reads as the same double; what is none is not known.
std::optional<std::string> ForecastText(std::optional<double> number) {
  if (!number || std::isnan(*number)) return std::nullopt;
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", *number);
  return text;
}

int ExplainLines(hopper_explain* explain, const hopper_explain_run* measured, const double* trained,
                 const double* evaluated, hopper_rows** rows, hopper_error* error) {
  return Call(explain, error, [&] {
    RequireAll(explain, rows);
    const ExplainedRun run = measured ? FromC(*measured) : ExplainedRun{};
    auto table = std::make_unique<Rows>(5);
    for (const auto& line : explain->Lines(measured ? &run : nullptr, trained, evaluated)) {
      table->Add({line.item,
                  line.mst_key ? std::optional(std::to_string(*line.mst_key)) : std::nullopt,
                  ForecastText(line.predicted), ForecastText(line.measured), line.unit});
    }
    *rows = Rows::Release(std::move(table));
  });
}

void ExplainFree(void* explain) {
  Guard(nullptr, [&] { delete static_cast<hopper_explain*>(explain); });
}

}  // namespace

int CreateExplain(const TrainingBackend& backend, const hopper_run_options* options,
                  const hopper_data_desc* train, const hopper_data_desc* valid,
                  const int32_t* train_keys, const int32_t* valid_keys,
                  const hopper_explain_costs* costs, hopper_explain** explain,
                  hopper_error* error) {
  return Guard(
      error,
      [&] {
        RequireAll(options, train, costs, explain);
        const auto train_desc = CheckedFromC(train);
        const auto valid_desc = CheckedFromC(valid);
        *explain = new hopper_explain(backend, FromC(*options), *train_desc, PointerTo(valid_desc),
                                      KeysOf(train_keys, train_desc),
                                      KeysOf(valid_keys, valid_desc), FromC(*costs));
      },
      By(backend));
}

void SetExplainFunctions(hopper_explain_api* api) {
  api->add_config = ExplainAddConfig;
  api->start = ExplainStart;
  api->poll = ExplainPoll;
  api->model = ExplainModel;
  api->run = ExplainRun;
  api->lines = ExplainLines;
  api->free = ExplainFree;
}

}  // namespace hopper
