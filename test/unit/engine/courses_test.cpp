// Both engines against each other: the same configurations have the same course, event for event,
// whatever the options, and the same bits; also on segments which they enter one after the other.
#include <ATen/record_function.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "engine/evaluation.h"
#include "engine/torch/backend.h"
#include "support/group_driver.h"
#include "support/keras_models.h"
#include "support/repetitions.h"
#include "support/run_driver.h"

namespace hopper {
namespace {

// What is told of each model, by iteration and in its order: beside its evaluation on one thread a
// model trains on another one.
using Courses = std::map<int32_t, std::map<int32_t, std::vector<std::string>>>;

std::string Number(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), " %.17g", value);
  return text;
}

Courses CoursesOf(const std::vector<hopper_event>& events) {
  Courses courses;
  for (const hopper_event& event : events) {
    std::string text;
    switch (event.type) {
      case HOPPER_EVENT_METRICS:
        text += " metrics " + std::to_string(event.split) + std::to_string(event.running) +
                Number(event.loss);
        for (int i = 0; i < event.n_metrics; ++i) text += Number(event.metrics[i]);
        break;
      case HOPPER_EVENT_MODEL_STOPPED:
        text += std::string(" stopped: ") + event.message;
        break;
      case HOPPER_EVENT_MODEL_FAILED:
        text += std::string(" failed: ") + event.message + "; " + event.detail + "; " + event.hint;
        break;
      case HOPPER_EVENT_WARNING:
        text += std::string(" warning: ") + event.message + "; " + event.detail;
        break;
      default:
        continue;
    }
    courses[event.mst_key][event.iteration].push_back(text);
  }
  return courses;
}

std::string ResultText(const ModelResult& result) {
  const hopper_model_result& raw = result.raw;
  return std::to_string(raw.status) + " " + std::to_string(raw.iterations) + " " +
         std::to_string(raw.stopped) + " " + std::to_string(raw.best_iteration) + " " +
         std::to_string(raw.kept_iteration) + Number(raw.learning_rate) + " " +
         std::to_string(raw.examples) + " " + raw.error + " " + raw.error_detail + " " +
         result.digest;
}

constexpr int32_t kMinute = 60000;  // in milliseconds

class BothEngines {
 public:
  explicit BothEngines(uint32_t seed)
      : random_(seed), train_(Table(1, 6)), valid_(Table(2, 4)), validates_(Draw(0, 1) == 1) {
    options_.iterations = Draw(1, 5);
    options_.frequency = Draw(1, 3);
    options_.validation_frequency = Draw(0, 4);
    options_.threads = Draw(1, 3);
    options_.training_metrics = static_cast<hopper_training_metrics>(Draw(1, 3));
    options_.starts = {0};
    for (int p = Draw(1, 3); p < train_.desc().n_partitions; p += Draw(1, 3)) {
      options_.starts.push_back(p);
    }
    train_keys_ = Keys(train_);
    if (validates_) valid_keys_ = Keys(valid_);
    for (int key = 1, n = Draw(1, 4); key <= n; ++key) configs_.push_back(Config(key));
  }

  void Compare() {
    std::map<int32_t, ModelResult> states = CompareOnce();
    if (Draw(0, 2) != 0) return;
    // And on from there.
    for (Configuration& config : configs_) {
      config.state = states[config.key].state;
      bases_[config.key] = states[config.key].raw.iterations;
    }
    options_.iterations = Draw(1, 3);
    CompareOnce();
  }

