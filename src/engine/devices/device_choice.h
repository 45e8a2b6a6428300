// Which GPUs a run or a segment takes, and the numerics class that they make.
#pragma once

#include <string>
#include <vector>

#include "engine/devices/devices.h"
#include "engine/training_options.h"
#include "params/precision.h"

namespace hopper {

struct DeviceChoice {
  std::vector<DeviceOptions> devices;
  std::string numerics_class;
};

// The devices of `there` (null: there are none) that options.gpus names, in the order of their
// indexes, all where it names none. Throws kNotReady where there is none or a named one is missing,
// kInvalidParameter where one is named twice.
DeviceChoice ChooseDevices(const Devices* there, const TrainingOptions& options,
                           Precision precision);

// ChooseDevices() for a group: one device, of options.device_number.
DeviceChoice ChooseDeviceOfProcess(const Devices* there, const TrainingOptions& options,
                                   Precision precision);

}  // namespace hopper
