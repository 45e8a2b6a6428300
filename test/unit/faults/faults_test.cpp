// Every allocation of ours fails once, one after another: each time the C functions answer with an
// error or the run ends, nothing crashes or hangs, and no memory stays behind.
//
// Ours are those of code in this program, which the core is linked into; libtorch's are left alone.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>

#include "support/keras_models.h"
#include "support/run_driver.h"

extern "C" {
extern char __executable_start;
extern char etext;
void* __real_aligned_alloc(size_t alignment, size_t size);
void* __real_mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset);
void* __wrap_aligned_alloc(size_t alignment, size_t size);
void* __wrap_mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset);
}

namespace {

std::atomic<int64_t> countdown{0};  // the allocation at which it comes to 0 fails
std::atomic<int64_t> living{0};     // of ours

bool Fails() { return countdown.load() > 0 && countdown.fetch_sub(1) == 1; }

bool IsOurs(const void* caller) {
  const auto* at = static_cast<const char*>(caller);
  return at >= &__executable_start && at < &etext;
}

// Before each block of operator new: whether it is one of ours.
constexpr size_t kHeader = 64;

void* Allocate(size_t size, size_t alignment, const void* caller) {
  const bool ours = IsOurs(caller);
  if (ours && Fails()) return nullptr;
  const size_t before = std::max(alignment, kHeader);
  auto* block =
      static_cast<char*>(__real_aligned_alloc(before, (size + 2 * before - 1) / before * before));
  if (block == nullptr) return nullptr;
  char* at = block + before;
  at[-1] = ours ? 1 : 0;
  reinterpret_cast<size_t*>(at)[-2] = before;
  living += ours ? 1 : 0;
  return at;
}

void Free(void* pointer) {
  if (pointer == nullptr) return;
  char* at = static_cast<char*>(pointer);
  living -= at[-1];
  std::free(at - reinterpret_cast<size_t*>(at)[-2]);
}

void* AllocateOrThrow(size_t size, size_t alignment, const void* caller) {
  void* block = Allocate(size, alignment, caller);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

void* __wrap_aligned_alloc(size_t alignment, size_t size) {
  return Fails() ? nullptr : __real_aligned_alloc(alignment, size);
}
void* __wrap_mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  return Fails() ? MAP_FAILED : __real_mmap(address, size, protection, flags, fd, offset);
}

void* operator new(size_t size) { return AllocateOrThrow(size, 16, __builtin_return_address(0)); }
void* operator new[](size_t size) { return AllocateOrThrow(size, 16, __builtin_return_address(0)); }
void* operator new(size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, static_cast<size_t>(alignment), __builtin_return_address(0));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, static_cast<size_t>(alignment), __builtin_return_address(0));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return Allocate(size, 16, __builtin_return_address(0));
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return Allocate(size, 16, __builtin_return_address(0));
}
void operator delete(void* pointer) noexcept { Free(pointer); }
void operator delete[](void* pointer) noexcept { Free(pointer); }
void operator delete(void* pointer, size_t) noexcept { Free(pointer); }
void operator delete[](void* pointer, size_t) noexcept { Free(pointer); }
void operator delete(void* pointer, std::align_val_t) noexcept { Free(pointer); }
void operator delete[](void* pointer, std::align_val_t) noexcept { Free(pointer); }
void operator delete(void* pointer, size_t, std::align_val_t) noexcept { Free(pointer); }
void operator delete[](void* pointer, size_t, std::align_val_t) noexcept { Free(pointer); }
void operator delete(void* pointer, const std::nothrow_t&) noexcept { Free(pointer); }
void operator delete[](void* pointer, const std::nothrow_t&) noexcept { Free(pointer); }

