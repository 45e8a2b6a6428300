#include "search/algorithms/tpe.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "search/algorithms/common.h"
#include "search/algorithms/rows.h"

namespace hopper {
namespace {

class TpeProposer : public SearchProposer {
 public:
  explicit TpeProposer(const TpeOptions& options) : options_(options) {}

  std::optional<Proposal> Propose(const SearchJournal& journal) override {
    const uint64_t draw = draw_++;
    const ModelHistory history = HistoryOf(journal, options_.startup);
    const Philox random = journal.Random(options_.stream, draw);
    const bool at_random = random.UniformDouble(0) < options_.random_share;
    std::string reason = at_random ? "random, as a share of the proposals is"
                                   : "random, before the model has enough results";
    if (!at_random && history.finished.size() >= options_.startup) {
      if (auto proposal = Best(journal, history, random)) return proposal;
      reason = "random: all of the model's candidates were tried";
    }
    std::optional<SearchPoint> point = DrawUntried(journal, kAnyStream + options_.stream, draw);
    if (!point) return {};
    return Proposal{std::move(*point), {}, std::move(reason)};
  }

 private:
  // The best candidate that nobody tried.
  std::optional<Proposal> Best(const SearchJournal& journal, const ModelHistory& history,
                               const Philox& random) const {
    const TpeModel model(journal, history, options_);
    const uint64_t draws = journal.space().size() + 2;
    std::optional<Proposal> best;
    for (int64_t i = 0; i < options_.candidates; ++i) {
      SearchPoint point =
          model.good().Sample(random, 1 + static_cast<uint64_t>(i) * draws, options_.width);
      if (journal.IsTried(point)) continue;
      const double score = model.Score(point);
      if (!best || score > *best->score) best = Proposal{std::move(point), score, ""};
    }
    if (!best) return {};
    char reason[160];
    std::snprintf(reason, sizeof(reason),
                  "best of %lld candidates of a model of %zu results after %lld iteration%s",
                  static_cast<long long>(options_.candidates), history.finished.size(),
                  static_cast<long long>(history.resource), history.resource == 1 ? "" : "s");
    best->reason = reason;
    return best;
  }

  TpeOptions options_;
  uint64_t draw_ = 0;
};

}  // namespace

TpeModel::TpeModel(const SearchJournal& journal, const ModelHistory& history,
                   const TpeOptions& options)
    : TpeModel(journal.space(), SplitOf(journal, history, options)) {}

TpeModel::Split TpeModel::SplitOf(const SearchJournal& journal, const ModelHistory& history,
                                  const TpeOptions& options) {
  const size_t n = history.finished.size();
  std::vector<size_t> order(n);
  for (size_t i = 0; i < n; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return history.standings[a] < history.standings[b]; });
  const size_t share = static_cast<size_t>(std::ceil(options.good_share * static_cast<double>(n)));
  const size_t good = std::min(n, std::max(options.least_good, std::min(share, options.most_good)));
  std::vector<bool> is_good(journal.trials().size(), false);
  std::vector<bool> is_bad(journal.trials().size(), false);
  for (size_t i = 0; i < n; ++i) {
    const size_t trial = static_cast<size_t>(history.finished[order[i]]);
    (i < good ? is_good : is_bad)[trial] = true;
  }
  for (const int64_t trial : history.running) is_bad[static_cast<size_t>(trial)] = true;
  Split split;
  for (const Trial& trial : journal.trials()) {
    const size_t id = static_cast<size_t>(trial.id);
    if (is_good[id]) split.good.push_back(&trial.point);
    if (is_bad[id]) split.bad.push_back(&trial.point);
  }
  return split;
}

std::unique_ptr<SearchProposer> MakeTpeProposer(const TpeOptions& options) {
  return std::make_unique<TpeProposer>(options);
}

AlgorithmType search_rows::Tpe() {
  AlgorithmType type;
  type.name = "tpe";
  type.meaning = "Proposes what resembles good results more than bad ones.";
  type.arguments = {NumConfigs(), NumIterations(),
                    Integer("num_startup", 10, 1, kMaxConfigs, "random configurations first"),
                    Integer("num_candidates", 24, 1, 10000, "candidates of a proposal")};
  type.make = [](const SearchArguments& arguments, const SearchJournal&) {
    TpeOptions options;
    options.startup = static_cast<size_t>(arguments.Integer("num_startup"));
    options.candidates = arguments.Integer("num_candidates");
    return MakeEachToTheEnd(MakeTpeProposer(options), arguments.Integer("num_configs"),
                            arguments.Integer("num_iterations"));
  };
  return type;
}

}  // namespace hopper
