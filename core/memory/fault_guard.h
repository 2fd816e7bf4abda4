// Loads from a mapped file that has no page to give: an error afterwards instead of the process' end. Opt-in, because it
// takes the process' SIGBUS handler.
//
// The kernel answers such a load (the file was cut, its device failed) with SIGBUS in the thread that loads. The handler
// looks whether the address lies in a guarded range; if it does, it writes down where and when, puts zeros in the page's
// place, and the load goes on. Whoever asked for the bytes asks faulted() once it has copied them, and throws them away.
// All other addresses, and signals that somebody sent, go to the handler that was there before, or to the default
// action, as if this one did not exist.
//
// Process: the handler is installed when the first range is added and stays; the object that holds it is never unloaded
// (RTLD_NODELETE) and the table of ranges, which only grows, is never freed. A handler that somebody installs later must hand on what
// it does not know; that one stands in the way is told to the log. Two copies of this code in one process each have
// their own handler and table, and the later one hands on to the earlier. A forked child has both, with its own copy.
// Async signals: the handler touches lock-free atomics and calls clock_gettime, fstat, sigaction, sigprocmask
// and mmap, all but the last listed by POSIX; mmap here is one system call without libc's part. It allocates and locks nothing,
// and it interrupts only loads from a guarded range, never code that holds a lock of ours or the allocator's.
// Threads: any. A thread that blocks SIGBUS is ended by the kernel all the same; the library's own do not block it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/base/log.h"
#include "core/base/status.h"

namespace dataline {

namespace fault_guard {
struct Entry;
}

class GuardedRange {
 public:
  GuardedRange() = default;
  // [begin, begin + bytes): a read-only shared map of the file `fd` (-1: unknown) from its start, not unmapped before
  // reset(). kNoMemory; kUnsupported where the handler cannot be installed.
  static Result<GuardedRange> add(const std::byte* begin, int64_t bytes, int fd, const Log& log);
  GuardedRange(GuardedRange&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  GuardedRange& operator=(GuardedRange&& other) noexcept;
  ~GuardedRange() { reset(); }
  void reset() noexcept;

  // Whether zeros came into the range since `since_ns` (monotonic), anywhere or in a part of it. Whole pages count; of
  // a range that was hit before, all between its first and its last hit.
  bool faulted(int64_t since_ns) const;
  bool faulted(int64_t since_ns, int64_t offset, int64_t bytes) const;
  // Puts the file's own pages back; what they do not have faults again. Readers may be at work: they get the one or the
  // other, and faulted() tells. Nothing where no zeros came since the last time, or without the file.
  void heal(int fd) const;

 private:
  explicit GuardedRange(fault_guard::Entry* entry) : entry_(entry) {}

  fault_guard::Entry* entry_ = nullptr;
};

}  // namespace dataline
