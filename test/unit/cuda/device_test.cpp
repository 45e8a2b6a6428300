// libhopper_cuda.so: loads everywhere, computes where a GPU is.
#include "engine/cuda/device.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>

namespace {

class CudaLibrary : public ::testing::Test {
 protected:
  void SetUp() override {
    handle_ = dlopen(HOPPER_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle_, nullptr) << dlerror();
    devices_ = reinterpret_cast<decltype(devices_)>(dlsym(handle_, "hopper_cuda_devices"));
    self_test_ = reinterpret_cast<decltype(self_test_)>(dlsym(handle_, "hopper_cuda_self_test"));
    ASSERT_NE(devices_, nullptr);
    ASSERT_NE(self_test_, nullptr);
  }

  static bool HasDriver() { return dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr; }

  void* handle_ = nullptr;
  decltype(&hopper_cuda_devices) devices_ = nullptr;
  decltype(&hopper_cuda_self_test) self_test_ = nullptr;
  std::array<hopper_cuda_device, 8> found_{};
  std::array<char, 256> error_{};
};

TEST_F(CudaLibrary, ListsNoDeviceWithoutADriver) {
  if (HasDriver()) GTEST_SKIP() << "this machine has a CUDA driver";
  EXPECT_EQ(devices_(found_.data(), 8, error_.data(), error_.size()), 0) << error_.data();
  EXPECT_EQ(self_test_(0, error_.data(), error_.size()), -1);
  EXPECT_STRNE(error_.data(), "");
}

TEST_F(CudaLibrary, ComputesSgdLikeTheCpu) {
  const int count = devices_(found_.data(), 8, error_.data(), error_.size());
  ASSERT_GE(count, 0) << error_.data();
  if (count == 0) GTEST_SKIP() << "no GPU: run scripts/test on a machine with one and its driver";
  for (int i = 0; i < count && i < 8; ++i) {
    EXPECT_GT(found_[i].memory, 0);
    EXPECT_GE(found_[i].capability_major, 7);
    EXPECT_STRNE(found_[i].name, "");
    EXPECT_EQ(self_test_(i, error_.data(), error_.size()), 0) << error_.data();
  }
}

}  // namespace
