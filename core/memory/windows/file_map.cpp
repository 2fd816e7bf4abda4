// SPDX-License-Identifier: Apache-2.0
#include "core/memory/file_map.h"

#include "core/memory/windows/system.h"

namespace dataline {

const std::byte* map_file(int descriptor, int64_t bytes) noexcept {
  const HANDLE section =
      CreateFileMappingW(windows::handle_of(descriptor), nullptr, PAGE_READONLY, 0, 0, nullptr);
  const void* data = nullptr;
  if (section != nullptr) data = MapViewOfFile(section, FILE_MAP_READ, 0, 0, static_cast<SIZE_T>(bytes));
  if (data == nullptr) windows::set_errno();
  if (section != nullptr) CloseHandle(section);  // the view keeps it
  return static_cast<const std::byte*>(data);
}

void unmap_file(const std::byte* data, int64_t) noexcept { UnmapViewOfFile(data); }

void advise_pages(const std::byte* begin, int64_t bytes) noexcept {
  WIN32_MEMORY_RANGE_ENTRY range{const_cast<std::byte*>(begin), static_cast<SIZE_T>(bytes)};
  PrefetchVirtualMemory(GetCurrentProcess(), 1, &range, 0);
}

void advise_file(int, int64_t, int64_t) noexcept {}  // Windows has no such advice for reads

int populate_pages(const std::byte*, int64_t) noexcept { return EINVAL; }

bool is_resident(const std::byte*) noexcept { return true; }

int64_t size_of(int descriptor) noexcept {
  LARGE_INTEGER size;
  if (GetFileSizeEx(windows::handle_of(descriptor), &size) != 0) return size.QuadPart;
  windows::set_errno();
  return -1;
}

void await_append(int) noexcept {}  // the length is published before the time

bool descriptors_scarce(int descriptor) noexcept {
  constexpr int kHalf = 1024;  // the C run-time library has 2,048
  return descriptor >= kHalf;
}

}  // namespace dataline
