// Assertions for what only a bug in this library can break, never input or the machine. Debug and sanitized builds
// trap. A release build continues, because a library must not end its host's process: the caller must then leave the
// object alone and report Code::kInternal.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dataline {

#if defined(DATALINE_STOP_AT_DEFECTS)
constexpr bool kStopsAtDefects = true;
#else
constexpr bool kStopsAtDefects = false;
#endif

// Returns `holds`; traps when it is false and kStopsAtDefects.
[[nodiscard]] inline bool check_or_trap(bool holds) {
  if (kStopsAtDefects && !holds) __builtin_trap();
  return holds;
}

}  // namespace dataline
