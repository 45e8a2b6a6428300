// The core's table: architectures, their weights, and files of them.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/finite.h"
#include "base/product.h"
#include "capi/arguments.h"
#include "capi/boundary.h"
#include "capi/checked_data.h"
#include "capi/core_parts.h"
#include "capi/rows.h"
#include "capi/structs.h"
#include "model/check/check.h"
#include "model/columns.h"
#include "model/exported/event_file.h"
#include "model/exported/export_model.h"
#include "model/keras/complete.h"
#include "model/layer.h"
#include "model/output_meaning.h"
#include "model/spec.h"
#include "model/weights/import.h"
#include "model/weights/safetensors.h"
#include "schema/model_fit.h"

namespace hopper {
namespace {

int InspectModel(const char* json, size_t size, hopper_model_info* info, hopper_error* error) {
  return Guard(error, [&] {
    const auto spec = ParseModel(JsonText(json, size), nullptr);
    if (const auto problem = ColumnsProblem(ColumnsOfModel(JsonText(json, size), false))) {
      throw Error(*problem);
    }
    *info = {};
    info->n_parameters = spec->parameters;
    info->flops = spec->flops;
  });
}

int ModelEnds(const char* json, size_t size, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    const auto spec = ParseModel(JsonText(json, size), nullptr);
    auto table = std::make_unique<Rows>(7);
    const auto add = [&](const char* what, const std::string& name, const Shape& shape,
                         int64_t first, OutputMeaning unnamed, OutputMeaning named) {
      std::string text;
      for (const int64_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
      table->Add({what, name, text, std::to_string(first), std::to_string(ElementCount(shape)),
                  std::to_string(static_cast<int>(unnamed)),
                  std::to_string(static_cast<int>(named))});
    };
    for (const ModelInput& input : spec->inputs) {
      // A number is packed as a row of one.
      const Shape packed = input.shape.empty() ? Shape{1} : input.shape;
      add("input", input.name, packed, input.first, OutputMeaning::kValues, OutputMeaning::kValues);
    }
    for (const ModelOutput& output : spec->outputs) {
      add("output", output.name, output.shape, output.first, MeaningOf(output, /*named=*/false),
          MeaningOf(output, /*named=*/true));
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

int NotesOnModel(const char* json, size_t size, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(3);
    for (const Problem& note : NotesOn(JsonText(json, size))) {
      table->Add({note.message, note.detail, note.hint});
    }
    *rows = Rows::Release(std::move(table));
  });
}

int DescribeModel(const char* json, size_t size, const hopper_data_desc* data, hopper_rows** rows,
                  hopper_error* error) {
  return Guard(error, [&] {
    const auto desc = CheckedFromC(data);
    if (desc.has_value() && desc->misfit) {
      if (const auto misfit = desc->misfit(JsonText(json, size))) throw Error(*misfit);
    }
    const auto spec = desc.has_value() ? ParseModelFor(JsonText(json, size), desc->inputs)
                                       : ParseModel(JsonText(json, size), nullptr);
    if (desc.has_value()) {
      if (const auto mismatch = InputMismatch(*spec, *desc)) throw Error(*mismatch);
    }
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
    table->Add(
        {std::nullopt, "total",
         spec->family == KerasFamily::kKeras2 ? "rules of Keras 2" : "rules of Keras 3",
         ShapeText(spec->outputs.size() == 1 ? spec->outputs[0].shape : spec->output_shape()),
         std::to_string(spec->parameters), std::to_string(spec->trainable_parameters),
         std::to_string(spec->flops), std::nullopt});
    *rows = Rows::Release(std::move(table));
  });
}

int ColumnsOf(const char* json, size_t size, int32_t has_weights, hopper_rows** rows,
              hopper_error* error) {
  return Guard(error, [&] {
    auto table = std::make_unique<Rows>(3);
    for (const ModelColumn& column : ColumnsOfModel(JsonText(json, size), has_weights != 0)) {
      table->Add({column.name, column.treatment, column.is_prepared ? "t" : "f"});
    }
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
    if (n_weights >= 0) CheckWeights(*spec, weights, n_weights);
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

ModelExport::Output ExportedOutput(const DataOutput& from, const hopper_label_scale& scale) {
  ModelExport::Output output;
  output.label = from.column;
  for (const auto& value : from.class_values) output.classes.push_back(value.value_or(""));
  if (scale.is_scaled != 0) {
    output.unit = scale.deviation;
    output.zero = scale.mean;
    output.least = scale.least;
    output.largest = scale.largest;
  }
  return output;
}

// The file of a model for other tools, as rows that the glue reads.
int FileOfModel(const hopper_export* from, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    Require(from != nullptr, "model");
    ModelExport model;
    model.json = JsonText(from->model_arch, from->model_arch_size);
    const auto data = FromC(from->data);
    const auto spec = data.has_value() ? ParseModelFor(model.json, data->inputs)
                                       : ModelOf(from->model_arch, from->model_arch_size,
                                                 from->rank, from->shape);
    model.spec = spec.get();
    if (from->features != nullptr) model.features = from->features;
    if (data.has_value()) {
      model.normalizing_const = data->normalizing_const;
      if (from->schema != nullptr) model.schema = from->schema;
      for (const ModelOutput& output : spec->outputs) {
        for (size_t i = 0; i < data->outputs.size(); ++i) {
          const DataOutput& own = data->outputs[i];
          if (spec->outputs.size() > 1 && output.name != own.name) continue;
          model.outputs.push_back(ExportedOutput(own, from->data->n_outputs > 0
                                                          ? from->data->outputs[i].scale
                                                          : from->data->label_scale));
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

int FileOfEvents(const hopper_events* events, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    Require(events != nullptr, "events");
    TrialEvents trial;
    for (int32_t i = 0; i < events->n; ++i) {
      trial.scalars.push_back(
          {events->tags[i], events->steps[i], events->times[i], events->values[i]});
    }
    for (int32_t i = 0; i < events->n_given; ++i) {
      trial.parameters.emplace_back(events->names[i], events->given[i]);
    }
    trial.began = events->began;
    trial.failed = events->failed != 0;
    const std::string file = EventFile(trial);
    auto table = std::make_unique<Rows>(4);
    table->Add({file, std::to_string(file.size()), "0", "0"});
    *rows = Rows::Release(std::move(table));
  });
}

// Null where the input's shape is the data's to say: then how the values are shared out is not
// known, and so neither is how many there must be.
std::shared_ptr<const ModelSpec> ClosedModelOf(const char* json, size_t size) {
  std::vector<Problem> problems;
  auto spec = ParseModel(JsonText(json, size), nullptr, &problems);
  if (spec == nullptr && problems[0].code != ErrorCode::kNotReady) throw Error(problems[0]);
  return spec;
}

void CheckOpenWeights(const float* weights, int64_t n) {
  if (FirstNotFinite(weights, n) == n) return;
  throw Error(ErrorCode::kInvalidParameter, "weights hold values that are not finite", "",
              "Load weights without NaN and infinity.");
}

int CheckModelWeights(const char* json, size_t size, const float* weights, int64_t n_weights,
                      hopper_error* error) {
  return Guard(error, [&] {
    const auto spec = ClosedModelOf(json, size);
    if (spec != nullptr) return CheckWeights(*spec, weights, n_weights);
    if (weights != nullptr) CheckOpenWeights(weights, n_weights);
  });
}

int CheckPartOfWeights(const char* json, size_t size, int64_t first, const float* weights,
                       int64_t n, hopper_error* error) {
  return Guard(error, [&] {
    Require(weights != nullptr && first >= 0 && n >= 0, "weights");
    if (FirstNotFinite(weights, n) == n) return;
    const auto spec = ClosedModelOf(json, size);
    if (spec != nullptr) CheckWeightsPart(*spec, first, weights, n);
    CheckOpenWeights(weights, n);
  });
}

}  // namespace

void SetModelFunctions(hopper_core_api* api) {
  api->inspect_model = InspectModel;
  api->model_ends = ModelEnds;
  api->describe_model = DescribeModel;
  api->model_columns = ColumnsOf;
  api->complete_model = CompleteText;
  api->notes_on_model = NotesOnModel;
  api->check_weights = CheckModelWeights;
  api->check_weights_part = CheckPartOfWeights;
  api->safetensors_header = HeaderOfSafetensors;
  api->read_safetensors = WeightsOfSafetensors;
  api->export_model = FileOfModel;
  api->export_events = FileOfEvents;
}

}  // namespace hopper
