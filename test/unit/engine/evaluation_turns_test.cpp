// Evaluation by several processes, each of which reads its partitions one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "model_hopper/torch.h"
#include "support/keras_models.h"
#include "support/run_driver.h"

namespace hopper {
namespace {

class EvaluationInTurns : public ::testing::Test {
 protected:
  EvaluationInTurns() : table_(Many()) {
    config_.arch = MlpJson(20, 8, 3);
    config_.compile =
        "loss='categorical_crossentropy', metrics=['accuracy', 'auc'], optimizer='SGD(lr=0.01)'";
    config_.fit = "batch_size=32";
    config_.weights = TrainAll({}, {config_}, PackedTable{{}}).at(1).weights;
    raw_.mst_key = 1;
    raw_.model_arch = config_.arch.data();
    raw_.model_arch_size = config_.arch.size();
    raw_.compile_params = config_.compile.c_str();
    raw_.fit_params = config_.fit.c_str();
    raw_.weights = config_.weights.data();
    raw_.n_weights = static_cast<int64_t>(config_.weights.size());
  }

  static PackedTable::Options Many() {
    PackedTable::Options options;
    options.rows = 5003;
    options.partitions = 13;
    return options;
  }

  hopper_evaluation* Create(int threads) {
    hopper_evaluation* evaluation = nullptr;
    Check(Api().evaluation.create(&raw_, &table_.desc(), threads, event_fd_.fd(), &evaluation,
                                  &error_));
    return evaluation;
  }
  void Check(int code) const {
    if (code != 0) throw std::runtime_error(error_.message);
  }

  // The least that an evaluation of these partitions runs with.
  int64_t LeastMemory(const std::vector<int32_t>& partitions) {
    int64_t low = 0, high = int64_t{1} << 30;
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      hopper_evaluation* evaluation = Create(1);
      Check(Api().evaluation.choose(evaluation, partitions.data(),
                                    static_cast<int32_t>(partitions.size()), &error_));
      const bool fits = Api().evaluation.limit(evaluation, middle, &error_) == 0;
      (fits ? high : low) = middle;
      Api().evaluation.free(evaluation);
    }
    return high;
  }

  void WaitForRoom(hopper_evaluation* evaluation, int32_t partition) {
    int room = 0;
    while ((room = Api().evaluation.room(evaluation, partition, &error_)) == 0) event_fd_.Wait();
    if (room < 0) throw std::runtime_error(error_.message);
  }

  // Appends the sums of these partitions; `skipped`: a buffer of theirs that does not come.
  void Sum(const std::vector<int32_t>& partitions, int threads, int64_t memory,
           std::vector<uint8_t>* sums, int skipped = -1) {
    hopper_evaluation* evaluation = Create(threads);
    try {
      Check(Api().evaluation.choose(evaluation, partitions.data(),
                                    static_cast<int32_t>(partitions.size()), &error_));
      Check(Api().evaluation.limit(evaluation, memory, &error_));
      Check(Api().evaluation.start(evaluation, &error_));
      int32_t last = -1;
      int n = 0;
      for (const hopper_buffer& buffer : table_.buffers(HOPPER_SPLIT_VALID)) {
        if (std::count(partitions.begin(), partitions.end(), buffer.partition_id) == 0) continue;
        if (n++ == skipped) continue;
        if (buffer.partition_id != last) WaitForRoom(evaluation, buffer.partition_id);
        last = buffer.partition_id;
        Check(Api().evaluation.add_buffer(evaluation, &buffer, &error_));
      }
      WaitForRoom(evaluation, table_.desc().n_partitions);
      const uint8_t* bytes = nullptr;
      size_t size = 0;
      int done = 0;
      while ((done = Api().evaluation.sums(evaluation, &bytes, &size, &error_)) == 0) {
        event_fd_.Wait();
      }
      if (done < 0) throw std::runtime_error(error_.message);
      sums->insert(sums->end(), bytes, bytes + size);
    } catch (...) {
      Api().evaluation.free(evaluation);
      throw;
    }
    Api().evaluation.free(evaluation);
  }

  // With all data in memory, in one process.
  hopper_event Whole() {
    hopper_evaluation* evaluation = Create(2);
    for (const hopper_buffer& buffer : table_.buffers(HOPPER_SPLIT_VALID)) {
      Check(Api().evaluation.add_buffer(evaluation, &buffer, &error_));
    }
    Check(Api().evaluation.start(evaluation, &error_));
    hopper_event event = {};
    while (Api().evaluation.poll(evaluation, &event, &error_) == 0) event_fd_.Wait();
    Api().evaluation.free(evaluation);
    return event;
  }

  PackedTable table_;
  Configuration config_;
  hopper_config raw_ = {};
  EventFd event_fd_;
  hopper_error error_ = {};
};

TEST_F(EvaluationInTurns, GivesTheBitsOfOneProcess) {
  const hopper_event expected = Whole();
  ASSERT_EQ(expected.n_metrics, 2);
  const std::vector<std::vector<int32_t>> processes = {
      {5, 6, 7, 8, 12}, {0, 1, 2, 3, 4}, {9, 10, 11}};
  for (const int threads : {1, 3}) {
    for (const int64_t memory : {LeastMemory(processes[0]), int64_t{1} << 30}) {
      std::vector<uint8_t> sums;
      for (const auto& partitions : processes) Sum(partitions, threads, memory, &sums);
      hopper_evaluation* total = Create(1);
      hopper_event event = {};
      Check(Api().evaluation.total(total, sums.data(), sums.size(), &event, &error_));
      Api().evaluation.free(total);
      EXPECT_EQ(event.loss, expected.loss);
      EXPECT_EQ(event.metrics[0], expected.metrics[0]);
      EXPECT_EQ(event.metrics[1], expected.metrics[1]);
    }
  }
}

TEST_F(EvaluationInTurns, FindsMissingRowsInEveryPlace) {
  const std::vector<int32_t> partitions = {2, 3, 12};
  std::vector<uint8_t> sums;
  int n = 0;
  for (const hopper_buffer& buffer : table_.buffers(HOPPER_SPLIT_VALID)) {
    n += static_cast<int>(std::count(partitions.begin(), partitions.end(), buffer.partition_id));
  }
  for (const int skipped : {0, n / 2, n - 1}) {
    EXPECT_THROW(Sum(partitions, 1, LeastMemory(partitions), &sums, skipped), std::runtime_error);
  }
}

TEST_F(EvaluationInTurns, RefusesWhatDoesNotFit) {
  std::vector<uint8_t> sums;
  EXPECT_THROW(Sum({0}, 1, LeastMemory({0}) - 1, &sums), std::runtime_error);
  Sum({0}, 1, LeastMemory({0}), &sums);
  EXPECT_FALSE(sums.empty());
}

}  // namespace
}  // namespace hopper
