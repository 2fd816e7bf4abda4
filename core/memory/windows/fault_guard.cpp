// Windows does not let a mapped file be truncated, so what the guard is for does not happen there; it is refused by name.
// SPDX-License-Identifier: Apache-2.0
#include "core/memory/fault_guard.h"

namespace dataline {

struct fault_guard::Entry {};
void fault_guard::Release::operator()(Entry* entry) const noexcept { delete entry; }

Result<GuardedRange> GuardedRange::add(const std::byte*, int64_t, int, const Log&) {
  return error(Code::kUnsupported,
               "fault_guard=true: not supported on Windows, where a mapped file cannot be truncated");
}

bool GuardedRange::faulted(int64_t) const { return false; }
bool GuardedRange::faulted(int64_t, int64_t, int64_t) const { return false; }
void GuardedRange::heal(int) const {}

}  // namespace dataline
