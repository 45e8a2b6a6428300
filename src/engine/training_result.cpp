#include "engine/training_result.h"

#include "engine/warm_start.h"

namespace hopper {

EndedStopping StoppingOf(const Trainer& trainer, const ModelState& state) {
  const MonitorState& monitor = state.monitor;
  EndedStopping ended;
  ended.stopped = Stopping::Stopped(monitor);
  ended.best_iteration = static_cast<int32_t>(monitor.best_iteration);
  ended.kept_iteration = static_cast<int32_t>(trainer.DeliveredIteration(state));
  ended.learning_rate = static_cast<double>(trainer.stopping().LearningRate(monitor));
  ended.mixed = IsMixed(state.numerics_class);
  return ended;
}

}  // namespace hopper
