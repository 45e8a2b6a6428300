#include "search/model_history.h"

#include <map>

namespace hopper {

ModelHistory HistoryOf(const SearchJournal& journal, size_t enough) {
  // How many results there are at each resource; a trial counts at all that it passed.
  std::map<int64_t, size_t> reached;
  auto last = reached.end();
  size_t failed = 0;
  for (const Trial& trial : journal.trials()) {
    if (trial.failed()) ++failed;
    for (const TrialResult& result : trial.results) {
      if (result.standing.grade == Standing::kFailed) continue;
      // Neighbours mostly have the same.
      if (last == reached.end() || last->first != result.resource) {
        last = reached.emplace(result.resource, 0).first;
      }
      ++last->second;
    }
  }
  ModelHistory history;
  size_t most = 0;
  for (auto at = reached.rbegin(); at != reached.rend(); ++at) {
    const size_t count = at->second + failed;
    if (count > most) {
      most = count;
      history.resource = at->first;
    }
    if (count >= enough) break;
  }
  for (const Trial& trial : journal.trials()) {
    if (const TrialResult* result = trial.ResultAt(history.resource)) {
      history.finished.push_back(trial.id);
      history.standings.push_back(result->standing);
    } else if (trial.running) {
      history.running.push_back(trial.id);
    }
  }
  return history;
}

}  // namespace hopper
