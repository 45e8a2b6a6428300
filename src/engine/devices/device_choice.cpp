#include "engine/devices/device_choice.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace hopper {

namespace {

std::string Label(int index) { return "cuda:" + std::to_string(index); }

// The class of what these devices compute.
std::string ClassOf(const std::string& numerics, const std::vector<CudaDevice>& devices,
                    Precision precision, bool fuse) {
  std::string names;
  for (const CudaDevice& device : devices) {
    if (names.find(device.name) != std::string::npos) continue;
    names += (names.empty() ? "" : " and ") + device.name;
  }
  return numerics + ", " + names + ", " + PrecisionName(precision) +
         (fuse ? ", fused" : ", unfused");
}

std::vector<CudaDevice> Chosen(const Devices* there, const TrainingOptions& options) {
  CudaDevices found;
  found.reason = "without libtorch none is used";
  if (there != nullptr) found = there->List();
  if (found.devices.empty()) {
    throw Error(ErrorCode::kNotReady, "no GPU is available",
                "On this machine: " + found.reason + ".", "Call it with use_gpus => false.");
  }
  const auto count = static_cast<int>(found.devices.size());
  std::set<int> indexes;
  for (const int index : options.gpus) {
    if (index < 0 || index >= count) {
      throw Error(
          ErrorCode::kNotReady, "device \"" + Label(index) + "\" is not available",
          "This machine has " + std::to_string(count) +
              (count == 1 ? " device: \"" + Label(0) + "\"."
                          : " devices: \"" + Label(0) + "\" to \"" + Label(count - 1) + "\"."),
          "Name GPUs by their index in hopper.gpu_configuration().");
    }
    if (!indexes.insert(index).second) {
      throw Error(ErrorCode::kInvalidParameter, "device \"" + Label(index) + "\" is named twice");
    }
  }
  std::vector<CudaDevice> chosen;
  for (const CudaDevice& device : found.devices) {
    if (indexes.empty() || indexes.count(device.index) > 0) chosen.push_back(device);
  }
  return chosen;
}

DeviceChoice ChoiceOf(const Devices& there, const std::vector<CudaDevice>& devices,
                      const TrainingOptions& options, Precision precision) {
  DeviceChoice choice;
  const bool fuse = options.fuse;
  for (const CudaDevice& device : devices) {
    DeviceOptions worker;
    worker.index = device.index;
    worker.label = Label(device.index);
    worker.memory = device.memory;
    worker.precision = PrecisionName(precision);
    worker.fuse = fuse;
    choice.devices.push_back(worker);
  }
  choice.numerics_class = ClassOf(there.Numerics(), devices, precision, fuse);
  return choice;
}

// The one that a process takes which is the `number`-th of its host, from 0; several share one
// where there are more processes than devices. `n_devices` >= 1.
int DeviceOfProcess(int number, int n_devices) { return std::max(number, 0) % n_devices; }

}  // namespace

DeviceChoice ChooseDevices(const Devices* there, const TrainingOptions& options,
                           Precision precision) {
  const std::vector<CudaDevice> chosen = Chosen(there, options);
  return ChoiceOf(*there, chosen, options, precision);
}

DeviceChoice ChooseDeviceOfProcess(const Devices* there, const TrainingOptions& options,
                                   Precision precision) {
  const std::vector<CudaDevice> chosen = Chosen(there, options);
  const int at = DeviceOfProcess(options.device_number, static_cast<int>(chosen.size()));
  return ChoiceOf(*there, {chosen[static_cast<size_t>(at)]}, options, precision);
}

}  // namespace hopper
