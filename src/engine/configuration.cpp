#include "engine/configuration.h"

#include <algorithm>

#include "base/error.h"
#include "model_hopper/limits.h"
#include "params/params.h"

namespace hopper {

namespace {

template <typename T>
T ParseOrThrow(std::string_view text, T (*parse)(std::string_view, std::vector<ParamProblem>*)) {
  std::vector<ParamProblem> problems;
  T value = parse(text, &problems);
  for (const ParamProblem& problem : problems) {
    if (!problem.warning) throw Error(problem);
  }
  return value;
}

void RequirePositive(int32_t value, const char* name) {
  if (value >= 1) return;
  throw Error(ErrorCode::kInvalidParameter, std::string(name) + " must be at least 1",
              "It is " + std::to_string(value) + ".");
}

}  // namespace

const Networks::Read& Networks::ReadOf(const ConfigSource& config, const DataDesc& data) {
  Read& read = by_text_[Hash(config.model_arch.data(), config.model_arch.size())];
  if (read.network == nullptr) {
    const std::shared_ptr<const ModelSpec> spec = ParseModelFor(config.model_arch, data.inputs);
    read.unplanned = backend_.has_autograd() && UnplannedLayer(spec, /*training=*/true) != nullptr;
    read.network = backend_.MakeNetwork(spec);
  }
  return read;
}

std::shared_ptr<const PlannedNetwork> Networks::Of(const ConfigSource& config,
                                                   const DataDesc& data) {
  return ReadOf(config, data).network;
}

bool Networks::IsUnplanned(const ConfigSource& config, const DataDesc& data) {
  return ReadOf(config, data).unplanned;
}

std::unique_ptr<const Trainer> MakeTrainer(const ConfigSource& config, const DataDesc& data,
                                           uint64_t run_seed, Precision precision,
                                           Networks* networks, const std::string& watched_data) {
  std::shared_ptr<const PlannedNetwork> network = networks->Of(config, data);
  CompileParams compile = ParseOrThrow(config.compile_params, ParseCompileParams);
  FitParams fit = ParseOrThrow(config.fit_params, ParseFitParams);
  std::vector<ParamProblem> problems;
  if (!FitToOutputs(network->spec().OutputNames(), data.weighted, &compile, &problems)) {
    throw Error(problems.front());
  }
  if (compile.metrics.size() > HOPPER_MAX_METRICS) {
    throw Error(ErrorCode::kLimitExceeded,
                "more than " + std::to_string(HOPPER_MAX_METRICS) + " metrics are not supported");
  }
  if (config.confusion) {
    if (network->spec().outputs.size() > 1) {
      throw Error(ErrorCode::kNotSupported,
                  "a confusion matrix of a model with several outputs is not supported");
    }
    MetricParams matrix;
    matrix.type = &ConfusionMatrix();
    // A probability of 0.5.
    if (compile.loss_options.from_logits &&
        network->spec().outputs[0].ends_in == Activation::kLinear) {
      matrix.threshold = 0.0;
    }
    compile.metrics.push_back(matrix);
  }
  if (config.weights != nullptr) {
    CheckWeights(network->spec(), config.weights, config.n_weights);
  }
  return std::make_unique<const Trainer>(std::move(network), std::move(compile), std::move(fit),
                                         data, networks->backend(), run_seed, precision,
                                         watched_data, networks->IsUnplanned(config, data));
}

RunRules RulesOf(const TrainingOptions& options, int partitions, int valid_partitions) {
  RequirePositive(options.rules.num_iterations, "num_iterations");
  RequirePositive(options.rules.frequency[kTrainSplit], "metrics_compute_frequency");
  RequirePositive(options.rules.frequency[kValidSplit], "frequency of validation");
  RequirePositive(options.threads, "threads");
  RequirePositive(options.threads_per_model, "threads_per_model");
  if (options.rules.training_metrics < TrainingMetrics::kRunning ||
      options.rules.training_metrics > TrainingMetrics::kEvery) {
    throw Error(ErrorCode::kInvalidParameter,
                "training_metrics has the unknown value " +
                    std::to_string(static_cast<int>(options.rules.training_metrics)));
  }
  if (options.memory_limit < 1) {
    throw Error(ErrorCode::kInvalidParameter, "memory limit must be at least one byte");
  }
  RunRules rules = options.rules;
  rules.partitions = {partitions, valid_partitions};
  return rules;
}

EngineSettings::EngineSettings(const TrainingOptions& options, const TrainingBackend& backend)
    : seed(options.seed),
      threads(std::min(options.threads, HOPPER_MAX_THREADS)),
      threads_per_model(options.threads_per_model),
      precision(options.precision),
      numerics_class(NumericsClass(PrecisionName(precision), threads_per_model)),
      torch_class(NumericsClass(PrecisionName(precision), threads_per_model, backend.Numerics())),
      mix_numerics(options.mix_numerics),
      data_name(options.data_name) {}

void RequireWatchedData(const Trainer& trainer, bool has_validation) {
  if (has_validation || !trainer.stopping().Watches(/*validation=*/true)) return;
  throw Error(ErrorCode::kInvalidParameter,
              "validation data is watched but there is no validation table", "",
              "Pass validation_table, or set monitor='loss'.");
}

}  // namespace hopper
