#include "params/output_params.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "model_hopper/limits.h"
#include "params/loss_params.h"
#include "params/metric_params.h"
#include "params/metric_type.h"

namespace hopper {
namespace {

constexpr const char* kByName = "Write it by output, for example ";
// {'a': ...}, and no object of Keras.
bool IsByOutput(const Value& value) {
  return value.kind == Value::Kind::kDict && value.Find("class_name") == nullptr;
}

// Names of outputs: texts, each once.
bool CheckNames(const Value& value, const std::string& what, ProblemList* problems) {
  if (value.entries.size() > HOPPER_MAX_OUTPUTS) {
    problems->Error(ErrorCode::kLimitExceeded,
                    what + " names " + std::to_string(value.entries.size()) + " outputs",
                    "At most " + std::to_string(HOPPER_MAX_OUTPUTS) + " are possible.");
    return false;
  }
  std::vector<std::string> names;
  for (const ValueEntry& entry : value.entries) {
    if (!entry.key.IsText()) {
      problems->Error(ErrorCode::kInvalidParameter,
                      what + " names an output by " + Render(entry.key), "",
                      "Outputs have names, in quotes.");
      return false;
    }
    if (std::find(names.begin(), names.end(), entry.key.text) != names.end()) {
      problems->Error(ErrorCode::kInvalidParameter,
                      what + " names output \"" + entry.key.text + "\" twice");
      return false;
    }
    names.push_back(entry.key.text);
  }
  if (names.empty()) problems->Error(ErrorCode::kInvalidParameter, what + " names no output");
  return !names.empty();
}

bool TooLong(const MetricParams& metric, ProblemList* problems) {
  const size_t length = metric.name.substr(0, metric.name.find('(')).size();
  if (length < HOPPER_MAX_NAME) return false;
  problems->Error(
      ErrorCode::kLimitExceeded,
      "the name of a metric with that of its output has " + std::to_string(length) + " bytes",
      "At most " + std::to_string(HOPPER_MAX_NAME - 1) + " are possible.");
  return true;
}

void SetOutput(const std::string& output, MetricParams* metric) {
  metric->output = output;
  metric->prefix = output + "_";
  metric->name = metric->prefix + metric->name;
}

constexpr const char* kWeighted = "weighted_";

// What Keras calls a metric that has no name of its own: auc of tf.keras.metrics.AUC().
std::string LabelOf(const std::string& own) {
  const std::string name = own.substr(0, own.find('('));
  return SnakeCase(name.substr(name.rfind('.') + 1));
}

// Keras' numbers: the first of a name has none.
std::string Numbered(const std::string& name, std::set<std::string>* taken) {
  std::string numbered = name;
  for (int i = 1; !taken->insert(numbered).second; ++i) numbered = name + "_" + std::to_string(i);
  return numbered;
}

// Tells metrics of one output apart that have the same name: weighted ones from the others, and
// then by numbers. Places in lists are outputs only if there are several: `by_place`.
void NameApart(bool by_place, CompileParams* params) {
  using Output = std::pair<std::string, int>;
  const auto output_of = [by_place](const MetricParams& metric) {
    return Output(metric.output, by_place ? metric.place : -1);
  };
  std::set<std::pair<Output, std::string>> unweighted;
  for (const MetricParams& metric : params->metrics) {
    if (!metric.weighted && !metric.of_loss) unweighted.insert({output_of(metric), metric.own});
  }
  std::map<Output, std::set<std::string>> names;
  std::map<Output, std::set<std::string>> labels;
  for (MetricParams& metric : params->metrics) {
    if (metric.of_loss) continue;
    const Output output = output_of(metric);
    metric.apart = metric.weighted && unweighted.count({output, metric.own}) > 0;
    const std::string before = metric.apart ? kWeighted : "";
    if (metric.loss_options.expression == nullptr) {
      const bool given = !metric.written.empty();
      const std::string label = before + (given ? metric.own : LabelOf(metric.own));
      metric.label = Numbered(label, &labels[output]);
    }
    // Behind arguments nobody would read a number.
    const bool called = metric.written.empty() && metric.loss_options.expression == nullptr &&
                        metric.own.find('(') != std::string::npos;
    std::set<std::string>& taken = names[output];
    const std::string whole = before + metric.own;
    const bool again = called && taken.count(whole) > 0;
    metric.name = metric.prefix + Numbered(again ? metric.label : whole, &taken);
  }
}

// Of one output: a metric or a list of them; `place` or `output` says whose.
void ReadOf(const Value& value, const std::string& output, int place, bool weighted,
            CompileParams* params, ProblemList* problems) {
  if (value.IsNone()) return;
  const size_t before = params->metrics.size();
  if (value.IsSequence()) {
    for (const Value& item : value.items) ReadMetric(item, params, problems);
  } else {
    ReadMetric(value, params, problems);
  }
  for (size_t i = before; i < params->metrics.size(); ++i) {
    MetricParams& metric = params->metrics[i];
    metric.place = place;
    metric.weighted = weighted;
    if (!output.empty()) SetOutput(output, &metric);
    if (weighted && !metric.type->of_examples()) {
      problems->Error(ErrorCode::kNotSupported, "metric \"" + metric.name + "\" cannot be weighted",
                      "Only metrics that are means over the examples can.",
                      "Name it in metrics, where each example counts alike.");
    }
    if (TooLong(metric, problems)) return;
  }
}

}  // namespace

void ReadLosses(const Value& value, CompileParams* params, ProblemList* problems) {
  if (IsByOutput(value)) {
    if (!CheckNames(value, "loss", problems)) return;
    params->losses_by_name = true;
    for (const ValueEntry& entry : value.entries) {
      OutputLoss loss;
      loss.output = entry.key.text;
      if (ReadLoss(entry.value, &loss, problems)) params->losses.push_back(std::move(loss));
    }
  } else if (value.IsSequence()) {
    if (value.items.empty()) {
      problems->Error(ErrorCode::kInvalidParameter, "loss is an empty list", "",
                      "Name one loss, for example loss='mse', or one for each output.");
    }
    for (const Value& item : value.items) {
      OutputLoss loss;
      if (ReadLoss(item, &loss, problems)) params->losses.push_back(std::move(loss));
    }
  } else {
    OutputLoss loss;
    if (!ReadLoss(value, &loss, problems)) return;
    params->loss = loss.loss;
    params->loss_options = loss.options;
    params->loss_name = loss.name;
    return;
  }
  // What stands for all of them where one is asked for.
  if (params->losses.empty()) return;
  params->loss = params->losses[0].loss;
  params->loss_options = params->losses[0].options;
  params->loss_name = params->losses.size() == 1 ? params->losses[0].name : Render(value);
}

void ReadLossWeights(const Value& value, CompileParams* params, ProblemList* problems) {
  const Range range{-1e30, 1e30};
  const auto read = [&](const Value& number, const std::string& output) {
    const std::string label =
        "loss_weights" + (output.empty() ? "" : " of output \"" + output + "\"");
    const auto weight = ReadNumber(number, range, label, problems);
    if (weight) params->loss_weights.push_back({output, *weight});
  };
  if (value.IsNone()) return;
  if (value.kind == Value::Kind::kDict) {
    if (!CheckNames(value, "loss_weights", problems)) return;
    params->weights_by_name = true;
    for (const ValueEntry& entry : value.entries) read(entry.value, entry.key.text);
  } else if (value.IsSequence()) {
    for (const Value& item : value.items) read(item, "");
  } else {
    read(value, "");
  }
}

void ReadMetrics(const Value& value, bool weighted, CompileParams* params, ProblemList* problems) {
  const std::string what = weighted ? "weighted_metrics" : "metrics";
  const size_t before = params->metrics.size();
  if (value.IsNone()) return;
  // A grid of one choice keeps the list around it.
  if (value.IsSequence() && value.items.size() == 1 && IsByOutput(value.items[0])) {
    return ReadMetrics(value.items[0], weighted, params, problems);
  }
  if (IsByOutput(value)) {
    if (!CheckNames(value, what, problems)) return;
    for (const ValueEntry& entry : value.entries) {
      ReadOf(entry.value, entry.key.text, -1, weighted, params, problems);
    }
  } else if (!value.IsSequence()) {
    ReadOf(value, "", -1, weighted, params, problems);
  } else {
    if (value.items.size() > HOPPER_MAX_METRICS) {
      problems->Error(ErrorCode::kLimitExceeded,
                      what + " holds " + std::to_string(value.items.size()) + " metrics",
                      "At most " + std::to_string(HOPPER_MAX_METRICS) + " are possible.");
      return;
    }
    for (size_t i = 0; i < value.items.size(); ++i) {
      ReadOf(value.items[i], "", static_cast<int>(i), weighted, params, problems);
    }
  }
  // A list in the list is of an output.
  const bool by_place =
      value.IsSequence() && std::any_of(value.items.begin(), value.items.end(),
                                        [](const Value& item) { return item.IsSequence(); });
  for (size_t i = before; i < params->metrics.size(); ++i) {
    MetricParams& metric = params->metrics[i];
    metric.of_all = !by_place && metric.output.empty();
  }
  if (params->metrics.size() > HOPPER_MAX_METRICS) {
    problems->Error(ErrorCode::kLimitExceeded,
                    "there are " + std::to_string(params->metrics.size()) + " metrics",
                    "At most " + std::to_string(HOPPER_MAX_METRICS) + " are possible.");
    params->metrics.resize(HOPPER_MAX_METRICS);
  }
  NameApart(by_place, params);
}

void AddOutputLosses(CompileParams* params) {
  if (!params->losses_by_name || params->losses.size() < 2) return;
  for (const OutputLoss& loss : params->losses) {
    MetricParams metric;
    metric.type = &LossMetric();
    metric.loss = loss.loss;
    metric.loss_options = loss.options;
    metric.of_loss = true;
    metric.name = metric.own = metric.label = "loss";
    SetOutput(loss.output, &metric);
    params->metrics.push_back(std::move(metric));
  }
}

namespace {

// What FitToOutputs() does, one thing after the other.
class OutputFit {
 public:
  OutputFit(const std::vector<std::string>& outputs, CompileParams* params,
            std::vector<ParamProblem>* found)
      : outputs_(outputs),
        params_(params),
        found_(found),
        before_(found->size()),
        problems_(found),
        losses_(outputs.size()) {}

