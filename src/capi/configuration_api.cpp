// The core's table: configurations, their problems, and how their metrics are read.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "capi/arguments.h"
#include "capi/boundary.h"
#include "capi/checked_data.h"
#include "capi/core_parts.h"
#include "capi/readings.h"
#include "capi/rows.h"
#include "capi/structs.h"
#include "data/label_places.h"
#include "model/check/check.h"
#include "model/check/report.h"
#include "model/metric_names.h"
#include "model/output_meaning.h"
#include "model/recipes/network.h"
#include "model/recipes/tabular.h"
#include "model/spec.h"
#include "model/work.h"
#include "params/grid.h"
#include "params/loss_type.h"
#include "params/metric_params.h"
#include "params/params.h"
#include "params/params_json.h"
#include "params/ranking.h"
#include "schema/schema.h"

namespace hopper {

static_assert(static_cast<int>(OutputMeaning::kValues) == HOPPER_MEANS_VALUES);
static_assert(static_cast<int>(OutputMeaning::kClasses) == HOPPER_MEANS_CLASSES);
static_assert(static_cast<int>(OutputMeaning::kClassEach) == HOPPER_MEANS_CLASS_EACH);

namespace {

hopper_rows* ConfigurationRows(const std::vector<Configuration>& configurations) {
  auto table = std::make_unique<Rows>(3);
  for (const Configuration& c : configurations) {
    table->Add({std::to_string(c.model_id), c.compile_params, c.fit_params});
  }
  return Rows::Release(std::move(table));
}

int GenerateConfigurations(const hopper_grid* grid, hopper_rows** rows, hopper_error* notice,
                           hopper_error* error) {
  return Guard(error, [&] {
    Require(grid != nullptr, "grid");
    GridRequest request;
    request.model_ids.assign(grid->model_ids, grid->model_ids + grid->n_models);
    request.compile_grid = Text(grid->compile_grid);
    request.fit_grid = Text(grid->fit_grid);
    request.random = grid->random != 0;
    request.num_configs = grid->num_configs;
    if (grid->has_random_state != 0) request.random_state = grid->random_state;
    request.max_configs = grid->max_configs;
    for (int32_t i = 0; i < grid->n_existing; ++i) {
      request.existing.push_back({grid->existing_model_ids[i],
                                  Text(grid->existing_compile_params[i]),
                                  Text(grid->existing_fit_params[i])});
    }
    Problem understood;
    *rows = ConfigurationRows(GenerateConfigs(request, &understood));
    FillError(understood, notice);
  });
}

int CrossConfigurations(int32_t n_models, const int32_t* model_ids, int32_t n_compile,
                        const char* const* compile_params, int32_t n_fit,
                        const char* const* fit_params, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    const auto texts = [](int32_t n, const char* const* list) {
      std::vector<std::string> out;
      for (int32_t i = 0; i < n; ++i) out.push_back(Text(list[i]));
      return out;
    };
    *rows =
        ConfigurationRows(CrossConfigs(std::vector<int32_t>(model_ids, model_ids + n_models),
                                       texts(n_compile, compile_params), texts(n_fit, fit_params)));
  });
}

std::vector<ConfigProblem> ProblemsOf(const hopper_config* configs, int32_t n,
                                      const hopper_data_desc* data, const char* models) {
  std::vector<ConfigSource> sources;
  std::vector<ConfigProblem> missing;
  for (int32_t i = 0; i < n; ++i) {
    if (configs[i].model_arch != nullptr) {
      sources.push_back(FromC(configs[i]));
      continue;
    }
    ParamProblem problem;
    problem.code = static_cast<ErrorCode>(HOPPER_UNDEFINED);
    problem.message = "model " + std::to_string(configs[i].model_id) + " does not exist in \"" +
                      Text(models) + "\"";
    problem.hint = "Add it with hopper.load_model(), or delete the configuration.";
    missing.push_back({configs[i].mst_key, problem});
  }
  const auto desc = CheckedFromC(data);
  std::vector<ConfigProblem> problems = CheckConfigs(sources, PointerTo(desc));
  problems.insert(problems.end(), missing.begin(), missing.end());
  return Sorted(std::move(problems));
}

