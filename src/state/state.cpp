// The state image, version 1. Layout, all little-endian:
//
//   magic "HOPSTATE", uint32 version, uint32 zero
//   architecture hash (16 bytes)
//   string numerics class, string optimizer (uint32 length, bytes)
//   int64 iteration, step, examples
//   int32 slot arrays, int32 weights
//   per weight: int64 floats, int32 1 if it has slots, int32 zero
//   uint64 floats that follow
//   the weights' floats, then for each slot array the floats of the weights that have slots
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
};

// Leaves `reader` at the first float.
Head ReadHead(ByteReader* reader) {
  Head head;
  if (std::memcmp(reader->View(kMagic.size()), kMagic.data(), kMagic.size()) != 0) {
    Damaged("It does not begin like a model state.");
  }
  const auto version = reader->Get<uint32_t>();
  if (version != kVersion) {
    throw Error(ErrorCode::kNotSupported,
                "stored model state has version " + std::to_string(version) +
                    ", which this library does not know",
                "It knows version " + std::to_string(kVersion) + ".",
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
  if (head.floats != floats || reader->remaining() != floats * sizeof(float)) {
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

}  // namespace

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
  return copy;
}

std::vector<uint8_t> WriteState(const StateLayout& layout, const ModelState& state) {
  if (static_cast<int64_t>(state.params.size()) != layout.flat_size ||
      static_cast<int64_t>(state.slots.size()) != layout.slot_size * state.n_slots) {
    throw Error(ErrorCode::kInternal, "model state does not fit its layout");
  }
  uint64_t floats = 0;
  for (const auto& weight : layout.weights) {
    const uint64_t copies = weight.slot_offset >= 0 ? 1 + static_cast<uint64_t>(state.n_slots) : 1;
    floats += static_cast<uint64_t>(weight.size) * copies;
  }
  ByteWriter out;
  out.Reserve(256 + layout.weights.size() * 16 + floats * sizeof(float));
  out.PutBytes(kMagic.data(), kMagic.size());
  out.Put<uint32_t>(kVersion);
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
  for (const auto& weight : layout.weights) {
    out.PutBytes(state.params.data() + weight.offset,
                 static_cast<size_t>(weight.size) * sizeof(float));
  }
  for (int32_t slot = 0; slot < state.n_slots; ++slot) {
    const float* values = state.slots.data() + slot * layout.slot_size;
    for (const auto& weight : layout.weights) {
      if (weight.slot_offset < 0) continue;
      out.PutBytes(values + weight.slot_offset, static_cast<size_t>(weight.size) * sizeof(float));
    }
  }
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
  for (const auto& weight : layout.weights) {
    reader.GetBytes(state.params.data() + weight.offset,
                    static_cast<size_t>(weight.size) * sizeof(float));
  }
  for (int32_t slot = 0; slot < state.n_slots; ++slot) {
    float* values = state.slots.data() + slot * layout.slot_size;
    for (const auto& weight : layout.weights) {
      if (weight.slot_offset < 0) continue;
      reader.GetBytes(values + weight.slot_offset,
                      static_cast<size_t>(weight.size) * sizeof(float));
    }
  }
  return state;
}

Digest VerifyState(const uint8_t* image, size_t size) {
  ByteReader reader(image, VerifiedSize(image, size), kWhat);
  ReadHead(&reader);
  return Hash(image, size);
}

}  // namespace hopper
