#include "params/compared_loss.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <utility>

#include "params/expression.h"
#include "params/value.h"

namespace hopper {
namespace {

// All arguments but from_logits change the value.
std::string IdentityOf(const OutputLoss& loss) {
  const LossOptions& options = loss.options;
  if (options.expression != nullptr) {
    std::string text = options.expression->text();
    const auto blank = [](unsigned char c) { return std::isspace(c) != 0; };
    text.erase(std::remove_if(text.begin(), text.end(), blank), text.end());
    return text;
  }
  const LossKind kind = loss.loss == LossKind::kSparseCategoricalCrossentropy
                            ? LossKind::kCategoricalCrossentropy
                            : loss.loss;
  char numbers[256];
  std::snprintf(numbers, sizeof(numbers), " %.17g %.17g %.17g %.17g %d %.17g %.17g",
                options.label_smoothing, options.delta, options.alpha, options.gamma,
                options.class_balancing ? 1 : 0, options.beta, options.q);
  std::string identity = LossName(kind) + std::string(numbers);
  for (const int axis : options.axes) identity += " " + std::to_string(axis);
  return identity;
}

OutputLoss LossOfAll(const CompileParams& compile) {
  OutputLoss loss;
  loss.loss = compile.loss;
  loss.options = compile.loss_options;
  loss.name = compile.loss_name;
  return loss;
}

// Of an output; `place`: its number among the losses of outputs.
OutputLoss LossOf(const CompileParams& compile, const std::string& output, size_t place) {
  OutputLoss found = LossOfAll(compile);
  for (const OutputLoss& loss : compile.losses) {
    if (loss.output == output) found = loss;
  }
  if (!compile.losses_by_name && place < compile.losses.size()) found = compile.losses[place];
  found.output = output;
  return found;
}

// The outputs as far as they are known, one at least.
std::vector<OutputLoss> OutputsOf(const CompileParams& compile) {
  std::vector<OutputLoss> outputs;
  for (const MetricParams& metric : compile.metrics) {
    if (!metric.of_loss) continue;
    const std::string name = metric.prefix.substr(0, metric.prefix.size() - 1);
    outputs.push_back(LossOf(compile, name, outputs.size()));
  }
  if (outputs.empty()) outputs = compile.losses;
  if (outputs.empty()) outputs.push_back(LossOfAll(compile));
  for (OutputLoss& loss : outputs) loss.weight = 1.0;
  return outputs;
}

// False where the text does not say whose they are.
bool Weigh(const CompileParams& compile, std::vector<OutputLoss>* outputs) {
  const std::vector<LossWeight>& weights = compile.loss_weights;
  const bool alike = std::all_of(weights.begin(), weights.end(), [&](const LossWeight& one) {
    return one.weight == weights[0].weight;
  });
  if (weights.empty()) return true;
  if (outputs->size() == 1 && weights.size() == 1) {
    (*outputs)[0].weight = weights[0].weight;
    return true;
  }
  if (compile.weights_by_name) {
    for (OutputLoss& loss : *outputs) {
      for (const LossWeight& one : weights) {
        if (one.output == loss.output) loss.weight = one.weight;
      }
    }
    return true;
  }
  // They are in the model's order, a dictionary's is its own.
  const bool in_order = !compile.losses_by_name || alike;
  if (!in_order || weights.size() != outputs->size()) return false;
  for (size_t i = 0; i < weights.size(); ++i) (*outputs)[i].weight = weights[i].weight;
  return true;
}

std::string TotalOf(const std::vector<OutputLoss>& outputs) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputLoss& loss = outputs[i];
    if (loss.weight == 0.0) continue;
    std::string whose;
    if (outputs.size() > 1) whose = (loss.output.empty() ? std::to_string(i) : loss.output) + ": ";
    char weight[32] = "";
    if (loss.weight != 1.0) std::snprintf(weight, sizeof(weight), " * %.17g", loss.weight);
    parts.push_back(whose + IdentityOf(loss) + weight);
  }
  // By name, as far as names are known.
  std::stable_sort(parts.begin(), parts.end());
  std::string total;
  for (const std::string& part : parts) (total += part) += '\n';
  return total;
}

}  // namespace

ComparedLosses CompareLosses(const CompileParams& compile) {
  ComparedLosses compared;
  std::vector<OutputLoss> outputs = OutputsOf(compile);
  compared.total.name = compile.loss_name;
  compared.unweighted = TotalOf(outputs);
  std::string written;
  for (const LossWeight& one : compile.loss_weights) {
    if (!written.empty()) written += ", ";
    if (!one.output.empty()) written += one.output + " ";
    written += RenderReal(one.weight);
  }
  if (Weigh(compile, &outputs)) {
    compared.total.identity = TotalOf(outputs);
    const bool weighted = std::any_of(outputs.begin(), outputs.end(),
                                      [](const OutputLoss& loss) { return loss.weight != 1.0; });
    if (outputs.size() > 1) {
      written.clear();
      for (const OutputLoss& loss : outputs) {
        if (!written.empty()) written += ", ";
        if (!loss.output.empty()) written += loss.output + " ";
        written += RenderReal(loss.weight);
      }
    }
    compared.weights = weighted ? written : "";
  } else {
    compared.total.identity = compared.unweighted + written;
    compared.weights = written;
  }
  size_t place = 0;
  for (const MetricParams& metric : compile.metrics) {
    ComparedLoss one;
    if (metric.of_loss) {
      const OutputLoss& loss = outputs[place++];
      one = {metric.name + " " + IdentityOf(loss), loss.name};
    }
    compared.of_metrics.push_back(std::move(one));
  }
  return compared;
}

}  // namespace hopper