 private:
  int Draw(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
  }
  PackedTable Table(int seed, int partitions) {
    PackedTable::Options options;
    options.seed = static_cast<uint64_t>(seed);
    options.partitions = Draw(1, partitions);
    options.rows = Draw(options.partitions * 4, 90);
    return PackedTable(options);
  }
  // The segment of each partition: any.
  std::vector<int32_t> Keys(const PackedTable& table) {
    std::vector<int32_t> keys;
    const int segments = Draw(1, 3);
    for (int p = 0; p < table.desc().n_partitions; ++p) keys.push_back(10 * Draw(1, segments));
    return keys;
  }
  Configuration Config(int key) {
    Configuration config;
    config.key = key;
    config.arch = MlpJson(20, 4, 3);
    // The last of them grows beyond all bounds sooner or later.
    static const char* const kOptimizers[] = {"Adam()", "SGD(lr=0.5, momentum=0.9)",
                                              "Adam(lr=0.01, use_ema=True)", "SGD(lr=1e30)"};
    const int optimizer = Draw(0, 9) == 0 ? 3 : Draw(0, 2);
    fails_ = fails_ || optimizer == 3;
    config.compile = std::string("loss='sparse_categorical_crossentropy', metrics=['accuracy'], ") +
                     "optimizer='" + kOptimizers[optimizer] + "'";
    const std::string monitor = validates_ && Draw(0, 1) == 1 ? "val_loss" : "loss";
    config.fit = "batch_size=8, epochs=" + std::to_string(Draw(1, 2));
    switch (Draw(0, 4)) {
      case 1:
        config.fit += ", callbacks=[EarlyStopping(monitor='" + monitor +
                      "', patience=" + std::to_string(Draw(0, 1)) + ", min_delta=0.1" +
                      (Draw(0, 1) == 1 ? ", restore_best_weights=True" : "") + ")]";
        break;
      case 2:
        config.fit += ", callbacks=[ReduceLROnPlateau(monitor='" + monitor +
                      "', factor=0.5, patience=1, min_delta=0.2)]";
        break;
      case 3:
        config.fit +=
            ", callbacks=[ReduceLROnPlateau(monitor='loss', factor=0.5, patience=1), "
            "EarlyStopping(monitor='" +
            monitor + "', min_delta=0.1)]";
        break;
      default:
        break;
    }
    return config;
  }

  std::map<int32_t, ModelResult> CompareOnce() {
    const PackedTable* valid = validates_ ? &valid_ : nullptr;
    RunOptions local = options_;
    // What was ordered before a model fails is evaluated or not: by one thread, it is.
    if (fails_) local.threads = 1;
    std::vector<hopper_event> events;
    const auto expected = TrainAll(local, configs_, train_, valid, &events);
    const Courses courses = CoursesOf(events);
    for (const auto& [key, result] : expected) ExpectValuesOfWhatIsDelivered(result, key, events);
    events.clear();
    GroupDriver groups(options_, train_, valid, train_keys_, valid_keys_, configs_);
    groups.GoOnFor(Draw(0, 1) * kMinute);
    const auto actual = groups.Train(&events);
    EXPECT_EQ(CoursesOf(events), courses);
    for (const auto& [key, result] : expected) {
      EXPECT_EQ(ResultText(actual.at(key)), ResultText(result)) << key;
    }
    CompareOpen(expected, courses);
    CompareHalted(expected, courses);
    return expected;
  }
  // However often metrics are taken, and whenever it stops.
  void ExpectValuesOfWhatIsDelivered(const ModelResult& result, int32_t key,
                                     const std::vector<hopper_event>& events) const {
    bool trained = false;  // in this run: who was stopped before is not looked at again
    std::array<bool, 2> evaluated = {};
    for (const hopper_event& event : events) {
      if (event.type != HOPPER_EVENT_METRICS || event.mst_key != key) continue;
      trained = true;
      if (event.iteration != result.raw.kept_iteration || event.running != 0) continue;
      evaluated[static_cast<size_t>(event.split)] = true;
    }
    if (!trained || result.raw.status != HOPPER_MODEL_DONE) return;
    EXPECT_EQ(evaluated[HOPPER_SPLIT_VALID], validates_) << key;
    EXPECT_EQ(evaluated[HOPPER_SPLIT_TRAIN], options_.training_metrics != HOPPER_METRICS_RUNNING)
        << key;
  }
  // A configuration enters before each hop; those that have ended make room.
  void CompareOpen(const std::map<int32_t, ModelResult>& expected, const Courses& courses) {
    std::vector<hopper_event> events;
    GroupDriver groups(options_, train_, validates_ ? &valid_ : nullptr, train_keys_, valid_keys_,
                       {configs_.front()}, false, options_.iterations);
    size_t entered = 1;
    for (int hops = 0; groups.n_training() > 0 || entered < configs_.size(); ++hops) {
      ASSERT_LT(hops, 1000);
      if (hops > 0 && entered < configs_.size()) {
        ASSERT_TRUE(groups.Enter({configs_[entered]}, options_.iterations));
        ++entered;
      }
      groups.Step(&events);
    }
    EXPECT_EQ(CoursesOf(events), courses);
    for (const auto& [key, result] : expected) {
      EXPECT_EQ(ResultText(groups.results().at(key)), ResultText(result)) << key;
    }
  }

