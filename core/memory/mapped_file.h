// One dataset file, open for reading: its bytes mapped, read on demand, or held in memory.
//
// Threads: immutable after open; every function may be called from any thread.
// Lifetime: pointers from at() live as long as the object.
// Failure: opens with O_NONBLOCK and refuses what is not a regular file, so a FIFO never blocks. A file that
// shrinks is found by check_unchanged() (one lseek) and, for pages that are not yet in memory, by populate()
// (EFAULT instead of SIGBUS). A truncation between check and copy of pages already mapped cannot be caught
// without a signal handler; io=pread and io=memory do not have that gap.
// Limits: a mapped file keeps its descriptor only while the process has plenty (descriptor numbers below half
// of RLIMIT_NOFILE), so that sets of thousands of shards open; later ones are checked by path and inode.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/base/cancel.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/memory/host_memory.h"

namespace dataline {

enum class IoMode : int32_t { kAuto = 0, kMmap = 1, kPread = 2, kMemory = 3 };

// What every reader is opened with.
struct OpenContext {
  std::shared_ptr<HostMemory> memory;  // never null
  IoMode io = IoMode::kAuto;
  CancelTokenRef cancel;  // may be null
  Log log;
};

class MappedFile {
 public:
  // kAuto: pread on network and FUSE mounts (by statfs) and where a map is refused, else mmap. kMemory reads
  // the whole file into a kData block, looking at the cancel token (kCancelled) and logging progress.
  static Result<MappedFile> open(const std::string& path, const OpenContext& context);
  // As open(), but kMemory is only read on demand until load(): so that a reader can refuse a file by its
  // header before gigabytes of it are read.
  static Result<MappedFile> open_unloaded(const std::string& path, const OpenContext& context);
  // Brings the whole file into memory when the context says kMemory, else does nothing.
  Status load(const OpenContext& context);
  // A file whose bytes are already in memory (an inflated .gz): same interface, `path` for messages. Identity
  // (size) is that of the compressed file on disk.
  static Result<MappedFile> from_block(const std::string& path, Block bytes, int64_t byte_count,
                                       int64_t file_bytes);
  MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile() { close(); }

  const std::string& path() const { return path_; }
  int64_t bytes() const { return bytes_; }            // readable bytes (inflated size for a .gz)
  int64_t file_bytes() const { return file_bytes_; }  // on disk, at open
  IoMode io() const { return io_; }                   // kMmap, kPread or kMemory
  bool addressable() const { return data_ != nullptr || bytes_ == 0; }  // false with kPread: use read()

  // Pointer to a range that the caller has checked with extent_fits(). Only when addressable().
  const std::byte* at(int64_t offset) const { return data_ + offset; }
  // Copies a range; kTruncated names file, offset, expected and got bytes. Works in every mode, and
  // never ends in a signal as long as the file has its descriptor.
  Status read(int64_t offset, int64_t bytes, std::byte* out) const;

  // kTruncated when the file is shorter now than at open. Costs one lseek; nothing for kMemory. A file
  // replaced under its name is fine: the open one stays.
  Status check_unchanged() const;
  // Asks the kernel to start reading a range; in pieces no larger than the device's read-ahead window
  // (madvise WILLNEED, or posix_fadvise with kPread). Nothing for kMemory.
  void advise(int64_t offset, int64_t bytes) const;
  // Makes a mapped range present and checks the size after: kTruncated, kIo or kChanged with file and offset
  // instead of SIGBUS. Kernels without MADV_POPULATE_READ (before 5.14): checks the size only. Nothing but
  // the range check for kMemory and kPread.
  Status populate(int64_t offset, int64_t bytes) const;
  // Whether the first and last page of the range are in memory now; true where it cannot be told.
  bool resident(int64_t offset, int64_t bytes) const;

 private:
  MappedFile() = default;
  void close() noexcept;
  Status map();
  Status read_by_pread(int64_t offset, int64_t bytes, std::byte* out) const;
  Status explain_fault(int64_t offset, int64_t bytes) const;
  Status truncated(int64_t offset, int64_t expected, int64_t size_now) const;
  int64_t size_now() const;  // bytes_ where it cannot be told
  void release_descriptor() noexcept;

  std::string path_;
  int fd_ = -1;
  IoMode io_ = IoMode::kMmap;
  const std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
  int64_t file_bytes_ = 0;
  int64_t read_ahead_bytes_ = 0;
  uint64_t device_ = 0;  // with inode_: which file the path meant at open
  uint64_t inode_ = 0;
  Block block_;  // kMemory
};

}  // namespace dataline
