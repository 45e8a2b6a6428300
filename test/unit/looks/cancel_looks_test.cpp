// How many bytes are copied, zeroed and summed up between two looks at cancel: of states, which
// have gigabytes, a piece at most, on the server's thread and on workers.
//
// Counted are the calls of memcpy() and the like in all of our code, which the linker sends here,
// and those of Hasher; not a helper's own account. On the thread that drives, what the calls of the
// C table do; what the test does between them is its own.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/hash.h"
#include "base/pieces.h"
#include "engine/segments/group.h"
#include "model_hopper/cancel.h"
#include "support/keras_models.h"
#include "support/run_driver.h"

namespace {

std::atomic<size_t> most{0};
std::atomic<int64_t> looks{0};
std::atomic<void (*)(int64_t)> at_look{nullptr};
thread_local size_t since_look = 0;
thread_local bool counts = true;  // false: the test's own

void Count(size_t bytes) {
  if (!counts) return;
  since_look += bytes;
  size_t before = most.load();
  while (since_look > before && !most.compare_exchange_weak(before, since_look)) {
  }
}

void Look() {
  since_look = 0;
  const int64_t n = ++looks;
  if (const auto hook = at_look.load()) hook(n);
}

}  // namespace

extern "C" {
void* __real_memcpy(void* to, const void* from, size_t n);
void* __real_memmove(void* to, const void* from, size_t n);
void* __real_memset(void* to, int value, size_t n);
void* __wrap_memcpy(void* to, const void* from, size_t n);
void* __wrap_memmove(void* to, const void* from, size_t n);
void* __wrap_memset(void* to, int value, size_t n);
void* __wrap_memcpy(void* to, const void* from, size_t n) {
  Count(n);
  return __real_memcpy(to, from, n);
}
void* __wrap_memmove(void* to, const void* from, size_t n) {
  Count(n);
  return __real_memmove(to, from, n);
}
void* __wrap_memset(void* to, int value, size_t n) {
  Count(n);
  return __real_memset(to, value, n);
}
// hopper::Hasher::Add() and hopper::Hash()
void __real__ZN6hopper6Hasher3AddEPKvm(hopper::Hasher* hasher, const void* data, size_t n);
void __wrap__ZN6hopper6Hasher3AddEPKvm(hopper::Hasher* hasher, const void* data, size_t n);
void __wrap__ZN6hopper6Hasher3AddEPKvm(hopper::Hasher* hasher, const void* data, size_t n) {
  Count(n);
  __real__ZN6hopper6Hasher3AddEPKvm(hasher, data, n);
}
}

namespace hopper {
namespace {

// A piece of new memory is zeroed, then filled; little things come beside it.
constexpr size_t kMost = 2 * kPieceBytes + (size_t{4} << 20);
constexpr int kInputs = 3300;
constexpr int kUnits = 3200;

// Weights of 42 MB, more than that; with slots and the best weights five times as much.
class CancelLooks : public ::testing::Test {
 protected:
  CancelLooks() : table_(TableOptions()) {
    counts = false;
    config_.arch = KerasSequential(
        {KerasDense("first", kUnits, "relu",
                    "\"batch_input_shape\": [null, " + std::to_string(kInputs) + "]"),
         KerasDense("last", 3, "softmax")});
    config_.compile =
        "loss='sparse_categorical_crossentropy', optimizer='Adam(use_ema=True)',"
        " metrics=['accuracy']";
    config_.fit = "batch_size=8, patience=5, monitor='val_loss', restore_best=True";
    options_.iterations = 2;
    options_.threads = 1;
    options_.starts = {0};
    options_.memory_limit = int64_t{4} << 30;
    ObserveLooks(Look);
    most = 0;
    looks = 0;
  }
  ~CancelLooks() override {
    at_look = nullptr;
    ObserveLooks(nullptr);
    AskForCancel(nullptr);
    counts = true;
  }
  static PackedTable::Options TableOptions() {
    PackedTable::Options options;
    options.x_shape = {kInputs};
    options.rows = 16;
    options.partitions = 2;
    options.rows_per_buffer = 8;
    return options;
  }
  hopper_config Raw() const {
    hopper_config raw = {};
    raw.mst_key = config_.key;
    raw.model_arch = config_.arch.data();
    raw.model_arch_size = config_.arch.size();
    raw.compile_params = config_.compile.c_str();
    raw.fit_params = config_.fit.c_str();
    raw.weights = config_.weights.empty() ? nullptr : config_.weights.data();
    raw.n_weights = static_cast<int64_t>(config_.weights.size());
    raw.state = config_.state.empty() ? nullptr : config_.state.data();
    raw.state_size = config_.state.size();
    return raw;
  }

