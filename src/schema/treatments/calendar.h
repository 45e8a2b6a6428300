// Dates and timestamps: when it was, scaled as "robust" does, and where in the year, the week (from
// Monday) and the day that is, as sine and cosine. A year is the mean one of the calendar, 365.2425
// days, so that its beginning moves by less than a day and a half about January 1.
#pragma once

#include <cmath>

#include "schema/treatments/robust.h"

namespace hopper {

struct CalendarTreatment : Treatment {
  static constexpr double kDay = 86400.0;

  const char* Name() const override { return "calendar"; }
  bool Takes(Family family) const override {
    return family == Family::kDate || family == Family::kTimestamp;
  }
  void Ask(const TreatmentOptions& /*options*/, Questions* questions) const override {
    questions->fractions = kQuartiles;
  }
  std::vector<const char*> Parameters() const override { return {"center", "factor"}; }
  void Fit(const Statistics& statistics, const TreatmentOptions& /*options*/,
           Column* column) const override {
    column->parameters = RobustParameters(statistics.quantiles);
  }
  void AddSlots(const Column& column, std::vector<Slot>* slots) const override {
    slots->push_back({SlotKind::kNumber, column.name, 0});
    for (const char* cycle : {"year", "week", "day"}) {
      if (cycle[0] == 'd' && column.family == Family::kDate) continue;
      slots->push_back({SlotKind::kNumber, column.name + " sin " + cycle, 0});
      slots->push_back({SlotKind::kNumber, column.name + " cos " + cycle, 0});
    }
  }
  void Encode(const Column& column, const Cell& cell, float* out) const override {
    const double days = cell.number / kDay;
    *out++ = static_cast<float>(RobustClipped(column, cell.number));
    out = Cycle(days / 365.2425, out);
    out = Cycle((days + 3.0) / 7.0, out);  // 1970-01-01 was a Thursday
    if (column.family == Family::kTimestamp) Cycle(days, out);
  }

 private:
  static float* Cycle(double turns, float* out) {
    const double angle = 2.0 * 3.14159265358979323846 * (turns - std::floor(turns));
    *out++ = static_cast<float>(std::sin(angle));
    *out++ = static_cast<float>(std::cos(angle));
    return out;
  }
};

}  // namespace hopper
