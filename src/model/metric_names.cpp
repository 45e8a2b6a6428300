#include "model/metric_names.h"

#include <algorithm>

#include "base/error.h"
#include "model/spec.h"
#include "params/params.h"

namespace hopper {

MetricNamesByOutput::MetricNamesByOutput(const DataDesc* data) {
  if (data == nullptr) return;
  several_ = data->outputs.size() > 1;
  weighted_ = data->weighted;
  inputs_ = data->inputs;
}

const std::vector<std::string>& MetricNamesByOutput::OutputsOf(std::string_view architecture) {
  const auto [at, is_new] = outputs_.try_emplace(Hash(architecture.data(), architecture.size()));
  if (!is_new) return at->second;
  std::vector<Problem> problems;
  const auto spec = inputs_.empty() ? ParseModel(architecture, nullptr, &problems)
                                    : ParseModelFor(architecture, inputs_, &problems);
  if (spec != nullptr) at->second = spec->OutputNames();
  return at->second;
}

std::vector<std::string> MetricNamesByOutput::Of(const std::string& compile_params,
                                                 std::string_view architecture) {
  std::vector<ParamProblem> problems;
  CompileParams compile = ParseCompileParams(compile_params, &problems);
  const bool by_output = std::any_of(compile.metrics.begin(), compile.metrics.end(),
                                     [](const MetricParams& m) { return !m.output.empty(); });
  if (!several_ && !by_output) return {};
  const std::vector<std::string>& outputs = OutputsOf(architecture);
  if (outputs.empty() || !FitToOutputs(outputs, weighted_, &compile, &problems)) return {};
  std::vector<std::string> names;
  for (const MetricParams& metric : compile.metrics) names.push_back(metric.name);
  return names;
}

}  // namespace hopper
