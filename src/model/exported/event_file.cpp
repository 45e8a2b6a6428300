// A file is a row of records: length, its checksum, bytes, their checksum; each is an Event of
// tensorflow/core/util/event.proto. Hyperparameters are those of
// tensorboard/plugins/hparams/plugin_data.proto.
#include "model/exported/event_file.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/cancel.h"
#include "model/exported/protobuf.h"

namespace hopper {
namespace {

std::string Number(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

// CRC-32C (Castagnoli) as TensorFlow's records have it: rotated, and with an offset.
std::string MaskedChecksum(std::string_view data) {
  uint32_t crc = 0xFFFFFFFF;
  for (const char byte : data) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0x82F63B78 : 0);
  }
  crc = ~crc;
  return Number(((crc >> 15U) | (crc << 17U)) + 0xA282EAD8, 4);
}

std::string Record(const Message& event) {
  const std::string size = Number(event.bytes().size(), 8);
  return size + MaskedChecksum(size) + event.bytes() + MaskedChecksum(event.bytes());
}

// Event { wall_time = 1, step = 2, summary = 5 { value = 1 } }
std::string ValueRecord(double time, int64_t step, const Message& value) {
  Message summary;
  summary.Put(1, value);
  Message event;
  event.Double(1, time);
  event.Int(2, step);
  event.Put(5, summary);
  return Record(event);
}

// Value { tag = 1, tensor = 8 { dtype = 1, shape = 2 }, metadata = 9 { plugin_data = 1 { name = 1,
// content = 2 } } }; the content is one field of HParamsPluginData.
std::string PluginRecord(const char* tag, double time, int field, const Message& session) {
  Message content;
  content.Put(field, session);
  Message tensor;
  tensor.Int(1, 1);
  tensor.Bytes(2, "");
  Message plugin;
  plugin.Bytes(1, "hparams");
  plugin.Put(2, content);
  Message metadata;
  metadata.Put(1, plugin);
  Message value;
  value.Bytes(1, tag);
  value.Put(8, tensor);
  value.Put(9, metadata);
  return ValueRecord(time, 0, value);
}

// google.protobuf.Value { number_value = 2 } or { string_value = 3 }
Message Given(const std::string& text) {
  Message value;
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end != text.c_str() && *end == '\0') {
    value.Double(2, number);
  } else {
    value.Bytes(3, text);
  }
  return value;
}

}  // namespace

std::string EventFile(const TrialEvents& trial) {
  Message version;
  version.Double(1, trial.began);
  version.Bytes(3, "brain.Event:2");
  std::string file = Record(version);

  // session_start_info = 3 { hparams = 1 { key, value }, start = 5 }
  Message start;
  for (const auto& [name, given] : trial.parameters) {
    Message parameter;
    parameter.Bytes(1, name);
    parameter.Put(2, Given(given));
    start.Put(1, parameter);
  }
  start.Double(5, trial.began);
  file += PluginRecord("_hparams_/session_start_info", trial.began, 3, start);

  for (const TrialEvents::Scalar& scalar : trial.scalars) {
    LookAtCancel();
    // Value { tag = 1, simple_value = 2 }
    Message value;
    value.Bytes(1, scalar.tag);
    value.Float(2, static_cast<float>(scalar.value));
    file += ValueRecord(scalar.time, scalar.step, value);
  }

  // session_end_info = 4 { status = 1: success 1, failure 2; end = 2 }
  const double ended = trial.scalars.empty() ? trial.began : trial.scalars.back().time;
  Message end;
  end.Int(1, trial.failed ? 2 : 1);
  end.Double(2, ended);
  return file + PluginRecord("_hparams_/session_end_info", ended, 4, end);
}

}  // namespace hopper
