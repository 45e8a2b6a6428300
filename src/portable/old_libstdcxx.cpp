// What the libstdc++ of GCC 8 does not have yet and code made by a newer compiler calls; see
// old_glibc.c.
#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <new>

namespace std {  // NOLINT(cert-dcl58-cpp): their names are the compiler's choice

// GLIBCXX_3.4.29
void __throw_bad_array_new_length() {  // NOLINT(bugprone-reserved-identifier)
  throw bad_array_new_length();
}

// GLIBCXX_3.4.30
void condition_variable::wait(unique_lock<mutex>& lock) {
  pthread_cond_wait(native_handle(), lock.mutex()->native_handle());
}

}  // namespace std
