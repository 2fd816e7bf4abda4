// The exception of an allocation that memory_budget refused. It carries the numbers of the message; std::bad_alloc alone
// means that the machine or the host's allocator refused.
// Threads: a value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <new>

#include "core/base/status.h"

namespace dataline {

class OverBudget final : public std::bad_alloc {
 public:
  OverBudget(int64_t bytes, int64_t in_use, int64_t limit) : bytes_(bytes), in_use_(in_use), limit_(limit) {}

  const char* what() const noexcept override { return "memory_budget is used up"; }
  // kOverBudget: the bytes needed, those in use, the limit, and the option to raise.
  Status status(const MessagePart& what) const {
    return error(Code::kOverBudget, what, ": needs ", bytes_, " bytes, but ", in_use_, " of memory_budget ",
                 limit_, " are in use; raise memory_budget");
  }

 private:
  int64_t bytes_, in_use_, limit_;
};

}  // namespace dataline
