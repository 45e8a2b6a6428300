#include "search/play.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/cancel.h"

namespace hopper {
namespace {

// In (0, 1), another for each trial.
double MadeUp(int64_t trial) {
  const double turns = static_cast<double>(trial + 1) * 0.6180339887498949;
  return turns - std::floor(turns);
}

}  // namespace

PlayedTrials PlaySearch(Search* search) {
  PlayedTrials played;
  const size_t objectives = search->journal().objectives().size();
  const size_t constraints = search->journal().constraints().size();
  while (!search->done()) {
    const std::vector<SearchAssignment> asked = search->Ask();
    if (asked.empty()) break;
    for (const SearchAssignment& work : asked) {
      LookAtCancel();
      const auto trial = static_cast<size_t>(work.trial);
      if (trial >= played.trials.size()) played.trials.resize(trial + 1);
      played.trials[trial].iterations += work.resource - work.from;
      ++played.trials[trial].evaluations;
      played.iterations += work.resource - work.from;
      played.longest = std::max(played.longest, work.resource);
      SearchOutcome outcome;
      outcome.objectives.assign(objectives, MadeUp(work.trial));
      outcome.constraints.assign(constraints, MadeUp(work.trial));
      search->Tell(work.trial, std::move(outcome));
    }
  }
  return played;
}

}  // namespace hopper