  // All of them halt again and again, and go on from what they had then.
  void CompareHalted(const std::map<int32_t, ModelResult>& expected, const Courses& courses) {
    std::vector<hopper_event> events;
    GroupDriver groups(options_, train_, validates_ ? &valid_ : nullptr, train_keys_, valid_keys_,
                       configs_, /*planned=*/true);
    std::map<int32_t, int64_t> examples;
    std::vector<int32_t> halted;
    int left = Draw(0, 4);  // hops until they halt
    for (int hops = 0; groups.n_training() > 0; ++hops) {
      ASSERT_LT(hops, 1000);
      const bool halts = left-- <= 0;
      for (const int32_t key : groups.Step(&events, halts)) {
        const hopper_model_result& raw = groups.results().at(key).raw;
        if (raw.status == HOPPER_MODEL_TRAINING) halted.push_back(key);
        if (raw.status == HOPPER_MODEL_TRAINING) examples[key] += raw.examples;
      }
      if (!halts || groups.n_training() > 0) continue;
      for (const int32_t key : halted) {
        Configuration config = configs_[static_cast<size_t>(key) - 1];
        config.state = groups.results().at(key).state;
        const int done = groups.results().at(key).raw.iterations - bases_[key];
        ASSERT_TRUE(groups.Enter({config}, options_.iterations - done, done));
      }
      halted.clear();
      left = Draw(1, 4);
    }
    EXPECT_EQ(CoursesOf(events), courses);
    for (const auto& [key, result] : expected) {
      ModelResult actual = groups.results().at(key);
      actual.raw.examples += examples[key];
      EXPECT_EQ(ResultText(actual), ResultText(result)) << key;
    }
  }

  std::mt19937 random_;
  std::map<int32_t, int32_t> bases_;  // iterations of a warm start's states
  const PackedTable train_;
  const PackedTable valid_;
  bool validates_;
  bool fails_ = false;
  RunOptions options_;
  std::vector<int32_t> train_keys_;
  std::vector<int32_t> valid_keys_;
  std::vector<Configuration> configs_;
};

TEST(Courses, AreTheSameOnBothEngines) {
  for (uint32_t seed = 1; seed <= Repetitions(250U); ++seed) {
    BothEngines(seed).Compare();
    if (HasFailure()) {
      ADD_FAILURE() << "with seed " << seed;
      return;
    }
  }
}

Configuration CourseMlp(int key, int units) {
  Configuration config;
  config.key = key;
  config.arch = MlpJson(20, units, 3);
  config.compile = "loss='sparse_categorical_crossentropy', optimizer='Adam()'";
  config.fit = "batch_size=8";
  return config;
}

