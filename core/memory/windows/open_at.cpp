// SPDX-License-Identifier: Apache-2.0
#include "core/memory/open_at.h"

#include "core/memory/windows/system.h"

namespace dataline {

Descriptor open_at(int directory, const char* name, int flags) {
  const std::optional<std::wstring> path = windows::path_below(directory, name);
  if (!path) return Descriptor();
  return Descriptor::open(windows::narrow(*path), flags);
}

// By where the opened file lies: what is renamed or linked meanwhile makes no difference.
Descriptor open_beneath_at(int directory, const char* name, int flags) {
  Descriptor descriptor = open_at(directory, name, flags);
  if (!descriptor) return descriptor;
  std::optional<std::wstring> folder = windows::final_path(windows::handle_of(directory));
  const std::optional<std::wstring> file = windows::final_path(windows::handle_of(descriptor.get()));
  if (!folder || !file) return Descriptor();
  if (*folder == *file) return descriptor;
  if (!folder->ends_with(L'\\')) *folder += L'\\';
  if (file->starts_with(*folder)) return descriptor;
  errno = EXDEV;
  return Descriptor();
}

// open_beneath_at() never says ENOSYS here, so nobody asks for one component after the other.
Descriptor open_unlinked_at(int directory, const char* component, int flags) {
  return open_beneath_at(directory, component, flags);
}

}  // namespace dataline
