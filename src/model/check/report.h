// What is said of the problems of many configurations. A mistake in a grid is in every
// configuration that the grid makes: it is said once, with the keys that it concerns.
#pragma once

#include <cstddef>
#include <vector>

#include "model/check/check.h"

namespace hopper {

// The problems by key, errors first, then as they were found.
std::vector<ConfigProblem> Sorted(std::vector<ConfigProblem> problems);

// One error with all problems that are errors, of `n` configurations; where there is none, each
// different warning. The problems are Sorted().
std::vector<ParamProblem> ReportOf(const std::vector<ConfigProblem>& problems, size_t n);

}  // namespace hopper
