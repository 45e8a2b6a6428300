// What one thread needs to train models side by side on a device: its data, its arrays, and which
// models' weights lie there. Knows nothing of schedules.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/lane_array.h"

namespace hopper {

// Made and used on one thread; throws what training throws, Error(kOutOfMemory) where something
// does not fit on the device.
class DeviceWorker {
 public:
  struct Options {
    int index = 0;
    std::string label;    // "cuda:0"
    int64_t memory = -1;  // bytes of the device
    std::string precision = "fp32";
    bool fuse = true;        // false: one lane at a time and deterministic libraries
    int64_t iterations = 0;  // of the run
  };

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

  // Copies the data to the device; both must be complete, `valid` may be null. All trainers outlive
  // it.
  DeviceWorker(const Options& options, const Dataset& train, const Dataset* valid);
  // Gives the device's memory back to other processes.
  ~DeviceWorker();
  DeviceWorker(const DeviceWorker&) = delete;
  DeviceWorker& operator=(const DeviceWorker&) = delete;

  // The visits' trainers share a LaneKey(), their partitions have one size, and there are at most
  // Lanes() of them.
  void Train(std::vector<Visit>* visits, const std::atomic<bool>& cancel, bool metrics);

  // Loss and metrics of weights (spec().flat_size floats each) over the training or validation
  // data; `trainer` is any of theirs. False: cancelled.
  bool Evaluate(const Trainer& trainer, const std::vector<const float*>& weights, bool valid,
                const std::atomic<bool>& cancel, std::vector<MetricSums>* sums);

  // How many models train at once that share `trainer`'s key.
  int Lanes(const Trainer& trainer) const;
  // The model's weights on the device are of no use any more.
  void Forget(int32_t key);

 private:
  struct Array {
    std::unique_ptr<LaneArray> lanes;
    std::vector<std::optional<int32_t>> keys;  // of the models in the lanes
  };
  Array& ArrayFor(const Trainer& trainer);

  const Options options_;
  std::unique_ptr<LaneDevice> device_;
  std::unique_ptr<LaneData> train_;
  std::unique_ptr<LaneData> valid_;
  std::map<std::string, Array> arrays_;  // by LaneKey()
};

// What visits are for as far as those of one DeviceWorker::Train() have it in common: equal for
// such that may be in one. `lane_key`: LaneKey(); `rows` of the partition; `metrics` as in Train().
std::string TrainWork(const std::string& lane_key, int64_t rows, bool metrics);

// Lanes of an array on a device of that much memory.
int DeviceLanes(const Trainer& trainer, const DataDesc& data, const DeviceWorker::Options& options);

}  // namespace hopper
