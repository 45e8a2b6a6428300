// A trained model for other tools. What both forms are given is an example as it stands in the
// user's table: a constant that features were divided by in training is part of them. Of columns
// with treatments it is what these make of them; what they are the file says. What both give is in
// the label's own unit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/spec.h"

namespace hopper {

struct ModelExport {
  // What is known of an output, in the model's order; none where there are no data.
  struct Output {
    std::string label;                 // name of what is predicted
    std::vector<std::string> classes;  // where there are any
    // Of labels that were scaled: what 1 and 0 are in their unit, in which values come out, within
    // these two. 0: they were not.
    double unit = 0.0;
    double zero = 0.0;
    double least = 0.0;
    double largest = 0.0;
  };

  const ModelSpec* spec = nullptr;
  std::string_view json;           // the architecture
  double normalizing_const = 1.0;  // features are divided by it
  std::vector<Output> outputs;
  // Names of the features: a JSON list, or an object of lists by input. "": not known.
  std::string features;
  std::string schema;  // of columns with treatments, as JSON; else ""
};

// Bytes of a file, and how many of the model's weights, as float32 in get_weights() order, follow
// them from which one on. So a file need not be made in memory beside its weights.
struct FilePiece {
  std::string bytes;
  int64_t first = 0;
  int64_t count = 0;
};

// An ONNX file of opset 17. Throws Error(kNotSupported) where a layer has no export.
std::vector<FilePiece> OnnxFile(const ModelExport& model);

// Python source: a torch.nn.Module that reads the file of SafetensorsHeader().
std::string PytorchSource(const ModelExport& model);

}  // namespace hopper
