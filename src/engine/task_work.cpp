#include "engine/task_work.h"

#include "model/work.h"
#include "schedule/together.h"

namespace hopper {

namespace {

// Examples that a visit takes.
double ExamplesOfVisit(const Trainer& trainer, const DataDesc& data) {
  return static_cast<double>(data.n_rows) / data.n_partitions *
         static_cast<double>(trainer.fit().epochs);
}

}  // namespace

double VisitWork(const Trainer& trainer, const DataDesc& data) {
  const double rows = static_cast<double>(data.n_rows) / data.n_partitions;
  return IterationFlops(TrainingFlops(trainer.network().spec()), rows, trainer.fit().epochs);
}

double PassWork(const Trainer& trainer, const DataDesc& data) {
  return PassFlops(trainer.network().spec()) * static_cast<double>(data.n_rows);
}

int VisitsTogether(const Trainer& trainer, const DataDesc& data) {
  const double updates = ExamplesOfVisit(trainer, data) *
                         static_cast<double>(trainer.network().spec().parameters) /
                         static_cast<double>(trainer.fit().batch_size);
  return TasksTogether(VisitWork(trainer, data) + updates);
}

int EvaluationsTogether(const Trainer& trainer, const DataDesc& data) {
  return TasksTogether(PassWork(trainer, data) / data.n_partitions);
}

}  // namespace hopper
