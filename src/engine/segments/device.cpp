#include "engine/segments/device.h"

#include <utility>

namespace hopper {

GroupDevice::GroupDevice(const TrainingBackend& backend, const TrainingOptions& options,
                         Precision precision, MemoryAccount* account, WarningSink warn)
    : backend_(backend),
      choice_(ChooseDeviceOfProcess(backend.devices(), options, precision)),
      account_(account),
      warn_(std::move(warn)),
      data_(backend.devices()->NewData()) {}

GroupDevice::~GroupDevice() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    end_ = true;
  }
  wake_.notify_all();
  thread_.Join();
}

void GroupDevice::Do(const Dataset& train, const Dataset* valid,
                     const std::function<void(DeviceWorker*)>& job) {
  if (!started_) {
    thread_.Start(1, backend_.Setting({account_, warn_}), [this] { Work(); });
    started_ = true;
  }
  const std::function<void()> all = [&] {
    if (worker_ == nullptr) {
      worker_ = backend_.devices()->Open(choice_.devices.front(), train, valid, data_.get());
    }
    job(worker_.get());
  };
  std::unique_lock<std::mutex> lock(mutex_);
  job_ = &all;
  wake_.notify_all();
  wake_.wait(lock, [this] { return job_ == nullptr; });
  if (failure_.has_value()) throw Error(*failure_);
}

void GroupDevice::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return end_ || job_ != nullptr; });
    if (job_ == nullptr) break;
    lock.unlock();
    std::optional<Problem> failure;
    try {
      (*job_)();
    } catch (...) {
      failure = backend_.Describe();
    }
    lock.lock();
    failure_ = std::move(failure);
    job_ = nullptr;
    wake_.notify_all();
  }
  lock.unlock();
  worker_.reset();  // on the thread that opened it
}

}  // namespace hopper
