#include "capi/torch_info.h"

#include <ATen/Version.h>
#include <torch/version.h>

#include <string>
#include <thread>

#include "capi/boundary.h"
#include "engine/cuda_devices.h"
#include "train/trainer.h"

namespace hopper {

hopper_rows* BuildInfoRows() {
  const CudaDevices cuda = ListCudaDevices();
  RowsBuilder rows(2);
  rows.AddRow({"libtorch", TORCH_VERSION});
  rows.AddRow({"cpu_capability", at::get_cpu_capability()});
  rows.AddRow({"numerics_class", NumericsClass("fp32")});
  rows.AddRow({"cpu_cores", std::to_string(std::thread::hardware_concurrency())});
  rows.AddRow({"threads_per_model", "1"});
  rows.AddRow({"tensor_allocator", "caching, 64-byte aligned, one cache a worker"});
#ifdef HOPPER_HAVE_CUDA
  rows.AddRow({"cuda_compiled", "yes"});
#else
  rows.AddRow({"cuda_compiled", "no"});
#endif
  rows.AddRow({"cuda_devices", std::to_string(cuda.devices.size())});
  rows.AddRow({"cuda_status", cuda.devices.empty() ? cuda.reason : "available"});
  return rows.Release();
}

hopper_rows* GpuRows() {
  RowsBuilder rows(4);
  for (const CudaDevice& device : ListCudaDevices().devices) {
    rows.AddRow({std::to_string(device.index), device.name, std::to_string(device.memory >> 20),
                 device.capability});
  }
  return rows.Release();
}

}  // namespace hopper
