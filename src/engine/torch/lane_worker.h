// A device worker by libtorch: arrays of lanes (autograd/lane_array.h) on a device.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autograd/lane_array.h"
#include "base/error.h"
#include "engine/devices/devices.h"
#include "engine/torch/lane_copies.h"

namespace hopper {

class LaneWorker : public DeviceWorker {
 public:
  // Opens the device, and copies the data there as LaneCopies::On().
  LaneWorker(const DeviceOptions& options, const Dataset& train, const Dataset* valid,
             LaneCopies* copies);
  // Gives the device's memory back to other processes.
  ~LaneWorker() override;
  LaneWorker(const LaneWorker&) = delete;
  LaneWorker& operator=(const LaneWorker&) = delete;

  void Train(std::vector<Visit>* visits, int lanes, const std::atomic<bool>& cancel,
             bool metrics) override;
  bool Evaluate(const Trainer& trainer, int lanes, const std::vector<const float*>& weights,
                bool valid, const std::atomic<bool>& cancel,
                std::vector<MetricSums>* sums) override;
  void Forget(int32_t key) override;

 private:
  struct Array {
    std::unique_ptr<LaneArray> lanes;
    std::vector<std::optional<int32_t>> keys;  // of the models in the lanes
    int64_t bytes = 0;                         // LaneBytes()
  };
  Array& ArrayFor(const Trainer& trainer, int lanes);
  Error ArrayDoesNotFit(const Trainer& trainer, int lanes) const;

  const DeviceOptions options_;
  std::unique_ptr<LaneDevice> device_;
  std::shared_ptr<const LaneCopies::Copy> data_;
  std::map<std::string, Array> arrays_;  // by LaneKey()
};

}  // namespace hopper