// Stints of different lengths, with pauses between them in which others train on.
TEST(Courses, OfLegsOnSegmentsAreThoseOfWarmStarts) {
  const PackedTable train{{}};
  const PackedTable valid{{}};
  const std::vector<int32_t> keys = {10, 10, 20, 30};
  RunOptions options;
  std::vector<Configuration> configs = {CourseMlp(1, 5), CourseMlp(2, 9), CourseMlp(3, 5)};
  std::map<int32_t, std::string> expected;
  const std::map<int32_t, std::vector<int>> stints = {{1, {1, 2, 3}}, {2, {4, 1}}, {3, {2, 2}}};
  for (Configuration config : configs) {
    for (const int stint : stints.at(config.key)) {
      options.iterations = stint;
      ModelResult result = TrainAll(options, {config}, train, &valid).at(config.key);
      expected[config.key] = result.digest;
      config.state = std::move(result.state);
    }
  }
  options.iterations = 1;
  GroupDriver groups(options, train, &valid, keys, keys, {configs[0]}, false, 1);
  std::map<int32_t, size_t> begun = {{1, 1}};
  std::vector<hopper_event> events;
  std::vector<std::pair<int, int>> pauses = {{2, 2}, {3, 3}};  // key, hops until it enters
  for (int hop = 0; groups.n_training() > 0 || !pauses.empty(); ++hop) {
    ASSERT_LT(hop, 1000);
    for (auto pause = pauses.begin(); pause != pauses.end();) {
      if (pause->second-- > 0) {
        ++pause;
        continue;
      }
      Configuration config = configs[static_cast<size_t>(pause->first) - 1];
      size_t& stint = begun[config.key];
      if (stint > 0) config.state = groups.results().at(config.key).state;
      ASSERT_TRUE(groups.Enter({config}, stints.at(config.key)[stint++]));
      pause = pauses.erase(pause);
    }
    for (const int32_t key : groups.Step(&events)) {
      if (begun[key] < stints.at(key).size()) pauses.emplace_back(key, key);
    }
  }
  for (const auto& [key, digest] : expected) {
    EXPECT_EQ(groups.results().at(key).digest, digest) << key;
  }
}

TEST(Courses, WhoDoesNotFitBesideTheDataEntersWhenTheyAreLoadedAnew) {
  PackedTable::Options rows;
  rows.rows = 4000;
  rows.partitions = 8;
  const PackedTable train{rows};
  const std::vector<int32_t> keys = {1, 1, 1, 1, 1, 1, 1, 1};
  const Configuration small = CourseMlp(1, 8);
  const Configuration large = CourseMlp(2, 2000);
  RunOptions options;
  options.threads = 1;
  options.iterations = 2;
  const auto expected = TrainAll(options, {small, large}, train);
  {
    const GroupDriver roomy(options, train, nullptr, keys, {}, {large}, false, 2);
    const hopper_data_plan& plan = roomy.plans().at(1);
    options.memory_limit = plan.bytes_models + plan.bytes_data / 2;
  }
  GroupDriver groups(options, train, nullptr, keys, {}, {small}, false, 2);
  ASSERT_EQ(groups.plans().at(1).resident, 1);
  EXPECT_FALSE(groups.Enter({large}, 2));
  std::vector<hopper_event> events;
  while (groups.n_training() > 0) groups.Step(&events);
  EXPECT_EQ(groups.results().at(1).digest, expected.at(1).digest);
  EXPECT_FALSE(groups.Enter({large}, 2));
  GroupDriver anew(options, train, nullptr, keys, {}, {large}, false, 2);
  ASSERT_EQ(anew.plans().at(1).resident, 0);
  while (anew.n_training() > 0) anew.Step(&events);
  EXPECT_EQ(anew.results().at(2).digest, expected.at(2).digest);
}

