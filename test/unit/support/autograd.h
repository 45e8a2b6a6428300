// What trainers of tests compute with.
#pragma once

#include "autograd/autograd_backend.h"

namespace hopper {

inline const TrainingBackend& Autograd() {
  static const AutogradBackend backend;
  return backend;
}

}  // namespace hopper
