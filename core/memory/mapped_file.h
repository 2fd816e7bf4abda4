// One dataset file, open for reading: its bytes mapped, read on demand, or held in memory.
//
// Threads: immutable after open; every function may be called from any thread.
// Lifetime: pointers from at() live as long as the object.
// Failure: opens with O_NONBLOCK and refuses what is not a regular file, so a FIFO never blocks. A file that
// shrinks is found by check_length() (one lseek) before it is read and, for pages that are not yet in memory, by
// populate() (EFAULT instead of SIGBUS). What shrinks between that and the copy is found by look() after it: a page that
// is cut in the middle reads as zeros, and look() says from where on. A page that is cut off whole ends the process by
// SIGBUS, unless the file was opened with fault_guard (fault_guard.h); io=pread and io=memory do not have that gap.
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
#include "core/memory/fault_guard.h"
#include "core/memory/host_memory.h"

struct stat;

namespace dataline {

enum class IoMode : int32_t { kAuto = 0, kMmap = 1, kPread = 2, kMemory = 3 };

// What every reader is opened with.
struct OpenContext {
  std::shared_ptr<HostMemory> memory;  // never null
  IoMode io = IoMode::kAuto;
  bool fault_guard = false;  // maps are guarded against SIGBUS
  CancelTokenRef cancel;     // may be null
  Log log;
};

class MappedFile {
 public:
  // kAuto: pread where others may write (storage.h) and where a map is refused, else mmap. kMemory reads
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
  Status check_length() const;

  // What became of the file while bytes of it were read.
  struct Look {
    Status status;             // ok: nothing, or it grew
    int64_t intact_bytes = 0;  // from its start, unless ok: what was not cut off
  };
  // kTruncated: shorter now than at open. kChanged: as long, but modified since: it may have been cut and made long
  // again, and what was cut then reads as zeros. Longer is ok: it was appended to. Otherwise what the system says. One
  // fstat; nothing for kMemory.
  Look look() const;
  // Why a range is not to be trusted, after a look() that was not ok; ok for what lies before a cut.
  Status check_range(const Look& look, int64_t offset, int64_t bytes) const;

  // With fault_guard: whether a range of the map had no page to read since `since_ns` (monotonic) and zeros stood in:
  // kTruncated when the file is too short for it now, else kIo.
  bool faulted(int64_t since_ns) const { return guard_.faulted(since_ns); }
  Status check_faults(int64_t since_ns, int64_t offset, int64_t bytes) const;
  // Puts the file's own pages back where zeros stand in.
  void heal() const { guard_.heal(fd_); }
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
  Status map(const OpenContext& context);
  Status read_by_pread(int64_t offset, int64_t bytes, std::byte* out) const;
  Status explain_fault(int64_t offset, int64_t bytes) const;
  Status truncated(int64_t offset, int64_t expected, int64_t size_now) const;
  int64_t size_now() const;                 // bytes_ where it cannot be told
  bool stat_now(struct stat& facts) const;  // false: errno, or 0 where the path leads elsewhere now
  bool stat_by_path(struct stat& facts) const;
  bool is_growing() const;
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
  int64_t changed_ns_ = 0;  // modification time at open
  GuardedRange guard_;      // the map, with fault_guard
  Block block_;             // kMemory
};

}  // namespace dataline
