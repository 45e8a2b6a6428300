// Gradients that are some rows of a table, beside those of the whole table.
#include "optim/gradient_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/philox.h"
#include "base/team.h"
#include "params/params.h"

namespace hopper {
namespace {

OptimizerParams Optimizer(const std::string& text) {
  std::vector<ParamProblem> problems;
  const OptimizerParams optimizer =
      ParseCompileParams("loss='mse', optimizer='" + text + "'", &problems).optimizer;
  EXPECT_TRUE(problems.empty()) << text;
  return optimizer;
}

TEST(GradientRows, ClearsEachRowOnce) {
  std::vector<float> gradients(40, 7.0F);
  GradientRows rows;
  EXPECT_EQ(rows.Find(4), nullptr);
  rows.Add(4, 3, {5, 1, 5, 9}, gradients.data());
  ASSERT_NE(rows.Find(4), nullptr);
  EXPECT_EQ(rows.Find(4)->rows, (std::vector<int64_t>{1, 5, 9}));
  for (int64_t i = 0; i < 36; ++i) {
    const bool cleared = i / 3 == 1 || i / 3 == 5 || i / 3 == 9;
    EXPECT_EQ(gradients[static_cast<size_t>(4 + i)], cleared ? 0.0F : 7.0F) << i;
  }
  gradients[4 + 15] = 2.0F;  // of row 5, which a second call reads, too
  rows.Add(4, 3, {10, 5, 0, 6}, gradients.data());
  EXPECT_EQ(rows.Find(4)->rows, (std::vector<int64_t>{0, 1, 5, 6, 9, 10}));
  EXPECT_EQ(gradients[4 + 15], 2.0F);
  EXPECT_EQ(gradients[4 + 18], 0.0F);
  rows.Clear();
  EXPECT_EQ(rows.Find(4), nullptr);
}

TEST(GradientRows, AreNotForPenaltiesAndNorms) {
  const std::vector<TrainableSpan> plain = {{0, 0, 8}};
  for (const char* text : {"SGD(lr=0.1)", "SGD(lr=0.1, clipvalue=0.5)", "AdamW(lr=0.1)"}) {
    EXPECT_TRUE(TakesRows(Optimizer(text), plain)) << text;
  }
  for (const char* text : {"SGD(lr=0.1, clipnorm=1.0)", "Adam(lr=0.1, global_clipnorm=1.0)",
                           "Lamb(learning_rate=0.1)"}) {
    EXPECT_FALSE(TakesRows(Optimizer(text), plain)) << text;
  }
  EXPECT_FALSE(TakesRows(Optimizer("SGD(lr=0.1)"), {{0, 0, 8, 0.0, 0.1}}));
  EXPECT_FALSE(TakesRows(Optimizer("SGD(lr=0.1)"), {{0, 0, 8}, {8, 8, 8, 0.1, 0.0}}));
}

// Shares of a team end within rows; what stands in other rows' gradients is not read.
TEST(GradientRows, GiveTheBitsOfAWholeTable) {
  const int64_t width = 7;
  const int64_t table = 20000 * width;
  const std::vector<TrainableSpan> spans = {
      {0, 0, 50}, {64, 64, table}, {64 + table, 64 + table, 9}};
  const auto flat_size = static_cast<size_t>(64 + table + 9);
  const Philox random(8, Purpose::kSearch, 0, 0);
  for (const char* text :
       {"SGD(lr=0.1)", "SGD(lr=0.1, clipvalue=0.2)", "SGD(lr=0.1, weight_decay=0.1)",
        "SGD(lr=0.1, momentum=0.9, nesterov=True)", "SGD(lr=0.1, use_ema=True)", "Adam(lr=0.01)",
        "Adam(lr=0.01, amsgrad=True, clipvalue=0.2)", "AdamW(lr=0.01, weight_decay=0.1)",
        "Adagrad(lr=0.1)", "Ftrl(lr=0.1)", "Lion(lr=0.01)"}) {
    const OptimizerParams optimizer = Optimizer(text);
    for (const int members : {1, 3}) {
      std::vector<float> whole(flat_size);
      for (size_t i = 0; i < flat_size; ++i) whole[i] = random.Uniform(i) - 0.5F;
      whole[64] = -0.0F;
      std::vector<float> by_rows = whole;
      const std::vector<float> start = whole;
      std::vector<float> whole_slots(flat_size * static_cast<size_t>(SlotCount(optimizer)));
      std::vector<float> slots = whole_slots;
      std::vector<uint16_t> shadow(flat_size), whole_shadow(flat_size);
      Team team(members, [] {});
      for (int64_t step = 0; step < 3; ++step) {
        std::vector<float> own(flat_size, NAN);
        GradientRows rows;
        std::vector<int64_t> read;
        for (int64_t row = step; row < 20000; row += 3) read.push_back(row);
        rows.Add(64, width, read, own.data());
        std::vector<float> gradients(flat_size, 0.0F);
        for (size_t i = 0; i < flat_size; ++i) {
          if (std::isnan(own[i]) && i >= 64 && i < static_cast<size_t>(64 + table)) continue;
          own[i] = gradients[i] =
              random.Uniform(static_cast<uint64_t>(step + 1) * 1000000 + i) - 0.5F;
        }
        ApplyOptimizer(optimizer, step, spans, whole.data(), gradients.data(), whole_slots.data(),
                       static_cast<int64_t>(flat_size), whole_shadow.data());
        const GradientRowsScope scope(&rows);
        ApplyOptimizer(optimizer, step, spans, by_rows.data(), own.data(), slots.data(),
                       static_cast<int64_t>(flat_size), shadow.data(),
                       members == 1 ? nullptr : &team);
        ASSERT_EQ(by_rows, whole) << text << ", step " << step;
        ASSERT_EQ(slots, whole_slots) << text << ", step " << step;
      }
      EXPECT_TRUE(std::signbit(by_rows[64]) || by_rows[64] != 0.0F);
      EXPECT_EQ(shadow, whole_shadow) << "every row was updated in one of the steps";
      EXPECT_NE(whole, start);
    }
  }
}

}  // namespace
}  // namespace hopper
