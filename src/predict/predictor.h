// Prediction on worker threads: batches go in in order and come out in order.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/aligned.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/workers.h"
#include "data/dataset.h"
#include "model/weights/import.h"
#include "predict/backend.h"
#include "predict/forward_pass.h"

namespace hopper {

// How a predictor keeps within its memory.
struct PredictionPlan {
  int32_t rows = 0;     // examples in a batch
  int32_t batches = 0;  // that are submitted and not taken yet
  int64_t bytes = 0;    // what it all takes, weights included
};

// For one thread, the caller's.
class Predictor {
 public:
  // Weights, batches and tensors take at most `memory_limit` bytes; Error(kOutOfMemory) beyond.
  // `backend` outlives it.
  Predictor(const PredictionBackend& backend, std::string_view model_arch, int64_t n_weights,
            const DataDesc& data, int32_t threads, int64_t memory_limit, int32_t event_fd,
            const char* layer = nullptr);
  ~Predictor();  // joins; batches that were not taken are lost
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  int32_t n_outputs() const { return n_outputs_; }
  // The n_weights floats of Keras' get_weights() in pieces of any size, in order, before Plan().
  // Throws the users' message where one of them is not finite.
  void AddWeights(const float* weights, int64_t n) { import_->Add(weights, n); }
  // Once, before the first batch. `plan` comes with how many rows and batches are wanted and says
  // how many there may be: as many or fewer, and at least one; throws kOutOfMemory where there is
  // no room for that. Starts the threads, fewer where memory asks for it. What keeps to this plan
  // does not fail for the memory limit.
  void Plan(PredictionPlan* plan);
  // Frees its memory and ends its threads once it has not been used for so long. Then, or when it
  // is destroyed before, takes `bytes` off *counter (may be null), which other processes may share.
  void ExpireAfter(double seconds, int64_t* counter, int64_t bytes);
  // False: it has expired. Else a use, from which the time counts anew.
  bool Touch();
  // Memory for the examples of the next batch, as many as were planned, until it is submitted.
  uint8_t* Room();
  // Takes the bytes of `n` examples, within the plan: those in Room(), of others a copy. Where one
  // example at a time was planned and takes no longer than to wake a thread, it is computed here
  // and is ready then.
  void Submit(const void* x, size_t x_size, int32_t n);
  // True and the oldest batch's outputs, valid until the next call; false where it is not ready.
  // Throws what its computation threw.
  bool Take(const float** outputs, int32_t* n);

 private:
  using Clock = std::chrono::steady_clock;
  struct Job {
    Job(MemoryAccount* account, int64_t counted) : account_(account), bytes_(counted) {
      account_->Add(bytes_);
    }
    ~Job() { account_->Add(-bytes_); }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;
    // What `compute` throws is the job's failure.
    template <typename F>
    void Try(const PredictionBackend& backend, const F& compute) {
      try {
        compute();
      } catch (const Cancelled&) {
        cancelled = true;
      } catch (...) {
        failed = true;
        failure = backend.Describe();
      }
    }

    int32_t n = 0;
    AlignedArray<uint8_t> x;
    std::vector<float> outputs;
    bool cancelled = false;
    bool failed = false;
    Problem failure;
    bool done = false;

   private:
    MemoryAccount* account_;
    int64_t bytes_;
  };
  void Prepare(std::string_view model_arch, int64_t n_weights, const char* layer);
  int64_t BatchBytes(int32_t rows) const;
  // The job's outputs, of the bytes `x`.
  void Compute(const uint8_t* x, std::unique_ptr<ForwardPass>* forward, Job* job) const;
  void Work();
  // Null: the thread is to end.
  std::shared_ptr<Job> NextJob();
  void UsedLocked() { deadline_ = Clock::now() + idle_; }
  // On the last thread to end: what they all used.
  void FreeExpired();
  void GiveBack();

  const PredictionBackend& backend_;
  DataDesc data_;
  int32_t event_fd_;
  std::shared_ptr<const PlannedNetwork> network_;
  AlignedArray<float> flat_;
  std::optional<WeightsImport> import_;  // into flat_
  int32_t n_outputs_ = 0;
  int32_t threads_;
  int32_t rows_ = 0;     // of a batch; 0: nothing was planned
  int32_t batches_ = 0;  // that may be submitted and not taken
  OwnedAccount account_;
  bool at_once_ = false;               // Submit() computes
  std::unique_ptr<ForwardPass> here_;  // of at_once_; a thread frees it once it has expired
  std::shared_ptr<Job> taken_;         // owns what Take() handed out
  AlignedArray<uint8_t> room_;         // or empty

  std::mutex mutex_;  // guards all that follows
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> jobs_;     // all that were not taken
  size_t waiting_ = 0;                        // the last ones of them: nobody computes them yet
  std::vector<AlignedArray<uint8_t>> spare_;  // for the examples of later jobs, rows_ of them
  bool stop_ = false;
  int running_ = 0;    // jobs at a thread
  int n_threads_ = 0;  // that have not ended
  bool expires_ = false;
  bool expired_ = false;
  Clock::duration idle_{};
  Clock::time_point deadline_;
  int64_t* counter_ = nullptr;  // until it was given back
  int64_t counted_ = 0;

  Workers workers_;  // last: joined before anything above goes
};

}  // namespace hopper
