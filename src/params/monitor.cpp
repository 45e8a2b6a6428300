#include "params/monitor.h"

#include "params/callable.h"
#include "params/compared_loss.h"

namespace hopper {
namespace {

constexpr const char* kValidation = "val_";

void CheckOne(const CompileParams& compile, const std::string& who, const std::string& monitor,
              MonitorMode mode, std::optional<bool> validation, ProblemList* problems) {
  const std::string watches = who + " watches \"" + monitor + "\"";
  const auto watched = FindWatched(compile, monitor);
  if (!watched) {
    std::vector<std::string> names = {"loss"};
    for (const MetricParams& metric : compile.metrics) names.push_back(MetricLabel(metric));
    std::vector<std::string> all = names;
    for (const std::string& name : names) all.push_back(kValidation + name);
    const std::string nearest = NearestNameHint(monitor, all);
    problems->Error(ErrorCode::kInvalidParameter,
                    watches + ", which this configuration does not compute",
                    "It computes " + Join(names) +
                        "; of the validation table, their names begin "
                        "with val_.",
                    nearest.empty() ? "Name the metric in metrics of compile_params." : nearest);
    return;
  }
  if (watched->validation && validation && !*validation) {
    problems->Error(ErrorCode::kInvalidParameter, watches + " but there is no validation table", "",
                    "Pass validation_table, or set monitor='" +
                        monitor.substr(std::string(kValidation).size()) + "'.");
  }
  if (WatchedDirection(compile, *watched, mode) == Direction::kUnknown) {
    problems->Error(ErrorCode::kInvalidParameter,
                    who + " cannot tell whether \"" + monitor + "\" should rise or fall", "",
                    "Add mode='max' or mode='min'.");
  }
}

}  // namespace

std::string MetricLabel(const MetricParams& metric) {
  if (metric.loss_options.expression != nullptr) {
    return metric.label.empty() ? metric.name : metric.label;
  }
  return metric.prefix + metric.label;
}

std::optional<Watched> FindWatched(const CompileParams& compile, const std::string& monitor) {
  Watched watched;
  const std::string prefix = kValidation;
  watched.validation = monitor.compare(0, prefix.size(), prefix) == 0;
  const std::string name = watched.validation ? monitor.substr(prefix.size()) : monitor;
  if (name == "loss") return watched;
  for (size_t i = 0; i < compile.metrics.size(); ++i) {
    if (name == compile.metrics[i].name || name == MetricLabel(compile.metrics[i])) {
      watched.metric = static_cast<int>(i);
      return watched;
    }
  }
  return std::nullopt;
}

std::string WatchedIdentity(const CompileParams& compile, const Watched& watched) {
  const ComparedLosses losses = CompareLosses(compile);
  if (watched.metric < 0) return losses.total.identity;
  const auto at = static_cast<size_t>(watched.metric);
  const MetricParams& metric = compile.metrics[at];
  return metric.of_loss ? losses.of_metrics[at].identity : MetricIdentity(metric);
}

Direction WatchedDirection(const CompileParams& compile, const Watched& watched, MonitorMode mode) {
  if (mode == MonitorMode::kMin) return Direction::kDown;
  if (mode == MonitorMode::kMax) return Direction::kUp;
  if (watched.metric < 0) return Direction::kDown;
  return MetricDirection(compile.metrics[static_cast<size_t>(watched.metric)]);
}

void CheckMonitors(const CompileParams& compile, const FitParams& fit,
                   std::optional<bool> validation, std::vector<ParamProblem>* problems) {
  ProblemList list(problems);
  const EarlyStoppingParams& early = fit.early_stopping;
  const PlateauParams& plateau = fit.plateau;
  if (early.active()) {
    CheckOne(compile, early.patience ? "early stopping" : "restore_best", early.monitor, early.mode,
             validation, &list);
  }
  if (!plateau.active) return;
  CheckOne(compile, "reduce_lr_on_plateau", plateau.monitor, plateau.mode, validation, &list);
  if (compile.optimizer.schedule.kind != ScheduleKind::kConstant) {
    list.Error(ErrorCode::kInvalidParameter,
               "reduce_lr_on_plateau needs a constant learning rate but the optimizer has a "
               "schedule",
               "", "Leave one of them out.");
  }
}

}  // namespace hopper
