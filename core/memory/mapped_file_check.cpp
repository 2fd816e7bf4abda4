// Checks of an open file for truncation, modification and faults.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/checked.h"
#include "core/memory/file_error.h"
#include "core/memory/mapped_file.h"

namespace dataline {

// "x: offset 4000: expected 96 bytes, got 10; the file had 4096 bytes when it was opened and has 4010 now"
Status MappedFile::truncated(int64_t offset, int64_t expected, int64_t size_now) const {
  int64_t left = size_now - std::max<int64_t>(offset, 0);
  int64_t got = std::max<int64_t>(std::min(left, expected), 0);
  std::string text = concat(path_, ": offset ", offset, ": expected ", expected, " bytes, got ", got);
  if (size_now < bytes_) {
    text += concat("; the file had ", bytes_, " bytes when it was opened and has ", size_now, " now");
  }
  return Status(Code::kTruncated, std::move(text));
}

int64_t MappedFile::size_now() const {
  if (fd_ >= 0) {
    // Called per batch: lseek takes 160 ns, fstat 400. Nothing here uses the file position.
    const off_t end = ::lseek(fd_, 0, SEEK_END);
    return end >= 0 ? static_cast<int64_t>(end) : bytes_;
  }
  struct stat facts;
  return stat_by_path(facts) ? static_cast<int64_t>(facts.st_size) : bytes_;
}

// Without a descriptor the path is used as long as it names the same inode. If it does not, the mapped file was renamed
// or unlinked, and such files are rarely truncated.
bool MappedFile::stat_by_path(struct stat& facts) const {
  return ::stat(path_.c_str(), &facts) == 0 && static_cast<uint64_t>(facts.st_dev) == device_ &&
         static_cast<uint64_t>(facts.st_ino) == inode_;
}

Status MappedFile::check_length() const {
  if (io_ == IoMode::kMemory) return Status::ok();
  int64_t now = size_now();
  if (now >= bytes_) return Status::ok();
  return truncated(now, bytes_ - now, now);
}

bool MappedFile::stat_now(struct stat& facts) const {
  if (fd_ >= 0) return ::fstat(fd_, &facts) == 0;
  if (stat_by_path(facts)) return true;
  errno = 0;
  return false;
}

// An append updates the modification time before the length (ext4, XFS), so for a moment it looks like a change in place.
// The writer holds the inode lock meanwhile. SEEK_DATA takes that lock on ext4, btrfs and tmpfs, a read does on XFS;
// afterwards the new length is visible.
bool MappedFile::is_growing() const {
  if (fd_ < 0) return false;
  char byte;
  (void)!::pread(fd_, &byte, 1, 0);
  (void)::lseek(fd_, 0, SEEK_DATA);
  return size_now() > bytes_;
}

MappedFile::Look MappedFile::look() const {
  if (io_ == IoMode::kMemory) return {};
  struct stat facts;
  if (!stat_now(facts)) return {errno != 0 ? file_error(path_, errno) : Status::ok(), 0};
  const auto now = static_cast<int64_t>(facts.st_size);
  if (now < bytes_) return {truncated(now, bytes_ - now, now), now};
  if (now > bytes_ || changed_ns_of(facts) == changed_ns_ || is_growing()) return {};
  return {error(Code::kChanged, path_, ": was modified while it was open; its size is still ", bytes_,
                " bytes, but truncated parts would read as zeros: open it again"),
          0};
}

Status MappedFile::check_range(const Look& look, int64_t offset, int64_t bytes) const {
  if (look.status.code() != Code::kTruncated) return look.status;
  return extent_fits(offset, bytes, look.intact_bytes) ? Status::ok()
                                                       : truncated(offset, bytes, look.intact_bytes);
}

Status MappedFile::check_faults(int64_t since_ns, int64_t offset, int64_t bytes) const {
  if (!guard_.faulted(since_ns, offset, bytes)) return Status::ok();
  const int64_t now = size_now();
  if (now < offset + bytes) return truncated(offset, bytes, now);
  return file_error_at(path_, offset, EIO);
}

}  // namespace dataline
