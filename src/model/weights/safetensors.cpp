#include "model/weights/safetensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "base/bf16.h"
#include "base/pieces.h"
#include "base/product.h"
#include "base/unique_names.h"
#include "model/keras/json_text.h"
#include "model/keras/keras_json.h"

namespace hopper {

using nlohmann::json;

namespace {

constexpr size_t kLengthBytes = 8;
constexpr size_t kHeaderAlignment = 8;
constexpr const char* kHint =
    "Give a file as safetensors.numpy.save() or hopper.to_safetensors() "
    "writes it.";

struct StoredTensor {
  std::string name;
  std::string dtype;
  Shape shape;
  size_t begin = 0;  // in the data
  size_t end = 0;
};

[[noreturn]] void Refuse(const std::string& message, const std::string& detail = "",
                         const std::string& hint = kHint) {
  throw Error(ErrorCode::kInvalidParameter, message, detail, hint);
}

// 0: unknown.
size_t SizeOf(const std::string& dtype) {
  if (dtype == "F64") return 8;
  if (dtype == "F32") return 4;
  return dtype == "F16" || dtype == "BF16" ? 2 : 0;
}

// A whole number from 0 to 2^53.
bool Natural(const json& value, size_t* number) {
  if (!value.is_number_unsigned()) return false;
  const uint64_t read = value.get<uint64_t>();
  *number = static_cast<size_t>(read);
  return read <= (uint64_t{1} << 53U);
}

StoredTensor ReadEntry(const std::string& name, const json& entry, size_t data_size) {
  StoredTensor tensor;
  tensor.name = name;
  const std::string what = "tensor \"" + name.substr(0, 200) + "\" of the safetensors file";
  tensor.dtype = StringMember(entry, "dtype");
  const json& shape = Member(entry, "shape");
  const json& offsets = Member(entry, "data_offsets");
  if (tensor.dtype.empty() || !shape.is_array() || !offsets.is_array() || offsets.size() != 2 ||
      !Natural(offsets[0], &tensor.begin) || !Natural(offsets[1], &tensor.end)) {
    Refuse(what + " has no dtype, shape and data_offsets");
  }
  for (const json& size : shape) {
    size_t number = 0;
    if (!Natural(size, &number)) Refuse(what + " has a shape that is none");
    tensor.shape.push_back(static_cast<int64_t>(number));
  }
  if (tensor.begin > tensor.end || tensor.end > data_size) {
    Refuse(what + " lies outside of the file",
           "It is at " + std::to_string(tensor.begin) + " to " + std::to_string(tensor.end) +
               ", and the file has " + std::to_string(data_size) + " bytes of data.");
  }
  const size_t size = SizeOf(tensor.dtype);
  if (size > 0 && Product({ProductOf(tensor.shape), static_cast<int64_t>(size)}) !=
                      static_cast<int64_t>(tensor.end - tensor.begin)) {
    Refuse(what + " has " + std::to_string(tensor.end - tensor.begin) + " bytes for the shape " +
           ShapeText(tensor.shape));
  }
  return tensor;
}

// In the order of their places; `data` is set to what they lie in.
std::vector<StoredTensor> ReadHeader(std::string_view bytes, std::string_view* data) {
  uint64_t length = 0;
  if (bytes.size() < kLengthBytes) Refuse("this is not a safetensors file", "It ends too early.");
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > bytes.size() - kLengthBytes) {
    Refuse("this is not a safetensors file",
           "Its header is to have " + std::to_string(length) + " bytes, and " +
               std::to_string(bytes.size() - kLengthBytes) + " follow.");
  }
  const std::string_view text = bytes.substr(kLengthBytes, static_cast<size_t>(length));
  *data = bytes.substr(kLengthBytes + static_cast<size_t>(length));
  JsonDocument document;
  std::vector<Problem> problems;
  const bool parsed = ParseAnyJson(text, &document, &problems);
  if (!problems.empty() && problems[0].code == ErrorCode::kLimitExceeded) {
    const std::string what = "model architecture";  // is too large, or nested too deeply
    throw Error(ErrorCode::kLimitExceeded,
                "the header of the safetensors file" + problems[0].message.substr(what.size()),
                problems[0].detail, kHint);
  }
  if (!parsed || !document.root()->is_object()) {
    Refuse("the header of the safetensors file is not a JSON object",
           problems.empty() ? "" : problems[0].detail);
  }
  std::vector<StoredTensor> tensors;
  for (const auto& [name, entry] : document.root()->items()) {
    if (name != "__metadata__") tensors.push_back(ReadEntry(name, entry, data->size()));
  }
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const StoredTensor& a, const StoredTensor& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < tensors.size(); ++i) {
    if (tensors[i].begin >= tensors[i - 1].end) continue;
    Refuse("tensors \"" + tensors[i - 1].name + "\" and \"" + tensors[i].name +
           "\" of the safetensors file overlap");
  }
  return tensors;
}

float FromHalf(uint16_t bits) {
  const int exponent = (bits >> 10U) & 0x1FU;
  const int fraction = bits & 0x3FFU;
  float value = 0.0F;
  if (exponent == 31) {
    value = fraction == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    value = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  }
  return (bits & 0x8000U) != 0 ? -value : value;
}

