// A step of the optimizer over tens of millions of weights takes seconds: it looks at cancel in
// each of its passes over them, and a team's members end with their owner.
#include "base/cancel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/pieces.h"
#include "base/team.h"
#include "optim/constraint.h"
#include "optim/optimizer.h"
#include "params/params.h"

namespace hopper {
namespace {

constexpr int kPieces = 3;
constexpr int64_t kWidth = 1024;
constexpr int64_t kSize = kPieces * static_cast<int64_t>(kPieceBytes / sizeof(float));

std::atomic<int> looks{0};
std::atomic<int> cancel_at{0};
std::atomic<bool> cancelled{false};

struct Case {
  std::string optimizer;
  int passes;  // over the weights or their gradients
  double l2 = 0.0;
  ConstraintKind constraint = ConstraintKind::kNone;
};

class CancelledUpdate : public testing::TestWithParam<Case> {
 protected:
  CancelledUpdate() {
    ObserveLooks([] {
      if (++looks == cancel_at) cancelled = true;
    });
  }
  ~CancelledUpdate() override { ObserveLooks(nullptr); }

  // The looks of a step that is cancelled at one of them; 0: it is not.
  int LooksOfStep(int at, Team* team) {
    looks = 0;
    cancel_at = at;
    cancelled = false;
    const CancelScope cancels(cancelled);
    const auto step = [&] {
      ApplyOptimizer(optimizer_, 1, {span_}, params_.data(), gradients_.data(), slots_.data(),
                     kSize, nullptr, team);
    };
    if (at == 0) {
      step();
    } else {
      EXPECT_THROW(step(), Cancelled) << "look " << at;
    }
    return looks;
  }

  void SetUp() override {
    std::vector<ParamProblem> problems;
    optimizer_ =
        ParseCompileParams("loss='mse', optimizer='" + GetParam().optimizer + "'", &problems)
            .optimizer;
    ASSERT_TRUE(problems.empty()) << problems.front().message;
    span_.size = kSize;
    span_.l2 = GetParam().l2;
    if (GetParam().constraint != ConstraintKind::kNone) {
      span_.constraint = std::make_shared<const Constraint>(
          ConstraintSpec{GetParam().constraint, 0.0, 2.0, 1.0, {0}},
          std::vector<int64_t>{kSize / kWidth, kWidth}, std::vector<int64_t>{kWidth, 1});
    }
    params_.assign(kSize, 0.5F);
    gradients_.assign(kSize, 0.25F);
    slots_.assign(static_cast<size_t>(SlotCount(optimizer_)) * kSize, 0.0F);
  }

  OptimizerParams optimizer_;
  TrainableSpan span_;
  std::vector<float> params_, gradients_, slots_;
};

TEST_P(CancelledUpdate, EndsWithinAPieceOfEachPass) {
  Team pair(2, [] {});
  for (Team* team : {static_cast<Team*>(nullptr), &pair}) {
    const int all = LooksOfStep(0, team);
    // Between two pieces, at least.
    EXPECT_GE(all, GetParam().passes * (kPieces - 1));
    // The owner, which has half of a team's looks, is at work still.
    for (const int at : {1, all / 2}) {
      // The member that is not the owner may have begun its next piece.
      EXPECT_LE(LooksOfStep(at, team), at + (team == nullptr ? 0 : 2)) << "of " << all;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Passes, CancelledUpdate,
                         testing::Values(Case{"Adam()", 1}, Case{"Adam(use_ema=True)", 1},
                                         Case{"SGD()", 1, 0.1}, Case{"SGD(clipnorm=1.0)", 3},
                                         Case{"SGD(clipnorm=1.0)", 4, 0.1},
                                         Case{"SGD(global_clipnorm=1.0)", 3}, Case{"Lamb()", 4},
                                         Case{"SGD()", 2, 0.0, ConstraintKind::kNonNeg},
                                         Case{"SGD()", 3, 0.0, ConstraintKind::kMaxNorm}),
                         [](const auto& info) { return "Case" + std::to_string(info.index); });

}  // namespace
}  // namespace hopper
