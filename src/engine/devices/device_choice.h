// Which GPUs a run or a segment takes, and the numerics class that they make.
#pragma once

#include <string>
#include <vector>

#include "engine/devices/device_worker.h"
#include "engine/training_options.h"
#include "params/precision.h"

namespace hopper {

struct DeviceChoice {
  std::vector<DeviceWorker::Options> devices;
  std::string numerics_class;
};

// The devices that options.gpus names, in the order of their indexes, all of this machine where it
// names none. Throws kNotReady where there is none or a named one is missing, kInvalidParameter
// where one is named twice.
DeviceChoice ChooseDevices(const TrainingOptions& options, Precision precision);

// ChooseDevices() for a group: one device, of options.device_number.
DeviceChoice ChooseDeviceOfProcess(const TrainingOptions& options, Precision precision);

}  // namespace hopper
