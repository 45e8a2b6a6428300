#include "engine/torch/lane_devices.h"

#include <dlfcn.h>
#include <torch/version.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>

#include "autograd/lane_array.h"
#include "base/block_signals.h"
#include "base/error.h"
#include "engine/cuda/lane_device.h"
#include "engine/torch/lane_copies.h"
#include "engine/torch/lane_worker.h"

namespace hopper {
namespace {

std::atomic<int> cpu_devices{0};
std::atomic<int64_t> cpu_free_bytes{-1};

using OpenFunction = decltype(&hopper_cuda_lane_device);

struct CudaPart {
  OpenFunction open = nullptr;
  std::string reason;
};

CudaPart LoadCudaPart() {
  CudaPart part;
  // cuBLAS reads this when it is first used; without it its results may differ from run to run.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  const std::string path = OwnFolder() + "libhopper_cuda.so";
  // Never closed: libtorch registers its CUDA part for good.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    part.reason = why == nullptr ? "libhopper_cuda.so cannot be loaded" : why;
    return part;
  }
  part.open = reinterpret_cast<OpenFunction>(dlsym(library, "hopper_cuda_lane_device"));
  if (part.open == nullptr) part.reason = "libhopper_cuda.so is of another version";
  return part;
}

const CudaPart& LoadedCudaPart() {
  static const CudaPart part = LoadCudaPart();
  return part;
}

}  // namespace

CudaDevices LaneDevices::List() const {
  const int count = cpu_devices.load();
  if (count == 0) return ListCudaDevices();
  CudaDevices devices;
  for (int i = 0; i < count; ++i) devices.devices.push_back({i, "test device", 1 << 30, "0.0"});
  return devices;
}

std::string LaneDevices::Numerics() const { return "torch " TORCH_VERSION; }

std::unique_ptr<DeviceData> LaneDevices::NewData() const { return std::make_unique<LaneCopies>(); }

std::unique_ptr<DeviceWorker> LaneDevices::Open(const DeviceOptions& options, const Dataset& train,
                                                const Dataset* valid, DeviceData* copies) const {
  return std::make_unique<LaneWorker>(options, train, valid, static_cast<LaneCopies*>(copies));
}

std::string LaneDevices::LaneKey(const Trainer& trainer, const DataDesc& data) const {
  return hopper::LaneKey(trainer, data);
}

int LaneDevices::Lanes(const Trainer& trainer, const DataDesc& data,
                       const DeviceOptions& options) const {
  return options.fuse ? LaneCount(trainer, data, options.precision, options.memory) : 1;
}

int64_t LaneDevices::LaneBytes(const Trainer& trainer, const DataDesc& data,
                               const std::string& precision, int lanes) const {
  return hopper::LaneBytes(trainer, data, precision, lanes);
}

std::unique_ptr<LaneDevice> OpenLaneDevice(int index) {
  if (cpu_devices.load() > 0) return MakeCpuLaneDevice(cpu_free_bytes.load());
  const CudaPart& part = LoadedCudaPart();
  const std::string name = "device \"cuda:" + std::to_string(index) + "\"";
  if (part.open == nullptr) {
    throw Error(ErrorCode::kDevice, name + " cannot be used",
                "libtorch's CUDA part: " + part.reason,
                "Install libtorch's CUDA libraries (docs/gpu.md), or use use_gpus => false.");
  }
  std::array<char, 512> error{};
  std::unique_ptr<LaneDevice> device(part.open(index, error.data(), error.size()));
  if (device == nullptr) {
    throw Error(ErrorCode::kDevice, name + " cannot be used", error.data(),
                "Free the device, or use use_gpus => false.");
  }
  return device;
}

void PrepareLaneDevices() {
  static const bool prepared = [] {
    const BlockSignals blocked;  // for threads that libraries start
    if (HasCudaDriver()) LoadedCudaPart();
    return true;
  }();
  static_cast<void>(prepared);
}

void UseCpuLaneDevices(int count, int64_t free_bytes) {
  cpu_devices.store(count);
  cpu_free_bytes.store(free_bytes);
}

}  // namespace hopper
