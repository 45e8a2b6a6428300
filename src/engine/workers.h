// Compute threads: started with all signals blocked, one intra-op thread each, with cached tensor
// memory and with libtorch's warnings captured.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "train/tensor_memory.h"

namespace hopper {

// Takes the text of each warning that libtorch has for the user; called on any worker.
using WarningSink = std::function<void(const std::string&)>;

// Keeps libtorch's own threads, and its BLAS', out of what the calling thread computes: they spin
// where others have their processors, and numbers would depend on how many there are.
void WorkAlone();

// Runs `body` on the calling thread with all that a worker has but blocked signals; it may throw.
// Not on a worker.
void WorkHere(MemoryAccount* account, const WarningSink& warn, const std::function<void()>& body);

class Workers {
 public:
  Workers() = default;
  // Joins; the owner has told the bodies to end before.
  ~Workers() { Join(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Runs `body` on `count` new threads, each with a team of `team_size` members; it lets no
  // exception out. Returns when all of them have what they need for it. Where one cannot be
  // started, throws Error(kOutOfMemory); those that run already go on until their bodies end, the
  // others never run theirs. `promises`: each task of the body says what it was promised, as
  // TensorMemoryScope wants to know.
  void Start(int count, MemoryAccount* account, WarningSink warn, std::function<void()> body,
             int team_size = 1, bool promises = false);
  void Join();

 private:
  std::vector<std::thread> threads_;
};

}  // namespace hopper
