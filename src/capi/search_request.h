// From the C options of a search to its request.
#pragma once

#include <memory>
#include <vector>

#include "model_hopper/search.h"
#include "search/measures.h"
#include "search/search.h"

namespace hopper {

// What the caller has found wrong.
std::vector<Problem> ProblemsOf(const hopper_search_options& options);

// One error that names all problems; none where there are none.
void ThrowSearchProblems(const std::vector<Problem>& problems);

// What may be chosen; nullptr where that is not understood. Problems are appended.
std::shared_ptr<const SearchSpace> SearchSpaceOf(const hopper_search_options& options,
                                                 std::vector<Problem>* problems);

// The metrics of what may be chosen, as far as that is understood.
KnownMetrics KnownMetricsOf(const hopper_search_options& options);

// Throws one Error with everything that is wrong.
SearchRequest SearchRequestOf(const hopper_search_options& options);

}  // namespace hopper