// One call trains all iterations of all models where it has all data and the time, and one of each
// where it has no time.
TEST(Courses, GoOnInACallWhereOneSegmentHasAllData) {
  const PackedTable train{{}};
  const PackedTable valid{{}};
  const std::vector<Configuration> configs = {CourseMlp(1, 5), CourseMlp(2, 9), CourseMlp(3, 7)};
  RunOptions options;
  options.iterations = 4;
  const auto expected = TrainAll(options, configs, train, &valid);
  const auto hops = [&](const std::vector<int32_t>& keys, int32_t milliseconds) {
    GroupDriver groups(options, train, &valid, keys, {10, 10, 10, 10}, configs);
    groups.GoOnFor(milliseconds);
    std::vector<hopper_event> events;
    int n = 0;
    for (; groups.n_training() > 0; ++n) groups.Step(&events);
    for (const auto& [key, result] : expected) {
      EXPECT_EQ(groups.results().at(key).digest, result.digest);
    }
    EXPECT_EQ(groups.VisitsOf(1).back().iteration, options.iterations);
    return n;
  };
  EXPECT_EQ(hops({10, 10, 10, 10}, kMinute), 1);
  EXPECT_EQ(hops({10, 10, 10, 10}, 0), options.iterations);
  EXPECT_GE(hops({10, 10, 20, 20}, kMinute), 2 * options.iterations);
}

// Of equal models none is ahead of the others, on one thread.
TEST(Courses, GoOnSideBySideInACall) {
  const PackedTable train{{}};
  RunOptions options;
  options.threads = 1;
  options.iterations = 1 << 20;
  options.training_metrics = HOPPER_METRICS_RUNNING;
  GroupDriver groups(options, train, nullptr, {10, 10, 10, 10}, {},
                     {CourseMlp(1, 5), CourseMlp(2, 5), CourseMlp(3, 5)});
  groups.GoOnFor(200);
  groups.HopOnce();
  const int32_t reached = groups.VisitsOf(3).back().iteration;
  EXPECT_GT(reached, 2);
  for (const int32_t key : {1, 2}) {
    EXPECT_NEAR(groups.VisitsOf(key).back().iteration, reached, 1) << key;
  }
}

// In bfloat16, and where several threads share a model, too.
TEST(Courses, HaveTheSameBitsInEveryPrecision) {
  const PackedTable train{{}};
  const std::vector<Configuration> configs = {CourseMlp(1, 5), CourseMlp(2, 300)};
  for (const char* precision : {"fp32", "bf16"}) {
    for (const int threads_per_model : {1, 2}) {
      RunOptions options;
      options.precision = precision;
      options.threads_per_model = threads_per_model;
      const auto expected = TrainAll(options, configs, train);
      GroupDriver groups(options, train, nullptr, {10, 10, 20, 30}, {}, configs);
      const auto actual = groups.Train();
      for (const Configuration& config : configs) {
        ASSERT_EQ(expected.at(config.key).raw.status, HOPPER_MODEL_DONE);
        EXPECT_EQ(actual.at(config.key).digest, expected.at(config.key).digest)
            << precision << " " << threads_per_model;
      }
    }
  }
}

