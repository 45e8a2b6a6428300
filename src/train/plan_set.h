// The plans of one model for batches of different sizes.
#pragma once

#include <memory>

#include "loss/planned_loss.h"
#include "model/network/step_plan.h"

namespace hopper {

// A plan with the loss that follows it.
struct LossPlan {
  StepPlan plan;
  PlannedLoss loss;
  LossPlan(const Network& network, const PlanOptions& options, const CompileParams& compile);
};

// Makes plans when they are first needed and keeps two: the one of a full batch and the one of
// the latest other size. `network` and `compile` outlive it.
class PlanSet {
 public:
  PlanSet(const Network& network, const PlanOptions& options, const CompileParams& compile)
      : network_(network), options_(options), compile_(compile) {}

  // options.batch is the size of a full batch.
  LossPlan& For(int64_t n) {
    std::unique_ptr<LossPlan>& plan = n == options_.batch ? full_ : other_;
    if (plan == nullptr || (n != options_.batch && n != other_size_)) {
      PlanOptions options = options_;
      options.batch = n;
      plan.reset();
      plan = std::make_unique<LossPlan>(network_, options, compile_);
      if (n != options_.batch) other_size_ = n;
    }
    return *plan;
  }

 private:
  const Network& network_;
  const PlanOptions options_;
  const CompileParams& compile_;
  std::unique_ptr<LossPlan> full_;
  std::unique_ptr<LossPlan> other_;
  int64_t other_size_ = 0;
};

}  // namespace hopper
