#include "engine/cuda/lane_device.h"

#include <ATen/Context.h>
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "engine/cuda/lane_kernels.h"

namespace hopper {
namespace {

// Lanes take turns on so many streams.
constexpr int kLaneStreams = 8;

// The streams of one GPU: lanes', which whoever records has to himself, and one for the own work of
// each LaneDevice that is open. All runs of a process take the same ones: libtorch has 32 and keeps
// memory for each that was used.
class Streams {
 public:
  static Streams& Of(c10::DeviceIndex index) {
    static std::mutex mutex;
    static std::map<c10::DeviceIndex, Streams> all;
    const std::lock_guard<std::mutex> lock(mutex);
    return all.try_emplace(index, index).first->second;
  }
  explicit Streams(c10::DeviceIndex index) : index_(index) {
    for (int i = 0; i < kLaneStreams; ++i) lanes_.push_back(Next());
  }
  const std::vector<c10::cuda::CUDAStream>& lanes() const { return lanes_; }
  c10::cuda::CUDAStream Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) return Next();
    const c10::cuda::CUDAStream stream = free_.back();
    free_.pop_back();
    return stream;
  }
  void GiveBack(const c10::cuda::CUDAStream& stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(stream);
  }

 private:
  c10::cuda::CUDAStream Next() const {
    return c10::cuda::getStreamFromPool(/*isHighPriority=*/false, index_);
  }
  const c10::DeviceIndex index_;
  std::vector<c10::cuda::CUDAStream> lanes_;
  std::mutex mutex_;
  std::vector<c10::cuda::CUDAStream> free_;
};

class CudaLaneQueues : public LaneQueues {
 public:
  explicit CudaLaneQueues(c10::DeviceIndex index)
      : index_(index), streams_(Streams::Of(index).lanes()) {}
  void Fork(int64_t lanes, const std::vector<at::Tensor>& shared) override {
    used_ = static_cast<size_t>(std::min<int64_t>(lanes, kLaneStreams));
    callers_ = c10::cuda::getCurrentCUDAStream(index_);
    forked_.record(*callers_);
    for (size_t i = 0; i < used_; ++i) {
      forked_.block(streams_[i]);
      for (const at::Tensor& tensor : shared) {
        c10::cuda::CUDACachingAllocator::recordStream(tensor.storage().data_ptr(), streams_[i]);
      }
    }
  }
  void Enter(int64_t lane) override {
    c10::cuda::setCurrentCUDAStream(streams_[static_cast<size_t>(lane) % used_]);
  }
  void Join() override {
    c10::cuda::setCurrentCUDAStream(*callers_);
    for (size_t i = 0; i < used_; ++i) {
      joined_[i].record(streams_[i]);
      joined_[i].block(*callers_);
    }
  }
  // Joins all streams, also those that a backward pass has left apart. Only streams of a capture
  // may be joined in one, which the fork makes them.
  void JoinAll() {
    Fork(kLaneStreams, {});
    Join();
  }

 private:
  const c10::DeviceIndex index_;
  std::vector<c10::cuda::CUDAStream> streams_;
  std::optional<c10::cuda::CUDAStream> callers_;
  size_t used_ = 0;
  at::cuda::CUDAEvent forked_;
  std::array<at::cuda::CUDAEvent, kLaneStreams> joined_;
};

class GraphStep : public LaneStep {
 public:
  using Pool = std::shared_ptr<const at::cuda::MempoolId_t>;

  GraphStep(const std::function<void()>& body, const std::function<void()>& before,
            const c10::cuda::CUDAStream& stream, CudaLaneQueues* queues, Pool pool,
            const std::function<void()>& make_room)
      : pool_(std::move(pool)) {
    // Once by itself: libraries choose and load their kernels.
    before();
    body();
    before();
    stream.synchronize();
    make_room();
    // Other threads may allocate and load meanwhile; autograd's work on this stream as well.
    graph_.capture_begin(*pool_, cudaStreamCaptureModeThreadLocal);
    try {
      body();
      graph_.capture_end();
    } catch (...) {
      Abandon(stream.device_index(), queues);
      throw;
    }
  }
  void Run() override { graph_.replay(); }

 private:
  // Ends a capture whose body or end failed: left open it would poison the stream and the pool. Its
  // own errors do not matter.
  void Abandon(c10::DeviceIndex device, CudaLaneQueues* queues) {
    try {
      queues->JoinAll();
    } catch (const std::exception&) {
    }
    try {
      graph_.capture_end();
    } catch (const std::exception&) {
      // It throws before it tells the allocators.
      try {
        c10::cuda::CUDACachingAllocator::endAllocateToPool(device, *pool_);
        c10::cuda::CUDACachingAllocator::releasePool(device, *pool_);
        at::getHostAllocator(at::kCUDA)->end_allocate_to_pool(*pool_);
        at::getHostAllocator(at::kCUDA)->release_pool(*pool_);
      } catch (const std::exception&) {
      }
    }
    cudaGetLastError();
  }

  const Pool pool_;
  at::cuda::CUDAGraph graph_;
};

class CudaLaneDevice : public LaneDevice {
 public:
  explicit CudaLaneDevice(int index) : index_(static_cast<c10::DeviceIndex>(index)) {
    cudaDeviceProp properties;
    C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
    name_ = properties.name;
  }

