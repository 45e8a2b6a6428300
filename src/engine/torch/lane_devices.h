// The devices that models can train on side by side by libtorch: this machine's GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "autograd/lane_device.h"
#include "engine/devices/devices.h"

namespace hopper {

class LaneDevices : public Devices {
 public:
  // ListCudaDevices(), where training on them was built; else no device and the reason.
  CudaDevices List() const override;
  std::string Numerics() const override;
  std::unique_ptr<DeviceData> NewData() const override;
  std::unique_ptr<DeviceWorker> Open(const DeviceOptions& options, const Dataset& train,
                                     const Dataset* valid, DeviceData* copies) const override;
  std::string LaneKey(const Trainer& trainer, const DataDesc& data) const override;
  int Lanes(const Trainer& trainer, const DataDesc& data,
            const DeviceOptions& options) const override;
  int64_t LaneBytes(const Trainer& trainer, const DataDesc& data, const std::string& precision,
                    int lanes) const override;
};

// Opens the device of that index, on the thread that will use it. Loads libhopper_cuda.so,
// and with it libtorch's CUDA part. Throws Error(kDevice).
std::unique_ptr<LaneDevice> OpenLaneDevice(int index);

// Loads libtorch's CUDA part where a driver is. libtorch looks for it once, when a process first
// convolves or goes backward, on whatever device: this comes before anything is computed. Does
// nothing on machines without a driver.
void PrepareLaneDevices();

// For tests: `count` devices that compute on the CPU take the GPUs' place, and say that they have
// `free_bytes` (-1: they do not say); 0 ends that.
void UseCpuLaneDevices(int count, int64_t free_bytes = -1);

}  // namespace hopper
