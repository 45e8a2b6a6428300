// Which iterations all models of a run have finished. Each call takes a number of steps that grows
// with the logarithm of how many models there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace hopper {

class CommonIterations {
 public:
  struct Span {
    int64_t first;
    int64_t last;
  };

  // The model, of 0 .. n - 1, has finished so many iterations of this run; `before`: as many of
  // earlier ones.
  void Set(size_t model, int32_t finished, int64_t before);
  // It does not count any more.
  void Remove(size_t model);
  // Iterations that all models that count have finished, and no earlier call has told of; counted
  // from the first iteration of the model that had finished most before this run.
  std::optional<Span> Next();

 private:
  struct Counted {
    int32_t finished = 0;
    int64_t before = 0;
  };
  std::vector<std::optional<Counted>> models_;
  // How many models have finished so many.
  std::map<int32_t, int> finished_;
  std::map<int64_t, int> before_;
  int32_t told_ = 0;
};

}  // namespace hopper
