#include "model/planned/planned_network.h"

#include <utility>

#include "base/error.h"

namespace hopper {
namespace {

class LibtorchIsWanted : public AutogradOp {
 public:
  void Forward(const StepArguments& /*step*/) override { Refuse(); }
  void Backward(const StepArguments& /*step*/) override { Refuse(); }
  void Release() override {}

 private:
  static void Refuse() {
    throw Error(ErrorCode::kInternal, "a layer is to run that only libtorch computes");
  }
};

}  // namespace

PlannedNetwork::PlannedNetwork(std::shared_ptr<const ModelSpec> spec)
    : PlannedNetwork(spec, PartsOf<PlannedNetwork>(*spec)) {}

PlannedNetwork::PlannedNetwork(std::shared_ptr<const ModelSpec> spec, NetworkParts parts)
    : spec_(std::move(spec)), parts_(std::move(parts)) {
  std::vector<uint32_t> calls(spec_->layers.size(), 0);
  for (const Node& node : spec_->nodes) {
    // A layer that is called twice draws two dropout masks.
    streams_.push_back(static_cast<uint32_t>(node.layer) +
                       calls[node.layer]++ * static_cast<uint32_t>(spec_->layers.size()));
  }
}

std::unique_ptr<AutogradOp> PlannedNetwork::MakeAutogradOp(int /*layer*/,
                                                           PlanNode* /*node*/) const {
  return std::make_unique<LibtorchIsWanted>();
}

}  // namespace hopper
