// The networks of step_bench and roofline, with random examples for them.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/philox.h"
#include "support/data_desc.h"
#include "support/keras_models.h"

namespace hopper {

struct Workload {
  std::string name;
  std::string architecture;
  std::vector<int32_t> x_shape;
  int32_t classes;  // 0: binary
  int64_t batch;
  bool bytes = false;  // features are bytes, as images are
};

inline std::string Input(const std::string& sizes) {
  return "\"batch_input_shape\": [null, " + sizes + "]";
}

inline std::string Conv(const std::string& name, int filters, bool same,
                        const std::string& more = "") {
  return KerasLayer("Conv2D", name,
                    "\"filters\": " + std::to_string(filters) +
                        R"(, "kernel_size": [3, 3], "activation": "relu", "padding": ")" +
                        (same ? "same\"" : "valid\"") + (more.empty() ? "" : ", " + more));
}

inline std::string Pool(const std::string& name) {
  return KerasLayer("MaxPooling2D", name, "\"pool_size\": [2, 2]");
}

inline std::string Drop(const std::string& name, double rate) {
  return KerasLayer("Dropout", name, "\"rate\": " + std::to_string(rate));
}

inline std::string Cifar() {
  return KerasSequential({Conv("c1", 32, true, Input("32, 32, 3")), Conv("c2", 32, false),
                          Pool("p1"), Drop("d1", 0.25), Conv("c3", 64, true), Conv("c4", 64, false),
                          Pool("p2"), Drop("d2", 0.25), KerasLayer("Flatten", "flat", ""),
                          KerasDense("f1", 512, "relu"), Drop("d3", 0.5),
                          KerasDense("f2", 10, "softmax")});
}

// A transformer block of width 64 with 4 heads over 32 steps.
inline std::string Transformer() {
  const auto layer = [](const char* kind, const std::string& name, const std::string& attributes,
                        const std::string& inputs) {
    return R"({"class_name": ")" + std::string(kind) + R"(", "name": ")" + name +
           R"(", "config": {"name": ")" + name + "\"" +
           (attributes.empty() ? "" : ", " + attributes) + R"(}, "inbound_nodes": [)" + inputs +
           "]}";
  };
  return R"({"class_name": "Functional", "config": {"name": "block",
      "input_layers": [["x", 0, 0]], "output_layers": [["out", 0, 0]], "layers": [)" +
         layer("InputLayer", "x", Input("32, 64"), "") + ", " +
         layer("MultiHeadAttention", "heads", R"("num_heads": 4, "key_dim": 16)",
               R"([["x", 0, 0, {"value": ["x", 0, 0]}]])") +
         ", " + layer("Add", "a1", "", R"([["x", 0, 0, {}], ["heads", 0, 0, {}]])") + ", " +
         layer("LayerNormalization", "n1", "", R"([["a1", 0, 0, {}]])") + ", " +
         layer("Dense", "d1", R"("units": 256, "activation": "gelu")", R"([["n1", 0, 0, {}]])") +
         ", " + layer("Dense", "d2", R"("units": 64)", R"([["d1", 0, 0, {}]])") + ", " +
         layer("Add", "a2", "", R"([["n1", 0, 0, {}], ["d2", 0, 0, {}]])") + ", " +
         layer("LayerNormalization", "n2", "", R"([["a2", 0, 0, {}]])") + ", " +
         layer("GlobalAveragePooling1D", "mean", "", R"([["n2", 0, 0, {}]])") + ", " +
         layer("Dense", "out", R"("units": 10, "activation": "softmax")",
               R"([["mean", 0, 0, {}]])") +
         R"(]}, "keras_version": "2.10.0", "backend": "tensorflow"})";
}