  bool Run(bool weighted) {
    if (!TakeLosses()) return false;
    TakeWeights();
    if (!TakeMetrics(weighted)) return false;
    params_->losses = std::move(losses_);
    params_->losses_by_name = true;
    AddLosses();
    return fine();
  }

 private:
  size_t n() const { return outputs_.size(); }
  bool fine() const { return found_->size() == before_; }

  // The number of an output; reports those that are not there.
  int NumberOf(const std::string& name, const std::string& what) {
    const auto at = std::find(outputs_.begin(), outputs_.end(), name);
    if (at != outputs_.end()) return static_cast<int>(at - outputs_.begin());
    const std::string nearest = NearestNameHint(name, outputs_);
    problems_.Error(ErrorCode::kInvalidParameter,
                    what + " names output \"" + name + "\", which the model does not have",
                    "Its outputs are " + Join(outputs_) + ".",
                    nearest.empty() ? "Use the names of the architecture's outputs." : nearest);
    return -1;
  }

  void WrongCount(const std::string& what, size_t count, const std::string& example) {
    problems_.Error(ErrorCode::kInvalidParameter,
                    what + " has " + std::to_string(count) + (count == 1 ? " entry" : " entries") +
                        " but the model has " + std::to_string(n()) +
                        (n() == 1 ? " output" : " outputs"),
                    "Its outputs are " + Join(outputs_) + ".", kByName + example);
  }

