// SPDX-License-Identifier: Apache-2.0
#include "core/memory/mapped_file.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/checked.h"
#include "core/memory/pages.h"

#if defined(__linux__) && !defined(MADV_POPULATE_READ)
#define MADV_POPULATE_READ 22  // Linux 5.14, absent from older C libraries
#endif

namespace dataline {
namespace {

constexpr int64_t kLoadPieceBytes = 8 << 20;  // between checks of the cancel token
constexpr int kPopulateAttempts = 4;          // while another process truncates and restores the file
constexpr int64_t kProgressBytes = 64 << 20;

// Leaves half of the descriptors to the host.
bool descriptors_scarce(int fd) {
  rlimit limit;
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         static_cast<rlim_t>(fd) >= limit.rlim_cur / 2;
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path, const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(MappedFile file, open_unloaded(path, context));
  DL_RETURN_IF_ERROR(file.load(context));
  return file;
}

Result<MappedFile> MappedFile::open_unloaded(const std::string& path, const OpenContext& context) {
  if (path.find('\0') != std::string::npos) {
    return error(Code::kNotFound, path.c_str(), ": the path contains a NUL byte");
  }
  MappedFile file;
  file.path_ = path;
  file.fd_ = Descriptor::open(path, kFileFlags);
  if (!file.fd_) return file_error(path, errno);
  DL_ASSIGN_OR_RETURN(file.at_open_, facts_of(file.fd_.get(), path));
  if (!file.at_open_.is_file) return not_a_file_error(path, file.at_open_.mode);
  file.bytes_ = file.at_open_.bytes;
  file.io_ = context.io == IoMode::kMemory ? IoMode::kPread : context.io;
  if (context.io != IoMode::kMemory) file.read_ahead_bytes_ = read_ahead_bytes(file.at_open_.device);
  if (context.io == IoMode::kAuto)
    file.io_ = others_may_write(file.fd_.get()) ? IoMode::kPread : IoMode::kMmap;
  if (file.io_ == IoMode::kMmap) {
    Status mapped = file.map(context);
    if (mapped.is_ok()) return file;
    if (context.io == IoMode::kMmap || file.data_ != nullptr) return mapped;
    file.io_ = IoMode::kPread;  // a file system without maps, or no address space left
  }
  return file;
}

Result<MappedFile> MappedFile::from_block(const std::string& path, Block bytes, int64_t byte_count,
                                          int64_t file_bytes) {
  if (byte_count < 0 || byte_count > bytes.bytes()) {
    return error(Code::kInternal, path, ": ", byte_count, " bytes in a block of ", bytes.bytes());
  }
  MappedFile file;
  file.path_ = path;
  file.io_ = IoMode::kMemory;
  file.data_ = bytes.data();
  file.bytes_ = byte_count;
  file.at_open_.bytes = file_bytes;
  file.block_ = std::move(bytes);
  return file;
}

void MappedFile::Unmap::operator()(const std::byte* data) const noexcept {
  ::munmap(const_cast<std::byte*>(data), static_cast<size_t>(bytes));
}

Status MappedFile::map(const OpenContext& context) {
  if (bytes_ > 0) {
    void* data = ::mmap(nullptr, static_cast<size_t>(bytes_), PROT_READ, MAP_SHARED, fd_.get(), 0);
    if (data == MAP_FAILED) return file_error(path_, errno).in("mmap");
    data_ = static_cast<const std::byte*>(data);
    map_ = {data_, Unmap{bytes_}};
#ifdef MADV_RANDOM
    // advise() requests exactly the records that come next. Without MADV_RANDOM the kernel reads the whole read-ahead
    // window (8 MiB seen) around each record, which is all that happens where the hint is refused.
    ::madvise(data, static_cast<size_t>(bytes_), MADV_RANDOM);
#endif
  }
  if (descriptors_scarce(fd_.get())) fd_ = Descriptor();
  if (context.fault_guard && bytes_ > 0) {
    DL_ASSIGN_OR_RETURN(guard_, GuardedRange::add(data_, bytes_, fd_.get(), context.log));
  }
  return Status::ok();
}

Status MappedFile::load(const OpenContext& context) {
  if (context.io != IoMode::kMemory || io_ != IoMode::kPread) return Status::ok();
  DL_ASSIGN_OR_RETURN(block_, context.memory->allocate(bytes_, 1, MemoryKind::kData, path_.c_str()));
  for (int64_t at = 0; at < bytes_; at += kLoadPieceBytes) {
    if (context.cancel != nullptr && context.cancel->cancelled()) {
      return error(Code::kCancelled, path_, ": cancelled after ", at, " of ", bytes_, " bytes");
    }
    if (at > 0 && at % kProgressBytes == 0) {
      context.log(LogLevel::kProgress, concat(path_, ": ", at, " of ", bytes_, " bytes in memory"));
    }
    DL_RETURN_IF_ERROR(read_by_pread(at, std::min(kLoadPieceBytes, bytes_ - at), block_.data() + at));
  }
  // A truncation during the read may have left zeros instead of a short read.
  DL_RETURN_IF_ERROR(change_since_open().status);
  data_ = block_.data();
  io_ = IoMode::kMemory;
  fd_ = Descriptor();
  return Status::ok();
}

Status MappedFile::read_by_pread(int64_t offset, int64_t bytes, std::byte* out) const {
  const ReadResult got = read_at(fd_.get(), offset, bytes, out);
  if (got.number != 0) return file_error_at(path_, offset + got.bytes, got.number);
  return got.bytes < bytes ? truncated(offset, bytes, offset + got.bytes) : Status::ok();
}

Status MappedFile::read(int64_t offset, int64_t bytes, std::byte* out) const {
  if (!extent_fits(offset, bytes, bytes_)) return truncated(offset, bytes, bytes_);
  if (bytes == 0) return Status::ok();
  // Mapped files too: pread() returns short where a copy would raise SIGBUS.
  if (fd_) {
    DL_RETURN_IF_ERROR(read_by_pread(offset, bytes, out));
    // On truncation the kernel zeroes the rest of the last page before it lowers the size: check the size after.
    const int64_t now = size_now();
    return now < offset + bytes ? truncated(offset, bytes, now) : Status::ok();
  }
  DL_RETURN_IF_ERROR(populate(offset, bytes));
  std::memcpy(out, data_ + offset, static_cast<size_t>(bytes));
  return Status::ok();
}

void MappedFile::advise(int64_t offset, int64_t bytes) const {
  if (io_ == IoMode::kMemory || bytes <= 0 || !extent_fits(offset, bytes, bytes_)) return;
  int64_t page = page_bytes();
  int64_t begin = offset & -page;
  int64_t end = offset + bytes;
  int64_t piece_bytes = std::max(read_ahead_bytes_ & -page, page);
  for (int64_t at = begin; at < end; at += piece_bytes) {
    int64_t piece = std::min(piece_bytes, end - at);
    if (io_ == IoMode::kMmap) {
#ifdef MADV_WILLNEED
      ::madvise(const_cast<std::byte*>(data_ + at), static_cast<size_t>(piece), MADV_WILLNEED);
#endif
    } else {
#ifdef POSIX_FADV_WILLNEED
      ::posix_fadvise(fd_.get(), static_cast<off_t>(at), static_cast<off_t>(piece), POSIX_FADV_WILLNEED);
#endif
    }
  }
}

Status MappedFile::populate(int64_t offset, int64_t bytes) const {
  if (!extent_fits(offset, bytes, bytes_)) return truncated(offset, bytes, bytes_);
  if (io_ != IoMode::kMmap || bytes == 0) return Status::ok();
#ifdef MADV_POPULATE_READ
  int64_t begin = offset & -page_bytes();
  for (int attempt = 0, interruptions = 0;
       ::madvise(const_cast<std::byte*>(data_ + begin), static_cast<size_t>(offset + bytes - begin),
                 MADV_POPULATE_READ) != 0;) {
    int32_t number = errno;
    if (number == EINVAL) break;  // a kernel before 5.14
    if ((number == EINTR || number == EAGAIN) && ++interruptions < kMaxInterruptions) continue;
    if (number != EFAULT) return file_error_at(path_, offset, number);
    if (++attempt == kPopulateAttempts) {
      return error(Code::kChanged, path_, ": offset ", offset, ": the file keeps changing while it is read");
    }
    DL_RETURN_IF_ERROR(explain_fault(offset, bytes));
  }
#endif
  // Truncation inside a page raises no fault, the missing bytes read as zeros: check the size.
  int64_t now = size_now();
  return now < offset + bytes ? truncated(offset, bytes, now) : Status::ok();
}

// Why pages of the range could not be faulted in. Ok when they can be now, because the file was extended again.
Status MappedFile::explain_fault(int64_t offset, int64_t bytes) const {
  int64_t now = size_now();
  if (now < offset + bytes) return truncated(offset, bytes, now);
  if (!fd_) return file_error_at(path_, offset, EIO);
  for (int64_t at = offset; at < offset + bytes;) {
    std::byte one;
    DL_RETURN_IF_ERROR(read_by_pread(at, 1, &one));
    at = (at & -page_bytes()) + page_bytes();
  }
  return Status::ok();
}

bool MappedFile::cached(int64_t offset, int64_t bytes) const {
  if (io_ == IoMode::kMemory || bytes <= 0 || !extent_fits(offset, bytes, bytes_)) return true;
  for (int64_t at : {offset, offset + bytes - 1}) {
    if (io_ == IoMode::kPread) {
      if (!is_cached(fd_.get(), at)) return false;
      continue;
    }
#ifdef __linux__
    unsigned char present = 1;
    int64_t begin = at & -page_bytes();
    if (::mincore(const_cast<std::byte*>(data_ + begin), 1, &present) == 0 && (present & 1) == 0)
      return false;
#endif
  }
  return true;
}

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
  if (fd_) {
    // Called per batch: lseek takes 160 ns, fstat 400. Nothing here uses the file position.
    const off_t end = ::lseek(fd_.get(), 0, SEEK_END);
    return end >= 0 ? static_cast<int64_t>(end) : bytes_;
  }
  FileFacts now;
  return find_by_path(now) ? now.bytes : bytes_;
}

// Without a descriptor the path is used as long as it names the same inode. If it does not, the mapped file was renamed
// or unlinked, and such files are rarely truncated.
bool MappedFile::find_by_path(FileFacts& facts) const {
  return facts_of_entry(AT_FDCWD, path_.c_str(), facts) == 0 && facts.same_as(at_open_);
}

Status MappedFile::check_length() const {
  if (io_ == IoMode::kMemory) return Status::ok();
  int64_t now = size_now();
  if (now >= bytes_) return Status::ok();
  return truncated(now, bytes_ - now, now);
}

// An append updates the modification time before the length (ext4, XFS), so for a moment it looks like a change in place.
// The writer holds the inode lock meanwhile. SEEK_DATA takes that lock on ext4, btrfs and tmpfs, a read does on XFS;
// afterwards the new length is visible.
bool MappedFile::is_growing() const {
  if (!fd_) return false;
  char byte;
  (void)!::pread(fd_.get(), &byte, 1, 0);
  (void)::lseek(fd_.get(), 0, SEEK_DATA);
  return size_now() > bytes_;
}

MappedFile::Change MappedFile::change_since_open() const {
  if (io_ == IoMode::kMemory) return {};
  FileFacts now;
  if (const int number = fd_ ? facts_of(fd_.get(), now) : 0; number != 0) return {file_error(path_, number)};
  if (!fd_ && !find_by_path(now)) return {};
  if (now.bytes < bytes_) return {truncated(now.bytes, bytes_ - now.bytes, now.bytes), now.bytes};
  if (now.bytes > bytes_ || now.changed_ns == at_open_.changed_ns || is_growing()) return {};
  return {error(Code::kChanged, path_, ": was modified while it was open; its size is still ", bytes_,
                " bytes, but truncated parts would read as zeros: open it again")};
}

Status MappedFile::check_range(const Change& change, int64_t offset, int64_t bytes) const {
  if (change.status.code() != Code::kTruncated) return change.status;
  return extent_fits(offset, bytes, change.intact_bytes) ? Status::ok()
                                                         : truncated(offset, bytes, change.intact_bytes);
}

Status MappedFile::check_faults(int64_t since_ns, int64_t offset, int64_t bytes) const {
  if (!guard_.faulted(since_ns, offset, bytes)) return Status::ok();
  const int64_t now = size_now();
  if (now < offset + bytes) return truncated(offset, bytes, now);
  return file_error_at(path_, offset, EIO);
}

}  // namespace dataline