std::string RefusalOf(bool local, const RunOptions& options, const PackedTable& train) {
  const std::vector<Configuration> configs = {CourseMlp(1, 3)};
  try {
    if (local) {
      const RunDriver run(options, train, nullptr);
    } else {
      const GroupDriver groups(options, train, nullptr, {1, 1, 1, 1}, {}, configs);
    }
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

TEST(Courses, NeedOptionsThatCanBe) {
  const PackedTable train{{}};
  const auto refuses = [&](const std::string& message, auto change) {
    RunOptions options;
    change(&options);
    for (const bool local : {true, false}) EXPECT_EQ(RefusalOf(local, options, train), message);
  };
  refuses("", [](RunOptions*) {});
  refuses("num_iterations must be at least 1", [](RunOptions* o) { o->iterations = 0; });
  refuses("metrics_compute_frequency must be at least 1", [](RunOptions* o) { o->frequency = 0; });
  refuses("frequency of validation must be at least 1",
          [](RunOptions* o) { o->validation_frequency = -1; });
  refuses("threads must be at least 1", [](RunOptions* o) { o->threads = -3; });
  refuses("threads_per_model must be at least 1", [](RunOptions* o) { o->threads_per_model = -1; });
  refuses("memory limit must be at least one byte", [](RunOptions* o) { o->memory_limit = 0; });
  refuses("training_metrics has the unknown value 7",
          [](RunOptions* o) { o->training_metrics = static_cast<hopper_training_metrics>(7); });
}

// Warns as libtorch does, once in each operation, on whatever thread.
class WarningOperations {
 public:
  WarningOperations() : handle_(at::addGlobalCallback(at::RecordFunctionCallback(Warn))) {}
  ~WarningOperations() { at::removeCallback(handle_); }
  WarningOperations(const WarningOperations&) = delete;
  WarningOperations& operator=(const WarningOperations&) = delete;

 private:
  static std::unique_ptr<at::ObserverContext> Warn(const at::RecordFunction& /*unused*/) {
    TORCH_WARN("this way is slow\nat line 7");
    return nullptr;
  }
  const at::CallbackHandle handle_;
};

// The message of each, and whose it is.
std::map<std::string, int> WarningsOf(const std::vector<hopper_event>& events) {
  std::map<std::string, int> warnings;
  for (const hopper_event& event : events) {
    if (event.type == HOPPER_EVENT_WARNING) ++warnings[event.message];
  }
  return warnings;
}

// Once in a run, or on each segment, however often libtorch warns.
TEST(Courses, TellLibtorchsWarnings) {
  PackedTable::Options images;
  images.x_shape = {4, 4, 1};
  const PackedTable train{images};
  Configuration config;
  // What has no planned form is libtorch's to compute.
  config.arch = KerasSequential(
      {KerasLayer("UpSampling2D", "up",
                  R"("batch_input_shape": [null, 4, 4, 1], "interpolation": "bilinear")"),
       KerasLayer("Flatten", "flat", ""), KerasDense("last", 3, "softmax")});
  config.compile = "loss='sparse_categorical_crossentropy', optimizer='Adam()'";
  config.fit = "batch_size=8";
  Configuration other = config;
  other.key = 2;
  RunOptions options;
  options.training_metrics = HOPPER_METRICS_RUNNING;
  const WarningOperations warning;
  // What the first run of a process computes on this thread warns there.
  testing::internal::CaptureStderr();
  std::vector<hopper_event> events;
  TrainAll(options, {config, other}, train, nullptr, &events);
  const std::map<std::string, int> once = {{"libtorch: this way is slow", 1}};
  EXPECT_EQ(WarningsOf(events), once);
  events.clear();
  GroupDriver groups(options, train, nullptr, {10, 10, 10, 10}, {}, {config, other});
  groups.Train(&events);
  EXPECT_EQ(WarningsOf(events), once);
  testing::internal::GetCapturedStderr();
}

// The words without the bytes: a model that travels needs two images of its state for it.
Courses WithoutBytes(Courses courses) {
  static const std::regex bytes("about [0-9]+ ([kMG]B|bytes)");
  for (auto& [key, course] : courses) {
    for (auto& [iteration, events] : course) {
      for (std::string& event : events) event = std::regex_replace(event, bytes, "about so much");
    }
  }
  return courses;
}

// A model above the limit fails before it is trained, with the same words.
TEST(Courses, NeedMemory) {
  const PackedTable train{{}};
  RunOptions options;
  options.memory_limit = 8 << 20;
  const std::vector<Configuration> configs = {CourseMlp(1, 5), CourseMlp(2, 100000)};
  RunDriver run(RunDriver::Planned{}, options, train, nullptr);
  for (const Configuration& config : configs) run.AddConfig(config);
  run.Plan();
  run.Start();
  const Courses expected = CoursesOf(run.WaitToEnd());
  ASSERT_EQ(expected.at(2).size(), 1U);
  std::vector<hopper_event> events;
  GroupDriver groups(options, train, nullptr, {10, 20, 20, 30}, {}, configs, /*planned=*/true);
  const auto results = groups.Train(&events);
  EXPECT_EQ(WithoutBytes(CoursesOf(events)), WithoutBytes(expected));
  EXPECT_EQ(results.at(2).raw.examples, 0);
  EXPECT_EQ(results.at(1).raw.status, HOPPER_MODEL_DONE);
}

// What is said of a table that lacks rows.
template <typename Train>
std::string ComplaintOf(const Train& train) {
  try {
    train();
  } catch (const DriverError& e) {
    return std::string(e.what()) + "; " + e.detail + "; " + e.hint;
  } catch (const Error& e) {
    return e.problem().message + "; " + e.problem().detail + "; " + e.problem().hint;
  }
  return "";
}

// Whoever reads them, all that are to stay, or one partition after the other.
TEST(Courses, NeedAllRows) {
  PackedTable::Options rows;
  rows.rows = 4000;
  rows.partitions = 8;
  rows.lost_buffers = 1;
  const PackedTable train{rows};
  const std::vector<int32_t> keys = {10, 10, 10, 10, 10, 10, 20, 20};
  const Configuration config = CourseMlp(1, 8);
  RunOptions options;
  options.threads = 1;
  const std::string expected =
      "partition 7 of \"synthetic_packed\" is not complete; It holds 493 rows instead of 500.; "
      "Pack the data again with hopper.training_preprocessor().";
  const auto group = [&] {
    GroupDriver groups(options, train, nullptr, keys, {}, {config}, /*planned=*/true);
    groups.Train();
  };
  hopper_data_plan plan = {};
  const auto run = [&] {
    RunDriver local(RunDriver::Planned{}, options, train, nullptr);
    local.AddConfig(config);
    plan = local.Plan();
    local.Start();
    local.WaitToEnd();
  };
  EXPECT_EQ(ComplaintOf(run), expected);
  EXPECT_EQ(plan.resident, 1);
  EXPECT_EQ(ComplaintOf(group), expected);
  options.memory_limit = plan.bytes_models + plan.bytes_data / 8;
  EXPECT_EQ(ComplaintOf(run), expected);
  EXPECT_EQ(plan.resident, 0);
  EXPECT_EQ(ComplaintOf(group), expected);
  EXPECT_EQ(ComplaintOf([&] {
              ConfigSource source;
              source.model_arch = config.arch;
              source.compile_params = config.compile;
              const std::vector<float> weights((20 + 1) * 8 + 4 * 8 + (8 + 1) * 3);
              source.weights = weights.data();
              source.n_weights = static_cast<int64_t>(weights.size());
              const TorchBackend backend;
              Evaluation evaluation(backend, source, FromC(train.desc()), 1, -1);
              evaluation.Choose({6, 7});
              for (const hopper_buffer& buffer : train.buffers()) {
                if (buffer.partition_id >= 6) evaluation.AddBuffer(FromC(buffer));
              }
              evaluation.Start();
            }),
            expected);
}

// Room for one task at a time: the others wait for it.
TEST(Courses, WaitWhereMemoryIsShort) {
  PackedTable::Options rows;
  rows.rows = Repetitions(2000);
  const PackedTable train{rows};
  RunOptions options;
  options.threads = 4;
  std::vector<Configuration> configs;
  for (int key = 1; key <= 4; ++key) {
    configs.push_back(CourseMlp(key, 4096));
    configs.back().fit = "batch_size=" + std::to_string(rows.rows / 4);
  }
  const auto expected = TrainAll(options, configs, train);
  {
    RunOptions alone = options;
    alone.threads = 1;
    RunDriver one(RunDriver::Planned{}, alone, train, nullptr);
    one.AddConfig(configs[0]);
    const hopper_data_plan plan = one.Plan();
    options.memory_limit = plan.bytes_models + plan.bytes_data;
  }
  GroupDriver groups(options, train, nullptr, {10, 10, 10, 10}, {}, configs, /*planned=*/true);
  const auto actual = groups.Train();
  for (const auto& [key, result] : expected) {
    EXPECT_STREQ(actual.at(key).raw.error_detail, "");
    EXPECT_EQ(ResultText(actual.at(key)), ResultText(result)) << key;
  }
}

}  // namespace
}  // namespace hopper