  bool TakeLosses() {
    std::vector<bool> known(n(), params_->losses.empty());
    if (params_->losses.empty()) {
      for (OutputLoss& loss : losses_) {
        loss.loss = params_->loss;
        loss.options = params_->loss_options;
        loss.name = params_->loss_name;
      }
    } else if (!params_->losses_by_name && params_->losses.size() != n()) {
      WrongCount("loss", params_->losses.size(), "loss={'" + outputs_[0] + "': 'mse'}.");
      return false;
    } else {
      for (size_t i = 0; i < params_->losses.size(); ++i) {
        const int at = params_->losses_by_name ? NumberOf(params_->losses[i].output, "loss")
                                               : static_cast<int>(i);
        if (at < 0) continue;
        losses_[static_cast<size_t>(at)] = params_->losses[i];
        known[static_cast<size_t>(at)] = true;
      }
    }
    for (size_t i = 0; i < n(); ++i) {
      losses_[i].output = outputs_[i];
      if (known[i] || !fine()) continue;
      problems_.Error(ErrorCode::kInvalidParameter,
                      "loss says nothing of output \"" + outputs_[i] + "\"", "",
                      "Name a loss for each output; loss_weights of 0 leaves one out of account.");
    }
    return true;
  }

  void TakeWeights() {
    const std::vector<LossWeight>& weights = params_->loss_weights;
    if (!weights.empty() && !params_->weights_by_name && weights.size() != n()) {
      return WrongCount("loss_weights", weights.size(),
                        "loss_weights={'" + outputs_[0] + "': 1.0}.");
    }
    for (size_t i = 0; i < weights.size(); ++i) {
      const int at = params_->weights_by_name ? NumberOf(weights[i].output, "loss_weights")
                                              : static_cast<int>(i);
      if (at >= 0) losses_[static_cast<size_t>(at)].weight = weights[i].weight;
    }
  }

