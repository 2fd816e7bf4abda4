// Detects that this process was forked from the one that created the guard. Usually costs one load, of a page that the
// kernel wipes in the child (MADV_WIPEONFORK).
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
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
    // Relaxed: written once, in the constructor.
    return page_ != nullptr ? __atomic_load_n(page_, __ATOMIC_RELAXED) == 0 : forked_by_id();
  }

 private:
  bool forked_by_id() const;

  uint32_t* page_ = nullptr;  // null where the kernel has no wipe on fork
  int32_t process_id_;
};

}  // namespace dataline
