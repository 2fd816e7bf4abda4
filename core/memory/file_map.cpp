// SPDX-License-Identifier: Apache-2.0
#include "core/memory/file_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#if defined(__linux__) && !defined(MADV_POPULATE_READ)
#define MADV_POPULATE_READ 22  // Linux 5.14, absent from older C libraries
#endif

namespace dataline {

const std::byte* map_file(int descriptor, int64_t bytes) noexcept {
  void* data = ::mmap(nullptr, static_cast<size_t>(bytes), PROT_READ, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) return nullptr;
#ifdef MADV_RANDOM
  // advise_pages() requests exactly the records that come next. Without MADV_RANDOM the kernel reads the whole read-ahead
  // window (8 MiB seen) around each record, which is all that happens where the hint is refused.
  ::madvise(data, static_cast<size_t>(bytes), MADV_RANDOM);
#endif
  return static_cast<const std::byte*>(data);
}

void unmap_file(const std::byte* data, int64_t bytes) noexcept {
  ::munmap(const_cast<std::byte*>(data), static_cast<size_t>(bytes));
}

void advise_pages(const std::byte* begin, int64_t bytes) noexcept {
#ifdef MADV_WILLNEED
  ::madvise(const_cast<std::byte*>(begin), static_cast<size_t>(bytes), MADV_WILLNEED);
#endif
}

void advise_file(int descriptor, int64_t offset, int64_t bytes) noexcept {
#ifdef POSIX_FADV_WILLNEED
  ::posix_fadvise(descriptor, static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
#endif
}

int populate_pages(const std::byte* begin, int64_t bytes) noexcept {
#ifdef MADV_POPULATE_READ
  if (::madvise(const_cast<std::byte*>(begin), static_cast<size_t>(bytes), MADV_POPULATE_READ) == 0) return 0;
  return errno;
#else
  return EINVAL;
#endif
}

bool is_resident(const std::byte* page) noexcept {
#ifdef __linux__
  unsigned char present = 1;
  return ::mincore(const_cast<std::byte*>(page), 1, &present) != 0 || (present & 1) != 0;
#else
  return true;
#endif
}

// Called per batch: lseek takes 160 ns, fstat 400. Nothing here uses the file position.
int64_t size_of(int descriptor) noexcept { return static_cast<int64_t>(::lseek(descriptor, 0, SEEK_END)); }

// The writer holds the inode lock meanwhile. SEEK_DATA takes that lock on ext4, btrfs and tmpfs, a read does on XFS.
void await_append(int descriptor) noexcept {
  char byte;
  (void)!::pread(descriptor, &byte, 1, 0);
  (void)::lseek(descriptor, 0, SEEK_DATA);
}

bool descriptors_scarce(int descriptor) noexcept {
  rlimit limit;
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         static_cast<rlim_t>(descriptor) >= limit.rlim_cur / 2;
}

}  // namespace dataline
