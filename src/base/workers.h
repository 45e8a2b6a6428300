// Compute threads: started with all signals blocked, each with blocks of memory of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/worker_memory.h"

namespace hopper {

// What a compute thread has around what it runs.
struct WorkerSetting {
  // Made on the thread before its body and gone after it; the thread's MemoryScope is a part of it.
  std::function<std::shared_ptr<void>()> around;
  int team_size = 1;
  std::function<void()> member;  // run first by each other member; empty in a team of one
};

// Takes the text of each warning that a library has for the user; called on any worker.
using WarningSink = std::function<void(const std::string&)>;

// What a setting is made of.
struct WorkerNeeds {
  MemoryAccount* account = nullptr;  // that blocks are counted in
  WarningSink warn = {};
  int team_size = 1;
  bool promises = false;  // each task of a body says what it was promised, as MemoryScope wants to
};

// Nothing but blocks and a team.
WorkerSetting PlainSetting(const WorkerNeeds& needs);

// Runs `body` on the calling thread with all that a worker has but blocked signals; it may throw.
// Not on a worker.
void WorkHere(const WorkerSetting& setting, const std::function<void()>& body);

class Workers {
 public:
  Workers() = default;
  // Joins; the owner has told the bodies to end before.
  ~Workers() { Join(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Runs `body` on `count` new threads; it lets no exception out. Returns when all of them have
  // what they need for it. Where one cannot be started, throws Error(kOutOfMemory); those that run
  // already go on until their bodies end, the others never run theirs.
  void Start(int count, const WorkerSetting& setting, const std::function<void()>& body);
  void Join();

 private:
  std::vector<std::thread> threads_;
};

}  // namespace hopper
