// Turns SIGBUS on a mapped file into an error that is reported after the copy. Opt-in, because it installs a
// process-wide SIGBUS handler.
//
// A load from a page that the kernel cannot provide (the file was truncated, its device failed) raises SIGBUS in the
// loading thread. If the address is in a guarded range, the handler records the place and time, maps zeros over the page
// and lets the load continue. Readers call faulted() after the copy and discard the bytes. All other addresses, and
// signals that were sent, are forwarded to the previous handler or the default action, as if this one did not exist.
//
// Process: the handler is installed with the first range and stays; the shared object is never unloaded (RTLD_NODELETE)
// and the table of ranges only grows. A handler installed later must forward faults that it does not know; a warning is
// logged when there is one. Two copies of this code in one process have a handler and a table each, and the later one
// forwards to the earlier. A forked child inherits both.
// Async signals: the handler uses lock-free atomics, clock_gettime, fstat, sigaction, sigprocmask and mmap, all but the
// last on POSIX's list; mmap is a bare system call that bypasses libc. It neither allocates nor locks, and it interrupts
// only loads from a guarded range, never code that holds a lock of ours or the allocator's.
// Threads: any. The kernel kills a thread that blocks SIGBUS all the same; the library's own do not block it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/base/log.h"
#include "core/base/status.h"

namespace dataline {

namespace fault_guard {
struct Entry;
struct Release {
  void operator()(Entry* entry) const noexcept;
};
}  // namespace fault_guard

class GuardedRange {
 public:
  GuardedRange() = default;
  // [begin, begin + bytes) is a read-only shared mapping of the file `fd` (-1: unknown) from offset 0 and stays mapped as
  // long as this lives. kNoMemory; kUnsupported where the handler cannot be installed.
  static Result<GuardedRange> add(const std::byte* begin, int64_t bytes, int fd, const Log& log);

  // Whether pages of the range, or of a part of it, were replaced by zeros since `since_ns` (monotonic). Conservative:
  // works in whole pages and treats everything between the first and the last page ever replaced as one extent.
  bool faulted(int64_t since_ns) const;
  bool faulted(int64_t since_ns, int64_t offset, int64_t bytes) const;
  // Maps the file's own pages again; those still missing fault again. Safe while others read: they see zeros or file
  // data, and faulted() reports it. Does nothing without `fd`, or when no page was replaced since the last call.
  void heal(int fd) const;

 private:
  std::unique_ptr<fault_guard::Entry, fault_guard::Release> entry_;
};

}  // namespace dataline
