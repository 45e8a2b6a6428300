// Small runs of every kind, at random: each of them ends, and models that end have the bits that
// they have alone.
#include "support/random_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/group_driver.h"
#include "support/keras_models.h"
#include "support/repetitions.h"
#include "support/run_driver.h"

namespace hopper {
namespace {

class RandomRun {
 public:
  explicit RandomRun(uint32_t seed)
      : random_(seed), train_(Table(1, 6)), valid_(Table(2, 3)), validates_(Draw(0, 1) == 1) {
    options_.iterations = Draw(1, 4);
    options_.frequency = Draw(1, 2);
    options_.threads = Draw(1, 4);
    options_.training_metrics = static_cast<hopper_training_metrics>(Draw(1, 3));
    options_.starts = {0};
    for (int p = 1; p < train_.desc().n_partitions; p += Draw(1, 3)) options_.starts.push_back(p);
    const int n = Draw(1, 7);
    const bool watches = Draw(0, 1) == 1;
    const bool fails = Draw(0, 3) == 0;
    for (int key = 1; key <= n; ++key) configs_.push_back(Config(key, watches, fails));
  }

  // The limit that leaves room for so many partitions beside the models, or for all.
  void Limit() {
    if (Draw(0, 3) == 0) return;
    RunDriver run(RunDriver::Planned{}, options_, train_, Valid());
    for (const Configuration& config : configs_) run.AddConfig(config);
    options_.memory_limit = run.Plan().bytes_models + Largest() * Draw(1, 4);
  }

  // "" or what is wrong.
  std::string Train(Tally* tally) {
    const bool cancels = Draw(0, 3) == 0;
    Count(tally);
    tally->Count("cancelled", cancels);
    int events_left = cancels ? Draw(0, 12) : -1;
    std::map<int32_t, std::string> digests;
    {
      RunDriver run(RunDriver::Planned{}, options_, train_, Valid());
      for (const Configuration& config : configs_) run.AddConfig(config);
      run.Plan();
      run.Start();
      for (const hopper_event& event : run.WaitToEnd(events_left)) {
        if (event.type == HOPPER_EVENT_WARNING) return event.message;
      }
      if (cancels) return "";
      for (const Configuration& config : configs_) {
        const ModelResult result = run.Result(config.key);
        if (result.raw.status == HOPPER_MODEL_TRAINING) return "a model did not end";
        if (result.raw.status == HOPPER_MODEL_DONE) digests[config.key] = result.digest;
      }
    }
    tally->Count("with-models-that-failed", digests.size() < configs_.size());
    const bool compares = Draw(0, 4) == 0;
    tally->Count("compared", compares);
    return compares ? WhereOthersDiffer(digests) : "";
  }

  // "" or what is wrong.
  std::string TrainOnSegments(Tally* tally) {
    const int segments = Draw(1, 3);
    const std::vector<int32_t> keys = Keys(train_, segments);
    const std::vector<int32_t> valid_keys =
        validates_ ? Keys(valid_, segments) : std::vector<int32_t>();
    options_.memory_limit = int64_t{1} << 30;
    const auto on_segments = [&](const std::vector<Configuration>& configs) {
      return std::make_unique<GroupDriver>(options_, train_, Valid(), keys, valid_keys, configs,
                                           /*planned=*/true);
    };
    int64_t model = 0;
    int64_t data = 0;
    for (const Configuration& config : configs_) {
      const auto alone = on_segments({config});
      for (const auto& [key, plan] : alone->plans()) {
        model = std::max(model, plan.bytes_models);
        data = std::max(data, plan.bytes_data);
      }
    }
    options_.memory_limit = model * Draw(1, 2) + Largest() + (data - Largest()) * Draw(0, 4) / 4;
    Count(tally);
    tally->Count("with-data-above-memory", options_.memory_limit < model + data);
    const auto groups = on_segments(configs_);
    groups->Shuffle(static_cast<uint32_t>(random_()));
    groups->GoOnFor(Draw(0, 2));
    std::map<int32_t, std::string> digests;
    for (const auto& [key, result] : groups->Train()) {
      if (result.raw.status == HOPPER_MODEL_DONE) digests[key] = result.digest;
    }
    tally->Count("with-models-that-failed", digests.size() < configs_.size());
    if (groups->most_bytes() > options_.memory_limit) return "models have more than there is";
    return WhereOthersDiffer(digests);
  }

  std::string Text() const {
    return std::to_string(configs_.size()) + " models, " +
           std::to_string(train_.desc().n_partitions) + " partitions, " +
           std::to_string(options_.iterations) + " iterations, " +
           std::to_string(options_.threads) + " threads, limit " +
           std::to_string(options_.memory_limit) + ", " + configs_.front().fit;
  }

