// The table of functions that need no libtorch: a thin layer that lets no exception out.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/finite.h"
#include "base/hash.h"
#include "base/machine.h"
#include "base/product.h"
#include "capi/boundary.h"
#include "capi/lists.h"
#include "capi/rows.h"
#include "capi/search_api.h"
#include "data/dataset.h"
#include "model/check.h"
#include "model/complete.h"
#include "model/exported/export_model.h"
#include "model/layer.h"
#include "model/safetensors.h"
#include "model/spec.h"
#include "model_hopper/core.h"
#include "params/grid.h"
#include "params/loss_type.h"
#include "params/metric_params.h"
#include "params/params.h"
#include "params/ranking.h"
#include "schedule/course.h"
#include "state/state.h"

namespace hopper {
namespace {

std::string Text(const char* text) { return text == nullptr ? "" : text; }

// An empty text is SQL's NULL where it means that there is nothing to say.
std::optional<std::string> NullIfEmpty(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text;
}

void Require(bool condition, const char* what) {
  if (!condition) throw Error(ErrorCode::kInternal, std::string(what) + " is missing in a call");
}

std::string_view JsonText(const char* json, size_t size) {
  Require(json != nullptr, "architecture");
  return {json, size};
}

void CopyShape(const Shape& shape, int32_t* rank, int64_t (&out)[HOPPER_MAX_RANK]) {
  if (shape.size() > HOPPER_MAX_RANK) {
    throw Error(ErrorCode::kNotSupported, "shapes of more than " + std::to_string(HOPPER_MAX_RANK) +
                                              " dimensions are not supported");
  }
  *rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), out);
}

void CopyDigest(const Digest& digest, char (&out)[33]) { CopyText(digest.Hex(), out); }

void FreeRows(hopper_rows* rows) { Rows::Free(rows); }

int InspectModel(const char* json, size_t size, hopper_model_info* info, hopper_error* error) {
  return Guard(error, [&] {
    const auto spec = ParseModel(JsonText(json, size), nullptr);
    *info = {};
    info->n_parameters = spec->parameters;
    info->n_trainable = spec->trainable_parameters;
    info->flops = spec->flops;
    CopyShape(spec->input_shape(), &info->input_rank, info->input_shape);
    CopyShape(spec->output_shape(), &info->output_rank, info->output_shape);
    info->n_outputs = static_cast<int32_t>(spec->outputs.size());
    CopyDigest(spec->hash, info->architecture_hash);
    CopyText(spec->name, info->name);
  });
}

int ModelEnds(const char* json, size_t size, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    const auto spec = ParseModel(JsonText(json, size), nullptr);
    auto table = std::make_unique<Rows>(6);
    const auto add = [&](const char* what, const std::string& name, const Shape& shape,
                         int64_t first, const char* activation) {
      std::string text;
      for (const int64_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
      table->Add({what, name, text, std::to_string(first), std::to_string(ElementCount(shape)),
                  activation});
    };
    for (const ModelInput& input : spec->inputs) {
      add("input", input.name, input.shape, input.first, "linear");
    }
    for (const ModelOutput& output : spec->outputs) {
      const Activation end = output.final_activation;
      add("output", output.name, output.shape, output.first,
          end == Activation::kSoftmax   ? "softmax"
          : end == Activation::kSigmoid ? "sigmoid"
                                        : "linear");
    }
    *rows = Rows::Release(std::move(table));
  });
}

// Names of the layers that a node reads from; "input" for what the model is given.
// `makers`: by tensor id the layer that makes it, or -1.
std::string InputNames(const ModelSpec& spec, const std::vector<int>& makers, const Node& node) {
  std::string names;
  for (const int tensor : node.inputs) {
    const int maker = makers[static_cast<size_t>(tensor)];
    names += names.empty() ? "" : ", ";
    names += maker < 0 ? "input" : spec.layers[static_cast<size_t>(maker)]->name();
  }
  return names;
}

int CompleteText(const char* json, size_t size, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(1);
    if (const auto text = CompleteModel(JsonText(json, size))) table->Add({*text});
    *rows = Rows::Release(std::move(table));
  });
}

