// Which random runs a test makes: bench/random_runs asks for more of them, and for others.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace hopper {

struct RandomSeeds {
  int64_t first = 0;
  int64_t last = 0;  // behind it
};

// So many from 0 on; or as many as HOPPER_RANDOM_RUNS says, from HOPPER_RANDOM_FIRST on.
inline RandomSeeds SeedsOfRandomRuns(int64_t runs) {
  const auto number = [](const char* name, int64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : int64_t{std::atoll(text)};
  };
  const int64_t first = number("HOPPER_RANDOM_FIRST", 0);
  return {first, first + number("HOPPER_RANDOM_RUNS", runs)};
}

}  // namespace hopper