  // Metrics in one list without lists are of every output, but where there is one for each: Keras 2
  // gives every output all of them, Keras 3 each its own.
  void GiveToAll(bool weighted) {
    std::vector<MetricParams>& metrics = params_->metrics;
    const auto flat = [&](const MetricParams& metric) {
      return metric.of_all && metric.output.empty() && metric.weighted == weighted;
    };
    std::vector<MetricParams> all;
    std::copy_if(metrics.begin(), metrics.end(), std::back_inserter(all), flat);
    if (all.empty() || all.back().place + 1 == static_cast<int>(n()) ||
        n() * all.size() > HOPPER_MAX_METRICS) {
      return;
    }
    std::vector<MetricParams> given;
    for (size_t i = 0; i < n(); ++i) {
      for (MetricParams metric : all) {
        metric.place = static_cast<int>(i);
        given.push_back(std::move(metric));
      }
    }
    const auto first = std::find_if(metrics.begin(), metrics.end(), flat);
    const auto at = first - metrics.begin();
    metrics.erase(std::remove_if(metrics.begin(), metrics.end(), flat), metrics.end());
    metrics.insert(metrics.begin() + at, given.begin(), given.end());
  }

  // False where a name has become too long.
  bool TakeMetrics(bool weighted) {
    if (n() > 1) {
      GiveToAll(false);
      GiveToAll(true);
    }
    int places = 0;
    for (MetricParams& metric : params_->metrics) {
      if (metric.of_loss) {
        metric.part = std::max(0, NumberOf(metric.output, "loss"));
      } else if (!metric.output.empty()) {
        metric.part = std::max(0, NumberOf(metric.output, "metrics"));
        if (n() == 1) metric.prefix.clear();
      } else if (n() > 1) {
        places = std::max(places, metric.place + 1);
        if (metric.place < 0 || metric.place >= static_cast<int>(n())) continue;
        metric.part = metric.place;
        SetOutput(outputs_[static_cast<size_t>(metric.place)], &metric);
        if (TooLong(metric, &problems_)) return false;
      }
    }
    NameApart(n() > 1, params_);
    for (MetricParams& metric : params_->metrics) metric.weighted = metric.weighted && weighted;
    const bool by_place = std::any_of(
        params_->metrics.begin(), params_->metrics.end(),
        [](const MetricParams& metric) { return !metric.of_loss && metric.output.empty(); });
    if (n() > 1 && (by_place || (places > 0 && places != static_cast<int>(n())))) {
      problems_.Error(ErrorCode::kInvalidParameter,
                      "metrics do not say which of " + std::to_string(n()) + " outputs they are of",
                      "Its outputs are " + Join(outputs_) + ".",
                      kByName + ("metrics={'" + outputs_[0] + "': ['mae']}."));
    }
    return true;
  }

  // The losses of several outputs are metrics, too.
  void AddLosses() {
    std::vector<MetricParams>& metrics = params_->metrics;
    const bool added = std::any_of(metrics.begin(), metrics.end(),
                                   [](const MetricParams& metric) { return metric.of_loss; });
    if (n() > 1 && !added && fine()) {
      const size_t others = metrics.size();
      AddOutputLosses(params_);
      for (size_t i = others; i < metrics.size(); ++i) {
        metrics[i].part = static_cast<int>(i - others);
      }
    }
    if (metrics.size() > HOPPER_MAX_METRICS) {
      problems_.Error(
          ErrorCode::kLimitExceeded,
          "there are " + std::to_string(metrics.size()) + " metrics with the losses of the outputs",
          "At most " + std::to_string(HOPPER_MAX_METRICS) + " are possible.");
    }
  }

