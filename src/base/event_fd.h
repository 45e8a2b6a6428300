// What wakes a thread that waits for a file descriptor.
#pragma once

namespace hopper {

// Writes to an eventfd, which wakes its reader; nothing for a negative fd.
void WakeEventFd(int fd);

}  // namespace hopper
