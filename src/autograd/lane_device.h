// What training side by side (autograd/lane_array.h) needs of a device beside libtorch's
// operations. The CPU's is here; that of GPUs is in engine/cuda, in a library of its own.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "model/network/lanes.h"
#include "optim/lane_update.h"

namespace hopper {

// Work that is done again and again on the same memory.
class LaneStep {
 public:
  virtual ~LaneStep() = default;
  virtual void Run() = 0;
};

// Used by one thread at a time.
class LaneDevice {
 public:
  virtual ~LaneDevice() = default;

  virtual at::Device device() const = 0;
  // "NVIDIA H200": what the numerics class names.
  virtual std::string name() const = 0;
  // Bytes that can be had, or -1 where only the caller's own account counts.
  virtual int64_t free_bytes() const = 0;

  // To be called by the thread that uses the device, before anything else: makes the device and
  // its queue current there and sets libtorch's switches ("fp32", "tf32", "bf16").
  virtual void Enter(const std::string& precision, bool deterministic) = 0;

  // A tensor on the host from which copies to the device do not stop the caller.
  virtual at::Tensor Staging(at::IntArrayRef sizes, at::ScalarType type) = 0;

  // Masks of `lanes` rows of `elements` each; see LaneRandom. `seeds` and `steps`, [lanes], lie on
  // the device.
  virtual void DropoutMask(const int64_t* seeds, const int64_t* steps, uint32_t layer,
                           uint32_t threshold, float scale, int64_t lanes, int64_t elements,
                           float* mask) = 0;
  // The bits of such masks as numbers in [0, 1).
  virtual void Uniform(const int64_t* seeds, const int64_t* steps, uint32_t layer, int64_t lanes,
                       int64_t elements, float* values) = 0;
  virtual void Update(const LaneUpdate& update) = 0;

  // Queues on which lanes can compute at once, the device's own; null where it has one queue.
  virtual LaneQueues* queues() { return nullptr; }

  // True where Record() runs `body`, to warm up: what it changes has to be put back afterwards.
  virtual bool records() const = 0;
  // Makes a step of `body`, which must do the same work on the same memory each time and must not
  // wait for the device. `before` comes before each of its runs and is no part of the step.
  virtual std::unique_ptr<LaneStep> Record(const std::function<void()>& body,
                                           const std::function<void()>& before) = 0;
  // Called now and then between steps: keeps the caller from running far ahead of the device.
  virtual void Throttle() = 0;
  // Waits until the device has done all that was queued.
  virtual void Synchronize() = 0;
  // Gives cached memory back.
  virtual void Trim() = 0;
};

// Runs steps as they come. `free_bytes` is what it says of itself.
std::unique_ptr<LaneDevice> MakeCpuLaneDevice(int64_t free_bytes = -1);

}  // namespace hopper
