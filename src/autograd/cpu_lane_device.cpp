#include <ATen/Version.h>
#include <ATen/ops/empty.h>

#include "autograd/lane_device.h"
#include "base/philox.h"
#include "base/philox_element.h"

namespace hopper {
namespace {

class CpuStep : public LaneStep {
 public:
  explicit CpuStep(std::function<void()> body) : body_(std::move(body)) {}
  void Run() override { body_(); }

 private:
  std::function<void()> body_;
};

class CpuLaneDevice : public LaneDevice {
 public:
  explicit CpuLaneDevice(int64_t free_bytes) : free_bytes_(free_bytes) {}
  at::Device device() const override { return at::Device(at::kCPU); }
  std::string name() const override { return at::get_cpu_capability(); }
  int64_t free_bytes() const override { return free_bytes_; }
  void Enter(const std::string&, bool) override {}
  at::Tensor Staging(at::IntArrayRef sizes, at::ScalarType type) override {
    return at::empty(sizes, at::TensorOptions().dtype(type));
  }

  // The function that a GPU's threads run, so that it is tested without one.
  void DropoutMask(const int64_t* seeds, const int64_t* steps, uint32_t layer, uint32_t threshold,
                   float scale, int64_t lanes, int64_t elements, float* mask) override {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      for (int64_t i = 0; i < elements; ++i) {
        const uint32_t bits = PhiloxElement(
            static_cast<uint64_t>(seeds[lane]), static_cast<uint32_t>(Purpose::kDropout), layer,
            static_cast<uint64_t>(steps[lane]), static_cast<uint64_t>(i));
        *mask++ = (bits >> 8) >= threshold ? scale : 0.0F;
      }
    }
  }
  void Uniform(const int64_t* seeds, const int64_t* steps, uint32_t layer, int64_t lanes,
               int64_t elements, float* values) override {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      for (int64_t i = 0; i < elements; ++i) {
        *values++ = PhiloxUniform(PhiloxElement(
            static_cast<uint64_t>(seeds[lane]), static_cast<uint32_t>(Purpose::kDropout), layer,
            static_cast<uint64_t>(steps[lane]), static_cast<uint64_t>(i)));
      }
    }
  }
  void Update(const LaneUpdate& update) override { UpdateLanes(update); }
  bool records() const override { return false; }
  std::unique_ptr<LaneStep> Record(const std::function<void()>& body,
                                   const std::function<void()>&) override {
    return std::make_unique<CpuStep>(body);
  }
  void Throttle() override {}
  void Synchronize() override {}
  void Trim() override {}

 private:
  const int64_t free_bytes_;
};

}  // namespace

std::unique_ptr<LaneDevice> MakeCpuLaneDevice(int64_t free_bytes) {
  return std::make_unique<CpuLaneDevice>(free_bytes);
}

}  // namespace hopper
