#include "base/cancel.h"

namespace hopper {
namespace {

CancelQuestion& Question() {
  static CancelQuestion question = nullptr;
  return question;
}

}  // namespace

void AskForCancel(CancelQuestion question) { Question() = question; }

void LookAtCancel() {
  const CancelQuestion question = Question();
  if (question != nullptr && question() != 0) throw Cancelled();
}

}  // namespace hopper
