// Small tasks of one model that a worker takes at once: taking one takes the lock, and some
// microseconds where the model is in no cache.
#pragma once

#include "schedule/course.h"

namespace hopper {

// So many of them at most.
constexpr int kMostTogether = 32;

// How many tasks of so many floating-point operations each are small enough for it: at least one.
int TasksTogether(double operations);

// Of the visits that come next within the iteration, how many are taken; `most`: TasksTogether() of
// one. A copy of the weights at the iteration's end is promised its room where the model has none
// yet. While it is `evaluated`, that visit is a task of its own.
int VisitsTogether(const RunRules& rules, const Watching& watching, const Course& course, int most,
                   bool evaluated);

}  // namespace hopper
