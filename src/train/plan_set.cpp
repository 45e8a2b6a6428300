#include "train/plan_set.h"

#include <functional>
#include <tuple>
#include <utility>

#include "base/worker_memory.h"

namespace hopper {

namespace {

// Of a node beside its buffers.
constexpr int64_t kNodeBytes = 1024;
// As large as the output: losses, probabilities, labels and scratch.
constexpr int64_t kLossCopies = 8;

auto Numbers(const PlanOptions& options) {
  return std::make_tuple(options.batch, options.training, options.linear, options.input_gradient,
                         options.seed, options.precision, options.measured_parts);
}

}  // namespace

LossPlan::LossPlan(const PlannedNetwork& network, const PlanOptions& options,
                   const Objective& objective, const LossBackend& backend)
    : plan(network, options), loss(objective, options.batch, KernelsHere(), backend) {}

bool operator==(const PlanKind& a, const PlanKind& b) {
  return a.network == b.network && Numbers(a.options) == Numbers(b.options) &&
         a.loss_text == b.loss_text && a.backend == b.backend;
}

// Kinds of one network and batch size are few.
size_t HashOf(const PlanKind& kind) {
  const size_t network = std::hash<const PlannedNetwork*>()(kind.network.get());
  const size_t step = static_cast<size_t>(kind.options.batch) * 2 + (kind.options.training ? 1 : 0);
  return network ^ (step * 0x9e3779b97f4a7c15U);
}

PlanSet::PlanSet(PlanKind kind) : kind_(std::move(kind)) {
  if (!kind_.options.training) return;
  gradients_ = AlignedArray<float>(static_cast<size_t>(kind_.network->spec().flat_size));
}

LossPlan& PlanSet::For(int64_t n) {
  std::unique_ptr<LossPlan>& plan = n == kind_.options.batch ? full_ : other_;
  if (plan == nullptr || (n != kind_.options.batch && n != other_size_)) {
    PlanOptions options = kind_.options;
    options.batch = n;
    plan.reset();
    plan = std::make_unique<LossPlan>(*kind_.network, options, *kind_.objective, *kind_.backend);
    if (n != kind_.options.batch) other_size_ = n;
  }
  return *plan;
}

int64_t PlanSet::bytes() const {
  const ModelSpec& spec = kind_.network->spec();
  constexpr int64_t kFloat = sizeof(float);
  const auto plan_bytes = [&](const std::unique_ptr<LossPlan>& plan, int64_t batch) {
    if (plan == nullptr) return int64_t{0};
    return BlockBytes(plan->plan.arena_floats() * kFloat) +
           kLossCopies * batch * ElementCount(spec.output_shape()) * kFloat;
  };
  return static_cast<int64_t>(gradients_.size()) * kFloat + plan_bytes(full_, kind_.options.batch) +
         plan_bytes(other_, other_size_) + 2 * static_cast<int64_t>(spec.nodes.size()) * kNodeBytes;
}

}  // namespace hopper
