#include "model/model_text.h"

#include "base/bytes.h"
#include "model/spec.h"

namespace hopper {

std::string TextOfModel(std::string_view json, const std::vector<DataInput>* data,
                        const std::string* layer) {
  ByteWriter out;
  out.Put<int64_t>(data == nullptr ? -1 : static_cast<int64_t>(data->size()));
  for (size_t i = 0; data != nullptr && i < data->size(); ++i) {
    const DataInput& input = (*data)[i];
    out.PutString(input.name);
    out.Put<int64_t>(static_cast<int64_t>(input.shape.size()));
    for (const int64_t size : input.shape) out.Put<int64_t>(size);
    out.Put<int32_t>(static_cast<int32_t>(input.type));
  }
  out.Put<int32_t>(layer == nullptr ? 0 : 1);
  out.PutString(layer == nullptr ? "" : *layer);
  std::string text(reinterpret_cast<const char*>(out.data()), out.size());
  text += json;
  return text;
}

int64_t SizeOfModel(const ModelReading& reading) {
  int64_t bytes = sizeof(reading);
  for (const Problem& problem : reading.problems) bytes += SizeOfProblem(problem);
  if (reading.spec == nullptr) return bytes;
  constexpr int64_t kLayer = 1024;  // about; they are of many kinds
  const ModelSpec& spec = *reading.spec;
  for (const std::string& fingerprint : spec.fingerprints) {
    bytes += kLayer + static_cast<int64_t>(sizeof(fingerprint) + fingerprint.size());
  }
  for (const Problem& warning : spec.warnings) bytes += SizeOfProblem(warning);
  constexpr int64_t kShape = 8 * sizeof(int64_t);
  return bytes + static_cast<int64_t>(sizeof(spec) + spec.nodes.size() * (sizeof(Node) + kShape) +
                                      spec.tensors.size() * (sizeof(Shape) + kShape) +
                                      spec.weights.size() * (sizeof(WeightSpec) + kShape));
}

}  // namespace hopper
