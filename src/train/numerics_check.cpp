#include "train/numerics_check.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "base/bf16.h"
#include "base/block_signals.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/philox.h"
#include "model/planned/step_plan.h"
#include "optim/optimizer.h"
#include "train/sums.h"
#include "train/trainer_parts.h"

namespace hopper {

namespace {

// Each form of arithmetic that planned steps have, in these networks. Images: direct, strided,
// dilated, grouped and both of Winograd's convolutions, products, sums over columns, exponentials
// and their like.
constexpr char kImages[] = R"({"class_name": "Sequential", "config": {"name": "check", "layers": [
  {"class_name": "Conv2D", "config": {"name": "a", "batch_input_shape": [null, 9, 9, 3],
   "filters": 16, "kernel_size": [3, 3], "padding": "same", "activation": "tanh"}},
  {"class_name": "Conv2D", "config": {"name": "b", "filters": 24, "kernel_size": [3, 3],
   "padding": "same", "activation": "swish"}},
  {"class_name": "BatchNormalization", "config": {"name": "c"}},
  {"class_name": "Conv2D", "config": {"name": "m", "filters": 24, "kernel_size": [3, 3]}},
  {"class_name": "Conv2D", "config": {"name": "d", "filters": 24, "kernel_size": [3, 3],
   "groups": 2, "activation": "gelu"}},
  {"class_name": "Conv2D", "config": {"name": "e", "filters": 8, "kernel_size": [2, 2],
   "dilation_rate": 2, "activation": "softplus"}},
  {"class_name": "Conv2D", "config": {"name": "f", "filters": 16, "kernel_size": [3, 3],
   "strides": 2, "padding": "same", "activation": "elu"}},
  {"class_name": "AveragePooling2D", "config": {"name": "g", "pool_size": [2, 2],
   "strides": [1, 1], "padding": "same"}},
  {"class_name": "Flatten", "config": {"name": "h"}},
  {"class_name": "Dense", "config": {"name": "i", "units": 512, "activation": "sigmoid"}},
  {"class_name": "Dropout", "config": {"name": "j", "rate": 0.3}},
  {"class_name": "Dense", "config": {"name": "k", "units": 300, "activation": "mish"}},
  {"class_name": "Dense", "config": {"name": "l", "units": 7, "activation": "softmax"}}
 ]}, "keras_version": "2.10.0", "backend": "tensorflow"})";

// Series: recurrent cells, whose steps follow each other, normalization of each step, attention.
constexpr char kSeries[] = R"({"class_name": "Functional", "config": {"name": "series",
 "input_layers": [["a", 0, 0]], "output_layers": [["g", 0, 0]], "layers": [
  {"class_name": "InputLayer", "name": "a", "config": {"name": "a",
   "batch_input_shape": [null, 8, 6]}, "inbound_nodes": []},
  {"class_name": "LSTM", "name": "b", "config": {"name": "b", "units": 20,
   "return_sequences": true}, "inbound_nodes": [[["a", 0, 0, {}]]]},
  {"class_name": "GRU", "name": "c", "config": {"name": "c", "units": 18,
   "reset_after": true, "return_sequences": true}, "inbound_nodes": [[["b", 0, 0, {}]]]},
  {"class_name": "LayerNormalization", "name": "d", "config": {"name": "d"},
   "inbound_nodes": [[["c", 0, 0, {}]]]},
  {"class_name": "MultiHeadAttention", "name": "e", "config": {"name": "e", "num_heads": 2,
   "key_dim": 7}, "inbound_nodes": [[["d", 0, 0, {"value": ["b", 0, 0]}]]]},
  {"class_name": "GlobalAveragePooling1D", "name": "f", "config": {"name": "f"},
   "inbound_nodes": [[["e", 0, 0, {}]]]},
  {"class_name": "Dense", "name": "g", "config": {"name": "g", "units": 4,
   "activation": "softmax"}, "inbound_nodes": [[["f", 0, 0, {}]]]}
 ]}, "keras_version": "2.10.0", "backend": "tensorflow"})";

