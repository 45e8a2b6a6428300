// Time of one training step (gather, forward, loss, backward, optimizer) and of one evaluated
// batch, planned (in fp32 and in bf16) and through autograd, on one thread.
//
//   step_bench --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/philox.h"
#include "support/data_desc.h"
#include "support/keras_models.h"
#include "train/stepper.h"
#include "train/tensor_memory.h"
#include "train/trainer.h"

namespace hopper {
namespace {

struct Workload {
  std::string name;
  std::string architecture;
  std::vector<int32_t> x_shape;
  int32_t classes;  // 0: binary
  int64_t batch;
  bool bytes = false;  // features are bytes, as images are
};

std::string Input(const std::string& sizes) {
  return "\"batch_input_shape\": [null, " + sizes + "]";
}

std::string Conv(const std::string& name, int filters, bool same, const std::string& more = "") {
  return KerasLayer("Conv2D", name,
                    "\"filters\": " + std::to_string(filters) +
                        R"(, "kernel_size": [3, 3], "activation": "relu", "padding": ")" +
                        (same ? "same\"" : "valid\"") + (more.empty() ? "" : ", " + more));
}

std::string Pool(const std::string& name) {
  return KerasLayer("MaxPooling2D", name, "\"pool_size\": [2, 2]");
}

std::string Drop(const std::string& name, double rate) {
  return KerasLayer("Dropout", name, "\"rate\": " + std::to_string(rate));
}

std::string Cifar() {
  return KerasSequential({Conv("c1", 32, true, Input("32, 32, 3")), Conv("c2", 32, false),
                          Pool("p1"), Drop("d1", 0.25), Conv("c3", 64, true), Conv("c4", 64, false),
                          Pool("p2"), Drop("d2", 0.25), KerasLayer("Flatten", "flat", ""),
                          KerasDense("f1", 512, "relu"), Drop("d3", 0.5),
                          KerasDense("f2", 10, "softmax")});
}

std::vector<Workload> Workloads() {
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

// A partition of random examples, a trainer and a state.
class Bench {
 public:
  Bench(const Workload& workload, Precision precision)
      : rows_(4 * workload.batch), desc_(Describe(workload)), partition_(Fill(workload)) {
    const Shape shape(workload.x_shape.begin(), workload.x_shape.end());
    std::vector<ParamProblem> problems;
    const char* loss = workload.classes == 0 ? "binary_crossentropy" : "categorical_crossentropy";
    compile_ = ParseCompileParams(
        std::string("loss='") + loss + "', optimizer='Adam(lr=0.001)', metrics=['accuracy']",
        &problems);
    FitParams fit;
    fit.batch_size = workload.batch;
    network_ = std::make_shared<Network>(ParseModel(workload.architecture, &shape));
    trainer_ = std::make_unique<Trainer>(network_, compile_, fit, desc_, 1, precision);
    state_ = trainer_->InitialState(nullptr, "");
  }

  // Four steps.
  void Visit() {
    const std::atomic<bool> cancel{false};
    MetricSums sums;
    trainer_->Visit(&state_, partition_, 0, cancel, &sums);
    benchmark::DoNotOptimize(sums.loss);
  }
  void Evaluate() {
    const std::atomic<bool> cancel{false};
    MetricSums sums;
    trainer_->Evaluate(state_.params.data(), partition_, cancel, &sums);
    benchmark::DoNotOptimize(sums.loss);
  }
  int64_t rows() const { return rows_; }

 private:
  DataDesc Describe(const Workload& workload) {
    LabelsDesc labels;
    if (workload.classes > 0) {
      labels = {LabelKind::kClass, ValueType::kInt32, {}, workload.classes};
    }
    DataDesc desc = MakeDesc(workload.bytes ? ValueType::kUint8 : ValueType::kFloat32,
                             {workload.x_shape.begin(), workload.x_shape.end()}, labels, rows_);
    desc.normalizing_const = workload.bytes ? 255.0 : 1.0;
    return desc;
  }

  Partition Fill(const Workload& workload) {
    const Philox random(1, Purpose::kPack, 0, 0);
    Partition partition;
    partition.n = rows_;
    partition.buffer_starts = {0};
    const auto values = static_cast<size_t>(rows_ * desc_.x_elements());
    partition.x = AlignedArray<uint8_t>(values * (workload.bytes ? 1 : 4));
    for (size_t i = 0; i < values; ++i) {
      const float value = random.Uniform(i);
      if (workload.bytes) {
        partition.x[i] = static_cast<uint8_t>(value * 255.0F);
      } else {
        std::memcpy(partition.x.data() + 4 * i, &value, 4);
      }
    }
    partition.y = AlignedArray<uint8_t>(static_cast<size_t>(rows_) * 4);
    for (int64_t i = 0; i < rows_; ++i) {
      const int32_t index = static_cast<int32_t>(i) % std::max(workload.classes, 2);
      const auto number = static_cast<float>(index);
      std::memcpy(partition.y.data() + 4 * i,
                  workload.classes == 0 ? static_cast<const void*>(&number) : &index, 4);
    }
    return partition;
  }

  const int64_t rows_;
  DataDesc desc_;
  Partition partition_;
  CompileParams compile_;
  std::shared_ptr<Network> network_;
  std::unique_ptr<Trainer> trainer_;
  ModelState state_;
};

void Run(benchmark::State& state, const Workload& workload, const std::string& form, bool train) {
  const OwnedAccount account = MemoryAccount::Create(int64_t{8} << 30);
  {
    const TensorMemoryScope memory(account.get());
    UsePlannedSteps(form != "autograd");
    Bench bench(workload, form == "bf16" ? Precision::kBf16 : Precision::kFp32);
    for (auto _ : state) train ? bench.Visit() : bench.Evaluate();
    // Time of one batch, whatever the visit holds.
    state.counters["batch_us"] = benchmark::Counter(
        4.0, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  }
}

}  // namespace
}  // namespace hopper

int main(int argc, char** argv) {
  at::set_num_threads(1);
  for (const hopper::Workload& workload : hopper::Workloads()) {
    for (bool train : {true, false}) {
      for (const std::string form : {"planned", "bf16", "autograd"}) {
        if (form == "bf16" && !train) continue;  // evaluation is in fp32
        const std::string name = workload.name + (train ? "/step/" : "/evaluation/") + form;
        benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
          hopper::Run(state, workload, form, train);
        })->Unit(benchmark::kMicrosecond);
      }
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
