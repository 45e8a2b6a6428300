// Drives a run of the C function table as the glue does.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model_hopper/torch.h"
#include "support/packed_table.h"

extern "C" const hopper_torch_api* hopper_torch_api_get(int32_t version);

namespace hopper {

inline const hopper_torch_api& Torch() { return *hopper_torch_api_get(HOPPER_API_VERSION); }
inline const hopper_engine_api*& DrivenEngine() {
  static const hopper_engine_api* engine = &Torch().engine;
  return engine;
}
inline const hopper_engine_api& Api() { return *DrivenEngine(); }

// While it lives, drivers take this engine.
class EngineScope {
 public:
  explicit EngineScope(const hopper_engine_api& engine) { DrivenEngine() = &engine; }
  ~EngineScope() { DrivenEngine() = &Torch().engine; }
  EngineScope(const EngineScope&) = delete;
  EngineScope& operator=(const EngineScope&) = delete;
};

struct Configuration {
  int32_t key = 1;
  std::string arch;
  std::string compile;
  std::string fit;
  std::vector<uint8_t> state;
  std::vector<float> weights;
};

struct RunOptions {
  uint64_t seed = 42;
  int32_t iterations = 2;
  int32_t frequency = 1;
  int32_t validation_frequency = 0;  // as frequency
  hopper_training_metrics training_metrics = HOPPER_METRICS_FINAL;
  int32_t threads = 2;
  std::vector<int32_t> starts = {0, 1, 2, 3};
  int64_t memory_limit = int64_t{1} << 30;
  int32_t mix_numerics = 0;
  std::string precision = "fp32";
  int32_t threads_per_model = 0;
  int32_t use_gpus = 0;
  std::vector<int32_t> gpus;
  int32_t fuse = 1;
};

// It points at what `options` holds.
inline hopper_run_options ToC(const RunOptions& options, int event_fd) {
  hopper_run_options raw = {};
  raw.seed = options.seed;
  raw.num_iterations = options.iterations;
  raw.metrics_compute_frequency = options.frequency;
  raw.validation_freq = options.validation_frequency;
  raw.training_metrics = options.training_metrics;
  raw.threads = options.threads;
  raw.n_starts = static_cast<int32_t>(options.starts.size());
  raw.starts = options.starts.data();
  raw.memory_limit = options.memory_limit;
  raw.precision = options.precision.c_str();
  raw.use_gpus = options.use_gpus;
  raw.n_gpus = static_cast<int32_t>(options.gpus.size());
  raw.gpus = options.gpus.data();
  raw.fuse = options.fuse;
  raw.mix_numerics = options.mix_numerics;
  raw.threads_per_model = options.threads_per_model;
  raw.event_fd = event_fd;
  return raw;
}

struct ModelResult {
  hopper_model_result raw = {};
  std::vector<uint8_t> state;
  std::vector<float> weights;
  std::string digest;
};

// An error of the API.
struct DriverError : std::runtime_error {
  explicit DriverError(const hopper_error& error)
      : std::runtime_error(error.message), detail(error.detail), hint(error.hint) {}
  std::string detail;
  std::string hint;
};

// An eventfd that is closed at the end.
class EventFd {
 public:
  EventFd() : fd_(eventfd(0, EFD_NONBLOCK)) {}
  ~EventFd() { close(fd_); }
  EventFd(const EventFd&) = delete;
  EventFd& operator=(const EventFd&) = delete;
  int fd() const { return fd_; }
  // Sleeps until it is written to.
  void Wait() const {
    pollfd poll_fd = {fd_, POLLIN, 0};
    if (poll(&poll_fd, 1, 60000) != 1) throw std::runtime_error("no event came in a minute");
    uint64_t count = 0;
    if (read(fd_, &count, sizeof(count)) < 0) throw std::runtime_error("eventfd cannot be read");
  }

 private:
  int fd_;
};

// A run from create to free; an error of the API is a DriverError.
class RunDriver {
 public:
  RunDriver(const RunOptions& options, const PackedTable& train, const PackedTable* valid) {
    Create(options, train, valid);
    PushAll(train, valid);
  }
  // Without data: Plan() tells whether to push them.
  struct Planned {};
  RunDriver(Planned /*unused*/, const RunOptions& options, const PackedTable& train,
            const PackedTable* valid)
      : train_(&train), valid_(valid), pieces_(true) {
    Create(options, train, valid);
  }
  ~RunDriver() { Api().run.free(run_); }
  RunDriver(const RunDriver&) = delete;
  RunDriver& operator=(const RunDriver&) = delete;

