// Why packed data do not go with those that a model was trained on. Names and classes are compared
// and shown as bytes, whatever the server's encoding is.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "capi/arguments.h"
#include "capi/boundary.h"
#include "capi/core_parts.h"
#include "capi/rows.h"
#include "model/shape.h"
#include "params/value.h"

namespace hopper {
namespace {

constexpr int32_t kMostNames = 20;  // that a sentence lists

// `pattern` with a part in the place of each %.
std::string Sentence(const char* pattern, std::initializer_list<std::string> parts) {
  std::string sentence;
  for (const std::string& part : parts) {
    const char* place = std::strchr(pattern, '%');
    sentence.append(pattern, place).append(part);
    pattern = place + 1;
  }
  return sentence + pattern;
}

std::string InQuotes(const char* text) { return "\"" + Text(text) + "\""; }

std::string Counted(int32_t n, const char* one, const char* many) {
  return WithThousands(static_cast<uint64_t>(n)) + " " + (n == 1 ? one : many);
}

// Of examples and labels, which may be a number alone.
std::string ShapeWords(const Shape& shape) { return shape.empty() ? "a number" : ShapeText(shape); }

std::string ShortNumber(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", number);
  return text;
}

// A class may be that of SQL's NULL, and a null pointer then.
bool SameText(const char* one, const char* other) {
  return one == nullptr || other == nullptr ? one == other : std::strcmp(one, other) == 0;
}

bool SameScale(const hopper_label_scale& one, const hopper_label_scale& other) {
  return one.is_scaled == other.is_scaled && one.mean == other.mean &&
         one.deviation == other.deviation && one.least == other.least &&
         one.largest == other.largest;
}

std::string ColumnsWords(const hopper_compared_data& data) {
  std::string words;
  for (int32_t i = 0; i < std::min(data.n_x_columns, kMostNames); ++i) {
    words += (i > 0 ? ", " : "") + InQuotes(data.x_columns[i]);
  }
  if (data.n_x_columns <= kMostNames) return words;
  return words + " and " + std::to_string(data.n_x_columns - kMostNames) + " more";
}

// One column, which may be an array, goes by any name.
bool SameFeatures(const hopper_compared_data& one, const hopper_compared_data& other) {
  return one.n_x_columns == 1 || other.n_x_columns == 1 ||
         std::equal(one.x_columns, one.x_columns + one.n_x_columns, other.x_columns,
                    other.x_columns + other.n_x_columns, SameText);
}

std::string ClassWords(const hopper_data_desc& data, int32_t i) {
  if (i >= data.n_class_values) return "unnamed";
  return data.class_values[i] == nullptr ? "NULL" : InQuotes(data.class_values[i]);
}

// A sentence, or nothing. `a` are the names of the packed data and `b` those of the others.
using Difference = std::optional<std::string>;

Difference OfInputs(const hopper_data_desc& its, const std::string& a, const hopper_data_desc& desc,
                    const std::string& b) {
  if (its.n_inputs != desc.n_inputs) {
    return Sentence("% has %, % has %.", {a, Counted(std::max(its.n_inputs, 1), "input", "inputs"),
                                          b, std::to_string(std::max(desc.n_inputs, 1))});
  }
  for (int32_t i = 0; i < its.n_inputs; ++i) {
    const hopper_input& one = its.inputs[i];
    const hopper_input& other = desc.inputs[i];
    const Shape shape(one.shape, one.shape + one.rank);
    const Shape trained(other.shape, other.shape + other.rank);
    const std::string name = InQuotes(one.name);
    if (!SameText(one.name, other.name)) {
      return Sentence("Input % of % is %, that of % is %.",
                      {std::to_string(i + 1), a, name, b, InQuotes(other.name)});
    }
    if (shape != trained) {
      return Sentence("Input % has shape % in % and % in %.",
                      {name, ShapeText(shape), a, ShapeText(trained), b});
    }
  }
  return std::nullopt;
}

Difference OfOutputs(const hopper_data_desc& its, const std::string& a,
                     const hopper_data_desc& desc, const std::string& b) {
  const int32_t n = std::max(its.n_outputs, 1);
  const int32_t n_trained = std::max(desc.n_outputs, 1);
  if (its.weighted != desc.weighted && n == n_trained) {
    return Sentence("% goes with weights of rows, % has none.",
                    {its.weighted != 0 ? a : b, its.weighted != 0 ? b : a});
  }
  if (its.n_outputs != desc.n_outputs) {
    return Sentence("% has labels of %, % of %.",
                    {a, Counted(n, "output", "outputs"), b, std::to_string(n_trained)});
  }
  for (int32_t i = 0; i < its.n_outputs; ++i) {
    const hopper_output& one = its.outputs[i];
    const hopper_output& other = desc.outputs[i];
    const std::string name = its.n_outputs == 1 ? "the label" : "output " + InQuotes(one.name);
    if (!SameText(one.name, other.name)) {
      return Sentence("Output % of % is %, that of % is %.",
                      {std::to_string(i + 1), a, InQuotes(one.name), b, InQuotes(other.name)});
    }
    if (one.kind != other.kind ||
        !std::equal(one.shape, one.shape + one.rank, other.shape, other.shape + other.rank)) {
      return Sentence("Labels of % are of another kind or shape in % than in %.", {name, a, b});
    }
    if (!SameScale(one.scale, other.scale)) {
      return Sentence("Labels of % are scaled otherwise in % than in %.", {name, a, b});
    }
    if (one.num_classes != other.num_classes || one.n_class_values != other.n_class_values) {
      return Sentence("% has % in % and % in %.",
                      {name, Counted(one.num_classes, "class", "classes"), a,
                       std::to_string(other.num_classes), b});
    }
    for (int32_t k = 0; k < one.n_class_values; ++k) {
      if (SameText(one.class_values[k], other.class_values[k])) continue;
      return Sentence("Class % of % is another one in % than in %.",
                      {std::to_string(k + 1), name, a, b});
    }
  }
  return std::nullopt;
}

Difference OfClasses(const hopper_data_desc& its, const std::string& a,
                     const hopper_data_desc& desc, const std::string& b) {
  if (its.num_classes != desc.num_classes) {
    return Sentence("% has % classes, % has %.",
                    {a, std::to_string(its.num_classes), b, std::to_string(desc.num_classes)});
  }
  for (int32_t i = 0; i < std::max(its.n_class_values, desc.n_class_values); ++i) {
    if (i < std::min(its.n_class_values, desc.n_class_values) &&
        SameText(its.class_values[i], desc.class_values[i])) {
      continue;
    }
    return Sentence("Class % is % in % but % in %.",
                    {std::to_string(i + 1), ClassWords(its, i), a, ClassWords(desc, i), b});
  }
  return std::nullopt;
}

// What is behind inputs, outputs and schemas.
Difference OfExamples(const hopper_compared_data& packed, const hopper_compared_data& trained,
                      const std::string& a, const std::string& b) {
  const hopper_data_desc& its = *packed.desc;
  const hopper_data_desc& desc = *trained.desc;
  const Shape x(its.x_shape, its.x_shape + its.x_rank);
  const Shape trained_x(desc.x_shape, desc.x_shape + desc.x_rank);
  const Shape y(its.y_shape, its.y_shape + its.y_rank);
  const Shape trained_y(desc.y_shape, desc.y_shape + desc.y_rank);
  if (x != trained_x) {
    return Sentence("Its examples have shape %, those of % %.",
                    {ShapeWords(x), b, ShapeWords(trained_x)});
  }
  if (!SameFeatures(packed, trained)) {
    return Sentence("Its features are %, those of % %.",
                    {ColumnsWords(packed), b, ColumnsWords(trained)});
  }
  if (its.y_kind != desc.y_kind) {
    return Sentence("Its labels are of another kind than those of %.", {b});
  }
  if (its.y_kind == HOPPER_LABEL_CLASS) {
    if (const Difference found = OfClasses(its, a, desc, b)) return found;
  } else if (y != trained_y) {
    return Sentence("Its labels have shape %, those of % %.",
                    {ShapeWords(y), b, ShapeWords(trained_y)});
  }
  // The constant is a real in every table.
  if (static_cast<float>(its.normalizing_const) != static_cast<float>(desc.normalizing_const)) {
    return Sentence("Its normalizing constant is %, that of % is %.",
                    {ShortNumber(its.normalizing_const), b, ShortNumber(desc.normalizing_const)});
  }
  return std::nullopt;
}

int DataDifference(const hopper_compared_data* packed, const hopper_compared_data* trained,
                   const char* of_schemas, hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    Require(packed != nullptr && trained != nullptr && rows != nullptr, "data");
    const std::string a = InQuotes(packed->name);
    const std::string b = InQuotes(trained->name);
    Difference found = OfInputs(*packed->desc, a, *trained->desc, b);
    if (!found) found = OfOutputs(*packed->desc, a, *trained->desc, b);
    if (!found && of_schemas != nullptr) found = of_schemas;
    if (!found) found = OfExamples(*packed, *trained, a, b);
    auto table = std::make_unique<Rows>(1);
    if (found) table->Add({found});
    *rows = Rows::Release(std::move(table));
  });
}

}  // namespace

void SetDataFunctions(hopper_core_api* api) { api->data_difference = DataDifference; }

}  // namespace hopper
