// Random small Keras models: chains with branches that are added or concatenated.
#pragma once

#include <string>
#include <vector>

#include "base/philox.h"

namespace hopper {

class RandomModelMaker {
 public:
  explicit RandomModelMaker(int seed)
      : random_(static_cast<uint64_t>(seed), Purpose::kSearch, 3, 0) {}

  // A functional model of Keras 2: an image or a row of numbers in, some numbers out.
  std::string Make() {
    const bool image = Below(2) == 0;
    const std::string shape = image ? std::to_string(5 + Below(6)) + ", " +
                                          std::to_string(5 + Below(6)) + ", " +
                                          std::to_string(1 + Below(4))
                                    : std::to_string(1 + Below(20));
    Append("InputLayer", R"("batch_input_shape": [null, )" + shape + "]", {});
    std::string at = last_;
    if (image) {
      const int blocks = 1 + Below(3);
      for (int i = 0; i < blocks; ++i) at = ImageBlock(at);
      at = Append(Below(3) == 0 ? "GlobalAveragePooling2D" : "Flatten", "", {at});
    }
    const int blocks = 1 + Below(3);
    for (int i = 0; i < blocks; ++i) at = RowBlock(at);
    at = Dense(at, 1 + Below(5), Below(2) == 0 ? "softmax" : "sigmoid");
    return R"({"class_name": "Functional", "config": {"name": "m", "layers": [)" + layers_ +
           R"(], "input_layers": [["l1", 0, 0]], "output_layers": [[")" + at +
           R"(", 0, 0]]}, "keras_version": "2.11.0", "backend": "tensorflow"})";
  }

 private:
  int Below(int n) { return static_cast<int>(random_.Below(draws_++, static_cast<uint64_t>(n))); }

  std::string Append(const std::string& class_name, const std::string& attributes,
                     const std::vector<std::string>& inputs) {
    last_ = "l" + std::to_string(++count_);
    std::string nodes;
    for (const std::string& input : inputs) {
      nodes += (nodes.empty() ? "" : ", ") + ("[\"" + input + "\", 0, 0, {}]");
    }
    layers_ += (layers_.empty() ? "" : ", ") +
               (R"({"class_name": ")" + class_name + R"(", "config": {"name": ")" + last_ + "\"" +
                (attributes.empty() ? "" : ", " + attributes) + R"(}, "name": ")" + last_ +
                R"(", "inbound_nodes": [)" + (nodes.empty() ? "" : "[" + nodes + "]") + "]}");
    return last_;
  }

  std::string Activation() {
    const char* names[] = {"relu",  "tanh",     "sigmoid", "elu",         "linear",
                           "swish", "softplus", "gelu",    "log_softmax", "mish"};
    return names[Below(10)];
  }

  std::string Dense(const std::string& at, int units, const std::string& activation) {
    return Append("Dense",
                  "\"units\": " + std::to_string(units) + R"(, "activation": ")" + activation +
                      R"(", "use_bias": )" + (Below(4) == 0 ? "false" : "true"),
                  {at});
  }

  std::string Conv(const std::string& at, int filters) {
    return Append("Conv2D",
                  "\"filters\": " + std::to_string(filters) + R"(, "kernel_size": [)" +
                      std::to_string(1 + Below(3)) + ", " + std::to_string(1 + Below(3)) +
                      R"(], "padding": "same", "strides": )" + std::to_string(1 + Below(2)) +
                      R"(, "activation": ")" + Activation() + "\"",
                  {at});
  }

  // The image and the same after a convolution of it, side by side, or something plain.
  std::string ImageBlock(const std::string& at) {
    switch (Below(7)) {
      case 0:
        return Append("MaxPooling2D", R"("pool_size": 2, "padding": "same")", {at});
      case 1:
        return Append("BatchNormalization", "", {at});
      case 2: {
        const std::string same = Append(
            "Conv2D",
            R"("filters": 3, "kernel_size": [3, 3], "padding": "same", "activation": "relu")",
            {at});
        return Append("Concatenate", R"("axis": -1)", {at, same});
      }
      case 3:
        return Append("DepthwiseConv2D",
                      "\"kernel_size\": " + std::to_string(1 + Below(4)) +
                          R"(, "padding": "same", "strides": )" + std::to_string(1 + Below(2)) +
                          R"(, "activation": ")" + Activation() + "\"",
                      {at});
      case 4:
        return Append("SeparableConv2D",
                      "\"filters\": " + std::to_string(1 + Below(20)) +
                          ", \"kernel_size\": " + std::to_string(1 + Below(4)) +
                          R"(, "padding": "same", "activation": ")" + Activation() + "\"",
                      {at});
      default:
        return Conv(at, 1 + Below(20));
    }
  }

  std::string RowBlock(const std::string& at) {
    switch (Below(5)) {
      case 0:
        return Append("Dropout", R"("rate": 0.4)", {at});
      case 1:
        return Append("BatchNormalization", "", {at});
      case 2: {
        const std::string first = Dense(at, 6, "relu");
        const std::string second = Dense(first, 6, "tanh");
        return Append("Add", "", {first, second, first});
      }
      case 3: {
        const std::string side = Dense(at, 1 + Below(4), "linear");
        return Append("Concatenate", R"("axis": -1)", {side, at});
      }
      default:
        return Dense(at, 1 + Below(70), Activation());
    }
  }

  Philox random_;
  uint64_t draws_ = 0;
  int count_ = 0;
  std::string last_;
  std::string layers_;
};

inline std::string RandomModelJson(int seed) { return RandomModelMaker(seed).Make(); }

}  // namespace hopper