  const std::vector<std::string>& outputs_;
  CompileParams* params_;
  std::vector<ParamProblem>* found_;
  const size_t before_;
  ProblemList problems_;
  std::vector<OutputLoss> losses_;  // one for each output
};

}  // namespace

bool FitToOutputs(const std::vector<std::string>& outputs, bool weighted, CompileParams* params,
                  std::vector<ParamProblem>* found) {
  return OutputFit(outputs, params, found).Run(weighted);
}

namespace {

// What FitToOutputs() has given to several outputs, is of as many as names tell: behind the metrics
// are their losses.
void GiveAsShown(const std::vector<std::string>& shown, CompileParams* params) {
  std::vector<MetricParams>& metrics = params->metrics;
  const auto first_loss = std::find_if(metrics.begin(), metrics.end(),
                                       [](const MetricParams& metric) { return metric.of_loss; });
  const std::vector<MetricParams> all(metrics.begin(), first_loss);
  const bool flat =
      std::all_of(all.begin(), all.end(), [](const MetricParams& metric) { return metric.of_all; });
  if (all.empty() || !flat || shown.size() % (all.size() + 1) != 0) return;
  const size_t n = shown.size() / (all.size() + 1);
  const auto is_loss = [](const std::string& name) {
    return name.size() > 5 && name.compare(name.size() - 5, 5, "_loss") == 0;
  };
  if (n < 2 || all.size() == n ||
      !std::all_of(shown.end() - static_cast<std::ptrdiff_t>(n), shown.end(), is_loss)) {
    return;
  }
  std::vector<MetricParams> more;
  for (size_t i = 1; i < n; ++i) more.insert(more.end(), all.begin(), all.end());
  metrics.insert(first_loss, more.begin(), more.end());
}

}  // namespace

void NameAsShown(const std::vector<std::string>& shown, CompileParams* params) {
  // Arguments may have been cut, and outputs may be called like metrics.
  const auto head = [](const std::string& name) { return name.substr(0, name.find('(')); };
  // What stands before `own`; false where the name is not of that metric.
  const auto split = [](const std::string& name, const std::string& own, std::string* prefix) {
    const size_t before = name.size() - std::min(name.size(), own.size());
    *prefix = name.substr(0, before);
    return name.substr(before) == own && (before == 0 || prefix->back() == '_');
  };
  std::string prefix;
  GiveAsShown(shown, params);
  const size_t written = params->metrics.size();
  for (size_t i = 0; i < std::min(written, shown.size()); ++i) {
    MetricParams& metric = params->metrics[i];
    // What is there for all of them stands behind what is before it.
    const std::string own = metric.name.substr(metric.prefix.size() +
                                               (metric.apart ? std::string(kWeighted).size() : 0));
    const std::string label = metric.label.substr(metric.apart ? std::string(kWeighted).size() : 0);
    // Its name may be apart for one output, and not among several, or the other way round.
    metric.apart = metric.weighted && split(head(shown[i]), kWeighted + head(own), &prefix);
    if (!metric.apart && !split(head(shown[i]), head(own), &prefix)) {
      metric.name = metric.prefix + own;
      metric.label = label;
      continue;
    }
    metric.prefix = prefix;
    metric.label = (metric.apart ? kWeighted : "") + label;
    metric.name = prefix + (metric.apart ? kWeighted : "") + own;
  }
  for (size_t i = written; i < shown.size(); ++i) {
    if (!split(shown[i], "loss", &prefix)) return;
    MetricParams metric;
    const size_t output = params->losses.size() > 1 ? i - written : params->losses.size();
    const bool known = output < params->losses.size();
    metric.type = &LossMetric();
    metric.loss = known ? params->losses[output].loss : params->loss;
    metric.loss_options = known ? params->losses[output].options : params->loss_options;
    metric.of_loss = true;
    metric.name = shown[i];
    metric.own = metric.label = "loss";
    metric.prefix = prefix;
    params->metrics.push_back(std::move(metric));
  }
}

}  // namespace hopper
