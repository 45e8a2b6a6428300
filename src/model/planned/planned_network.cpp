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

std::vector<uint32_t> StreamsOf(const ModelSpec& spec) {
  std::vector<uint32_t> streams;
  std::vector<uint32_t> calls(spec.layers.size(), 0);
  for (const Node& node : spec.nodes) {
    // A layer that is called twice draws two dropout masks.
    streams.push_back(static_cast<uint32_t>(node.layer) +
                      calls[node.layer]++ * static_cast<uint32_t>(spec.layers.size()));
  }
  return streams;
}

}  // namespace

PlannedNetwork::PlannedNetwork(std::shared_ptr<const ModelSpec> spec)
    : spec_(std::move(spec)),
      parts_(PartsOf<PlannedNetwork>(*spec_)),
      streams_(StreamsOf(*spec_)) {}

PlannedNetwork::PlannedNetwork(std::shared_ptr<const ModelSpec> spec, NetworkParts parts)
    : spec_(std::move(spec)), parts_(std::move(parts)), streams_(StreamsOf(*spec_)) {}

std::unique_ptr<AutogradOp> PlannedNetwork::MakeAutogradOp(int /*layer*/,
                                                           PlanNode* /*node*/) const {
  return std::make_unique<LibtorchIsWanted>();
}

}  // namespace hopper
