// The structs of the C boundary and the engine's types, made of one another: one place for each.
// Structs that the engine knows nothing of are structs.h's.
#pragma once

#include "capi/structs.h"
#include "engine/events.h"
#include "engine/explain.h"
#include "engine/local/run.h"
#include "engine/run_info.h"
#include "engine/training_options.h"
#include "engine/training_result.h"
#include "engine/visit_record.h"
#include "model_hopper/events.h"
#include "model_hopper/forecast.h"
#include "model_hopper/run.h"
#include "model_hopper/training.h"

namespace hopper {

// Throws where `precision` is none.
TrainingOptions FromC(const hopper_run_options& options);
Stint FromC(const hopper_stint& stint);
ExplainCosts FromC(const hopper_explain_costs& costs);
ExplainedRun FromC(const hopper_explain_run& run);  // its seconds and workers

// Texts are cut where they do not fit.
void ToC(const Event& event, hopper_event* out);
void ToC(const VisitRecord& visit, hopper_visit* out);
void ToC(const TrainingResult& result, hopper_model_result* out);
void ToC(const DataPlan& plan, hopper_data_plan* out);
void ToC(const RunInfo& info, hopper_run_info* out);
void ToC(const ExplainedModel& model, hopper_explain_model* out);
void ToC(const ExplainedRun& run, hopper_explain_run* out);

}  // namespace hopper
