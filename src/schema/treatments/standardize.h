// (x - mean) / standard deviation, as scikit-learn's StandardScaler.
#pragma once

#include "schema/treatment.h"

namespace hopper {

struct StandardizeTreatment : NumberTreatment {
  const char* Name() const override { return "standardize"; }
  void Ask(const TreatmentOptions& /*options*/, Questions* questions) const override {
    questions->fractions = kQuartiles;
    questions->moments = true;
  }
  std::vector<const char*> Parameters() const override { return {"mean", "deviation"}; }
  void Fit(const Statistics& statistics, const TreatmentOptions& /*options*/,
           Column* column) const override {
    column->parameters = {statistics.mean, statistics.deviation > 0.0 ? statistics.deviation : 1.0};
  }
  bool IsSound(const Column& column) const override {
    return NumberTreatment::IsSound(column) && column.parameters[1] > 0.0;
  }
  double Value(const Column& column, double number) const override {
    return (number - column.parameters[0]) / column.parameters[1];
  }
};

}  // namespace hopper
