#include "engine/devices/lanes.h"

#include <algorithm>

namespace hopper {
namespace {

// An array that may grow does not begin with fewer.
constexpr int kFewLanes = 4;

}  // namespace

int EvenLanes(size_t models, int most) {
  const size_t arrays = (models + static_cast<size_t>(most) - 1) / static_cast<size_t>(most);
  return static_cast<int>((models + arrays - 1) / arrays);
}

int LanesFor(int models, int most) {
  int lanes = kFewLanes;
  while (lanes < models && lanes < most) lanes *= 2;
  return std::min(lanes, most);
}

std::vector<DeviceOptions> WorkersOf(const std::vector<DeviceOptions>& devices, int64_t data) {
  std::vector<DeviceOptions> workers;
  for (int i = 0; i < kArraysAtOnce; ++i) {
    for (DeviceOptions worker : devices) {
      // Together about all that the data leave.
      if (worker.memory >= 0)
        worker.share = std::max<int64_t>(worker.memory - data, 0) / 2 / (i + 1);
      workers.push_back(worker);
    }
  }
  return workers;
}

std::string TrainWork(const std::string& lane_key, int64_t rows, bool metrics) {
  return lane_key + " train " + std::to_string(rows) + (metrics ? " metrics" : "");
}

}  // namespace hopper