int DescribeModel(const char* json, size_t size, const hopper_data_desc* data, hopper_rows** rows,
                  hopper_error* error) {
  return Guard(error, [&] {
    const auto spec = data != nullptr ? ParseModelFor(JsonText(json, size), InputsOf(*data))
                                      : ParseModel(JsonText(json, size), nullptr);
    auto table = std::make_unique<Rows>(8);
    // A shared layer is called several times: the shape of its first call, the work of all.
    std::vector<const Node*> first_calls(spec->layers.size(), nullptr);
    std::vector<int64_t> layer_flops(spec->layers.size(), 0);
    std::vector<int> makers(spec->tensors.size(), -1);
    for (const Node& node : spec->nodes) {
      const auto layer = static_cast<size_t>(node.layer);
      makers[static_cast<size_t>(node.output)] = node.layer;
      if (first_calls[layer] == nullptr) first_calls[layer] = &node;
      std::vector<Shape> inputs;
      for (const int tensor : node.inputs) inputs.push_back(spec->tensors[tensor]);
      const int64_t flops = spec->layers[layer]->Flops(inputs, spec->tensors[node.output]);
      layer_flops[layer] = SaturatingAdd(layer_flops[layer], flops);
    }
    for (size_t i = 0; i < spec->layers.size(); ++i) {
      const Layer& layer = *spec->layers[i];
      int64_t parameters = 0, trainable = 0;
      for (const int w : spec->layer_weights[i]) {
        const WeightSpec& weight = spec->weights[w];
        parameters += weight.size();
        if (weight.slot_offset >= 0) trainable += weight.size();
      }
      const Node* first = first_calls[i];
      std::optional<std::string> shape, inputs;
      if (first != nullptr) {
        shape = ShapeText(spec->tensors[first->output]);
        inputs = NullIfEmpty(InputNames(*spec, makers, *first));
      }
      table->Add({std::to_string(i + 1), layer.name(), layer.class_name(), shape,
                  std::to_string(parameters), std::to_string(trainable),
                  std::to_string(layer_flops[i]), inputs});
    }
    table->Add({std::nullopt, "total", std::nullopt, ShapeText(spec->output_shape()),
                std::to_string(spec->parameters), std::to_string(spec->trainable_parameters),
                std::to_string(spec->flops), std::nullopt});
    *rows = Rows::Release(std::move(table));
  });
}

std::shared_ptr<const ModelSpec> ModelOf(const char* json, size_t size, int32_t rank,
                                         const int64_t* shape) {
  const Shape input(shape, shape + std::clamp<int32_t>(rank, 0, HOPPER_MAX_RANK));
  std::vector<Problem> problems;
  auto spec = ParseModel(JsonText(json, size), input.empty() ? nullptr : &input, &problems);
  if (spec != nullptr) return spec;
  for (Problem& problem : problems) {
    if (problem.code != ErrorCode::kNotReady) continue;
    problem.hint = "Pass input_shape; column independent_shape of a run's summary has it.";
  }
  throw Error(SummaryOf(problems));
}

int HeaderOfSafetensors(const char* json, size_t size, int32_t rank, const int64_t* shape,
                        const float* weights, int64_t n_weights, hopper_rows** rows,
                        hopper_error* error) {
  return Guard(error, [&] {
    const auto spec = ModelOf(json, size, rank, shape);
    if (weights != nullptr) CheckWeights(*spec, weights, n_weights);
    auto table = std::make_unique<Rows>(2);
    table->Add({SafetensorsHeader(*spec, JsonText(json, size)), std::to_string(spec->parameters)});
    *rows = Rows::Release(std::move(table));
  });
}

int WeightsOfSafetensors(const char* json, size_t size, int32_t rank, const int64_t* shape,
                         const void* file, size_t file_size, float* weights, int64_t n_weights,
                         hopper_error* error) {
  return Guard(error, [&] {
    const auto spec = ModelOf(json, size, rank, shape);
    Require(file != nullptr && weights != nullptr && n_weights == spec->parameters, "weights");
    ReadSafetensors(*spec, {static_cast<const char*>(file), file_size}, weights);
  });
}

