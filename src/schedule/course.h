// The course of a model through a run: which visit is next, what is evaluated after an iteration,
// when early stopping decides, when the model is done. Pure functions, the same for all engines,
// the forecast and the segments' coordinator: they differ in who does what when, not in what is
// done.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/ring.h"

namespace hopper {

// As hopper_training_metrics.
enum class TrainingMetrics { kRunning = 1, kFinal = 2, kEvery = 3 };

constexpr std::array<int, 2> kSplits = {0, 1};  // training, validation: as hopper_split
constexpr int kTrainSplit = 0;
constexpr int kValidSplit = 1;

// What a configuration adds to the rules of its run.
struct Watching {
  // By split: whether early stopping or a reduced learning rate waits for values of it.
  std::array<bool, 2> splits = {};
  bool restores = false;  // the weights of the best iteration are kept, and delivered
  bool any() const { return splits[0] || splits[1]; }
};

// Whether all that is watched is among what is known, by split.
inline bool Knows(const Watching& watching, const std::array<bool, 2>& known) {
  return (known[0] || !watching.splits[0]) && (known[1] || !watching.splits[1]);
}

// Where a model is.
struct Course {
  int32_t iterations = 0;   // finished in this run
  int32_t visit = 0;        // within the next one
  bool deciding = false;    // what comes next depends on values that are not known yet
  bool stopped = false;     // early stopping: it goes no further
  bool final_pass = false;  // the evaluation of what it delivers was ordered
};

struct RunRules {
  int32_t num_iterations = 1;
  // By split: after how many iterations it is reported; always after the last one.
  std::array<int32_t, 2> frequency = {1, 1};
  TrainingMetrics training_metrics = TrainingMetrics::kFinal;
  std::array<int, 2> partitions = {1, 0};  // by split; 0: no validation

  // From 1: an iteration of this run.
  bool Reports(int split, int32_t iteration) const {
    return iteration == num_iterations || iteration % frequency[static_cast<size_t>(split)] == 0;
  }
  // Whether metrics are taken while the iteration trains.
  bool TakesRunningMetrics(int32_t iteration) const {
    return training_metrics != TrainingMetrics::kEvery && Reports(kTrainSplit, iteration);
  }
  // Whether the weights are evaluated on the split after the iteration. Which iteration is the last
  // one of a model that watches its metrics, and which weights it delivers, is decided by them: its
  // evaluation on the training data is the final pass.
  bool Evaluates(int split, int32_t iteration, const Watching& watching) const;
  // How many of the iterations `first` to `last` are evaluated on the split; a final pass counts as
  // the last iteration's evaluation.
  int64_t Evaluations(int split, int32_t first, int32_t last) const;
  // Whether the final pass evaluates the split. `delivered`: the iteration of this run whose
  // weights the model delivers, below 1 one of an earlier run. A model that stops early, or keeps
  // its best iteration, ends with the values of what it delivers.
  bool EndsWith(int split, int32_t delivered, const Watching& watching) const;
  // Whether any iteration or the final pass is evaluated on the split.
  bool EverEvaluates(int split) const;
  // Partitions of all that is ever evaluated.
  int EvaluatedPartitions() const;
  // Whether all is reported after the iteration that decides how the model goes on.
  bool Decides(int32_t iteration, const Watching& watching) const;
  // Whether somebody wants the weights as they are after the iteration.
  bool KeepsWeights(int32_t iteration, const Watching& watching) const;
};

// Iterations that the model makes in this run, as far as is known.
inline int32_t LastIteration(const RunRules& rules, const Course& course) {
  return course.stopped ? course.iterations : rules.num_iterations;
}
inline bool HasVisits(const RunRules& rules, const Course& course) {
  return course.iterations < LastIteration(rules, course);
}
inline int64_t VisitsLeft(const RunRules& rules, const Course& course) {
  return int64_t{LastIteration(rules, course) - course.iterations} * rules.partitions[kTrainSplit] -
         course.visit;
}
// Whether the next visit ends an iteration.
inline bool EndsIteration(const RunRules& rules, const Course& course) {
  return course.visit + 1 == rules.partitions[kTrainSplit];
}

// The visit has ended. True: the iteration, too. What it is evaluated on is Evaluates() of
// course->iterations.
bool EndVisit(const RunRules& rules, const Watching& watching, Course* course);

// The values that it was waiting for have decided.
void Decide(bool stops, Course* course);

// What comes when all evaluations that were ordered are reported. `delivered` as in EndsWith().
enum class AfterReports { kGoesOn, kFinalPass, kDone };
AfterReports WhatFollows(const RunRules& rules, const Watching& watching, const Course& course,
                         int32_t delivered);

// By split: what the weights are evaluated on that were to be seen last, those of the iteration
// that has ended or, in the final pass, those that are delivered. `delivered` as in EndsWith().
std::array<bool, 2> Ordered(const RunRules& rules, const Watching& watching, const Course& course,
                            int32_t delivered);

// Where the data of a run on segments lie, by split: the segment of each partition.
struct SegmentKeys {
  std::array<std::vector<int32_t>, 2> of;

  // All segments with data, in the order of their partitions, the training data's first.
  std::vector<int32_t> All() const;
};

// Visits in a row from the model's `visit` on, within the iteration, for which it need not leave
// the segment `here`.
int VisitsOn(const SegmentKeys& keys, const Ring& ring, int mst_key, int visit, int32_t here);

// A model that is evaluated goes round the segments, `all` of them: the next one after `here` that
// `lacks` says has something to evaluate it on; `here` itself where no other one has.
template <typename Lacks>
int32_t NextToEvaluate(const std::vector<int32_t>& all, int32_t here, const Lacks& lacks) {
  size_t at = 0;
  while (at < all.size() && all[at] != here) ++at;
  for (size_t i = 1; i < all.size(); ++i) {
    const int32_t key = all[(at + i) % all.size()];
    if (lacks(key)) return key;
  }
  return here;
}

}  // namespace hopper
