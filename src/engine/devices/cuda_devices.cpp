#include "engine/devices/cuda_devices.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <utility>

namespace hopper {
namespace {

// The driver's interface as cuda.h has it: a stable one, so that no toolkit is needed to ask it.
constexpr int kSuccess = 0;
constexpr int kStubLibrary = 34;  // CUDA_ERROR_STUB_LIBRARY
constexpr int kNoDevice = 100;    // CUDA_ERROR_NO_DEVICE
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;

struct Driver {
  int (*init)(unsigned flags) = nullptr;
  int (*version)(int* version) = nullptr;  // 13000: of CUDA 13.0
  int (*count)(int* count) = nullptr;
  int (*device)(int* device, int index) = nullptr;
  int (*name)(char* name, int size, int device) = nullptr;
  int (*memory)(size_t* bytes, int device) = nullptr;
  int (*attribute)(int* value, int attribute, int device) = nullptr;
  int (*error)(int code, const char** text) = nullptr;

  // False where it lacks a function.
  bool Load(void* library) {
    return Find(library, "cuInit", &init) && Find(library, "cuDriverGetVersion", &version) &&
           Find(library, "cuDeviceGetCount", &count) && Find(library, "cuDeviceGet", &device) &&
           Find(library, "cuDeviceGetName", &name) &&
           Find(library, "cuDeviceTotalMem_v2", &memory) &&
           Find(library, "cuDeviceGetAttribute", &attribute) &&
           Find(library, "cuGetErrorString", &error);
  }

  std::string Words(int code) const {
    const char* text = nullptr;
    if (error(code, &text) != kSuccess || text == nullptr) return "error " + std::to_string(code);
    return text;
  }

 private:
  template <class Function>
  static bool Find(void* library, const char* symbol, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(library, symbol));
    return *function != nullptr;
  }
};

// False with the reason where the device cannot be asked.
bool Describe(const Driver& driver, int index, CudaDevice* result, std::string* reason) {
  int device = 0;
  size_t memory = 0;
  int major = 0;
  int minor = 0;
  std::array<char, 256> name{};
  for (const int status :
       {driver.device(&device, index),
        driver.name(name.data(), static_cast<int>(name.size()) - 1, device),
        driver.memory(&memory, device), driver.attribute(&major, kCapabilityMajor, device),
        driver.attribute(&minor, kCapabilityMinor, device)}) {
    if (status == kSuccess) continue;
    *reason = "GPU " + std::to_string(index) + " gives no answer: " + driver.Words(status);
    return false;
  }
  *result = {index, name.data(), static_cast<int64_t>(memory),
             std::to_string(major) + "." + std::to_string(minor)};
  return true;
}

// Never closed: it registers handlers that must not be unmapped.
void* OpenDriver() { return dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL); }

#ifdef HOPPER_CUDA_MAJOR
std::string VersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}
#endif

}  // namespace

std::string OwnFolder() {
  static const char kAnchor = 0;
  Dl_info info;
  if (dladdr(&kAnchor, &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

bool HasCudaDriver() { return OpenDriver() != nullptr; }

CudaDevices ListCudaDevices() {
  CudaDevices result;
  void* library = OpenDriver();
  if (library == nullptr) {
    result.reason = "no CUDA driver on this machine";
    return result;
  }
  Driver driver;
  if (!driver.Load(library)) {
    result.reason = "the CUDA driver is of another kind or age";
    return result;
  }
#ifdef HOPPER_CUDA_MAJOR
  int version = 0;
  if (driver.version(&version) == kSuccess && version / 1000 < HOPPER_CUDA_MAJOR) {
    result.reason = "the driver is for CUDA " + VersionText(version) +
                    ", libhopper_cuda.so for CUDA " + std::to_string(HOPPER_CUDA_MAJOR);
    return result;
  }
#else
  result.reason = "built without the CUDA toolkit";
  return result;
#endif
  int count = 0;
  int status = driver.init(0);
  if (status == kSuccess) status = driver.count(&count);
  if (status == kNoDevice || status == kStubLibrary || (status == kSuccess && count == 0)) {
    result.reason = "the CUDA driver finds no GPU";
    return result;
  }
  if (status != kSuccess) {
    result.reason = "the CUDA driver cannot be used: " + driver.Words(status);
    return result;
  }
  for (int i = 0; i < count; ++i) {
    CudaDevice device;
    if (!Describe(driver, i, &device, &result.reason)) {
      result.devices.clear();
      return result;
    }
    result.devices.push_back(std::move(device));
  }
  return result;
}

}  // namespace hopper
