// What cannot be, unless this library has a defect: no input and no machine brings it about. Debug and sanitized builds
// stop at the place. A release build goes on, because a guest does not end its host's process: the caller must then
// leave alone what it was about to touch, and tell of it with Code::kInternal.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace dataline {

#if defined(DATALINE_STOP_AT_DEFECTS)
constexpr bool kStopsAtDefects = true;
#else
constexpr bool kStopsAtDefects = false;
#endif

// Returns `holds`, or stops.
[[nodiscard]] inline bool holds_or_stop(bool holds) {
  if (kStopsAtDefects && !holds) __builtin_trap();
  return holds;
}

}  // namespace dataline