void Convert(const std::string& dtype, const char* from, int64_t n, float* to) {
  if (dtype == "F32") {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    if (dtype == "F64") {
      double value = 0;
      std::memcpy(&value, from + i * static_cast<int64_t>(sizeof(value)), sizeof(value));
      to[i] = static_cast<float>(value);
      continue;
    }
    uint16_t bits = 0;
    std::memcpy(&bits, from + i * static_cast<int64_t>(sizeof(bits)), sizeof(bits));
    if (dtype == "F16") {
      to[i] = FromHalf(bits);
    } else {
      to[i] = FromBf16(bits);
    }
  }
}

// The file's tensor for each weight.
std::vector<const StoredTensor*> Match(const ModelSpec& spec,
                                       const std::vector<StoredTensor>& tensors) {
  std::map<std::string, const StoredTensor*> by_name;
  for (const StoredTensor& tensor : tensors) by_name.emplace(tensor.name, &tensor);
  const std::vector<std::string> names = TensorNames(spec);
  std::vector<const StoredTensor*> found;
  std::string missing;
  for (const std::string& name : names) {
    const auto at = by_name.find(name);
    if (at != by_name.end()) {
      found.push_back(at->second);
    } else if (missing.empty()) {
      missing = name;
    }
  }
  if (missing.empty()) return found;
  // Names of another tool; some of ours would be a mistake.
  if (!found.empty() || tensors.size() != names.size()) {
    std::string shown;
    for (size_t i = 0; i < tensors.size() && i < 10; ++i) {
      shown += (i > 0 ? ", \"" : "\"") + tensors[i].name.substr(0, 100) + "\"";
    }
    Refuse("weight \"" + missing + "\" is not in the safetensors file",
           "The model has " + std::to_string(names.size()) + " weights, the file " +
               std::to_string(tensors.size()) + " tensors" +
               (shown.empty() ? "." : ": " + shown + (tensors.size() > 10 ? ", ..." : ".")),
           "Weights are found by their names or, in a file without any of them, by their order.");
  }
  found.clear();
  for (const StoredTensor& tensor : tensors) found.push_back(&tensor);
  return found;
}

}  // namespace

std::vector<std::string> TensorNames(const ModelSpec& spec) {
  std::vector<std::string> names;
  // Layers of a Sequential may share a name.
  UniqueNames taken("#");
  for (const WeightSpec& weight : spec.weights) names.push_back(taken.Take(weight.name));
  return names;
}

std::string SafetensorsHeader(const ModelSpec& spec, std::string_view json_text) {
  const auto quoted = [](std::string_view text) {
    return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  };
  std::string header =
      "{\"__metadata__\":{\"format\":\"keras\",\"model_arch\":" + quoted(json_text) + "}";
  const std::vector<std::string> names = TensorNames(spec);
  int64_t at = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    const WeightSpec& weight = spec.weights[i];
    std::string shape;
    for (const int64_t size : weight.shape) {
      shape += (shape.empty() ? "" : ",") + std::to_string(size);
    }
    const int64_t end = at + weight.size() * static_cast<int64_t>(sizeof(float));
    header += "," + quoted(names[i]) + ":{\"dtype\":\"F32\",\"shape\":[" + shape +
              "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(end) + "]}";
    at = end;
  }
  header += "}";
  header.append((kHeaderAlignment - header.size() % kHeaderAlignment) % kHeaderAlignment, ' ');
  return header;
}

void ReadSafetensors(const ModelSpec& spec, std::string_view bytes, float* keras) {
  std::string_view data;
  const std::vector<StoredTensor> tensors = ReadHeader(bytes, &data);
  const std::vector<const StoredTensor*> found = Match(spec, tensors);
  float* to = keras;
  for (size_t i = 0; i < found.size(); ++i) {
    const WeightSpec& weight = spec.weights[i];
    const StoredTensor& tensor = *found[i];
    const std::string what = "weight \"" + weight.name + "\"";
    if (tensor.shape != weight.shape) {
      Refuse(what + " has shape " + ShapeText(weight.shape) + " but tensor \"" + tensor.name +
                 "\" of the safetensors file has shape " + ShapeText(tensor.shape),
             "", "");
    }
    if (SizeOf(tensor.dtype) == 0) {
      throw Error(ErrorCode::kNotSupported,
                  "tensor \"" + tensor.name + "\" of the safetensors file is of type " +
                      tensor.dtype.substr(0, 40) + ", which is not supported",
                  "", "Weights are F32, F64, F16 or BF16.");
    }
    const char* from = data.data() + tensor.begin;
    InPieces(static_cast<size_t>(weight.size()), sizeof(float), [&](size_t first, size_t count) {
      Convert(tensor.dtype, from + first * SizeOf(tensor.dtype), static_cast<int64_t>(count),
              to + first);
    });
    to += weight.size();
  }
  CheckWeights(spec, keras, spec.parameters);
}

}  // namespace hopper
