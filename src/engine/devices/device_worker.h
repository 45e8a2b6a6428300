// What one thread needs to train models side by side on a device: its queue, its arrays, and which
// models' weights lie there. Several threads may do so on one device. Knows nothing of schedules.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/devices/device_data.h"
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
    int64_t share = -1;   // of them, for this worker's arrays together; -1: all that are free
    std::string precision = "fp32";
    bool fuse = true;  // false: one lane at a time and deterministic libraries
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

  // Copies the data to the device unless they are there, as DeviceData::On(). `data` and all
  // trainers outlive it.
  DeviceWorker(const Options& options, const Dataset& train, const Dataset* valid,
               DeviceData* data);
  // Gives the device's memory back to other processes.
  ~DeviceWorker();
  DeviceWorker(const DeviceWorker&) = delete;
  DeviceWorker& operator=(const DeviceWorker&) = delete;

  // The visits' trainers share a LaneKey(), their partitions have one size, and there are at most
  // `lanes` of them. Their array has at least so many: it is made anew when they become more.
  void Train(std::vector<Visit>* visits, int lanes, const std::atomic<bool>& cancel, bool metrics);

  // Loss and metrics of weights (spec().flat_size floats each) over the training or validation
  // data; `trainer` is any of theirs, `lanes` as above. False: cancelled.
  bool Evaluate(const Trainer& trainer, int lanes, const std::vector<const float*>& weights,
                bool valid, const std::atomic<bool>& cancel, std::vector<MetricSums>* sums);

  // The model's weights on the device are of no use any more.
  void Forget(int32_t key);

 private:
  struct Array {
    std::unique_ptr<LaneArray> lanes;
    std::vector<std::optional<int32_t>> keys;  // of the models in the lanes
    int64_t bytes = 0;                         // LaneBytes()
  };
  Array& ArrayFor(const Trainer& trainer, int lanes);
  Error ArrayDoesNotFit(const Trainer& trainer, int lanes) const;

  const Options options_;
  std::unique_ptr<LaneDevice> device_;
  std::shared_ptr<const DeviceData::Copy> data_;
  std::map<std::string, Array> arrays_;  // by LaneKey()
};

// What visits are for as far as those of one DeviceWorker::Train() have it in common: equal for
// such that may be in one. `lane_key`: LaneKey(); `rows` of the partition; `metrics` as in Train().
std::string TrainWork(const std::string& lane_key, int64_t rows, bool metrics);

// The most lanes that an array has on such a device.
int DeviceLanes(const Trainer& trainer, const DataDesc& data, const DeviceWorker::Options& options);

// Lanes of each array where `models` share a key and an array has at most `most`: as few arrays as
// hold them, and no more lanes than these need.
int EvenLanes(size_t models, int most);

// Lanes of an array, at most `most`, that holds `models` for now and may grow: seldom made anew.
int LanesFor(int models, int most);

// Steps of one array leave much of a GPU idle: between small kernels, and while the host reads
// results or records.
constexpr int kArraysAtOnce = 4;

// So many workers for each device, the first ones of all devices in front. `data`: bytes that lie
// on each device beside their arrays. The first worker of a device has room for the largest arrays.
std::vector<DeviceWorker::Options> WorkersOf(const std::vector<DeviceWorker::Options>& devices,
                                             int64_t data);

}  // namespace hopper
