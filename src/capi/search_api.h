// The table of a search's functions, a part of the core's table.
#pragma once

#include "model_hopper/search.h"

namespace hopper {

hopper_search_api MakeSearchApi();

}  // namespace hopper
