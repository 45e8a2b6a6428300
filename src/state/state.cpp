// The state image, versions 1 and 2. Layout, all little-endian:
//
//   magic "HOPSTATE", uint32 version, uint32 zero
//   architecture hash (16 bytes)
//   string numerics class, string optimizer (uint32 length, bytes)
//   int64 iteration, step, examples
//   int32 slot arrays, int32 weights
//   per weight: int64 floats, int32 1 if it has slots, int32 zero
//   uint64 floats that follow
//   version 2: uint64 bytes of the monitor state
//   the weights' floats, then for each slot array the floats of the weights that have slots
//   version 2: the monitor state
//   checksum: hash of everything before it (16 bytes)
#include "state/state.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"

namespace hopper {

namespace {

constexpr std::string_view kMagic = "HOPSTATE";
constexpr uint32_t kVersion = 1;
constexpr uint32_t kVersionWithMonitor = 2;
constexpr size_t kDigestSize = sizeof(Digest::bytes);
constexpr uint64_t kChecksumSeed = 0x484f5053;
constexpr const char* kWhat = "stored model state";

[[noreturn]] void Damaged(const std::string& detail) {
  throw Error(ErrorCode::kCorrupt, "stored model state is damaged", detail,
              "Train the model again, or restore the table that holds it from a backup.");
}

Digest Checksum(const uint8_t* image, size_t size) { return Hash(image, size, kChecksumSeed); }

// The parts of a verified image before its floats.
struct Head {
  ModelState state;                               // without floats
  std::vector<std::pair<int64_t, bool>> weights;  // floats, has slots
  uint64_t floats = 0;
  uint64_t monitor = 0;  // bytes
};

// Leaves `reader` at the first float.
Head ReadHead(ByteReader* reader) {
  Head head;
  if (std::memcmp(reader->View(kMagic.size()), kMagic.data(), kMagic.size()) != 0) {
    Damaged("It does not begin like a model state.");
  }
  const auto version = reader->Get<uint32_t>();
  if (version != kVersion && version != kVersionWithMonitor) {
    throw Error(ErrorCode::kNotSupported,
                "stored model state has version " + std::to_string(version) +
                    ", which this library does not know",
                "It knows versions " + std::to_string(kVersion) + " and " +
                    std::to_string(kVersionWithMonitor) + ".",
                "Update the extension's libraries.");
  }
  reader->Get<uint32_t>();
  reader->GetBytes(head.state.architecture.bytes.data(), kDigestSize);
  head.state.numerics_class = reader->GetString();
  head.state.optimizer = reader->GetString();
  head.state.iteration = reader->Get<int64_t>();
  head.state.step = reader->Get<int64_t>();
  head.state.examples = reader->Get<int64_t>();
  head.state.n_slots = reader->Get<int32_t>();
  const auto n_weights = reader->Get<int32_t>();
  if (head.state.n_slots < 0 || n_weights < 0 || head.state.iteration < 0 || head.state.step < 0 ||
      head.state.examples < 0) {
    Damaged("A counter is negative.");
  }
  uint64_t floats = 0;
  for (int32_t i = 0; i < n_weights; ++i) {
    const auto size = reader->Get<int64_t>();
    const auto has_slots = reader->Get<int32_t>();
    reader->Get<int32_t>();
    if (size < 0 || static_cast<uint64_t>(size) > reader->remaining()) {
      Damaged("A weight is longer than the image.");
    }
    head.weights.emplace_back(size, has_slots != 0);
    const uint64_t copies = has_slots != 0 ? 1 + static_cast<uint64_t>(head.state.n_slots) : 1;
    floats += static_cast<uint64_t>(size) * copies;
  }
  head.floats = reader->Get<uint64_t>();
  if (version == kVersionWithMonitor) head.monitor = reader->Get<uint64_t>();
  if (head.floats != floats || head.monitor > reader->remaining() ||
      reader->remaining() - head.monitor != floats * sizeof(float)) {
    Damaged("Its length does not fit its weights.");
  }
  return head;
}

// Checks the checksum; the image without it.
size_t VerifiedSize(const uint8_t* image, size_t size) {
  if (image == nullptr || size < kMagic.size() + kDigestSize) {
    Damaged("It holds " + std::to_string(size) + " bytes.");
  }
  const size_t body = size - kDigestSize;
  if (std::memcmp(Checksum(image, body).bytes.data(), image + body, kDigestSize) != 0) {
    Damaged("Its checksum does not match its contents.");
  }
  return body;
}

void PutFloats(const StateLayout& layout, const float* flat, ByteWriter* out) {
  for (const auto& weight : layout.weights) {
    out->PutBytes(flat + weight.offset, static_cast<size_t>(weight.size) * sizeof(float));
  }
}

void GetFloats(const StateLayout& layout, ByteReader* in, float* flat) {
  for (const auto& weight : layout.weights) {
    in->GetBytes(flat + weight.offset, static_cast<size_t>(weight.size) * sizeof(float));
  }
}

std::vector<uint8_t> WriteMonitor(const StateLayout& layout, const MonitorState& monitor) {
  ByteWriter out;
  out.PutString(monitor.stop_rule);
  out.Put<uint8_t>(monitor.has_best ? 1 : 0);
  out.Put<double>(monitor.best);
  out.Put<int64_t>(monitor.best_iteration);
  out.Put<int64_t>(monitor.wait);
  out.Put<int64_t>(monitor.stopped_by);
  out.PutString(monitor.plateau_rule);
  out.Put<uint8_t>(monitor.plateau_has_best ? 1 : 0);
  out.Put<double>(monitor.plateau_best);
  out.Put<int64_t>(monitor.plateau_wait);
  out.Put<int64_t>(monitor.cooldown);
  out.Put<uint8_t>(monitor.reduced ? 1 : 0);
  out.Put<float>(monitor.learning_rate);
  const bool keeps = monitor.best_weights.size() != 0;
  out.Put<uint8_t>(keeps ? 1 : 0);
  if (keeps) PutFloats(layout, monitor.best_weights.data(), &out);
  return out.Take();
}

MonitorState ReadMonitor(const StateLayout& layout, ByteReader* in) {
  MonitorState monitor;
  monitor.stop_rule = in->GetString();
  monitor.has_best = in->Get<uint8_t>() != 0;
  monitor.best = in->Get<double>();
  monitor.best_iteration = in->Get<int64_t>();
  monitor.wait = in->Get<int64_t>();
  monitor.stopped_by = in->Get<int64_t>();
  monitor.plateau_rule = in->GetString();
  monitor.plateau_has_best = in->Get<uint8_t>() != 0;
  monitor.plateau_best = in->Get<double>();
  monitor.plateau_wait = in->Get<int64_t>();
  monitor.cooldown = in->Get<int64_t>();
  monitor.reduced = in->Get<uint8_t>() != 0;
  monitor.learning_rate = in->Get<float>();
  if (in->Get<uint8_t>() != 0) {
    monitor.best_weights = AlignedArray<float>(static_cast<size_t>(layout.flat_size));
    GetFloats(layout, in, monitor.best_weights.data());
  }
  if (in->remaining() != 0) Damaged("Its monitor state is too long.");
  return monitor;
}

}  // namespace

MonitorState MonitorState::Clone() const {
  MonitorState copy;
  copy.stop_rule = stop_rule;
  copy.has_best = has_best;
  copy.best = best;
  copy.best_iteration = best_iteration;
  copy.wait = wait;
  copy.stopped_by = stopped_by;
  copy.best_weights = best_weights.Clone();
  copy.plateau_rule = plateau_rule;
  copy.plateau_has_best = plateau_has_best;
  copy.plateau_best = plateau_best;
  copy.plateau_wait = plateau_wait;
  copy.cooldown = cooldown;
  copy.reduced = reduced;
  copy.learning_rate = learning_rate;
  return copy;
}

ModelState ModelState::Clone() const {
  ModelState copy;
  copy.architecture = architecture;
  copy.numerics_class = numerics_class;
  copy.optimizer = optimizer;
  copy.n_slots = n_slots;
  copy.iteration = iteration;
  copy.step = step;
  copy.examples = examples;
  copy.params = params.Clone();
  copy.slots = slots.Clone();
  copy.monitor = monitor.Clone();
  return copy;
}

std::vector<uint8_t> WriteState(const StateLayout& layout, const ModelState& state) {
  if (static_cast<int64_t>(state.params.size()) != layout.flat_size ||
      static_cast<int64_t>(state.slots.size()) != layout.slot_size * state.n_slots ||
      (state.monitor.best_weights.size() != 0 &&
       static_cast<int64_t>(state.monitor.best_weights.size()) != layout.flat_size)) {
    throw Error(ErrorCode::kInternal, "model state does not fit its layout");
  }
  uint64_t floats = 0;
  for (const auto& weight : layout.weights) {
    const uint64_t copies = weight.slot_offset >= 0 ? 1 + static_cast<uint64_t>(state.n_slots) : 1;
    floats += static_cast<uint64_t>(weight.size) * copies;
  }
  std::vector<uint8_t> monitor;
  if (!state.monitor.empty()) monitor = WriteMonitor(layout, state.monitor);
  ByteWriter out;
  out.Reserve(256 + layout.weights.size() * 16 + floats * sizeof(float) + monitor.size());
  out.PutBytes(kMagic.data(), kMagic.size());
  out.Put<uint32_t>(monitor.empty() ? kVersion : kVersionWithMonitor);
  out.Put<uint32_t>(0);
  out.PutBytes(state.architecture.bytes.data(), kDigestSize);
  out.PutString(state.numerics_class);
  out.PutString(state.optimizer);
  out.Put<int64_t>(state.iteration);
  out.Put<int64_t>(state.step);
  out.Put<int64_t>(state.examples);
  out.Put<int32_t>(state.n_slots);
  out.Put<int32_t>(static_cast<int32_t>(layout.weights.size()));
  for (const auto& weight : layout.weights) {
    out.Put<int64_t>(weight.size);
    out.Put<int32_t>(weight.slot_offset >= 0 ? 1 : 0);
    out.Put<int32_t>(0);
  }
  out.Put<uint64_t>(floats);
  if (!monitor.empty()) out.Put<uint64_t>(monitor.size());
  PutFloats(layout, state.params.data(), &out);
  for (int32_t slot = 0; slot < state.n_slots; ++slot) {
    const float* values = state.slots.data() + slot * layout.slot_size;
    for (const auto& weight : layout.weights) {
      if (weight.slot_offset < 0) continue;
      out.PutBytes(values + weight.slot_offset, static_cast<size_t>(weight.size) * sizeof(float));
    }
  }
  out.PutBytes(monitor.data(), monitor.size());
  const Digest checksum = Checksum(out.data(), out.size());
  out.PutBytes(checksum.bytes.data(), kDigestSize);
  return out.Take();
}

ModelState ReadState(const StateLayout& layout, const uint8_t* image, size_t size) {
  ByteReader reader(image, VerifiedSize(image, size), kWhat);
  Head head = ReadHead(&reader);
  bool fits = head.state.architecture == layout.architecture &&
              head.weights.size() == layout.weights.size();
  for (size_t i = 0; fits && i < layout.weights.size(); ++i) {
    // Freezing a layer changes what has slots: another architecture hash, so no case of its own.
    fits = head.weights[i].first == layout.weights[i].size &&
           head.weights[i].second == (layout.weights[i].slot_offset >= 0);
  }
  if (!fits) {
    throw Error(ErrorCode::kInvalidParameter, "stored model state belongs to another architecture",
                "",
                "Train without warm start, or use the architecture that the state was made with.");
  }
  ModelState state = std::move(head.state);
  state.params = AlignedArray<float>(static_cast<size_t>(layout.flat_size));
  state.slots = AlignedArray<float>(static_cast<size_t>(layout.slot_size * state.n_slots));
  GetFloats(layout, &reader, state.params.data());
  for (int32_t slot = 0; slot < state.n_slots; ++slot) {
    float* values = state.slots.data() + slot * layout.slot_size;
    for (const auto& weight : layout.weights) {
      if (weight.slot_offset < 0) continue;
      reader.GetBytes(values + weight.slot_offset,
                      static_cast<size_t>(weight.size) * sizeof(float));
    }
  }
  if (head.monitor > 0) state.monitor = ReadMonitor(layout, &reader);
  return state;
}

Digest VerifyState(const uint8_t* image, size_t size) {
  ByteReader reader(image, VerifiedSize(image, size), kWhat);
  ReadHead(&reader);
  return Hash(image, size);
}

}  // namespace hopper