// Filters of one channel.
constexpr char kChannels[] =
    R"({"class_name": "Sequential", "config": {"name": "channels", "layers": [
  {"class_name": "DepthwiseConv2D", "config": {"name": "a", "batch_input_shape": [null, 9, 9, 8],
   "kernel_size": [3, 3], "activation": "relu"}},
  {"class_name": "Flatten", "config": {"name": "b"}},
  {"class_name": "Dense", "config": {"name": "c", "units": 40, "activation": "tanh"}},
  {"class_name": "Dense", "config": {"name": "d", "units": 4, "activation": "softmax"}}
 ]}, "keras_version": "2.10.0", "backend": "tensorflow"})";

void Draw(uint64_t stream, size_t n, float* out) {
  const Philox philox(20240517, Purpose::kInitialize, 0, stream);
  for (size_t i = 0; i < n; ++i) out[i] = 2.0F * philox.Uniform(i) - 1.0F;
}

}  // namespace

std::vector<std::string> CheckModels() { return {kImages, kSeries, kChannels}; }

void ComputeCheck(const PlannedNetwork& network, Precision precision, ByteWriter* result) {
  constexpr int64_t kBatch = 21;
  const ModelSpec& spec = network.spec();
  const std::vector<TrainableSpan> spans = SpansOf(spec);
  OptimizerParams optimizer = DefaultOptimizer("Adam");
  optimizer.learning_rate = 0.01;
  optimizer.global_clipnorm = 5.0;
  const auto flat_size = static_cast<size_t>(spec.flat_size);
  AlignedArray<float> params(flat_size);
  AlignedArray<float> gradients(flat_size);
  AlignedArray<float> slots(
      static_cast<size_t>(spec.slot_size * static_cast<int64_t>(SlotCount(optimizer))));
  InitializeWeights(spec, 1, params.data());
  std::vector<float> input(static_cast<size_t>(kBatch * ElementCount(spec.input_shape())));
  const auto outputs = static_cast<size_t>(kBatch * ElementCount(spec.output_shape()));
  PlanOptions options;
  options.batch = kBatch;
  options.training = true;
  options.precision = precision;
  options.bf16_everywhere = true;
  StepPlan plan(network, options);
  plan.SetInput(input.data());
  StepArguments step;
  step.params = params.data();
  step.gradients = gradients.data();
  AlignedArray<uint16_t> shadow(flat_size);
  step.shadow = shadow.data();
  for (step.step = 0; step.step < 2; ++step.step) {
    Draw(2 * static_cast<uint64_t>(step.step), input.size(), input.data());
    for (size_t i = 0; i < flat_size; ++i) shadow[i] = ToBf16(params[i]);
    plan.Forward(step);
    result->PutBytes(plan.output(), outputs * sizeof(float));
    Draw(2 * static_cast<uint64_t>(step.step) + 1, outputs, plan.output_gradient());
    plan.Backward(step);
    ApplyOptimizer(optimizer, step.step, spans, params.data(), gradients.data(), slots.data(),
                   spec.slot_size);
  }
  result->PutBytes(params.data(), flat_size * sizeof(float));
}

std::string DigitsOf(const std::function<void(ByteWriter*)>& compute) {
  std::string check;
  std::exception_ptr failure;
  const BlockSignals blocked;
  std::thread thread;
  try {
    thread = std::thread([&] {
      try {
        ByteWriter result;
        compute(&result);
        check = Hash(result.data(), result.size()).Hex().substr(0, 8);
      } catch (...) {
        failure = std::current_exception();
      }
    });
  } catch (const std::system_error& e) {
    throw Error(ErrorCode::kOutOfMemory, "could not start a thread to look at the arithmetic",
                e.what(), "Let other processes of the server's user end, or raise its limit.");
  }
  thread.join();
  if (failure != nullptr) std::rethrow_exception(failure);
  return check;
}

const std::string& NumericsCheck() {
  static const std::string check = DigitsOf([](ByteWriter* result) {
    for (const std::string& model : CheckModels()) {
      const PlannedNetwork network(ParseModel(model, nullptr));
      ComputeCheck(network, Precision::kFp32, result);
      ComputeCheck(network, Precision::kBf16, result);
    }
  });
  return check;
}

}  // namespace hopper
