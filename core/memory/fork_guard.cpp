// SPDX-License-Identifier: Apache-2.0
#include "core/memory/fork_guard.h"

#include <sys/mman.h>

#include "core/base/thread.h"
#include "core/memory/pages.h"

namespace dataline {

ForkGuard::ForkGuard() : process_id_(process_id()) {
#if defined(MADV_WIPEONFORK)
  const size_t bytes = static_cast<size_t>(page_bytes());
  void* page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, bytes, MADV_WIPEONFORK) != 0) {
    munmap(page, bytes);
    return;
  }
  page_ = static_cast<uint32_t*>(page);
  *page_ = 1;
#endif
}

ForkGuard::~ForkGuard() {
  if (page_ != nullptr) munmap(page_, static_cast<size_t>(page_bytes()));
}

bool ForkGuard::forked_by_id() const { return process_id() != process_id_; }

}  // namespace dataline
