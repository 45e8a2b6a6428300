// The structs of the C boundary made of the engine's types: one place for each.
#pragma once

#include "engine/events.h"
#include "engine/training_result.h"
#include "engine/visit_record.h"
#include "model_hopper/events.h"
#include "model_hopper/training.h"

namespace hopper {

// Texts are cut where they do not fit.
void ToC(const Event& event, hopper_event* out);
void ToC(const VisitRecord& visit, hopper_visit* out);
void ToC(const TrainingResult& result, hopper_model_result* out);

}  // namespace hopper
