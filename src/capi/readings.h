// What a library's table tells of what its process has read.
#pragma once

#include "capi/arguments.h"
#include "capi/boundary.h"
#include "model_hopper/readings.h"
#include "params/readings.h"

namespace hopper {

inline int TellReadings(hopper_readings* readings, hopper_error* error) {
  return Guard(error, [&] {
    Require(readings != nullptr, "readings");
    Readings& store = ProcessReadings();
    *readings = {HOPPER_BUILD, &store, store.count()};
  });
}

}  // namespace hopper
