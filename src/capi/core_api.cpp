// The table of functions that need no libtorch: a thin layer that lets no exception out.
#include "model_hopper/core_api.h"

namespace {

hopper_core_api MakeApi() {
  hopper_core_api api = {};
  api.version = HOPPER_API_VERSION;
  api.size = static_cast<int32_t>(sizeof(hopper_core_api));
  api.library_version = HOPPER_VERSION;
  return api;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const hopper_core_api* hopper_core_api_get(
    int32_t version) {
  static const hopper_core_api api = MakeApi();
  return version == HOPPER_API_VERSION ? &api : nullptr;
}
