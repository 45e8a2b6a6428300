// sign(x) ln(1 + |x|) of numbers with long tails, scaled as "robust" does.
#pragma once

#include <cmath>

#include "schema/treatments/robust.h"

namespace hopper {

struct LogTreatment : NumberTreatment {
  const char* Name() const override { return "log"; }
  bool Takes(Family family) const override {
    return family == Family::kNumber || family == Family::kInteger;
  }
  void Ask(const TreatmentOptions& /*options*/, Questions* questions) const override {
    questions->fractions = kQuartiles;
    questions->of_logs = true;
  }
  std::vector<const char*> Parameters() const override { return {"center", "factor"}; }
  void Fit(const Statistics& statistics, const TreatmentOptions& /*options*/,
           Column* column) const override {
    column->parameters = RobustParameters(statistics.quantiles);
    // Its median is that of the logarithms.
    column->fill =
        std::copysign(std::expm1(std::fabs(column->parameters[0])), column->parameters[0]);
  }
  double Value(const Column& column, double number) const override {
    return RobustClipped(column, std::copysign(std::log1p(std::fabs(number)), number));
  }
};

}  // namespace hopper
