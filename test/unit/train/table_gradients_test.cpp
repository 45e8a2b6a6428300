// Tables of many ids, of which a step reads few.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/philox.h"
#include "model/network/network.h"
#include "model/planned/step_plan.h"
#include "optim/gradient_rows.h"
#include "support/autograd.h"
#include "support/data_desc.h"
#include "train/trainer.h"

namespace hopper {
namespace {

constexpr int64_t kRows = 300;
constexpr int64_t kWidth = 5;
constexpr int64_t kIds = 4;
constexpr int64_t kExamples = 50;

// One layer is called for the ids and for twice the ids, another one for the ids.
const char kModel[] = R"({"class_name": "Functional", "keras_version": "2.15.0", "config": {
  "name": "m", "layers": [
  {"class_name": "InputLayer", "name": "x", "config": {"name": "x", "batch_input_shape": [null, 4]},
   "inbound_nodes": []},
  {"class_name": "Rescaling", "name": "twice", "config": {"name": "twice", "scale": 2.0},
   "inbound_nodes": [[["x", 0, 0, {}]]]},
  {"class_name": "Embedding", "name": "a", "config": {"name": "a", "input_dim": 300, "output_dim": 5},
   "inbound_nodes": [[["x", 0, 0, {}]], [["twice", 0, 0, {}]]]},
  {"class_name": "Embedding", "name": "b", "config": {"name": "b", "input_dim": 150, "output_dim": 5},
   "inbound_nodes": [[["x", 0, 0, {}]]]},
  {"class_name": "Add", "name": "sum", "config": {"name": "sum"},
   "inbound_nodes": [[["a", 0, 0, {}], ["a", 1, 0, {}], ["b", 0, 0, {}]]]},
  {"class_name": "Flatten", "name": "flat", "config": {"name": "flat"},
   "inbound_nodes": [[["sum", 0, 0, {}]]]},
  {"class_name": "Dense", "name": "y", "config": {"name": "y", "units": 1},
   "inbound_nodes": [[["flat", 0, 0, {}]]]}],
  "input_layers": [["x", 0, 0]], "output_layers": [["y", 0, 0]]}})";

class TableGradients : public testing::Test {
 protected:
  TableGradients() { at::set_num_threads(1); }

  Trainer Make(const std::string& optimizer, const std::string& fit) const {
    std::vector<ParamProblem> problems;
    const Shape shape = {kIds};
    Trainer trainer(std::make_shared<const Network>(ParseModel(kModel, &shape)),
                    ParseCompileParams("loss='mse', optimizer='" + optimizer + "'", &problems),
                    ParseFitParams(fit, &problems), desc_, Autograd(), 3);
    EXPECT_TRUE(problems.empty());
    return trainer;
  }
  Partition Examples() const {
    const Philox random(5, Purpose::kPack, 0, 0);
    Partition partition;
    partition.n = kExamples;
    partition.buffer_starts = {0};
    partition.x = AlignedArray<uint8_t>(static_cast<size_t>(kExamples * kIds) * 4);
    partition.y = AlignedArray<uint8_t>(static_cast<size_t>(kExamples) * 4);
    for (int64_t i = 0; i < kExamples * kIds; ++i) {
      const float id = std::floor(random.Uniform(static_cast<uint64_t>(i)) * 150.0F);
      std::memcpy(partition.x.data() + 4 * i, &id, 4);
    }
    for (int64_t i = 0; i < kExamples; ++i) {
      const float y = random.Uniform(static_cast<uint64_t>(100000 + i));
      std::memcpy(partition.y.data() + 4 * i, &y, 4);
    }
    return partition;
  }

  DataDesc desc_ = MakeDesc(ValueType::kFloat32, {kIds}, {}, kExamples);
};

