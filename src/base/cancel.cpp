#include "base/cancel.h"

namespace hopper {
namespace {

// Other threads must not run what the server's flags are read with.
thread_local CancelQuestion question = nullptr;
thread_local const std::atomic<bool>* flag = nullptr;
std::atomic<void (*)()> observer{nullptr};

}  // namespace

void AskForCancel(CancelQuestion asked) { question = asked; }

CancelScope::CancelScope(const std::atomic<bool>& looked_at) : before_(flag) { flag = &looked_at; }

CancelScope::~CancelScope() { flag = before_; }

void LookAtCancel() {
  if (const auto observe = observer.load(std::memory_order_relaxed)) observe();
  if (flag != nullptr && flag->load(std::memory_order_relaxed)) throw Cancelled();
  if (question != nullptr && question() != 0) throw Cancelled();
}

void ObserveLooks(void (*to)()) { observer.store(to); }

}  // namespace hopper