  at::Device device() const override { return at::Device(at::kCUDA, index_); }
  std::string name() const override { return name_; }

  ~CudaLaneDevice() override {
    if (stream_) Streams::Of(index_).GiveBack(*stream_);
  }

  // What the allocator holds and nobody uses can be had, too.
  int64_t free_bytes() const override { return UnclaimedBytes() + CachedBytes(); }

  void Enter(const std::string& precision, bool deterministic) override {
    c10::cuda::set_device(index_);
    if (!stream_) stream_ = Streams::Of(index_).Take();
    c10::cuda::setCurrentCUDAStream(*stream_);
    if (!queues_) queues_.emplace(index_);
    at::Context& context = at::globalContext();
    const bool tf32 = precision == "tf32";
    context.setAllowTF32CuBLAS(tf32);
    context.setAllowTF32CuDNN(tf32);
    context.setDeterministicCuDNN(deterministic);
    // cuDNN's own choice: trying its kernels took seconds for each size of batch, and found faster
    // ones for one of four networks only.
    context.setBenchmarkCuDNN(false);
    // Operations that have no deterministic form warn, and the warning is handed on.
    context.setDeterministicAlgorithms(deterministic, /*warn_only=*/true);
    context.setDeterministicFillUninitializedMemory(false);
  }

  at::Tensor Staging(at::IntArrayRef sizes, at::ScalarType type) override {
    return at::empty(sizes, at::TensorOptions().dtype(type).pinned_memory(true));
  }

  void DropoutMask(const int64_t* seeds, const int64_t* steps, uint32_t layer, uint32_t threshold,
                   float scale, int64_t lanes, int64_t elements, float* mask) override {
    C10_CUDA_CHECK(LaunchDropoutMask(seeds, steps, layer, threshold, scale, lanes, elements, mask,
                                     CurrentStream()));
  }
  void Uniform(const int64_t* seeds, const int64_t* steps, uint32_t layer, int64_t lanes,
               int64_t elements, float* values) override {
    C10_CUDA_CHECK(LaunchUniform(seeds, steps, layer, lanes, elements, values, CurrentStream()));
  }
  void Update(const LaneUpdate& update) override {
    C10_CUDA_CHECK(LaunchLaneUpdate(update, stream_->stream()));
  }

  LaneQueues* queues() override { return &*queues_; }
  bool records() const override { return true; }
  std::unique_ptr<LaneStep> Record(const std::function<void()>& body,
                                   const std::function<void()>& before) override {
    // One at a time: the lanes' streams and autograd's thread are of the process.
    static std::mutex recording;
    const std::lock_guard<std::mutex> lock(recording);
    GraphStep::Pool pool = pool_.lock();
    if (pool == nullptr) {
      pool = std::make_shared<const at::cuda::MempoolId_t>(at::cuda::graph_pool_handle());
      pool_ = pool;
    }
    // While capturing, libtorch gives nothing back that it keeps of the warm-up. Giving it back
    // before waits for all work on the GPU, other devices' as well.
    const auto make_room = [this] {
      if (UnclaimedBytes() < CachedBytes()) c10::cuda::CUDACachingAllocator::emptyCache();
    };
    return std::make_unique<GraphStep>(body, before, *stream_, &*queues_, std::move(pool),
                                       make_room);
  }

  // Waits for what was queued at the call before the last.
  void Throttle() override {
    at::cuda::CUDAEvent& next = events_[turn_++ % events_.size()];
    if (turn_ > events_.size()) next.synchronize();
    next.record(*stream_);
  }
  void Synchronize() override { stream_->synchronize(); }
  void Trim() override { c10::cuda::CUDACachingAllocator::emptyCache(); }

 private:
  // Random numbers may be a lane's own.
  cudaStream_t CurrentStream() const { return c10::cuda::getCurrentCUDAStream(index_).stream(); }
  // Of the GPU, that no allocator holds.
  int64_t UnclaimedBytes() const {
    size_t free = 0, total = 0;
    const c10::DeviceIndex before = c10::cuda::current_device();
    c10::cuda::set_device(index_);
    C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    c10::cuda::set_device(before);
    return static_cast<int64_t>(free);
  }
  int64_t CachedBytes() const {
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(index_);
    return stats.reserved_bytes[0].current - stats.allocated_bytes[0].current;
  }

  const c10::DeviceIndex index_;
  // Of all steps: they run one after another. libtorch ends a pool with the last graph in it and
  // lets no graph into it after that.
  std::weak_ptr<const at::cuda::MempoolId_t> pool_;
  std::string name_;
  std::optional<c10::cuda::CUDAStream> stream_;
  std::optional<CudaLaneQueues> queues_;
  std::array<at::cuda::CUDAEvent, 2> events_;
  size_t turn_ = 0;
};

}  // namespace
}  // namespace hopper

extern "C" hopper::LaneDevice* hopper_cuda_lane_device(int index, char* error, size_t error_size) {
  try {
    at::globalContext().lazyInitDevice(at::kCUDA);
    return new hopper::CudaLaneDevice(index);
  } catch (const c10::Error& e) {
    std::snprintf(error, error_size, "%s", e.what_without_backtrace());
  } catch (const std::exception& e) {
    std::snprintf(error, error_size, "%s", e.what());
  } catch (...) {
    std::snprintf(error, error_size, "unknown error");
  }
  return nullptr;
}
