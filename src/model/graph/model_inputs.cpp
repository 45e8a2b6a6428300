#include "model/graph/model_inputs.h"

#include <algorithm>

#include "base/product.h"
#include "model_hopper/limits.h"

namespace hopper {

std::string OpenShapeText(const Shape& shape) {
  std::string text;
  for (int64_t size : shape) {
    if (!text.empty()) text += 'x';
    text += size < 0 ? "?" : std::to_string(size);
  }
  return text.empty() ? "scalar" : text;
}

bool Matches(const Shape& stated, const Shape& shape) {
  if (stated.size() != shape.size()) return false;
  for (size_t i = 0; i < stated.size(); ++i) {
    if (stated[i] >= 0 && stated[i] != shape[i]) return false;
  }
  return true;
}

bool CheckTensorShape(const Shape& shape, const std::string& what, std::vector<Problem>* problems) {
  const auto fail = [&](ErrorCode code, const std::string& message, const std::string& detail,
                        const char* hint = "") {
    problems->push_back({code, message, detail, hint});
    return false;
  };
  if (shape.size() > HOPPER_MAX_RANK) {
    return fail(ErrorCode::kLimitExceeded, what + " has " + std::to_string(shape.size()) + " axes",
                "The limit is " + std::to_string(HOPPER_MAX_RANK) + ".");
  }
  for (int64_t size : shape) {
    if (size >= 1) continue;
    return fail(ErrorCode::kInvalidParameter, what + " is empty: its shape is " + ShapeText(shape),
                "");
  }
  if (ElementCount(shape) >= (int64_t{1} << 31)) {
    return fail(ErrorCode::kLimitExceeded, what + " is too large: its shape is " + ShapeText(shape),
                "The limit is 2147483647 values.",
                "Give layers fewer units, or let pooling come before Flatten.");
  }
  return true;
}

namespace {

class InputFinder {
 public:
  InputFinder(const ModelGraph& graph, std::vector<Problem>* problems)
      : graph_(graph), problems_(problems) {}

  bool Find(const std::vector<DataInput>* data, std::vector<ModelInput>* inputs) {
    const size_t n = graph_.inputs.size();
    if (n != 1 && n > HOPPER_MAX_INPUTS) {
      Fail(ErrorCode::kLimitExceeded,
           "model \"" + graph_.name + "\" has " + std::to_string(n) + " inputs",
           "The limit is " + std::to_string(HOPPER_MAX_INPUTS) + ".");
      return false;
    }
    std::vector<const DataInput*> found(n, nullptr);
    // Columns of which packing made one row are the model's inputs in its order.
    if (data != nullptr && n > 1 && FitsRow(*data)) data = nullptr;
    if (data != nullptr && !FindInputs(*data, &found)) return false;
    for (size_t i = 0; i < n; ++i) {
      const GraphLayer& input = graph_.layers[graph_.inputs[i].layer];
      ModelInput made;
      made.name = input.name;
      if (!InputShape(input, found[i] != nullptr ? &found[i]->shape : nullptr, &made.shape)) {
        return false;
      }
      inputs->push_back(std::move(made));
    }
    return n == 1 || Place(data, found, inputs);
  }

 private:
  void Fail(ErrorCode code, const std::string& message, const std::string& detail = "",
            const std::string& hint = "") {
    problems_->push_back({code, message, detail, hint});
  }

  // Whether none has a name of the other's, and each the size of the one at its place.
  bool FitByOrder(const std::vector<DataInput>& data,
                  const std::vector<const DataInput*>& found) const {
    if (graph_.inputs.size() != data.size()) return false;
    for (size_t i = 0; i < data.size(); ++i) {
      const std::optional<Shape>& stated = graph_.layers[graph_.inputs[i].layer].input_shape;
      if (found[i] != nullptr) return false;
      if (stated &&
          std::all_of(stated->begin(), stated->end(), [](int64_t size) { return size >= 0; }) &&
          ElementCount(*stated) != ElementCount(data[i].shape)) {
        return false;
      }
    }
    return true;
  }

  // Whether one row of numbers holds the values of all inputs, one behind the other.
  bool FitsRow(const std::vector<DataInput>& data) const {
    if (data.size() != 1 || !data[0].name.empty()) return false;
    int64_t values = 0;
    for (const TensorRef& ref : graph_.inputs) {
      const std::optional<Shape>& stated = graph_.layers[ref.layer].input_shape;
      if (!stated || std::any_of(stated->begin(), stated->end(), [](int64_t n) { return n < 1; })) {
        return false;
      }
      values = SaturatingAdd(values, ElementCount(*stated));
    }
    return data[0].shape.size() == 1 && data[0].shape[0] == values;
  }

