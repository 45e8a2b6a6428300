// Devices that models train on side by side, as a backend gives them: this machine's GPUs. The two
// engines know no more of them than this.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "engine/devices/cuda_devices.h"
#include "train/metric_sums.h"
#include "train/trainer.h"

namespace hopper {

// A run's data on its devices: one copy on each, which all workers of that device share.
// Thread-safe.
class DeviceData {
 public:
  virtual ~DeviceData() = default;
};

// Of one worker on a device.
struct DeviceOptions {
  int index = 0;
  std::string label;    // "cuda:0"
  int64_t memory = -1;  // bytes of the device
  int64_t share = -1;   // of them, for this worker's arrays together; -1: all that are free
  std::string precision = "fp32";
  bool fuse = true;  // false: one lane at a time and deterministic libraries
};

// What one thread needs to train models side by side on a device: its queue, its arrays, and which
// models' weights lie there. Several threads may do so on one device. Knows nothing of schedules.
// Made, used and deleted on one thread; throws what training throws, Error(kOutOfMemory) where
// something does not fit on the device.
class DeviceWorker {
 public:
  // One model's visit. Its state comes from the host unless it lies on the device from its latest
  // visit, and goes back to the host.
  struct Visit {
    int32_t key = 0;
    const Trainer* trainer = nullptr;
    ModelState* state = nullptr;
    int partition = 0;
    MetricSums sums;
    VisitEnd end = VisitEnd::kDone;
  };

  virtual ~DeviceWorker() = default;

  // The visits' trainers share a LaneKey(), their partitions have one size, and there are at most
  // `lanes` of them. Their array has at least so many: it is made anew when they become more.
  virtual void Train(std::vector<Visit>* visits, int lanes, const std::atomic<bool>& cancel,
                     bool metrics) = 0;

  // Loss and metrics of weights (spec().flat_size floats each) over the training or validation
  // data; `trainer` is any of theirs, `lanes` as above. False: cancelled.
  virtual bool Evaluate(const Trainer& trainer, int lanes, const std::vector<const float*>& weights,
                        bool valid, const std::atomic<bool>& cancel,
                        std::vector<MetricSums>* sums) = 0;

  // The model's weights on the device are of no use any more.
  virtual void Forget(int32_t key) = 0;
};

// Thread-safe.
class Devices {
 public:
  virtual ~Devices() = default;

  // All devices, or why there is none.
  virtual CudaDevices List() const = 0;
  // What the numerics class of their models begins with: "torch 2.11.0".
  virtual std::string Numerics() const = 0;

  virtual std::unique_ptr<DeviceData> NewData() const = 0;
  // Copies the data to the device unless `copies` has them there. `train` and `valid` (or null)
  // must be complete and the same for all; they and all trainers outlive the worker.
  virtual std::unique_ptr<DeviceWorker> Open(const DeviceOptions& options, const Dataset& train,
                                             const Dataset* valid, DeviceData* copies) const = 0;

  // Equal for trainers whose models can train side by side on such data.
  virtual std::string LaneKey(const Trainer& trainer, const DataDesc& data) const = 0;
  // How many models do so at most on such a device.
  virtual int Lanes(const Trainer& trainer, const DataDesc& data,
                    const DeviceOptions& options) const = 0;
  // Bytes of so many on the device, without data.
  virtual int64_t LaneBytes(const Trainer& trainer, const DataDesc& data,
                            const std::string& precision, int lanes) const = 0;
};

}  // namespace hopper
