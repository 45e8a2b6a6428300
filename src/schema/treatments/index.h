// A category as a whole number for an embedding: 0 for rare values and those that training has not
// seen, then the categories from the most frequent on, then NULL. Where no value is rare, the least
// frequent one shares 0 with them, so that training has seen it. With given values the ids are
// those of Keras' StringLookup and IntegerLookup.
#pragma once

#include <algorithm>

#include "schema/treatment.h"

namespace hopper {

struct IndexTreatment : CategoryTreatment {
  const char* Name() const override { return "index"; }
  void Fit(const Statistics& statistics, const TreatmentOptions& options,
           Column* column) const override {
    CategoryTreatment::Fit(statistics, options, column);
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
    if (!cell.is_null) {
      *out = static_cast<float>(column.places.Find(cell.text) + 1);
    } else {
      *out = column.has_null_value ? static_cast<float>(Cardinality(column) - 1) : 0.0F;
    }
  }

 private:
  static int64_t Cardinality(const Column& column) {
    return 1 + static_cast<int64_t>(column.values.size()) + (column.has_null_value ? 1 : 0);
  }
};

}  // namespace hopper