int CheckConfigurations(const hopper_config* configs, int32_t n_configs,
                        const hopper_data_desc* data, const char* models, hopper_rows** rows,
                        hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(6);
    for (const ConfigProblem& found : ProblemsOf(configs, n_configs, data, models)) {
      const ParamProblem& problem = found.problem;
      table->Add({std::to_string(found.mst_key), problem.warning ? "warning" : "error",
                  std::to_string(static_cast<int>(problem.code)), problem.message,
                  NullIfEmpty(problem.detail), NullIfEmpty(problem.hint)});
    }
    *rows = Rows::Release(std::move(table));
  });
}

int ReportConfigurations(const hopper_config* configs, int32_t n_configs,
                         const hopper_data_desc* data, const char* models, hopper_rows** rows,
                         hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(5);
    for (const ParamProblem& problem :
         ReportOf(ProblemsOf(configs, n_configs, data, models), static_cast<size_t>(n_configs))) {
      table->Add({problem.warning ? "warning" : "error",
                  std::to_string(static_cast<int>(problem.code)), problem.message,
                  NullIfEmpty(problem.detail), NullIfEmpty(problem.hint)});
    }
    *rows = Rows::Release(std::move(table));
  });
}

int32_t DirectionNumber(Direction direction) {
  switch (direction) {
    case Direction::kUp:
      return HOPPER_LARGER_IS_BETTER;
    case Direction::kDown:
      return HOPPER_SMALLER_IS_BETTER;
    case Direction::kUnknown:
      break;
  }
  return HOPPER_NO_DIRECTION;
}

int DirectionOfMetric(const char* metric, int32_t* direction, hopper_error* error) {
  return Guard(error, [&] {
    Require(metric != nullptr, "metric");
    *direction = DirectionNumber(NamedDirection(metric));
  });
}

int JsonOfParams(const char* params, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(1);
    table->Add({ParamsJson(Text(params), "params")});
    *rows = Rows::Release(std::move(table));
  });
}

int JsonOfConfiguration(int32_t model_id, const char* compile_params, const char* fit_params,
                        hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    std::string json = "{\"model_id\": " + std::to_string(model_id);
    for (const char* params : {compile_params, fit_params}) {
      const std::string object = ParamsJson(Text(params), "params");
      if (object != "{}") json += ", " + object.substr(1, object.size() - 2);
    }
    auto table = std::make_unique<Rows>(1);
    table->Add({json + "}"});
    *rows = Rows::Release(std::move(table));
  });
}

int LinkOfOutput(const char* model_arch, size_t model_arch_size, const char* compile_params,
                 const hopper_data_desc* data, int32_t output, hopper_output_link* link,
                 hopper_error* error) {
  return Guard(error, [&] {
    Require(data != nullptr, "data");
    const DataDesc desc = FromC(*data);
    const auto spec = ParseModelFor(JsonText(model_arch, model_arch_size), desc.inputs);
    const std::vector<DataOutput>& labels = desc.outputs;
    Require(output >= 0 && output < static_cast<int32_t>(labels.size()), "output");
    const auto place = static_cast<size_t>(output);
    const std::vector<std::string> names = spec->OutputNames();
    size_t i = 0;
    while (i < spec->outputs.size() && LabelPlace(names, i, labels) != place) {
      ++i;
    }
    if (i == spec->outputs.size()) {
      throw Error(ErrorCode::kInvalidParameter,
                  "model \"" + spec->name + "\" has no output \"" + labels[place].name + "\"");
    }
    const ModelOutput& end = spec->outputs[i];
    std::vector<ParamProblem> problems;
    CompileParams compile = ParseCompileParams(Text(compile_params), &problems);
    OutputLoss loss;
    loss.loss = compile.loss;
    loss.options = compile.loss_options;
    if (FitToOutputs(spec->OutputNames(), false, &compile, &problems)) loss = compile.losses[i];
    link->width = end.shape.empty() ? 1 : end.shape.back();
    link->first = end.first;
    link->count = ElementCount(end.shape);
    const OutputMeaning meaning = MeaningOf(end, loss.loss, desc, labels[place]);
    const Shape shape = ShapeOfPrediction(end, meaning, labels[place].shape);
    link->meaning = static_cast<int32_t>(meaning);
    link->rank = static_cast<int32_t>(std::min<size_t>(shape.size(), HOPPER_MAX_RANK));
    std::copy_n(shape.begin(), link->rank, link->shape);
    if (end.ends_in != Activation::kLinear) {
      link->link = HOPPER_LINK_NONE;
    } else if (!loss.options.from_logits) {
      link->link = HOPPER_LINK_CLIP;
    } else {
      link->link = LossTypeOf(loss.loss).categorical ? HOPPER_LINK_SOFTMAX : HOPPER_LINK_SIGMOID;
    }
  });
}