  // Which input of the data is which of the model's.
  bool FindInputs(const std::vector<DataInput>& data, std::vector<const DataInput*>* found) {
    if (graph_.inputs.size() == 1 && data.size() == 1) {
      (*found)[0] = data.data();
      return true;
    }
    bool all = graph_.inputs.size() == data.size();
    std::string wanted, held;
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const std::string& name = graph_.layers[graph_.inputs[i].layer].name;
      wanted += (i > 0 ? ", \"" : "\"") + name + "\"";
      for (const DataInput& input : data) {
        if (input.name == name) (*found)[i] = &input;
      }
      all = all && (*found)[i] != nullptr;
    }
    for (const DataInput& input : data) {
      held += (held.empty() ? "\"" : ", \"") + input.name + "\"";
    }
    if (all) return true;
    // A list of columns says nothing of inputs but their order, which Keras goes by, too.
    if (FitByOrder(data, *found)) {
      for (size_t i = 0; i < data.size(); ++i) (*found)[i] = &data[i];
      return true;
    }
    const bool one = data.size() == 1;
    Fail(ErrorCode::kInvalidParameter,
         "model \"" + graph_.name + "\" has the " +
             (graph_.inputs.size() == 1 ? "input " : "inputs ") + wanted + " but the data have " +
             (one ? "one input without a name" : held),
         "Inputs are found by their names, or all of them by their order.",
         graph_.inputs.size() == 1
             ? "Build the model with these inputs, or pack one column or a list of numbers."
             : "Name them when packing: independent_varname => '{\"" +
                   graph_.layers[graph_.inputs[0].layer].name + "\": [\"column\", ...], ...}'.");
    return false;
  }

  // What the file states, filled up by the data where it leaves something open.
  bool InputShape(const GraphLayer& input, const Shape* data_shape, Shape* shape) {
    const bool stated = input.input_shape.has_value();
    const bool complete =
        stated && std::all_of(input.input_shape->begin(), input.input_shape->end(),
                              [](int64_t size) { return size >= 0; });
    if (complete) {
      *shape = *input.input_shape;
    } else if (data_shape == nullptr) {
      // No problem where there are others: data mend it.
      if (!problems_->empty()) return false;
      Fail(ErrorCode::kNotReady,
           stated ? "model \"" + graph_.name +
                        "\" leaves its input shape open: " + OpenShapeText(*input.input_shape)
                  : "model \"" + graph_.name + "\" does not state its input shape",
           "The shape is known when the model meets its data.",
           "Start the model with an Input layer of a fixed shape; describe_model() takes one from "
           "packed_table, too.");
      return false;
    } else {
      *shape = *data_shape;
      if (stated && !Matches(*input.input_shape, *shape)) {
        // Grey images may be packed without the axis of channels.
        shape->push_back(1);
        if (!Matches(*input.input_shape, *shape)) {
          Fail(ErrorCode::kInvalidParameter,
               "model expects input of shape " + OpenShapeText(*input.input_shape) +
                   " but the data have shape " + ShapeText(*data_shape),
               "The input is " + input.path + " of the architecture.",
               "Reshape when packing, or start the model with Reshape.");
          return false;
        }
      }
    }
    if (input.lacks_batch) {
      Fail(ErrorCode::kInvalidParameter, "model \"" + graph_.name + "\" has an input without axes",
           "The first axis of a batch_shape or batch_input_shape is the batch's.",
           "Write [null, 4] for four features, for example.");
      return false;
    }
    return CheckTensorShape(*shape, "input of model \"" + graph_.name + "\"", problems_);
  }

  // Where in a row each of several inputs stands.
  bool Place(const std::vector<DataInput>* data, const std::vector<const DataInput*>& found,
             std::vector<ModelInput>* inputs) {
    int64_t values = 0;
    if (data == nullptr) {
      for (ModelInput& input : *inputs) {
        input.first = values;
        values = SaturatingAdd(values, ElementCount(input.shape));
      }
      return true;
    }
    for (const DataInput& part : *data) {
      for (size_t i = 0; i < found.size(); ++i) {
        if (found[i] != &part) continue;
        ModelInput& input = (*inputs)[i];
        input.first = values;
        if (ElementCount(part.shape) == ElementCount(input.shape)) continue;
        Fail(ErrorCode::kInvalidParameter, "input \"" + input.name + "\" expects shape " +
                                               ShapeText(input.shape) +
                                               " but the data have shape " + ShapeText(part.shape));
        return false;
      }
      values = SaturatingAdd(values, ElementCount(part.shape));
    }
    return true;
  }

  const ModelGraph& graph_;
  std::vector<Problem>* problems_;
};

}  // namespace

bool FindModelInputs(const ModelGraph& graph, const std::vector<DataInput>* data,
                     std::vector<Problem>* problems, std::vector<ModelInput>* inputs) {
  return InputFinder(graph, problems).Find(data, inputs);
}

}  // namespace hopper