// The same model for other tools, as PostgreSQL's server reads it.
int FileOfModel(const hopper_export* from, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    Require(from != nullptr, "model");
    ModelExport model;
    model.json = JsonText(from->model_arch, from->model_arch_size);
    const hopper_data_desc* data = from->data;
    const auto spec =
        data != nullptr ? ParseModelFor(model.json, InputsOf(*data))
                        : ModelOf(from->model_arch, from->model_arch_size, from->rank, from->shape);
    model.spec = spec.get();
    if (data != nullptr) {
      model.normalizing_const = data->normalizing_const;
      const auto add = [&](const char* label, int32_t n, const char* const* values) {
        ModelExport::Output output;
        output.label = Text(label);
        for (int32_t i = 0; i < n; ++i) output.classes.push_back(Text(values[i]));
        model.outputs.push_back(std::move(output));
      };
      if (data->n_outputs == 0) add(data->y_column, data->n_class_values, data->class_values);
      for (const ModelOutput& output : spec->outputs) {
        for (int32_t i = 0; i < data->n_outputs; ++i) {
          const hopper_output& own = data->outputs[i];
          if (spec->outputs.size() > 1 && output.name != Text(own.name)) continue;
          add(own.column, own.n_class_values, own.class_values);
          break;
        }
      }
    }
    auto table = std::make_unique<Rows>(4);
    if (from->format == HOPPER_FORMAT_PYTORCH) {
      const std::string source = PytorchSource(model);
      table->Add({source, std::to_string(source.size()), "0", "0"});
    } else {
      CheckWeights(*spec, from->weights, from->n_weights);
      for (FilePiece& piece : OnnxFile(model)) {
        const std::string size = std::to_string(piece.bytes.size());
        table->Add({std::move(piece.bytes), size, std::to_string(piece.first),
                    std::to_string(piece.count)});
      }
    }
    *rows = Rows::Release(std::move(table));
  });
}

int CheckModelWeights(const char* json, size_t size, const float* weights, int64_t n_weights,
                      hopper_error* error) {
  return Guard(error, [&] {
    std::vector<Problem> problems;
    const auto spec = ParseModel(JsonText(json, size), nullptr, &problems);
    if (spec != nullptr) return CheckWeights(*spec, weights, n_weights);
    if (problems[0].code != ErrorCode::kNotReady) throw Error(problems[0]);
    // How the values are shared out is not known, and so neither is how many there must be.
    if (weights != nullptr && FirstNotFinite(weights, n_weights) < n_weights) {
      throw Error(ErrorCode::kInvalidParameter, "weights hold values that are not finite", "",
                  "Load weights without NaN and infinity.");
    }
  });
}

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

int CheckConfigurations(const hopper_config* configs, int32_t n_configs,
                        const hopper_data_desc* data, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(6);
    for (const ConfigProblem& found :
         CheckConfigs(std::vector<hopper_config>(configs, configs + n_configs), data)) {
      const ParamProblem& problem = found.problem;
      table->Add({std::to_string(found.mst_key), problem.warning ? "warning" : "error",
                  std::to_string(static_cast<int>(problem.code)), problem.message,
                  NullIfEmpty(problem.detail), NullIfEmpty(problem.hint)});
    }
    *rows = Rows::Release(std::move(table));
  });
}

int32_t SizeOfType(int32_t type) {
  int32_t size = 0;
  Guard(nullptr, [&] { size = TypeSize(type); });
  return size;
}

int64_t NonFinite(int32_t type, const void* values, int64_t count) {
  int64_t at = -1;
  Guard(nullptr, [&] { at = FindNonFinite(type, values, count); });
  return at;
}

// Outputs are set before and inside the guard, never read after it from a local struct: g++ 12
// (-O2) loses the first value of a struct of two registers whose assignment throws.
void KeyOfRow(uint64_t seed, const void* x, size_t x_size, const void* y, size_t y_size,
              uint8_t key[16]) {
  std::memset(key, 0, sizeof(Digest::bytes));
  Guard(nullptr, [&] {
    const Digest digest = RowKey(seed, x, x_size, y, y_size);
    std::memcpy(key, digest.bytes.data(), digest.bytes.size());
  });
}

int32_t PartitionsByDefault(int64_t bytes, int64_t n_rows) {
  int32_t n = 1;
  Guard(nullptr, [&] { n = DefaultPartitions(bytes, n_rows); });
  return n;
}