// A step costs something for the smallest model, too: as much as so many operations an example.
constexpr double kLeastExample = 1e5;

int FlopsOfIteration(const hopper_config* configs, int32_t n, const hopper_data_desc* data,
                     double* flops, hopper_error* error) {
  return Guard(error, [&] {
    Require(data != nullptr, "data");
    const DataDesc desc = FromC(*data);
    const char* read = nullptr;  // neighbours often have one architecture
    double example = 0.0;
    for (int32_t i = 0; i < n; ++i) {
      LookAtCancel();
      const hopper_config& config = configs[i];
      if (i == 0 || config.model_arch != read) {
        std::vector<Problem> ignored;
        const auto spec = ParseModelFor(JsonText(config.model_arch, config.model_arch_size),
                                        desc.inputs, &ignored);
        example = kLeastExample + (spec == nullptr ? 0.0 : TrainingFlops(*spec));
        read = config.model_arch;
      }
      std::vector<ParamProblem> ignored;
      flops[i] = IterationFlops(example, static_cast<double>(desc.n_rows),
                                ParseFitParams(Text(config.fit_params), &ignored).epochs);
    }
  });
}

int RankConfigurations(int32_t n, const hopper_ranked_config* configs, const hopper_data_desc* data,
                       const char* rank_by, int32_t lenient, hopper_rows** rows,
                       hopper_error* error) {
  return Guard(error, [&] {
    std::vector<RankedConfig> ranked;
    const auto desc = FromC(data);
    MetricNamesByOutput names(PointerTo(desc));
    for (int32_t i = 0; i < n; ++i) {
      RankedConfig config{Text(configs[i].compile_params), {}};
      for (int32_t k = 0; k < configs[i].n_metrics; ++k) {
        config.metrics.push_back(Text(configs[i].metrics[k]));
      }
      if (configs[i].n_metrics == 0 && configs[i].model_arch != nullptr) {
        config.metrics =
            names.Of(config.compile_params, {configs[i].model_arch, configs[i].model_arch_size});
      }
      ranked.push_back(std::move(config));
    }
    auto table = std::make_unique<Rows>(5);
    for (const Ranked& one : RankConfigs(ranked, Text(rank_by), lenient != 0)) {
      table->Add({std::to_string(one.metric + 1), std::to_string(DirectionNumber(one.direction)),
                  std::to_string(one.group + 1), one.name, one.instead ? "1" : "0"});
    }
    *rows = Rows::Release(std::move(table));
  });
}

int BestModel(int32_t n, const hopper_measured* models, int32_t direction, int32_t* best,
              hopper_error* error) {
  return Guard(error, [&] {
    Require(n > 0 && models != nullptr, "models");
    std::vector<Measured> measured(static_cast<size_t>(n));
    for (size_t i = 0; i < measured.size(); ++i) {
      for (const int split : {HOPPER_SPLIT_TRAIN, HOPPER_SPLIT_VALID}) {
        if (models[i].knows_metric[split] != 0) measured[i].metric[split] = models[i].metric[split];
        if (models[i].knows_loss[split] != 0) measured[i].loss[split] = models[i].loss[split];
      }
    }
    const bool up = direction == HOPPER_LARGER_IS_BETTER;
    *best = static_cast<int32_t>(BestOf(measured, up ? Direction::kUp : Direction::kDown));
  });
}

