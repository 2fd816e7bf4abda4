// SPDX-License-Identifier: Apache-2.0
#include "core/memory/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/checked.h"
#include "core/memory/file_error.h"
#include "core/memory/pages.h"
#include "core/memory/storage.h"

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
  file.fd_ =
      retry_interrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); });
  if (file.fd_ < 0) return file_error(path, errno);
  struct stat facts;
  if (::fstat(file.fd_, &facts) != 0) return file_error(path, errno);
  if (!S_ISREG(facts.st_mode)) return not_a_file_error(path, facts.st_mode);
  file.bytes_ = file.file_bytes_ = static_cast<int64_t>(facts.st_size);
  file.device_ = static_cast<uint64_t>(facts.st_dev);
  file.inode_ = static_cast<uint64_t>(facts.st_ino);
  file.changed_ns_ = changed_ns_of(facts);
  file.io_ = context.io == IoMode::kMemory ? IoMode::kPread : context.io;
  if (context.io != IoMode::kMemory) file.read_ahead_bytes_ = read_ahead_bytes(file.device_);
  if (context.io == IoMode::kAuto) file.io_ = others_may_write(file.fd_) ? IoMode::kPread : IoMode::kMmap;
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
  file.file_bytes_ = file_bytes;
  file.block_ = std::move(bytes);
  return file;
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this == &other) return *this;
  close();
  path_ = std::move(other.path_);
  fd_ = std::exchange(other.fd_, -1);
  io_ = other.io_;
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  file_bytes_ = other.file_bytes_;
  read_ahead_bytes_ = other.read_ahead_bytes_;
  device_ = other.device_;
  inode_ = other.inode_;
  changed_ns_ = other.changed_ns_;
  guard_ = std::move(other.guard_);
  block_ = std::move(other.block_);
  return *this;
}

void MappedFile::release_descriptor() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void MappedFile::close() noexcept {
  guard_.reset();  // before the addresses can be reused
  if (io_ == IoMode::kMmap && data_ != nullptr) {
    ::munmap(const_cast<std::byte*>(data_), static_cast<size_t>(bytes_));
  }
  data_ = nullptr;
  block_.reset();
  release_descriptor();
}

Status MappedFile::map(const OpenContext& context) {
  if (bytes_ > 0) {
    void* data = ::mmap(nullptr, static_cast<size_t>(bytes_), PROT_READ, MAP_SHARED, fd_, 0);
    if (data == MAP_FAILED) return file_error(path_, errno).in("mmap");
    data_ = static_cast<const std::byte*>(data);
#ifdef MADV_RANDOM
    // advise() requests exactly the records that come next. Without MADV_RANDOM the kernel reads the whole read-ahead
    // window (8 MiB seen) around each record, which is all that happens where the hint is refused.
    ::madvise(data, static_cast<size_t>(bytes_), MADV_RANDOM);
#endif
  }
  if (descriptors_scarce(fd_)) release_descriptor();
  if (context.fault_guard && bytes_ > 0) {
    DL_ASSIGN_OR_RETURN(guard_, GuardedRange::add(data_, bytes_, fd_, context.log));
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
  DL_RETURN_IF_ERROR(look().status);
  data_ = block_.data();
  io_ = IoMode::kMemory;
  release_descriptor();
  return Status::ok();
}

Status MappedFile::read_by_pread(int64_t offset, int64_t bytes, std::byte* out) const {
  const ReadResult got = read_at(fd_, offset, bytes, out);
  if (got.number != 0) return file_error_at(path_, offset + got.bytes, got.number);
  return got.bytes < bytes ? truncated(offset, bytes, offset + got.bytes) : Status::ok();
}

Status MappedFile::read(int64_t offset, int64_t bytes, std::byte* out) const {
  if (!extent_fits(offset, bytes, bytes_)) return truncated(offset, bytes, bytes_);
  if (bytes == 0) return Status::ok();
  // Mapped files too: pread() returns short where a copy would raise SIGBUS.
  if (fd_ >= 0) {
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
      ::posix_fadvise(fd_, static_cast<off_t>(at), static_cast<off_t>(piece), POSIX_FADV_WILLNEED);
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
  if (fd_ < 0) return file_error_at(path_, offset, EIO);
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
      if (!is_cached(fd_, at)) return false;
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

}  // namespace dataline
