// SPDX-License-Identifier: Apache-2.0
#include "core/base/thread_event.h"

#include <cerrno>

#if defined(__linux__)
#include <sys/eventfd.h>
#include <unistd.h>
#endif

namespace dataline {

#if defined(__linux__)

Result<ThreadEvent> ThreadEvent::create() {
  int handle = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (handle >= 0) return ThreadEvent(handle);
  int failure = errno;
  Code code = failure == EMFILE || failure == ENFILE ? Code::kTooManyFiles : Code::kNoMemory;
  return error(code, "wait handle: eventfd failed").with_os_error(failure);
}

ThreadEvent::~ThreadEvent() {
  if (handle_ >= 0) close(handle_);
}

void ThreadEvent::raise() const {
  uint64_t one = 1;
  // Fails only when the counter is full, and then the handle is readable already.
  static_cast<void>(!write(handle_, &one, sizeof one));
}

void ThreadEvent::lower() const {
  uint64_t count;
  static_cast<void>(!read(handle_, &count, sizeof count));  // EAGAIN: it was not raised
}

#else

Result<ThreadEvent> ThreadEvent::create() {
  return error(Code::kUnsupported, "wait handles exist on Linux only");
}
ThreadEvent::~ThreadEvent() = default;
void ThreadEvent::raise() const {}
void ThreadEvent::lower() const {}

#endif

}  // namespace dataline