  // A call of the C table, all of which counts.
  static int Counted(const std::function<int()>& call) {
    since_look = 0;
    counts = true;
    const int code = call();
    counts = false;
    return code;
  }
  static void ExpectLooked() {
    EXPECT_LE(most.load(), kMost);
    EXPECT_GT(looks.load(), 0);
  }

  // Trains, and takes the state and the weights in one call each.
  ModelResult Train(hopper_run* run, RunDriver* driver) {
    driver->Start();
    driver->WaitToEnd();
    hopper_error error = {};
    ModelResult result;
    EXPECT_EQ(Api().run.result(run, 1, &result.raw, &error), 0) << error.message;
    EXPECT_EQ(result.raw.status, HOPPER_MODEL_DONE) << result.raw.error;
    result.state.resize(result.raw.state_size);
    result.weights.resize(static_cast<size_t>(result.raw.n_weights));
    size_t taken = 0;
    EXPECT_EQ(Counted([&] {
                return Api().run.take_state(run, 1, result.state.data(), result.state.size(),
                                            &taken, &error);
              }),
              0);
    EXPECT_EQ(taken, result.state.size());
    uint8_t none = 0;
    EXPECT_EQ(Counted([&] { return Api().run.take_state(run, 1, &none, 1, &taken, &error); }), 0);
    EXPECT_EQ(Counted([&] {
                return Api().run.take_weights(run, 1, result.weights.data(), result.raw.n_weights,
                                              &error);
              }),
              0);
    return result;
  }

  // A segment that has all data; its handle.
  hopper_group* Segment() {
    hopper_run_options raw = {};
    raw.seed = options_.seed;
    raw.num_iterations = options_.iterations;
    raw.metrics_compute_frequency = 1;
    raw.training_metrics = HOPPER_METRICS_FINAL;
    raw.threads = 1;
    raw.n_starts = 1;
    raw.starts = options_.starts.data();
    raw.memory_limit = options_.memory_limit;
    raw.precision = "fp32";
    raw.event_fd = fd_.fd();
    const std::vector<int32_t> keys = {1, 1};
    const hopper_config config = Raw();
    hopper_group* group = nullptr;
    hopper_error error = {};
    EXPECT_EQ(Api().group.create(&raw, &table_.desc(), &table_.desc(), keys.data(), keys.data(), 1,
                                 &group, &error),
              0);
    EXPECT_EQ(Api().group.enter(group, &config, 2, 0, &error), 0);
    for (const auto split : {HOPPER_SPLIT_TRAIN, HOPPER_SPLIT_VALID}) {
      for (const hopper_buffer& buffer : table_.buffers(split)) {
        EXPECT_EQ(Api().group.add_buffer(group, &buffer, &error), 0);
      }
    }
    EXPECT_EQ(Api().group.check_data(group, &error), 0);
    return group;
  }
  // A hop of the model, in parts of a few MB; the code of what failed.
  int Visit(hopper_group* group, std::vector<uint8_t>* bytes) {
    hopper_error error = {};
    constexpr size_t kPart = size_t{7} << 20;
    const auto n = static_cast<int32_t>((bytes->size() + kPart - 1) / kPart);
    int32_t later = 0;
    for (int32_t part = 0; part < n; ++part) {
      const size_t at = static_cast<size_t>(part) * kPart;
      const size_t size = std::min(kPart, bytes->size() - at);
      const int code = Counted([&] {
        return Api().group.add_part(group, 1, part, n, bytes->data() + at, size, &later, &error);
      });
      if (code != 0) return code;
    }
    if (const int code = Counted([&] { return Api().group.start(group, 0, 0, &error); });
        code != 0) {
      return code;
    }
    int done = 0;
    while ((done = Api().group.poll(group, &error)) == 0) fd_.Wait();
    if (done != 1) return error.code;
    bytes->clear();
    hopper_group_part out = {};
    while (Counted([&] { return Api().group.next_part(group, &out, &error); }) == 1) {
      if (out.part >= 0) bytes->insert(bytes->end(), out.bytes, out.bytes + out.size);
    }
    return 0;
  }

