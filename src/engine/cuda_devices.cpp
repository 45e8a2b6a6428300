#include "engine/cuda_devices.h"

#include <dlfcn.h>

#include <array>

#include "engine/cuda/device.h"

namespace hopper {
namespace {

constexpr int kMaxDevices = 64;

// A shared library that stays loaded only for this object's life, unless kept.
class Library {
 public:
  explicit Library(const std::string& path)
      : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (handle_ != nullptr && !kept_) dlclose(handle_);
  }

  void* handle() const { return handle_; }
  void Keep() { kept_ = true; }

 private:
  void* handle_;
  bool kept_ = false;
};

}  // namespace

std::string OwnFolder() {
  static const char kAnchor = 0;
  Dl_info info;
  if (dladdr(&kAnchor, &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

CudaDevices ListCudaDevices() {
  CudaDevices result;
  Library driver("libcuda.so.1");
  if (driver.handle() == nullptr) {
    result.reason = "no CUDA driver on this machine";
    return result;
  }
  Library library(OwnFolder() + "libhopper_cuda.so");
  if (library.handle() == nullptr) {
    result.reason = "built without the CUDA toolkit";
    return result;
  }
  // The CUDA runtime registers handlers that must not be unmapped.
  driver.Keep();
  library.Keep();
  const auto list = reinterpret_cast<decltype(&hopper_cuda_devices)>(
      dlsym(library.handle(), "hopper_cuda_devices"));
  if (list == nullptr) {
    result.reason = "libhopper_cuda.so is of another version";
    return result;
  }
  std::array<hopper_cuda_device, kMaxDevices> devices{};
  std::array<char, 256> error{};
  const int count = list(devices.data(), kMaxDevices, error.data(), error.size());
  if (count < 0) result.reason = error.data();
  if (count == 0) result.reason = "the CUDA driver finds no GPU";
  for (int i = 0; i < count && i < kMaxDevices; ++i) {
    const hopper_cuda_device& device = devices[i];
    result.devices.push_back(
        {device.index, device.name, device.memory,
         std::to_string(device.capability_major) + "." + std::to_string(device.capability_minor)});
  }
  return result;
}

}  // namespace hopper
