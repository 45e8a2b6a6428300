// Images stay channels-last in memory from layer to layer: then permutations and Flatten are
// views, and libtorch's fast kernels apply. A convolution that falls back to channels-first costs
// a copy on every way in and out.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <string>

#include "base/aligned.h"
#include "model/network/network.h"

namespace hopper {
namespace {

at::Tensor Output(int channels, const std::string& layer) {
  const std::string json =
      R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
    {"class_name": "InputLayer", "config": {"name": "i", "batch_input_shape": [null, 9, 8, )" +
      std::to_string(channels) + "]}}, " + layer +
      R"(]}, "keras_version": "2.11.0", "backend": "tensorflow"})";
  const Network network(ParseModel(json, nullptr));
  AlignedArray<float> flat(network.spec().flat_size);
  InitializeWeights(network.spec(), 1, flat.data());
  std::vector<at::Tensor> weights = network.BindWeights(flat.data());
  for (size_t i = 0; i < weights.size(); ++i) {
    if (network.spec().weights[i].trainable) weights[i].requires_grad_(true);
  }
  ForwardContext context;
  context.training = true;
  return network.Forward(at::ones({4, 9, 8, channels}), weights, context);
}

std::string LaidOutConvolution(const std::string& options) {
  return R"({"class_name": "Conv2D", "config": {"name": "c", "filters": 6, "activation": "relu",
    "kernel_size": [3, 3])" +
         options + "}}";
}

TEST(MemoryLayout, ImagesStayChannelsLast) {
  for (int channels : {1, 2, 3, 4}) {
    EXPECT_TRUE(Output(channels, LaidOutConvolution("")).is_contiguous()) << channels;
    EXPECT_TRUE(Output(channels, LaidOutConvolution(R"(, "padding": "same")")).is_contiguous());
    EXPECT_TRUE(Output(channels, LaidOutConvolution(R"(, "padding": "same", "strides": 2)"))
                    .is_contiguous());
    for (const char* pooling : {"MaxPooling2D", "AveragePooling2D"}) {
      EXPECT_TRUE(Output(channels, R"({"class_name": ")" + std::string(pooling) +
                                       R"(", "config": {"name": "p", "pool_size": 2}})")
                      .is_contiguous())
          << pooling;
    }
    EXPECT_TRUE(Output(channels, R"({"class_name": "BatchNormalization",
                                     "config": {"name": "b"}})")
                    .is_contiguous());
  }
}

}  // namespace
}  // namespace hopper
