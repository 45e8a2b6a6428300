#include "engine/devices/device_worker.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <exception>

#include "base/error.h"
#include "engine/devices/lane_devices.h"
#include "engine/failure.h"

namespace hopper {
namespace {

Error DoesNotFit(const std::string& what, const std::string& label, int64_t needed, int64_t free,
                 const char* hint) {
  return Error(ErrorCode::kOutOfMemory, what + " not fit on " + label,
               "It needs about " + BytesText(needed) + ", " +
                   BytesText(std::max<int64_t>(free, 0)) + " are free.",
               hint);
}

constexpr const char* kSmallerHint =
    "Lower batch_size; the run goes on without this configuration.";

int64_t DataBytes(const Dataset& data) { return data.bytes(); }

}  // namespace

int DeviceLanes(const Trainer& trainer, const DataDesc& data,
                const DeviceWorker::Options& options) {
  return options.fuse ? LaneCount(trainer, data, options.precision, options.memory) : 1;
}

std::string TrainWork(const std::string& lane_key, int64_t rows, bool metrics) {
  return lane_key + " train " + std::to_string(rows) + (metrics ? " metrics" : "");
}

DeviceWorker::DeviceWorker(const Options& options, const Dataset& train, const Dataset* valid)
    : options_(options), device_(OpenLaneDevice(options.index)) {
  device_->Enter(options.precision, !options.fuse);
  const int64_t needed = DataBytes(train) + (valid == nullptr ? 0 : DataBytes(*valid));
  const int64_t free = device_->free_bytes();
  if (free >= 0 && needed > free) {
    throw DoesNotFit("the packed data do", options.label, needed, free,
                     "Use a GPU with more memory, or use_gpus => false.");
  }
  train_ = std::make_unique<LaneData>(train, device_.get());
  if (valid != nullptr) valid_ = std::make_unique<LaneData>(*valid, device_.get());
}

DeviceWorker::~DeviceWorker() {
  arrays_.clear();
  valid_.reset();
  train_.reset();
  try {
    device_->Trim();
  } catch (const std::exception&) {
    // A device that fails has said so before.
  }
}

int DeviceWorker::Lanes(const Trainer& trainer) const {
  return DeviceLanes(trainer, train_->desc(), options_);
}

DeviceWorker::Array& DeviceWorker::ArrayFor(const Trainer& trainer) {
  const std::string lane_key = LaneKey(trainer, train_->desc());
  Array& array = arrays_[lane_key];
  if (array.lanes != nullptr) return array;
  LaneOptions lanes;
  lanes.lanes = Lanes(trainer);
  lanes.precision = options_.precision;
  const FitParams& fit = trainer.fit();
  const double steps = static_cast<double>(options_.iterations) * static_cast<double>(fit.epochs) *
                       static_cast<double>(train_->desc().n_rows / fit.batch_size);
  lanes.steps = static_cast<int64_t>(std::min(steps, 1e15));
  const int64_t needed = LaneBytes(trainer, train_->desc(), options_.precision, lanes.lanes);
  int64_t free = device_->free_bytes();
  if (free >= 0 && needed > free && arrays_.size() > 1) {
    // States are on the host, too: arrays of other shapes are made anew when they are needed.
    for (auto& [key, other] : arrays_) {
      if (key != lane_key) other = Array();
    }
    device_->Trim();
    free = device_->free_bytes();
  }
  if (free >= 0 && needed > free) {
    throw DoesNotFit("configuration does", options_.label, needed, free, kSmallerHint);
  }
  array.lanes = std::make_unique<LaneArray>(trainer, train_->desc(), lanes, device_.get());
  array.keys.assign(static_cast<size_t>(lanes.lanes), std::nullopt);
  return array;
}

void DeviceWorker::Train(std::vector<Visit>* visits, const std::atomic<bool>& cancel,
                         bool metrics) {
  const std::string lane_key = LaneKey(*visits->front().trainer, train_->desc());
  try {
    Array& array = ArrayFor(*visits->front().trainer);
    // Who is there already keeps his lane where that is one of the first; the others take what is
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
    array.lanes->Train(&lanes, *train_, cancel, metrics);
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
    throw DoesNotFit("configuration does", options_.label,
                     LaneBytes(*visits->front().trainer, train_->desc(), options_.precision,
                               Lanes(*visits->front().trainer)),
                     device_->free_bytes(), kSmallerHint);
  } catch (...) {
    arrays_.erase(lane_key);  // nobody knows what its lanes hold
    throw;
  }
}

bool DeviceWorker::Evaluate(const Trainer& trainer, const std::vector<const float*>& weights,
                            bool valid, const std::atomic<bool>& cancel,
                            std::vector<MetricSums>* sums) {
  try {
    return ArrayFor(trainer).lanes->Evaluate(weights, valid ? *valid_ : *train_, cancel, sums);
  } catch (const c10::OutOfMemoryError&) {
    device_->Trim();
    throw DoesNotFit("configuration does", options_.label,
                     LaneBytes(trainer, train_->desc(), options_.precision, Lanes(trainer)),
                     device_->free_bytes(), kSmallerHint);
  }
}

void DeviceWorker::Forget(int32_t key) {
  for (auto& [unused, array] : arrays_) {
    for (std::optional<int32_t>& held : array.keys) {
      if (held == key) held = std::nullopt;
    }
  }
}

}  // namespace hopper
