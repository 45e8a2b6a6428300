// The table of calibrations.
#include <memory>
#include <utility>

#include "capi/engine_api.h"
#include "capi/engine_api_calls.h"
#include "capi/engine_structs.h"
#include "capi/rows.h"
#include "engine/calibration.h"
#include "model_hopper/calibration.h"

struct hopper_calibration : hopper::Calibration {
  using Calibration::Calibration;
};

namespace hopper {
namespace {

int CalibrationAddBuffer(hopper_calibration* calibration, const hopper_buffer* buffer,
                         hopper_error* error) {
  return Call(calibration, error, [&] {
    RequireAll(calibration, buffer);
    calibration->AddBuffer(FromC(*buffer));
  });
}

int CalibrationFind(const hopper_calibration* calibration, const hopper_config* config,
                    hopper_calibrated* found, hopper_error* error) {
  return Call(calibration, error, [&] {
    RequireAll(calibration, config, found);
    const Calibrated result = calibration->Find(FromC(*config));
    const auto [first, n] = calibration->LogitWeights();
    *found = {result.temperature,
              result.loss,
              result.loss_before,
              result.error,
              result.error_before,
              first,
              n};
  });
}

int CalibrationArchitecture(const hopper_calibration* calibration, const hopper_config* config,
                            double temperature, hopper_rows** rows, hopper_error* error) {
  return Call(calibration, error, [&] {
    RequireAll(calibration, config, rows);
    auto table = std::make_unique<Rows>(1);
    table->Add({calibration->Architecture(FromC(*config), temperature)});
    *rows = Rows::Release(std::move(table));
  });
}

void CalibrationFree(void* calibration) { delete static_cast<hopper_calibration*>(calibration); }

}  // namespace

int CreateCalibration(const TrainingBackend& backend, const hopper_config* config,
                      const hopper_data_desc* data, int64_t memory_limit,
                      hopper_calibration** calibration, hopper_error* error) {
  return Guard(
      error,
      [&] {
        RequireAll(config, data, calibration);
        *calibration =
            new hopper_calibration(backend, FromC(*config), CheckedFromC(*data), memory_limit);
      },
      By(backend));
}

void SetCalibrationFunctions(hopper_calibration_api* api) {
  api->add_buffer = CalibrationAddBuffer;
  api->find = CalibrationFind;
  api->architecture = CalibrationArchitecture;
  api->free = CalibrationFree;
}

}  // namespace hopper