namespace hopper {
namespace {

constexpr int kHangs = -1;

// Fails each allocation of `body` in turn; the driver's own are spared by Watched. `body` returns
// 0, an error code, or kHangs.
void FailEach(const std::function<int()>& body) {
  ASSERT_EQ(body(), 0);
  ASSERT_EQ(body(), 0);
  const int64_t before = living.load();
  int errors = 0;
  int64_t n = 1;
  for (;; ++n) {
    countdown.store(n);
    const int code = body();
    const bool failed = countdown.exchange(0) <= 0;
    ASSERT_NE(code, kHangs) << "allocation " << n;
    errors += code != 0 ? 1 : 0;
    ASSERT_LE(living.load(), before + 8) << "allocation " << n;
    if (!failed) break;
  }
  EXPECT_GT(errors, 10);
  ASSERT_EQ(body(), 0);
  testing::Test::RecordProperty("allocations", static_cast<int>(n));
  std::printf("%d allocations, %d errors\n", static_cast<int>(n), errors);
}

// Waits for what a handle's eventfd announces; false: ten seconds were not enough.
bool Wait(const EventFd& fd) {
  pollfd poll_fd = {fd.fd(), POLLIN, 0};
  if (poll(&poll_fd, 1, 10000) != 1) return false;
  uint64_t count = 0;
  return read(fd.fd(), &count, sizeof(count)) > 0;
}

// Tables and texts are made once, before anything fails.
class Faults : public ::testing::Test {
 protected:
  Faults() : table_(Options()) {
    arch_ = KerasSequential({KerasDense("first", 8, "relu", "\"batch_input_shape\": [null, 6]"),
                             KerasLayer("Dropout", "drop", "\"rate\": 0.3"),
                             KerasDense("last", 3, "softmax")});
    config_.mst_key = 1;
    config_.model_arch = arch_.data();
    config_.model_arch_size = arch_.size();
    config_.compile_params =
        "loss='sparse_categorical_crossentropy', optimizer='Adam()', metrics=['accuracy']";
    config_.fit_params =
        "batch_size=8, callbacks=[EarlyStopping(monitor='loss', patience=1,"
        " restore_best_weights=True)]";
  }
  static PackedTable::Options Options() {
    PackedTable::Options options;
    options.x_shape = {6};
    options.rows = 40;
    options.partitions = 2;
    return options;
  }

  hopper_run_options RunOptions() {
    hopper_run_options options = {};
    options.seed = 1;
    options.num_iterations = 2;
    options.metrics_compute_frequency = 1;
    options.training_metrics = HOPPER_METRICS_FINAL;
    options.threads = 1;
    options.memory_limit = limit_;
    options.precision = "fp32";
    options.event_fd = fd_.fd();
    return options;
  }

  int Load(hopper_run* run, int32_t split, int32_t partition) {
    for (const hopper_buffer& buffer : table_.buffers(static_cast<hopper_split>(split))) {
      if (partition >= 0 && buffer.partition_id != partition) continue;
      if (const int code = Api().run_add_buffer(run, &buffer, &error_); code != 0) return code;
    }
    return partition < 0 ? 0 : Api().run_end_load(run, split, partition, &error_);
  }

  int PushStates(hopper_run* run) {
    int32_t key = 0;
    while (Api().run_wanted_state(run, &key) == 1) {
      const int code = Api().run_add_state(run, key, state_.data(), state_.size(), &error_);
      if (code != 0) return code;
    }
    return 0;
  }

  int Take(hopper_run* run, int32_t key) {
    hopper_model_result result;
    int code = Api().run_result(run, key, &result, &error_);
    if (code != 0 || result.status != HOPPER_MODEL_DONE) return code;
    static uint8_t bytes[1000];
    size_t taken = 1;
    size_t size = 0;
    while (code == 0 && taken > 0) {
      code = Api().run_take_state(run, key, bytes, sizeof(bytes), &taken, &error_);
      if (code != 0) return code;
      if (keep_ && size + taken <= state_.size()) {
        std::copy_n(bytes, taken, state_.data() + size);
      }
      size += taken;
    }
    if (keep_) kept_ = size;
    static float weights[4096];
    return Api().run_take_weights(run, key, weights, result.n_weights, &error_);
  }

