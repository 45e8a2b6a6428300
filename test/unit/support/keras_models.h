// Small Keras architectures as JSON text.
#pragma once

#include <string>
#include <vector>

namespace hopper {

// {"class_name": ..., "config": {"name": ..., <attributes>}}
inline std::string KerasLayer(const std::string& class_name, const std::string& name,
                              const std::string& attributes) {
  return R"({"class_name": ")" + class_name + R"(", "config": {"name": ")" + name + "\"" +
         (attributes.empty() ? "" : ", " + attributes) + "}}";
}

inline std::string KerasSequential(const std::vector<std::string>& layers) {
  std::string text = R"({"class_name": "Sequential", "config": {"name": "model", "layers": [)";
  for (size_t i = 0; i < layers.size(); ++i) text += (i == 0 ? "" : ", ") + layers[i];
  return text + R"(]}, "keras_version": "2.10.0", "backend": "tensorflow"})";
}

inline std::string KerasDense(const std::string& name, int units, const std::string& activation,
                              const std::string& more = "") {
  return KerasLayer("Dense", name,
                    "\"units\": " + std::to_string(units) + ", \"activation\": \"" + activation +
                        "\"" + (more.empty() ? "" : ", " + more));
}

// Batch norm and dropout between two dense layers.
inline std::string MlpJson(int inputs, int units, int classes) {
  return KerasSequential(
      {KerasDense("first", units, "relu",
                  "\"batch_input_shape\": [null, " + std::to_string(inputs) + "]"),
       KerasLayer("BatchNormalization", "norm", ""), KerasLayer("Dropout", "drop", "\"rate\": 0.3"),
       KerasDense("last", classes, "softmax",
                  R"("kernel_regularizer": {"class_name": "L2", "config": {"l2": 0.001}})")});
}

// Convolution, batch norm, pooling and dropout over 8x8x1 images.
inline std::string CnnJson(int filters, int classes) {
  return KerasSequential(
      {KerasLayer(
           "Conv2D", "conv",
           "\"batch_input_shape\": [null, 8, 8, 1], \"filters\": " + std::to_string(filters) +
               R"(, "kernel_size": [3, 3], "padding": "same", "activation": "relu")"),
       KerasLayer("BatchNormalization", "norm", ""),
       KerasLayer("MaxPooling2D", "pool", "\"pool_size\": [2, 2]"),
       KerasLayer("Conv2D", "conv2",
                  "\"filters\": " + std::to_string(filters) +
                      R"(, "kernel_size": [3, 3], "activation": "relu")"),
       KerasLayer("Flatten", "flat", ""), KerasLayer("Dropout", "drop", "\"rate\": 0.25"),
       KerasDense("last", classes, "softmax")});
}

}  // namespace hopper
