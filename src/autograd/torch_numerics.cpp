#include "autograd/torch_numerics.h"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/sin.h>
#include <c10/core/InferenceMode.h>

#include "base/aligned.h"
#include "model/batch_sizes.h"
#include "model/network/network.h"
#include "model/weights/initialize.h"
#include "train/numerics_check.h"

namespace hopper {
namespace {

// Convolutions without a planned form: images that grow, many small groups.
constexpr char kUnplanned[] =
    R"({"class_name": "Sequential", "config": {"name": "unplanned", "layers": [
  {"class_name": "Conv2DTranspose", "config": {"name": "a", "batch_input_shape": [null, 5, 5, 3],
   "filters": 24, "kernel_size": [3, 3], "strides": 2, "padding": "same", "activation": "relu"}},
  {"class_name": "Conv2D", "config": {"name": "b", "filters": 24, "kernel_size": [3, 3],
   "groups": 12, "activation": "gelu"}}
 ]}, "keras_version": "2.10.0", "backend": "tensorflow"})";

void ComputeForward(const Network& network, ByteWriter* result) {
  constexpr int64_t kBatch = 21;
  const ModelSpec& spec = network.spec();
  AlignedArray<float> params(static_cast<size_t>(spec.flat_size));
  InitializeWeights(spec, 1, params.data());
  const at::Tensor input =
      at::sin(at::arange(kBatch * ElementCount(spec.input_shape()), at::kFloat))
          .reshape(WithBatch(kBatch, spec.input_shape()));
  const at::Tensor output =
      network.Forward(input, network.BindWeights(params.data()), ForwardContext{}).contiguous();
  result->PutBytes(output.const_data_ptr<float>(),
                   static_cast<size_t>(output.numel()) * sizeof(float));
}

}  // namespace

const std::string& TorchNumericsCheck() {
  static const std::string check = DigitsOf([](ByteWriter* result) {
    at::set_num_threads(1);
    const c10::InferenceMode inference;
    for (const std::string& model : CheckModels()) {
      ComputeForward(Network(ParseModel(model, nullptr)), result);
    }
    ComputeCheck(Network(ParseModel(kUnplanned, nullptr)), Precision::kFp32, result);
  });
  return check;
}

}  // namespace hopper
