// Device data by libtorch.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "autograd/lane_data.h"
#include "autograd/lane_device.h"
#include "base/error.h"
#include "engine/devices/devices.h"

namespace hopper {

// That `what` ("the packed data do") needs more bytes than are free on the device that `label`
// names.
Error DoesNotFitOnDevice(const std::string& what, const std::string& label, int64_t needed,
                         int64_t free, const char* hint);

class LaneCopies : public DeviceData {
 public:
  struct Copy {
    std::unique_ptr<const LaneData> train;
    std::unique_ptr<const LaneData> valid;  // null: there is none
  };

  // The copy on device `index`, which the caller has entered as `device`. The first one who asks
  // makes it, of data that must be complete and the same for all (`valid` may be null), and the
  // last one who lets go of it frees it. Throws Error(kOutOfMemory) where it does not fit.
  std::shared_ptr<const Copy> On(int index, const std::string& label, const Dataset& train,
                                 const Dataset* valid, LaneDevice* device);

 private:
  std::mutex mutex_;                                 // held while a copy is made
  std::map<int, std::weak_ptr<const Copy>> copies_;  // by index
};

}  // namespace hopper
