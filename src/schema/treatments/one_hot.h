// A slot for each category, 1 in its rows and 0 in others, then one for all rare values and those
// that training has not seen, then one for NULL. The last two are there where training has such
// rows, so that no weight of theirs is as it was at the beginning; else all slots are 0.
#pragma once

#include <algorithm>

#include "schema/treatment.h"

namespace hopper {

struct OneHotTreatment : CategoryTreatment {
  const char* Name() const override { return "one_hot"; }
  void AddSlots(const Column& column, std::vector<Slot>* slots) const override {
    for (const std::string& value : column.values) {
      slots->push_back({SlotKind::kOneHot, column.name + " = " + value, 0});
    }
    if (column.n_other > 0) slots->push_back({SlotKind::kOneHot, column.name + " is other", 0});
    if (column.has_null_value) slots->push_back({SlotKind::kOneHot, column.name + " is null", 0});
  }
  static int CountSlots(const Column& column) {
    return static_cast<int>(column.values.size()) + (column.n_other > 0 ? 1 : 0) +
           (column.has_null_value ? 1 : 0);
  }
  void Encode(const Column& column, const Cell& cell, float* out) const override {
    const int n = CountSlots(column);
    std::fill(out, out + n, 0.0F);
    int at = -1;
    if (cell.is_null && column.has_null_value) {
      at = n - 1;
    } else if (!cell.is_null) {
      at = column.places.Find(cell.text);
    }
    if (at < 0 && column.n_other > 0) at = static_cast<int>(column.values.size());
    if (at >= 0) out[at] = 1.0F;
  }
};

}  // namespace hopper
