// How models share the lanes and the workers of devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/devices/devices.h"

namespace hopper {

// What visits are for as far as those of one DeviceWorker::Train() have it in common: equal for
// such that may be in one. `lane_key`: LaneKey(); `rows` of the partition; `metrics` as in Train().
std::string TrainWork(const std::string& lane_key, int64_t rows, bool metrics);

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
std::vector<DeviceOptions> WorkersOf(const std::vector<DeviceOptions>& devices, int64_t data);

}  // namespace hopper