void RangeOfPartition(int64_t n_rows, int32_t n_partitions, int32_t partition, int64_t* first,
                      int64_t* count) {
  *first = 0;
  *count = 0;
  Guard(nullptr, [&] {
    const RankRange range = PartitionRange(n_rows, n_partitions, partition);
    *first = range.first;
    *count = range.count;
  });
}

void ChecksumOfBuffer(int32_t partition_id, int32_t buffer_id, int32_t n, const void* x,
                      size_t x_size, const void* y, size_t y_size, uint8_t checksum[16]) {
  std::memset(checksum, 0, sizeof(Digest::bytes));
  Guard(nullptr, [&] {
    const Digest digest = BufferChecksum(partition_id, buffer_id, n, x, x_size, y, y_size);
    std::memcpy(checksum, digest.bytes.data(), digest.bytes.size());
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

int LinkOfOutput(const char* model_arch, size_t model_arch_size, const char* compile_params,
                 const hopper_data_desc* data, int32_t output, hopper_output_link* link,
                 hopper_error* error) {
  return Guard(error, [&] {
    Require(data != nullptr, "data");
    const auto spec = ParseModelFor(JsonText(model_arch, model_arch_size), InputsOf(*data));
    const std::vector<DataOutput> labels = OutputsOf(*data);
    Require(output >= 0 && output < static_cast<int32_t>(labels.size()), "output");
    size_t i = 0;
    while (i < spec->outputs.size() && spec->outputs.size() + labels.size() > 2 &&
           spec->outputs[i].name != labels[static_cast<size_t>(output)].name) {
      ++i;
    }
    if (i == spec->outputs.size()) {
      throw Error(ErrorCode::kInvalidParameter, "model \"" + spec->name + "\" has no output \"" +
                                                    labels[static_cast<size_t>(output)].name +
                                                    "\"");
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
    link->crossentropy =
        std::string(LossName(loss.loss)).find("crossentropy") == std::string::npos ? 0 : 1;
    if (end.final_activation == Activation::kSoftmax ||
        end.final_activation == Activation::kSigmoid) {
      link->link = HOPPER_LINK_NONE;
    } else if (!loss.options.from_logits) {
      link->link = HOPPER_LINK_CLIP;
    } else {
      link->link = LossTypeOf(loss.loss).categorical ? HOPPER_LINK_SOFTMAX : HOPPER_LINK_SIGMOID;
    }
  });
}

int RankConfigurations(int32_t n, const char* const* compile_params, const char* rank_by,
                       int32_t lenient, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    std::vector<std::string> texts;
    for (int32_t i = 0; i < n; ++i) texts.push_back(Text(compile_params[i]));
    auto table = std::make_unique<Rows>(5);
    for (const Ranked& one : RankConfigs(texts, Text(rank_by), lenient != 0)) {
      table->Add({std::to_string(one.metric + 1), std::to_string(DirectionNumber(one.direction)),
                  std::to_string(one.group + 1), one.name, one.instead ? "1" : "0"});
    }
    *rows = Rows::Release(std::move(table));
  });
}

int32_t NearestOfNames(const char* name, int32_t n, const char* const* names) {
  int32_t at = -1;
  Guard(nullptr, [&] {
    std::vector<std::string> candidates;
    for (int32_t i = 0; i < n; ++i) candidates.push_back(Text(names[i]));
    if (const auto nearest = NearestName(Text(name), candidates)) {
      at = static_cast<int32_t>(std::find(candidates.begin(), candidates.end(), *nearest) -
                                candidates.begin());
    }
  });
  return at;
}

int VerifyStateImage(const uint8_t* state, size_t size, char digest[33], hopper_error* error) {
  return Guard(error, [&] {
    Require(state != nullptr, "state");
    const std::string hex = VerifyState(state, size).Hex();
    std::memcpy(digest, hex.c_str(), hex.size() + 1);
  });
}

int HopsOf(const hopper_course_data* run, int32_t iteration, int32_t* hops, hopper_error* error) {
  return Guard(error, [&] {
    Require(run != nullptr && hops != nullptr, "run");
    RunRules rules;
    rules.num_iterations = run->num_iterations;
    rules.metrics_frequency = std::max(run->metrics_compute_frequency, 1);
    rules.training_metrics = static_cast<TrainingMetrics>(run->training_metrics);
    rules.partitions = {run->n_partitions, run->n_valid};
    SegmentKeys keys;
    keys.of[kTrainSplit].assign(run->train_keys, run->train_keys + run->n_partitions);
    if (run->n_valid > 0) {
      keys.of[kValidSplit].assign(run->valid_keys, run->valid_keys + run->n_valid);
    }
    std::vector<int> starts = {0};
    if (run->n_starts > 0) starts.assign(run->starts, run->starts + run->n_starts);
    std::vector<Walker> models;
    for (int32_t i = 0; i < run->n_models; ++i) {
      models.push_back({run->mst_keys[i], {{run->waits[i] != 0, false}, false}});
    }
    *hops =
        HopsOfIteration(keys, Ring(run->n_partitions, std::move(starts)), rules, iteration, models);
  });
}

int FirstPartitionOf(const int32_t* starts, int32_t n_starts, int32_t mst_key, int32_t* partition,
                     hopper_error* error) {
  return Guard(error, [&] {
    Require(starts != nullptr && n_starts > 0 && partition != nullptr, "starts");
    const std::vector<int> all(starts, starts + n_starts);
    *partition = Ring(all.back() + 1, all).FirstPartition(mst_key);
  });
}

int WaitsForMetrics(const char* fit_params, int32_t* waits, hopper_error* error) {
  return Guard(error, [&] {
    std::vector<ParamProblem> problems;
    const FitParams fit = ParseFitParams(Text(fit_params), &problems);
    *waits = fit.early_stopping.active() || fit.plateau.active ? 1 : 0;
  });
}

// Files are read for both: without memory for that nothing is known.
int64_t MemoryOfMachine() {
  int64_t bytes = 0;
  Guard(nullptr, [&] { bytes = AvailableMemory(); });
  return bytes;
}

int32_t ProcessorsOfMachine() {
  int32_t n = 1;
  Guard(nullptr, [&] { n = AvailableProcessors(); });
  return n;
}

hopper_core_api MakeApi() {
  hopper_core_api api = {};
  api.version = HOPPER_API_VERSION;
  api.size = static_cast<int32_t>(sizeof(hopper_core_api));
  api.library_version = HOPPER_LIBRARY_VERSION;
  api.rows_free = FreeRows;
  api.ask_for_cancel = AskForCancel;
  api.list = ListRows;
  api.inspect_model = InspectModel;
  api.model_ends = ModelEnds;
  api.describe_model = DescribeModel;
  api.complete_model = CompleteText;
  api.check_weights = CheckModelWeights;
  api.safetensors_header = HeaderOfSafetensors;
  api.read_safetensors = WeightsOfSafetensors;
  api.export_model = FileOfModel;
  api.generate_configs = GenerateConfigurations;
  api.cross_configs = CrossConfigurations;
  api.check_configs = CheckConfigurations;
  api.metric_direction = DirectionOfMetric;
  api.output_link = LinkOfOutput;
  api.rank_configs = RankConfigurations;
  api.hops_of_iteration = HopsOf;
  api.first_partition = FirstPartitionOf;
  api.waits_for_metrics = WaitsForMetrics;
  api.type_size = SizeOfType;
  api.find_non_finite = NonFinite;
  api.row_key = KeyOfRow;
  api.default_partitions = PartitionsByDefault;
  api.partition_range = RangeOfPartition;
  api.buffer_checksum = ChecksumOfBuffer;
  api.nearest_name = NearestOfNames;
  api.verify_state = VerifyStateImage;
  api.available_memory = MemoryOfMachine;
  api.available_processors = ProcessorsOfMachine;
  api.search = MakeSearchApi();
  return api;
}

}  // namespace
}  // namespace hopper

extern "C" __attribute__((visibility("default"))) const hopper_core_api* hopper_core_api_get(
    int32_t version) {
  static const hopper_core_api api = hopper::MakeApi();
  return version == HOPPER_API_VERSION ? &api : nullptr;
}
