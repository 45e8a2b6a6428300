// Initial weights, made once for all configurations of a run that start alike.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/aligned.h"
#include "model/weights/initialize.h"

namespace hopper {

// Thread-safe. Threads that want the same weights at the same time make them together.
class InitialWeights {
 public:
  // One more configuration will ask for them: the last one to get them frees the copy.
  void Expect(const ModelSpec& spec, uint64_t seed);
  // Bytes of all copies that are worth keeping, those that more than one configuration will ask
  // for.
  int64_t SharedBytes() const;
  // Copies take at most this; without it, as much as they want.
  void Keep(int64_t bytes) { most_ = bytes; }
  // Fills spec.flat_size floats; false where `cancel` ended it. Throws what making them threw.
  // A copy is kept for those who come later where there is room for it.
  bool Get(const ModelSpec& spec, uint64_t seed, const std::atomic<bool>& cancel, float* flat);

  // How often weights were made and not copied.
  int64_t made() const { return made_.load(std::memory_order_relaxed); }

 private:
  struct Job {
    int64_t expected = 0;  // configurations that have not come yet
    std::unique_ptr<const WeightInitializer> initializer;
    int64_t bytes = 0;
    AlignedArray<float> weights;
    std::atomic<int64_t> next{0};  // piece
    int64_t finished = 0;          // pieces
    bool cancelled = false;
    std::exception_ptr failure;
    std::condition_variable done;
  };
  bool Help(Job* job, const std::atomic<bool>& cancel);

  mutable std::mutex mutex_;
  int64_t most_ = std::numeric_limits<int64_t>::max();
  int64_t kept_ = 0;                                  // bytes of the copies that there are
  std::map<std::string, std::shared_ptr<Job>> jobs_;  // by WeightInitializer::Key()
  std::atomic<int64_t> made_{0};
};

}  // namespace hopper
