#include "params/ranking.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "params/compared_loss.h"
#include "params/metric_params.h"
#include "params/monitor.h"
#include "params/params.h"
#include "params/text.h"

namespace hopper {
namespace {

constexpr const char* kLoss = "loss";

// The identity of a metric that the user has written, or nothing.
std::string Canonical(const std::string& wanted) {
  std::vector<ParamProblem> problems;
  CompileParams params;
  ProblemList list(&problems);
  ReadMetric(Value::String(wanted), &params, &list);
  return params.metrics.empty() || !problems.empty() ? "" : MetricIdentity(params.metrics[0]);
}

// What one text of compile_params has to be compared by. Configurations of a run share few texts.
struct Candidates {
  std::vector<std::string> identities;  // of its metrics
  std::vector<std::string> labels;      // their names without arguments
  std::vector<std::string> names;       // as they were written
  std::vector<Direction> directions;
  std::vector<std::string> losses;  // what those that are losses of outputs are; else empty
  std::string loss, loss_name;
  std::string unweighted, weights;  // the loss without loss_weights, and these
};

Candidates Read(const RankedConfig& config) {
  Candidates candidates;
  std::vector<ParamProblem> problems;
  CompileParams compile = ParseCompileParams(config.compile_params, &problems);
  for (const ParamProblem& problem : problems) {
    if (problem.warning) continue;
    // Not of this program, or damaged: it is compared with its like.
    candidates.loss = candidates.unweighted = config.compile_params;
    return candidates;
  }
  if (!config.metrics.empty()) NameAsShown(config.metrics, &compile);
  ComparedLosses compared = CompareLosses(compile);
  for (size_t i = 0; i < compile.metrics.size(); ++i) {
    const MetricParams& metric = compile.metrics[i];
    const ComparedLoss& loss = compared.of_metrics[i];
    candidates.identities.push_back(metric.of_loss ? loss.identity : MetricIdentity(metric));
    candidates.losses.push_back(loss.name);
    candidates.labels.push_back(MetricLabel(metric));
    candidates.names.push_back(metric.name);
    candidates.directions.push_back(MetricDirection(metric));
  }
  candidates.loss = std::move(compared.total.identity);
  candidates.loss_name = std::move(compared.total.name);
  candidates.unweighted = std::move(compared.unweighted);
  candidates.weights = std::move(compared.weights);
  return candidates;
}

int PlaceOf(const std::vector<std::string>& texts, const std::string& text) {
  const auto found = std::find(texts.begin(), texts.end(), text);
  return found == texts.end() ? -1 : static_cast<int>(found - texts.begin());
}

// Whether models may be compared by it unasked. The losses of outputs are parts of the loss, and
// nobody has named them.
bool Offers(const Candidates& candidates, size_t metric) {
  return candidates.directions[metric] != Direction::kUnknown && candidates.losses[metric].empty();
}

int FirstOffered(const Candidates& candidates) {
  for (size_t i = 0; i < candidates.directions.size(); ++i) {
    if (Offers(candidates, i)) return static_cast<int>(i);
  }
  return -1;
}

// Negative where x comes before y.
int Order(const std::optional<double>& x, const std::optional<double>& y, bool largest_first) {
  const auto kind = [](const std::optional<double>& value) {
    return !value ? 2 : std::isnan(*value) ? 1 : 0;
  };
  if (kind(x) != kind(y)) return kind(x) - kind(y);
  if (kind(x) != 0 || *x == *y) return 0;
  return (*x > *y) == largest_first ? -1 : 1;
}

std::optional<double> Unvalidated(const Measured& model) {
  return model.metric[1] ? std::nullopt : model.metric[0];
}

class Ranking {
 public:
  explicit Ranking(const std::vector<RankedConfig>& configs) {
    std::unordered_map<std::string, size_t> seen;
    for (const RankedConfig& config : configs) {
      std::string key = config.compile_params;
      for (const std::string& name : config.metrics) (key += '\0') += name;
      const auto [at, is_new] = seen.emplace(key, distinct_.size());
      if (is_new) distinct_.push_back(Read(config));
      which_.push_back(at->second);
    }
  }

  // Nothing where it is not the same for all; `problem` says why.
  std::optional<std::vector<Ranked>> ByLoss(Problem* problem) const {
    for (const Candidates& candidates : distinct_) {
      if (candidates.loss == distinct_[0].loss) continue;
      if (candidates.unweighted == distinct_[0].unweighted) {
        *problem =
            Different("loss_weights", "their loss", WeightsOf(distinct_[0]), WeightsOf(candidates));
      } else {
        *problem = Different("losses", "their loss", '"' + distinct_[0].loss_name + '"',
                             '"' + candidates.loss_name + '"');
      }
      return std::nullopt;
    }
    std::vector<Ranked> ranked;
    for (const size_t i : which_) ranked.push_back(OfLoss(distinct_[i], distinct_.size() > 1));
    return ranked;
  }

