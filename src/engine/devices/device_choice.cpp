#include "engine/devices/device_choice.h"

#include <torch/version.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "engine/devices/lane_devices.h"

namespace hopper {

namespace {

std::string Label(int index) { return "cuda:" + std::to_string(index); }

// The class of what these devices compute.
std::string ClassOf(const std::vector<CudaDevice>& devices, Precision precision, bool fuse) {
  std::string names;
  for (const CudaDevice& device : devices) {
    if (names.find(device.name) != std::string::npos) continue;
    names += (names.empty() ? "" : " and ") + device.name;
  }
  return std::string("torch " TORCH_VERSION ", ") + names + ", " + PrecisionName(precision) +
         (fuse ? ", fused" : ", unfused");
}

std::vector<CudaDevice> Chosen(const TrainingOptions& options) {
  const CudaDevices found = ListLaneDevices();
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

DeviceChoice ChoiceOf(const std::vector<CudaDevice>& devices, const TrainingOptions& options,
                      Precision precision) {
  DeviceChoice choice;
  const bool fuse = options.fuse;
  for (const CudaDevice& device : devices) {
    DeviceWorker::Options worker;
    worker.index = device.index;
    worker.label = Label(device.index);
    worker.memory = device.memory;
    worker.precision = PrecisionName(precision);
    worker.fuse = fuse;
    choice.devices.push_back(worker);
  }
  choice.numerics_class = ClassOf(devices, precision, fuse);
  return choice;
}

// The one that a process takes which is the `number`-th of its host, from 0; several share one
// where there are more processes than devices. `n_devices` >= 1.
int DeviceOfProcess(int number, int n_devices) { return std::max(number, 0) % n_devices; }

}  // namespace

DeviceChoice ChooseDevices(const TrainingOptions& options, Precision precision) {
  return ChoiceOf(Chosen(options), options, precision);
}

DeviceChoice ChooseDeviceOfProcess(const TrainingOptions& options, Precision precision) {
  const std::vector<CudaDevice> chosen = Chosen(options);
  const int at = DeviceOfProcess(options.device_number, static_cast<int>(chosen.size()));
  return ChoiceOf({chosen[static_cast<size_t>(at)]}, options, precision);
}

}  // namespace hopper
