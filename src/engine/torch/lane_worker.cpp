#include "engine/torch/lane_worker.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <exception>

#include "base/error.h"
#include "engine/torch/lane_devices.h"

namespace hopper {
LaneWorker::LaneWorker(const DeviceOptions& options, const Dataset& train, const Dataset* valid,
                       LaneCopies* copies)
    : options_(options), device_(OpenLaneDevice(options.index)) {
  device_->Enter(options.precision, !options.fuse);
  data_ = copies->On(options.index, options.label, train, valid, device_.get());
}

LaneWorker::~LaneWorker() {
  arrays_.clear();
  data_.reset();
  try {
    device_->Trim();
  } catch (const std::exception&) {
    // A device that fails has said so before.
  }
}

Error LaneWorker::ArrayDoesNotFit(const Trainer& trainer, int lanes) const {
  return DoesNotFitOnDevice("configuration does", options_.label,
                            LaneBytes(trainer, data_->train->desc(), options_.precision, lanes),
                            device_->free_bytes(),
                            "Lower batch_size; the run goes on without this configuration.");
}

LaneWorker::Array& LaneWorker::ArrayFor(const Trainer& trainer, int lanes) {
  const DataDesc& desc = data_->train->desc();
  const std::string lane_key = LaneKey(trainer, desc);
  Array& array = arrays_[lane_key];
  if (array.lanes != nullptr && array.lanes->lanes() >= lanes) return array;
  array = Array();
  const int64_t needed = LaneBytes(trainer, desc, options_.precision, lanes);
  int64_t held = 0;
  for (const auto& [key, other] : arrays_) held += other.bytes;
  int64_t free = device_->free_bytes();
  const bool beyond_share = options_.share >= 0 && held + needed > options_.share;
  if (held > 0 && (beyond_share || (free >= 0 && needed > free))) {
    // States are on the host, too: arrays of other shapes are made anew when they are needed.
    for (auto& [key, other] : arrays_) other = Array();
    device_->Trim();
    free = device_->free_bytes();
  }
  if (free >= 0 && needed > free) throw ArrayDoesNotFit(trainer, lanes);
  LaneOptions options;
  options.lanes = lanes;
  options.precision = options_.precision;
  array.lanes = std::make_unique<LaneArray>(trainer, desc, options, device_.get());
  array.keys.assign(static_cast<size_t>(lanes), std::nullopt);
  array.bytes = needed;
  return array;
}

void LaneWorker::Train(std::vector<Visit>* visits, int most, const std::atomic<bool>& cancel,
                       bool metrics) {
  const Trainer& trainer = *visits->front().trainer;
  const std::string lane_key = LaneKey(trainer, data_->train->desc());
  try {
    Array& array = ArrayFor(trainer, most);
    // A model that has a lane keeps it where that is one of the first; the others take what is
    // left. Lanes after the last visit are padding.
    std::vector<Visit*> in_lane(visits->size(), nullptr);
    std::vector<Visit*> others;
    for (Visit& visit : *visits) {
      const auto at = std::find(array.keys.begin(), array.keys.end(), visit.key);
      const auto lane = static_cast<size_t>(at - array.keys.begin());
      if (lane < in_lane.size()) {
        in_lane[lane] = &visit;
      } else {
        others.push_back(&visit);
      }
    }
    std::vector<LaneVisit> lanes;
    for (size_t lane = 0; lane < in_lane.size(); ++lane) {
      Visit*& visit = in_lane[lane];
      if (visit == nullptr) {
        visit = others.back();
        others.pop_back();
        Forget(visit->key);  // a lane further behind
        array.keys[lane] = std::nullopt;
        array.lanes->Load(static_cast<int>(lane), *visit->trainer, *visit->state);
        array.keys[lane] = visit->key;
      }
      lanes.push_back(
          {visit->trainer, visit->state, visit->partition, MetricSums(), VisitEnd::kDone});
    }
    array.lanes->Train(&lanes, *data_->train, cancel, metrics);
    std::vector<ModelState*> states;
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      Visit& visit = *in_lane[lane];
      visit.sums = std::move(lanes[lane].sums);
      visit.end = lanes[lane].end;
      if (visit.end != VisitEnd::kDone) array.keys[lane] = std::nullopt;
      states.push_back(visit.state);
    }
    if (lanes[0].end != VisitEnd::kCancelled) array.lanes->Save(states);
  } catch (const c10::OutOfMemoryError&) {
    arrays_.erase(lane_key);
    device_->Trim();
    throw ArrayDoesNotFit(trainer, most);
  } catch (...) {
    arrays_.erase(lane_key);  // nobody knows what its lanes hold
    throw;
  }
}

bool LaneWorker::Evaluate(const Trainer& trainer, int lanes,
                          const std::vector<const float*>& weights, bool valid,
                          const std::atomic<bool>& cancel, std::vector<MetricSums>* sums) {
  try {
    return ArrayFor(trainer, lanes)
        .lanes->Evaluate(weights, valid ? *data_->valid : *data_->train, cancel, sums);
  } catch (const c10::OutOfMemoryError&) {
    device_->Trim();
    throw ArrayDoesNotFit(trainer, lanes);
  }
}

void LaneWorker::Forget(int32_t key) {
  for (auto& [unused, array] : arrays_) {
    for (std::optional<int32_t>& held : array.keys) {
      if (held == key) held = std::nullopt;
    }
  }
}

}  // namespace hopper
