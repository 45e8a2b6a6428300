// Numbers as they are; of booleans 0 and 1, of times seconds since 1970.
#pragma once

#include "schema/treatment.h"

namespace hopper {

struct NoTreatment : NumberTreatment {
  const char* Name() const override { return "none"; }
  bool IsComplete(const TreatmentOptions& /*options*/) const override { return true; }
  void Fit(const Statistics& /*statistics*/, const TreatmentOptions& /*options*/,
           Column* /*column*/) const override {}
  double Value(const Column& /*column*/, double number) const override { return number; }
};

}  // namespace hopper
