#include "engine/workers.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include <system_error>

#include "base/block_signals.h"
#include "base/error.h"
#include "base/team.h"

namespace hopper {

namespace {

// Hands libtorch's warnings on, which would otherwise be written to stderr.
class WarningRelay : public c10::WarningHandler {
 public:
  explicit WarningRelay(const WarningSink& sink) : sink_(sink) {}
  void process(const c10::Warning& warning) override {
    try {
      sink_(warning.msg());
    } catch (...) {  // no memory for a warning is no reason to stop
    }
  }

 private:
  const WarningSink& sink_;
};

// libtorch's own threads (and its BLAS') stay out of it on every thread of ours.
void WorkAlone() { at::set_num_threads(1); }

void RunWorker(int team_size, MemoryAccount* account, const WarningSink& warn,
               const std::function<void()>& body) {
  try {
    WorkAlone();
    const TeamScope team(team_size, WorkAlone);
    WarningRelay relay(warn);
    const c10::WarningUtils::WarningHandlerGuard guard(&relay);
    const TensorMemoryScope memory(account);
    body();
  } catch (...) {  // bodies report their errors themselves; nothing may leave a thread
  }
}

}  // namespace

void Workers::Start(int count, MemoryAccount* account, WarningSink warn, std::function<void()> body,
                    int team_size) {
  const BlockSignals blocked;
  threads_.reserve(threads_.size() + static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    try {
      threads_.emplace_back([=] { RunWorker(team_size, account, warn, body); });
    } catch (const std::system_error& e) {
      throw Error(
          ErrorCode::kOutOfMemory,
          "could not start worker thread " + std::to_string(i + 1) + " of " + std::to_string(count),
          e.what(), "Lower hopper.threads.");
    }
  }
}

void Workers::Join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  threads_.clear();
}

}  // namespace hopper
