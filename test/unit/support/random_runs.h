// Which random runs a test makes: bench/random_runs asks for more of them, and for others.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

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

// How many runs there were of which kind; said at its end: bench/random_runs adds them up.
class Tally {
 public:
  Tally() = default;
  ~Tally() {
    std::printf("tally: ");
    for (const auto& [kind, n] : counts_) {
      std::printf("%lld %s ", static_cast<long long>(n), kind.c_str());
    }
    std::printf("\n");
  }
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;
  // A kind is one word.
  void Count(const std::string& kind, bool is = true) { counts_[kind] += is ? 1 : 0; }

 private:
  std::map<std::string, int64_t> counts_;
};

}  // namespace hopper