  std::optional<std::vector<Ranked>> ByMetric(const std::string& wanted, Problem* problem) const {
    std::vector<int> places;
    size_t lacking = 0;
    std::string identity;
    std::string loss;  // where it is that of an output
    const Candidates* without = nullptr;
    for (const Candidates& candidates : distinct_) {
      const int place = Find(candidates, wanted, identity);
      if (place >= 0 && identity.empty()) {
        identity = candidates.identities[Index(place)];
        loss = candidates.losses[Index(place)];
      }
      places.push_back(place);
      if (place >= 0) continue;
      const int other = loss.empty() ? -1 : PlaceOf(candidates.names, wanted);
      if (other >= 0) {
        *problem = Different("losses", '"' + wanted + '"', '"' + loss + '"',
                             '"' + candidates.losses[Index(other)] + '"');
        return std::nullopt;
      }
      without = &candidates;
      ++lacking;
    }
    if (without != nullptr) {
      const size_t n = static_cast<size_t>(
          std::count_if(which_.begin(), which_.end(), [&](size_t i) { return places[i] < 0; }));
      *problem = {ErrorCode::kInvalidParameter,
                  lacking == distinct_.size()
                      ? "metric \"" + wanted + "\" is not computed by the configurations"
                      : "metric \"" + wanted + "\" is not computed by all configurations",
                  WithThousands(n) + " of " + WithThousands(which_.size()) + " lack it: " +
                      (without->names.empty() ? "one computes no metrics."
                                              : "one computes " + Join(without->names) + "."),
                  InCommon()};
      return std::nullopt;
    }
    std::vector<Ranked> ranked;
    for (const size_t i : which_) {
      const size_t place = Index(places[i]);
      Ranked one;
      one.metric = places[i];
      one.direction = distinct_[i].directions[place];
      one.name = distinct_[which_[0]].names[Index(places[which_[0]])];
      ranked.push_back(std::move(one));
    }
    if (ranked[0].direction != Direction::kUnknown) return ranked;
    *problem = {ErrorCode::kInvalidParameter, "models cannot be ranked by \"" + wanted + "\"",
                "Nobody can say whether more or less of it is better.", InCommon()};
    return std::nullopt;
  }

  // Some configuration calls a metric so, whatever it is.
  bool Names(const std::string& name) const {
    return std::any_of(distinct_.begin(), distinct_.end(), [&](const Candidates& candidates) {
      return PlaceOf(candidates.names, name) >= 0;
    });
  }

  // Of those that have something of that name: is it an output's loss?
  bool IsLossOfOutput(const std::string& name) const {
    return std::any_of(distinct_.begin(), distinct_.end(), [&](const Candidates& candidates) {
      const int place = PlaceOf(candidates.names, name);
      return place >= 0 && !candidates.losses[Index(place)].empty();
    });
  }

  // By themselves.
  std::vector<Ranked> Choose() const {
    Problem problem;
    const Candidates& first = distinct_[0];
    for (size_t i = 0; i < first.identities.size(); ++i) {
      if (!Offers(first, i)) continue;
      if (auto ranked = ByMetric(first.identities[i], &problem)) return *ranked;
    }
    if (auto ranked = ByLoss(&problem)) return *ranked;
    return Groups();
  }

  // What models can be compared by.
  std::vector<std::string> Common() const {
    std::vector<std::string> names;
    bool one_loss = true;
    for (const Candidates& candidates : distinct_) {
      one_loss = one_loss && candidates.loss == distinct_[0].loss;
    }
    for (size_t i = 0; i < distinct_[0].identities.size(); ++i) {
      const bool all = std::all_of(distinct_.begin(), distinct_.end(), [&](const Candidates& c) {
        return PlaceOf(c.identities, distinct_[0].identities[i]) >= 0;
      });
      if (all && distinct_[0].directions[i] != Direction::kUnknown) {
        names.push_back(distinct_[0].names[i]);
      }
    }
    if (one_loss) names.emplace_back(kLoss);
    return names;
  }

 private:
  static size_t Index(int place) { return static_cast<size_t>(place); }

  // `identity`: of the metric that others have been found to have; it may be empty.
  static int Find(const Candidates& candidates, const std::string& wanted,
                  const std::string& identity) {
    if (!identity.empty()) return PlaceOf(candidates.identities, identity);
    for (const auto* texts : {&candidates.names, &candidates.identities, &candidates.labels}) {
      const int place = PlaceOf(*texts, wanted);
      if (place >= 0) return place;
    }
    return PlaceOf(candidates.identities, Canonical(wanted));
  }

