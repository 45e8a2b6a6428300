#include "model/columns.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/keras/keras_json.h"

namespace hopper {
namespace {

std::string TreatmentOf(const GraphLayer& input, int64_t slots, bool has_weights) {
  if (!input.treatment.empty()) return input.treatment;
  if (slots != 1) {
    return slots < 0 ? R"({"treatment":"array"})"
                     : R"({"treatment":"array","length":)" + std::to_string(slots) + "}";
  }
  const bool standardizes = input.is_normalized && !has_weights;
  return std::string(R"({"treatment":")") + (standardizes ? "standardize" : "none") +
         R"(","null":"median"})";
}

}  // namespace

std::vector<ModelColumn> ColumnsOfModel(std::string_view json, bool has_weights) {
  JsonDocument document;
  std::vector<Problem> problems;
  KerasModel model;
  if (ParseJsonText(json, &document, &problems)) {
    ReadKerasModel(document.root(), &model, &problems);
  }
  if (!problems.empty()) throw Error(SummaryOf(problems));
  std::vector<ModelColumn> columns;
  for (const TensorRef& ref : model.graph.inputs) {
    const GraphLayer& input = model.graph.layers[ref.layer];
    const bool known =
        input.input_shape && std::all_of(input.input_shape->begin(), input.input_shape->end(),
                                         [](int64_t n) { return n >= 1; });
    const int64_t slots = known ? ElementCount(*input.input_shape) : -1;
    columns.push_back(
        {input.name, slots, TreatmentOf(input, slots, has_weights), !input.treatment.empty()});
  }
  return columns;
}

}  // namespace hopper
