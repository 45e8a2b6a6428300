// What the libstdc++ of GCC 8 does not have yet and code made by a newer compiler calls; see
// old_glibc.c.
#include <pthread.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>

// What these do as well, and the libstdc++ of GCC 8 has: to copy an exception_ptr and to end one.
void CopyExceptionPtr(void** copy,
                      void* const* from) asm("_ZNSt15__exception_ptr13exception_ptrC1ERKS0_");
void EndExceptionPtr(void** pointer) asm("_ZNSt15__exception_ptr13exception_ptrD1Ev");

namespace std {  // NOLINT(cert-dcl58-cpp): their names are the compiler's choice

// GLIBCXX_3.4.29
void __throw_bad_array_new_length() {  // NOLINT(bugprone-reserved-identifier)
  throw bad_array_new_length();
}

// CXXABI_1.3.13. An exception_ptr is a pointer to what is counted.
void __exception_ptr::exception_ptr::_M_addref() noexcept {
  void* copy = nullptr;  // never ended: the count stays
  CopyExceptionPtr(&copy, reinterpret_cast<void**>(this));
}
void __exception_ptr::exception_ptr::_M_release() noexcept {
  EndExceptionPtr(reinterpret_cast<void**>(this));
  _M_exception_object = nullptr;
}

// GLIBCXX_3.4.30
void condition_variable::wait(unique_lock<mutex>& lock) {
  pthread_cond_wait(native_handle(), lock.mutex()->native_handle());
}

}  // namespace std
