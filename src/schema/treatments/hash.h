// A category as the number of one of some bins, by a hash of it, as Keras' Hashing: FarmHash's
// Fingerprint64, or with a salt SipHash. The mask's bin is 0 and no other value's. NULL is an empty
// text, or the mask where there is one.
#pragma once

#include "base/text_hash.h"
#include "schema/treatment.h"

namespace hopper {

struct HashTreatment : Treatment {
  static constexpr int64_t kMostBins = int64_t{1} << 24;  // a float32 holds their numbers

  const char* Name() const override { return "hash"; }
  bool Takes(Family family) const override {
    return family == Family::kText || family == Family::kInteger;
  }
  CellKind Reads() const override { return CellKind::kText; }
  bool IsCategory() const override { return true; }
  bool HasValues() const override { return false; }
  bool IsComplete(const TreatmentOptions& /*options*/) const override { return true; }
  void Ask(const TreatmentOptions& /*options*/, Questions* /*questions*/) const override {}
  void Fit(const Statistics& /*statistics*/, const TreatmentOptions& options,
           Column* column) const override {
    column->ids = options.ids;
  }
  bool IsSound(const Column& column) const override {
    return column.ids.bins >= 1 && column.ids.bins <= kMostBins;
  }
  void AddSlots(const Column& column, std::vector<Slot>* slots) const override {
    slots->push_back({SlotKind::kIndex, column.name, column.ids.bins});
  }
  void Encode(const Column& column, const Cell& cell, float* out) const override {
    const IdRules& ids = column.ids;
    const bool has_bin = ids.mask && ids.bins > 1;
    const std::string_view text = cell.is_null ? std::string_view() : cell.text;
    if (has_bin && (cell.is_null || text == *ids.mask)) {
      *out = 0.0F;
      return;
    }
    const uint64_t hash =
        ids.salt ? SipHash(ids.salt->first, ids.salt->second, text) : Fingerprint64(text);
    const uint64_t first = has_bin ? 1 : 0;
    *out = static_cast<float>(first + hash % (static_cast<uint64_t>(ids.bins) - first));
  }
};

}  // namespace hopper