inline std::vector<Workload> Workloads() {
  return {
      {"iris_8",
       KerasSequential({KerasDense("a", 10, "relu", Input("4")), KerasDense("b", 10, "relu"),
                        KerasDense("c", 3, "softmax")}),
       {4},
       3,
       8},
      {"tabular_256",
       KerasSequential({KerasDense("a", 128, "relu", Input("64")), KerasDense("b", 64, "relu"),
                        KerasDense("c", 1, "sigmoid")}),
       {64},
       0,
       256},
      {"digits_mlp_32",
       KerasSequential({KerasDense("a", 32, "relu", Input("64")), KerasDense("b", 10, "softmax")}),
       {64},
       10,
       32},
      {"digits_cnn_32",
       KerasSequential({Conv("a", 16, false, Input("8, 8, 1")), Conv("b", 32, false), Pool("p"),
                        KerasLayer("Flatten", "flat", ""), KerasDense("c", 64, "relu"),
                        KerasDense("d", 10, "softmax")}),
       {8, 8, 1},
       10,
       32,
       true},
      {"gelu_mlp_256",
       KerasSequential({KerasDense("a", 128, "gelu", Input("64")), KerasDense("b", 64, "swish"),
                        KerasDense("c", 1, "sigmoid")}),
       {64},
       0,
       256},
      {"grouped_cnn_32",
       KerasSequential({Conv("a", 16, true, Input("16, 16, 8") + ", \"groups\": 2"),
                        Conv("b", 32, true, "\"groups\": 4, \"strides\": [2, 2]"),
                        Conv("c", 32, true, "\"dilation_rate\": [2, 2]"),
                        KerasLayer("GlobalMaxPooling2D", "p", ""), KerasDense("d", 10, "softmax")}),
       {16, 16, 8},
       10,
       32,
       true},
      {"depthwise_cnn_32",
       KerasSequential(
           {Conv("a", 32, true, Input("16, 16, 3")), Conv("b", 32, true, "\"groups\": 32"),
            KerasLayer("GlobalAveragePooling2D", "p", ""), KerasDense("d", 10, "softmax")}),
       {16, 16, 3},
       10,
       32,
       true},
      // A block of MobileNetV2.
      {"mobilenet_32",
       KerasSequential(
           {KerasLayer(
                "Conv2D", "a",
                R"("filters": 96, "kernel_size": 1, "use_bias": false, )" + Input("32, 32, 16")),
            KerasLayer("BatchNormalization", "b", ""), KerasLayer("ReLU", "c", R"("max_value": 6)"),
            KerasLayer("DepthwiseConv2D", "d",
                       R"("kernel_size": 3, "padding": "same", "use_bias": false)"),
            KerasLayer("BatchNormalization", "e", ""), KerasLayer("ReLU", "f", R"("max_value": 6)"),
            KerasLayer("Conv2D", "g", R"("filters": 16, "kernel_size": 1, "use_bias": false)"),
            KerasLayer("GlobalAveragePooling2D", "p", ""), KerasDense("h", 10, "softmax")}),
       {32, 32, 16},
       10,
       32,
       true},
      {"separable_32",
       KerasSequential(
           {KerasLayer(
                "SeparableConv2D", "a",
                R"("filters": 64, "kernel_size": 3, "padding": "same", "activation": "relu", )" +
                    Input("32, 32, 32")),
            KerasLayer("SeparableConv2D", "b",
                       R"("filters": 64, "kernel_size": 3, "padding": "same", "strides": [2, 2], )"
                       R"("activation": "relu")"),
            KerasLayer("GlobalAveragePooling2D", "p", ""), KerasDense("h", 10, "softmax")}),
       {32, 32, 32},
       10,
       32,
       true},
      {"lstm_32",
       KerasSequential({KerasLayer("LSTM", "a", "\"units\": 64, " + Input("8, 8")),
                        KerasDense("b", 10, "softmax")}),
       {8, 8},
       10,
       32},
      {"gru_norm_32",
       KerasSequential(
           {KerasLayer("GRU", "a",
                       R"("units": 64, "reset_after": true, "return_sequences": true, )" +
                           Input("16, 16")),
            KerasLayer("LayerNormalization", "b", ""),
            KerasLayer("GlobalAveragePooling1D", "c", ""), KerasDense("d", 10, "softmax")}),
       {16, 16},
       10,
       32},
      {"transformer_32", Transformer(), {32, 64}, 10, 32},
      {"late_resnet_32",
       KerasSequential(
           {KerasLayer(
                "Conv2D", "a",
                R"("filters": 128, "kernel_size": 1, "activation": "relu", )" + Input("4, 4, 512")),
            Conv("b", 128, true), KerasLayer("Conv2D", "c", R"("filters": 512, "kernel_size": 1)"),
            KerasLayer("GlobalAveragePooling2D", "p", ""), KerasDense("d", 10, "softmax")}),
       {4, 4, 512},
       10,
       32},
      {"cifar_32", Cifar(), {32, 32, 3}, 10, 32, true},
      {"cifar_128", Cifar(), {32, 32, 3}, 10, 128, true},
      {"cifar_256", Cifar(), {32, 32, 3}, 10, 256, true},
  };
}

inline std::string CompileText(const Workload& workload) {
  const char* loss = workload.classes == 0 ? "binary_crossentropy" : "categorical_crossentropy";
  return std::string("loss='") + loss + "', optimizer='Adam(lr=0.001)', metrics=['accuracy']";
}

inline DataDesc Describe(const Workload& workload, int64_t rows) {
  LabelsDesc labels;
  if (workload.classes > 0) {
    labels = {LabelKind::kClass, ValueType::kInt32, {}, workload.classes};
  }
  DataDesc desc = MakeDesc(workload.bytes ? ValueType::kUint8 : ValueType::kFloat32,
                           {workload.x_shape.begin(), workload.x_shape.end()}, labels, rows);
  desc.normalizing_const = workload.bytes ? 255.0 : 1.0;
  return desc;
}

// Random examples.
inline Partition RandomPartition(const Workload& workload, const DataDesc& desc, int64_t rows) {
  const Philox random(1, Purpose::kPack, 0, 0);
  Partition partition;
  partition.n = rows;
  partition.buffer_starts = {0};
  const auto values = static_cast<size_t>(rows * desc.x_elements());
  partition.x = AlignedArray<uint8_t>(values * (workload.bytes ? 1 : 4));
  for (size_t i = 0; i < values; ++i) {
    const float value = random.Uniform(i);
    if (workload.bytes) {
      partition.x[i] = static_cast<uint8_t>(value * 255.0F);
    } else {
      std::memcpy(partition.x.data() + 4 * i, &value, 4);
    }
  }
  partition.y = AlignedArray<uint8_t>(static_cast<size_t>(rows) * 4);
  for (int64_t i = 0; i < rows; ++i) {
    const int32_t index = static_cast<int32_t>(i) % std::max(workload.classes, 2);
    const auto number = static_cast<float>(index);
    std::memcpy(partition.y.data() + 4 * i,
                workload.classes == 0 ? static_cast<const void*>(&number) : &index, 4);
  }
  return partition;
}

}  // namespace hopper
