// Population based training (Jaderberg et al.: "Population Based Training of Neural Networks",
// 2017) in generations: a population trains for a while; then each of the worst goes on from the
// state of one of the best (exploit) with changed parameters (explore). What the architecture
// depends on stays.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "search/algorithms/common.h"
#include "search/algorithms/rows.h"

namespace hopper {
namespace {

// Ray Tune's defaults; its factors are 1.2 and 0.8.
struct PbtOptions {
  int64_t population = 8;
  int64_t interval = 1;
  int64_t generations = 5;
  double quantile = 0.25;
  double resample = 0.25;
};

class Pbt : public SearchAlgorithm {
 public:
  Pbt(std::unique_ptr<SearchProposer> proposer, PbtOptions options)
      : proposer_(std::move(proposer)), options_(options) {}

  std::optional<SearchWork> Next(SearchJournal* journal) override {
    while (true) {
      const int64_t resource = generation_ * options_.interval;
      if (generation_ == 1 && static_cast<int64_t>(members_.size()) < options_.population) {
        if (const auto trial = journal->Propose(proposer_.get(), -1, 1, resource)) {
          members_.push_back(*trial);
        } else {
          options_.population = static_cast<int64_t>(members_.size());
        }
        continue;
      }
      bool all_told = true;
      for (const int64_t member : members_) {
        const Trial& trial = journal->trial(member);
        if (trial.ResultAt(resource) != nullptr || (!trial.running && !trial.GoesOn())) continue;
        all_told = false;
        if (!trial.running) return SearchWork{member, resource};
      }
      if (!all_told || members_.empty()) return {};
      if (generation_ == options_.generations) {
        Complete(journal);
        return {};
      }
      Evolve(journal);
      ++generation_;
    }
  }

  void Told(int64_t /*trial*/, SearchJournal* /*journal*/) override {}

 private:
  void Complete(SearchJournal* journal) {
    for (const int64_t member : members_) {
      if (!journal->trial(member).GoesOn()) continue;
      Decision decision;
      decision.kind = DecisionKind::kCompleted;
      decision.trial = member;
      decision.rung = static_cast<int>(generation_);
      decision.resource = journal->trial(member).resource;
      journal->Note(std::move(decision));
    }
    members_.clear();
  }

  void Evolve(SearchJournal* journal) {
    const int64_t resource = generation_ * options_.interval;
    std::vector<int64_t> ranked = members_;
    // Children go on from states, whatever weights of earlier iterations are kept.
    const auto at_last = [&](int64_t id) {
      const Trial& trial = journal->trial(id);
      return trial.GoesOn() ? trial.results.back().at_last : Standing{};
    };
    std::stable_sort(ranked.begin(), ranked.end(),
                     [&](int64_t a, int64_t b) { return at_last(a) < at_last(b); });
    size_t alive = 0;
    while (alive < ranked.size() && at_last(ranked[alive]).grade != Standing::kFailed) ++alive;
    if (alive == 0) {
      members_.clear();
      return;
    }
    const size_t n = ranked.size();
    const size_t few =
        std::min(alive, static_cast<size_t>(std::ceil(options_.quantile * static_cast<double>(n))));
    // The worst, and all that go on no more, are replaced. None stands among the best, too.
    const size_t first_bad = std::max(few, std::min(n - few, alive));
    // Children come first: they take states before those who have them train on.
    members_.clear();
    std::vector<int64_t> stay(ranked.begin(),
                              ranked.begin() + static_cast<std::ptrdiff_t>(first_bad));
    for (size_t place = first_bad; place < n; ++place) {
      if (journal->trial(ranked[place]).pinned && journal->trial(ranked[place]).GoesOn()) {
        stay.push_back(ranked[place]);
        continue;
      }
      const uint64_t draw = static_cast<uint64_t>(generation_) << 32 | place;
      const Philox random = journal->Random(kPbtStream, draw);
      const int64_t parent = ranked[random.Below(0, few)];
      std::string changes;
      SearchPoint point =
          Explored(journal->space(), journal->trial(parent).point, random, &changes);
      char reason[160];
      std::snprintf(reason, sizeof(reason),
                    "place %zu of %zu at %lld takes the state of configuration %lld", place + 1, n,
                    static_cast<long long>(resource), static_cast<long long>(parent) + 1);
      const bool goes_on = journal->trial(ranked[place]).GoesOn();
      const auto child = journal->Exploit(std::move(point), parent, resource + options_.interval,
                                          std::string(reason) + "; " + changes);
      if (!child) {
        // No more configurations are wanted: those that there are train on.
        if (goes_on) stay.push_back(ranked[place]);
        continue;
      }
      members_.push_back(*child);
      if (goes_on) journal->Stop(ranked[place], -1, static_cast<int>(generation_), reason);
    }
    members_.insert(members_.end(), stay.begin(), stay.end());
  }

  // Numbers times or by the factor, choices to a neighbour in the list, or drawn anew.
  SearchPoint Explored(const SearchSpace& space, const SearchPoint& from, const Philox& random,
                       std::string* changes) const {
    return space.Fill([&](size_t d) {
      const Dimension& dimension = space.dimensions()[d];
      const double u = random.UniformDouble(1 + 3 * d);
      const double v = random.UniformDouble(2 + 3 * d);
      if (std::isnan(from[d])) return dimension.FromUnit(u);
      if (space.ShapesNetwork(d) || dimension.Count() == 1) return from[d];
      char change[64];
      double value = 0;
      if (u < options_.resample) {
        value = dimension.FromUnit(v);
        std::snprintf(change, sizeof(change), " drawn anew");
      } else if (dimension.kind == DimensionKind::kChoice) {
        value = dimension.Nearest(from[d] + (v < 0.5 ? -1 : 1));
        std::snprintf(change, sizeof(change), " to a neighbour");
      } else {
        const double factor = v < 0.5 ? 0.8 : 1.2;
        value = dimension.Nearest(from[d] * factor);
        std::snprintf(change, sizeof(change), " times %.4g", factor);
      }
      *changes += (changes->empty() ? "" : ", ") + dimension.name + change;
      return value;
    });
  }

  std::unique_ptr<SearchProposer> proposer_;
  PbtOptions options_;
  int64_t generation_ = 1;
  std::vector<int64_t> members_;
};

}  // namespace

AlgorithmType search_rows::Pbt() {
  AlgorithmType type;
  type.name = "pbt";
  type.meaning = "A population trains; the worst go on from the best ones' states, changed.";
  type.arguments = {
      Integer("population", 8, 2, 10000, "configurations that train side by side"),
      Integer("interval", 1, 1, kMaxIterations, "iterations of a generation"),
      Integer("generations", 5, 1, 1e6, "how often the worst are looked for, plus one"),
      Real("quantile", 0.25, 0.01, 0.5, "share of the worst, and of the best"),
      Real("resample", 0.25, 0, 1, "probability that a parameter is drawn anew"),
      Proposer()};
  type.check = CheckProposer;
  type.make = [](const SearchArguments& arguments, const SearchJournal&) {
    PbtOptions options;
    options.population = arguments.Integer("population");
    options.interval = arguments.Integer("interval");
    options.generations = arguments.Integer("generations");
    options.quantile = arguments.Real("quantile");
    options.resample = arguments.Real("resample");
    return std::make_unique<hopper::Pbt>(MakeProposer(arguments), options);
  };
  return type;
}

}  // namespace hopper