int KeepsBest(const char* fit_params, int32_t* keeps, hopper_error* error) {
  return Guard(error, [&] {
    std::vector<ParamProblem> problems;
    *keeps = ParseFitParams(Text(fit_params), &problems).early_stopping.restore_best ? 1 : 0;
  });
}

int BalanceClassesOf(const char* fit_params, const hopper_data_desc* data, hopper_rows** rows,
                     hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(1);
    const std::vector<int64_t> counts(data->class_counts,
                                      data->class_counts + data->n_class_counts);
    if (const auto text = BalanceClasses(Text(fit_params), counts)) table->Add({*text});
    *rows = Rows::Release(std::move(table));
  });
}

// What places of a row are by the schema of the packed columns.
RowLayout LayoutOf(const hopper_data_desc& data) {
  RowLayout layout;
  if (data.schema == nullptr) return layout;
  const Schema schema = Schema::Parse(data.schema);
  int64_t place = 0;
  for (const Column& column : schema.columns()) {
    bool has_words = false;
    for (const Slot& slot : column.slots) {
      const bool of_words = slot.kind == SlotKind::kWord;
      if (of_words && has_words) {
        ++layout.ids.back().length;
      } else if (of_words || slot.kind == SlotKind::kIndex) {
        layout.ids.push_back({place, slot.cardinality, 1, of_words});
      } else if (slot.kind == SlotKind::kOneHot || slot.kind == SlotKind::kIndicator) {
        layout.one_hot.push_back(place);
      }
      has_words = has_words || of_words;
      ++place;
    }
  }
  return layout;
}

NetworkRequest RequestOf(const hopper_network& network) {
  NetworkRequest request;
  request.of_images = network.of_images != 0;
  request.filters.assign(network.filters, network.filters + network.n_filters);
  request.kernel_size = network.kernel_size;
  request.pooling = network.pooling;
  request.hidden.assign(network.hidden, network.hidden + network.n_hidden);
  request.activation = Text(network.activation);
  request.dropout = network.dropout;
  request.batch_norm = network.batch_norm != 0;
  return request;
}

int WriteNetwork(const hopper_network* network, const hopper_data_desc* data, hopper_rows** rows,
                 hopper_error* error) {
  return Guard(error, [&] {
    Require(network != nullptr && data != nullptr, "network");
    const DataDesc packed = FromC(*data);
    auto table = std::make_unique<Rows>(4);
    if (network->recipe == nullptr) {
      table->Add({MakeNetwork(RequestOf(*network), packed, LayoutOf(*data)), std::nullopt,
                  std::nullopt, std::nullopt});
    } else {
      const TabularRecipe made =
          MakeTabularRecipe(network->recipe, Text(network->options), packed, LayoutOf(*data));
      table->Add({made.architecture, NullIfEmpty(made.compile_params), NullIfEmpty(made.fit_params),
                  made.space});
    }
    *rows = Rows::Release(std::move(table));
  });
}

}  // namespace

void SetConfigurationFunctions(hopper_core_api* api) {
  api->generate_configs = GenerateConfigurations;
  api->cross_configs = CrossConfigurations;
  api->iteration_flops = FlopsOfIteration;
  api->check_configs = CheckConfigurations;
  api->report_configs = ReportConfigurations;
  api->metric_direction = DirectionOfMetric;
  api->params_json = JsonOfParams;
  api->config_json = JsonOfConfiguration;
  api->output_link = LinkOfOutput;
  api->rank_configs = RankConfigurations;
  api->best_model = BestModel;
  api->keeps_best = KeepsBest;
  api->readings = TellReadings;
  api->balance_classes = BalanceClassesOf;
  api->write_network = WriteNetwork;
}

}  // namespace hopper
