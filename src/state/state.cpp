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

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "base/pieces.h"
#include "state/iterations.h"

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

Digest Checksum(const uint8_t* image, size_t size) {
  return HashInPieces(image, size, kChecksumSeed);
}

// No optimizer has so many; a loop over them ends soon.
constexpr int32_t kMostSlots = 64;
// No model has so many; what a run counts on to stays far from overflowing.
constexpr int64_t kMostIterations = int64_t{1} << 30;
constexpr int64_t kMostCounted = int64_t{1} << 53;

bool IsCount(int64_t value, int64_t most = kMostCounted) { return value >= 0 && value <= most; }

// The parts of a verified image before its floats.
struct Head {
  ModelState state;                               // without floats
  std::vector<std::pair<int64_t, bool>> weights;  // floats, has slots
  uint64_t floats = 0;
  uint64_t monitor = 0;  // bytes
};

// Leaves `reader` at the first float. `rest`: bytes of the image that the reader does not have yet.
Head ReadHead(ByteReader* reader, size_t rest = 0) {
  Head head;
  const auto remaining = [&] { return reader->remaining() + rest; };
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
  if (head.state.n_slots < 0 || head.state.n_slots > kMostSlots || n_weights < 0 ||
      !IsCount(head.state.iteration, kMostIterations) || !IsCount(head.state.step) ||
      !IsCount(head.state.examples)) {
    Damaged("A counter is out of range.");
  }
  uint64_t floats = 0;
  for (int32_t i = 0; i < n_weights; ++i) {
    const auto size = reader->Get<int64_t>();
    const auto has_slots = reader->Get<int32_t>();
    reader->Get<int32_t>();
    const uint64_t room = remaining() / sizeof(float);
    if (size < 0 || static_cast<uint64_t>(size) > room) {
      Damaged("A weight is longer than the image.");
    }
    head.weights.emplace_back(size, has_slots != 0);
    const uint64_t copies = has_slots != 0 ? 1 + static_cast<uint64_t>(head.state.n_slots) : 1;
    floats += static_cast<uint64_t>(size) * copies;
    if (floats > room) Damaged("Its weights are longer than the image.");  // before a sum can wrap
  }
  head.floats = reader->Get<uint64_t>();
  if (version == kVersionWithMonitor) head.monitor = reader->Get<uint64_t>();
  if (head.floats != floats || head.monitor > remaining() ||
      remaining() - head.monitor != floats * sizeof(float)) {
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

void GetFloats(const StateLayout& layout, ByteReader* in, float* flat) {
  for (const auto& weight : layout.weights) {
    const size_t bytes = static_cast<size_t>(weight.size) * sizeof(float);
    CopyInPieces(flat + weight.offset, in->View(bytes), bytes);
  }
}

// Without the best weights, which follow.
std::vector<uint8_t> WriteMonitor(const MonitorState& monitor) {
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
  out.Put<uint8_t>(monitor.best_weights.size() != 0 ? 1 : 0);
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
  const bool rate_fits = std::isfinite(monitor.learning_rate) && monitor.learning_rate >= 0.0F;
  if (!IsCount(monitor.best_iteration, kMostIterations) || !IsCount(monitor.wait) ||
      (monitor.stopped_by != -1 && !IsCount(monitor.stopped_by)) ||
      !IsCount(monitor.plateau_wait) || !IsCount(monitor.cooldown) || !rate_fits) {
    Damaged("A number of its monitor state is out of range.");
  }
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
  copy.best_weights = CloneInPieces(best_weights);
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
  copy.params = CloneInPieces(params);
  copy.slots = CloneInPieces(slots);
  copy.monitor = monitor.Clone();
  copy.frozen = frozen;
  return copy;
}

void StateWriter::AddFloats(const StateLayout& layout, const float* flat) {
  for (const auto& weight : layout.weights) {
    pieces_.push_back({flat + weight.offset, static_cast<size_t>(weight.size) * sizeof(float)});
  }
}

StateWriter::StateWriter(const StateLayout& layout, const ModelState& state)
    : checksum_(kChecksumSeed), whole_(0) {
  const bool keeps = state.monitor.best_weights.size() != 0;
  if (static_cast<int64_t>(state.params.size()) != layout.flat_size ||
      static_cast<int64_t>(state.slots.size()) != layout.slot_size * state.n_slots ||
      (keeps && static_cast<int64_t>(state.monitor.best_weights.size()) != layout.flat_size)) {
    throw Error(ErrorCode::kInternal, "model state does not fit its layout");
  }
  uint64_t floats = 0;
  uint64_t weights = 0;
  for (const auto& weight : layout.weights) {
    const uint64_t copies = weight.slot_offset >= 0 ? 1 + static_cast<uint64_t>(state.n_slots) : 1;
    floats += static_cast<uint64_t>(weight.size) * copies;
    weights += static_cast<uint64_t>(weight.size);
  }
  if (!state.monitor.empty()) monitor_ = WriteMonitor(state.monitor);
  ByteWriter out;
  out.PutBytes(kMagic.data(), kMagic.size());
  out.Put<uint32_t>(monitor_.empty() ? kVersion : kVersionWithMonitor);
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
  if (!monitor_.empty()) {
    out.Put<uint64_t>(monitor_.size() + (keeps ? weights * sizeof(float) : 0));
  }
  head_ = out.Take();
  pieces_.push_back({head_.data(), head_.size()});
  AddFloats(layout, state.params.data());
  for (int32_t slot = 0; slot < state.n_slots; ++slot) {
    const float* values = state.slots.data() + slot * layout.slot_size;
    for (const auto& weight : layout.weights) {
      if (weight.slot_offset < 0) continue;
      pieces_.push_back(
          {values + weight.slot_offset, static_cast<size_t>(weight.size) * sizeof(float)});
    }
  }
  pieces_.push_back({monitor_.data(), monitor_.size()});
  if (keeps) AddFloats(layout, state.monitor.best_weights.data());
  for (const Piece& piece : pieces_) size_ += piece.size;
  size_ += kDigestSize;
}

size_t StateWriter::Read(uint8_t* out, size_t n) {
  size_t written = 0;
  while (written < n && next_ <= pieces_.size()) {
    const bool end = next_ == pieces_.size();
    if (end && at_ == 0) end_ = checksum_.Finish();
    const Piece piece = end ? Piece{end_.bytes.data(), kDigestSize} : pieces_[next_];
    const size_t some = std::min(n - written, piece.size - at_);
    CopyInPieces(out + written, static_cast<const uint8_t*>(piece.bytes) + at_, some);
    if (!end) AddInPieces(out + written, some, &checksum_);
    written += some;
    at_ += some;
    if (at_ < piece.size) break;
    ++next_;
    at_ = 0;
  }
  AddInPieces(out, written, &whole_);
  return written;
}

std::vector<uint8_t> WriteState(const StateLayout& layout, const ModelState& state) {
  StateWriter writer(layout, state);
  std::vector<uint8_t> image;
  AppendInPieces(writer.size(), &image, [&](uint8_t* at, size_t n) { writer.Read(at, n); });
  return image;
}

StateReader::StateReader(StateLayout layout, size_t size, std::string optimizer, int32_t n_slots)
    : layout_(std::move(layout)),
      size_(size),
      optimizer_(std::move(optimizer)),
      n_slots_(n_slots),
      checksum_(kChecksumSeed) {
  if (size < kMagic.size() + kDigestSize) {
    Damaged("It holds " + std::to_string(size) + " bytes.");
  }
}

// Where all of the head has come: makes the state and says where its bytes go.
void StateReader::TryHead() {
  ByteReader reader(head_.data(), head_.size(), kWhat);
  Head head;
  try {
    head = ReadHead(&reader, size_ - kDigestSize - head_.size());
  } catch (const Error& e) {
    // Most of it are 16 bytes a weight; what is longer is damage.
    constexpr size_t kLongest = size_t{16} << 20;
    const bool truncated = e.code() == ErrorCode::kCorrupt;
    if (truncated && head_.size() < std::min(kLongest, size_ - kDigestSize)) return;
    failed_ = true;
    problem_ = e.problem();
    return;
  }
  has_head_ = true;
  bool fits = head.state.architecture == layout_.architecture &&
              head.weights.size() == layout_.weights.size();
  for (size_t i = 0; fits && i < layout_.weights.size(); ++i) {
    // Freezing a layer changes what has slots: another architecture hash, so no case of its own.
    fits = head.weights[i].first == layout_.weights[i].size &&
           head.weights[i].second == (layout_.weights[i].slot_offset >= 0);
  }
  if (!fits) {
    failed_ = true;
    problem_ = {ErrorCode::kInvalidParameter, "stored model state belongs to another architecture",
                "",
                "Train without warm start, or use the architecture that the state was made with."};
    return;
  }
  state_ = std::move(head.state);
  state_.params = AlignedArray<float>(static_cast<size_t>(layout_.flat_size));
  const bool takes_slots =
      optimizer_.empty() || (state_.optimizer == optimizer_ && state_.n_slots == n_slots_);
  if (takes_slots) {
    state_.slots = AlignedArray<float>(static_cast<size_t>(layout_.slot_size * state_.n_slots));
  }
  for (const auto& weight : layout_.weights) {
    pieces_.push_back(
        {state_.params.data() + weight.offset, static_cast<size_t>(weight.size) * sizeof(float)});
  }
  for (int32_t slot = 0; slot < state_.n_slots; ++slot) {
    float* values = takes_slots ? state_.slots.data() + slot * layout_.slot_size : nullptr;
    for (const auto& weight : layout_.weights) {
      if (weight.slot_offset < 0) continue;
      pieces_.push_back({takes_slots ? values + weight.slot_offset : nullptr,
                         static_cast<size_t>(weight.size) * sizeof(float)});
    }
  }
  AppendInPieces(head.monitor, &monitor_, [](uint8_t*, size_t) {});
  pieces_.push_back({monitor_.data(), monitor_.size()});
  Place(head_.data() + (head_.size() - reader.remaining()), reader.remaining());
  std::vector<uint8_t>().swap(head_);
}

// The next bytes behind the head.
void StateReader::Place(const uint8_t* bytes, size_t n) {
  while (n > 0 && next_ < pieces_.size()) {
    const Piece& piece = pieces_[next_];
    const size_t some = std::min(n, piece.size - at_);
    if (piece.to != nullptr) CopyInPieces(static_cast<uint8_t*>(piece.to) + at_, bytes, some);
    bytes += some;
    n -= some;
    at_ += some;
    if (at_ < piece.size) return;
    ++next_;
    at_ = 0;
  }
}

void StateReader::Add(const uint8_t* bytes, size_t n) {
  if (n > size_ - taken_) Damaged("It is longer than it was said to be.");
  const size_t body = size_ - kDigestSize;
  const size_t of_body = taken_ < body ? std::min(n, body - taken_) : 0;
  taken_ += n;
  end_.insert(end_.end(), bytes + of_body, bytes + n);
  if (of_body == 0) return;
  AddInPieces(bytes, of_body, &checksum_);
  size_t at = 0;
  while (at < of_body && !failed_ && !has_head_) {
    constexpr size_t kAtOnce = size_t{64} << 10;
    const size_t some = std::min(of_body - at, std::max(kAtOnce, head_.size()));
    head_.insert(head_.end(), bytes + at, bytes + at + some);
    at += some;
    TryHead();
  }
  if (has_head_ && !failed_) Place(bytes + at, of_body - at);
}

ModelState StateReader::Finish() {
  if (!complete()) Damaged("It is shorter than it was said to be.");
  if (std::memcmp(checksum_.Finish().bytes.data(), end_.data(), kDigestSize) != 0) {
    Damaged("Its checksum does not match its contents.");
  }
  if (failed_) throw Error(problem_);
  if (!monitor_.empty()) {
    ByteReader reader(monitor_.data(), monitor_.size(), kWhat);
    state_.monitor = ReadMonitor(layout_, &reader);
    std::vector<uint8_t>().swap(monitor_);
  }
  return std::move(state_);
}

ModelState ReadState(const StateLayout& layout, const uint8_t* image, size_t size,
                     std::string optimizer, int32_t n_slots) {
  if (image == nullptr) Damaged("It holds 0 bytes.");
  StateReader reader(layout, size, std::move(optimizer), n_slots);
  reader.Add(image, size);
  return reader.Finish();
}

Digest VerifyState(const uint8_t* image, size_t size) {
  ByteReader reader(image, VerifiedSize(image, size), kWhat);
  ReadHead(&reader);
  return HashInPieces(image, size);
}

int64_t IterationsOfState(const uint8_t* image, size_t size) {
  ByteReader reader(image, VerifiedSize(image, size), kWhat);
  return ReadHead(&reader).state.iteration;
}

}  // namespace hopper
