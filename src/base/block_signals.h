// The calling thread's signals, all blocked while this lives. A thread inherits the mask of the
// one that starts it; a server's signal handlers must never run on a compute thread.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace hopper {

class BlockSignals {
 public:
  BlockSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace hopper
