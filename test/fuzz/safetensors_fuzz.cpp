// .safetensors files, for a model with a few weights.
#include <vector>

#include "fuzz.h"
#include "model/weights/safetensors.h"

using namespace hopper;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto spec = ParseModel(
      R"({"class_name": "Sequential", "config": {"layers": [
          {"class_name": "Dense", "config": {"name": "d", "units": 2, "batch_input_shape": [null, 3]}},
          {"class_name": "Dense", "config": {"name": "d", "units": 1}}]}})",
      nullptr);
  std::vector<float> weights(static_cast<size_t>(spec->parameters));
  Try([&] {
    ReadSafetensors(*spec, {reinterpret_cast<const char*>(data), size}, weights.data());
    for (const float weight : weights) Expect(weight - weight == 0.0F, "finite weights");
  });
  return 0;
}