 private:
  static constexpr int64_t kRowBytes = 4 + 2;

  void Count(Tally* tally) const {
    tally->Count("runs");
    tally->Count("with-validation", validates_);
    tally->Count("with-early-stopping",
                 std::any_of(configs_.begin(), configs_.end(), [](const auto& config) {
                   return config.fit.find("patience") != std::string::npos;
                 }));
    tally->Count("with-little-memory", options_.memory_limit < RunOptions().memory_limit);
  }

  // From those of one thread with all memory.
  std::string WhereOthersDiffer(const std::map<int32_t, std::string>& digests) const {
    RunOptions plain = options_;
    plain.memory_limit = int64_t{1} << 30;
    plain.threads = 1;
    for (const auto& [key, result] : TrainAll(plain, configs_, train_, Valid())) {
      const auto found = digests.find(key);
      const bool done = result.raw.status == HOPPER_MODEL_DONE;
      if (done != (found != digests.end())) return "a model failed here or there only";
      if (done && found->second != result.digest) return "the bits differ";
    }
    return "";
  }
  std::vector<int32_t> Keys(const PackedTable& table, int segments) {
    std::vector<int32_t> keys;
    for (int p = 0; p < table.desc().n_partitions; ++p) keys.push_back(Draw(1, segments));
    return keys;
  }
  // Bytes of the largest partition.
  int64_t Largest() const {
    int64_t rows = 0;
    for (const PackedTable* table : {&train_, &valid_}) {
      rows = std::max<int64_t>(rows, (table->desc().n_rows - 1) / table->desc().n_partitions + 1);
    }
    return rows * kRowBytes;
  }

  int Draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  const PackedTable* Valid() const { return validates_ ? &valid_ : nullptr; }
  PackedTable::Options Table(uint64_t seed, int partitions) {
    PackedTable::Options options;
    options.x_shape = {4};
    options.seed = seed;
    options.rows_per_buffer = 9;
    options.partitions = Draw(1, partitions);
    options.rows = Draw(options.partitions, 40);
    return options;
  }
  Configuration Config(int key, bool watches, bool fails) {
    Configuration config;
    config.key = key;
    config.arch =
        KerasSequential({KerasDense("only", 3, "softmax", R"("batch_input_shape": [null, 4])")});
    const std::string rate = fails && Draw(0, 2) == 0 ? "1e38" : "0.0" + std::to_string(Draw(1, 9));
    config.compile = "loss='sparse_categorical_crossentropy', optimizer='SGD(lr=" + rate +
                     ", momentum=0.9)', metrics=['accuracy']";
    config.fit =
        "batch_size=" + std::to_string(Draw(1, 9)) + ", epochs=" + std::to_string(Draw(1, 2));
    if (!watches || Draw(0, 1) == 0) return config;
    const std::string monitor = validates_ && Draw(0, 1) == 1 ? "val_loss" : "loss";
    if (Draw(0, 2) > 0) {
      config.fit += ", patience=" + std::to_string(Draw(0, 1)) + ", monitor='" + monitor +
                    "', min_delta=0.05";
      if (Draw(0, 1) == 1) config.fit += ", restore_best=True";
    }
    if (Draw(0, 2) == 0) {
      config.fit += ", reduce_lr_on_plateau={'monitor': '" + monitor + "', 'patience': 1}";
    }
    return config;
  }

  std::mt19937 random_;
  RunOptions options_;
  const PackedTable train_;
  const PackedTable valid_;
  const bool validates_;
  std::vector<Configuration> configs_;
};

// As many as HOPPER_RANDOM_RUNS says, for bench/random_runs.
TEST(RandomRuns, End) {
  const RandomSeeds seeds = SeedsOfRandomRuns(Repetitions(1000));
  Tally tally;
  for (int64_t i = seeds.first; i < seeds.last; ++i) {
    RandomRun run(static_cast<uint32_t>(i));
    SCOPED_TRACE("run " + std::to_string(i) + ": " + run.Text());
    ASSERT_NO_THROW(run.Limit());
    std::string problem;
    ASSERT_NO_THROW(problem = run.Train(&tally));
    ASSERT_EQ(problem, "");
  }
}

// On segments whose memory is short, where models wait and data come in turns.
TEST(RandomGroups, End) {
  const RandomSeeds seeds = SeedsOfRandomRuns(Repetitions(300));
  Tally tally;
  for (int64_t i = seeds.first; i < seeds.last; ++i) {
    RandomRun run(static_cast<uint32_t>(i));
    SCOPED_TRACE("run " + std::to_string(i) + ": " + run.Text());
    std::string problem;
    ASSERT_NO_THROW(problem = run.TrainOnSegments(&tally));
    ASSERT_EQ(problem, "");
  }
}

}  // namespace
}  // namespace hopper