// Clipping by a norm that none reaches changes no bit, but wants the whole gradient. Batches of 1
// and of 7 read few rows; of 30, so many of the smaller table that its gradient is whole.
TEST_F(TableGradients, HaveTheBitsOfWholeTables) {
  const Partition examples = Examples();
  std::atomic<bool> cancel{false};
  for (const char* fit :
       {"batch_size=1", "batch_size=7, epochs=3", "batch_size=30, epochs=2", "batch_size=50"}) {
    for (const std::string optimizer :
         {"SGD(lr=0.1", "SGD(lr=0.01, momentum=0.9", "SGD(lr=0.1, momentum=0.9", "Adam(lr=0.01"}) {
      const Trainer by_rows = Make(optimizer + ")", fit);
      const Trainer whole = Make(optimizer + ", clipnorm=1e30)", fit);
      ModelState state = by_rows.InitialState(nullptr, "class");
      ModelState expected = whole.InitialState(nullptr, "class");
      const AlignedArray<float> start = state.params.Clone();
      VisitEnd end = VisitEnd::kDone;
      for (int visit = 0; visit < 2 && end == VisitEnd::kDone; ++visit) {
        MetricSums sums, expected_sums;
        end = whole.Visit(&expected, examples, 0, cancel, &expected_sums);
        ASSERT_EQ(by_rows.Visit(&state, examples, 0, cancel, &sums), end) << optimizer << fit;
        EXPECT_EQ(sums.examples, expected_sums.examples);
        if (end == VisitEnd::kDone) {
          EXPECT_EQ(sums.loss, expected_sums.loss);
        }
      }
      EXPECT_EQ(state.step, expected.step)
          << "of one that diverges: with batches of 1 and momentum";
      ASSERT_TRUE(end == VisitEnd::kDone || optimizer == "SGD(lr=0.1, momentum=0.9") << optimizer;
      if (end != VisitEnd::kDone) continue;
      const size_t bytes = start.size() * sizeof(float);
      EXPECT_EQ(std::memcmp(state.params.data(), expected.params.data(), bytes), 0) << fit;
      EXPECT_NE(std::memcmp(state.params.data(), start.data(), bytes), 0);
    }
  }
}

TEST_F(TableGradients, AreNotWrittenWhereNoIdIs) {
  const Shape shape = {kIds};
  const Network network(ParseModel(kModel, &shape));
  const ModelSpec& spec = network.spec();
  AlignedArray<float> params(spec.flat_size);
  AlignedArray<float> gradients(spec.flat_size);
  InitializeWeights(spec, 1, params.data());
  const std::vector<float> ids = {3, 0, 3, 149, 17, 18, 3, 40};
  PlanOptions options;
  options.batch = 2;
  options.training = true;
  StepPlan plan(network, options);
  plan.SetInput(ids.data());
  StepArguments step;
  step.params = params.data();
  step.gradients = gradients.data();
  GradientRows rows;
  for (const bool by_rows : {true, false, true}) {
    std::fill_n(gradients.data(), gradients.size(), NAN);
    rows.Clear();
    const GradientRowsScope scope(by_rows ? &rows : nullptr);
    plan.Forward(step);
    std::fill_n(plan.output_gradient(), 2, 1.0F);
    plan.Backward(step);
    const WeightSpec& a = spec.weights[0];
    ASSERT_EQ(a.size(), kRows * kWidth);
    ASSERT_EQ(rows.Find(a.offset) != nullptr, by_rows);
    if (by_rows) {
      EXPECT_EQ(rows.Find(a.offset)->rows,
                (std::vector<int64_t>{0, 3, 6, 17, 18, 34, 36, 40, 80, 149, 298}));
    }
    for (int64_t row = 0; row < kRows; ++row) {
      const bool read = row == 0 || row == 3 || row == 6 || row == 17 || row == 18 || row == 34 ||
                        row == 36 || row == 40 || row == 80 || row == 149 || row == 298;
      const float value = gradients[static_cast<size_t>(a.offset + row * kWidth)];
      if (read) {
        EXPECT_TRUE(std::isfinite(value) && value != 0.0F) << row;
      } else if (by_rows) {
        EXPECT_TRUE(std::isnan(value)) << row;
      } else {
        EXPECT_EQ(value, 0.0F) << row;
      }
    }
  }
}

}  // namespace
}  // namespace hopper
