// A few threads that share the arithmetic of one model's step.
//
// Work is cut into as many parts as the team has members, at places that depend on the sizes and
// on the number of members only: what is computed does not depend on timing.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace hopper {

// Belongs to the thread that made it, which is its first member and the only one to call Run().
class Team {
 public:
  // Starts size - 1 threads with all signals blocked; each runs `prepare` first, whose exception
  // each Run() then throws. The parts of threads that cannot be started, for want of memory too,
  // are computed by the owner.
  Team(int size, const std::function<void()>& prepare);
  ~Team();  // joins
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return size_; }

  // Calls body(part) for each part 0 .. size() - 1, part 0 on this thread; returns when all are
  // done. Where parts throw, the first exception is thrown here when no part is at work any more;
  // parts that had not begun by then are left out, and others end where they look at cancel. The
  // team can go on.
  template <typename Body>
  void Run(Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    RunParts([](void* context, int part) { (*static_cast<Plain*>(context))(part); },
             const_cast<void*>(static_cast<const void*>(&body)));
  }

  // The team of the calling thread; null: it works alone.
  static Team* Current();

 private:
  friend class TeamScope;
  using Function = void (*)(void* context, int part);
  void RunParts(Function function, void* context);
  void Serve(int part, const std::exception_ptr& unprepared);
  void RunPart(int part, const std::exception_ptr& unprepared);
  void Await();

  const int size_;
  Function function_ = nullptr;
  void* context_ = nullptr;
  std::atomic<uint64_t> generation_{0};  // counts the calls of RunParts()
  std::atomic<int> unfinished_{0};
  std::atomic<bool> ends_{false};
  std::atomic<bool> failed_{false};  // a part of this call has thrown
  std::exception_ptr error_;         // the first one's, under mutex_
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  std::vector<std::thread> threads_;
};

// While it lives, a new team of `size` (2 to 1024; below: none) is the calling thread's.
class TeamScope {
 public:
  TeamScope(int size, const std::function<void()>& prepare);
  ~TeamScope();
  TeamScope(const TeamScope&) = delete;
  TeamScope& operator=(const TeamScope&) = delete;

 private:
  Team* team_ = nullptr;
};

// The `part`-th of `parts` shares of 0 .. n - 1, as even as can be.
struct Share {
  int64_t first;
  int64_t last;  // behind it
  Share(int64_t n, int parts, int part) : first(n * part / parts), last(n * (part + 1) / parts) {}
};

// Runs body(first, last, part) over shares of 0 .. n - 1, none of them empty: by `team` where it is
// not null and the work, in any unit of about an operation, is worth waking it; else the whole as
// part 0. Returns the number of parts.
template <typename Body>
int RunShares(Team* team, int64_t n, double work, const Body& body) {
  constexpr double kWorthWhile = 400e3;
  if (team == nullptr || n < 2 || work < kWorthWhile) {
    body(int64_t{0}, n, 0);
    return 1;
  }
  const int parts = static_cast<int>(n < team->size() ? n : team->size());
  team->Run([&](int part) {
    if (part >= parts) return;
    const Share share(n, parts, part);
    body(share.first, share.last, part);
  });
  return parts;
}

}  // namespace hopper