  static Ranked OfLoss(const Candidates& candidates, bool mixed) {
    Ranked one;
    one.name = kLoss;
    one.instead = mixed && FirstOffered(candidates) >= 0;
    return one;
  }

  std::vector<Ranked> Groups() const {
    std::unordered_map<std::string, int> groups;
    std::vector<Ranked> of_distinct;
    for (const Candidates& candidates : distinct_) {
      const int place = FirstOffered(candidates);
      const std::string key =
          place < 0 ? "loss " + candidates.loss : "metric " + candidates.identities[Index(place)];
      Ranked one = OfLoss(candidates, false);
      if (place < 0 && !candidates.loss_name.empty()) {
        const std::string& weights = candidates.weights;
        one.name += " (" + candidates.loss_name;
        one.name += weights.empty() ? ")" : ", weights " + weights + ")";
      }
      if (place >= 0) {
        one.metric = place;
        one.direction = candidates.directions[Index(place)];
        one.name = candidates.names[Index(place)];
      }
      one.group = groups.emplace(key, static_cast<int>(groups.size())).first->second;
      of_distinct.push_back(std::move(one));
    }
    std::vector<Ranked> ranked;
    for (const size_t i : which_) ranked.push_back(of_distinct[i]);
    return ranked;
  }

  Problem Different(const std::string& what, const std::string& by, const std::string& some,
                    const std::string& others) const {
    return {ErrorCode::kInvalidParameter,
            "configurations with different " + what + " are not ranked by " + by,
            "Some have " + some + ", some " + others + ".", InCommon()};
  }

  static std::string WeightsOf(const Candidates& candidates) {
    return candidates.weights.empty() ? "none" : candidates.weights;
  }

  std::string InCommon() const {
    const std::vector<std::string> names = Common();
    if (names.empty()) return "Give all of them one metric, by metrics in compile_params.";
    return "They can be ranked by " + Join(names) + ".";
  }

  std::vector<Candidates> distinct_;
  std::vector<size_t> which_;  // of them, by configuration
};

}  // namespace

std::string SameMetric(const std::vector<MetricParams>& metrics, const std::string& wanted) {
  for (const MetricParams& metric : metrics) {
    if (metric.of_loss) continue;
    // With its output's name before it or without.
    const size_t prefix = metric.prefix.size();
    const bool prefixed = wanted.compare(0, prefix, metric.prefix) == 0;
    const std::string identity = Canonical(prefixed ? wanted.substr(prefix) : wanted);
    if (!identity.empty() && metric.prefix + identity == MetricIdentity(metric)) return metric.name;
  }
  return "";
}

size_t BestOf(const std::vector<Measured>& models, Direction direction) {
  const bool validated = std::any_of(models.begin(), models.end(), [](const Measured& model) {
    return model.metric[1].has_value();
  });
  const size_t split = validated ? 1 : 0;
  const bool ascends = direction == Direction::kUp;
  return static_cast<size_t>(
      std::min_element(models.begin(), models.end(),
                       [&](const Measured& x, const Measured& y) {
                         int order = Order(x.metric[split], y.metric[split], ascends);
                         if (order == 0) order = Order(x.loss[split], y.loss[split], false);
                         if (order == 0) order = Order(Unvalidated(x), Unvalidated(y), ascends);
                         return order < 0;
                       }) -
      models.begin());
}

std::optional<Problem> DifferentLosses(const std::vector<RankedConfig>& configs,
                                       const std::string& measure) {
  if (configs.empty()) return std::nullopt;
  const Ranking ranking(configs);
  Problem problem;
  const bool same = measure == kLoss ? ranking.ByLoss(&problem).has_value()
                                     : !ranking.IsLossOfOutput(measure) ||
                                           ranking.ByMetric(measure, &problem).has_value();
  if (same) return std::nullopt;
  const std::vector<std::string> common = ranking.Common();
  problem.hint = common.empty()
                     ? "Give all of them one metric, and name it as the objective."
                     : "What all of them have can be the objective: " + Join(common) + ".";
  return problem;
}

std::vector<Ranked> RankConfigs(const std::vector<RankedConfig>& configs,
                                const std::string& rank_by, bool lenient) {
  if (configs.empty()) return {};
  const Ranking ranking(configs);
  if (rank_by.empty()) return ranking.Choose();
  Problem problem;
  const auto ranked =
      rank_by == kLoss ? ranking.ByLoss(&problem) : ranking.ByMetric(rank_by, &problem);
  if (ranked) return *ranked;
  if (lenient) return ranking.Choose();
  if (rank_by != kLoss && !ranking.Names(rank_by)) NamedDirection(rank_by);  // no metric at all
  throw Error(problem);
}

}  // namespace hopper