  void AddBuffer(const hopper_buffer& buffer) {
    Check(Api().run.add_buffer(run_, &buffer, &error_));
  }
  // Its stored state comes in pieces, when it is asked for.
  void AddConfig(const Configuration& config) {
    const Configuration& kept = configs_.emplace_back(config);
    hopper_config raw = {};
    raw.mst_key = kept.key;
    raw.model_arch = kept.arch.data();
    raw.model_arch_size = kept.arch.size();
    raw.compile_params = kept.compile.c_str();
    raw.fit_params = kept.fit.c_str();
    raw.weights = kept.weights.empty() ? nullptr : kept.weights.data();
    raw.n_weights = static_cast<int64_t>(kept.weights.size());
    raw.state = kept.state.empty() || pieces_ ? nullptr : kept.state.data();
    raw.state_size = kept.state.size();
    Check(Api().run.add_config(run_, &raw, &error_));
  }
  // After the configurations. Where all data stay, pushes them.
  hopper_data_plan Plan() {
    hopper_data_plan plan = {};
    Check(Api().run.plan_data(run_, &plan, &error_));
    AddStates();
    if (plan.resident == 1) PushAll(*train_, valid_);
    return plan;
  }
  // All that are wanted, in pieces of odd sizes.
  void AddStates() {
    int32_t key = 0;
    while (Api().run.wanted_state(run_, &key) == 1) {
      ++states_added_;
      for (const Configuration& config : configs_) {
        if (config.key != key) continue;
        size_t piece = 1;
        for (size_t at = 0; at < config.state.size(); at += piece) {
          piece = std::min(piece * 7, config.state.size() - at);
          Check(Api().run.add_state(run_, key, config.state.data() + at, piece, &error_));
        }
      }
    }
  }
  int states_added() const { return states_added_; }
  hopper_run* raw() { return run_; }
  // What HOPPER_EVENT_LOAD asks for.
  void Load(const hopper_event& event) {
    const PackedTable& table = event.split == HOPPER_SPLIT_VALID ? *valid_ : *train_;
    for (const hopper_buffer& buffer : table.buffers(static_cast<hopper_split>(event.split))) {
      if (buffer.partition_id == event.partition) AddBuffer(buffer);
    }
    EndLoad(event.split, event.partition);
  }
  void EndLoad(int32_t split, int32_t partition) {
    Check(Api().run.end_load(run_, split, partition, &error_));
  }
  void TakeTurnsWith(const RunDriver& other) {
    Check(Api().run.take_turns(run_, other.run_, &error_));
  }
  void Start() { Check(Api().run.start(run_, &error_)); }
  // --- a run that models enter and leave
  void StayOpen() { Check(Api().run.stay_open(run_, &error_)); }
  void Close() { Check(Api().run.close(run_, &error_)); }
  // Takes the results that are in the way, which come back as stored states. `done`: iterations of
  // this run that the stored state has behind it.
  void GoOn(int32_t key, int32_t iterations, bool restart = false, int32_t done = 0) {
    const hopper_stint stint = {key, iterations, restart ? 1 : 0, done};
    for (;;) {
      int32_t must_take = 0;
      int32_t take = 0;
      Check(Api().run.go_on(run_, &stint, &must_take, &take, &error_));
      if (must_take == 0) break;
      PutAside(take);
    }
    results_.erase(key);
  }
  // Nothing where that was done already: an event may come after it.
  void PutAside(int32_t key) {
    if (results_.count(key) != 0) return;
    ++put_aside_;
    const std::vector<uint8_t> state = Result(key).state;
    for (Configuration& config : configs_) {
      if (config.key == key) config.state = state;
    }
  }
  int put_aside() const { return put_aside_; }
  bool IsPutAside(int32_t key) const { return results_.count(key) != 0; }
  void HaltForCheckpoints(bool all = false) {
    Check(Api().run.halt_for_checkpoints(run_, all ? 1 : 0, &error_));
  }
  void HaltEach(bool each) { Check(Api().run.halt_each(run_, each ? 1 : 0, &error_)); }
  void Release(int32_t key) { Check(Api().run.release(run_, key, &error_)); }
  // Of a model that has halted or is done; it keeps its state.
  std::vector<uint8_t> CopyState(int32_t key) {
    std::vector<uint8_t> state;
    size_t size = 1;
    for (size_t taken = 1; taken > 0;) {
      std::vector<uint8_t> bytes(size = std::min<size_t>(size * 5, 1 << 20));
      Check(Api().run.copy_state(run_, key, bytes.data(), bytes.size(), &taken, &error_));
      state.insert(state.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
    }
    return state;
  }
  // What is known of a model by now.
  hopper_model_result Peek(int32_t key) {
    hopper_model_result result = {};
    Check(Api().run.result(run_, key, &result, &error_));
    return result;
  }
  std::vector<float> CopyWeights(int32_t key, int64_t n) {
    std::vector<float> weights(static_cast<size_t>(n));
    Check(Api().run.copy_weights(run_, key, weights.data(), n, &error_));
    return weights;
  }
  void SetIterations(int32_t key, int32_t more) {
    Check(Api().run.set_iterations(run_, key, more, &error_));
  }
  void Cancel() { Api().run.cancel(run_); }
  // Events up to and with FINISHED; loads what is asked for. Cancels after so many of them (-1:
  // never).
  std::vector<hopper_event> WaitToEnd(int cancel_after = -1) {
    std::vector<hopper_event> events;
    if (cancel_after == 0) Cancel();
    for (;;) {
      hopper_event event = {};
      TakeVisits();
      while (Api().run.next_event(run_, &event) == 1) {
        events.push_back(event);
        if (static_cast<int>(events.size()) == cancel_after) Cancel();
        if (event.type == HOPPER_EVENT_FINISHED) return events;
        if (event.type == HOPPER_EVENT_LOAD) Load(event);
        if (event.type == HOPPER_EVENT_STATE) AddStates();
        if (event.type == HOPPER_EVENT_MODEL_DONE && event.take == 1) Result(event.mst_key);
      }
      event_fd_.Wait();
    }
  }
  // All that were not taken before, by a call of this.
  std::vector<hopper_visit> Visits() {
    TakeVisits();
    return std::move(visits_);
  }
  bool NextEvent(hopper_event* event) { return Api().run.next_event(run_, event) == 1; }
  void WaitForEvent() { event_fd_.Wait(); }
  ModelResult Result(int32_t key) {
    ModelResult& result = results_[key];
    Check(Api().run.result(run_, key, &result.raw, &error_));
    if (result.raw.status == HOPPER_MODEL_DONE && result.weights.empty()) {
      size_t size = 1;
      for (size_t taken = 1; taken > 0;) {
        std::vector<uint8_t> bytes(size = std::min<size_t>(size * 3, 1 << 20));
        Check(Api().run.take_state(run_, key, bytes.data(), bytes.size(), &taken, &error_));
        result.state.insert(result.state.end(), bytes.begin(),
                            bytes.begin() + static_cast<std::ptrdiff_t>(taken));
      }
      result.weights.resize(static_cast<size_t>(result.raw.n_weights));
      Check(
          Api().run.take_weights(run_, key, result.weights.data(), result.raw.n_weights, &error_));
      Check(Api().run.result(run_, key, &result.raw, &error_));
    }
    result.digest = result.raw.digest;
    return result;
  }
  hopper_run_info Info() {
    hopper_run_info info = {};
    Api().run.get_info(run_, &info);
    return info;
  }
  const hopper_error& error() const { return error_; }

 private:
  void TakeVisits() {
    hopper_visit some[7];
    for (int32_t n = 0; (n = Api().run.next_visits(run_, some, 7)) > 0;) {
      visits_.insert(visits_.end(), some, some + n);
    }
  }
  void Check(int code) {
    if (code != 0) throw DriverError(error_);
  }
  void Create(const RunOptions& options, const PackedTable& train, const PackedTable* valid) {
    const hopper_run_options raw = ToC(options, event_fd_.fd());
    Check(Api().run.create(&raw, &train.desc(), valid == nullptr ? nullptr : &valid->desc(), &run_,
                           &error_));
  }
  void PushAll(const PackedTable& train, const PackedTable* valid) {
    for (const hopper_buffer& buffer : train.buffers(HOPPER_SPLIT_TRAIN)) AddBuffer(buffer);
    if (valid == nullptr) return;
    for (const hopper_buffer& buffer : valid->buffers(HOPPER_SPLIT_VALID)) AddBuffer(buffer);
  }

  EventFd event_fd_;
  const PackedTable* train_ = nullptr;
  const PackedTable* valid_ = nullptr;
  bool pieces_ = false;  // states come when they are wanted
  std::deque<Configuration> configs_;
  std::map<int32_t, ModelResult> results_;
  int states_added_ = 0;
  int put_aside_ = 0;
  std::vector<hopper_visit> visits_;
  hopper_run* run_ = nullptr;
  hopper_error error_ = {};
};

// The loss and metrics of evaluations, by model, iteration and split.
using Reports = std::map<std::tuple<int, int, int>, std::vector<double>>;
inline Reports ReportsOf(const std::vector<hopper_event>& events) {
  Reports reports;
  for (const hopper_event& event : events) {
    if (event.type != HOPPER_EVENT_METRICS || event.running != 0) continue;
    std::vector<double> values = {event.loss};
    values.insert(values.end(), event.metrics, event.metrics + event.n_metrics);
    EXPECT_TRUE(
        reports.emplace(std::make_tuple(event.mst_key, event.iteration, event.split), values)
            .second);
  }
  return reports;
}

// Trains `configs` to the end.
inline std::map<int32_t, ModelResult> TrainAll(const RunOptions& options,
                                               const std::vector<Configuration>& configs,
                                               const PackedTable& train,
                                               const PackedTable* valid = nullptr,
                                               std::vector<hopper_event>* events = nullptr) {
  RunDriver run(options, train, valid);
  for (const Configuration& config : configs) run.AddConfig(config);
  run.Start();
  const std::vector<hopper_event> all = run.WaitToEnd();
  if (events != nullptr) *events = all;
  std::map<int32_t, ModelResult> results;
  for (const Configuration& config : configs) results[config.key] = run.Result(config.key);
  return results;
}

}  // namespace hopper
