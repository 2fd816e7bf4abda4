// System calls on files that fail, come short or are raced on purpose. Included by one source file of a program that
// links the library statically: the functions at the end stand before the C library's own.
//
// Threads: the members are set while nothing reads; what they hold may be called from several workers at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <functional>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22  // Linux 5.14, absent from older C libraries
#endif

namespace dataline::tests {

struct FileFaults {
  std::function<int(int64_t offset)> pread_errno;   // what a pread fails with; 0: it does not
  std::function<size_t(size_t bytes)> pread_gives;  // of so many bytes wanted
  std::function<int(const char* path)> open_errno;  // what an open fails with; 0: it does not
  std::function<int()> fstat_errno;
  std::function<int()> populate_errno;  // what populating a map fails with; 0: it does not
  std::function<void()> before_populate, after_populate;
  bool nothing_is_resident = false;  // so that every row is populated before it is read
};
inline FileFaults file_faults;

// Takes the faults away at the end of a test.
struct NoMoreFileFaults {
  ~NoMoreFileFaults() { file_faults = {}; }
};

template <typename Function>
Function* next_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace dataline::tests

extern "C" {

ssize_t pread(int fd, void* out, size_t bytes, off_t offset) {
  static auto* const real = dataline::tests::next_function<ssize_t(int, void*, size_t, off_t)>("pread");
  const dataline::tests::FileFaults& faults = dataline::tests::file_faults;
  const int failure = faults.pread_errno ? faults.pread_errno(offset) : 0;
  if (failure != 0) {
    errno = failure;
    return -1;
  }
  return real(fd, out, faults.pread_gives ? faults.pread_gives(bytes) : bytes, offset);
}

static int open_or_fail(int directory, const char* path, int flags, mode_t mode) {
  const dataline::tests::FileFaults& faults = dataline::tests::file_faults;
  const int failure = faults.open_errno ? faults.open_errno(path) : 0;
  if (failure == 0) return static_cast<int>(syscall(SYS_openat, directory, path, flags, mode));
  errno = failure;
  return -1;
}

int openat(int directory, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_or_fail(directory, path, flags, mode);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_or_fail(AT_FDCWD, path, flags, mode);
}

int fstat(int fd, struct stat* out) noexcept {
  static auto* const real = dataline::tests::next_function<int(int, struct stat*)>("fstat");
  const dataline::tests::FileFaults& faults = dataline::tests::file_faults;
  const int failure = faults.fstat_errno ? faults.fstat_errno() : 0;
  if (failure == 0) return real(fd, out);
  errno = failure;
  return -1;
}

int madvise(void* begin, size_t bytes, int advice) noexcept {
  static auto* const real = dataline::tests::next_function<int(void*, size_t, int)>("madvise");
  if (advice != MADV_POPULATE_READ) return real(begin, bytes, advice);
  const dataline::tests::FileFaults& faults = dataline::tests::file_faults;
  if (faults.before_populate) faults.before_populate();
  int failure = faults.populate_errno ? faults.populate_errno() : 0;
  if (failure == 0 && real(begin, bytes, advice) != 0) failure = errno;
  if (faults.after_populate) faults.after_populate();
  errno = failure;
  return failure == 0 ? 0 : -1;
}

int mincore(void* begin, size_t bytes, unsigned char* pages) noexcept {
  static auto* const real = dataline::tests::next_function<int(void*, size_t, unsigned char*)>("mincore");
  const int result = real(begin, bytes, pages);
  if (result == 0 && dataline::tests::file_faults.nothing_is_resident) pages[0] = 0;
  return result;
}

}  // extern "C"
