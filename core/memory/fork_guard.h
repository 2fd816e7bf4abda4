// Tells whether this process is a fork of the one that made the guard. One load in the common case: a page
// that the kernel wipes in the child. Threads: immutable. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

namespace dataline {

class ForkGuard {
 public:
  ForkGuard();
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  bool forked() const {
    if (page_ != nullptr)
      return __atomic_load_n(page_, __ATOMIC_RELAXED) == 0;  // relaxed: written once, before
    return forked_by_id();
  }

 private:
  bool forked_by_id() const;

  uint32_t* page_ = nullptr;  // null where the kernel cannot wipe on fork
  int32_t process_id_;
};

}  // namespace dataline
