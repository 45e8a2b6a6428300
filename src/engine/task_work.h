// How much the tasks of a model are, in floating-point operations: by it workers share the models
// out, and take small tasks together.
#pragma once

#include "data/dataset.h"
#include "train/trainer.h"

namespace hopper {

// A visit, with its passes; a mean of all partitions.
double VisitWork(const Trainer& trainer, const DataDesc& data);
// The evaluation of all partitions.
double PassWork(const Trainer& trainer, const DataDesc& data);

// How many visits, or evaluations of a partition, are small enough to be taken together.
int VisitsTogether(const Trainer& trainer, const DataDesc& data);
int EvaluationsTogether(const Trainer& trainer, const DataDesc& data);

}  // namespace hopper
