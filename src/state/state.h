// Everything a model needs to go on training, and its flat image.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/hash.h"
#include "state/monitor_state.h"

namespace hopper {

// Where a model's floats lie in its buffers; made by StateLayoutOf(spec) in model/spec.h.
struct StateLayout {
  struct Weight {
    int64_t offset = 0;        // in the parameter buffer
    int64_t size = 0;          // floats, without padding
    int64_t slot_offset = -1;  // in each slot array; -1: not trainable
  };
  Digest architecture;          // ModelSpec::hash
  std::vector<Weight> weights;  // in Keras' get_weights() order
  int64_t flat_size = 0;        // floats of the parameter buffer, padding included
  int64_t slot_size = 0;        // floats of one slot array, padding included
};

struct ModelState {
  Digest architecture;         // ModelSpec::hash
  std::string numerics_class;  // where its bits were made
  std::string optimizer;       // SlotNames(); slots of another optimizer are of no use
  int32_t n_slots = 0;
  int64_t iteration = 0;       // finished iterations
  int64_t step = 0;            // optimizer steps
  int64_t examples = 0;        // examples trained on
  AlignedArray<float> params;  // StateLayout::flat_size
  AlignedArray<float> slots;   // n_slots * StateLayout::slot_size
  MonitorState monitor;
  // Of the weights of the model's frozen part, which do not change, once somebody has asked for it;
  // no part of the image.
  std::optional<Digest> frozen;

  ModelState Clone() const;
};

// Image, version 1: magic, version, architecture hash, numerics class, counters, optimizer, then
// parameters and slots in the order of StateLayout::weights without padding, then a checksum.
// Version 2 has the monitor state behind the slots; it is written where there is one.
// Little-endian, no addresses: equal training gives equal bytes.
std::vector<uint8_t> WriteState(const StateLayout& layout, const ModelState& state);

// Makes an image piece by piece, so that it need not lie in memory beside its state, which does not
// change meanwhile.
class StateWriter {
 public:
  // `state` outlives the writer. Throws kInternal where it does not fit the layout.
  StateWriter(const StateLayout& layout, const ModelState& state);
  size_t size() const { return size_; }
  // Writes the next bytes of the image, `n` at most; returns how many, 0 behind the last.
  size_t Read(uint8_t* out, size_t n);
  // VerifyState() of the image, all of which has been read.
  Digest digest() const { return whole_.Finish(); }

 private:
  struct Piece {
    const void* bytes = nullptr;
    size_t size = 0;
  };
  void AddFloats(const StateLayout& layout, const float* flat);

  std::vector<uint8_t> head_;
  std::vector<uint8_t> monitor_;  // without its weights
  std::vector<Piece> pieces_;     // all but the checksum
  Digest end_;                    // the checksum, once all before it was read
  size_t size_ = 0;
  size_t next_ = 0;  // piece
  size_t at_ = 0;    // byte of it
  Hasher checksum_;
  Hasher whole_;
};

// Takes an image piece by piece.
class StateReader {
 public:
  // `layout` is copied; `size` is the whole image's. Where an optimizer is named, slots of another
  // one, or of another number, are passed over: the state then says whose they were, without them.
  StateReader(StateLayout layout, size_t size, std::string optimizer = "", int32_t n_slots = 0);
  // Throws kCorrupt where more comes than the image's size.
  void Add(const uint8_t* bytes, size_t n);
  bool complete() const { return taken_ == size_; }
  // Once it is complete; errors as those of ReadState().
  ModelState Finish();

 private:
  struct Piece {
    void* to = nullptr;  // null: passed over
    size_t size = 0;
  };
  void TryHead();
  void Place(const uint8_t* bytes, size_t n);

  StateLayout layout_;
  size_t size_;
  std::string optimizer_;
  int32_t n_slots_;
  size_t taken_ = 0;
  Hasher checksum_;
  std::vector<uint8_t> head_;  // until it is complete
  bool has_head_ = false;
  bool failed_ = false;
  Problem problem_;  // to be told if the checksum is right
  ModelState state_;
  std::vector<uint8_t> monitor_;
  std::vector<uint8_t> end_;  // the checksum
  std::vector<Piece> pieces_;
  size_t next_ = 0;
  size_t at_ = 0;
};

// Throws kCorrupt for a damaged image, kInvalidParameter for one of another architecture.
ModelState ReadState(const StateLayout& layout, const uint8_t* image, size_t size,
                     std::string optimizer = "", int32_t n_slots = 0);

// Checksum and structure without a layout; the digest of the image.
Digest VerifyState(const uint8_t* image, size_t size);

}  // namespace hopper
