// What is said of a machine's GPUs, with a driver that is made up (made_up_driver.c). Each test is
// a process of its own: the driver stays loaded.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "engine/devices/cuda_devices.h"

namespace hopper {
namespace {

// ListCudaDevices() asks for it by name and gets what is there under that name already.
bool LoadDriver() { return dlopen(MADE_UP_DRIVER, RTLD_NOW | RTLD_LOCAL) != nullptr; }

// Prints what is listed, for another process to compare.
void List() {
  const CudaDevices found = ListCudaDevices();
  for (const CudaDevice& device : found.devices) {
    std::fprintf(stderr, "%d %s %ld %s\n", device.index, device.name.c_str(),
                 static_cast<long>(device.memory >> 30), device.capability.c_str());
  }
  std::fprintf(stderr, "reason: %s.", found.reason.c_str());
  std::_Exit(0);
}

// What a process with this environment prints.
void ExpectListed(const char* variable, const char* value, const char* expected) {
  EXPECT_EXIT(
      {
        if (!LoadDriver()) std::_Exit(1);
        setenv(variable, value, 1);
        List();
      },
      ::testing::ExitedWithCode(0), expected);
}

TEST(CudaDevices, WithoutADriverThereAreNone) {
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr) GTEST_SKIP() << "a driver is here";
  EXPECT_EXIT(List(), ::testing::ExitedWithCode(0), "^reason: no CUDA driver on this machine.$");
}

#ifdef HOPPER_HAVE_CUDA

TEST(CudaDevices, AreThoseOfTheDriver) {
  ExpectListed("MADE_UP_GPUS", "2", "^0 Made up 40 40 9.1\n1 Made up 41 41 9.1\nreason: .$");
}

TEST(CudaDevices, ADriverWithoutAGpu) {
  ExpectListed("MADE_UP_GPUS", "0", "^reason: the CUDA driver finds no GPU.$");
  ExpectListed("MADE_UP_ERROR", "100", "^reason: the CUDA driver finds no GPU.$");
}

TEST(CudaDevices, ADriverThatFails) {
  ExpectListed("MADE_UP_ERROR", "999",
               "^reason: the CUDA driver cannot be used: an unknown error.$");
  ExpectListed("MADE_UP_ERROR", "5", "^reason: the CUDA driver cannot be used: error 5.$");
}

TEST(CudaDevices, AnOldDriver) {
  ExpectListed("MADE_UP_VERSION", "9010",
               "^reason: the driver is for CUDA 9.1, libhopper_cuda.so for CUDA [0-9]+.$");
}

TEST(CudaDevices, OneThatGivesNoAnswer) {
  setenv("MADE_UP_GPUS", "2", 1);
  ExpectListed("MADE_UP_BROKEN", "41", "^reason: GPU 1 gives no answer: an unknown error.$");
}

#else

TEST(CudaDevices, WithoutTheToolkitNoneIsUsed) {
  ExpectListed("MADE_UP_GPUS", "2", "^reason: built without the CUDA toolkit.$");
}

#endif

}  // namespace
}  // namespace hopper
