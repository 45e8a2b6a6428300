// Which models can share an array of lanes, and how many lanes that has.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "autograd/lane_array.h"
#include "model/planned/plan_memory.h"
#include "model/work.h"
#include "optim/lane_update.h"
#include "optim/optimizer.h"
#include "params/metric_params.h"
#include "train/trainer_parts.h"

namespace hopper {
namespace {

// Arithmetic that one step of all lanes should have, so that what a step costs whatever its size
// (some hundred small kernels) does not count.
constexpr double kStepFlops = 6.4e10;
constexpr int kMinLanes = 4;
constexpr int kMaxLanes = 32;

void Write(std::ostream& out, const MetricParams& metric) {
  if (metric.part > 0 || metric.of_loss || metric.weighted) {
    out << metric.part << ' ' << metric.of_loss << ' ' << metric.weighted << ' ';
  }
  // By what the row says, because rows of two libraries differ in address.
  out << MetricId(metric) << ' ' << metric.type->place << ' ' << metric.k << ' '
      << static_cast<int>(metric.loss) << ' ' << metric.threshold.value_or(-1.0) << ' '
      << metric.top_k.value_or(-1) << ' ' << metric.class_id.value_or(-1) << ' '
      << static_cast<int>(metric.average) << ' ' << metric.beta << ' '
      << static_cast<int>(metric.curve) << ' ' << static_cast<int>(metric.summation) << ' '
      << metric.num_thresholds << ' ' << metric.bound << ' ' << metric.ignore_class.value_or(-1)
      << ' ' << static_cast<int>(metric.aggregation) << ' ' << metric.num_regressors;
  for (const int id : metric.class_ids) out << ' ' << id;
  out << ' ';
  WriteLoss(metric.loss_options, metric.name, &out);
}

}  // namespace

std::string LaneKey(const Trainer& trainer, const DataDesc& data) {
  const CompileParams& compile = trainer.compile();
  const FitParams& fit = trainer.fit();
  std::ostringstream key;
  key.precision(17);
  key << trainer.network().spec().hash.Hex() << ' ' << fit.batch_size << ' ' << fit.epochs << ' '
      << LossText(compile);
  for (const MetricParams& metric : compile.metrics) Write(key, metric);
  for (const float weight : ClassWeightsOf(fit, data)) key << weight << ' ';
  return key.str();
}

int64_t LaneBytes(const Trainer& trainer, const DataDesc& data, const std::string& precision,
                  int lanes) {
  const ModelSpec& spec = trainer.network().spec();
  const bool bf16 = precision == "bf16";
  const int64_t rows = PartitionRange(data.n_rows, data.n_partitions, 0).count;
  const int64_t batch = std::min(trainer.fit().batch_size, rows);
  const int slots = std::max(3, SlotCount(trainer.compile().optimizer));
  // Weights, those that are evaluated, gradients as they come and as they are collected, what is
  // put back after a step was recorded.
  const double weights = static_cast<double>(spec.flat_size) * (bf16 ? 6.5 : 5.0) +
                         static_cast<double>(spec.slot_size) * slots * 2.0;
  // The order of the examples, what changes from step to step, norms.
  const double steps =
      std::ceil(static_cast<double>(rows) / static_cast<double>(std::max<int64_t>(batch, 1)));
  const auto rates = static_cast<double>(LrFactors(SpansOf(spec)).size());
  const double tables =
      static_cast<double>(rows) * sizeof(int32_t) + steps * rates * sizeof(LaneScalars) +
      static_cast<double>(spec.weights.size()) * kNormSums * kNormParts * sizeof(double);
  // Sums of a batch, sums of a visit, and what is put back.
  const double sums = 3.0 * static_cast<double>(trainer.SumsBytes());
  // Activations and their gradients.
  const double training =
      static_cast<double>(batch) * static_cast<double>(spec.activation_floats) * (bf16 ? 2.0 : 3.0);
  const double evaluation = static_cast<double>(std::min(EvaluationBatch(spec), rows)) *
                            static_cast<double>(spec.activation_floats) * 1.5;
  const double bytes =
      ((weights + std::max(training, evaluation)) * sizeof(float) + tables + sums) * lanes;
  return bytes < 9e18 ? static_cast<int64_t>(bytes) : INT64_MAX;
}

int LaneCount(const Trainer& trainer, const DataDesc& data, const std::string& precision,
              int64_t memory) {
  const double flops =
      TrainingFlops(trainer.network().spec()) * static_cast<double>(trainer.fit().batch_size);
  int lanes = kMinLanes;
  while (lanes < kMaxLanes && 2.0 * lanes * flops <= kStepFlops) lanes *= 2;
  while (lanes > 1 && memory >= 0 && LaneBytes(trainer, data, precision, lanes) > memory / 2)
    lanes /= 2;
  return lanes;
}

}  // namespace hopper
