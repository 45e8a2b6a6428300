#include "params/readings.h"

#include <algorithm>
#include <atomic>

namespace hopper {
namespace {

std::atomic<Readings*> shared{nullptr};

}  // namespace

void Readings::Forget() {
  compile.Forget();
  fit.Forget();
  models.Forget();
}

void Readings::Bound(int64_t memory_limit) {
  const int64_t each = std::min(kBytes, memory_limit / 64);
  compile.Bound(each);
  fit.Bound(each);
  models.Bound(each);
}

Readings& ProcessReadings() {
  if (Readings* const others = shared.load(std::memory_order_acquire)) return *others;
  // Never freed: threads may still read while the process ends.
  static Readings& own = *new Readings;
  return own;
}

void ShareReadings(Readings* readings) { shared.store(readings, std::memory_order_release); }

int64_t SizeOfProblem(const Problem& problem) {
  return static_cast<int64_t>(sizeof(ParamProblem) + problem.message.size() +
                              problem.detail.size() + problem.hint.size());
}

int64_t SizeOfProblems(const std::vector<ParamProblem>& problems) {
  int64_t bytes = 0;
  for (const ParamProblem& problem : problems) bytes += SizeOfProblem(problem);
  return bytes;
}

}  // namespace hopper
