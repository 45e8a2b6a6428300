// libhopper_core.so beside the library under test, as the glue opens it.
#pragma once

#include <dlfcn.h>

#include <stdexcept>

#include "model_hopper/core.h"

namespace hopper {

inline const hopper_core_api& Core() {
  static void* const library = dlopen(HOPPER_CORE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  static const auto get = reinterpret_cast<hopper_core_api_get_fn>(
      library == nullptr ? nullptr : dlsym(library, "hopper_core_api_get"));
  if (get == nullptr) throw std::runtime_error(dlerror());
  return *get(HOPPER_API_VERSION);
}

}  // namespace hopper
