// What threads meet at, under names of ours: the standard's own types, or, in a build that searches interleavings
// (-DDATALINE_INTERLEAVE="header"), those of a scheduler that decides at each access which thread goes on
// (tests/interleave/README.md). Code in base, batch and loader names these and never <atomic>, <mutex> or <thread>.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>

#if defined(DATALINE_INTERLEAVE)
#include DATALINE_INTERLEAVE  // NOLINT: the build names the header
#endif

namespace dataline {

#if defined(DATALINE_INTERLEAVE)

constexpr bool kThreadsScheduled = true;
template <typename T>
using Atomic = interleave::Atomic<T>;
using PlainMutex = interleave::Mutex;
inline void spin_pause() { interleave::pause(); }

#else

constexpr bool kThreadsScheduled = false;
template <typename T>
using Atomic = std::atomic<T>;
using PlainMutex = std::mutex;  // what ThreadMutex is made of: use that one

// In a loop that waits for another thread: the core's other hardware thread gets its units.
inline void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");  // the mnemonic's own spelling: an asm statement, not a variable
#endif
}

#endif

}  // namespace dataline
