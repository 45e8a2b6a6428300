// A category as a whole number for an embedding: 0 for rare values and those that training has not
// seen, then the categories from the most frequent on, then NULL. Where no value is rare, the least
// frequent one shares 0 with them, so that training has seen it. With given values the ids are
// those of Keras' StringLookup and IntegerLookup, also with several ids of unknown values, or none,
// and with a mask token.
#pragma once

#include <algorithm>
#include <charconv>

#include "base/text_hash.h"
#include "schema/treatment.h"

namespace hopper {

struct IndexTreatment : CategoryTreatment {
  const char* Name() const override { return "index"; }
  void Fit(const Statistics& statistics, const TreatmentOptions& options,
           Column* column) const override {
    CategoryTreatment::Fit(statistics, options, column);
    column->ids = options.ids;
    if (!options.values.empty() || column->n_other > 0 || column->values.size() < 2) return;
    const auto last =
        std::find_if(statistics.values.begin(), statistics.values.end(),
                     [&](const auto& value) { return value.first == column->values.back(); });
    column->n_other = last->second;
    column->values.pop_back();
  }
  void AddSlots(const Column& column, std::vector<Slot>* slots) const override {
    slots->push_back({SlotKind::kIndex, column.name, Cardinality(column)});
  }
  void Encode(const Column& column, const Cell& cell, float* out) const override {
    *out = static_cast<float>(IdOf(column, cell));
  }

 private:
  // The first id of a category.
  static int64_t First(const Column& column) {
    return (column.ids.mask ? 1 : 0) + column.ids.unknown;
  }
  static int64_t Cardinality(const Column& column) {
    return First(column) + static_cast<int64_t>(column.values.size()) +
           (column.has_null_value ? 1 : 0);
  }
  static int64_t IdOf(const Column& column, const Cell& cell) {
    const IdRules& ids = column.ids;
    if (cell.is_null && column.has_null_value) return Cardinality(column) - 1;
    if (ids.mask && (cell.is_null || cell.text == *ids.mask)) return 0;
    const int place = cell.is_null ? -1 : column.places.Find(cell.text);
    if (place >= 0) return First(column) + place;
    if (ids.unknown == 0) return -1;
    const int64_t before = ids.mask ? 1 : 0;
    if (cell.is_null || ids.unknown == 1) return before;
    return before + UnknownOf(column, cell.text);
  }
  // Which of several unknown ids.
  static int64_t UnknownOf(const Column& column, std::string_view text) {
    const int64_t n = column.ids.unknown;
    int64_t number = 0;
    const char* end = text.data() + text.size();
    if (column.family == Family::kInteger && std::from_chars(text.data(), end, number).ptr == end) {
      return (number % n + n) % n;
    }
    return static_cast<int64_t>(Fingerprint64(text) % static_cast<uint64_t>(n));
  }
};

}  // namespace hopper
