// SPDX-License-Identifier: Apache-2.0
#include "core/memory/open_at.h"

#ifdef __linux__
#include <sys/syscall.h>
#endif

namespace dataline {

Descriptor open_at(int directory, const char* name, int flags) {
  return Descriptor(retry_interrupted([&] { return ::openat(directory, name, flags); }));
}

// openat2 as a bare system call, because C libraries do not wrap it.
Descriptor open_beneath_at(int directory, const char* name, int flags) {
#if defined(__linux__) && defined(SYS_openat2)
  struct {
    uint64_t flags, mode, resolve;
  } how = {static_cast<uint64_t>(static_cast<unsigned>(flags)), 0, 0x08 /* RESOLVE_BENEATH */};
  return Descriptor(retry_interrupted(
      [&] { return static_cast<int>(::syscall(SYS_openat2, directory, name, &how, sizeof how)); }));
#else
  static_cast<void>(directory), static_cast<void>(name), static_cast<void>(flags);
  errno = ENOSYS;
  return Descriptor();
#endif
}

Descriptor open_unlinked_at(int directory, const char* component, int flags) {
  return open_at(directory, component, flags | O_NOFOLLOW);
}

}  // namespace dataline