  PackedTable table_;
  Configuration config_;
  RunOptions options_;
  EventFd fd_;
};

TEST_F(CancelLooks, InARunItsWarmStartAndOneWithWeights) {
  ModelResult first;
  {
    RunDriver run(options_, table_, &table_);
    run.AddConfig(config_);
    first = Train(run.raw(), &run);
  }
  ExpectLooked();
  hopper_error error = {};
  for (const bool warm : {true, false}) {
    config_.state = warm ? first.state : std::vector<uint8_t>();
    config_.weights = warm ? std::vector<float>() : first.weights;
    const hopper_config raw = Raw();
    RunDriver run(options_, table_, &table_);
    ASSERT_EQ(Counted([&] { return Api().run.add_config(run.raw(), &raw, &error); }), 0)
        << error.message;
    Train(run.raw(), &run);
    ExpectLooked();
  }
}

TEST_F(CancelLooks, OnASegmentInEveryHopAndAtTheEnd) {
  std::vector<uint8_t> bytes = {HOPPER_ENVELOPE_NEW};
  hopper_group* group = Segment();
  EXPECT_EQ(Visit(group, &bytes), 0);
  EXPECT_EQ(Visit(group, &bytes), 0);
  EXPECT_GT(bytes.size(), size_t{60} << 20);
  ExpectLooked();
  // From that state, and from weights.
  std::vector<uint8_t> state = {HOPPER_ENVELOPE_STATE};
  state.insert(state.end(), bytes.begin(), bytes.end());
  std::vector<uint8_t> weights = {HOPPER_ENVELOPE_WEIGHTS};
  weights.resize(1 + sizeof(float) * (kInputs * kUnits + kUnits + 3 * kUnits + 3));
  Api().group.free(group);
  for (std::vector<uint8_t>* begin : {&state, &weights}) {
    group = Segment();
    EXPECT_EQ(Visit(group, begin), 0);
    Api().group.free(group);
    ExpectLooked();
  }
}

// Where a cancel is heard, whichever look it is.
hopper_group* cancelled = nullptr;
std::atomic<int64_t> cancel_at{0};
std::atomic<bool> asked{false};

TEST_F(CancelLooks, ASegmentEndsAtWhicheverLook) {
  std::vector<uint8_t> begin = {HOPPER_ENVELOPE_NEW};
  hopper_group* group = Segment();
  ASSERT_EQ(Visit(group, &begin), 0);
  const int64_t before = looks.load();
  std::vector<uint8_t> bytes = begin;
  ASSERT_EQ(Visit(group, &bytes), 0);
  const int64_t n = looks.load() - before;
  Api().group.free(group);
  ASSERT_GT(n, 20);
  // As the server does: its own thread answers a question, those of the handle have a flag.
  AskForCancel([] { return asked.load() ? 1 : 0; });
  int ended = 0;
  for (int64_t at = 1; at <= n; at += 1 + n / 10) {
    group = Segment();
    looks = 0;
    cancelled = group;
    cancel_at = at;
    asked = false;
    at_look = [](int64_t look) {
      if (look != cancel_at.load()) return;
      asked.store(true);
      reinterpret_cast<Group*>(cancelled)->Cancel();  // which it derives from
    };
    bytes = begin;
    const int code = Visit(group, &bytes);
    at_look = nullptr;
    EXPECT_TRUE(code == 0 || code == HOPPER_CANCELLED) << code;
    if (code == HOPPER_CANCELLED || bytes.empty()) ++ended;
    EXPECT_LE(looks.load(), at + 3) << at;  // where an API call begins and the like
    Api().group.free(group);
    asked = false;
  }
  EXPECT_GT(ended, 7);
}

}  // namespace
}  // namespace hopper
