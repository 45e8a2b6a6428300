// Arrays of numbers as they are: as many slots as each has elements.
#pragma once

#include "schema/treatment.h"

namespace hopper {

struct ArrayTreatment : Treatment {
  const char* Name() const override { return "array"; }
  bool Takes(Family family) const override { return family == Family::kNumbers; }
  CellKind Reads() const override { return CellKind::kNumbers; }
  void Ask(const TreatmentOptions& /*options*/, Questions* questions) const override {
    questions->lengths = true;
  }
  bool IsComplete(const TreatmentOptions& options) const override { return options.length > 0; }
  void Fit(const Statistics& statistics, const TreatmentOptions& options,
           Column* column) const override {
    column->length = options.length > 0 ? options.length : statistics.largest_length;
  }
  void AddSlots(const Column& column, std::vector<Slot>* slots) const override {
    for (int64_t i = 1; i <= column.length; ++i) {
      slots->push_back({SlotKind::kNumber, column.name + "[" + std::to_string(i) + "]", 0});
    }
  }
  void Encode(const Column& column, const Cell& cell, float* out) const override {
    for (int64_t i = 0; i < column.length; ++i) out[i] = static_cast<float>(cell.numbers[i]);
  }
};

}  // namespace hopper
