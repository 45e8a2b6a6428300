// Events on their way from the workers to the one thread that reads them.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/event_fd.h"
#include "schedule/course.h"

namespace hopper {

enum class EventType : int32_t {
  kMetrics = 1,    // loss and metrics of one model, split and iteration
  kIteration = 2,  // every live model has finished this iteration
  kModelFailed = 3,
  kModelDone = 4,
  kWarning = 5,
  kFinished = 6,      // no work is left, also after cancel
  kLoad = 7,          // a partition is to be read
  kModelStopped = 8,  // early stopping has ended it
  kState = 9,         // the stored state of a model is wanted
  kCheckpoint = 10,   // a model has halted, for a copy of its state
};

// What a run tells while it goes on.
struct Event {
  EventType type = EventType::kMetrics;
  int32_t mst_key = 0;    // 0: of no model
  int32_t iteration = 0;  // counted over warm starts, from 1
  int32_t split = kTrainSplit;
  bool running = false;  // taken while the weights moved
  bool take = false;     // kModelDone: its result is to be taken, others wait
  int32_t n_live = 0;    // models that have not failed
  int32_t partition = 0;
  double loss = 0.0;
  std::vector<double> metrics;
  double elapsed = 0.0;  // seconds since the start
  Problem problem;       // its texts; most events have none
};

// What libtorch warns of: each text is told once in a run, and not more than a few.
class LibtorchWarnings {
 public:
  // True: *problem tells it.
  bool IsNew(const std::string& text, Problem* problem);

 private:
  std::set<std::string> told_;
};

// First in, first out, for any number of threads. No event is lost: who causes them looks whether
// the queue is full before it goes on. The reader takes all that there are whenever it is woken; it
// is not woken again for those that come meanwhile. What it only writes down (metrics, iterations)
// wakes it once there is much of it.
class EventQueue {
 public:
  explicit EventQueue(int event_fd) : event_fd_(event_fd) {}

  void Push(Event event);
  // The event that comes behind all others; needs no memory, so that it comes whatever happens.
  void PushLast(Event event) noexcept;
  // As Push(), without waking the reader for this event alone.
  void PushQuietly(Event event);
  // An event for each iteration from that of `event` to `last`; quietly.
  void PushIterations(Event event, int32_t last);
  // *has_room_again: it was full before, and is not now.
  bool Pop(Event* event, bool* has_room_again);
  bool IsFull() const;
  // Wakes the reader without an event.
  void Wake() const { WakeEventFd(event_fd_); }

 private:
  static constexpr size_t kMostEvents = 4096;
  static constexpr size_t kManyEvents = 256;
  struct Entry {
    Event event;
    int32_t last_iteration;
  };
  void Add(Event event, int32_t last, size_t wakes_from);

  const int event_fd_;
  mutable std::mutex mutex_;
  std::deque<Entry> events_;
  bool woken_ = false;  // the reader has not come to the end since it was woken
  bool has_last_ = false;
  Event last_;
};

}  // namespace hopper
