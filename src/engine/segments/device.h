// A segment's GPU: a thread that keeps it, and the segment's data on it, from hop to hop.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/error.h"
#include "engine/devices/device_choice.h"
#include "train/backend.h"

namespace hopper {

// Used by one thread at a time.
class GroupDevice {
 public:
  // Takes the process' GPU of the options (see ChooseDeviceOfProcess()); nothing is opened yet.
  GroupDevice(const TrainingBackend& backend, const TrainingOptions& options, Precision precision,
              MemoryAccount* account, WarningSink warn);
  ~GroupDevice();
  GroupDevice(const GroupDevice&) = delete;
  GroupDevice& operator=(const GroupDevice&) = delete;

  const std::string& numerics_class() const { return choice_.numerics_class; }
  // How many models train at once that share this one's lane key.
  int Lanes(const Trainer& trainer, const DataDesc& data) const {
    return backend_.devices()->Lanes(trainer, data, choice_.devices.front());
  }
  std::string LaneKey(const Trainer& trainer, const DataDesc& data) const {
    return backend_.devices()->LaneKey(trainer, data);
  }

  // Runs `job` on the device's thread and waits for it. The first one opens the device and copies
  // the data there, which must be complete and the same for all. Throws what the job throws, and
  // where the device cannot be used, why.
  void Do(const Dataset& train, const Dataset* valid,
          const std::function<void(DeviceWorker*)>& job);

 private:
  void Work();

  const TrainingBackend& backend_;
  const DeviceChoice choice_;
  MemoryAccount* const account_;
  const WarningSink warn_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  bool end_ = false;
  const std::function<void()>* job_ = nullptr;
  std::optional<Problem> failure_;  // of the latest job
  const std::unique_ptr<DeviceData> data_;
  // On the device's thread alone.
  std::unique_ptr<DeviceWorker> worker_;

  Workers thread_;  // last: joined before anything above goes
  bool started_ = false;
};

}  // namespace hopper
