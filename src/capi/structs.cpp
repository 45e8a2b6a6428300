#include "capi/structs.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/product.h"
#include "capi/arguments.h"

namespace hopper {

static_assert(static_cast<int>(ValueType::kUint8) == HOPPER_UINT8);
static_assert(static_cast<int>(ValueType::kInt16) == HOPPER_INT16);
static_assert(static_cast<int>(ValueType::kInt32) == HOPPER_INT32);
static_assert(static_cast<int>(ValueType::kInt64) == HOPPER_INT64);
static_assert(static_cast<int>(ValueType::kFloat32) == HOPPER_FLOAT32);
static_assert(static_cast<int>(ValueType::kFloat64) == HOPPER_FLOAT64);
static_assert(static_cast<int>(LabelKind::kClass) == HOPPER_LABEL_CLASS);
static_assert(static_cast<int>(LabelKind::kValue) == HOPPER_LABEL_VALUE);
static_assert(static_cast<int>(LabelKind::kArray) == HOPPER_LABEL_ARRAY);

namespace {

// Packing refuses rows of more bytes. So features and labels of a row have 2^32 bytes at most, and
// the bytes of a buffer or a partition, which have less than 2^31 rows, cannot overflow.
constexpr int64_t kMostValues = int64_t{1} << 28;

[[noreturn]] void RefuseLabels(const std::string& message) {
  throw Error(ErrorCode::kInvalidParameter, message, "",
              "Pack the data again with hopper.training_preprocessor().");
}

std::vector<int64_t> ShapeFromC(int32_t rank, const int64_t* shape, const char* what) {
  if (rank < 0 || rank > HOPPER_MAX_RANK) {
    throw Error(ErrorCode::kInvalidParameter,
                std::string(what) + " of rank " + std::to_string(rank) + " are not supported",
                "At most " + std::to_string(HOPPER_MAX_RANK) + " dimensions are possible.");
  }
  std::vector<int64_t> copy(shape, shape + rank);
  int64_t elements = 1;
  for (const int64_t size : copy) {
    if (size < 1 || elements > kMostValues / size) {
      throw Error(ErrorCode::kInvalidParameter, std::string("shape of the ") + what +
                                                    " has an axis of size " + std::to_string(size));
    }
    elements *= size;
  }
  return copy;
}

std::vector<DataInput> InputsFromC(const hopper_data_desc& desc) {
  std::vector<DataInput> inputs;
  if (desc.n_inputs == 0) {
    inputs.push_back({"", ShapeFromC(desc.x_rank, desc.x_shape, "features"),
                      static_cast<ValueType>(desc.x_type)});
    return inputs;
  }
  if (desc.n_inputs < 2 || desc.n_inputs > HOPPER_MAX_INPUTS) {
    throw Error(ErrorCode::kInvalidParameter,
                "a row has " + std::to_string(desc.n_inputs) + " inputs",
                "The limit is " + std::to_string(HOPPER_MAX_INPUTS) + ".");
  }
  for (int32_t i = 0; i < desc.n_inputs; ++i) {
    const hopper_input& input = desc.inputs[i];
    inputs.push_back({Text(input.name), ShapeFromC(input.rank, input.shape, "features"),
                      static_cast<ValueType>(input.type)});
  }
  return inputs;
}

std::vector<std::optional<std::string>> ClassesFromC(int32_t n, const char* const* values) {
  std::vector<std::optional<std::string>> classes;
  for (int32_t i = 0; i < n; ++i) {
    classes.push_back(values[i] == nullptr ? std::nullopt : std::optional<std::string>(values[i]));
  }
  return classes;
}

// What both have in the same words.
template <typename Labels>
std::optional<LabelRange> RangeFromC(const Labels& labels) {
  if (labels.has_label_range == 0) return std::nullopt;
  return LabelRange{labels.least_label, labels.largest_label};
}

// Predictions are between the least and the largest label that training has seen.
void SetScale(const hopper_label_scale& scale, DataOutput* output) {
  if (scale.is_scaled == 0) return;
  output->unit = scale.deviation;
  output->bounds = LabelRange{(scale.least - scale.mean) / scale.deviation,
                              (scale.largest - scale.mean) / scale.deviation};
}

DataOutput OnlyOutputFromC(const hopper_data_desc& desc) {
  DataOutput output;
  output.column = Text(desc.y_column);
  output.kind = static_cast<LabelKind>(desc.y_kind);
  output.shape = ShapeFromC(desc.y_rank, desc.y_shape, "labels");
  output.num_classes = desc.num_classes;
  output.class_values = ClassesFromC(desc.n_class_values, desc.class_values);
  if (desc.n_class_counts > 0) {
    output.class_counts.assign(desc.class_counts, desc.class_counts + desc.n_class_counts);
  }
  output.range = RangeFromC(desc);
  SetScale(desc.label_scale, &output);
  output.size = ProductOf(output.shape);
  return output;
}

DataOutput OutputFromC(const hopper_output& from, int64_t first) {
  DataOutput output;
  output.name = Text(from.name);
  output.column = Text(from.column);
  output.kind = static_cast<LabelKind>(from.kind);
  output.shape = ShapeFromC(from.rank, from.shape, "labels");
  output.num_classes = from.num_classes;
  output.class_values = ClassesFromC(from.n_class_values, from.class_values);
  output.range = RangeFromC(from);
  SetScale(from.scale, &output);
  output.first = first;
  output.size = ProductOf(output.shape);
  if (from.kind < HOPPER_LABEL_CLASS || from.kind > HOPPER_LABEL_ARRAY) {
    RefuseLabels("labels are of the unknown kind " + std::to_string(from.kind));
  }
  if (output.kind != LabelKind::kArray && !output.shape.empty()) {
    RefuseLabels("labels of one value a row have " + std::to_string(output.shape.size()) +
                 " dimensions");
  }
  // A float32 holds all whole numbers up to it.
  if (output.kind == LabelKind::kClass &&
      (output.num_classes < 1 || output.num_classes > (1 << 24))) {
    RefuseLabels("number of classes is " + std::to_string(output.num_classes));
  }
  return output;
}

std::vector<DataOutput> OutputsFromC(const hopper_data_desc& desc) {
  if (desc.n_outputs == 0) return {OnlyOutputFromC(desc)};
  if (desc.n_outputs < 0 || desc.n_outputs > HOPPER_MAX_OUTPUTS) {
    RefuseLabels("a row has labels of " + std::to_string(desc.n_outputs) + " outputs");
  }
  std::vector<DataOutput> outputs;
  int64_t values = 0;
  for (int32_t i = 0; i < desc.n_outputs; ++i) {
    outputs.push_back(OutputFromC(desc.outputs[i], values));
    values += outputs.back().size;
  }
  if (desc.weighted != 0) ++values;
  if (desc.y_kind != HOPPER_LABEL_ARRAY || desc.y_type != HOPPER_FLOAT32 || desc.y_rank != 1 ||
      desc.y_shape[0] != values) {
    RefuseLabels("the labels of the outputs are not those of a row");
  }
  return outputs;
}

std::string_view ViewOf(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

}  // namespace

DataDesc FromC(const hopper_data_desc& desc) {
  DataDesc out;
  out.x_type = static_cast<ValueType>(desc.x_type);
  out.x_shape = ShapeFromC(desc.x_rank, desc.x_shape, "features");
  out.inputs = InputsFromC(desc);
  out.y_kind = static_cast<LabelKind>(desc.y_kind);
  out.y_type = static_cast<ValueType>(desc.y_type);
  out.y_shape = ShapeFromC(desc.y_rank, desc.y_shape, "labels");
  out.num_classes = desc.num_classes;
  out.outputs = OutputsFromC(desc);
  out.by_parts = desc.n_outputs > 0;
  out.weighted = desc.n_outputs > 0 && desc.weighted != 0;
  out.n_partitions = desc.n_partitions;
  out.n_rows = desc.n_rows;
  out.buffer_rows = desc.buffer_rows;
  out.normalizing_const = desc.normalizing_const;
  out.table_name = Text(desc.table_name);
  out.x_column = Text(desc.x_column);
  if (desc.validation != 0) out.validation = desc.validation > 0;
  return out;
}

std::optional<DataDesc> FromC(const hopper_data_desc* desc) {
  if (desc == nullptr) return std::nullopt;
  return FromC(*desc);
}

PackedBuffer FromC(const hopper_buffer& buffer) {
  PackedBuffer out;
  out.split = buffer.split;
  out.partition_id = buffer.partition_id;
  out.buffer_id = buffer.buffer_id;
  out.n = buffer.n;
  out.x = buffer.x;
  out.x_size = buffer.x_size;
  out.y = buffer.y;
  out.y_size = buffer.y_size;
  out.checksum = buffer.checksum;
  return out;
}

ConfigSource FromC(const hopper_config& config) {
  ConfigSource out;
  out.mst_key = config.mst_key;
  out.model_arch = {config.model_arch, config.model_arch_size};
  out.compile_params = ViewOf(config.compile_params);
  out.fit_params = ViewOf(config.fit_params);
  out.weights = config.weights;
  out.n_weights = config.n_weights;
  out.state = config.state;
  out.state_size = config.state_size;
  out.confusion = config.confusion != 0;
  return out;
}

}  // namespace hopper
