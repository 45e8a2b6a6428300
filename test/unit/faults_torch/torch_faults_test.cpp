// Every allocation of a run, a warm start, a search, segments, an evaluation and a prediction
// fails, libtorch's among them, one after another: each time the C functions answer with an error
// or the work ends as ever, nothing crashes or hangs, and no memory stays behind.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "support/failing_memory.h"
#include "support/keras_models.h"
#include "support/run_driver.h"

namespace {
std::atomic<int> thread_that_fails{0};
}

// Instead of the C library's, which it calls; the C++ library finds it here.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*body)(void*), void* argument) {
  if (thread_that_fails > 0 && --thread_that_fails == 0) return EAGAIN;
  static const auto create =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, body, argument);
}

namespace hopper {
namespace {

constexpr int kHangs = -1;
constexpr int kStrangeMessage = -2;

void Mix(const void* bytes, size_t size, uint64_t* sum) {
  for (size_t i = 0; i < size; ++i) {
    *sum = (*sum ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3U;
  }
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
  static constexpr int32_t kModels = 3;

  Faults() : table_(Options()) {
    for (int split = 0; split < 2; ++split) {
      buffers_[split] = table_.buffers(static_cast<hopper_split>(split));
    }
    arch_ = KerasSequential({KerasDense("first", 8, "relu", "\"batch_input_shape\": [null, 6]"),
                             KerasLayer("Dropout", "drop", "\"rate\": 0.3"),
                             KerasDense("last", 3, "softmax")});
    config_.model_arch = arch_.data();
    config_.model_arch_size = arch_.size();
    config_.compile_params =
        "loss='sparse_categorical_crossentropy', optimizer='Adam()', metrics=['accuracy']";
    config_.fit_params =
        "batch_size=8, callbacks=[EarlyStopping(monitor='val_loss', patience=1,"
        " restore_best_weights=True)]";
    state_.resize(1 << 16);
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
    for (const hopper_buffer& buffer : buffers_[split]) {
      if (partition >= 0 && buffer.partition_id != partition) continue;
      if (const int code = Api().run.add_buffer(run, &buffer, &error_); code != 0) return code;
    }
    if (partition < 0) return 0;
    ++loads_;
    return Api().run.end_load(run, split, partition, &error_);
  }

  int PushStates(hopper_run* run) {
    int32_t key = 0;
    while (Api().run.wanted_state(run, &key) == 1) {
      const int code = Api().run.add_state(run, key, state_.data(), state_size_, &error_);
      if (code != 0) return code;
    }
    return 0;
  }

  // Adds the model's state and weights to *answer, in any order of models; of one that failed for
  // want of memory, that.
  int Take(hopper_run* run, int32_t key, uint64_t* answer) {
    hopper_model_result result;
    if (const int code = Api().run.result(run, key, &result, &error_); code != 0) return code;
    if (result.status == HOPPER_MODEL_FAILED) {
      if (std::strstr(result.error, "memory") != nullptr) return HOPPER_OUT_OF_MEMORY;
      std::fprintf(stderr, "%s: %s\n", result.error, result.error_detail);
      return kStrangeMessage;
    }
    if (result.status != HOPPER_MODEL_DONE) return HOPPER_INTERNAL;
    uint64_t sum = static_cast<uint64_t>(key);
    static uint8_t bytes[1000];
    size_t taken = 1;
    size_t size = 0;
    while (taken > 0) {
      const int code = Api().run.take_state(run, key, bytes, sizeof(bytes), &taken, &error_);
      if (code != 0) return code;
      Mix(bytes, taken, &sum);
      if (keep_) std::copy_n(bytes, taken, state_.data() + size);
      size += taken;
    }
    if (keep_) state_size_ = size;
    static float weights[4096];
    const int code = Api().run.take_weights(run, key, weights, result.n_weights, &error_);
    Mix(weights, static_cast<size_t>(result.n_weights) * sizeof(float), &sum);
    *answer += sum;
    return code;
  }

  int Drive(hopper_run* run, uint64_t* answer) {
    for (int32_t key = 1; key <= models_; ++key) {
      hopper_config config = config_;
      config.mst_key = key;
      config.state_size = warm_ && key == 2 ? state_size_ : 0;
      if (const int code = Api().run.add_config(run, &config, &error_); code != 0) return code;
    }
    hopper_data_plan plan;
    if (const int code = Api().run.plan_data(run, &plan, &error_); code != 0) return code;
    waiting_ = plan.n_waiting;
    bytes_data_ = plan.bytes_data;
    bytes_models_ = plan.bytes_models;
    if (const int code = PushStates(run); code != 0) return code;
    for (int32_t split = 0; plan.resident == 1 && split < 2; ++split) {
      if (const int code = Load(run, split, -1); code != 0) return code;
    }
    if (const int code = Api().run.start(run, &error_); code != 0) return code;
    bool taken[kModels + 1] = {};
    int failed = 0;
    for (;;) {
      hopper_event event;
      while (Api().run.next_event(run, &event) == 1) {
        int code = 0;
        if (event.type == HOPPER_EVENT_LOAD) code = Load(run, event.split, event.partition);
        if (event.type == HOPPER_EVENT_STATE) code = PushStates(run);
        if (event.type == HOPPER_EVENT_MODEL_DONE && event.take == 1) {
          taken[event.mst_key] = true;
          code = Take(run, event.mst_key, answer);
        }
        if (code != 0) return code;
        if (event.type != HOPPER_EVENT_FINISHED) continue;
        for (int32_t key = 1; key <= models_; ++key) {
          if (!taken[key]) code = Take(run, key, answer);
          if (code == HOPPER_OUT_OF_MEMORY) failed = code;
          if (code != 0 && code != HOPPER_OUT_OF_MEMORY) return code;
          code = 0;
        }
        return failed;
      }
      if (!Wait(fd_)) return kHangs;
    }
  }

  Outcome Run() {
    hopper_run* run = nullptr;
    const hopper_run_options options = RunOptions();
    Outcome outcome;
    outcome.code = Api().run.create(&options, &table_.desc(), &table_.desc(), &run, &error_);
    if (outcome.code == 0) outcome.code = Drive(run, &outcome.answer);
    Api().run.free(run);
    return outcome;
  }

  // state_ becomes what a run leaves.
  void KeepState() {
    keep_ = true;
    ASSERT_EQ(Run().code, 0) << error_.message;
    keep_ = false;
    ASSERT_GT(state_size_, 0U);
  }

  PackedTable table_;
  std::vector<hopper_buffer> buffers_[2];
  std::string arch_;
  hopper_config config_ = {};
  hopper_error error_ = {};
  EventFd fd_;
  int64_t limit_ = int64_t{1} << 30;
  int32_t models_ = kModels;
  bool warm_ = false;
  bool keep_ = false;
  int32_t waiting_ = 0;
  int64_t bytes_data_ = 0;
  int loads_ = 0;
  int64_t bytes_models_ = 0;
  std::vector<uint8_t> state_;
  size_t state_size_ = 0;
};

// The first test of the program: one of the threads is started once in a process.
TEST_F(Faults, AThread) {
  int failed = 0;
  for (int n = 1;; ++n) {
    thread_that_fails = n;
    const Outcome outcome = Run();
    if (thread_that_fails.exchange(0) > 0) break;
    ++failed;
    EXPECT_EQ(outcome.code, HOPPER_OUT_OF_MEMORY);
    EXPECT_EQ(std::string(error_.message).find("could not start "), 0U) << error_.message;
    EXPECT_STRNE(error_.hint, "");
  }
  EXPECT_GE(failed, 2);
}

TEST_F(Faults, ARun) {
  FailEachAllocation([this] { return Run(); }, 500);
}

// Where there are several, what one has left half done another one does.
TEST_F(Faults, ARunOfOneModel) {
  models_ = 1;
  FailEachAllocation([this] { return Run(); });
}

TEST_F(Faults, ARunWhoseModelsWaitAndStartWarm) {
  KeepState();
  warm_ = true;
  // A little less than all of them need.
  const int64_t all = bytes_data_ + bytes_models_;
  for (limit_ = all; waiting_ == 0; limit_ -= all / 50) {
    ASSERT_EQ(Run().code, 0) << error_.message;
  }
  limit_ += all / 50;
  FailEachAllocation([this] { return Run(); }, 2000);
}

// Less than all data beside the models, which want them in turns.
TEST_F(Faults, ARunWhoseDataComeInTurns) {
  ASSERT_EQ(Run().code, 0) << error_.message;
  limit_ = bytes_models_ + bytes_data_ / 2;
  loads_ = 0;
  ASSERT_EQ(Run().code, 0) << error_.message;
  ASSERT_GT(loads_, 4);
  FailEachAllocation([this] { return Run(); }, 750);
}

// Models enter, rest, go on and begin anew.
TEST_F(Faults, ARunThatModelsEnterAndLeave) {
  const auto next = [this](hopper_run* run, int type, hopper_event* event) -> int {
    for (;;) {
      while (Api().run.next_event(run, event) == 1) {
        if (event->type == HOPPER_EVENT_STATE) {
          if (const int code = PushStates(run); code != 0) return code;
        }
        if (event->type == HOPPER_EVENT_FINISHED || event->type == type) return 0;
        if (event->type == HOPPER_EVENT_MODEL_FAILED) return 0;
      }
      if (!Wait(fd_)) return kHangs;
    }
  };
  const auto drive = [&](hopper_run* run, uint64_t* answer) -> int {
    if (const int code = Api().run.stay_open(run, &error_); code != 0) return code;
    hopper_config config = config_;
    config.mst_key = 1;
    if (const int code = Api().run.add_config(run, &config, &error_); code != 0) return code;
    hopper_data_plan plan;
    if (const int code = Api().run.plan_data(run, &plan, &error_); code != 0) return code;
    for (int32_t split = 0; split < 2; ++split) {
      if (const int code = Load(run, split, -1); code != 0) return code;
    }
    if (const int code = Api().run.start(run, &error_); code != 0) return code;
    config.mst_key = 2;
    if (const int code = Api().run.add_config(run, &config, &error_); code != 0) return code;
    for (const hopper_stint& stint : {hopper_stint{1, 1, 0, 0}, hopper_stint{2, 1, 0, 0},
                                      hopper_stint{1, 2, 0, 0}, hopper_stint{2, 1, 1, 0}}) {
      int32_t must_take = 0;
      int32_t take = 0;
      const int code = Api().run.go_on(run, &stint, &must_take, &take, &error_);
      if (code != 0) return code;
      if (must_take != 0) return HOPPER_INTERNAL;  // there is room for both
      hopper_event event;
      if (const int ended = next(run, HOPPER_EVENT_MODEL_DONE, &event); ended != 0) return ended;
      if (event.type != HOPPER_EVENT_MODEL_DONE) break;
    }
    if (const int code = Api().run.close(run, &error_); code != 0) return code;
    hopper_event event = {};
    while (event.type != HOPPER_EVENT_FINISHED) {
      if (const int ended = next(run, HOPPER_EVENT_FINISHED, &event); ended != 0) return ended;
    }
    for (int32_t key = 1; key <= 2; ++key) {
      if (const int code = Take(run, key, answer); code != 0) return code;
    }
    return 0;
  };
  const auto body = [&] {
    hopper_run* run = nullptr;
    const hopper_run_options options = RunOptions();
    Outcome outcome;
    outcome.code = Api().run.create(&options, &table_.desc(), &table_.desc(), &run, &error_);
    if (outcome.code == 0) outcome.code = drive(run, &outcome.answer);
    Api().run.free(run);
    return outcome;
  };
  FailEachAllocation(body, 750);
}

// Models that hop between two segments, each with a partition of both tables.
TEST_F(Faults, ASegment) {
  constexpr int32_t kSegments = 2;
  constexpr int32_t kEnded = -1;
  static const int32_t keys[kSegments] = {0, 1};
  struct Envelope {
    int32_t segment;  // or kEnded
    size_t size;
    uint8_t bytes[1 << 14];
  };
  static Envelope envelopes[kModels + 1];
  static Envelope next[kModels + 1];
  const auto set_up = [&](hopper_group* group, int32_t segment) -> int {
    for (int32_t key = 1; key <= kModels; ++key) {
      hopper_config config = config_;
      config.mst_key = key;
      if (const int code = Api().group.enter(group, &config, 2, 0, &error_); code != 0) return code;
    }
    hopper_data_plan plan;
    if (const int code = Api().group.plan_data(group, &plan, &error_); code != 0) return code;
    for (const auto& buffers : buffers_) {
      for (const hopper_buffer& buffer : buffers) {
        if (buffer.partition_id != segment) continue;
        if (const int code = Api().group.add_buffer(group, &buffer, &error_); code != 0)
          return code;
      }
    }
    return Api().group.check_data(group, &error_);
  };
  const auto take = [&](const hopper_group_part& part, uint64_t* answer) -> int {
    Envelope& envelope = next[part.mst_key];
    if (part.result != nullptr && part.result->status == HOPPER_MODEL_FAILED) {
      return std::strstr(part.result->error, "memory") != nullptr ? HOPPER_OUT_OF_MEMORY
                                                                  : kStrangeMessage;
    }
    if (part.result != nullptr) Mix(part.bytes, part.size, answer);
    if (part.part < 0) return 0;
    if (part.size > sizeof(envelope.bytes) || part.n_parts != 1) return HOPPER_INTERNAL;
    envelope.segment = part.result != nullptr ? kEnded : part.next_key;
    envelope.size = part.size;
    std::copy_n(part.bytes, part.size, envelope.bytes);
    return 0;
  };
  const auto visit = [&](hopper_group* group, int32_t segment, uint64_t* answer) -> int {
    for (int32_t key = 1; key <= kModels; ++key) {
      const Envelope& envelope = envelopes[key];
      if (envelope.segment != segment) continue;
      int32_t later = 0;
      const int code =
          Api().group.add_part(group, key, 0, 1, envelope.bytes, envelope.size, &later, &error_);
      if (code != 0) return code;
      if (later != 0) return HOPPER_INTERNAL;
    }
    const int code = Api().group.start(group, 0, 0, &error_);
    if (code != 0) return code;
    for (int done = 0; done != 1;) {
      done = Api().group.poll(group, &error_);
      if (done < 0) return error_.code;
      if (done == 0 && !Wait(fd_)) return kHangs;
    }
    int failed = 0;
    hopper_group_part part;
    int more = 0;
    while ((more = Api().group.next_part(group, &part, &error_)) == 1) {
      const int taken = take(part, answer);
      if (taken != 0 && taken != HOPPER_OUT_OF_MEMORY) return taken;
      if (taken != 0) failed = taken;
    }
    return more < 0 ? error_.code : failed;
  };
  const auto drive = [&](hopper_group* const* groups, uint64_t* answer) -> int {
    for (int32_t segment = 0; segment < kSegments; ++segment) {
      if (const int code = set_up(groups[segment], segment); code != 0) return code;
    }
    for (int32_t key = 1; key <= kModels; ++key) {
      envelopes[key].segment = 0;
      envelopes[key].size = 1;
      envelopes[key].bytes[0] = HOPPER_ENVELOPE_NEW;
    }
    bool all = false;
    for (int hops = 0; !all; ++hops) {
      if (hops == 50) return kHangs;
      for (int32_t segment = 0; segment < kSegments; ++segment) {
        if (const int code = visit(groups[segment], segment, answer); code != 0) return code;
      }
      all = true;
      for (int32_t key = 1; key <= kModels; ++key) {
        envelopes[key] = next[key];
        all = all && envelopes[key].segment == kEnded;
      }
    }
    return 0;
  };
  const auto body = [&] {
    hopper_group* groups[kSegments] = {};
    hopper_run_options options = RunOptions();
    Outcome outcome;
    for (int32_t segment = 0; segment < kSegments && outcome.code == 0; ++segment) {
      outcome.code = Api().group.create(&options, &table_.desc(), &table_.desc(), keys, keys,
                                        segment, &groups[segment], &error_);
    }
    if (outcome.code == 0) outcome.code = drive(groups, &outcome.answer);
    for (hopper_group* group : groups) Api().group.free(group);
    return outcome;
  };
  FailEachAllocation(body, 1000);
}

TEST_F(Faults, AnEvaluation) {
  KeepState();
  hopper_config config = config_;
  config.state = state_.data();
  config.state_size = state_size_;
  const auto evaluate = [&](hopper_evaluation* evaluation, uint64_t* answer) -> int {
    for (const hopper_buffer& buffer : buffers_[0]) {
      const int code = Api().evaluation.add_buffer(evaluation, &buffer, &error_);
      if (code != 0) return code;
    }
    if (const int code = Api().evaluation.start(evaluation, &error_); code != 0) return code;
    for (;;) {
      hopper_event event;
      const int done = Api().evaluation.poll(evaluation, &event, &error_);
      if (done < 0) return error_.code;
      if (done == 1) {
        Mix(&event.loss, sizeof(event.loss), answer);
        Mix(event.metrics, sizeof(double), answer);
        return 0;
      }
      if (!Wait(fd_)) return kHangs;
    }
  };
  const auto body = [&] {
    hopper_evaluation* evaluation = nullptr;
    Outcome outcome;
    outcome.code =
        Api().evaluation.create(&config, &table_.desc(), 1, fd_.fd(), &evaluation, &error_);
    if (outcome.code == 0) outcome.code = evaluate(evaluation, &outcome.answer);
    Api().evaluation.free(evaluation);
    return outcome;
  };
  FailEachAllocation(body);
}

TEST_F(Faults, APrediction) {
  const std::vector<float> weights(6 * 8 + 8 + 8 * 3 + 3, 0.25F);
  const std::vector<uint8_t> rows(6 * 5, 100);
  constexpr int kBatches = 3;
  const auto predict = [&](hopper_predictor* predictor, uint64_t* answer) -> int {
    for (int i = 0; i < kBatches; ++i) {
      const int code = Api().predictor.submit(predictor, rows.data(), rows.size(), 5, &error_);
      if (code != 0) return code;
    }
    for (int taken = 0; taken < kBatches;) {
      const float* outputs = nullptr;
      int32_t n = 0;
      const int done = Api().predictor.take(predictor, &outputs, &n, &error_);
      if (done < 0) return error_.code;
      if (done == 0) {
        if (!Wait(fd_)) return kHangs;
        continue;
      }
      Mix(outputs, static_cast<size_t>(n) * 3 * sizeof(float), answer);
      ++taken;
    }
    return 0;
  };
  const auto body = [&] {
    hopper_predictor* predictor = nullptr;
    int32_t n_outputs = 0;
    Outcome outcome;
    const auto n_weights = static_cast<int64_t>(weights.size());
    outcome.code =
        Api().predictor.create(arch_.data(), arch_.size(), n_weights, &table_.desc(), nullptr, 1,
                               int64_t{1} << 30, fd_.fd(), &predictor, &n_outputs, &error_);
    if (outcome.code == 0) {
      outcome.code = Api().predictor.add_weights(predictor, weights.data(), n_weights, &error_);
    }
    hopper_prediction_plan plan = {5, kBatches, 0};
    if (outcome.code == 0) outcome.code = Api().predictor.plan(predictor, &plan, &error_);
    if (outcome.code == 0) outcome.code = predict(predictor, &outcome.answer);
    Api().predictor.free(predictor);
    return outcome;
  };
  FailEachAllocation(body);
}

}  // namespace
}  // namespace hopper
