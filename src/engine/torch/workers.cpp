#include "engine/torch/workers.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include <memory>
#include <utility>

#include "autograd/tensor_memory.h"

namespace hopper {

void WorkAlone() {
  thread_local bool alone = false;
  if (!alone) at::set_num_threads(1);
  alone = true;
}

namespace {

// Hands libtorch's warnings on, which would otherwise be written to stderr.
class WarningRelay : public c10::WarningHandler {
 public:
  explicit WarningRelay(WarningSink sink) : sink_(std::move(sink)) {}
  void process(const c10::Warning& warning) override {
    try {
      if (sink_) sink_(warning.msg());
    } catch (...) {  // no memory for a warning is no reason to stop
    }
  }

 private:
  const WarningSink sink_;
};

class TorchAround {
 public:
  TorchAround(MemoryAccount* account, bool promises, const WarningSink& warn)
      : relay_(warn), guard_(&relay_), memory_(account, promises) {}

 private:
  WarningRelay relay_;
  c10::WarningUtils::WarningHandlerGuard guard_;
  TensorMemoryScope memory_;
};

}  // namespace

WorkerSetting TorchSetting(const WorkerNeeds& needs) {
  return {[account = needs.account, warn = needs.warn, promises = needs.promises] {
            WorkAlone();
            return std::make_shared<TorchAround>(account, promises, warn);
          },
          needs.team_size, WorkAlone};
}

}  // namespace hopper
