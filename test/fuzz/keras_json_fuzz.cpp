// Keras JSON: parsed with and without the data's shape, described, its weights counted.
#include <memory>
#include <vector>

#include "fuzz.h"
#include "model/spec.h"
#include "model/weights/initialize.h"
#include "model_hopper/core.h"

using namespace hopper;

namespace {

void Use(const ModelSpec& spec) {
  for (const Shape& tensor : spec.tensors) {
    Expect(ElementCount(tensor) > 0 && ElementCount(tensor) < INT64_C(1) << 31, "sizes in bounds");
  }
  int64_t floats = 0;
  for (const WeightSpec& weight : spec.weights) {
    Expect(weight.offset % 16 == 0 && weight.offset + weight.size() <= spec.flat_size,
           "weights inside the buffer");
    floats += weight.size();
  }
  Expect(floats == spec.parameters && spec.parameters <= spec.flat_size, "all weights counted");
  Expect(spec.flops >= 0 && spec.activation_floats > 0, "sums that did not wrap");
  if (spec.flat_size > 1 << 14) return;
  // Orthogonal's matrices, Identity's diagonals, the order of a convolution's kernel.
  std::vector<float> flat(static_cast<size_t>(spec.flat_size));
  std::vector<float> keras(static_cast<size_t>(spec.parameters));
  InitializeWeights(spec, 1, flat.data());
  ExportWeights(spec, flat.data(), keras.data());
  std::vector<float> again(flat.size());
  ImportWeights(spec, keras.data(), again.data());
  Expect(flat.empty() || std::memcmp(flat.data(), again.data(), flat.size() * sizeof(float)) == 0,
         "weights out and in again are the same");
}

}  // namespace

// What libhopper_core.so exports.
extern "C" const hopper_core_api* hopper_core_api_get(int32_t version);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view json(reinterpret_cast<const char*>(data) + 1, size - 1);
  static const std::vector<Shape> shapes = {{4}, {6, 5}, {8, 8, 1}, {9, 7, 3}, {2, 2, 2, 2}};
  const Shape& shape = shapes[data[0] % shapes.size()];
  for (const Shape* given : {static_cast<const Shape*>(nullptr), &shape}) {
    Try([&] {
      std::vector<Problem> problems;
      const auto spec = ParseModel(json, given, &problems);
      Expect((spec == nullptr) == !problems.empty(), "a model or problems");
      for (const Problem& problem : problems) {
        Expect(!problem.message.empty() && problem.code != ErrorCode::kInternal, "a message");
      }
      if (spec != nullptr) Use(*spec);
    });
  }
  const hopper_core_api* api = hopper_core_api_get(HOPPER_API_VERSION);
  hopper_rows* rows = nullptr;
  hopper_error error = {};
  if (api->describe_model(json.data(), json.size(), nullptr, &rows, &error) == HOPPER_OK) {
    api->rows_free(rows);
  } else {
    Expect(error.code != HOPPER_INTERNAL, "no internal error");
  }
  return 0;
}
