// SPDX-License-Identifier: Apache-2.0
#include "core/memory/mapped_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/checked.h"
#include "core/memory/file_map.h"
#include "core/memory/pages.h"

namespace dataline {
namespace {

constexpr int64_t kPieceBytes = 8 << 20;  // between checks of the cancel token
constexpr int kPopulateAttempts = 4;      // while another process truncates and restores the file

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
  if (const HostStorage* storage = storage_of(path, context.storages)) {
    DL_RETURN_IF_ERROR(file.open_stored(*storage, context));
    return file;
  }
  file.fd_ = Descriptor::open(path, kFileFlags);
  if (!file.fd_) return file_error(path, errno);
  DL_ASSIGN_OR_RETURN(file.at_open_, facts_of(file.fd_.get(), path));
  if (!file.at_open_.is_file) return not_a_file_error(path, file.at_open_.mode);
  file.at_open_.bytes = std::min(file.at_open_.bytes, context.max_file_bytes);
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

Result<MappedFile> MappedFile::from_block(Origin origin, Block bytes, int64_t byte_count) {
  if (byte_count < 0 || byte_count > bytes.bytes()) {
    return error(Code::kInternal, origin.path, ": ", byte_count, " bytes in a block of ", bytes.bytes());
  }
  MappedFile file;
  file.path_ = std::move(origin.path);
  file.fingerprint_ = std::move(origin.fingerprint);
  file.io_ = IoMode::kMemory;
  file.inflated_ = true;
  file.data_ = bytes.data();
  file.bytes_ = byte_count;
  file.at_open_ = origin.facts;
  file.block_ = std::move(bytes);
  return file;
}

void MappedFile::Unmap::operator()(const std::byte* data) const noexcept { unmap_file(data, bytes); }

Status MappedFile::map(const OpenContext& context) {
  if (bytes_ > 0) {
    data_ = map_file(fd_.get(), bytes_);
    if (data_ == nullptr) return file_error(path_, errno).in("mmap");
    map_ = {data_, Unmap{bytes_}};
  }
  if (descriptors_scarce(fd_.get())) fd_ = Descriptor();
  if (context.fault_guard && bytes_ > 0) {
    DL_ASSIGN_OR_RETURN(guard_, GuardedRange::add(data_, bytes_, fd_.get(), context.log));
  }
  return Status::ok();
}

Status MappedFile::open_stored(const HostStorage& storage, const OpenContext& context) {
  if (context.io == IoMode::kMmap)
    return error(Code::kUnsupported, path_, ": io=mmap: storage ", storage.scheme(), " has no file to map");
  Result<std::unique_ptr<const StoredObject>> opened = storage.open(path_, context);
  if (!opened.is_ok()) return opened.take_status().in(path_);
  stored_ = opened.take();
  fingerprint_ = stored_->fingerprint();
  bytes_ = at_open_.bytes = std::min(stored_->bytes(), context.max_file_bytes);
  io_ = IoMode::kPread;
  if (bytes_ >= 0) return Status::ok();
  return error(Code::kIo, path_, ": storage ", storage.scheme(), " reported ", bytes_, " bytes");
}

Status MappedFile::load(const OpenContext& context) {
  if (context.io != IoMode::kMemory || io_ != IoMode::kPread) return Status::ok();
  DL_ASSIGN_OR_RETURN(block_, context.memory->allocate(bytes_, 1, MemoryKind::kData, path_.c_str()));
  DL_RETURN_IF_ERROR(read_all(block_.data(), context));
  // A truncation during the read may have left zeros instead of a short read.
  DL_RETURN_IF_ERROR(change_since_open().status);
  data_ = block_.data();
  io_ = IoMode::kMemory;
  fd_ = Descriptor();
  stored_.reset();
  return Status::ok();
}

Status MappedFile::read_stored(int64_t offset, int64_t bytes, std::byte* out,
                               const CancelFlag* cancelled) const {
  Status status = stored_->read(offset, bytes, out, cancelled);
  return status.is_ok() ? status : std::move(status).in(concat(path_, ": offset ", offset));
}

Status MappedFile::read_by_pread(int64_t offset, int64_t bytes, std::byte* out) const {
  const ReadResult got = read_at(fd_.get(), offset, bytes, out);
  if (got.number != 0) return file_error_at(path_, offset + got.bytes, got.number);
  return got.bytes < bytes ? truncated(offset, bytes, offset + got.bytes) : Status::ok();
}

Status MappedFile::read(int64_t offset, int64_t bytes, std::byte* out, const CancelFlag* cancelled) const {
  if (!extent_fits(offset, bytes, bytes_)) return truncated(offset, bytes, bytes_);
  if (bytes == 0) return Status::ok();
  if (stored_ != nullptr) return read_stored(offset, bytes, out, cancelled);
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

Status MappedFile::read_all(std::byte* out, const OpenContext& context) const {
  context.progress->expect_bytes(bytes_);
  for (int64_t at = 0; at < bytes_; at += kPieceBytes) {
    if (context.cancelled())
      return error(Code::kCancelled, path_, ": cancelled after ", at, " of ", bytes_, " bytes");
    context.report("reading ", path_);
    const int64_t piece = std::min(kPieceBytes, bytes_ - at);
    DL_RETURN_IF_ERROR(read(at, piece, out + at));
    context.progress->add_bytes(piece);
  }
  return Status::ok();
}

void MappedFile::advise(int64_t offset, int64_t bytes) const {
  if (!fd_ && io_ != IoMode::kMmap) return;
  if (bytes <= 0 || !extent_fits(offset, bytes, bytes_)) return;
  int64_t page = page_bytes();
  int64_t begin = offset & -page;
  int64_t end = offset + bytes;
  int64_t piece_bytes = std::max(read_ahead_bytes_ & -page, page);
  for (int64_t at = begin; at < end; at += piece_bytes) {
    int64_t piece = std::min(piece_bytes, end - at);
    if (io_ == IoMode::kMmap) {
      advise_pages(data_ + at, piece);
    } else {
      advise_file(fd_.get(), at, piece);
    }
  }
}

Status MappedFile::populate(int64_t offset, int64_t bytes) const {
  if (!extent_fits(offset, bytes, bytes_)) return truncated(offset, bytes, bytes_);
  if (io_ != IoMode::kMmap || bytes == 0) return Status::ok();
  const int64_t begin = offset & -page_bytes();
  for (int attempt = 0, interruptions = 0;;) {
    const int32_t number = populate_pages(data_ + begin, offset + bytes - begin);
    if (number == 0 || number == EINVAL) break;
    if ((number == EINTR || number == EAGAIN) && ++interruptions < kMaxInterruptions) continue;
    if (number != EFAULT) return file_error_at(path_, offset, number);
    if (++attempt == kPopulateAttempts) {
      return error(Code::kChanged, path_, ": offset ", offset, ": the file keeps changing while it is read");
    }
    DL_RETURN_IF_ERROR(explain_fault(offset, bytes));
  }
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
  if (!fd_ && io_ != IoMode::kMmap) return true;
  if (bytes <= 0 || !extent_fits(offset, bytes, bytes_)) return true;
  for (int64_t at : {offset, offset + bytes - 1}) {
    if (io_ == IoMode::kPread) {
      if (!is_cached(fd_.get(), at)) return false;
      continue;
    }
    if (!is_resident(data_ + (at & -page_bytes()))) return false;
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
  if (stored_ != nullptr) return bytes_;
  if (fd_) {
    const int64_t now = size_of(fd_.get());
    return now >= 0 ? now : bytes_;
  }
  FileFacts now;
  return find_by_path(now) ? now.bytes : bytes_;
}

// Without a descriptor the path is used as long as it names the same inode. If it does not, the mapped file was renamed
// or unlinked, and such files are rarely truncated.
bool MappedFile::find_by_path(FileFacts& facts) const {
  return facts_of_path(path_, facts) == 0 && facts.same_as(at_open_);
}

Status MappedFile::check_length() const {
  if (io_ == IoMode::kMemory || stored_ != nullptr) return Status::ok();
  int64_t now = size_now();
  if (now >= bytes_) return Status::ok();
  return truncated(now, bytes_ - now, now);
}

// An append updates the modification time before the length (ext4, XFS), so for a moment it looks like a change in place.
// Afterwards the new length is visible.
bool MappedFile::is_growing() const {
  if (!fd_) return false;
  await_append(fd_.get());
  return size_now() > bytes_;
}

MappedFile::Change MappedFile::change_since_open() const {
  if (io_ == IoMode::kMemory || stored_ != nullptr) return {};
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
