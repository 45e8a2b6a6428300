#include "schedule/course.h"

#include <algorithm>

namespace hopper {

bool RunRules::Evaluates(int split, int32_t iteration, const Watching& watching) const {
  if (!Reports(split, iteration)) return false;
  if (split == kValidSplit) return partitions[kValidSplit] > 0;
  return training_metrics == TrainingMetrics::kEvery ||
         (training_metrics == TrainingMetrics::kFinal && iteration == num_iterations &&
          !watching.any());
}

int64_t RunRules::Evaluations(int split, int32_t first, int32_t last) const {
  if (first > last || !EverEvaluates(split)) return 0;
  const bool ends = last == num_iterations;
  if (split == kTrainSplit && training_metrics == TrainingMetrics::kFinal) return ends ? 1 : 0;
  const int32_t every = frequency[static_cast<size_t>(split)];
  const int64_t between = last / every - (first - 1) / every;
  return between + (ends && last % every != 0 ? 1 : 0);
}

bool RunRules::EndsWith(int split, int32_t delivered, const Watching& watching) const {
  if (!watching.any() || !EverEvaluates(split)) return false;
  return delivered < 1 || !Evaluates(split, delivered, watching);
}

bool RunRules::EverEvaluates(int split) const {
  return split == kValidSplit ? partitions[kValidSplit] > 0
                              : training_metrics != TrainingMetrics::kRunning;
}

int RunRules::EvaluatedPartitions() const {
  int count = 0;
  for (const int split : kSplits) {
    if (EverEvaluates(split)) count += partitions[static_cast<size_t>(split)];
  }
  return count;
}

bool RunRules::Decides(int32_t iteration, const Watching& watching) const {
  for (const int split : kSplits) {
    if (watching.splits[static_cast<size_t>(split)] && !Reports(split, iteration)) return false;
  }
  return watching.any();
}

bool RunRules::KeepsWeights(int32_t iteration, const Watching& watching) const {
  return (watching.restores && Decides(iteration, watching)) ||
         Evaluates(kTrainSplit, iteration, watching) || Evaluates(kValidSplit, iteration, watching);
}

bool EndVisit(const RunRules& rules, const Watching& watching, Course* course) {
  if (++course->visit < rules.partitions[kTrainSplit]) return false;
  course->visit = 0;
  ++course->iterations;
  course->deciding = rules.Decides(course->iterations, watching);
  return true;
}

void Decide(bool stops, Course* course) {
  course->deciding = false;
  course->stopped = course->stopped || stops;
}

AfterReports WhatFollows(const RunRules& rules, const Watching& watching, const Course& course,
                         int32_t delivered) {
  if (course.deciding || HasVisits(rules, course)) return AfterReports::kGoesOn;
  // A model that was stopped before has been evaluated then.
  if (course.iterations == 0 || course.final_pass) return AfterReports::kDone;
  const bool lacks = rules.EndsWith(kTrainSplit, delivered, watching) ||
                     rules.EndsWith(kValidSplit, delivered, watching);
  return lacks ? AfterReports::kFinalPass : AfterReports::kDone;
}

std::array<bool, 2> Ordered(const RunRules& rules, const Watching& watching, const Course& course,
                            int32_t delivered) {
  std::array<bool, 2> ordered = {};
  for (const int split : kSplits) {
    ordered[static_cast<size_t>(split)] = course.final_pass
                                              ? rules.EndsWith(split, delivered, watching)
                                              : rules.Evaluates(split, course.iterations, watching);
  }
  return ordered;
}

// ---------------------------------------------------------------- segments

std::vector<int32_t> SegmentKeys::All() const {
  std::vector<int32_t> all;
  for (const std::vector<int32_t>& split : of) {
    for (const int32_t key : split) {
      if (std::find(all.begin(), all.end(), key) == all.end()) all.push_back(key);
    }
  }
  return all;
}

int VisitsOn(const SegmentKeys& keys, const Ring& ring, int mst_key, int visit, int32_t here) {
  int visits = 0;
  for (; visit + visits < ring.n_partitions(); ++visits) {
    const int partition = ring.PartitionOf(mst_key, visit + visits);
    if (keys.of[kTrainSplit][static_cast<size_t>(partition)] != here) break;
  }
  return visits;
}

}  // namespace hopper