  int Drive(hopper_run* run) {
    for (int32_t key = 1; key <= 3; ++key) {
      config_.mst_key = key;
      config_.state_size = key == 2 && warm_ ? state_.size() : 0;
      if (const int code = Api().run_add_config(run, &config_, &error_); code != 0) return code;
    }
    hopper_data_plan plan;
    if (const int code = Api().run_plan_data(run, &plan, &error_); code != 0) return code;
    if (const int code = PushStates(run); code != 0) return code;
    if (plan.resident == 1) {
      if (const int code = Load(run, HOPPER_SPLIT_TRAIN, -1); code != 0) return code;
    }
    if (const int code = Api().run_start(run, &error_); code != 0) return code;
    bool taken[4] = {};
    for (;;) {
      hopper_event event;
      while (Api().run_next_event(run, &event) == 1) {
        int code = 0;
        if (event.type == HOPPER_EVENT_LOAD) code = Load(run, event.split, event.partition);
        if (event.type == HOPPER_EVENT_STATE) code = PushStates(run);
        if (event.type == HOPPER_EVENT_MODEL_DONE && event.take == 1) {
          taken[event.mst_key] = true;
          code = Take(run, event.mst_key);
        }
        if (code != 0) return code;
        if (event.type != HOPPER_EVENT_FINISHED) continue;
        for (int32_t key = 1; key <= 3 && code == 0; ++key) {
          if (!taken[key]) code = Take(run, key);
        }
        return code;
      }
      if (!Wait(fd_)) return kHangs;
    }
  }

  int Run() {
    hopper_run* run = nullptr;
    const hopper_run_options options = RunOptions();
    int code = Api().run_create(&options, &table_.desc(), nullptr, &run, &error_);
    if (code == 0) code = Drive(run);
    Api().run_free(run);
    return code;
  }

  PackedTable table_;
  std::string arch_;
  hopper_config config_ = {};
  hopper_error error_ = {};
  EventFd fd_;
  int64_t limit_ = int64_t{1} << 30;
  bool warm_ = false;
  bool keep_ = false;
  size_t kept_ = 0;
  std::vector<uint8_t> state_ = std::vector<uint8_t>(1 << 16);
};

TEST_F(Faults, ARun) {
  FailEach([this] { return Run(); });
}

TEST_F(Faults, ARunWhoseModelsWaitAndStartWarm) {
  keep_ = true;
  ASSERT_EQ(Run(), 0);
  keep_ = false;
  state_.resize(kept_);
  warm_ = true;
  // Room for one of the three.
  limit_ = 60000;
  FailEach([this] { return Run(); });
}

TEST_F(Faults, AnEvaluation) {
  keep_ = true;
  ASSERT_EQ(Run(), 0);
  state_.resize(kept_);
  hopper_config config = config_;
  config.state = state_.data();
  config.state_size = state_.size();
  const auto evaluate = [&](hopper_evaluation* evaluation) {
    for (const hopper_buffer& buffer : table_.buffers(HOPPER_SPLIT_TRAIN)) {
      const int code = Api().evaluation_add_buffer(evaluation, &buffer, &error_);
      if (code != 0) return code;
    }
    if (const int code = Api().evaluation_start(evaluation, &error_); code != 0) return code;
    for (;;) {
      hopper_event event;
      const int done = Api().evaluation_poll(evaluation, &event, &error_);
      if (done != 0) return done == 1 ? 0 : 1;
      if (!Wait(fd_)) return kHangs;
    }
  };
  FailEach([&] {
    hopper_evaluation* evaluation = nullptr;
    int code = Api().evaluation_create(&config, &table_.desc(), 1, fd_.fd(), &evaluation, &error_);
    if (code == 0) code = evaluate(evaluation);
    Api().evaluation_free(evaluation);
    return code;
  });
}

}  // namespace
}  // namespace hopper
