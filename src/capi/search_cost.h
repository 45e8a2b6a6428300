// What an iteration of a configuration costs in a search's virtual time.
#pragma once

#include <functional>
#include <memory>

#include "model_hopper/search.h"
#include "search/space.h"

namespace hopper {

// IterationFlops() of a point's configuration, without data over one row. 1 where the architecture
// is not given or cannot be built: such a configuration is refused before it trains. A function of
// the options and the point alone; it copies what it needs of the options, remembers each
// architecture that it has read, and is for one thread at a time.
std::function<double(const SearchPoint&)> SearchCostOf(const hopper_search_options& options,
                                                       std::shared_ptr<const SearchSpace> space);

}  // namespace hopper
