// The table of functions that need libtorch: thin, and with no way out for an exception.
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>

#include "base/cancel.h"
#include "capi/boundary.h"
#include "capi/engine_api.h"
#include "capi/readings.h"
#include "capi/rows.h"
#include "engine/devices/cuda_devices.h"
#include "engine/torch/backend.h"
#include "engine/torch/build_info.h"
#include "engine/torch/lane_devices.h"
#include "engine/torch/workers.h"
#include "model_hopper/torch.h"

namespace hopper {
namespace {

int TakeReadings(const hopper_readings* readings) {
  const bool of_this_build = readings != nullptr && std::strcmp(readings->build, HOPPER_BUILD) == 0;
  if (of_this_build) ShareReadings(static_cast<Readings*>(readings->store));
  return of_this_build ? 1 : 0;
}

int TellBuildInfo(hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    RequireAll(rows);
    auto table = std::make_unique<Rows>(2);
    for (const auto& [name, value] : TorchBuildInfo()) table->Add({name, value});
    *rows = Rows::Release(std::move(table));
  });
}

int Gpus(hopper_rows** rows, hopper_error* error) {
  return Guard(error, [&] {
    RequireAll(rows);
    auto table = std::make_unique<Rows>(5);
    char host[256] = {};
    const bool is_named = gethostname(host, sizeof(host) - 1) == 0;
    for (const CudaDevice& device : ListCudaDevices().devices) {
      table->Add({is_named ? host : "localhost", device.name, std::to_string(device.index),
                  std::to_string(device.memory >> 20), device.capability});
    }
    *rows = Rows::Release(std::move(table));
  });
}

hopper_torch_api MakeApi() {
  hopper_torch_api api = {};
  api.version = HOPPER_API_VERSION;
  api.size = static_cast<int32_t>(sizeof(hopper_torch_api));
  api.rows_free = Rows::Free;
  api.ask_for_cancel = AskForCancel;
  api.readings = TellReadings;
  api.share_readings = TakeReadings;
  api.build_info = TellBuildInfo;
  api.gpus = Gpus;
  api.engine = MakeEngineApi<TorchBackend>();
  return api;
}

}  // namespace
}  // namespace hopper

extern "C" __attribute__((visibility("default"))) const hopper_torch_api* hopper_torch_api_get(
    int32_t version) {
  static const hopper_torch_api api = hopper::MakeApi();
  try {
    hopper::WorkAlone();  // on the server's own thread
    hopper::PrepareLaneDevices();
  } catch (...) {
    // No memory for a message: without that part, use_gpus says that it cannot be used.
  }
  return version == HOPPER_API_VERSION ? &api : nullptr;
}
