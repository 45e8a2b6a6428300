#include "base/event_fd.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace hopper {

void WakeEventFd(int fd) {
  if (fd < 0) return;
  const uint64_t one = 1;
  // EAGAIN means that the counter is full: the reader has plenty to wake up for.
  while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

}  // namespace hopper
