// Waiting on Windows: WaitOnAddress in place of a futex, an event object in place of an eventfd.
// SPDX-License-Identifier: Apache-2.0
#include <windows.h>

#include <algorithm>

#include "core/base/thread_wait.h"

namespace dataline {

// Wake-ups without a cause and a sequence that has moved look alike to the caller, who looks at its condition again.
bool WaitPoint::sleep(uint32_t seen, int64_t deadline_ns) {
  constexpr int64_t kNsPerMs = 1'000'000, kMaxMs = 1'000'000'000;
  DWORD timeout_ms = INFINITE;
  if (deadline_ns != kForever) {
    const int64_t left_ns = deadline_ns - monotonic_ns();
    if (left_ns <= 0) return false;
    timeout_ms =
        static_cast<DWORD>(std::min(left_ns / kNsPerMs + 1, kMaxMs));  // the call counts in milliseconds
  }
  WaitOnAddress(&sequence_, &seen, sizeof seen, timeout_ms);
  return deadline_ns == kForever || monotonic_ns() < deadline_ns;
}

void WaitPoint::wake() {
  wake_ns_.store(monotonic_ns(), std::memory_order_relaxed);
  WakeByAddressAll(&sequence_);
}

Result<ThreadEvent> ThreadEvent::create() {
  constexpr BOOL kStaysSet = TRUE, kUnset = FALSE;
  const HANDLE handle = CreateEventW(nullptr, kStaysSet, kUnset, nullptr);
  if (handle != nullptr) return ThreadEvent(reinterpret_cast<intptr_t>(handle));
  return error(Code::kNoMemory, "wait handle: CreateEvent failed with system error ", GetLastError());
}

ThreadEvent::~ThreadEvent() {
  if (handle_ != -1) CloseHandle(reinterpret_cast<HANDLE>(handle_));
}

void ThreadEvent::raise() const { SetEvent(reinterpret_cast<HANDLE>(handle_)); }
void ThreadEvent::lower() const { ResetEvent(reinterpret_cast<HANDLE>(handle_)); }

}  // namespace dataline
