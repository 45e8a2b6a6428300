// Robust scaling with smooth clipping, RealMLP's preprocessing of numbers (pytabkit,
// RobustScaleSmoothClip): z = (x - median) / (q75 - q25), with half the range in place of quartiles
// that are equal; then z / sqrt(1 + (z / 3)^2), which stays between -3 and 3.
#pragma once

#include <cmath>

#include "schema/treatment.h"

namespace hopper {

// Centre and factor of the quartiles.
inline std::vector<double> RobustParameters(const std::vector<double>& quartiles) {
  double spread = quartiles[kUpperQuartile] - quartiles[kLowerQuartile];
  if (spread == 0.0) spread = 0.5 * (quartiles[kLargest] - quartiles[kLeast]);
  return {quartiles[kMedianQuartile], spread == 0.0 ? 0.0 : 1.0 / spread};
}

inline double RobustClipped(const Column& column, double number) {
  const double z = (number - column.parameters[0]) * column.parameters[1];
  return z / std::sqrt(1.0 + (z / 3.0) * (z / 3.0));
}

struct RobustTreatment : NumberTreatment {
  const char* Name() const override { return "robust"; }
  std::vector<const char*> Parameters() const override { return {"center", "factor"}; }
  void Fit(const Statistics& statistics, const TreatmentOptions& /*options*/,
           Column* column) const override {
    column->parameters = RobustParameters(statistics.quantiles);
  }
  double Value(const Column& column, double number) const override {
    return RobustClipped(column, number);
  }
};

}  // namespace hopper
