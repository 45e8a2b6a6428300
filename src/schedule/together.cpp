#include "schedule/together.h"

#include <algorithm>

namespace hopper {

namespace {

// Floating-point operations of all that are taken at once.
constexpr double kTogether = 2e6;

}  // namespace

int TasksTogether(double operations) {
  return static_cast<int>(
      std::clamp<double>(kTogether / std::max(1.0, operations), 1.0, kMostTogether));
}

int VisitsTogether(const RunRules& rules, const Watching& watching, const Course& course, int most,
                   bool evaluated) {
  const int left = rules.partitions[kTrainSplit] - course.visit;
  const int n = std::min(most, left);
  const bool copies = rules.KeepsWeights(course.iterations + 1, watching);
  return n == left && n > 1 && copies && evaluated ? n - 1 : n;
}

}  // namespace hopper
